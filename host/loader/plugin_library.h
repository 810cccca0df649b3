// A plugin library: its checks, its description, and the loaded library.
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

#include "host/loader/library_check.h"
#include "host/loader/load_error.h"
#include "host/loader/origin_libraries.h"
#include "host/loader/plugin_note.h"

namespace berth::host {

// A copy of a berth_plugin_info.
struct PluginInfo {
  std::string name;
  std::string version;
  std::string about;
  std::vector<std::string> points;
  std::vector<std::string> services;
  std::vector<std::string> kinds;
  std::vector<std::string> fields;
  std::vector<std::string> pod_fields;
  std::string args_schema;  // "{}" if the plugin takes no arguments.
  bool blocks_in_bind = false;
};

// Everything that is known about a library without creating an instance.
struct LibraryDescription {
  std::string path;    // The path of the file: absolute, without symbolic links.
  std::string digest;  // The SHA-256 of its content: 64 lower-case hexadecimal digits.
  uint16_t abi_major = 0;
  uint16_t abi_minor = 0;
  uint16_t min_host_minor = 0;
  bool built_with_asserts = false;
  bool built_with_sanitizer = false;
  std::vector<PluginInfo> plugins;
  std::vector<std::string> warnings;  // Problems that are no reason to reject the library.
};

// A library that is loaded into this process. It is never unmapped (RTLD_NODELETE), because a
// plugin's threads and thread-local destructors may still be running.
// Threading: Init() and Keep() are [load]; every other method may be called by any thread.
class PluginLibrary {
 public:
  // A library that was checked and copied, and can be loaded.
  struct Source {
    std::string path;       // The original path, for messages.
    std::string digest;     // The SHA-256 of the content.
    std::string load_path;  // The path of the private copy.
    CheckedLibrary checked;
    // What the library is: its digest, or, if it finds libraries through $ORIGIN, a digest of its
    // content, its folder and these libraries.
    std::string identity;
    std::vector<OriginLibrary> origin_libraries;
  };

  // Loads the copy and compares its entry with its note. The library's constructors run here.
  // Errors: kDlopenFailed to kUnknownPoint. After any but kDlopenFailed the library stays mapped.
  static LoadResult<std::shared_ptr<PluginLibrary>> Open(Source source);

  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;
  // Calls the library's deinit if Init() succeeded. No instance exists any more, because each holds
  // a reference to the library.
  ~PluginLibrary();

  const std::string& path() const { return description_.path; }
  const std::string& digest() const { return description_.digest; }
  const PluginNote& note() const { return note_; }
  // Lifetime: the rest of the process.
  const berth_entry& entry() const { return *entry_; }
  std::span<const PluginInfo> infos() const { return description_.plugins; }
  const LibraryDescription& description() const { return description_; }

  // Returns the plugin's information; null if the library has no such plugin. Lifetime: that of
  // this object.
  const PluginInfo* Find(std::string_view plugin) const;

  // Keeps an object that the library's code may refer to after its last instance is gone, for as
  // long as this object lives. Threading: [load].
  void Keep(std::shared_ptr<const void> kept) { kept_.push_back(std::move(kept)); }

  // Calls the library's init before the first instance is created. A later call does nothing,
  // unless init failed. `host` and everything obtained from it must be valid until init returns.
  // Errors: kInitFailed.
  std::optional<LoadError> Init(const berth_host* host);

 private:
  PluginLibrary(std::shared_ptr<const void> mapping, const berth_entry* entry, PluginNote note,
                LibraryDescription description);

  std::shared_ptr<const void> mapping_;
  const berth_entry* entry_;
  PluginNote note_;
  LibraryDescription description_;
  bool initialised_ = false;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_LIBRARY_H_
