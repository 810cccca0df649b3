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

#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/cli/progress.h"
#include "host/process/assemble/input_files.h"
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
constexpr double kMaxSlowdown = 1e6;

constexpr std::string_view kAbout =
    "Measures the cost of scheduling attempts: Berth with its plugins on an in-memory cluster.";

constexpr std::string_view kHelp = R"(Examples:
  berth-bench
  berth-bench W1 W4 --repeat 5 --output json > before.json
  berth-bench compare before.json after.json
  berth-bench compare before.json after.json --max-slowdown 1.1
Measure how the cost of an attempt grows with the number of nodes:
  for n in 1000 10000 100000; do berth-bench W1 --nodes $n --pods 1000; done

The workloads have the names and sizes of kube-scheduler's scheduler_perf. Each run uses its own
process. The clock starts when all objects are in the cluster and the queue, and stops when no pod
is active, in backoff or being bound. All nodes are scored. Unlike in scheduler_perf, nodes hold
images, and one node in ten holds the image of the pods. Of several runs, the table shows the one
with the median number of decisions per second:
  PODS/S        bound pods per second
  CPU           CPU time of the process per attempt; the lowest of all runs
  P50, P99      time from popping a pod off the queue until it is assumed; in the rows "refused":
                until the attempt failed
  CPU P99       the same in CPU time of the thread, without the time of other processes
  ALLOCATIONS   memory allocations per attempt, including those of plugins
  PEAK RSS      peak memory of the process, including the cluster and the plugins

Exit status: 0 success; 1 a workload could not be measured, or is worse than --max-slowdown allows;
2 bad input.)";

struct Flags {
  std::vector<std::string> workloads;
  std::vector<std::string> profiles;
  std::vector<std::string> plugin_directories;
  uint32_t repeat = 3;
  std::optional<uint32_t> nodes;
  std::optional<uint32_t> images;
  std::optional<uint32_t> init_pods;
  std::optional<uint32_t> pods;
  OutputFormat output = OutputFormat::kTable;
  std::string before;
  std::string after;
  std::optional<double> max_slowdown;
};

// ---- Messages -----------------------------------------------------------------------------------

void PrintMessage(CommandEnvironment& env, std::string_view message) {
  env.err << "berth-bench: " << host::Printable(message) << '\n';
  env.err.flush();
}

int ReportBadInput(CommandEnvironment& env, const Status& status) {
  std::istringstream lines{std::string(status.message())};
  for (std::string line; std::getline(lines, line);) PrintMessage(env, line);
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
          "Prints the result as table or json [table]")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT");
}

// Returns one line for each workload, such as "W1     SchedulingBasic".
std::string WorkloadList() {
  std::string list = "Workloads:\n";
  for (const Workload& workload : Workloads()) {
    const std::string gap(10 - workload.name.size(), ' ');
    list.append("  ").append(workload.name).append(gap).append(workload.test_case).append("\n");
  }
  return list + "\n";
}

void AddRun(CLI::App& app, Flags& flags) {
  app.add_option("workloads", flags.workloads, "The workloads to run; W4 means all of W4/... [all]")
      ->type_name("WORKLOAD");
  app.add_option("--profile", flags.profiles,
                 "The profile: a file *.toml, or the name of a profile that comes with Berth "
                 "[default]")
      ->type_name("FILE|NAME");
  app.add_option("--plugin-dir", flags.plugin_directories,
                 "Loads the plugins from DIR [plugins beside the executable]")
      ->type_name("DIR");
  app.add_option("--repeat", flags.repeat, "The number of runs of each workload [3]")
      ->check(CLI::Range(1U, 1000U))
      ->type_name("N");
  struct Size {
    const char* name;
    std::optional<uint32_t>* value;
    const char* help;
  };
  const Size sizes[] = {
      {"--nodes", &flags.nodes, "The number of nodes [that of the workload]"},
      {"--images", &flags.images, "The number of container images on each node [50]"},
      {"--init-pods", &flags.init_pods,
       "The number of pods that exist before the measured pods [that of the workload]"},
      {"--pods", &flags.pods, "The number of measured pods [that of the workload]"}};
  for (const Size& size : sizes) {
    app.add_option(size.name, *size.value, size.help)
        ->check(CLI::Range(0U, 10'000'000U))
        ->type_name("N");
  }
  AddOutput(app, flags);
}

