#include "host/cli/command_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/base/assert.h"
#include "host/base/emulated_version.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cli/embedded_files.h"
#include "host/config/host_config.h"

namespace berth::host {
namespace {

// ---- Flags that several commands have -----------------------------------------------------------

// The source of the access without --kubeconfig, for its help.
constexpr std::string_view kOtherwise =
    "[clientConnection.kubeconfig of the host file, or else $KUBECONFIG, or else the service "
    "account of the pod]";
constexpr const char* kHostFile =
    "The host file, berth.toml: profiles, plugin directories, emulatedVersion, deadlines, "
    "backoffs, leader election, connection";
constexpr const char* kLevels = "-v information, -vv debugging, -vvv tracing";
// More than the levels of the log, so that the -v=10 of other programs has a counterpart.
constexpr uint64_t kMaxVerbosity = 10;
constexpr std::string_view kInsteadOfFiles = "to read instead of --cluster; nothing is changed";

// Adds an option with a value, or for a vector with one value or several.
template <class T>
CLI::Option* AddOption(CLI::App& command, const char* name, const char* type, T& value,
                       const std::string& help) {
  return command.add_option(name, value, help)->type_name(type);
}

// Adds an option or argument that may be given several times, with one value each time. The help
// shows one value, and an argument may follow.
void AddRepeated(CLI::App& command, const char* name, const char* type,
                 std::vector<std::string>& values, const std::string& help) {
  AddOption(command, name, type, values, help)->take_all()->expected(1)->allow_extra_args(false);
}

// Adds an option whose value is one of `words`.
void AddWord(CLI::App& command, const char* name, const char* type,
             const std::vector<std::string>& words,
             const std::function<void(const std::string&)>& set, const std::string& help) {
  command.add_option_function<std::string>(name, set, help)
      ->type_name(type)
      ->check(CLI::IsMember(words).description(""));
}

OutputFormat FormatOf(std::string_view format) {
  if (format == "json") return OutputFormat::kJson;
  return format == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

// Adds an option whose value is a whole number from 0 to `max`.
void AddNumber(CLI::App& command, const std::string& name, uint64_t max,
               const std::function<void(uint64_t)>& set, const std::string& help) {
  // CLI11 converts numbers with strtoull, which reads 010 as 8 and 0x10 as 16.
  command
      .add_option_function<std::string>(
          name,
          [name, max, set](const std::string& text) {
            const Result<uint64_t> number = ReadNumber(text, max);
            if (!number.ok()) {
              throw CLI::ValidationError(name, std::string(number.status().message()));
            }
            set(*number);
          },
          help)
      ->type_name("N");
}

// Returns the error message for the value of a flag, such as that of --leader-elect=false; "" if it
// is valid. `max`: the largest number that the flag accepts.
std::string CheckFlagValue(const std::string& text, uint64_t max) {
  constexpr std::array kWords = {"true", "false", "yes", "no", "on", "off", "enable", "disable"};
  if (std::ranges::count(kWords, ToLower(text)) > 0 || ReadNumber(text, max).ok()) return "";
  const std::string expected =
      max == 1 ? "true or false" : "true, false or a whole number from 0 to " + std::to_string(max);
  return "expected " + expected + ", found " + Quoted(text);
}

// Checks the values of all flags of `command` and of its subcommands. Otherwise CLI11 would convert
// them with std::stoll(), which reads 2x as 2, and whose errors name neither flag nor value.
void CheckFlagValues(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_expected_min() > 0) continue;
    const uint64_t max = option->check_lname("verbose") ? kMaxVerbosity : 1;
    option->check([max](const std::string& text) { return CheckFlagValue(text, max); });
  }
  for (CLI::App* subcommand : command.get_subcommands({})) CheckFlagValues(*subcommand);
}

// Returns a check that refuses an empty value, with `what` as the expected one.
CLI::Validator NotEmpty(const std::string& what) {
  CLI::Validator validator(
      [what](const std::string& text) {
        return text.empty() ? "expected " + what + ", found an empty text" : std::string();
      },
      "");
  return validator;
}

void AddOutput(CLI::App& command, OutputFormat& output) {
  AddWord(
      command, "-o,--output", "FORMAT", {"table", "json", "yaml"},
      [&output](const std::string& format) { output = FormatOf(format); },
      "Output format: table, json or yaml [table]");
}

void AddShowOutput(CLI::App& command, ProfileFlags& flags) {
  AddWord(
      command, "-o,--output", "FORMAT", {"table", "json", "yaml", "toml"},
      [&flags](const std::string& format) {
        flags.output = FormatOf(format);
        flags.as_toml = format == "toml";
      },
      "Output format: table, json, yaml, or toml for one profile as a complete file [table]");
}

void AddPluginDirectory(CLI::App& command, std::string& directory) {
  AddOption(command, "--plugin-dir", "DIR", directory,
            "The directory of the plugins; replaces the built-in one [plugins beside the "
            "executable, or else the installed ones]");
}

void AddPluginDirectories(CLI::App& command, std::vector<std::string>& directories) {
  AddOption(command, "--plugin-dir", "DIR", directories,
            "A directory of plugins, or several; replaces the built-in one [plugins beside "
            "the executable, or else the installed ones]");
}

void AddEachPluginDirectory(CLI::App& command, std::vector<std::string>& directories) {
  AddRepeated(
      command, "--plugin-dir", "DIR", directories,
      "A directory of plugins; replaces the built-in one [plugins beside the executable, or "
      "else the installed ones]; may be given several times");
}

void AddProfiles(CLI::App& command, std::vector<std::string>& profiles) {
  AddOption(command, "--profile", "FILE|NAME", profiles,
            "The profiles to use: files *.toml, or names of profiles that come with Berth "
            "[default]; each profile needs its own schedulerName");
}

void AddSeed(CLI::App& command, uint64_t& seed) {
  AddNumber(
      command, "--seed", std::numeric_limits<uint64_t>::max(),
      [&seed](uint64_t number) { seed = number; },
      "The seed of the choice between equally good nodes [" + std::to_string(kDefaultSeed) +
          "]; equal seeds give equal results");
}

// `otherwise`: what counts if the option is not given.
void AddEmulatedVersion(CLI::App& command, const std::string& otherwise,
                        const std::function<void(KubeVersion)>& set) {
  constexpr const char* kName = "--emulated-version";
  command
      .add_option_function<std::string>(
          kName,
          [set](const std::string& text) {
            const Result<KubeVersion> read = ReadEmulatedVersion(text);
            if (!read.ok()) {
              throw CLI::ValidationError(kName, std::string(read.status().message()));
            }
            set(*read);
          },
          "The version of Kubernetes whose kube-scheduler Berth decides as: " +
              EmulatedVersionNames() + " [" + otherwise + ToString(kNewestKubeVersion) + "]")
      ->type_name("VERSION");
}

void AddConfig(CLI::App& command, ConfigFlags& flags, const std::string& help) {
  AddOption(command, "--config", "FILE", flags.config, help);
  AddProfiles(command, flags.profiles);
  AddPluginDirectories(command, flags.plugin_directories);
  AddEmulatedVersion(command, "emulatedVersion of the host file, or else ",
                     [&flags](KubeVersion version) { flags.emulated_version = version; });
}

void AddClusterFiles(CLI::App& command, std::vector<std::string>& files) {
  AddOption(command, "-c,--cluster", "FILE", files,
            "Files with nodes, pods and other objects; - is standard input");
}

void AddAdmission(CLI::App& command, bool& without_admission) {
  command.add_flag("--no-admission", without_admission,
                   "Take pods without metadata.uid as they are, without the priority, requests, "
                   "overhead and tolerations that an API server adds to new pods");
}

// `levels`: what each -v selects.
void AddScheduling(CLI::App& command, SchedulingFlags& flags, const std::string& levels) {
  AddSeed(command, flags.seed);
  AddOutput(command, flags.output);
  command.add_flag("-v,--verbose", flags.verbosity, "Print more log lines: " + levels);
}

void AddComplete(CLI::App& command, bool& is_complete) {
  command.add_flag("--complete", is_complete,
                   "The cluster has no objects of the kinds that the files lack: do not name kinds "
                   "that a decision needed and the files do not have");
}

void AddInspection(CLI::App& command, InspectionFlags& flags) {
  AddConfig(command, flags,
            "The host file, berth.toml, that berth run gets: profiles, plugin directories, "
            "emulatedVersion, deadlines, backoffs, quarantine; its tables for a real cluster have "
            "no effect");
  AddClusterFiles(command, flags.cluster_files);
  AddAdmission(command, flags.without_admission);
  AddComplete(command, flags.is_complete);
  AddScheduling(command, flags, kLevels);
  AddClusterAccess(command, kInsteadOfFiles, flags.access);
}

void AddReuseCheck(CLI::App& command, SchedulingFlags& flags) {
  command.add_flag(
      "--check-reuse", flags.checks_reuse,
      "Evaluate every node again for each pod, and fail the attempt if an answer of a plugin was "
      "reused wrongly: slow; to find a plugin that declares too little");
}

void AddLogFormat(CLI::App& command, std::optional<LogFormat>& log_format) {
  AddWord(
      command, "--log-format", "FORMAT", {"text", "json"},
      [&log_format](const std::string& format) {
        log_format = format == "json" ? LogFormat::kJsonLines : LogFormat::kKlog;
      },
      "The form of the log: text, as klog, or json "
      "[logging.format of the host file, or else text]");
}

// Adds an option whose value is a positive duration.
void AddDuration(CLI::App& command, const std::string& name, const std::string& help,
                 std::optional<int64_t>& value) {
  command
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string& text) {
            const Result<int64_t> duration = ParseDuration(text);
            if (!duration.ok()) {
              throw CLI::ValidationError(name, std::string(duration.status().message()));
            }
            if (*duration <= 0) {
              throw CLI::ValidationError(name, "expected a duration above 0, found " + text);
            }
            value = *duration;
          },
          help)
      ->type_name("DURATION");
}

