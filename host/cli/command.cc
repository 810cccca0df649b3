#include "host/cli/command.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <berth/abi.h>

#include "host/base/suggest.h"
#include "host/cli/commands.h"
#include "host/cli/profile_convert.h"

namespace berth::host {
namespace {

constexpr std::string_view kAbout =
    "Berth decides which pod runs on which node, as kube-scheduler does; every policy is a plugin\n"
    "that is loaded at run time.";

constexpr std::string_view kExitStatus =
    "Exit status: 0 done, 1 not all could be scheduled, 2 bad input or nobody to read the output.";

constexpr std::string_view kExamples = R"(Examples:
  Schedule what is pending in a dump of a real cluster:
    kubectl get nodes,pods -A -o json | berth simulate --cluster -
  Schedule while pods come and go:
    kubectl get pods -A -o json --watch --output-watch-events |
      berth run --embedded --cluster nodes.json --events -
  Why is this pod pending?
    berth explain --cluster dump.json --pod web/frontend-0
  Which plugins are there, and what can be set?
    berth plugin list
    berth plugin describe NodeResourcesFit

)";

constexpr std::string_view kRunExamples = R"(Examples:
  Schedule the pods of a file, and say what happens while it happens:
    berth run --embedded --cluster cluster.yaml
  Follow the pods of a real cluster, deciding beside its own scheduler:
    kubectl get nodes -o json > nodes.json
    kubectl get pods -A -o json --watch --output-watch-events |
      berth run --embedded --cluster nodes.json --events -
  Play hours of events in a moment, and keep what came of them:
    berth run --embedded --events day.jsonl --time virtual --record run.jsonl
  The same decisions again:
    berth run --embedded --events run.jsonl --time virtual
  Who could not be placed?
    berth run --embedded --cluster cluster.yaml --output json | jq 'select(.type == "Refused")'

The cluster is one in this process: nothing is changed anywhere else. Its pods come from the files,
and from the stream of --events: watch events, one JSON object after the other, on a line each or
printed over several, as kubectl prints them:
  {"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, ...}}
  {"type": "MODIFIED", "after": "1.5s", "object": {...}}
  {"type": "DELETED", "object": {...}}
"after" is the time since the line before, as in Go ("250ms", "1h30m"); without it, a line is due at
once. Lines that are due are applied before the next pod is tried. A stream may repeat itself, and
may come from a cluster whose own scheduler decides otherwise: an object in a version
(resourceVersion) that was seen changes nothing, and a pod keeps the node that it was given here. A
pod with a deletionTimestamp goes with its DELETED line. BOOKMARK and DECISION lines are passed
over.

With --time virtual the clock jumps to what happens next, be it a line, the end of a backoff or a
time-out. Equal input and an equal seed then give equal decisions at equal times. --record writes
the events with the times at which they came, and each decision as a DECISION line; given to
--events, with the same --cluster and --seed, it is the same run again. (Recorded in real time, it
is a run in which deciding takes no time.)

A profile, the file of --config, or a plugin's library that is saved while it runs is read anew and
takes over between two attempts; so it is on SIGHUP. Pods on their way to a node go on with the
plugins that they began with. What is wrong is said, and changes nothing.

Decisions (.type in JSON): Bound, Refused (no node fits; tried again when something changes that may
help), Error (tried again), Waiting (for permission, node found), Gated, Skipped (being deleted).
.time is in seconds since the start, as in the table, which leaves out attempts that come to the
same as the one before. The summary is on standard error.

It ends when the stream has ended and nothing is to be done any more: what is refused and gated
stays as it is; a pod is tried again after an error, up to five times in a row. Ctrl-C (SIGINT) and
SIGTERM end it before that, and so does an output that nobody reads any more, as behind `head`:
nothing new is begun, bindings under way are waited for, and the recording holds all that happened
until then. A second signal ends it at once.

)";

constexpr std::string_view kRunExitStatus =
    "Exit status: 0 all pods have a node, 1 some have none, 2 bad input, or the output or the "
    "recording\n"
    "could not be written, 130 and 143 stopped by SIGINT and SIGTERM.";

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

constexpr std::string_view kProfileExamples = R"(Examples:
  Is my profile right?
    berth profile check acme.toml
  Can these work in one process?
    berth profile check default binpack acme.toml
  What does it come to, with all that it extends?
    berth profile show binpack
    berth profile show acme.toml --output json
  The same as one file, without `extends`, to keep or to change:
    berth profile show acme.toml --output toml > whole.toml
  What is my kube-scheduler's configuration here?
    berth profile convert kube-scheduler.yaml

A profile is a TOML file that says which plugins decide for the pods of one spec.schedulerName:
  schedulerName = "acme"
  extends = "default"             # start from a profile that comes with Berth, or "other.toml"

