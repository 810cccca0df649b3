#include "tests/bench/workloads/bench_command.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/base/suggest.h"
#include "host/cli/commands.h"
#include "host/cli/progress.h"
#include "host/process/cluster_files.h"
#include "tests/bench/workloads/compare.h"
#include "tests/bench/workloads/measure.h"
#include "tests/bench/workloads/results.h"
#include "tests/bench/workloads/workload.h"

namespace berth::bench {
namespace {

using host::CommandEnvironment;
using host::OutputFormat;
using host::Result;
using host::Status;

constexpr int kExitNotAll = 1;
constexpr double kMostSlowdown = 1e6;

constexpr std::string_view kAbout =
    "Measures what decisions cost: Berth with its plugins, on a cluster in memory.";

constexpr std::string_view kHelp = R"(Examples:
  berth-bench
  berth-bench W1 W4 --repeat 5 --output json > before.json
  berth-bench compare before.json after.json
  berth-bench compare before.json after.json --max-slowdown 1.1
How does a decision grow with the nodes?
  for n in 1000 10000 100000; do berth-bench W1 --nodes $n --pods 1000; done

They carry the names and sizes of kube-scheduler's scheduler_perf. Each run has a process of its
own. All its objects stand in the cluster and the queue before the clock starts; it stops when the
queue rests. All nodes are scored. Of several runs the one with the median of decisions per second
is shown:
  PODS/S        pods bound, by the seconds until the queue rests
  CPU           time of the process, by its attempts; the lowest of all runs
  P50, P99      from the pop of the queue until the pod is assumed; "refused": until it is refused
  CPU P99       the same without the time that the machine had for others
  ALLOCATIONS   of memory within that time, those of plugins too
  PEAK RSS      of the process, with the cluster and the plugins

Exit status: 0 done; 1 not all could be measured, or it became worse than --max-slowdown allows;
2 bad input.)";

struct Flags {
  std::vector<std::string> workloads;
  std::vector<std::string> profiles;
  std::vector<std::string> plugin_directories;
  uint32_t repeat = 3;
  std::optional<uint32_t> nodes;
  std::optional<uint32_t> init_pods;
  std::optional<uint32_t> pods;
  OutputFormat output = OutputFormat::kTable;
  std::string before;
  std::string after;
  std::optional<double> max_slowdown;
};

// ---- Saying -------------------------------------------------------------------------------------

void Say(CommandEnvironment& env, std::string_view sentence) {
  env.err << "berth-bench: " << host::Printable(sentence) << '\n';
  env.err.flush();
}

int Refuse(CommandEnvironment& env, const Status& status) {
  std::istringstream lines{std::string(status.message())};
  for (std::string line; std::getline(lines, line);) Say(env, line);
  return host::kExitBadInput;
}

// ---- The command line ---------------------------------------------------------------------------

void AddOutput(CLI::App& command, Flags& flags) {
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&flags](const std::string& format) {
            flags.output = format == "json" ? OutputFormat::kJson : OutputFormat::kTable;
          },
          "table or json [table]")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT");
}

// "W1     SchedulingBasic", a line each.
std::string WorkloadList() {
  std::string list = "Workloads:\n";
  for (const Workload& workload : Workloads()) {
    const std::string gap(10 - workload.name.size(), ' ');
    list.append("  ").append(workload.name).append(gap).append(workload.test_case).append("\n");
  }
  return list + "\n";
}

void AddRun(CLI::App& app, Flags& flags) {
  app.add_option("workloads", flags.workloads, "Which; W4 stands for all of W4/... [all]")
      ->type_name("WORKLOAD");
  app.add_option("--profile", flags.profiles,
                 "What decides: a file *.toml, or the name of a profile that comes with Berth "
                 "[default]")
      ->type_name("FILE|NAME");
  app.add_option("--plugin-dir", flags.plugin_directories,
                 "Where the plugins are [plugins beside the executable]")
      ->type_name("DIR");
  app.add_option("--repeat", flags.repeat, "Runs of each workload [3]")
      ->check(CLI::Range(1U, 1000U))
      ->type_name("N");
  const std::pair<const char*, std::optional<uint32_t>*> sizes[] = {
      {"--nodes", &flags.nodes}, {"--init-pods", &flags.init_pods}, {"--pods", &flags.pods}};
  for (const auto& [name, size] : sizes) {
    app.add_option(name, *size, "Other than the workload's own")
        ->check(CLI::Range(0U, 10'000'000U))
        ->type_name("N");
  }
  AddOutput(app, flags);
}

void AddCompare(CLI::App& app, Flags& flags) {
  CLI::App* compare = app.add_subcommand("compare", "Two runs side by side, and their ratios");
  compare->add_option("before", flags.before, "What --output json wrote")
      ->type_name("BEFORE")
      ->required();
  compare->add_option("after", flags.after, "The same, later")->type_name("AFTER")->required();
  compare
      ->add_option("--max-slowdown", flags.max_slowdown,
                   "Fail where a decision takes more CPU time than before by this factor, and "
                   "where fewer pods are bound")
      ->check([](const std::string& text) {
        double value = 0;
        const char* const last = text.data() + text.size();
        const auto read = std::from_chars(text.data(), last, value);
        const bool is_number = read.ec == std::errc() && read.ptr == last;
        if (is_number && value >= 1 && value <= kMostSlowdown) return std::string();
        return "found " + text + ", expected a number from 1 to 1e6";
      })
      ->type_name("FACTOR");
  AddOutput(*compare, flags);
  compare->footer(std::string(kHelp));
}

// ---- Measuring ----------------------------------------------------------------------------------

