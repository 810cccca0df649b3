#include "host/process/profile_set.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "host/base/virtual_clock.h"
#include "host/config/config_errors.h"
#include "host/config/config_path.h"
#include "host/config/toml_document.h"
#include "host/process/embedded_scheduler.h"
#include "host/runtime/profile_plan.h"

namespace berth::host {
namespace {

void LookAtLibraries(const std::string& directory,
                     const std::function<void(const std::string& path)>& looks_at) {
  looks_at(directory);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (IsLibraryName(entry->path().filename().string())) looks_at(entry->path().string());
  }
}

}  // namespace

Status AddPluginDirectories(std::span<const std::string> directories,
                            const std::function<void(const std::string& path)>& looks_at,
                            PluginSet& plugins) {
  for (const std::string& directory : directories) {
    if (looks_at) LookAtLibraries(directory, looks_at);
    const size_t before = plugins.catalog().plugins().size();
    Status status = plugins.AddDirectory(directory);
    if (!status.ok()) return status;
    if (plugins.broken().empty() && plugins.catalog().plugins().size() == before) {
      return Status::NotFound(directory + ": there is no plugin in this directory");
    }
  }
  return plugins.CheckAllLoaded();
}

Result<std::string> ReadConfigFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status::InvalidArgument("Is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::NotFound(std::strerror(errno));
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Status::InvalidArgument("it cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

ProfileFiles FindProfiles(const std::string& executable) {
  ProfileFiles files;
  files.read = ReadConfigFile;
  const std::filesystem::path folder = std::filesystem::path(executable).parent_path();
  // BERTH_DATADIR is relative to the prefix, or absolute where the packager said so.
  const std::array<std::filesystem::path, 2> places = {
      folder / "profiles", folder.parent_path() / BERTH_DATADIR / "berth" / "profiles"};
  for (const auto& place : places) {
    files.searched.push_back(place.string());
    std::error_code error;
    std::filesystem::directory_iterator entry(place, error);
    if (error) continue;
    files.shipped_folder = place.string();
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() != kProfileSuffix) continue;
      files.shipped_names.push_back(entry->path().stem().string());
    }
    std::ranges::sort(files.shipped_names);
    break;
  }
  return files;
}

Result<ProfileSet> LoadProfiles(const ProfileRequest& request, const ProfileFiles& files) {
  auto plugins = std::make_shared<PluginSet>(request.libraries);
  Status status = AddPluginDirectories(request.plugin_directories, request.looks_at, *plugins);
  if (!status.ok()) return status;
  std::vector<std::string> names = request.profiles;
  if (names.empty()) names.emplace_back(kDefaultProfile);
  ConfigErrors errors;
  ProfileSet set;
  for (const std::string& name : names) {
    std::optional<Profile> profile = ReadProfile(name, files, errors);
    if (profile.has_value()) set.profiles.push_back(std::move(*profile));
  }
  for (const Profile& profile : set.profiles) {
    for (const ProfilePlugin& plugin : profile.plugins) {
      if (request.looks_at && plugin.library.has_value()) request.looks_at(plugin.library->value);
    }
  }
  LoadLibraries(set.profiles, plugins->catalog(), errors);
  set.specs = MakePlanSpecs(set.profiles, plugins->catalog(), request.plugin_directories, errors);
  status = errors.ToStatus();
  if (!status.ok()) return status;
  set.plugins = std::move(plugins);
  return set;
}

Status TryPlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs) {
  const VirtualClock clock(0);
  EmbeddedScheduler::Options options;
  options.plugins = std::move(plugins);
  options.profiles.assign(specs.begin(), specs.end());
  options.clock = &clock;
  return EmbeddedScheduler::Create(std::move(options))->Start();
}

}  // namespace berth::host
