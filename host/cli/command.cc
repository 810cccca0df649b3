#include "host/cli/command.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <berth/abi.h>

#include "host/base/suggest.h"
#include "host/base/text.h"
#include "host/cli/cluster_access_flags.h"
#include "host/cli/commands.h"
#include "host/cli/common_flags.h"
#include "host/cli/help_texts.h"
#include "host/cli/kube_scheduler_flags.h"
#include "host/cli/profile_convert.h"
#include "host/config/cluster_config.h"

namespace berth::host {
namespace {

std::string Version() {
  return "berth " BERTH_VERSION " (plugin ABI " + std::to_string(BERTH_ABI_MAJOR) + "." +
         std::to_string(BERTH_ABI_MINOR) + "; decides as kube-scheduler 1.36)";
}

// The source of the access without --kubeconfig, for its help.
constexpr std::string_view kOtherwise =
    "[clientConnection.kubeconfig of the host file, or else $KUBECONFIG, or else the service "
    "account of the pod]";
constexpr std::string_view kInsteadOfFiles = "to read instead of --cluster; nothing is changed";

// The flags of all commands.
struct CommandLine {
  RunFlags run;
  SimulateFlags simulate;
  ExplainFlags explain;
  DoctorFlags doctor;
  PluginFlags list;
  PluginFlags describe;
  ProfileFlags check;
  ProfileFlags show;
  ProfileConvertFlags convert;
  PluginCheckFlags plugin_check;
  PluginNewFlags new_plugin;
};

void AddSimulation(CLI::App& command, SchedulingFlags& flags) {
  command
      .add_option("-c,--cluster", flags.cluster_files,
                  "Files with nodes, pods and other objects; - is standard input")
      ->type_name("FILE");
  AddProfiles(command, flags.profiles);
  AddPluginDirectories(command, flags.plugin_directories);
  AddSeed(command, flags.seed);
  AddOutput(command, flags.output);
  command.add_flag("-v,--verbose", flags.verbosity,
                   "Print more log lines: -v information, -vv debugging, -vvv tracing; on a real "
                   "cluster, -v debugging, -vv tracing");
}

void AddReuseCheck(CLI::App& command, SchedulingFlags& flags) {
  command.add_flag(
      "--check-reuse", flags.checks_reuse,
      "Evaluate every node again for each pod, and end with an error if an answer of a "
      "plugin was reused wrongly: slow; to find a plugin that declares too little");
}

void AddClusterRun(CLI::App& command, RunFlags& flags) {
  AddClusterAccess(command, kOtherwise, flags.access);
  command.add_flag_function(
      "--leader-elect{true}", [&flags](int64_t count) { flags.leader_elect = count > 0; },
      "Wait for the lease of leader election before scheduling; --leader-elect=false does not "
      "[leaderElection.leaderElect of the host file, or else true]");
  command
      .add_option_function<std::string>(
          "--http-address",
          [&flags](const std::string& address) {
            flags.http_address = address == "none" ? "" : address;
          },
          "Where to serve /livez, /readyz, /healthz and /metrics as plain HTTP, or none "
          "[serving.address of the host file, or else " +
              std::string(kDefaultHttpAddress) + "]")
      ->type_name("HOST:PORT|none");
  command
      .add_option_function<std::string>(
          "--log-format",
          [&flags](const std::string& format) {
            flags.log_format = format == "json" ? LogFormat::kJsonLines : LogFormat::kKlog;
          },
          "The form of the log of a run on a real cluster: text, as klog, or json "
          "[logging.format of the host file, or else text]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}).description(""));
}

void AddRun(CLI::App& app, RunFlags& flags) {
  CLI::App* command =
      app.add_subcommand("run",
                         "Run the scheduler on a real cluster, or with --embedded on objects and "
                         "events from files");
  command
      ->add_option("--config", flags.config,
                   "The host file, berth.toml: profiles, plugin directories, deadlines, backoffs, "
                   "leader election, connection")
      ->type_name("FILE");
  AddClusterRun(*command, flags);
  command->add_flag("--embedded", flags.embedded,
                    "Use a cluster in this process, with the objects of --cluster and --events; "
                    "nothing outside is changed");
  AddShadow(*command, flags.shadow);
  AddSimulation(*command, flags);
  AddReuseCheck(*command, flags);
  command->add_option("-e,--events", flags.events, "A file with watch events; - is standard input")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--time", [&flags](const std::string& time) { flags.virtual_time = time == "virtual"; },
          "The clock with --embedded: real or virtual [real]")
      ->type_name("TIME")
      ->check(CLI::IsMember({"real", "virtual"}).description(""));
  command->add_option("--record", flags.record, "Record the events and decisions in this file")
      ->type_name("FILE");
  command->footer(std::string(kRunExamples).append(kRunExitStatus));
}

void AddSimulate(CLI::App& app, SimulateFlags& flags) {
  CLI::App* command =
      app.add_subcommand("simulate", "Schedule all pending pods, and print where they are placed");
  AddSimulation(*command, flags);
  AddReuseCheck(*command, flags);
  AddClusterAccess(*command, kInsteadOfFiles, flags.access);
  command
      ->add_option("--pods", flags.pod_files,
                   "Files with pods to schedule after those of the cluster")
      ->type_name("FILE");
  command->add_flag(
      "-q,--quiet", flags.quiet,
      "Print only the pods that could not be placed and the summary; print no progress");
  command->footer(std::string(kSimulateExamples).append(kExitStatus));
}

CLI::App* AddExplain(CLI::App& app, ExplainFlags& flags) {
  CLI::App* command =
      app.add_subcommand("explain", "Show the result of every plugin on every node for one pod");
  AddSimulation(*command, flags);
  AddClusterAccess(*command, kInsteadOfFiles, flags.access);
  command->add_option("-p,--pod", flags.pod, "The pending pod [NAMESPACE default]")
      ->type_name("[NAMESPACE/]NAME")
      ->required();
  command->footer(std::string(kExplainExamples).append(kExitStatus));
  return command;
}

void AddDoctor(CLI::App& app, DoctorFlags& flags) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check whether Berth can schedule on a real cluster");
  command
      ->add_option("--config", flags.config,
                   "The host file, berth.toml, that berth run will get: profiles, plugin "
                   "directories, the kubeconfig, leader election")
      ->type_name("FILE");
  AddClusterAccess(*command, kOtherwise, flags.access);
  AddProfiles(*command, flags.profiles);
  AddPluginDirectories(*command, flags.plugin_directories);
  command->add_flag("--shadow", flags.shadow,
                    "Check only what berth run --shadow needs: it reads, and writes nothing");
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

CLI::App* AddPlugin(CLI::App& app, CommandLine& line) {
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
  return plugin;
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

// Returns the innermost command of the command line.
const CLI::App* Innermost(const CLI::App* app) {
  const auto named = app->get_subcommands();
  return named.empty() ? app : Innermost(named.front());
}

std::string FullName(const CLI::App* app) {
  const CLI::App* parent = app->get_parent();
  return parent == nullptr ? app->get_name() : FullName(parent) + " " + app->get_name();
}

std::string FailureMessage(const CLI::App* app, const CLI::Error& error) {
  return "berth: " + std::string(error.what()) + "\nSee " + FullName(Innermost(app)) + " --help\n";
}

// Returns an error that names an unknown command. CLI11 would only report that one is required.
Status CheckCommand(const CLI::App& app, std::span<const std::string> args) {
  if (args.empty() || args.front().starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::find(names, args.front()) != names.end()) {
    const CLI::App* command = app.get_subcommand(args.front());
    return command->get_subcommands({}).empty() ? Status()
                                                : CheckCommand(*command, args.subspan(1));
  }
  return Status::InvalidArgument("there is no command \"" + args.front() + "\" (see " +
                                 FullName(&app) + " --help)" + DidYouMean(args.front(), names));
}

// Returns an error about an option that `command` does not have.
std::string UnknownOption(const CLI::App& command, std::string_view argument) {
  std::string option(argument.substr(0, argument.find('=')));
  // CLI11 splits -v=2 into -v, which exists, and -=2.
  if (option == "-") option = "--v";
  std::string text = "there is no option " + option;
  if (command.get_name() == "run") {
    const std::string_view advice = KubeSchedulerAdvice(option);
    if (!advice.empty()) return text.append(": ").append(advice);
  }
  text += " (see " + FullName(&command) + " --help)";
  if (const CLI::App* parent = command.get_parent()) {
    if (parent->get_option_no_throw(option) != nullptr) {
      return text + "; did you mean " + FullName(parent) + " " + option + "?";
    }
  }
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  return text + DidYouMean(option, names);
}

// Returns an error that names the arguments that the command line has in excess; ok if there are
// none. CLI11 would not suggest anything, and would report missing options first.
Status CheckExcess(const CLI::App& app) {
  const CLI::App& command = *Innermost(&app);
  const std::vector<std::string> excess = command.remaining();
  std::vector<std::string> unknown;
  for (const std::string& argument : excess) {
    if (argument.size() > 1 && argument.starts_with('-') && argument != "--") {
      unknown.push_back(UnknownOption(command, argument));
    }
  }
  if (!unknown.empty()) return Status::InvalidArgument(Join(unknown, "\n"));
  if (excess.empty() || command.get_option_no_throw("--cluster") == nullptr) return {};
  return Status::InvalidArgument(command.get_name() + ": expected only options, found \"" +
                                 excess.front() + "\"; to read a file, use --cluster FILE (see " +
                                 FullName(&command) + " --help)");
}

int Dispatch(const CLI::App& app, CommandLine& line, CommandEnvironment& env) {
  if (app.got_subcommand("run")) {
    line.run.prints_decisions = app.get_subcommand("run")->count("--output") > 0;
    return ExecuteRun(line.run, env);
  }
  if (app.got_subcommand("simulate")) return ExecuteSimulate(line.simulate, env);
  if (app.got_subcommand("explain")) return ExecuteExplain(line.explain, env);
  if (app.got_subcommand("doctor")) return ExecuteDoctor(line.doctor, env);
  if (app.got_subcommand("profile")) {
    const CLI::App& profile = *app.get_subcommand("profile");
    if (profile.got_subcommand("convert")) return ExecuteProfileConvert(line.convert, env);
    const bool check = profile.got_subcommand("check");
    return check ? ExecuteProfileCheck(line.check, env) : ExecuteProfileShow(line.show, env);
  }
  const CLI::App& plugin = *app.get_subcommand("plugin");
  if (plugin.got_subcommand("list")) return ExecutePluginList(line.list, env);
  if (plugin.got_subcommand("check")) return ExecutePluginCheck(line.plugin_check, env);
  if (plugin.got_subcommand("new")) return ExecutePluginNew(line.new_plugin, env);
  return ExecutePluginDescribe(line.describe, env);
}

}  // namespace

int RunCommand(std::span<const std::string> args, CommandEnvironment& env) {
  CommandLine line;
  CLI::App app(std::string(kAbout), "berth");
  app.require_subcommand(1);
  app.set_version_flag("--version", Version());
  app.failure_message(FailureMessage);
  app.footer(std::string(kExamples).append(kExitStatus));
  AddRun(app, line.run);
  AddSimulate(app, line.simulate);
  AddExplain(app, line.explain);
  AddDoctor(app, line.doctor);
  AddPlugin(app, line);
  AddProfile(app, line);

  if (args.empty()) {
    env.err << app.help();
    return kExitBadInput;
  }
  if (Status status = CheckCommand(app, args); !status.ok()) return Fail(env, status);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    if (Status status = CheckExcess(app); error.get_exit_code() != 0 && !status.ok()) {
      return Fail(env, status);
    }
    const int exit_status = app.exit(error, env.out, env.err);
    return exit_status == 0 ? Print(env, "", kExitDone) : kExitBadInput;
  }
  return Dispatch(app, line, env);
}

int Fail(CommandEnvironment& env, const Status& status) {
  std::string_view rest = status.message();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    env.err << "berth: " << Printable(rest.substr(0, end)) << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  env.err.flush();
  return kExitBadInput;
}

int Print(CommandEnvironment& env, std::string_view text, int exit_status) {
  // If the output has failed already, errno is that of the failure.
  if (env.out.good()) errno = 0;
  env.out.write(text.data(), static_cast<std::streamsize>(text.size()));
  return env.out.flush() ? exit_status : OutputFailed(env, errno);
}

int OutputFailed(CommandEnvironment& env, int error) {
  std::string text = "the output could not be written";
  if (error != 0) text.append(": ").append(std::strerror(error));
  return Fail(env, Status::Unavailable(std::move(text)));
}

}  // namespace berth::host
