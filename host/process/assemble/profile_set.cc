#include "host/process/assemble/profile_set.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "host/base/text.h"
#include "host/config/config_errors.h"
#include "host/config/config_path.h"
#include "host/config/toml_document.h"
#include "host/plan/profile_plan.h"

namespace berth::host {
namespace {

void NoteLibraries(const std::string& directory, const BeforeRead& before_read) {
  before_read(directory);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (IsLibraryName(entry->path().filename().string())) before_read(entry->path().string());
  }
}

// Returns true if a profile enables a plugin that is in two libraries, and does not say which.
bool EnablesAmbiguousPlugin(std::span<const Profile> profiles, const PluginCatalog& catalog) {
  const auto is_ambiguous = [&catalog](const ProfilePlugin& plugin) {
    return plugin.is_enabled() && !plugin.library.has_value() &&
           catalog.ambiguous().contains(plugin.name.value);
  };
  return std::ranges::any_of(profiles, [&is_ambiguous](const Profile& profile) {
    return std::ranges::any_of(profile.plugins, is_ambiguous);
  });
}

// Returns true if a profile names a plugin that no library has and that a broken one may have.
bool MissesAPlugin(std::span<const Profile> profiles, const PluginCatalog& catalog) {
  const auto is_missing = [&catalog](const ProfilePlugin& plugin) {
    return !plugin.library.has_value() && !catalog.plugins().contains(plugin.name.value);
  };
  return std::ranges::any_of(profiles, [&is_missing](const Profile& profile) {
    return std::ranges::any_of(profile.plugins, is_missing);
  });
}

// Sorts the broken libraries of the plugin directories into errors and warnings.
// Errors: those of the profiles, and those of broken libraries that the profiles use or may use.
Status CheckProfiles(const ConfigErrors& errors, const PluginSet& plugins, ProfileSet& set) {
  const Status status = errors.ToStatus();
  std::vector<std::string> lines;
  if (!status.ok()) lines.emplace_back(status.message());
  const bool misses_a_plugin = MissesAPlugin(set.profiles, plugins.catalog());
  const bool enables_ambiguous = EnablesAmbiguousPlugin(set.profiles, plugins.catalog());
  for (const LoadError& broken : plugins.broken()) {
    const bool is_duplicate = broken.code == LoadErrorCode::kDuplicatePlugin;
    const bool is_error = misses_a_plugin || (is_duplicate && enables_ambiguous);
    (is_error ? lines : set.warnings).push_back(NotLoadedText(broken));
  }
  return lines.empty() ? Status() : Status::InvalidArgument(Join(lines, "\n"));
}

}  // namespace

Status AddPluginDirectories(std::span<const std::string> directories, const BeforeRead& before_read,
                            PluginSet& plugins) {
  for (const std::string& directory : directories) {
    if (before_read) NoteLibraries(directory, before_read);
    const size_t plugins_before = plugins.catalog().plugins().size();
    const size_t broken_before = plugins.broken().size();
    Status status = plugins.AddDirectory(directory);
    if (!status.ok()) return status;
    if (plugins.broken().size() == broken_before &&
        plugins.catalog().plugins().size() == plugins_before) {
      return Status::NotFound(directory +
                              ": expected a plugin library in this directory, found none");
    }
  }
  return {};
}

std::string NotLoadedText(const LoadError& error) { return "not loaded: " + error.ToString(); }

Result<std::string> ReadConfigFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status::InvalidArgument("Is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::NotFound(std::strerror(errno));
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Status::InvalidArgument("the file cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

ProfileFiles FindProfiles(const std::string& executable) {
  ProfileFiles files;
  files.read = ReadConfigFile;
  const std::filesystem::path folder = std::filesystem::path(executable).parent_path();
  // BERTH_DATADIR is relative to the prefix, or absolute if the packager set it so.
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

Result<ProfileSet> LoadProfiles(const ProfileRequest& request) {
  std::vector<std::string> directories = request.plugin_directories;
  if (directories.empty()) {
    Result<std::string> directory = FindPluginDirectory(request.executable);
    if (!directory.ok()) return std::move(directory).status();
    directories.push_back(std::move(directory).value());
  }
  auto plugins = std::make_shared<PluginSet>(request.libraries);
  Status status = AddPluginDirectories(directories, request.before_read, *plugins);
  if (!status.ok()) return status;

  ProfileFiles files = FindProfiles(request.executable);
  files.read = [&request](const std::string& path) {
    if (request.before_read) request.before_read(path);
    return ReadConfigFile(path);
  };
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
      if (!plugin.library.has_value() || !request.before_read) continue;
      request.before_read(plugin.library->value);
    }
  }
  LoadLibraries(set.profiles, plugins->catalog(), errors);
  set.specs = MakePlanSpecs(set.profiles, plugins->catalog(), directories, errors);
  status = CheckProfiles(errors, *plugins, set);
  if (!status.ok()) return status;
  set.plugins = std::move(plugins);
  return set;
}

}  // namespace berth::host
