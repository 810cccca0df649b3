#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "host/base/status_sink.h"
#include "host/cli/commands.h"
#include "host/process/assemble/input_files.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// The result for all pods that were pending.
struct Outcome {
  std::vector<PodOutcome> pods;
  size_t decisions = 0;  // Pods with a result: those that were not gated or left over at the end.
  size_t placed = 0;
  size_t refused = 0;
  size_t skipped = 0;
  size_t undecided = 0;  // Pods without a result, because the simulation ended before.
  size_t others = 0;
  uint32_t nodes = 0;
  uint64_t seed = 0;
  int64_t took_ns = 0;
  Simulation::End end = Simulation::End::kAtRest;
  StillWaiting waiting;
  MissingKinds missing_kinds;
  std::vector<std::string> without_events;  // See EmbeddedScheduler::RejectorsWithoutEvents().

  double seconds() const { return static_cast<double>(took_ns) / 1e9; }
  // Returns nullopt if nothing was decided, or if no time has passed.
  std::optional<double> decisions_per_second() const {
    if (decisions == 0 || took_ns == 0) return std::nullopt;
    return static_cast<double>(decisions) / seconds();
  }
};

void Count(Outcome& outcome) {
  for (const PodOutcome& pod : outcome.pods) {
    if (!pod.node.empty()) {
      ++outcome.placed;
    } else if (pod.code == BERTH_SKIP) {
      ++outcome.skipped;
    } else {
      ++(pod.code == BERTH_WAIT ? outcome.undecided : outcome.refused);
    }
  }
}

Outcome ScheduleAll(Simulation& simulation, const std::function<int64_t()>& steady_ns,
                    const std::atomic<int>& stop, Progress& progress) {
  Outcome outcome;
  const size_t total = simulation.loop().queue().size();
  const int64_t start_ns = steady_ns();
  outcome.end = simulation.Run(
      [&] { progress.ShowCount("Scheduling", simulation.outcome_count(), total, "pods"); }, stop);
  outcome.took_ns = steady_ns() - start_ns;
  outcome.waiting = simulation.Waiting();
  outcome.decisions = simulation.outcome_count();
  if (outcome.end == Simulation::End::kNoProgress) {
    outcome.without_events = simulation.RejectorsWithoutEvents();
  }
  outcome.pods = simulation.TakeOutcomes();
  Count(outcome);
  outcome.others = simulation.loop().router().other_schedulers_pending();
  outcome.nodes = simulation.loop().cache().table().node_count();
  return outcome;
}

// ---- JSON and YAML ------------------------------------------------------------------------------

std::string_view CodeText(berth_code code) {
  if (code == BERTH_SKIP) return "Skipped";
  return code == BERTH_WAIT ? "Undecided" : CodeName(code);
}

std::string_view EndName(Simulation::End end) {
  switch (end) {
    case Simulation::End::kAtRest: return "AtRest";
    case Simulation::End::kNoProgress: return "NoProgress";
    case Simulation::End::kLimitReached: return "LimitReached";
    case Simulation::End::kStopped: return "Stopped";
  }
  return "";
}

Json Placement(const PodOutcome& outcome) {
  Json placement = {{"namespace", outcome.pod->ns()}, {"name", outcome.pod->name()}};
  if (!outcome.node.empty()) {
    placement["node"] = outcome.node;
    return placement;
  }
  placement["code"] = CodeText(outcome.code);
  placement["message"] = outcome.message;
  return placement;
}

Json ToJson(const StillWaiting& waiting) {
  Json json = Json::object();
  if (!waiting.timers.empty()) json["timers"] = waiting.timers;
  if (!waiting.threads.empty()) json["threads"] = waiting.threads;
  if (waiting.on_permit > 0) json["permit"] = waiting.on_permit;
  if (waiting.in_backoff > 0) json["backoff"] = waiting.in_backoff;
  return json;
}

double Rounded(double value) { return std::round(value * 1000) / 1000; }

Json ToDocument(const Outcome& outcome, bool quiet) {
  Json placements = Json::array();
  for (const PodOutcome& pod : outcome.pods) {
    if (!quiet || pod.node.empty()) placements.push_back(Placement(pod));
  }
  Json summary = {{"end", EndName(outcome.end)},    {"placed", outcome.placed},
                  {"refused", outcome.refused},     {"skipped", outcome.skipped},
                  {"undecided", outcome.undecided}, {"others", outcome.others},
                  {"nodes", outcome.nodes},         {"seconds", Rounded(outcome.seconds())}};
  if (const auto rate = outcome.decisions_per_second()) {
    summary["decisionsPerSecond"] = Rounded(*rate);
  }
  summary["seed"] = outcome.seed;
  if (!outcome.waiting.empty()) summary["waiting"] = ToJson(outcome.waiting);
  if (!outcome.missing_kinds.empty()) summary["missingKinds"] = ToJson(outcome.missing_kinds);
  return {{"placements", std::move(placements)}, {"summary", std::move(summary)}};
}

// ---- The table ----------------------------------------------------------------------------------

