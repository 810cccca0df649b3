// The plugins that are available to one generation of the configuration.
#ifndef BERTH_HOST_LOADER_PLUGIN_CATALOG_H_
#define BERTH_HOST_LOADER_PLUGIN_CATALOG_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/loader/library_store.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

// Finds plugins by name among the libraries that were added. A plugin name belongs to one library:
// a second library with that name is rejected with an error that names both files. Adding a library
// whose content was added before, under the same or another path, does nothing and is no error.
// Threading: one thread at a time.
// Lifetime: `store` must outlive the catalog.
class PluginCatalog {
 public:
  struct Plugin {
    std::shared_ptr<PluginLibrary> library;
    const PluginInfo* info = nullptr;  // Owned by the library.
  };

  explicit PluginCatalog(LibraryStore& store) : store_(store) {}
  PluginCatalog(const PluginCatalog&) = delete;
  PluginCatalog& operator=(const PluginCatalog&) = delete;

  using Found = LoadResult<std::shared_ptr<PluginLibrary>>;

  // Adds the plugins of the library. After an error the catalog is unchanged.
  // Errors: those of LibraryStore::Load, kDuplicatePlugin.
  Found AddLibrary(const std::string& path, const LoadOptions& options);

  // Adds the plugins of a library that was loaded without the store. After an error the catalog is
  // unchanged.
  // Errors: kDuplicatePlugin.
  Found AddLoaded(std::shared_ptr<PluginLibrary> library);

  // Adds every lib*.so in `directory`, sorted by name. A library that cannot be loaded is an error
  // in the returned list and does not prevent the others from being added. The error kNoNote stands
  // for a library that is no plugin library.
  // Errors of the directory itself: kNotFound, kUnreadable.
  LoadResult<std::vector<Found>> AddDirectory(const std::string& directory,
                                              const LoadOptions& options);

  // Returns the plugin of this name. Errors: kUnknownPlugin; `found` lists the existing names.
  LoadResult<Plugin> Find(std::string_view name) const;

  // Returns all plugins by name.
  const std::map<std::string, Plugin, std::less<>>& plugins() const { return plugins_; }
  // Returns the names of the plugins that more than one library has. The first one was added.
  const std::set<std::string, std::less<>>& ambiguous() const { return ambiguous_; }

 private:
  // Adds the plugins of the library that was loaded from `path`, or returns the error.
  Found AddPlugins(const std::string& path, Found loaded);

  LibraryStore& store_;
  std::map<std::string, Plugin, std::less<>> plugins_;
  std::set<std::string, std::less<>> ambiguous_;
};

// Returns whether AddDirectory() treats a file of this name as a plugin library: lib*.so.
bool IsLibraryName(std::string_view name);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_CATALOG_H_
