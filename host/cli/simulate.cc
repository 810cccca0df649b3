#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cli/commands.h"
#include "host/process/assemble/cluster_files.h"
#include "host/process/replay/replay.h"

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
  outcome.decisions = simulation.outcome_count();
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
  if (outcome.end == Simulation::End::kNoProgress) out += kNoProgressText;
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
  ProgressLog log(progress, LogLevelOf(flags).value_or(BERTH_LOG_WARN));
  auto simulation = OpenSimulation(flags, env, progress, log);
  if (!simulation.ok()) status = simulation.status();
  for (const std::string& file : flags.pod_files) {
    if (!status.ok()) break;
    progress.ShowActivity("Reading " + std::string(InputName(file)));
    status = (*simulation)->cluster().AddFile(file, env.in);
  }
  if (!status.ok()) {
    progress.Clear();
    return Fail(env, status);
  }
  std::atomic<int> stop = 0;
  const auto requests = env.requests ? env.requests({}) : nullptr;
  if (requests != nullptr) requests->OnStop([&stop](int signal) { stop = signal; });
  Outcome outcome = ScheduleAll(**simulation, env.steady_ns, stop, progress);
  outcome.seed = flags.seed;
  progress.Clear();

  std::string out;
  if (flags.output == OutputFormat::kTable) {
    AppendPlacements(outcome, flags.quiet, env.out_width, out);
    AppendSummary(outcome, out);
  } else {
    AppendDocument(ToDocument(outcome, flags.quiet), flags.output, out);
  }
  return Print(env, out, ExitStatus(outcome, stop));
}

// --- replay command ------------------------------------------------------------------------------