void AppendPlacements(const Outcome& outcome, bool quiet, TerminalWidth width, std::string& out) {
  const bool has_reasons = outcome.refused + outcome.skipped + outcome.undecided > 0;
  std::vector<std::string> header = {"NAMESPACE", "POD", "NODE"};
  if (has_reasons) header.emplace_back("REASON");
  Table table(std::move(header));
  for (const PodOutcome& pod : outcome.pods) {
    if (quiet && !pod.node.empty()) continue;
    std::vector<std::string> cells = {std::string(pod.pod->ns()), std::string(pod.pod->name()),
                                      pod.node.empty() ? "<none>" : pod.node};
    if (has_reasons) cells.push_back(pod.message);
    table.AddRow(std::move(cells));
  }
  if (table.row_count() == 0) return;
  table.Append(width, out);
  out += '\n';
}

void AppendSummary(const Outcome& outcome, std::string& out) {
  if (outcome.end == Simulation::End::kNoProgress) {
    out += NoProgressText(outcome.without_events);
  }
  if (outcome.end == Simulation::End::kLimitReached) out += kLimitReachedText;
  if (outcome.end == Simulation::End::kStopped) out += "Stopped before the end.\n";
  if (outcome.pods.empty()) {
    out += "No pod is pending";
  } else {
    out +=
        "Placed " + WithCommas(outcome.placed) + " of " + WithCommas(outcome.pods.size()) + " pods";
    if (outcome.refused > 0) out += ", " + WithCommas(outcome.refused) + " could not be placed";
    if (outcome.undecided > 0) out += ", " + WithCommas(outcome.undecided) + " not decided";
    if (outcome.skipped > 0)
      out += ", " + WithCommas(outcome.skipped) + " skipped because they are being deleted";
  }
  out += "; " + CountOf(outcome.nodes, "node");
  if (outcome.others > 0) {
    out += "; " + WithCommas(outcome.others) + " pending pods of other schedulers";
  }
  out += ".\n";
  AppendWaiting(outcome.waiting, out);
  if (outcome.pods.empty()) return;
  const bool short_run = outcome.seconds() < 1;
  out += short_run ? FormatFixed(outcome.seconds() * 1e3, 1) + " ms"
                   : FormatFixed(outcome.seconds(), 2) + " s";
  if (const auto rate = outcome.decisions_per_second()) {
    out += ", " + WithCommas(static_cast<uint64_t>(*rate)) + " decisions/s";
  }
  out += "; seed " + std::to_string(outcome.seed) + ".\n";
}

int ExitStatus(const Outcome& outcome, int signal) {
  if (outcome.end == Simulation::End::kStopped) return kExitSignal + signal;
  return outcome.refused + outcome.undecided == 0 ? kExitDone : kExitNotAllScheduled;
}

}  // namespace

int ExecuteSimulate(const SimulateFlags& flags, CommandEnvironment& env) {
  std::vector<std::string> inputs = flags.cluster_files;
  inputs.insert(inputs.end(), flags.pod_files.begin(), flags.pod_files.end());
  Status status = CheckSource("simulate", flags);
  if (status.ok()) status = CheckStandardInput("simulate", inputs);
  if (!status.ok()) return Fail(env, status);
  Progress progress(env.err, env.err_is_terminal && !flags.quiet, env.steady_ns);
  ProgressLog every_level(progress, BERTH_LOG_TRACE);
  LogFilter log(every_level, BERTH_LOG_WARN);
  auto simulation = OpenSimulation(flags, env, progress, log);
  if (!simulation.ok()) status = simulation.status();
  if (status.ok()) {
    status = (*simulation)
                 ->cluster()
                 .AddFiles({.paths = flags.pod_files,
                            .in = env.in,
                            .workloads = LocalCluster::Workloads::kAll,
                            .on_reading = ShowReading(progress)});
  }
  progress.Clear();
  if (!status.ok()) return Fail(env, status);
  if (!flags.quiet) PrintNotes((*simulation)->cluster().TakeNotes(), env);
  const WaitLimits usual;
  (*simulation)
      ->SetWaitLimits({.timers_ns = flags.waits.timer_ns.value_or(usual.timers_ns),
                       .threads_ns = flags.waits.thread_ns.value_or(usual.threads_ns)});
  std::atomic<int> stop = 0;
  const auto requests = env.requests ? env.requests({}) : nullptr;
  if (requests != nullptr) requests->OnStop([&stop](int signal) { stop = signal; });
  Outcome outcome = ScheduleAll(**simulation, env.steady_ns, stop, progress);
  outcome.seed = flags.seed;
  outcome.missing_kinds = MissingKindsOf(flags, **simulation);
  progress.Clear();
  PrintWarnings(WarningsAbout(outcome.missing_kinds), env);

  std::string out;
  if (flags.output == OutputFormat::kTable) {
    AppendPlacements(outcome, flags.quiet, env.out_width, out);
    AppendSummary(outcome, out);
  } else {
    AppendDocument(ToDocument(outcome, flags.quiet), flags.output, out);
  }
  return Print(env, out, ExitStatus(outcome, stop));
}

}  // namespace berth::host
