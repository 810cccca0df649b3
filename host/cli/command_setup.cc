#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <berth/abi.h>

#include "host/base/child_process.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cli/commands.h"
#include "host/guard/point.h"
#include "host/process/assemble/config_reloader.h"
#include "host/process/assemble/input_files.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/replay/simulation.h"

namespace berth::host {
namespace {

// A method in C++ that has another name than its extension point.
struct MethodOfPoint {
  std::string_view name;
  Point point;
};
constexpr std::array<MethodOfPoint, 6> kMethods{{{"OnChange", Point::kChanges},
                                                 {"Save", Point::kHandOver},
                                                 {"Restore", Point::kHandOver},
                                                 {"EventsToRegister", Point::kEnqueueExtensions},
                                                 {"Less", Point::kQueueSort},
                                                 {"Key", Point::kQueueSort}}};

// Returns the value of the variable; nullopt if it is not set. The first entry counts, as getenv()
// decides.
std::optional<std::string> FindVariable(const std::vector<std::string>& variables,
                                        const std::string& name) {
  const std::string start = name + "=";
  for (const std::string& variable : variables) {
    if (variable.starts_with(start)) return variable.substr(start.size());
  }
  return std::nullopt;
}

// Adds the objects of the real cluster that the flags name, and prints the warnings.
// Errors: those of LoadLiveCluster().
Status AddRealCluster(const InspectionFlags& flags, const KindUsers& users, CommandEnvironment& env,
                      Progress& progress, LogSink& log, LocalCluster& cluster) {
  const Result<std::vector<std::string>> warnings =
      LoadLiveCluster({.target = ClusterTargetOf(flags.access, env),
                       .progress =
                           [&progress](std::string_view kind, size_t count) {
                             progress.ShowActivity("Reading " + std::string(kind) + ": " +
                                                   CountOf(count, "object"));
                           },
                       .log = &log,
                       .reads_policies = flags.adds_pods && !flags.without_admission},
                      users, cluster);
  progress.Clear();
  if (!warnings.ok()) return warnings.status();
  PrintWarnings(*warnings, env);
  return {};
}

}  // namespace

// ---- Output -------------------------------------------------------------------------------------

int Fail(CommandEnvironment& env, const Status& status) {
  // One write: other threads may still write to the same terminal or file.
  std::string text;
  for (const std::string_view line : LinesOf(status.message())) {
    text.append("berth: ").append(Printable(line)).append(1, '\n');
  }
  env.err.write(text.data(), static_cast<std::streamsize>(text.size()));
  env.err.flush();
  return kExitBadInput;
}

int Print(CommandEnvironment& env, std::string_view text, int exit_status) {
  // If the output has failed already, errno is that of the failure.
  if (env.out.good()) errno = 0;
  env.out.write(text.data(), static_cast<std::streamsize>(text.size()));
  return env.out.flush() ? exit_status : OutputFailed(env, errno);
}

int PrintAs(OutputFormat format, const nlohmann::ordered_json& document,
            void (*append_table)(const nlohmann::ordered_json& document, TerminalWidth width,
                                 std::string& out),
            CommandEnvironment& env, int exit_status) {
  std::string out;
  if (format == OutputFormat::kTable) {
    append_table(document, env.out_width, out);
  } else {
    AppendDocument(document, format, out);
  }
  return Print(env, out, exit_status);
}

int OutputFailed(CommandEnvironment& env, int error) {
  std::string text = "the output could not be written";
  if (error != 0) text.append(": ").append(std::strerror(error));
  return Fail(env, Status::Unavailable(std::move(text)));
}

void AppendWaiting(const StillWaiting& waiting, std::string& out) {
  std::vector<std::string> parts;
  for (const auto& [plugin, count] : waiting.timers) {
    parts.push_back(CountOf(count, "timer") + " of " + plugin);
  }
  for (const auto& [plugin, count] : waiting.threads) {
    parts.push_back(CountOf(count, "thread") + " of " + plugin);
  }
  if (waiting.on_permit > 0) parts.push_back(CountOf(waiting.on_permit, "pod") + " on Permit");
  if (waiting.in_backoff > 0) parts.push_back(CountOf(waiting.in_backoff, "pod") + " in backoff");
  if (!parts.empty()) out += "Still waiting: " + Join(parts, ", ") + ".\n";
}

nlohmann::ordered_json ToJson(const MissingKinds& missing) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MissingKind& each : missing.list) {
    nlohmann::ordered_json& entry = list.emplace_back();
    entry["kind"] = each.kind;
    entry["plugins"] = each.plugins;
    if (!each.pod.empty()) entry["pod"] = each.pod;
  }
  return list;
}

