// A plugin library that was judged and loaded.
#ifndef BERTH_HOST_LOADER_PLUGIN_LIBRARY_H_
#define BERTH_HOST_LOADER_PLUGIN_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/loader/load_error.h"
#include "host/loader/plugin_note.h"
#include "host/loader/trusted_file.h"

namespace berth::host {

// berth_plugin_info, owned.
struct PluginInfo {
  std::string name;
  std::string version;
  std::string about;
  std::vector<std::string> points;
  std::vector<std::string> services;
  std::vector<std::string> kinds;
  std::vector<std::string> fields;
  std::vector<std::string> pod_fields;
  std::string args_schema;  // "{}" when it takes no arguments.
  bool blocks_in_bind = false;
};

// Everything that can be said of a library without an instance.
struct LibraryDescription {
  std::string path;    // As the file was found: absolute, without symbolic links.
  std::string digest;  // SHA-256 of its content, 64 lower-case hexadecimal digits.
  uint16_t abi_major = 0;
  uint16_t abi_minor = 0;
  uint16_t min_host_minor = 0;
  bool built_with_asserts = false;
  bool built_with_sanitizer = false;
  std::vector<PluginInfo> plugins;
  std::vector<std::string> warnings;  // What is unwise and was not refused.
};

// What the library says of itself, checked before any of its code runs: the ELF file, its note,
// what it exports, what it wants loaded with it.
// Errors: kNotElf to kExports; `path` is left to the caller.
struct JudgedLibrary {
  PluginNote note;
  std::vector<std::string> warnings;
};
LoadResult<JudgedLibrary> JudgeLibrary(std::span<const std::byte> file);

// A library in this process. It is never unmapped: a plugin's threads and thread-local destructors
// cannot be trusted to be gone (RTLD_NODELETE).
// Threading: Init() is [load], all else may be read by any thread.
class PluginLibrary {
 public:
  // What is about to be loaded.
  struct Source {
    std::string path;       // Where it came from, for messages.
    std::string digest;     // Of its content.
    std::string load_path;  // The private copy.
    JudgedLibrary judged;
  };

  // Loads the copy and compares its entry with its note. The library's constructors run here.
  // Errors: kDlopenFailed to kUnknownPoint. After any but kDlopenFailed the library stays mapped.
  static LoadResult<std::shared_ptr<PluginLibrary>> Open(Source source);

  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;
  // Calls the library's deinit if Init() succeeded. No instance is left: each holds the library.
  ~PluginLibrary();

  const std::string& path() const { return description_.path; }
  const std::string& digest() const { return description_.digest; }
  const PluginNote& note() const { return note_; }
  // Lifetime: the process'.
  const berth_entry& entry() const { return *entry_; }
  std::span<const PluginInfo> infos() const { return description_.plugins; }
  const LibraryDescription& description() const { return description_; }

  // Null when the library has no such plugin. Lifetime: this object's.
  const PluginInfo* Find(std::string_view plugin) const;

  // Keeps what its code may still point at when no instance is left, for as long as this object
  // lives. Threading: [load].
  void Keep(std::shared_ptr<const void> kept) { kept_.push_back(std::move(kept)); }

  // Calls the library's init, once: before the first instance is made, and again only after it
  // failed. `host` and what it gives is valid until init returns.
  // Errors: kInitFailed.
  std::optional<LoadError> Init(const berth_host* host);

 private:
  struct Mapping;
  PluginLibrary(std::unique_ptr<Mapping> mapping, const berth_entry* entry, PluginNote note,
                LibraryDescription description);

  std::unique_ptr<Mapping> mapping_;
  const berth_entry* entry_;
  PluginNote note_;
  LibraryDescription description_;
  bool initialised_ = false;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_LIBRARY_H_
