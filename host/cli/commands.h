// One function per command. Each takes the flags of the command line and returns an exit status.
#ifndef BERTH_HOST_CLI_COMMANDS_H_
#define BERTH_HOST_CLI_COMMANDS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/cli/cluster_access_flags.h"
#include "host/cli/command.h"
#include "host/cli/output.h"
#include "host/cli/progress.h"
#include "host/cli/progress_log.h"
#include "host/cli/shadow_command.h"
#include "host/process/assemble/connected_run_options.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/log/log_format.h"
#include "host/process/replay/simulation.h"

namespace berth::host {

// The flags that run, simulate and explain share.
struct SchedulingFlags {
  std::vector<std::string> cluster_files;
  std::vector<std::string> profiles;            // Files or names. If empty, the default profile.
  std::vector<std::string> plugin_directories;  // Empty: the default directory.
  uint64_t seed = kDefaultSeed;
  bool checks_reuse = false;
  int verbosity = 0;  // How often --verbose was given.
  OutputFormat output = OutputFormat::kTable;
};

// Of commands that look at files, or at a real cluster.
struct InspectionFlags : SchedulingFlags {
  ClusterAccessFlags access;
};

struct SimulateFlags : InspectionFlags {
  std::vector<std::string> pod_files;
  bool quiet = false;
};

struct RunFlags : SchedulingFlags {
  std::string config;  // The host file; empty if there is none.
  // The flags of a run on a real cluster. A member that is nullopt was not given.
  ClusterAccessFlags access;
  std::optional<bool> leader_elect;
  std::optional<std::string> http_address;  // "" serves nothing.
  std::optional<LogFormat> log_format;
  bool prints_decisions = false;  // --output was given.
  ShadowFlags shadow;
  // The flags of a run with files and streams.
  bool embedded = false;
  std::string events;  // The file of the stream; empty if there is none.
  std::string record;  // The file for the recording; empty if nothing is recorded.
  bool virtual_time = false;
};

struct ExplainFlags : InspectionFlags {
  std::string pod;  // "namespace/name" or "name".
};

struct DoctorFlags {
  std::string config;                           // The host file; empty if there is none.
  std::vector<std::string> profiles;            // See ConfigSources.
  std::vector<std::string> plugin_directories;  // Empty: see ConfigSources.
  ClusterAccessFlags access;
  bool shadow = false;
  OutputFormat output = OutputFormat::kTable;
};

struct PluginFlags {
  std::string plugin_directory;
  std::string target;  // For `describe`: the path of a library, or the name of a plugin.
  OutputFormat output = OutputFormat::kTable;
};

struct ProfileFlags {
  std::vector<std::string> profiles;
  std::vector<std::string> plugin_directories;
  OutputFormat output = OutputFormat::kTable;
  bool as_toml = false;  // For `show`: print one profile as a TOML file. `output` is ignored then.
};

struct PluginCheckFlags {
  std::string library;  // The path.
  // The arguments as JSON objects: "{..}" for the only plugin of the library, or "NAME={..}".
  std::vector<std::string> args;
  // The deadlines of calls: "DURATION" for the only plugin of the library, or "NAME=DURATION".
  std::vector<std::string> deadlines;
  std::vector<std::string> cluster_files;  // If empty, a cluster is made for each plugin.
  OutputFormat output = OutputFormat::kTable;
};

struct PluginNewFlags {
  std::string name;                     // "acme.RackPower"
  std::string points = "Filter,Score";  // Separated by commas.
  std::string language = "cpp";         // Or "c", or "rust".
  std::string directory;  // The folder to create. If empty, it gets the plugin's name.
};

// With --embedded or, without it, as ExecuteClusterRun().
int ExecuteRun(const RunFlags& flags, CommandEnvironment& env);
int ExecuteClusterRun(const RunFlags& flags, CommandEnvironment& env);
int ExecuteSimulate(const SimulateFlags& flags, CommandEnvironment& env);
int ExecuteExplain(const ExplainFlags& flags, CommandEnvironment& env);
int ExecuteDoctor(const DoctorFlags& flags, CommandEnvironment& env);
int ExecutePluginList(const PluginFlags& flags, CommandEnvironment& env);
int ExecutePluginDescribe(const PluginFlags& flags, CommandEnvironment& env);
int ExecuteProfileCheck(const ProfileFlags& flags, CommandEnvironment& env);
int ExecuteProfileShow(const ProfileFlags& flags, CommandEnvironment& env);
int ExecutePluginCheck(const PluginCheckFlags& flags, CommandEnvironment& env);
int ExecutePluginNew(const PluginNewFlags& flags, CommandEnvironment& env);

// Returns `given`, or the default directory if `given` is empty.
// Errors: those of FindPluginDirectory.
Result<std::string> PluginDirectory(const std::string& given, const CommandEnvironment& env);

// Loads the profiles, as LoadProfiles in host/process/, with a library store of their own. Prints
// the warnings.
Result<ProfileSet> LoadProfiles(const std::vector<std::string>& profiles,
                                const std::vector<std::string>& plugin_directories,
                                CommandEnvironment& env);

// Sets the options from the flags and the environment, except log_level.
void SetConnectedRunOptions(const RunFlags& flags, const CommandEnvironment& env,
                            ConnectedRunOptions& options);

// Prints "berth: warning: <warning>" to env.err for each of them.
void PrintWarnings(std::span<const std::string> warnings, CommandEnvironment& env);

// Returns an error if `files`, the inputs of `command`, contain standard input more than once,
// because it can be read only once.
Status CheckStandardInput(std::string_view command, std::span<const std::string> files);

// Returns the log level that --verbose selects; none if --verbose was not given.
std::optional<uint32_t> LogLevelOf(const SchedulingFlags& flags);
// Returns "2026-01-10T08:00:00.250Z ". Every text has the same length, so that log lines align.
std::string LogTime(int64_t wall_ns);

// The explanation of a run that ended although pods would be tried again.
inline constexpr std::string_view kNoProgressText =
    "Ended without progress: the remaining pods would be tried again for ever, but have failed "
    "several times since the cluster last changed.\n"
    "One cause is a plugin without EventsToRegister: its pods are tried again after every event.\n";

// Returns an error unless the flags of `command` name files, or a kubeconfig, and not both.
Status CheckSource(std::string_view command, const InspectionFlags& flags);

// Loads the profiles, reads the cluster and creates the plugins. Schedules nothing.
// Lifetime: `progress` and `log`, through which plugins log, must outlive the simulation.
Result<std::unique_ptr<Simulation>> OpenSimulation(const InspectionFlags& flags,
                                                   CommandEnvironment& env, Progress& progress,
                                                   ProgressLog& log);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMANDS_H_