std::string NoProgressText(std::span<const std::string> without_events) {
  std::string text =
      "Ended without progress: the remaining pods would be tried again for ever, but have failed "
      "several times since the cluster last changed.\n";
  if (without_events.empty()) return text;
  const bool is_one = without_events.size() == 1;
  return text + "One cause is the " + (is_one ? "plugin " : "plugins ") +
         Join(without_events, ", ") + " without EventsToRegister: " + (is_one ? "its" : "their") +
         " pods are tried again after every event.\n";
}

// ---- Input and options --------------------------------------------------------------------------

Result<ProfileSet> LoadProfiles(const std::vector<std::string>& profiles,
                                const std::vector<std::string>& plugin_directories,
                                CommandEnvironment& env, ArgumentsCheck check_arguments) {
  auto set = LoadProfiles({.profiles = profiles,
                           .plugin_directories = plugin_directories,
                           .executable = env.executable,
                           .libraries = MakeLibraryStore(env.temporary_directory, env.steady_ns),
                           .before_read = {},
                           .check_arguments = std::move(check_arguments)});
  if (set.ok()) PrintWarnings(set->warnings, env);
  return set;
}

void PrintWarnings(const std::vector<std::string>& warnings, CommandEnvironment& env) {
  for (const std::string& warning : warnings) {
    env.err << "berth: warning: " << Printable(warning) << '\n';
  }
  env.err.flush();
}

std::function<void(std::string_view)> ShowReading(Progress& progress) {
  return
      [&progress](std::string_view name) { progress.ShowActivity("Reading " + std::string(name)); };
}

void PrintNotes(const std::vector<std::string>& notes, CommandEnvironment& env) {
  for (const std::string& note : notes) env.err << "berth: " << Printable(note) << '\n';
  env.err.flush();
}

Result<std::string> PluginDirectory(const std::string& given, const CommandEnvironment& env) {
  if (!given.empty()) return given;
  return FindPluginDirectory(env.executable);
}

Result<std::vector<Point>> ParsePoints(std::string_view names) {
  std::vector<std::string> known;
  known.reserve(kPoints.size());
  for (const PointInfo& info : kPoints) known.emplace_back(info.name);
  const std::vector<std::string> points = known;
  for (const MethodOfPoint& method : kMethods) known.emplace_back(method.name);
  std::vector<Point> parsed;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = names.find(',');
    const std::string name(names.substr(0, end));
    names.remove_prefix(std::min(end, names.size() - 1) + 1);
    const auto point = std::ranges::find(kPoints, name, &PointInfo::name);
    const auto method = std::ranges::find(kMethods, name, &MethodOfPoint::name);
    if (point != kPoints.end()) {
      parsed.push_back(point->point);
    } else if (method != kMethods.end()) {
      parsed.push_back(method->point);
    } else {
      return Status::InvalidArgument("--points: expected an extension point, found \"" + name +
                                     "\"" + DidYouMean(name, known) +
                                     "\nThe extension points are " + Join(points, ", "));
    }
  }
  return parsed;
}

Status CheckStandardInput(std::string_view command, std::span<const std::string> files) {
  if (std::ranges::count(files, kStandardInput) <= 1) return {};
  return Status::InvalidArgument(
      std::string(command) +
      ": expected - for one input, found it for several: standard input can be read only once");
}

Status CheckSource(std::string_view command, const InspectionFlags& flags) {
  const std::string name(command);
  const bool is_live = !flags.access.kubeconfig.empty();
  if (is_live && !flags.cluster_files.empty()) {
    return Status::InvalidArgument(name +
                                   ": expected --cluster or --kubeconfig, found both: the pods and "
                                   "nodes come from files, or from a real cluster");
  }
  const std::string flag(flags.access.first_given());
  if (!is_live && !flag.empty()) {
    return Status::InvalidArgument(name + ": expected --kubeconfig FILE with " + flag +
                                   ", found none");
  }
  if (is_live || !flags.cluster_files.empty()) return {};
  return Status::InvalidArgument(name +
                                 ": expected --cluster FILE or --kubeconfig FILE, found no source "
                                 "of pods and nodes (see berth " +
                                 name + " --help)");
}

ProcessOptions ProcessOptionsOf(const ConfigFlags& flags, const CommandEnvironment& env) {
  return {.config = {flags.config, flags.profiles, flags.plugin_directories, env.executable,
                     flags.emulated_version},
          .hash_key = env.hash_key,
          .temporary_directory = env.temporary_directory,
          .steady_ns = env.steady_ns,
          .wall_ns = env.wall_ns,
          .requests = env.requests,
          .report_crashes = env.report_crashes};
}

ProcessOptions ProcessOptionsOf(const SchedulingFlags& flags, const CommandEnvironment& env) {
  ProcessOptions options = ProcessOptionsOf(static_cast<const ConfigFlags&>(flags), env);
  options.seed = flags.seed;
  options.checks_reuse = flags.checks_reuse;
  return options;
}