// `usual`: how long the run waits for timers otherwise.
void AddWaits(CLI::App& command, const std::string& usual, WaitFlags& waits) {
  AddDuration(command, "--max-timer-wait",
              "How long pending pods wait for timers of plugins that place no pod and change "
              "nothing, before the run ends [" +
                  usual + "]",
              waits.timer_ns);
  AddDuration(command, "--max-thread-wait",
              "How long, in real time, they wait for announced work of threads of plugins [1m]",
              waits.thread_ns);
}

// ---- Commands -----------------------------------------------------------------------------------

template <class Flags>
struct Command {
  CLI::App* app;
  Flags& flags;
};

// Adds a command. If the command line names it, `selected` becomes a call of `execute`.
template <class Flags>
Command<Flags> AddCommand(CLI::App& parent, const char* name, const char* help,
                          int (*execute)(const Flags&, CommandEnvironment&), Execution& selected) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* app = parent.add_subcommand(name, help);
  app->callback([flags, execute, &selected] {
    selected = [flags, execute](CommandEnvironment& env) { return execute(*flags, env); };
  });
  return {app, *flags};
}

void AddRun(CLI::App& app, Execution& execute) {
  const auto [command, flags] =
      AddCommand(app, "run", "Run the scheduler of a real cluster", ExecuteRun, execute);
  AddConfig(*command, flags, kHostFile);
  AddClusterAccess(*command, kOtherwise, flags.access);
  command->add_flag_function(
      "--leader-elect{true}", [&flags = flags](int64_t count) { flags.leader_elect = count > 0; },
      "Wait for the lease of leader election before scheduling; --leader-elect=false does not "
      "[leaderElection.leaderElect of the host file, or else true]");
  command
      ->add_option_function<std::string>(
          "--http-address",
          [&flags = flags](const std::string& address) {
            flags.http_address = address == "none" ? "" : address;
          },
          "Where to serve /livez, /readyz, /healthz, /metrics and /configz as plain HTTP, or none "
          "[serving.address of the host file, or else " +
              std::string(kDefaultHttpAddress) + "]")
      ->type_name("HOST:PORT|none");
  AddLogFormat(*command, flags.log_format);
  AddScheduling(*command, flags, "-v debugging, -vv tracing");
  command->get_option("--output")->each([&flags = flags](const std::string&) {
    flags.prints_decisions = true;
  });
  AddReuseCheck(*command, flags);
  command->footer(HelpOf({"run", "reload", "decisions", "run_exit_status"}));
}

