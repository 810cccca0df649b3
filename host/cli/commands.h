// One function per command: what the command line said in, an exit status out.
#ifndef BERTH_HOST_CLI_COMMANDS_H_
#define BERTH_HOST_CLI_COMMANDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <berth/abi.h>

#include "host/base/status.h"
#include "host/cli/command.h"
#include "host/cli/output.h"
#include "host/cli/progress.h"
#include "host/process/embedded_scheduler.h"
#include "host/process/plugin_set.h"
#include "host/process/profile_set.h"
#include "host/process/simulation.h"

namespace berth::host {

inline constexpr uint64_t kDefaultSeed = 1;

struct SimulationFlags {
  std::vector<std::string> cluster_files;
  std::vector<std::string> profiles;            // Files or names; empty: the default one.
  std::vector<std::string> plugin_directories;  // Empty: the default one.
  uint64_t seed = kDefaultSeed;
  int verbosity = 0;
  uint32_t log_level = BERTH_LOG_WARN;  // Without verbosity.
  OutputFormat output = OutputFormat::kTable;
};

struct SimulateFlags : SimulationFlags {
  std::vector<std::string> pod_files;
  bool quiet = false;
};

struct RunFlags : SimulationFlags {
  std::string config;  // The host file; empty: there is none.
  bool embedded = false;
  std::string events;  // Where the stream comes from; empty: there is none.
  std::string record;  // Empty: nothing is recorded.
  bool virtual_time = false;
};

struct ExplainFlags : SimulationFlags {
  std::string pod;  // "namespace/name" or "name".
};

struct PluginFlags {
  std::string plugin_directory;
  std::string target;  // Of describe: a library's path, or a plugin's name.
  OutputFormat output = OutputFormat::kTable;
};

struct ProfileFlags {
  std::vector<std::string> profiles;
  std::vector<std::string> plugin_directories;
  OutputFormat output = OutputFormat::kTable;
  bool as_toml = false;  // Of `show`: one profile, as a file. `output` does not matter then.
};

struct PluginCheckFlags {
  std::string library;            // Its path.
  std::vector<std::string> args;  // "{..}" of the only plugin, or "NAME={..}"; each a JSON object.
  OutputFormat output = OutputFormat::kTable;
};

struct PluginNewFlags {
  std::string name;                     // "acme.RackPower"
  std::string points = "Filter,Score";  // Separated by commas.
  std::string language = "cpp";         // Or c, or rust.
  std::string directory;                // The folder to make; empty: called after the plugin.
};

int RunRun(const RunFlags& flags, CommandEnvironment& env);
int RunSimulate(const SimulateFlags& flags, CommandEnvironment& env);
int RunExplain(const ExplainFlags& flags, CommandEnvironment& env);
int RunPluginList(const PluginFlags& flags, CommandEnvironment& env);
int RunPluginDescribe(const PluginFlags& flags, CommandEnvironment& env);
int RunProfileCheck(const ProfileFlags& flags, CommandEnvironment& env);
int RunProfileShow(const ProfileFlags& flags, CommandEnvironment& env);
int RunPluginCheck(const PluginCheckFlags& flags, CommandEnvironment& env);
int RunPluginNew(const PluginNewFlags& flags, CommandEnvironment& env);

// `given`, or the default directory when it is empty.
Result<std::string> PluginDirectory(const std::string& given, const CommandEnvironment& env);

// The profiles, with the plugins of these directories, or of the default one when there are none.
Result<ProfileSet> OpenProfiles(const std::vector<std::string>& profiles,
                                const std::vector<std::string>& plugin_directories,
                                const CommandEnvironment& env);
// The same for a request; `files`: where profiles are.
Result<ProfileSet> OpenProfiles(ProfileRequest request, const ProfileFiles& files,
                                const CommandEnvironment& env);

// Loads the plugins, reads the profiles and the cluster, and starts: nothing has been scheduled
// yet.
// Lifetime: `progress` outlives what is returned: what plugins log is printed through it.
Result<std::unique_ptr<Simulation>> OpenSimulation(const SimulationFlags& flags,
                                                   CommandEnvironment& env, Progress& progress);
// The same for a scheduler that somebody else drives: what `options` does not say is as above.
Result<std::unique_ptr<EmbeddedScheduler>> OpenScheduler(const SimulationFlags& flags,
                                                         CommandEnvironment& env,
                                                         Progress& progress,
                                                         EmbeddedScheduler::Options options);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMANDS_H_