ClusterProcessOptions ProcessOptionsOf(const ClusterFlags& flags, const CommandEnvironment& env) {
  return {ProcessOptionsOf(static_cast<const SchedulingFlags&>(flags), env),
          ClusterTargetOf(flags.access, env), flags.log_format, env.err_descriptor, env.pid};
}

std::optional<uint32_t> LogLevelOf(const SchedulingFlags& flags, uint32_t usual) {
  constexpr std::array<uint32_t, 4> kLevels = {BERTH_LOG_WARN, BERTH_LOG_INFO, BERTH_LOG_DEBUG,
                                               BERTH_LOG_TRACE};
  if (flags.verbosity <= 0) return std::nullopt;
  const auto level = std::ranges::find(kLevels, usual) - kLevels.begin();
  return kLevels[std::min(static_cast<size_t>(level + flags.verbosity), kLevels.size() - 1)];
}

std::string LogTime(int64_t wall_ns) {
  // One nanosecond more than the milliseconds keeps the digits that FormatTime() would leave out.
  std::string text = FormatTime(wall_ns - wall_ns % kMillisecond + 1);
  constexpr size_t kMilliseconds = std::string_view("2026-01-10T08:00:00.250").size();
  return text.replace(kMilliseconds, std::string::npos, "Z ");
}

Result<std::unique_ptr<Simulation>> OpenSimulation(const InspectionFlags& flags,
                                                   CommandEnvironment& env, Progress& progress,
                                                   LogFilter& log) {
  FileStamps files;  // Nothing is reloaded.
  Result<RunConfig> config =
      ReadRunConfig(ProcessOptionsOf(flags, env).config,
                    MakeLibraryStore(env.temporary_directory, env.steady_ns), files);
  if (!config.ok()) return std::move(config).status();
  PrintWarnings(config->set.warnings, env);
  log.SetLevel(LogLevelOf(flags).value_or(config->host.log_level.value_or(BERTH_LOG_WARN)));
  const KindUsers users(config->set.plugins->catalog(), config->set.specs);
  SchedulerOptions options;
  options.plugins = std::move(config->set.plugins);
  options.profiles = std::move(config->set.specs);
  options.report_crashes = env.report_crashes;
  options.steady_ns = env.steady_ns;
  options.hash_key = env.hash_key;
  options.loop.seed = flags.seed;
  options.loop.reuse.is_checked = flags.checks_reuse;
  options.loop.log = &log;
  options.loop.logs_decisions = false;  // The command prints them.
  auto simulation =
      std::make_unique<Simulation>(std::move(options), env.wall_ns(), env.steady_ns, config->host);
  LocalCluster& cluster = simulation->cluster();
  cluster.SetAdmission(!flags.without_admission, flags.is_complete);
  Status read = cluster.AddFiles(
      {.paths = flags.cluster_files, .in = env.in, .on_reading = ShowReading(progress)});
  if (!read.ok()) return read;
  if (!flags.access.kubeconfig.empty()) {
    Status status = AddRealCluster(flags, users, env, progress, log, simulation->cluster());
    if (!status.ok()) return status;
  }
  if (Status status = simulation->Start(); !status.ok()) return status;
  return simulation;
}

MissingKinds MissingKindsOf(const InspectionFlags& flags, Simulation& simulation) {
  if (flags.is_complete || !flags.access.kubeconfig.empty()) return {};
  return FindMissingKinds(simulation.cluster(), simulation.loop());
}

// ---- A real cluster -----------------------------------------------------------------------------

std::string_view ClusterAccessFlags::first_given() const {
  if (!kubeconfig.empty()) return "--kubeconfig";
  if (!context.empty()) return "--context";
  return allow_plain_http ? "--allow-plain-http" : "";
}

AccessRequest AccessRequestOf(const ClusterAccessFlags& flags) {
  return {.kubeconfig = flags.kubeconfig,
          .context = flags.context,
          .allow_plain_http = flags.allow_plain_http};
}

std::string UserAgent() { return UserAgentOf(BERTH_VERSION); }

AccessEnvironment AccessEnvironmentOf(const CommandEnvironment& env) {
  return {.variable = [variables = env.variables](
                          const std::string& name) { return FindVariable(variables, name); },
          .read_file = ReadAccessFile};
}

Credentials::Environment CredentialsEnvironmentOf(const CommandEnvironment& env) {
  return {.steady_ns = env.steady_ns,
          .wall_ns = env.wall_ns,
          .read_file = ReadAccessFile,
          .run = [steady_ns = env.steady_ns](
                     const Subprocess& what) { return RunSubprocess(what, steady_ns); },
          .variables = env.variables};
}

ClusterTarget ClusterTargetOf(const ClusterAccessFlags& flags, const CommandEnvironment& env) {
  return {.access = AccessRequestOf(flags),
          .environment = AccessEnvironmentOf(env),
          .credentials = CredentialsEnvironmentOf(env),
          .user_agent = UserAgent()};
}

}  // namespace berth::host