void AddReplay(CLI::App& app, Execution& execute) {
  const auto [command, flags] =
      AddCommand(app, "replay",
                 "Run the scheduler on objects and events from files, with the cluster in memory",
                 ExecuteReplay, execute);
  AddConfig(*command, flags, kHostFile);
  AddClusterFiles(*command, flags.cluster_files);
  AddAdmission(*command, flags.without_admission);
  AddOption(*command, "-e,--events", "FILE", flags.events,
            "A file with watch events; - is standard input");
  AddComplete(*command, flags.is_complete);
  AddWord(
      *command, "--time", "TIME", {"real", "virtual"},
      [&flags = flags](const std::string& time) { flags.virtual_time = time == "virtual"; },
      "The clock: real or virtual [real]");
  AddOption(*command, "--record", "FILE", flags.record,
            "Record the events and decisions in this file");
  AddWaits(*command, "1h in virtual time, 1m in real time", flags.waits);
  AddScheduling(*command, flags, kLevels);
  AddReuseCheck(*command, flags);
  command->footer(HelpOf({"replay", "reload", "decisions", "replay_end"}));
}

void AddShadow(CLI::App& app, Execution& execute) {
  const auto [command, flags] = AddCommand(
      app, "shadow",
      "Decide about every pod that another scheduler places on a real cluster, write nothing, and "
      "report how often both agree",
      ExecuteShadow, execute);
  AddConfig(*command, flags, kHostFile);
  AddClusterAccess(*command, kOtherwise, flags.access);
  AddDuration(*command, "--duration", "How long to observe [until SIGINT or SIGTERM]",
              flags.duration_ns);
  AddRepeated(*command, "--scheduler-name", "NAME", flags.scheduler_names,
              "The schedulerName of the pods to judge [those of the profiles]; may be given "
              "several times");
  AddDuration(*command, "--window",
              "How far a binding is moved, because bindings arrive in another order than that of "
              "the decisions [1s]",
              flags.window_ns);
  AddNumber(
      *command, "--percentage-of-nodes-to-score", 100,
      [&flags = flags](uint64_t number) {
        flags.percentage_of_nodes = static_cast<uint32_t>(number);
      },
      "The percentageOfNodesToScore of the kube-scheduler that is observed [0, its default]");
  AddLogFormat(*command, flags.log_format);
  AddScheduling(*command, flags, kLevels);
  AddReuseCheck(*command, flags);
  command->footer(HelpOf({"shadow"}));
}

