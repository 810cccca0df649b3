// The plugins that one generation of the configuration can choose from.
#ifndef BERTH_HOST_LOADER_PLUGIN_CATALOG_H_
#define BERTH_HOST_LOADER_PLUGIN_CATALOG_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/loader/library_store.h"
#include "host/loader/load_error.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

// Finds plugins by name among the libraries that were added. A name belongs to one library: a
// second one is refused, naming both files. A library with the content of one that is there
// already, under another path or the same, adds nothing and is no error.
// Threading: one thread at a time.
// Lifetime: `store` outlives the catalog.
class PluginCatalog {
 public:
  struct Plugin {
    std::shared_ptr<PluginLibrary> library;
    const PluginInfo* info = nullptr;  // Lifetime: the library's.
  };

  explicit PluginCatalog(LibraryStore& store) : store_(store) {}
  PluginCatalog(const PluginCatalog&) = delete;
  PluginCatalog& operator=(const PluginCatalog&) = delete;

  // Errors: those of LibraryStore::Load, kDuplicatePlugin. After an error the catalog is as before.
  LoadResult<std::shared_ptr<PluginLibrary>> AddLibrary(const std::string& path,
                                                        const LoadOptions& options);

  // Adds every lib*.so in `directory`, sorted by name. Files without the note are somebody else's
  // and passed over; one that cannot be loaded is an error in the list and keeps no other from
  // being added.
  // Errors (of the whole): kNotFound, kUnreadable.
  using Found = LoadResult<std::shared_ptr<PluginLibrary>>;
  LoadResult<std::vector<Found>> AddDirectory(const std::string& directory,
                                              const LoadOptions& options);

  // Errors: kUnknownPlugin; `found` lists the names that there are.
  LoadResult<Plugin> Find(std::string_view name) const;

  // All plugins by name.
  const std::map<std::string, Plugin, std::less<>>& plugins() const { return plugins_; }

 private:
  LibraryStore& store_;
  std::map<std::string, Plugin, std::less<>> plugins_;
};

// Whether a file of this name in a directory of plugins is taken for one: lib*.so.
bool IsLibraryName(std::string_view name);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_PLUGIN_CATALOG_H_
