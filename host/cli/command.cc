#include "host/cli/command.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <berth/abi.h>

#include "host/cli/commands.h"
#include "host/cli/suggest.h"

namespace berth::host {
namespace {

constexpr std::string_view kAbout =
    "Berth decides which pod runs on which node, as kube-scheduler does; every policy is a plugin\n"
    "that is loaded at run time.";

constexpr std::string_view kExitStatus =
    "Exit status: 0 done, 1 not all could be scheduled, 2 bad input.";

constexpr std::string_view kExamples = R"(Examples:
  Schedule what is pending in a dump of a real cluster:
    kubectl get nodes,pods -A -o json | berth simulate --cluster -
  Why is this pod pending?
    berth explain --cluster dump.json --pod web/frontend-0
  Which plugins are there, and what can be set?
    berth plugin list
    berth plugin describe NodeResourcesFit

)";

constexpr std::string_view kSimulateExamples = R"(Examples:
  berth simulate --cluster cluster.yaml
  berth simulate --cluster nodes.json pods.json --output json
  kubectl get nodes,pods -A -o json | berth simulate --cluster -
  Would ten more replicas fit?
    berth simulate --cluster dump.json --pods replicas.yaml --quiet

Files hold Kubernetes objects as YAML or JSON: manifests, lists, `kubectl get -o json` dumps. Pods
with spec.nodeName stay where they are; the others are placed one after the other, and nothing is
changed anywhere. Equal input and an equal seed give equal placements.

)";

constexpr std::string_view kExplainExamples = R"(Examples:
  berth explain --cluster dump.json --pod web/frontend-0
  kubectl get nodes,pods -A -o json | berth explain --cluster - --pod frontend-0
  berth explain --cluster dump.json --pod web/frontend-0 --output json | jq .nodes

Decides for this pod against the cluster as it is in the files; other pending pods are left alone.

)";

constexpr std::string_view kPluginExamples = R"(Examples:
  berth plugin list
  berth plugin list --plugin-dir /opt/acme/plugins --output yaml
  berth plugin describe NodeResourcesFit
  berth plugin describe build/plugins/libnode_name.so
)";

std::string Version() {
  return "berth " BERTH_VERSION " (plugin ABI " + std::to_string(BERTH_ABI_MAJOR) + "." +
         std::to_string(BERTH_ABI_MINOR) + "; decides as kube-scheduler 1.36)";
}

// What the command line says, all commands together.
struct CommandLine {
  SimulateFlags simulate;
  ExplainFlags explain;
  PluginFlags list;
  PluginFlags describe;
};

void AddOutput(CLI::App& command, OutputFormat& output) {
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&output](const std::string& format) {
            output = format == "json"   ? OutputFormat::kJson
                     : format == "yaml" ? OutputFormat::kYaml
                                        : OutputFormat::kTable;
          },
          "How to print: table, json or yaml [table]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "yaml"}).description(""));
}

void AddPluginDirectory(CLI::App& command, std::string& directory) {
  command
      .add_option("--plugin-dir", directory,
                  "Where the plugins are [plugins beside the executable, else those installed]")
      ->type_name("DIR");
}

void AddSimulation(CLI::App& command, SimulationFlags& flags) {
  command
      .add_option("-c,--cluster", flags.cluster_files,
                  "Nodes, pods and whatever else there is; - is standard input")
      ->type_name("FILE")
      ->required();
  AddPluginDirectory(command, flags.plugin_directory);
  command
      .add_option("--seed", flags.seed,
                  "Which of several equally good nodes is taken [" + std::to_string(kDefaultSeed) +
                      "]; equal seeds give equal results")
      ->type_name("N");
  AddOutput(command, flags.output);
  command.add_flag("-v,--verbose", flags.verbosity,
                   "Show what plugins log: -v information, -vv debugging");
}

CLI::App* AddSimulate(CLI::App& app, SimulateFlags& flags) {
  CLI::App* command =
      app.add_subcommand("simulate", "Place everything that is pending, and print where");
  AddSimulation(*command, flags);
  command->add_option("--pods", flags.pod_files, "Pods to be placed after those of the cluster")
      ->type_name("FILE");
  command->add_flag("-q,--quiet", flags.quiet,
                    "Print only pods that could not be placed, and the summary; no progress");
  command->footer(std::string(kSimulateExamples).append(kExitStatus));
  return command;
}

CLI::App* AddExplain(CLI::App& app, ExplainFlags& flags) {
  CLI::App* command =
      app.add_subcommand("explain", "Say for one pod what every plugin thinks of every node");
  AddSimulation(*command, flags);
  command->add_option("-p,--pod", flags.pod, "The pending pod; without NAMESPACE: default")
      ->type_name("[NAMESPACE/]NAME")
      ->required();
  command->footer(std::string(kExplainExamples).append(kExitStatus));
  return command;
}

CLI::App* AddPlugin(CLI::App& app, CommandLine& line) {
  CLI::App* plugin = app.add_subcommand("plugin", "Look at plugins");
  plugin->require_subcommand(1);
  plugin->footer(std::string(kPluginExamples));
  CLI::App* list = plugin->add_subcommand("list", "List the plugins of a directory");
  AddPluginDirectory(*list, line.list.plugin_directory);
  AddOutput(*list, line.list.output);
  CLI::App* describe =
      plugin->add_subcommand("describe", "Say what a library or one of its plugins offers");
  describe->add_option("target", line.describe.target, "A plugin's name, or a library's path")
      ->type_name("LIB|NAME")
      ->required();
  AddPluginDirectory(*describe, line.describe.plugin_directory);
  AddOutput(*describe, line.describe.output);
  for (CLI::App* command : {list, describe}) command->footer(std::string(kPluginExamples));
  return plugin;
}

// The innermost command that was named.
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

// Names a command that there is not. CLI11 would only ask for one.
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

int Dispatch(const CLI::App& app, const CommandLine& line, CommandEnvironment& env) {
  if (app.got_subcommand("simulate")) return RunSimulate(line.simulate, env);
  if (app.got_subcommand("explain")) return RunExplain(line.explain, env);
  const bool list = app.get_subcommand("plugin")->got_subcommand("list");
  return list ? RunPluginList(line.list, env) : RunPluginDescribe(line.describe, env);
}

}  // namespace

int RunCommand(std::span<const std::string> args, CommandEnvironment& env) {
  CommandLine line;
  CLI::App app(std::string(kAbout), "berth");
  app.require_subcommand(1);
  app.set_version_flag("--version", Version());
  app.failure_message(FailureMessage);
  app.footer(std::string(kExamples).append(kExitStatus));
  AddSimulate(app, line.simulate);
  AddExplain(app, line.explain);
  AddPlugin(app, line);

  if (args.empty()) {
    env.err << app.help();
    return kExitBadInput;
  }
  if (Status status = CheckCommand(app, args); !status.ok()) return Fail(env, status);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    const int exit_status = app.exit(error, env.out, env.err);
    return exit_status == 0 ? kExitDone : kExitBadInput;
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
  env.out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (env.out.flush()) return exit_status;
  return Fail(env, Status::Unavailable("the output could not be written"));
}

}  // namespace berth::host