void AddSimulate(CLI::App& app, Execution& execute) {
  const auto [command, flags] =
      AddCommand(app, "simulate", "Schedule all pending pods, and print where they are placed",
                 ExecuteSimulate, execute);
  AddInspection(*command, flags);
  AddReuseCheck(*command, flags);
  AddOption(
      *command, "--pods", "FILE", flags.pod_files,
      "Files with pods, or with workloads such as a Deployment, to schedule after the pods of "
      "the cluster")
      ->each([&flags = flags](const std::string&) { flags.adds_pods = true; });
  command->add_flag(
      "-q,--quiet", flags.quiet,
      "Print only the pods that could not be placed and the summary; print no progress");
  AddWaits(*command, "1h, in virtual time", flags.waits);
  command->footer(HelpOf({"simulate", "exit_status"}));
}

void AddExplain(CLI::App& app, Execution& execute) {
  const auto [command, flags] =
      AddCommand(app, "explain", "Show the result of every plugin on every node for one pod",
                 ExecuteExplain, execute);
  AddInspection(*command, flags);
  AddOption(*command, "-p,--pod", "[NAMESPACE/]NAME", flags.pod,
            "The pending pod [NAMESPACE default]")
      ->required();
  command->footer(HelpOf({"explain", "exit_status"}));
}

