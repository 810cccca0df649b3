#include "host/process/assemble/profile_set.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>

#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/cluster/client.h"
#include "host/config/config_value.h"
#include "host/config/toml_document.h"
#include "host/loader/private_copy.h"
#include "host/plan/plan.h"
#include "host/plan/profile_plan.h"
#include "host/process/assemble/input_files.h"

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

// Returns whether a profile has a plugin without a library of its own that fulfils the condition.
bool HasPlugin(std::span<const Profile> profiles,
               const std::function<bool(const ProfilePlugin& plugin)>& condition) {
  return std::ranges::any_of(profiles, [&condition](const Profile& profile) {
    return std::ranges::any_of(profile.plugins, [&condition](const ProfilePlugin& plugin) {
      return !plugin.library.has_value() && condition(plugin);
    });
  });
}

// Sorts the broken libraries of the plugin directories into errors and warnings.
// Errors: those of the profiles, and those of broken libraries that the profiles use or may use.
Status CheckProfiles(const ConfigErrors& errors, const PluginSet& plugins, ProfileSet& set) {
  const Status status = errors.ToStatus();
  std::vector<std::string> lines;
  if (!status.ok()) lines.emplace_back(status.message());
  const PluginCatalog& catalog = plugins.catalog();
  // A broken library may have a plugin that no other one has.
  const bool misses_a_plugin = HasPlugin(set.profiles, [&catalog](const ProfilePlugin& plugin) {
    return !catalog.plugins().contains(plugin.name.value);
  });
  const bool enables_ambiguous = HasPlugin(set.profiles, [&catalog](const ProfilePlugin& plugin) {
    return plugin.is_enabled() && catalog.ambiguous().contains(plugin.name.value);
  });
  for (const LoadError& broken : plugins.broken()) {
    const bool is_duplicate = broken.code == LoadErrorCode::kDuplicatePlugin;
    const bool is_error = misses_a_plugin || (is_duplicate && enables_ambiguous);
    (is_error ? lines : set.warnings).push_back(NotLoadedText(broken));
  }
  return lines.empty() ? Status() : Status::InvalidArgument(Join(lines, "\n"));
}

}  // namespace

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
                                        std::move(steady_ns));
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
  // For a reader without permission the file is as if it were not there: an error of the arguments.
  Result<std::string> text = ReadFile(path, kMaxConfigBytes + 1);
  if (text.status().code() != ErrorCode::kPermissionDenied) return text;
  return Status::NotFound(std::string(text.status().message()));
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
  if (!errors.empty() && request.check_arguments) {
    request.check_arguments(set.profiles, plugins->catalog(), errors);
  }
  status = CheckProfiles(errors, *plugins, set);
  if (!status.ok()) return status;
  set.plugins = std::move(plugins);
  return set;
}

KindUsers::KindUsers() : kinds_({{std::string(kPodKind), {}}, {std::string(kNodeKind), {}}}) {}

KindUsers::KindUsers(const PluginCatalog& catalog, std::span<const PlanSpec> profiles)
    : KindUsers() {
  for (const PlanSpec& profile : profiles) {
    for (const PlanSpec::Plugin& plugin : profile.plugins) {
      const auto found = catalog.plugins().find(plugin.name);
      if (found == catalog.plugins().end()) continue;
      for (const std::string& declared : found->second.info->kinds) {
        declared_.insert(declared);
        for (std::string& kind : KindsOf(declared)) kinds_[std::move(kind)].insert(plugin.name);
      }
    }
  }
}

std::string KindUsers::Of(std::string_view kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return "";
  const std::set<std::string>& plugins = found->second;
  if (plugins.empty()) return "the host";
  std::string text = plugins.size() == 1 ? "the plugin " : "the plugins ";
  size_t left = plugins.size();
  for (const std::string& plugin : plugins) {
    text += plugin;
    --left;
    if (left > 0) text += left == 1 ? " and " : ", ";
  }
  return text;
}

}  // namespace berth::host