namespace {

// ---- The flags ----------------------------------------------------------------------------------

using FileFacts = struct stat;

// Returns none if there is no such file.
std::optional<FileFacts> FactsOf(const std::string& path, int in_descriptor) {
  FileFacts facts{};
  const bool ok =
      path == kStandardInput ? fstat(in_descriptor, &facts) == 0 : stat(path.c_str(), &facts) == 0;
  return ok ? std::optional(facts) : std::nullopt;
}

// Returns true if both are the same regular file, which writing would empty.
bool AreOneFile(const FileFacts& a, const FileFacts& b) {
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Status CheckRecord(const ReplayFlags& flags, int in_descriptor) {
  FileFacts record{};
  if (stat(flags.record.c_str(), &record) != 0) return {};
  std::vector<std::string> inputs = flags.cluster_files;
  inputs.push_back(flags.events);
  for (const std::string& input : inputs) {
    const std::optional<FileFacts> facts = FactsOf(input, in_descriptor);
    if (!facts.has_value() || !AreOneFile(record, *facts)) continue;
    return Status::InvalidArgument(
        "--record: expected a file that is no input of this run, found " +
        std::string(InputName(input)) + ", which the recording would overwrite");
  }
  return {};
}

Status CheckFlags(const ReplayFlags& flags, int in_descriptor) {
  if (flags.cluster_files.empty() && flags.events.empty()) {
    return Status::InvalidArgument(
        "replay: expected --cluster or --events, found no source of pods and nodes (see berth "
        "replay --help)");
  }
  std::vector<std::string> inputs = flags.cluster_files;
  inputs.push_back(flags.events);
  if (Status status = CheckStandardInput("replay", inputs); !status.ok()) return status;
  return flags.record.empty() ? Status() : CheckRecord(flags, in_descriptor);
}

// ---- The summary --------------------------------------------------------------------------------

// How many reasons the table has.
constexpr size_t kMaxReasons = 20;

int64_t TruncateToMilliseconds(int64_t ns) { return ns - ns % kMillisecond; }

void AppendReasons(const std::map<std::string, size_t>& count_by_reason, TerminalWidth width,
                   std::string& out) {
  std::vector<std::pair<std::string, size_t>> reasons(count_by_reason.begin(),
                                                      count_by_reason.end());
  std::ranges::stable_sort(reasons, std::greater<>(),
                           [](const auto& reason) { return reason.second; });
  Table table({"PODS", "REASON"});
  for (const auto& [reason, count] :
       std::span(reasons).first(std::min(reasons.size(), kMaxReasons))) {
    table.AddRow({WithCommas(count), reason});
  }
  out += '\n';
  table.Append(width, out);
  if (reasons.size() > kMaxReasons) {
    out += "... and " + WithCommas(reasons.size() - kMaxReasons) + " other reasons\n";
  }
}

// ---- The output ---------------------------------------------------------------------------------

// Prints decisions on standard output, everything else on standard error.
class ReplayPrinter final : public ReplayObserver {
 public:
  ReplayPrinter(const ReplayFlags& flags, CommandEnvironment& env)
      : env_(env),
        progress_(env.err, env.err_is_terminal, env.steady_ns),
        log_(progress_, BERTH_LOG_TRACE, [&env] { return LogTime(env.wall_ns()); }),
        decisions_(env.out,
                   {.format = flags.output, .width = env.out_width, .is_live = env.out_is_live}) {}

  Progress& progress() { return progress_; }
  // Flushes the output. Returns false if anything could not be written.
  bool Flush() { return decisions_.Flush(); }
  // The errno of the first failure of the output; 0 if it is not known.
  int output_error() const { return decisions_.error(); }

 private:
  void OnReadingFile(std::string_view name) override {
    progress_.ShowActivity("Reading " + std::string(name));
  }
  bool OnDecision(const DecisionLine& line) override { return decisions_.Print(line); }
  void OnReload(const ReloadResult& result) override {
    Flush();  // Keeps the order of decisions and reloads, if both streams are one file.
    const std::string changed =
        result.changed.empty() ? "" : "; changed: " + Printable(Join(result.changed, ", "));
    std::string text = LogTime(env_.wall_ns()) + "berth: ";
    if (!result.status.ok()) {
      text += "reload failed; the running configuration is kept" + changed + ":\n";
      progress_.Print(text.append(result.status.message()) + '\n');
      return;
    }
    text += "reloaded: " + Join(result.profiles, ", ") + changed;
    if (!result.needs_restart.empty()) {
      text += "; restart berth to apply " + Join(result.needs_restart, ", ");
    }
    progress_.Print(text + '\n');
  }
  bool OnIdle() override { return Flush(); }
  LogSink& log() override { return log_; }

  CommandEnvironment& env_;
  Progress progress_;
  ProgressLog log_;
  DecisionPrinter decisions_;
};

int Finish(const Status& status, const ReplaySummary& summary, ReplayPrinter& printer,
           CommandEnvironment& env) {
  std::string text;
  AppendSummary(summary, env.err_is_terminal ? env.out_width : std::nullopt, text);
  const bool written = printer.Flush();
  printer.progress().Print(text);
  if (!status.ok()) return Fail(env, status);
  if (!written) return OutputFailed(env, printer.output_error());
  if (summary.signal > 0) return kExitSignal + summary.signal;
  return summary.pending == 0 ? kExitDone : kExitNotAllScheduled;
}

}  // namespace

void AppendSummary(const ReplaySummary& summary, TerminalWidth width, std::string& out) {
  if (summary.signal > 0) {
    out += std::string("Stopped by SIG") + sigabbrev_np(summary.signal) + ".\n";
  }
  if (summary.without_progress) out += kNoProgressText;
  out += WithCommas(summary.bound) + " bound, " + WithCommas(summary.pending) + " pending";
  if (summary.other_schedulers > 0) {
    out += ", " + WithCommas(summary.other_schedulers) + " of other schedulers";
  }
  out += "; " + CountOf(summary.nodes, "node") + "; " + CountOf(summary.events, "event") + " in " +
         FormatDuration(TruncateToMilliseconds(summary.took_ns));
  if (summary.rejected_events > 0) {
    out += "; " + CountOf(summary.rejected_events, "event") + " rejected";
  }
  out += ".\n";
  if (summary.reloaded + summary.failed_reloads > 0) {
    out += CountOf(summary.reloaded, "reload") + " succeeded, " +
           WithCommas(summary.failed_reloads) + " failed.\n";
  }
  if (!summary.pending_by_reason.empty()) AppendReasons(summary.pending_by_reason, width, out);
}

int ExecuteReplay(const ReplayFlags& flags, CommandEnvironment& env) {
  if (Status status = CheckFlags(flags, env.in_descriptor); !status.ok()) return Fail(env, status);
  ReplayPrinter printer(flags, env);
  ReplayOptions options{ProcessOptionsOf(flags, env)};
  options.log_level = LogLevelOf(flags);
  options.cluster_files = flags.cluster_files;
  options.events = flags.events;
  options.record = flags.record;
  options.virtual_time = flags.virtual_time;
  options.in = &env.in;
  options.in_descriptor = env.in_descriptor;
  Replay replay(std::move(options), printer);
  Status status = replay.Open();
  printer.progress().Clear();
  if (!status.ok()) return Fail(env, status);
  status = replay.Run();
  return Finish(status, replay.Summary(), printer, env);
}

}  // namespace berth::host