void AddDoctor(CLI::App& app, Execution& execute) {
  const auto [command, flags] = AddCommand(
      app, "doctor", "Check whether Berth can schedule on a real cluster", ExecuteDoctor, execute);
  AddConfig(*command, flags,
            "The host file, berth.toml, that berth run will get: profiles, plugin directories, the "
            "kubeconfig, leader election");
  AddClusterAccess(*command, kOtherwise, flags.access);
  command->add_flag("--shadow", flags.shadow,
                    "Check only what berth shadow needs: it reads, and writes nothing");
  AddOutput(*command, flags.output);
  command->footer(HelpOf({"doctor"}));
}

void AddPluginCheck(CLI::App& plugin, Execution& execute) {
  const auto [command, flags] =
      AddCommand(plugin, "check", "Check that a plugin library keeps the contract",
                 ExecutePluginCheck, execute);
  AddOption(*command, "library", "LIB", flags.library, "The path of the library")->required();
  AddRepeated(*command, "--args", "[NAME=]JSON", flags.args,
              "The arguments of the plugin as a JSON object [none]; for a library with several "
              "plugins, give --args NAME=JSON once for each plugin");
  AddRepeated(
      *command, "--deadline", "[NAME=]DURATION", flags.deadlines,
      "How long a call of the plugin may take, as `deadline` in its profile [the defaults of "
      "the host: 1s, PostFilter 10s, PreBind and Bind on a thread of the pool 10m]; for a "
      "library with several plugins, give --deadline NAME=DURATION once for each plugin");
  AddRepeated(
      *command, "--points", "[NAME=]POINTS", flags.points,
      "The extension points to check, separated by commas, such as Filter,OnChange [all "
      "points of the plugin]; for a library with several plugins, give --points NAME=POINTS "
      "once for each plugin");
  AddRepeated(*command, "-c,--cluster", "FILE", flags.cluster_files,
              "A file with nodes, pods and other objects to check the plugin with; - is standard "
              "input [a cluster made for the columns that the plugin reads]; may be given several "
              "times");
  AddEmulatedVersion(*command, "",
                     [&flags = flags](KubeVersion version) { flags.emulated_version = version; });
  AddOutput(*command, flags.output);
  command->footer(HelpOf({"plugin_check"}));
}

void AddPluginNew(CLI::App& plugin, Execution& execute) {
  const auto [command, flags] =
      AddCommand(plugin, "new", "Write the source of a new plugin", ExecutePluginNew, execute);
  AddOption(*command, "name", "NAME", flags.name,
            "The name of the plugin in profiles, as vendor.CamelCase")
      ->required();
  AddOption(*command, "--points", "POINTS", flags.points,
            "The extension points, separated by commas [" + flags.points + "]");
  AddOption(*command, "--language", "LANGUAGE", flags.language,
            "The language: cpp, c or rust [" + flags.language + "]");
  AddOption(*command, "--dir", "DIR", flags.directory,
            "The folder to create [./ and the name in snake_case]");
  command->footer(HelpOf({"plugin_new"}));
}

void AddPlugin(CLI::App& app, Execution& execute) {
  CLI::App* plugin = app.add_subcommand("plugin", "List, describe, check and create plugins");
  plugin->require_subcommand(1);
  const auto list =
      AddCommand(*plugin, "list", "List the plugins in a directory", ExecutePluginList, execute);
  const auto describe = AddCommand(*plugin, "describe", "Show what a plugin library contains",
                                   ExecutePluginDescribe, execute);
  AddOption(*describe.app, "target", "LIB|NAME", describe.flags.target,
            "The name of a plugin, or the path of a library")
      ->required();
  for (const auto& [command, flags] : {list, describe}) {
    AddPluginDirectory(*command, flags.plugin_directory);
    AddOutput(*command, flags.output);
  }
  for (CLI::App* command : {plugin, list.app, describe.app}) {
    command->footer(HelpOf({"plugin"}));
  }
  AddPluginCheck(*plugin, execute);
  AddPluginNew(*plugin, execute);
}