  [[plugins]]
  name = "NodeResourcesFit"       # the same name: overrides what it sets, keeps its place
  weight = 5
  [plugins.args.scoringStrategy]
  type = "MostAllocated"

  [[plugins]]
  name = "ImageLocality"
  enabled = false                 # the toggle

  [[plugins]]
  name = "acme.RackPower"         # a third party's
  library = "plugins/librack_power.so"
  after = "NodeResourcesFit"
  points = ["Filter", "Score"]    # default: every point that it implements

  [order]
  Filter = ["acme.RackPower"]     # at this point, before the others

)";

constexpr std::string_view kProfileExitStatus = "Exit status: 0 done, 2 something is wrong.";

constexpr std::string_view kPluginExamples = R"(Examples:
  berth plugin list
  berth plugin list --plugin-dir /opt/acme/plugins --output yaml
  berth plugin describe NodeResourcesFit
  berth plugin describe build/plugins/libnode_name.so
Write one of your own, and see whether it keeps the contract:
  berth plugin new acme.RackPower
  berth plugin check rack_power/build/librack_power.so
)";

constexpr std::string_view kPluginCheckExamples = R"(Examples:
  berth plugin check build/librack_power.so --args '{"wattsPerRack": 1000}'
  berth plugin check build/libacme.so --args 'acme.RackPower={"wattsPerRack": 1000}'
  berth plugin check build/librack_power.so --output json | jq .plugins[].findings

Loads the library as the host does, and asks each of its plugins at all its points, in a cluster
made for what it reads: in blocks of any size, on several threads, with outputs full of garbage,
with pods and nodes added and changed that it says it does not depend on, a thousand times created
and destroyed; less where its calls take long, and then it says how much. The library is loaded in a
process of its own: a crash, or a call that does not return, is a finding. What depends on
annotations or objects that only the plugin knows is for its own tests.

Exit status: 0 it keeps the contract, 1 it breaks it, 2 it could not be asked.)";

constexpr std::string_view kPluginNewExamples = R"(Examples:
  berth plugin new acme.RackPower
  berth plugin new acme.Quota --points PreEnqueue,Reserve,PostBind
  berth plugin new acme.MemoryHeadroom --language c --points Filter
  berth plugin new acme.CheapestNode --language rust --dir ~/plugins/cheapest

Writes a folder with a plugin, its tests, a README, a profile that names it and a cluster to try it
on. It builds against an installed SDK and passes its tests as it is: the points have bodies to be
replaced. In C++ there is a body for every extension point, in C and Rust for Filter and Score.
Nothing is overwritten.

Exit status: 0 done, 2 bad input, or the folder is there already.)";

std::string Version() {
  return "berth " BERTH_VERSION " (plugin ABI " + std::to_string(BERTH_ABI_MAJOR) + "." +
         std::to_string(BERTH_ABI_MINOR) + "; decides as kube-scheduler 1.36)";
}

// What the command line says, all commands together.
struct CommandLine {
  RunFlags run;
  SimulateFlags simulate;
  ExplainFlags explain;
  PluginFlags list;
  PluginFlags describe;
  ProfileFlags check;
  ProfileFlags show;
  ProfileConvertFlags convert;
  PluginCheckFlags plugin_check;
  PluginNewFlags new_plugin;
};

