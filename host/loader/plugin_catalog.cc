#include "host/loader/plugin_catalog.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace berth::host {

LoadResult<std::shared_ptr<PluginLibrary>> PluginCatalog::AddLibrary(const std::string& path,
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
    error.emplace();
    error->code = LoadErrorCode::kDuplicatePlugin;
    error->path = path;
    error->plugin = info.name;
    error->expected = "a plugin name that no other library has";
    error->found = "the same name in " + other->second.library->path();
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
    LoadError error;
    error.code = absent ? LoadErrorCode::kNotFound : LoadErrorCode::kUnreadable;
    error.path = directory;
    error.expected = "a directory";
    error.found = code.message();
    return error;
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
  LoadError error;
  error.code = LoadErrorCode::kUnknownPlugin;
  error.plugin = name;
  error.expected = "a plugin of the configured libraries";
  for (const auto& [known, plugin] : plugins_) {
    error.found.append(error.found.empty() ? "only " : ", ").append(known);
  }
  if (error.found.empty()) error.found = "no plugins";
  return error;
}

}  // namespace berth::host