void AddProfileConvert(CLI::App& profile, Execution& execute) {
  const auto [command, flags] =
      AddCommand(profile, "convert", "Convert a KubeSchedulerConfiguration to profiles",
                 ExecuteProfileConvert, execute);
  AddOption(*command, "file", "FILE", flags.file,
            "A KubeSchedulerConfiguration v1 as YAML or JSON; - is standard input")
      ->required();
  AddOption(*command, "--output-dir", "DIR", flags.output_directory,
            "Write each profile to DIR/<schedulerName>.toml [one profile is written to "
            "standard output]");
  command->add_flag("--force", flags.force, "Overwrite existing files");
  command->add_flag("--strict", flags.strict, "Treat warnings as errors: write nothing");
  AddEachPluginDirectory(*command, flags.plugin_directories);
  AddEmulatedVersion(*command, "",
                     [&flags = flags](KubeVersion version) { flags.emulated_version = version; });
  command->footer(HelpOf({"profile_convert"}));
}

void AddProfile(CLI::App& app, Execution& execute) {
  CLI::App* profile = app.add_subcommand("profile", "Check, show and convert profiles");
  profile->require_subcommand(1);
  const auto check =
      AddCommand(*profile, "check", "Check profiles that are used together, and print all errors",
                 ExecuteProfileCheck, execute);
  const auto show = AddCommand(
      *profile, "show", "Show which plugins run at each extension point, and their arguments",
      ExecuteProfileShow, execute);
  for (const auto& [command, flags] : {check, show}) {
    AddOption(*command, "profiles", "FILE|NAME", flags.profiles,
              "Files *.toml, or names of profiles that come with Berth")
        ->required();
    AddEachPluginDirectory(*command, flags.plugin_directories);
    AddEmulatedVersion(*command, "",
                       [&flags = flags](KubeVersion version) { flags.emulated_version = version; });
  }
  for (CLI::App* command : {profile, check.app, show.app}) {
    command->footer(HelpOf({"profile", "profile_exit_status"}));
  }
  AddShowOutput(*show.app, show.flags);
  AddProfileConvert(*profile, execute);
}

}  // namespace

Result<uint64_t> ReadNumber(std::string_view text, uint64_t max) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && number <= max) return number;
  return Status::InvalidArgument("expected a whole number from 0 to " + std::to_string(max) +
                                 " in decimal digits, found " + Quoted(text));
}

std::string HelpOf(std::initializer_list<std::string_view> names) {
  std::string help;
  for (const std::string_view name : names) {
    const auto files = HelpTexts();
    const auto found = std::ranges::find(files, std::string(name) + ".txt", &EmbeddedFile::path);
    BERTH_ASSERT(found != files.end());
    help.append(help.empty() ? "" : "\n").append(found->text);
  }
  help.pop_back();
  return help;
}

void AddClusterAccess(CLI::App& command, std::string_view otherwise, ClusterAccessFlags& flags) {
  std::string help = "The kubeconfig file of a real cluster";
  if (!otherwise.empty()) help.append(" ").append(otherwise);
  AddOption(command, "--kubeconfig", "FILE", flags.kubeconfig, help)
      ->check(NotEmpty("the path of a file"));
  AddOption(command, "--context", "NAME", flags.context,
            "The context of the kubeconfig to use [its current-context]")
      ->check(NotEmpty("the name of a context"));
  command.add_flag("--allow-plain-http", flags.allow_plain_http,
                   "Accept a server with http:// that is not on this machine; everybody on the "
                   "network between can read and change the requests, and read the credentials");
}

void AddCommands(CLI::App& app, Execution& execute) {
  for (const auto& add :
       {AddRun, AddReplay, AddShadow, AddSimulate, AddExplain, AddDoctor, AddPlugin, AddProfile}) {
    add(app, execute);
  }
  CheckFlagValues(app);
}

}  // namespace berth::host
