#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "host/cli/commands.h"
#include "host/process/cluster_files.h"

namespace berth::host {
namespace {

uint32_t LogLevel(int verbosity) {
  constexpr std::array<uint32_t, 4> kLevels = {BERTH_LOG_WARN, BERTH_LOG_INFO, BERTH_LOG_DEBUG,
                                               BERTH_LOG_TRACE};
  return kLevels[static_cast<size_t>(std::clamp(verbosity, 0, 3))];
}

std::string_view LevelName(uint32_t level) {
  constexpr std::array<std::string_view, 5> kNames = {"trace", "debug", "info", "warning", "error"};
  return kNames[std::min<size_t>(level, kNames.size() - 1)];
}

// A Simulation or an EmbeddedScheduler.
template <class T>
Result<std::unique_ptr<T>> Open(const SimulationFlags& flags, CommandEnvironment& env,
                                Progress& progress, typename T::Options options) {
  if (options.plugins == nullptr) {
    auto set = OpenProfiles(flags.profiles, flags.plugin_directories, env);
    if (!set.ok()) return std::move(set).status();
    options.plugins = std::move(set->plugins);
    options.profiles = std::move(set->specs);
  }
  options.seed = flags.seed;
  options.report_crashes = env.report_crashes;
  options.log_level = flags.verbosity > 0 ? LogLevel(flags.verbosity) : flags.log_level;
  // Plugins log on threads of their own too.
  options.log = [&progress](uint32_t level, std::string_view plugin, std::string_view message) {
    std::string line = std::string("berth: ").append(LevelName(level)).append(": ");
    if (!plugin.empty()) line.append(plugin).append(": ");
    progress.Print(line.append(Printable(message)).append(1, '\n'));
  };
  auto opened = T::Create(std::move(options));
  for (const std::string& file : flags.cluster_files) {
    progress.Say("Reading " + std::string(InputName(file)));
    Status status = opened->AddFile(file, env.in);
    if (!status.ok()) return status;
  }
  Status status = opened->Start();
  if (!status.ok()) return status;
  return opened;
}

}  // namespace

Result<ProfileSet> OpenProfiles(const std::vector<std::string>& profiles,
                                const std::vector<std::string>& plugin_directories,
                                const CommandEnvironment& env) {
  return OpenProfiles({profiles, plugin_directories, MakeLibraryStore(env.temporary_directory), {}},
                      FindProfiles(env.executable), env);
}

Result<ProfileSet> OpenProfiles(ProfileRequest request, const ProfileFiles& files,
                                const CommandEnvironment& env) {
  if (request.plugin_directories.empty()) {
    auto directory = PluginDirectory("", env);
    if (!directory.ok()) return std::move(directory).status();
    request.plugin_directories.push_back(std::move(directory).value());
  }
  return LoadProfiles(request, files);
}

Result<std::string> PluginDirectory(const std::string& given, const CommandEnvironment& env) {
  if (!given.empty()) return given;
  return FindPluginDirectory(env.executable);
}

Result<std::unique_ptr<Simulation>> OpenSimulation(const SimulationFlags& flags,
                                                   CommandEnvironment& env, Progress& progress) {
  Simulation::Options options;
  options.now_ns = env.wall_ns;
  return Open<Simulation>(flags, env, progress, std::move(options));
}

Result<std::unique_ptr<EmbeddedScheduler>> OpenScheduler(const SimulationFlags& flags,
                                                         CommandEnvironment& env,
                                                         Progress& progress,
                                                         EmbeddedScheduler::Options options) {
  return Open<EmbeddedScheduler>(flags, env, progress, std::move(options));
}

}  // namespace berth::host
