#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
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

#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cli/commands.h"
#include "host/process/assemble/input_files.h"
#include "host/process/replay/replay.h"

namespace berth::host {
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
  void OnNote(const std::string& note) override {
    progress_.Print("berth: " + Printable(note) + '\n');
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

int Finish(const ReplayFlags& flags, const Status& status, const ReplaySummary& summary,
           ReplayPrinter& printer, CommandEnvironment& env) {
  std::string text;
  AppendSummary(summary, env.err_is_terminal ? env.out_width : std::nullopt, text);
  const bool written = printer.Flush();
  printer.progress().Print(text);
  if (!flags.is_complete) PrintWarnings(WarningsAbout(summary.missing_kinds), env);
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
  if (summary.without_progress) out += NoProgressText(summary.without_events);
  if (summary.limit_reached) out += kLimitReachedText;
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
  AppendWaiting(summary.waiting, out);
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
  options.admits = !flags.without_admission;
  options.is_complete = flags.is_complete;
  options.virtual_time = flags.virtual_time;
  options.timer_wait_ns = flags.waits.timer_ns;
  options.thread_wait_ns = flags.waits.thread_ns;
  options.in = &env.in;
  options.in_descriptor = env.in_descriptor;
  Replay replay(std::move(options), printer);
  Status status = replay.Open();
  printer.progress().Clear();
  if (!status.ok()) return Fail(env, status);
  status = replay.Run();
  return Finish(flags, status, replay.Summary(), printer, env);
}

}  // namespace berth::host