Status NoWorkload(const std::string& name) {
  std::vector<std::string> names = {"compare"};
  for (const Workload& workload : Workloads()) names.emplace_back(workload.name);
  return Status::InvalidArgument("there is no workload \"" + name + "\" (see berth-bench --help)" +
                                 host::DidYouMean(name, names));
}

// Each once, in the order of their names.
Result<std::vector<Workload>> Chosen(const Flags& flags) {
  std::vector<Workload> chosen;
  if (flags.workloads.empty()) chosen.assign(Workloads().begin(), Workloads().end());
  for (const std::string& name : flags.workloads) {
    const auto found = WorkloadsNamed(name);
    if (found.empty()) return NoWorkload(name);
    for (const Workload& workload : found) {
      const auto same = std::ranges::find(chosen, workload.name, &Workload::name);
      if (same == chosen.end()) chosen.push_back(workload);
    }
  }
  for (Workload& workload : chosen) {
    workload.nodes = flags.nodes.value_or(workload.nodes);
    workload.init_pods = flags.init_pods.value_or(workload.init_pods);
    workload.pods = flags.pods.value_or(workload.pods);
  }
  return chosen;
}

Result<Measurement> MeasureOften(const Workload& workload, const host::ProfileSet& set,
                                 uint32_t repeat, const CommandEnvironment& env,
                                 host::Progress& progress) {
  std::vector<Measurement> runs;
  for (uint32_t i = 0; i < repeat; ++i) {
    progress.Say(std::string(workload.name) + ", run " + std::to_string(i + 1) + " of " +
                 std::to_string(repeat));
    auto run = MeasureApart([&] { return Measure(workload, set); }, env.steady_ns);
    if (!run.ok()) return std::move(run).status();
    runs.push_back(std::move(run).value());
  }
  return MedianOf(std::move(runs));
}

// Those that cannot be measured are said, and left out.
Results MeasureAll(const Flags& flags, const std::vector<Workload>& chosen,
                   const host::ProfileSet& set, CommandEnvironment& env) {
  std::vector<std::string> profiles = flags.profiles;
  if (profiles.empty()) profiles.emplace_back(host::kDefaultProfile);
  Results results{.conditions = ConditionsHere(std::move(profiles)), .measurements = {}};
  host::Progress progress(env.err, env.err_is_terminal, env.steady_ns);
  for (const Workload& workload : chosen) {
    auto measurement = MeasureOften(workload, set, flags.repeat, env, progress);
    if (measurement.ok()) {
      results.measurements.push_back(std::move(measurement).value());
    } else {
      progress.Clear();
      Say(env, std::string(workload.name).append(": ").append(measurement.status().message()));
    }
  }
  return results;
}

template <class Shown>
std::string Format(const Shown& shown, const Flags& flags, const CommandEnvironment& env) {
  std::string out;
  if (flags.output == OutputFormat::kTable) {
    AppendTable(shown, env.out_width, out);
  } else {
    AppendDocument(ToJson(shown), flags.output, out);
  }
  return out;
}

int RunMeasure(const Flags& flags, CommandEnvironment& env) {
  const auto chosen = Chosen(flags);
  if (!chosen.ok()) return Refuse(env, chosen.status());
  const auto set = host::OpenProfiles(flags.profiles, flags.plugin_directories, env);
  if (!set.ok()) return Refuse(env, set.status());
  const Results results = MeasureAll(flags, *chosen, *set, env);
  const bool all = results.measurements.size() == chosen->size();
  return Print(env, Format(results, flags, env), all ? host::kExitDone : kExitNotAll);
}

// ---- Comparing ----------------------------------------------------------------------------------

Result<Results> ReadResults(const std::string& path, CommandEnvironment& env) {
  auto text = host::ReadInput(path, env.in);
  if (!text.ok()) return std::move(text).status();
  return ResultsFrom(*text, std::string(host::InputName(path)));
}

int RunCompare(const Flags& flags, CommandEnvironment& env) {
  const auto before = ReadResults(flags.before, env);
  if (!before.ok()) return Refuse(env, before.status());
  const auto after = ReadResults(flags.after, env);
  if (!after.ok()) return Refuse(env, after.status());
  const auto comparison = Compare(*before, flags.before, *after, flags.after);
  if (!comparison.ok()) return Refuse(env, comparison.status());
  int exit_status = host::kExitDone;
  if (flags.max_slowdown.has_value()) {
    for (const std::string& sentence : Regressions(*comparison, *flags.max_slowdown)) {
      Say(env, sentence);
      exit_status = kExitNotAll;
    }
  }
  return Print(env, Format(*comparison, flags, env), exit_status);
}

// What is said before `compare` is for measuring, and would be passed over in silence.
Status CheckNothingBefore(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    return Status::InvalidArgument("compare measures nothing: expected nothing before it, found " +
                                   option->get_name());
  }
  return {};
}

}  // namespace

int RunBenchCommand(std::span<const std::string> args, CommandEnvironment& env) {
  Flags flags;
  CLI::App app(std::string(kAbout), "berth-bench");
  app.require_subcommand(0, 1);
  app.footer(WorkloadList().append(kHelp));
  AddRun(app, flags);
  AddCompare(app, flags);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    const int exit_status = app.exit(error, env.out, env.err);
    return exit_status == 0 ? Print(env, "", host::kExitDone) : host::kExitBadInput;
  }
  if (!app.got_subcommand("compare")) return RunMeasure(flags, env);
  const Status status = CheckNothingBefore(app);
  return status.ok() ? RunCompare(flags, env) : Refuse(env, status);
}

}  // namespace berth::bench
