// The plugins that a command works with: found, judged and loaded from a directory.
#ifndef BERTH_HOST_PROCESS_PLUGIN_SET_H_
#define BERTH_HOST_PROCESS_PLUGIN_SET_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/loader/library_store.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_catalog.h"

namespace berth::host {

// The directory that is read when none is named: "plugins" beside the executable, as in a build
// tree, else that of an installation, <prefix>/<libdir>/berth/plugins.
// Errors: NotFound; says where it looked.
Result<std::string> FindPluginDirectory(const std::string& executable);

// The libraries of a process. They are copied to a directory of their own under
// `temporary_directory` before they are loaded, or to memory where that is impossible.
std::shared_ptr<LibraryStore> MakeLibraryStore(const std::string& temporary_directory);

// Threading: one thread at a time while libraries are added; then read by any.
class PluginSet {
 public:
  // With the libraries of a process: what one set has loaded another need not load again.
  explicit PluginSet(std::shared_ptr<LibraryStore> libraries);
  // With libraries of its own.
  explicit PluginSet(const std::string& temporary_directory)
      : PluginSet(MakeLibraryStore(temporary_directory)) {}
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  // Loads every lib*.so that is a plugin. What cannot be loaded is in broken() afterwards.
  // Errors: there is no such directory, or it cannot be read.
  Status AddDirectory(const std::string& directory);
  LoadResult<std::shared_ptr<PluginLibrary>> AddLibrary(const std::string& path);

  PluginCatalog& catalog() { return catalog_; }
  const PluginCatalog& catalog() const { return catalog_; }
  std::span<const LoadError> broken() const { return broken_; }
  // All of broken(), one a line; success when there is none.
  Status CheckAllLoaded() const;

 private:
  std::shared_ptr<LibraryStore> libraries_;
  PluginCatalog catalog_;
  std::vector<LoadError> broken_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_PLUGIN_SET_H_
