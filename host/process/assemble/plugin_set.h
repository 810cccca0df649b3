// The plugins of a command, loaded from directories and single libraries.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_PLUGIN_SET_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_PLUGIN_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/loader/library_store.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_catalog.h"

namespace berth::host {

// Returns the plugin directory that is used when the user names none: "plugins" beside the
// executable, as in a build tree, or else the directory of an installation,
// <prefix>/<libdir>/berth/plugins.
// Errors: NotFound, with the directories that were tried.
Result<std::string> FindPluginDirectory(const std::string& executable);

// Creates the store of the libraries of a process. It copies each library before it is loaded, to a
// private directory under `temporary_directory`, or to memory where that is impossible; see
// FallbackCopies. `temporary_directory` is not accessed before the first library is copied. The
// store probes each library in a child process, whose time limit `steady_ns` measures: a clock that
// only goes forward.
std::shared_ptr<LibraryStore> MakeLibraryStore(const std::string& temporary_directory,
                                               std::function<int64_t()> steady_ns);

// Threading: one thread at a time while libraries are added; afterwards any thread may read it.
class PluginSet {
 public:
  // Sets that share a store do not load the same library twice.
  explicit PluginSet(std::shared_ptr<LibraryStore> libraries);
  // Creates a set with a store of its own.
  PluginSet(const std::string& temporary_directory, std::function<int64_t()> steady_ns)
      : PluginSet(MakeLibraryStore(temporary_directory, std::move(steady_ns))) {}
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  // Loads every lib*.so of the directory that is a plugin library. Adds the errors of those that
  // cannot be loaded to broken(), and those of other libraries to ignored().
  // Errors: the directory does not exist, or cannot be read; no private copy of a library can be
  // made, which is no fault of the library.
  Status AddDirectory(const std::string& directory);
  LoadResult<std::shared_ptr<PluginLibrary>> AddLibrary(const std::string& path);

  PluginCatalog& catalog() { return catalog_; }
  const PluginCatalog& catalog() const { return catalog_; }
  // Returns why plugin libraries could not be loaded. Each error names the file.
  std::span<const LoadError> broken() const { return broken_; }
  // Returns an error kNoNote for each lib*.so that is no plugin library.
  std::span<const LoadError> ignored() const { return ignored_; }

 private:
  std::shared_ptr<LibraryStore> libraries_;
  PluginCatalog catalog_;
  std::vector<LoadError> broken_;
  std::vector<LoadError> ignored_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_PLUGIN_SET_H_