void AddCompare(CLI::App& app, Flags& flags) {
  CLI::App* compare =
      app.add_subcommand("compare", "Compares two result files and prints the ratios");
  compare->add_option("before", flags.before, "The first result file, written by --output json")
      ->type_name("BEFORE")
      ->required();
  compare->add_option("after", flags.after, "The second result file")
      ->type_name("AFTER")
      ->required();
  compare
      ->add_option("--max-slowdown", flags.max_slowdown,
                   "Fails if a workload is missing in AFTER, binds fewer pods, or uses more than "
                   "FACTOR times the CPU time per decision")
      ->check([](const std::string& text) {
        double value = 0;
        const char* const last = text.data() + text.size();
        const auto read = std::from_chars(text.data(), last, value);
        const bool is_number = read.ec == std::errc() && read.ptr == last;
        if (is_number && value >= 1 && value <= kMaxSlowdown) return std::string();
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

// Returns the workloads to run, each once, in the order of the arguments.
Result<std::vector<Workload>> ChooseWorkloads(const Flags& flags) {
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
    workload.images = flags.images.value_or(workload.images);
    workload.init_pods = flags.init_pods.value_or(workload.init_pods);
    workload.pods = flags.pods.value_or(workload.pods);
  }
  return chosen;
}

Result<Measurement> MeasureRepeatedly(const Workload& workload, const host::ProfileSet& set,
                                      uint32_t repeat, const CommandEnvironment& env,
                                      host::Progress& progress) {
  std::vector<Measurement> runs;
  for (uint32_t i = 0; i < repeat; ++i) {
    progress.ShowActivity(std::string(workload.name) + ", run " + std::to_string(i + 1) + " of " +
                          std::to_string(repeat));
    auto run = MeasureApart([&] { return Measure(workload, set); }, env.steady_ns);
    if (!run.ok()) return std::move(run).status();
    runs.push_back(std::move(run).value());
  }
  return MedianOf(std::move(runs));
}

// Measures the workloads. Reports those that cannot be measured and leaves them out.
Results MeasureAll(const Flags& flags, const std::vector<Workload>& chosen,
                   const host::ProfileSet& set, CommandEnvironment& env) {
  std::vector<std::string> profiles = flags.profiles;
  if (profiles.empty()) profiles.emplace_back(host::kDefaultProfile);
  Results results{.conditions = ConditionsHere(std::move(profiles)), .measurements = {}};
  host::Progress progress(env.err, env.err_is_terminal, env.steady_ns);
  for (const Workload& workload : chosen) {
    auto measurement = MeasureRepeatedly(workload, set, flags.repeat, env, progress);
    if (measurement.ok()) {
      results.measurements.push_back(std::move(measurement).value());
    } else {
      progress.Clear();
      PrintMessage(env,
                   std::string(workload.name).append(": ").append(measurement.status().message()));
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
  const auto chosen = ChooseWorkloads(flags);
  if (!chosen.ok()) return ReportBadInput(env, chosen.status());
  const auto set = host::LoadProfiles(flags.profiles, flags.plugin_directories, env);
  if (!set.ok()) return ReportBadInput(env, set.status());
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
  if (!before.ok()) return ReportBadInput(env, before.status());
  const auto after = ReadResults(flags.after, env);
  if (!after.ok()) return ReportBadInput(env, after.status());
  const auto comparison = Compare(*before, flags.before, *after, flags.after);
  if (!comparison.ok()) return ReportBadInput(env, comparison.status());
  int exit_status = host::kExitDone;
  if (flags.max_slowdown.has_value()) {
    for (const std::string& regression : Regressions(*comparison, *flags.max_slowdown)) {
      PrintMessage(env, regression);
      exit_status = kExitNotAll;
    }
  }
  return Print(env, Format(*comparison, flags, env), exit_status);
}

// Rejects options and workloads before `compare`. They only apply to measuring and would be
// ignored.
Status CheckNothingBeforeCompare(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    return Status::InvalidArgument(
        "compare does not measure: expected no workload or option before it, found " +
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
  const Status status = CheckNothingBeforeCompare(app);
  return status.ok() ? RunCompare(flags, env) : ReportBadInput(env, status);
}

}  // namespace berth::bench
