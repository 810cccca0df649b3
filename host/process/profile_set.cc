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

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/virtual_clock.h"
#include "host/config/config_errors.h"
#include "host/config/config_path.h"
#include "host/config/toml_document.h"
#include "host/process/embedded_scheduler.h"
#include "host/runtime/profile_plan.h"

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

SchedulerOptions TrialOptions(
    std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs, const Clock& clock,
    const std::function<void(const CallMonitor* monitor)>& report_crashes) {
  SchedulerOptions options;
  options.plugins = std::move(plugins);
  options.profiles.assign(specs.begin(), specs.end());
  options.loop.clock = &clock;
  options.report_crashes = report_crashes;
  return options;
}

constexpr std::string_view kTrialNamespace = "default";

// Returns two empty nodes, so that nodes are scored, and a pod for each profile.
std::string TrialCluster(std::span<const PlanSpec> specs) {
  nlohmann::json items;
  for (const char* name : {"a", "b"}) {
    items.push_back(
        {{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", name}}},
         {"status", {{"allocatable", {{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "110"}}}}}});
  }
  for (const PlanSpec& spec : specs) {
    items.push_back({{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", {{"name", spec.scheduler_name}, {"namespace", kTrialNamespace}}},
                     {"spec",
                      {{"schedulerName", spec.scheduler_name},
                       {"containers", nlohmann::json::array({{{"name", "c"}}})}}}});
  }
  const nlohmann::json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  return DumpJson(list);
}

// Returns the error of the attempt to place the pod; "" if there is none.
std::string TrialError(SchedulingLoop& loop, const PodRef& pod) {
  const QueuedEntity* queued = loop.queue().Find(pod->uid());
  if (queued != nullptr && queued->place == QueuePlace::kGated) {
    return queued->gate->code == BERTH_ERROR ? Join(queued->gate->reasons, ", ") : "";
  }
  SchedulingCycle& cycle = *loop.CycleFor(*pod);
  const CycleResult result = cycle.Decide(pod);
  cycle.attempt().End();
  return result.code() == BERTH_ERROR ? result.failure->message : "";
}

}  // namespace

Status AddPluginDirectories(std::span<const std::string> directories, const BeforeRead& before_read,
                            PluginSet& plugins) {
  for (const std::string& directory : directories) {
    if (before_read) NoteLibraries(directory, before_read);
    const size_t before = plugins.catalog().plugins().size();
    Status status = plugins.AddDirectory(directory);
    if (!status.ok()) return status;
    if (plugins.broken().empty() && plugins.catalog().plugins().size() == before) {
      return Status::NotFound(directory +
                              ": expected a plugin library in this directory, found none");
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
  status = errors.ToStatus();
  if (!status.ok()) return status;
  set.plugins = std::move(plugins);
  return set;
}

Status TryCreatePlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
                        const std::function<void(const CallMonitor* monitor)>& report_crashes) {
  const VirtualClock clock(0);
  return EmbeddedScheduler(TrialOptions(std::move(plugins), specs, clock, report_crashes)).Start();
}

Result<std::vector<std::string>> TryProfiles(
    std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
    const std::function<void(const CallMonitor* monitor)>& report_crashes) {
  const VirtualClock clock(0);
  EmbeddedScheduler scheduler(TrialOptions(std::move(plugins), specs, clock, report_crashes));
  Status status = scheduler.cluster().AddManifest("trial", TrialCluster(specs));
  if (status.ok()) status = scheduler.Start();
  if (!status.ok()) return status;
  std::vector<std::string> errors;
  for (const PlanSpec& spec : specs) {
    const PodRef pod = scheduler.cluster().objects().FindPod(kTrialNamespace, spec.scheduler_name);
    errors.push_back(TrialError(scheduler.loop(), pod));
  }
  return errors;
}

}  // namespace berth::host