OutputFormat FormatOf(std::string_view format) {
  if (format == "json") return OutputFormat::kJson;
  return format == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

void AddOutput(CLI::App& command, OutputFormat& output) {
  command
      .add_option_function<std::string>(
          "-o,--output", [&output](const std::string& format) { output = FormatOf(format); },
          "How to print: table, json or yaml [table]")
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
          "How to print: table, json, yaml, or toml: one profile as a complete file [table]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "yaml", "toml"}).description(""));
}

void AddPluginDirectory(CLI::App& command, std::string& directory) {
  command
      .add_option("--plugin-dir", directory,
                  "Where the plugins are [plugins beside the executable, else those installed]")
      ->type_name("DIR");
}

void AddPluginDirectories(CLI::App& command, std::vector<std::string>& directories) {
  command
      .add_option("--plugin-dir", directories,
                  "Where the plugins are [plugins beside the executable, else those installed]; "
                  "may be given several times")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
}

void AddSimulation(CLI::App& command, SimulationFlags& flags) {
  command
      .add_option("-c,--cluster", flags.cluster_files,
                  "Nodes, pods and whatever else there is; - is standard input")
      ->type_name("FILE");
  command
      .add_option("--profile", flags.profiles,
                  "What decides: a file *.toml, or the name of a profile that comes with Berth "
                  "[default]; several, each for its schedulerName")
      ->type_name("FILE|NAME");
  AddPluginDirectories(command, flags.plugin_directories);
  command
      .add_option("--seed", flags.seed,
                  "Which of several equally good nodes is taken [" + std::to_string(kDefaultSeed) +
                      "]; equal seeds give equal results")
      ->type_name("N");
  AddOutput(command, flags.output);
  command.add_flag("-v,--verbose", flags.verbosity,
                   "Show what plugins log: -v information, -vv debugging");
}

void AddRun(CLI::App& app, RunFlags& flags) {
  CLI::App* command =
      app.add_subcommand("run", "Schedule while the cluster changes, and print what is decided");
  command
      ->add_option("--config", flags.config,
                   "The host file, berth.toml: profiles, plugin folders, deadlines, backoffs")
      ->type_name("FILE");
  command->add_flag("--embedded", flags.embedded, "Schedule for a cluster in this process");
  AddSimulation(*command, flags);
  command
      ->add_option("-e,--events", flags.events, "What happens in the cluster; - is standard input")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--time", [&flags](const std::string& time) { flags.virtual_time = time == "virtual"; },
          "Which time passes between events: real or virtual [real]")
      ->type_name("TIME")
      ->check(CLI::IsMember({"real", "virtual"}).description(""));
  command
      ->add_option("--record", flags.record, "Write events and decisions here, to run them again")
      ->type_name("FILE");
  command->footer(std::string(kRunExamples).append(kRunExitStatus));
}

void AddSimulate(CLI::App& app, SimulateFlags& flags) {
  CLI::App* command =
      app.add_subcommand("simulate", "Place everything that is pending, and print where");
  AddSimulation(*command, flags);
  command->get_option("--cluster")->required();
  command->add_option("--pods", flags.pod_files, "Pods to be placed after those of the cluster")
      ->type_name("FILE");
  command->add_flag("-q,--quiet", flags.quiet,
                    "Print only pods that could not be placed, and the summary; no progress");
  command->footer(std::string(kSimulateExamples).append(kExitStatus));
}

CLI::App* AddExplain(CLI::App& app, ExplainFlags& flags) {
  CLI::App* command =
      app.add_subcommand("explain", "Say for one pod what every plugin thinks of every node");
  AddSimulation(*command, flags);
  command->get_option("--cluster")->required();
  command->add_option("-p,--pod", flags.pod, "The pending pod; without NAMESPACE: default")
      ->type_name("[NAMESPACE/]NAME")
      ->required();
  command->footer(std::string(kExplainExamples).append(kExitStatus));
  return command;
}

