// The commands: their flags, one function for each, which returns an exit status, and what they
// share.
#ifndef BERTH_HOST_CLI_COMMANDS_H_
#define BERTH_HOST_CLI_COMMANDS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/abi.h>
#include <berth/kube_version.h>

#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cli/command.h"
#include "host/cli/output.h"
#include "host/cli/progress.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/config/convert/kube_plan.h"
#include "host/guard/point.h"
#include "host/loader/plugin_catalog.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/log/log_format.h"
#include "host/process/replay/missing_kinds.h"
#include "host/process/replay/simulation.h"

namespace berth::host {

struct DoctorReport;
struct ReplaySummary;

// The flags that select a real cluster, for every command that connects to one.
struct ClusterAccessFlags {
  std::string kubeconfig = {};  // Empty: --kubeconfig was not given.
  std::string context = {};     // Empty: --context was not given.
  bool allow_plain_http = false;

  // Returns the first of these flags that was given, such as "--context", for messages; "" if none
  // was given.
  std::string_view first_given() const;
};

// What every command with profiles has.
struct ConfigFlags {
  std::string config;                           // The host file; empty if there is none.
  std::vector<std::string> profiles;            // See ConfigSources.
  std::vector<std::string> plugin_directories;  // Empty: see ConfigSources.
  std::optional<KubeVersion> emulated_version;  // Nullopt: see ConfigSources.
};

// What every command that schedules has.
struct SchedulingFlags : ConfigFlags {
  uint64_t seed = kDefaultSeed;
  bool checks_reuse = false;
  int verbosity = 0;  // How often --verbose was given.
  OutputFormat output = OutputFormat::kTable;
};

// The flags of commands that schedule on a real cluster.
struct ClusterFlags : SchedulingFlags {
  ClusterAccessFlags access;
  std::optional<LogFormat> log_format;  // Nullopt: --log-format was not given.
};

struct RunFlags : ClusterFlags {
  // A member that is nullopt was not given.
  std::optional<bool> leader_elect;
  std::optional<std::string> http_address;  // "" serves nothing.
  bool prints_decisions = false;            // --output was given.
};

// The flags of commands that end by themselves. A member that is nullopt was not given.
struct WaitFlags {
  std::optional<int64_t> timer_ns;
  std::optional<int64_t> thread_ns;
};

struct ReplayFlags : SchedulingFlags {
  std::vector<std::string> cluster_files;
  bool without_admission = false;
  std::string events;  // The file of the stream; empty if there is none.
  std::string record;  // The file for the recording; empty if nothing is recorded.
  bool virtual_time = false;
  bool is_complete = false;  // See InspectionFlags.
  WaitFlags waits;
};

struct ShadowFlags : ClusterFlags {
  // A member that is empty or nullopt was not given.
  std::optional<int64_t> duration_ns;
  std::vector<std::string> scheduler_names;
  std::optional<int64_t> window_ns;
  std::optional<uint32_t> percentage_of_nodes;
};

// Of commands that look at files, or at a real cluster.
struct InspectionFlags : SchedulingFlags {
  std::vector<std::string> cluster_files;
  bool without_admission = false;
  bool adds_pods = false;  // Files with pods for the cluster were given.
  // The cluster has no objects of the kinds that the files lack. Missing kinds are not named.
  bool is_complete = false;
  ClusterAccessFlags access;
};

struct SimulateFlags : InspectionFlags {
  std::vector<std::string> pod_files;
  bool quiet = false;
  WaitFlags waits;
};

struct ExplainFlags : InspectionFlags {
  std::string pod;  // "namespace/name" or "name".
};

struct DoctorFlags : ConfigFlags {
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
  KubeVersion emulated_version = kNewestKubeVersion;
  OutputFormat output = OutputFormat::kTable;
  bool as_toml = false;  // For `show`: print one profile as a TOML file. `output` is ignored then.
};

struct ProfileConvertFlags {
  std::string file;                             // "-" is standard input.
  std::string output_directory;                 // Empty: everything goes to standard output.
  std::vector<std::string> plugin_directories;  // Empty: the default directory.
  KubeVersion emulated_version = kNewestKubeVersion;
  bool force = false;   // Existing files may be overwritten.
  bool strict = false;  // A warning is an error.
};

struct PluginCheckFlags {
  std::string library;  // The path.
  // The arguments as JSON objects: "{..}" for the only plugin of the library, or "NAME={..}".
  std::vector<std::string> args;
  // The deadlines of calls: "DURATION" for the only plugin of the library, or "NAME=DURATION".
  std::vector<std::string> deadlines;
  // The points to check, separated by commas: "POINTS" for the only plugin of the library, or
  // "NAME=POINTS". All points of a plugin that is not named.
  std::vector<std::string> points;
  std::vector<std::string> cluster_files;  // If empty, a cluster is made for each plugin.
  KubeVersion emulated_version = kNewestKubeVersion;
  OutputFormat output = OutputFormat::kTable;
};

struct PluginNewFlags {
  std::string name;                     // "acme.RackPower"
  std::string points = "Filter,Score";  // Separated by commas.
  std::string language = "cpp";         // Or "c", or "rust".
  std::string directory;  // The folder to create. If empty, it gets the plugin's name.
};

int ExecuteRun(const RunFlags& flags, CommandEnvironment& env);
int ExecuteReplay(const ReplayFlags& flags, CommandEnvironment& env);
int ExecuteShadow(const ShadowFlags& flags, CommandEnvironment& env);
int ExecuteSimulate(const SimulateFlags& flags, CommandEnvironment& env);
int ExecuteExplain(const ExplainFlags& flags, CommandEnvironment& env);
int ExecuteDoctor(const DoctorFlags& flags, CommandEnvironment& env);
int ExecutePluginList(const PluginFlags& flags, CommandEnvironment& env);
int ExecutePluginDescribe(const PluginFlags& flags, CommandEnvironment& env);
int ExecuteProfileCheck(const ProfileFlags& flags, CommandEnvironment& env);
int ExecuteProfileShow(const ProfileFlags& flags, CommandEnvironment& env);
int ExecuteProfileConvert(const ProfileConvertFlags& flags, CommandEnvironment& env);
int ExecutePluginCheck(const PluginCheckFlags& flags, CommandEnvironment& env);
int ExecutePluginNew(const PluginNewFlags& flags, CommandEnvironment& env);

// Returns the extension points with these names, which are separated by commas. A point may also
// have the name of its method in C++: OnChange for Changes, EventsToRegister for EnqueueExtensions,
// Less or Key for QueueSort.
// Errors: InvalidArgument for a name that is unknown, with all names that are known.
Result<std::vector<Point>> ParsePoints(std::string_view names);

// Returns `given`, or the default directory if `given` is empty.
// Errors: those of FindPluginDirectory.
Result<std::string> PluginDirectory(const std::string& given, const CommandEnvironment& env);

// Loads the profiles, as LoadProfiles() of process/assemble/profile_set.h, with a library store of
// their own. Prints the warnings. `check_arguments`: see ProfileRequest.
Result<ProfileSet> LoadProfiles(const std::vector<std::string>& profiles,
                                const std::vector<std::string>& plugin_directories,
                                CommandEnvironment& env, ArgumentsCheck check_arguments = {});

// Returns what a process gets from the flags and the environment of its command. The log level is
// not set.
ProcessOptions ProcessOptionsOf(const ConfigFlags& flags, const CommandEnvironment& env);
ProcessOptions ProcessOptionsOf(const SchedulingFlags& flags, const CommandEnvironment& env);
ClusterProcessOptions ProcessOptionsOf(const ClusterFlags& flags, const CommandEnvironment& env);

// Returns the request for the access that the flags select.
AccessRequest AccessRequestOf(const ClusterAccessFlags& flags);

// Returns UserAgentOf() this version of Berth.
std::string UserAgent();

// Return what the access to a cluster and its credentials read of the environment of a command: its
// variables, files and clocks.
// Lifetime: they refer to nothing of `env`.
AccessEnvironment AccessEnvironmentOf(const CommandEnvironment& env);
Credentials::Environment CredentialsEnvironmentOf(const CommandEnvironment& env);

// Returns the cluster that the flags select, as reached from this environment, for UserAgent().
ClusterTarget ClusterTargetOf(const ClusterAccessFlags& flags, const CommandEnvironment& env);

// Returns a function that shows that a file is read.
std::function<void(std::string_view name)> ShowReading(Progress& progress);

// Prints "berth: <note>" to env.err for each note of LocalCluster::TakeNotes().
void PrintNotes(const std::vector<std::string>& notes, CommandEnvironment& env);

// Prints "berth: warning: <warning>" to env.err for each of them.
void PrintWarnings(const std::vector<std::string>& warnings, CommandEnvironment& env);

// Returns an error if `files`, the inputs of `command`, contain standard input more than once,
// because it can be read only once.
Status CheckStandardInput(std::string_view command, std::span<const std::string> files);

// Returns the log level that --verbose selects; none if --verbose was not given. Each -v selects
// one level more than `usual`, the default of the command.
std::optional<uint32_t> LogLevelOf(const SchedulingFlags& flags, uint32_t usual = BERTH_LOG_WARN);
// Returns "2026-01-10T08:00:00.250Z ". Every text has the same length, so that log lines align.
std::string LogTime(int64_t wall_ns);

// Returns the explanation of a run that ended although pods would be tried again.
// `without_events`: the plugins that rejected these pods and have no EventsToRegister.
std::string NoProgressText(std::span<const std::string> without_events);

// The explanation of a run that ended at a limit of timers or threads of plugins.
inline constexpr std::string_view kLimitReachedText =
    "Ended at a limit: timers or threads of plugins were still at work, but no pod was placed and "
    "the cluster did not change for this time.\n"
    "Use --max-timer-wait or --max-thread-wait to wait longer.\n";

// Appends a line about what was still waiting when the run ended: "Still waiting: 1 timer of
// acme.Quota, 2 pods on Permit.". Appends nothing if nothing was.
void AppendWaiting(const StillWaiting& waiting, std::string& out);

// Returns a list with the kind, the plugins and the pod, if one is known, of each missing kind.
nlohmann::ordered_json ToJson(const MissingKinds& missing);

// Returns an error unless the flags of `command` name files, or a kubeconfig, and not both.
Status CheckSource(std::string_view command, const InspectionFlags& flags);

// Reads the host file, loads the profiles, reads the cluster and creates the plugins. Schedules
// nothing. `log` gets the level of the flags, or else that of the host file.
// Lifetime: `progress` and `log`, through which plugins log, must outlive the simulation.
Result<std::unique_ptr<Simulation>> OpenSimulation(const InspectionFlags& flags,
                                                   CommandEnvironment& env, Progress& progress,
                                                   LogFilter& log);

// Returns the kinds that the decisions of the simulation needed and that its files lack. Returns
// none for a real cluster, of which all kinds are read, and for files that are complete.
MissingKinds MissingKindsOf(const InspectionFlags& flags, Simulation& simulation);

// ---- Parts of the output of commands ------------------------------------------------------------

// Reports the result of the last Decide() of `cycle`, which must be `result`. Fields that do not
// apply are absent. All lists, and the keys of all objects by node or plugin, are sorted.
//
//   code                Kubernetes' name of the code; "Skipped" for a pod that is being deleted;
//                       "Wait" for a pod that has a node and must wait on Permit
//   message             why the pod cannot be scheduled; absent on success and with "Wait"
//   preFilter           {plugin, code, reasons} of a rejection for all nodes by PreFilter
//   nodes               {<node>: {plugin, code, reasons}} of every rejected node. `plugin` is the
//                       first plugin that rejected the node; "" if PreFilter plugins restricted the
//                       pod to other nodes
//   feasible            the nodes that passed
//   nominatedNodeOnly   true: the pod's nominated node passed, and no other node was evaluated
//   scores              {<node>: {total, plugins: {<plugin>: normalised}}}; only if scoring ran
//   weights             {<plugin>: weight} of the plugins in scores
//   selected            the nodes that may be chosen: those with the highest total
//   rejectors           the plugins that made the pod unschedulable
//   awaits              the plugin that returned Pending in PreFilter or PreScore: the pod waits
//                       until it activates the pod
//   awaitsAt            "PreFilter" or "PreScore"; `nodes` and `feasible` are known in PreScore
//   chosen              the node that was chosen among `selected`
//   rejectedAt          "Reserve" or "Permit": a plugin rejected the chosen node there, or failed
//   waits               {<plugin>: timeout} of the plugins that make the pod wait on Permit
//   raw                 {<node>: {<plugin>: score}} before normalisation
//
// If an error ended the attempt, or no plugin was called, the report has only code and message.
nlohmann::ordered_json ExplainReport(const SchedulingCycle& cycle, const CycleResult& result);

// Reports a pod that PreEnqueue holds back, for which there is no attempt: code, message,
// preEnqueue {plugin, code, reasons} and rejectors.
nlohmann::ordered_json ExplainGate(const Gate& gate, const PluginIds& ids);

// Appends a sentence with the decision and its reason, the nodes that fit with the scores of every
// plugin, highest total first, and the nodes that do not fit, grouped by reason.
// `report`: the result of ExplainReport() or ExplainGate(), plus `pod`, `nodeCount`, `seed` and
// optionally `note`, which is printed after the sentence.
void AppendExplanation(const nlohmann::ordered_json& report, TerminalWidth width, std::string& out);

// Returns the report as json_output.md describes it.
nlohmann::ordered_json DoctorDocument(const DoctorReport& report);

// Appends a row for each finding, with what to do after what was found. If rules are missing, a
// command follows that adds them, ready for a shell.
void AppendDoctorTable(const DoctorReport& report, TerminalWidth width, std::string& out);

// Appends how many pods were bound and how many are pending, and a table of the most frequent
// reasons why pods are pending.
void AppendSummary(const ReplaySummary& summary, TerminalWidth width, std::string& out);

// Returns a table with one row for each argument of the JSON Schema: the name (of a nested
// argument: "scoringStrategy.resources[].weight"), type, default, allowed values and description.
// The table is empty if the schema has no properties or is not an object.
Table SchemaTable(const nlohmann::ordered_json& schema);

// Returns the data about the plugins of `catalog` that the conversion uses.
KnownPlugins KnownPluginsOf(const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_COMMANDS_H_
