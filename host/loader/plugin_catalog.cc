#include "host/loader/plugin_catalog.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace berth::host {

PluginCatalog::Found PluginCatalog::AddLibrary(const std::string& path,
                                               const LoadOptions& options) {
  return AddPlugins(path, store_.Load(path, options));
}

PluginCatalog::Found PluginCatalog::AddLoaded(std::shared_ptr<PluginLibrary> library) {
  const std::string path = library->path();
  return AddPlugins(path, std::move(library));
}

PluginCatalog::Found PluginCatalog::AddPlugins(const std::string& path, Found loaded) {
  if (!loaded.ok()) return loaded;
  const std::shared_ptr<PluginLibrary>& library = *loaded;
  std::optional<LoadError> error;
  for (const PluginInfo& info : library->infos()) {
    const auto other = plugins_.find(info.name);
    if (other == plugins_.end() || other->second.library == library) continue;
    ambiguous_.insert(info.name);
    if (error.has_value()) continue;
    error =
        MakeLoadError(LoadErrorCode::kDuplicatePlugin, "a plugin name that no other library has",
                      "the same name in " + other->second.library->path(), info.name);
    error->path = path;
  }
  if (error.has_value()) return *std::move(error);
  for (const PluginInfo& info : library->infos())
    plugins_.emplace(info.name, Plugin{library, &info});
  return loaded;
}

bool IsLibraryName(std::string_view name) {
  return name.starts_with("lib") && name.ends_with(".so");
}

LoadResult<std::vector<PluginCatalog::Found>> PluginCatalog::AddDirectory(
    const std::string& directory, const LoadOptions& options) {
  std::vector<std::string> paths;
  std::error_code code;
  std::filesystem::directory_iterator entry(directory, code);
  for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    if (IsLibraryName(entry->path().filename().string())) paths.push_back(entry->path().string());
  }
  if (code) {
    const bool absent = code == std::errc::no_such_file_or_directory;
    return LoadError{.code = absent ? LoadErrorCode::kNotFound : LoadErrorCode::kUnreadable,
                     .path = directory,
                     .expected = "a directory",
                     .found = code.message()};
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Found> loaded = store_.LoadAll(paths, options);
  std::vector<Found> found;
  for (size_t i = 0; i < paths.size(); ++i) {
    found.push_back(AddPlugins(paths[i], std::move(loaded[i])));
  }
  return found;
}

LoadResult<PluginCatalog::Plugin> PluginCatalog::Find(std::string_view name) const {
  const auto found = plugins_.find(name);
  if (found != plugins_.end()) return found->second;
  std::string names;
  for (const auto& [known, plugin] : plugins_) {
    names.append(names.empty() ? "only " : ", ").append(known);
  }
  return MakeLoadError(LoadErrorCode::kUnknownPlugin, "a plugin of the configured libraries",
                       names.empty() ? "no plugins" : names, std::string(name));
}

}  // namespace berth::host
