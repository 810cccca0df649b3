// The libraries that a plugin library finds through $ORIGIN: beside itself, or in a folder whose
// place is relative to its own.
//
// The dynamic linker replaces $ORIGIN with the folder of the file that it loads. That file is a
// private copy, so the host replaces $ORIGIN itself, with the folder of the original, before it
// writes the copy.
#ifndef BERTH_HOST_LOADER_ORIGIN_LIBRARIES_H_
#define BERTH_HOST_LOADER_ORIGIN_LIBRARIES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/loader/load_error.h"
#include "host/loader/trusted_file.h"

namespace berth::host {

// Returns the text with $ORIGIN and ${ORIGIN} replaced by `folder`, as the dynamic linker does it.
std::string ExpandOrigin(std::string_view text, std::string_view folder);

// A library that is found through $ORIGIN.
struct OriginLibrary {
  std::string name;    // As the library names it that needs it: "libonnxruntime.so.1".
  std::string soname;  // As it names itself. May be empty.
  std::string path;    // Absolute, without symbolic links.
  std::string digest;  // The SHA-256 of its content.
  bool is_needed_by_plugin = false;
  bool is_needed_by_other = false;  // By another of these libraries, so that its name decides.
};

// The libraries that plugins of this process have found through $ORIGIN.
//
// The dynamic linker knows a library by its path, or by the name in it (DT_SONAME) if another
// library needs it by that name. A plugin library needs it by its path, so that every plugin gets
// its own, and gets the new one after the file was replaced. A library beside the plugin that needs
// a further one does so by name: it gets the first one of that name.
// Threading: one thread at a time.
class OriginLibraries {
 public:
  // REQUIRES: the first object is created before the process loads a plugin.
  OriginLibraries();

  // Returns the libraries that the plugin library `file` finds through $ORIGIN, and those that
  // these find through $ORIGIN in turn. As with the dynamic linker, a run path before the one with
  // $ORIGIN has precedence, and so has a library that the process was started with. A library that
  // is not found is left to the dynamic linker, which may also take one that another plugin has
  // loaded under this name.
  // REQUIRES: CheckLibrary(file.bytes) succeeds.
  // Errors: those of ReadTrustedFile, ElfImage::Parse and CheckDependency, kRunPathToken. The error
  //         names the library that is needed; the caller sets `path`.
  LoadResult<std::vector<OriginLibrary>> Find(const TrustedFile& file,
                                              const TrustOptions& trust) const;

  // Returns a copy of the plugin library `file` that finds its libraries from any folder.
  // Errors: those of RenameDependencies.
  LoadResult<std::vector<std::byte>> Relocate(const TrustedFile& file,
                                              std::span<const OriginLibrary> libraries);

  // Returns kLibraryConflict if one of the libraries would get another library by name than the one
  // that was found for it, because a plugin has loaded that one. The caller sets `path`.
  std::optional<LoadError> FindConflict(std::span<const OriginLibrary> libraries) const;
  // Records that the libraries are loaded.
  void AddLoaded(std::span<const OriginLibrary> libraries);

 private:
  // Returns the path by which a plugin needs this version of the library. The dynamic linker takes
  // an equal path for the same library, so that of a later content has more "/.".
  std::string LoadPath(const OriginLibrary& library);

  const std::set<std::string>& started_with_;  // The paths of the libraries of the process.
  std::map<std::string, std::vector<std::string>> digests_;  // By path, in the order of their use.
  std::map<std::string, OriginLibrary> by_name_;             // The first library of each name.
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_ORIGIN_LIBRARIES_H_