void AddPluginCheck(CLI::App& plugin, PluginCheckFlags& flags) {
  CLI::App* command =
      plugin.add_subcommand("check", "Find out whether a library keeps the contract");
  command->add_option("library", flags.library, "The library's path")->type_name("LIB")->required();
  command
      ->add_option("--args", flags.args,
                   "A plugin's arguments, as a JSON object [none]; of a library with several "
                   "plugins, whose they are, once for each")
      ->type_name("[NAME=]JSON")
      ->take_all()
      ->allow_extra_args(false);
  AddOutput(*command, flags.output);
  command->footer(std::string(kPluginCheckExamples));
}

void AddPluginNew(CLI::App& plugin, PluginNewFlags& flags) {
  CLI::App* command = plugin.add_subcommand("new", "Write a plugin to begin with");
  command->add_option("name", flags.name, "What profiles call it, as vendor.CamelCase")
      ->type_name("NAME")
      ->required();
  command
      ->add_option("--points", flags.points,
                   "Its extension points, separated by commas [" + flags.points + "]")
      ->type_name("POINTS");
  command->add_option("--language", flags.language, "cpp, c or rust [" + flags.language + "]")
      ->type_name("LANGUAGE");
  command
      ->add_option("--dir", flags.directory, "The folder to make [./ and the name in snake_case]")
      ->type_name("DIR");
  command->footer(std::string(kPluginNewExamples));
}

CLI::App* AddPlugin(CLI::App& app, CommandLine& line) {
  CLI::App* plugin = app.add_subcommand("plugin", "Look at plugins, or begin one");
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
  AddPluginCheck(*plugin, line.plugin_check);
  AddPluginNew(*plugin, line.new_plugin);
  return plugin;
}

void AddProfile(CLI::App& app, CommandLine& line) {
  CLI::App* profile = app.add_subcommand("profile", "Look at profiles, or convert what you have");
  profile->require_subcommand(1);
  profile->footer(std::string(kProfileExamples).append(kProfileExitStatus));
  CLI::App* check =
      profile->add_subcommand("check", "Say everything that is wrong with profiles, used together");
  CLI::App* show =
      profile->add_subcommand("show", "Say which plugin runs where, with which arguments");
  for (auto [command, flags] : {std::pair(check, &line.check), std::pair(show, &line.show)}) {
    command
        ->add_option("profiles", flags->profiles,
                     "A file *.toml, or the name of one that comes "
                     "with Berth")
        ->type_name("FILE|NAME")
        ->required();
    AddPluginDirectories(*command, flags->plugin_directories);
    command->footer(std::string(kProfileExamples).append(kProfileExitStatus));
  }
  AddShowOutput(*show, line.show);
  AddProfileConvert(*profile, line.convert);
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
  if (app.got_subcommand("run")) return RunRun(line.run, env);
  if (app.got_subcommand("simulate")) return RunSimulate(line.simulate, env);
  if (app.got_subcommand("explain")) return RunExplain(line.explain, env);
  if (app.got_subcommand("profile")) {
    const CLI::App& profile = *app.get_subcommand("profile");
    if (profile.got_subcommand("convert")) return RunProfileConvert(line.convert, env);
    const bool check = profile.got_subcommand("check");
    return check ? RunProfileCheck(line.check, env) : RunProfileShow(line.show, env);
  }
  const CLI::App& plugin = *app.get_subcommand("plugin");
  if (plugin.got_subcommand("list")) return RunPluginList(line.list, env);
  if (plugin.got_subcommand("check")) return RunPluginCheck(line.plugin_check, env);
  if (plugin.got_subcommand("new")) return RunPluginNew(line.new_plugin, env);
  return RunPluginDescribe(line.describe, env);
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
  env.out.write(text.data(), static_cast<std::streamsize>(text.size()));
  return env.out.flush() ? exit_status : OutputFailed(env);
}

int OutputFailed(CommandEnvironment& env) {
  return Fail(env, Status::Unavailable("the output could not be written"));
}

}  // namespace berth::host
