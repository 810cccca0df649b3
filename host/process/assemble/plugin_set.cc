#include "host/process/assemble/plugin_set.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "host/loader/fallback_copies.h"
#include "host/loader/library_probe.h"

namespace berth::host {

Result<std::string> FindPluginDirectory(const std::string& executable) {
  const std::filesystem::path folder = std::filesystem::path(executable).parent_path();
  // BERTH_LIBDIR is relative to the prefix, or absolute if the packager set it so.
  const std::array<std::filesystem::path, 2> places = {
      folder / "plugins", folder.parent_path() / BERTH_LIBDIR / "berth" / "plugins"};
  std::string looked;
  for (const auto& place : places) {
    std::error_code error;
    if (std::filesystem::is_directory(place, error)) return place.string();
    looked += "\n  " + place.string();
  }
  return Status::NotFound("no plugins: there is neither of these directories:" + looked +
                          "\nname the one that holds them with --plugin-dir");
}

std::shared_ptr<LibraryStore> MakeLibraryStore(const std::string& temporary_directory,
                                               std::function<int64_t()> steady_ns) {
  return std::make_shared<LibraryStore>(CopyToDirectoryOrMemory(temporary_directory),
                                        LibraryProbe(std::move(steady_ns)));
}

PluginSet::PluginSet(std::shared_ptr<LibraryStore> libraries)
    : libraries_(std::move(libraries)), catalog_(*libraries_) {}

Status PluginSet::AddDirectory(const std::string& directory) {
  auto found = catalog_.AddDirectory(directory, {});
  if (!found.ok()) return found.error().ToStatus();
  for (auto& library : *found) {
    if (library.ok()) continue;
    if (library.error().code == LoadErrorCode::kCopyFailed) return library.error().ToStatus();
    auto& list = library.error().code == LoadErrorCode::kNoNote ? ignored_ : broken_;
    list.push_back(std::move(library).error());
  }
  return {};
}

LoadResult<std::shared_ptr<PluginLibrary>> PluginSet::AddLibrary(const std::string& path) {
  return catalog_.AddLibrary(path, {});
}

}  // namespace berth::host
