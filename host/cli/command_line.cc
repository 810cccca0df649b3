#include "host/cli/command_line.h"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cli/cluster_access_flags.h"
#include "host/cli/help_texts.h"
#include "host/config/cluster_config.h"

namespace berth::host {
namespace {

// ---- Flags that several commands have -----------------------------------------------------------

// The source of the access without --kubeconfig, for its help.
constexpr std::string_view kOtherwise =
    "[clientConnection.kubeconfig of the host file, or else $KUBECONFIG, or else the service "
    "account of the pod]";
constexpr const char* kHostFile =
    "The host file, berth.toml: profiles, plugin directories, deadlines, backoffs, leader "
    "election, connection";
constexpr const char* kLevels = "-v information, -vv debugging, -vvv tracing";
constexpr std::string_view kInsteadOfFiles = "to read instead of --cluster; nothing is changed";

OutputFormat FormatOf(std::string_view format) {
  if (format == "json") return OutputFormat::kJson;
  return format == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

// Returns the error message for a seed; "" if it is valid.
std::string CheckSeed(const std::string& text) {
  // CLI11 converts the text with strtoull, which accepts a sign and numbers that are too large.
  char* end = nullptr;
  errno = 0;
  static_cast<void>(std::strtoull(text.c_str(), &end, 0));
  if (!text.empty() && IsDigit(text.front()) && *end == '\0' && errno == 0) return "";
  return "expected a number from 0 to " + std::to_string(std::numeric_limits<uint64_t>::max()) +
         ", found " + text;
}

void AddOutput(CLI::App& command, OutputFormat& output) {
  command
      .add_option_function<std::string>(
          "-o,--output", [&output](const std::string& format) { output = FormatOf(format); },
          "Output format: table, json or yaml [table]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "yaml"}).description(""));
}

void AddShowOutput(CLI::App& command, ProfileFlags& flags) {
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&flags](const std::string& format) {
            flags.output = FormatOf(format);
            flags.as_toml = format == "toml";
          },
          "Output format: table, json, yaml, or toml for one profile as a complete file [table]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "yaml", "toml"}).description(""));
}

void AddPluginDirectory(CLI::App& command, std::string& directory) {
  command
      .add_option("--plugin-dir", directory,
                  "The directory of the plugins; replaces the built-in one [plugins beside the "
                  "executable, or else the installed ones]")
      ->type_name("DIR");
}

void AddPluginDirectories(CLI::App& command, std::vector<std::string>& directories) {
  command
      .add_option("--plugin-dir", directories,
                  "A directory of plugins, or several; replaces the built-in one [plugins beside "
                  "the executable, or else the installed ones]")
      ->type_name("DIR");
}

void AddEachPluginDirectory(CLI::App& command, std::vector<std::string>& directories) {
  command
      .add_option(
          "--plugin-dir", directories,
          "A directory of plugins; replaces the built-in one [plugins beside the executable, or "
          "else the installed ones]; may be given several times")
      ->type_name("DIR")
      ->take_all()
      ->expected(1)  // The help shows one value.
      ->allow_extra_args(false);
}

void AddProfiles(CLI::App& command, std::vector<std::string>& profiles) {
  command
      .add_option("--profile", profiles,
                  "The profiles to use: files *.toml, or names of profiles that come with Berth "
                  "[default]; each profile needs its own schedulerName")
      ->type_name("FILE|NAME");
}

void AddSeed(CLI::App& command, uint64_t& seed) {
  command
      .add_option("--seed", seed,
                  "The seed of the choice between equally good nodes [" +
                      std::to_string(kDefaultSeed) + "]; equal seeds give equal results")
      ->type_name("N")
      ->check(CheckSeed);
}

void AddConfig(CLI::App& command, ConfigFlags& flags, const std::string& help) {
  command.add_option("--config", flags.config, help)->type_name("FILE");
  AddProfiles(command, flags.profiles);
  AddPluginDirectories(command, flags.plugin_directories);
}

void AddClusterFiles(CLI::App& command, std::vector<std::string>& files) {
  command
      .add_option("-c,--cluster", files,
                  "Files with nodes, pods and other objects; - is standard input")
      ->type_name("FILE");
}

// `levels`: what each -v selects.
void AddScheduling(CLI::App& command, SchedulingFlags& flags, const std::string& levels) {
  AddSeed(command, flags.seed);
  AddOutput(command, flags.output);
  command.add_flag("-v,--verbose", flags.verbosity, "Print more log lines: " + levels);
}

void AddInspection(CLI::App& command, InspectionFlags& flags) {
  AddClusterFiles(command, flags.cluster_files);
  AddProfiles(command, flags.profiles);
  AddPluginDirectories(command, flags.plugin_directories);
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
  command
      .add_option_function<std::string>(
          "--log-format",
          [&log_format](const std::string& format) {
            log_format = format == "json" ? LogFormat::kJsonLines : LogFormat::kKlog;
          },
          "The form of the log: text, as klog, or json "
          "[logging.format of the host file, or else text]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}).description(""));
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

// ---- Commands -----------------------------------------------------------------------------------

void AddRun(CLI::App& app, RunFlags& flags) {
  CLI::App* command = app.add_subcommand("run", "Run the scheduler of a real cluster");
  AddConfig(*command, flags, kHostFile);
  AddClusterAccess(*command, kOtherwise, flags.access);
  command->add_flag_function(
      "--leader-elect{true}", [&flags](int64_t count) { flags.leader_elect = count > 0; },
      "Wait for the lease of leader election before scheduling; --leader-elect=false does not "
      "[leaderElection.leaderElect of the host file, or else true]");
  command
      ->add_option_function<std::string>(
          "--http-address",
          [&flags](const std::string& address) {
            flags.http_address = address == "none" ? "" : address;
          },
          "Where to serve /livez, /readyz, /healthz and /metrics as plain HTTP, or none "
          "[serving.address of the host file, or else " +
              std::string(kDefaultHttpAddress) + "]")
      ->type_name("HOST:PORT|none");
  AddLogFormat(*command, flags.log_format);
  AddScheduling(*command, flags, "-v debugging, -vv tracing");
  AddReuseCheck(*command, flags);
  command->footer(
      std::string(kRunExamples).append(kReloadHelp).append(kDecisionsHelp).append(kRunExitStatus));
}

void AddReplay(CLI::App& app, ReplayFlags& flags) {
  CLI::App* command = app.add_subcommand(
      "replay", "Run the scheduler on objects and events from files, with the cluster in memory");
  AddConfig(*command, flags, kHostFile);
  AddClusterFiles(*command, flags.cluster_files);
  command->add_option("-e,--events", flags.events, "A file with watch events; - is standard input")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--time", [&flags](const std::string& time) { flags.virtual_time = time == "virtual"; },
          "The clock: real or virtual [real]")
      ->type_name("TIME")
      ->check(CLI::IsMember({"real", "virtual"}).description(""));
  command->add_option("--record", flags.record, "Record the events and decisions in this file")
      ->type_name("FILE");
  AddScheduling(*command, flags, kLevels);
  AddReuseCheck(*command, flags);
  command->footer(
      std::string(kReplayExamples).append(kReloadHelp).append(kDecisionsHelp).append(kReplayEnd));
}

void AddShadow(CLI::App& app, ShadowFlags& flags) {
  CLI::App* command = app.add_subcommand(
      "shadow",
      "Decide about every pod that another scheduler places on a real cluster, write nothing, and "
      "report how often both agree");
  AddConfig(*command, flags, kHostFile);
  AddClusterAccess(*command, kOtherwise, flags.access);
  AddDuration(*command, "--duration", "How long to observe [until SIGINT or SIGTERM]",
              flags.duration_ns);
  command
      ->add_option("--scheduler-name", flags.scheduler_names,
                   "The schedulerName of the pods to judge [those of the profiles]; may be given "
                   "several times")
      ->type_name("NAME")
      ->take_all()
      ->expected(1)  // The help shows one value.
      ->allow_extra_args(false);
  AddDuration(*command, "--window",
              "How far a binding is moved, because bindings arrive in another order than that of "
              "the decisions [1s]",
              flags.window_ns);
  command
      ->add_option("--percentage-of-nodes-to-score", flags.percentage_of_nodes,
                   "The percentageOfNodesToScore of the kube-scheduler that is observed [0, its "
                   "default]")
      ->type_name("N")
      ->check(CLI::Range(0, 100).description(""));
  AddLogFormat(*command, flags.log_format);
  AddScheduling(*command, flags, kLevels);
  AddReuseCheck(*command, flags);
  command->footer(std::string(kShadowExamples));
}

void AddSimulate(CLI::App& app, SimulateFlags& flags) {
  CLI::App* command =
      app.add_subcommand("simulate", "Schedule all pending pods, and print where they are placed");
  AddInspection(*command, flags);
  AddReuseCheck(*command, flags);
  command
      ->add_option("--pods", flags.pod_files,
                   "Files with pods to schedule after those of the cluster")
      ->type_name("FILE");
  command->add_flag(
      "-q,--quiet", flags.quiet,
      "Print only the pods that could not be placed and the summary; print no progress");
  command->footer(std::string(kSimulateExamples).append(kExitStatus));
}

void AddExplain(CLI::App& app, ExplainFlags& flags) {
  CLI::App* command =
      app.add_subcommand("explain", "Show the result of every plugin on every node for one pod");
  AddInspection(*command, flags);
  command->add_option("-p,--pod", flags.pod, "The pending pod [NAMESPACE default]")
      ->type_name("[NAMESPACE/]NAME")
      ->required();
  command->footer(std::string(kExplainExamples).append(kExitStatus));
}

void AddDoctor(CLI::App& app, DoctorFlags& flags) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check whether Berth can schedule on a real cluster");
  AddConfig(*command, flags,
            "The host file, berth.toml, that berth run will get: profiles, plugin directories, the "
            "kubeconfig, leader election");
  AddClusterAccess(*command, kOtherwise, flags.access);
  command->add_flag("--shadow", flags.shadow,
                    "Check only what berth shadow needs: it reads, and writes nothing");
  AddOutput(*command, flags.output);
  command->footer(std::string(kDoctorExamples));
}

void AddPluginCheck(CLI::App& plugin, PluginCheckFlags& flags) {
  CLI::App* command =
      plugin.add_subcommand("check", "Check that a plugin library keeps the contract");
  command->add_option("library", flags.library, "The path of the library")
      ->type_name("LIB")
      ->required();
  command
      ->add_option(
          "--args", flags.args,
          "The arguments of the plugin as a JSON object [none]; for a library with several "
          "plugins, give --args NAME=JSON once for each plugin")
      ->type_name("[NAME=]JSON")
      ->take_all()
      ->expected(1)  // The help shows one value.
      ->allow_extra_args(false);
  command
      ->add_option(
          "--deadline", flags.deadlines,
          "How long a call of the plugin may take, as `deadline` in its profile [the defaults of "
          "the host: 1s, PostFilter 10s, PreBind and Bind on a thread of the pool 10m]; for a "
          "library with several plugins, give --deadline NAME=DURATION once for each plugin")
      ->type_name("[NAME=]DURATION")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command
      ->add_option(
          "-c,--cluster", flags.cluster_files,
          "A file with nodes, pods and other objects to check the plugin with; - is standard "
          "input [a cluster made for the columns that the plugin reads]; may be given several "
          "times")
      ->type_name("FILE")
      ->take_all()
      ->expected(1)  // The library may follow.
      ->allow_extra_args(false);
  AddOutput(*command, flags.output);
  command->footer(std::string(kPluginCheckExamples));
}

void AddPluginNew(CLI::App& plugin, PluginNewFlags& flags) {
  CLI::App* command = plugin.add_subcommand("new", "Write the source of a new plugin");
  command->add_option("name", flags.name, "The name of the plugin in profiles, as vendor.CamelCase")
      ->type_name("NAME")
      ->required();
  command
      ->add_option("--points", flags.points,
                   "The extension points, separated by commas [" + flags.points + "]")
      ->type_name("POINTS");
  command
      ->add_option("--language", flags.language,
                   "The language: cpp, c or rust [" + flags.language + "]")
      ->type_name("LANGUAGE");
  command
      ->add_option("--dir", flags.directory, "The folder to create [./ and the name in snake_case]")
      ->type_name("DIR");
  command->footer(std::string(kPluginNewExamples));
}

void AddPlugin(CLI::App& app, CommandLine& line) {
  CLI::App* plugin = app.add_subcommand("plugin", "List, describe, check and create plugins");
  plugin->require_subcommand(1);
  plugin->footer(std::string(kPluginExamples));
  CLI::App* list = plugin->add_subcommand("list", "List the plugins in a directory");
  AddPluginDirectory(*list, line.list.plugin_directory);
  AddOutput(*list, line.list.output);
  CLI::App* describe = plugin->add_subcommand("describe", "Show what a plugin library contains");
  describe
      ->add_option("target", line.describe.target, "The name of a plugin, or the path of a library")
      ->type_name("LIB|NAME")
      ->required();
  AddPluginDirectory(*describe, line.describe.plugin_directory);
  AddOutput(*describe, line.describe.output);
  for (CLI::App* command : {list, describe}) command->footer(std::string(kPluginExamples));
  AddPluginCheck(*plugin, line.plugin_check);
  AddPluginNew(*plugin, line.new_plugin);
}

void AddProfileConvert(CLI::App& profile, ProfileConvertFlags& flags) {
  CLI::App* command =
      profile.add_subcommand("convert", "Convert a KubeSchedulerConfiguration to profiles");
  command
      ->add_option("file", flags.file,
                   "A KubeSchedulerConfiguration v1 as YAML or JSON; - is standard input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--output-dir", flags.output_directory,
                   "Write each profile to DIR/<schedulerName>.toml [one profile is written to "
                   "standard output]")
      ->type_name("DIR");
  command->add_flag("--force", flags.force, "Overwrite existing files");
  command->add_flag("--strict", flags.strict, "Treat warnings as errors: write nothing");
  AddEachPluginDirectory(*command, flags.plugin_directories);
  command->footer(std::string(kConvertExamples));
}

void AddProfile(CLI::App& app, CommandLine& line) {
  CLI::App* profile = app.add_subcommand("profile", "Check, show and convert profiles");
  profile->require_subcommand(1);
  profile->footer(std::string(kProfileExamples).append(kProfileExitStatus));
  CLI::App* check = profile->add_subcommand(
      "check", "Check profiles that are used together, and print all errors");
  CLI::App* show = profile->add_subcommand(
      "show", "Show which plugins run at each extension point, and their arguments");
  for (auto [command, flags] : {std::pair(check, &line.check), std::pair(show, &line.show)}) {
    command
        ->add_option("profiles", flags->profiles,
                     "Files *.toml, or names of profiles that come "
                     "with Berth")
        ->type_name("FILE|NAME")
        ->required();
    AddEachPluginDirectory(*command, flags->plugin_directories);
    command->footer(std::string(kProfileExamples).append(kProfileExitStatus));
  }
  AddShowOutput(*show, line.show);
  AddProfileConvert(*profile, line.convert);
}

}  // namespace

void AddCommands(CLI::App& app, CommandLine& line) {
  AddRun(app, line.run);
  AddReplay(app, line.replay);
  AddShadow(app, line.shadow);
  AddSimulate(app, line.simulate);
  AddExplain(app, line.explain);
  AddDoctor(app, line.doctor);
  AddPlugin(app, line);
  AddProfile(app, line);
}

}  // namespace berth::host
