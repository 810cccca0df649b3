#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/base/duration.h"
#include "host/base/file_descriptor.h"
#include "host/base/real_clock.h"
#include "host/base/text.h"
#include "host/base/virtual_clock.h"
#include "host/cli/commands.h"
#include "host/cli/decision_printer.h"
#include "host/cli/run_config.h"
#include "host/config/host_config.h"
#include "host/guard/call_watchdog.h"
#include "host/process/cluster_files.h"
#include "host/process/decision_log.h"
#include "host/process/event_feed.h"
#include "host/process/file_watch.h"
#include "host/process/recording.h"
#include "host/process/stream_run.h"

namespace berth::host {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// How many plugins may block at a time.
constexpr size_t kBindThreads = 16;
// How often the files of the configuration are looked at: a change counts at the second look.
constexpr std::chrono::milliseconds kLookEvery(250);
// How many reasons the summary has.
constexpr size_t kMaxReasons = 20;

// What StreamRun takes for a signal: nobody reads the output.
constexpr int kOutputFailed = -1;

// ---- What it is called with ---------------------------------------------------------------------

using FileFacts = struct stat;

// None: there is no such file.
std::optional<FileFacts> FactsOf(const std::string& path, int in_descriptor) {
  FileFacts facts{};
  const bool ok =
      path == kStandardInput ? fstat(in_descriptor, &facts) == 0 : stat(path.c_str(), &facts) == 0;
  return ok ? std::optional(facts) : std::nullopt;
}

// A file whose text is lost where it is written.
bool AreOneFile(const FileFacts& a, const FileFacts& b) {
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Status CheckRecord(const RunFlags& flags, int in_descriptor) {
  FileFacts record{};
  if (stat(flags.record.c_str(), &record) != 0) return {};
  std::vector<std::string> inputs = flags.cluster_files;
  inputs.push_back(flags.events);
  for (const std::string& input : inputs) {
    const std::optional<FileFacts> facts = FactsOf(input, in_descriptor);
    if (!facts.has_value() || !AreOneFile(record, *facts)) continue;
    return Status::InvalidArgument("--record would overwrite " + std::string(InputName(input)) +
                                   ", which is read: expected another file");
  }
  return {};
}

Status CheckFlags(const RunFlags& flags, int in_descriptor) {
  if (!flags.embedded) {
    return Status::InvalidArgument(
        "run: expected --embedded, found no cluster to schedule for: this version cannot connect "
        "to "
        "an API server");
  }
  if (flags.cluster_files.empty() && flags.events.empty()) {
    return Status::InvalidArgument(
        "run: expected --cluster or --events, found no pods to schedule");
  }
  if (flags.events == kStandardInput &&
      std::ranges::find(flags.cluster_files, kStandardInput) != flags.cluster_files.end()) {
    return Status::InvalidArgument(
        "standard input can be read once: expected - for --cluster or for --events, found both");
  }
  return flags.record.empty() ? Status() : CheckRecord(flags, in_descriptor);
}

Result<FileDescriptor> OpenEvents(const std::string& path, int in_descriptor) {
  FileDescriptor file(path == kStandardInput ? fcntl(in_descriptor, F_DUPFD_CLOEXEC, 0)
                                             : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return SystemError(std::string(InputName(path)), errno);
  return file;
}

template <class T>
void Set(const std::optional<T>& said, T& value) {
  if (said.has_value()) value = *said;
}

// ---- The end ------------------------------------------------------------------------------------

std::string WhyPending(const QueuedEntity& entity, const Pod& pod, const EmbeddedCluster& cluster) {
  if (entity.gate.has_value()) return Join(entity.gate->reasons, ", ");
  const std::string_view message = cluster.PodScheduledMessage(pod.ns(), pod.name());
  if (!message.empty()) return std::string(message);
  return entity.attempts == 0 ? "not tried yet" : "not bound yet";
}

// "1 node", "1,204 nodes"
std::string Count(size_t count, std::string_view what) {
  return WithCommas(count).append(1, ' ').append(what).append(count == 1 ? "" : "s");
}

int64_t InMilliseconds(int64_t ns) { return ns - ns % 1'000'000; }

struct Ending {
  const EmbeddedScheduler& scheduler;
  const DecisionLog& log;
  size_t events = 0;
  int64_t took_ns = 0;
  int signal = 0;
  size_t reloaded = 0;
  size_t refused = 0;  // Reloads that failed.
};

void AppendSummary(const Ending& ending, TerminalWidth width, std::string& out) {
  const SchedulingLoop& loop = ending.scheduler.loop();
  if (ending.signal > 0) {
    out += std::string("Stopped by SIG") + sigabbrev_np(ending.signal) + ".\n";
  }
  const size_t others = loop.router().others_pending();
  out += WithCommas(ending.log.bound()) + " bound, " + WithCommas(loop.queue().size()) + " pending";
  if (others > 0) out += ", " + WithCommas(others) + " of other schedulers";
  out += "; " + Count(loop.cache().table().node_count(), "node") + "; " +
         Count(ending.events, "event") + " in " + FormatDuration(InMilliseconds(ending.took_ns)) +
         ".\n";
  if (ending.reloaded + ending.refused > 0) {
    out += Count(ending.reloaded, "reload") + ", " + WithCommas(ending.refused) + " refused.\n";
  }

  std::map<std::string, size_t> count_by_reason;
  loop.queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      ++count_by_reason[WhyPending(entity, *pod, ending.scheduler.cluster())];
    });
  });
  if (count_by_reason.empty()) return;
  std::vector<std::pair<std::string, size_t>> reasons(count_by_reason.begin(),
                                                      count_by_reason.end());
  std::ranges::stable_sort(reasons, std::greater<>(),
                           [](const auto& reason) { return reason.second; });
  Table table({"PODS", "WHY PENDING"});
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

// ---- The run ------------------------------------------------------------------------------------

class RunSession {
 public:
  RunSession(RunFlags flags, CommandEnvironment& env)
      : flags_(std::move(flags)),
        env_(env),
        progress_(env.err, env.err_is_terminal, env.steady_ns),
        printer_(env.out,
                 {.format = flags.output, .width = env.out_width, .is_live = env.out_is_live}) {}
  ~RunSession() {
    if (log_.has_value()) log_->StopWatch();
  }
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;

  // Who asks for other profiles meanwhile is heard when it runs; who asks to stop ends the process.
  Status Open();
  // Returns the exit status. REQUIRES: Open() succeeded.
  int Run();

 private:
  Status ReadConfig(EmbeddedScheduler::Options& options);
  void AskForReload();
  void ReloadIfAsked();
  Status Reload();
  void OpenClock();
  void Say(const DecisionLine& line);
  Status Drive(StreamRun& run);
  int End(const Status& status, size_t events);

  RunFlags flags_;
  HostConfig config_;
  CommandEnvironment& env_;
  ThreadWaker waker_;
  std::atomic<int> stop_ = 0;
  std::optional<RealClock> real_clock_;
  std::optional<VirtualClock> virtual_clock_;
  const Clock* clock_ = nullptr;  // Whichever of the two there is.
  Progress progress_;             // The scheduler's plugins log through it.
  std::unique_ptr<Recording> recording_;
  DecisionPrinter printer_;
  std::optional<DecisionLog> log_;
  std::unique_ptr<EmbeddedScheduler> scheduler_;
  std::unique_ptr<EventFeed> feed_;
  const std::shared_ptr<LibraryStore> libraries_ = MakeLibraryStore(env_.temporary_directory);
  FileStamps files_;  // Of the last reading.
  std::atomic<bool> reload_ = false;
  size_t reloaded_ = 0;
  size_t refused_ = 0;
  std::unique_ptr<FileWatch> watch_;        // While it runs.
  std::unique_ptr<RequestWatch> requests_;  // Until it has run. May be null.
};

Status RunSession::ReadConfig(EmbeddedScheduler::Options& options) {
  Result<RunConfig> config = ReadRunConfig(flags_, env_, libraries_, files_);
  if (!config.ok()) return std::move(config).status();
  config_ = std::move(config->host);
  options.plugins = std::move(config->set.plugins);
  options.profiles = std::move(config->set.specs);
  Set(config_.log_level, flags_.log_level);
  return {};
}

// ---- Other profiles -----------------------------------------------------------------------------

void RunSession::AskForReload() {
  reload_ = true;
  waker_.Wake();
}

void RunSession::ReloadIfAsked() {
  if (!reload_.exchange(false)) return;
  const Status status = Reload();
  watch_->Watch(files_);
  if (status.ok()) return;
  ++refused_;
  progress_.Print("berth: not reloaded; what runs goes on:\n" + std::string(status.message()) +
                  '\n');
}

Status RunSession::Reload() {
  // Those of before too, where it does not come so far: what is wrong may be mended there.
  for (auto& [path, stamp] : files_) stamp = StampOf(path);
  FileStamps files;
  Result<RunConfig> config = ReadRunConfig(flags_, env_, libraries_, files);
  for (const auto& [path, stamp] : files) files_[path] = stamp;
  if (!config.ok()) return std::move(config).status();
  Status status = scheduler_->Reload(config->set.plugins, config->set.specs);
  if (!status.ok()) return status;
  files_ = std::move(files);
  ++reloaded_;
  log_->AfterReload();
  std::vector<std::string> names;
  for (const PlanSpec& spec : config->set.specs) names.push_back(spec.scheduler_name);
  std::string text = "berth: reloaded: " + Join(names, ", ");
  const std::vector<std::string> later = KeysForTheStart(config_, config->host);
  if (!later.empty()) text += "; " + Join(later, ", ") + " will count from the next start on";
  progress_.Print(text + '\n');
  return {};
}

// Backoffs end at whole seconds: runs that begin at one are alike in when that is.
void RunSession::OpenClock() {
  const int64_t now_ns = env_.wall_ns();
  const int64_t start_ns = now_ns - now_ns % kSecondNs;
  if (flags_.virtual_time) {
    clock_ = &virtual_clock_.emplace(start_ns);
  } else {
    clock_ = &real_clock_.emplace(start_ns, env_.steady_ns);
  }
}

Status RunSession::Open() {
  if (env_.watch_requests) requests_ = env_.watch_requests([this] { AskForReload(); });
  FileDescriptor events;
  if (!flags_.events.empty()) {
    Result<FileDescriptor> file = OpenEvents(flags_.events, env_.in_descriptor);
    if (!file.ok()) return std::move(file).status();
    events = std::move(file).value();
  }
  EmbeddedScheduler::Options options;
  Status status = ReadConfig(options);
  if (!status.ok()) return status;
  OpenClock();
  log_.emplace(*clock_, [this](const DecisionLine& line) { Say(line); });
  options.clock = clock_;
  options.sink = &*log_;
  options.waker = &waker_;
  options.follows_stream = true;
  // Virtual time does not pass while a plugin blocks, and threads would add chance to it.
  options.bind_threads = flags_.virtual_time ? 0 : kBindThreads;
  options.bind_deadline_ns = config_.bind_deadline_ns.value_or(CallDeadlines().bind_ns);
  Set(config_.quarantine_faults, options.quarantine.faults);
  Set(config_.quarantine_window_ns, options.quarantine.window_ns);
  Set(config_.initial_backoff_ns, options.queue.initial_backoff_ns);
  Set(config_.max_backoff_ns, options.queue.max_backoff_ns);
  auto scheduler = OpenScheduler(flags_, env_, progress_, std::move(options));
  progress_.Clear();
  if (!scheduler.ok()) return std::move(scheduler).status();
  scheduler_ = std::move(scheduler).value();
  log_->Watch(scheduler_->cluster(), scheduler_->loop());
  if (!flags_.record.empty()) {
    auto recording = Recording::Create(flags_.record);
    if (!recording.ok()) return std::move(recording).status();
    recording_ = std::move(recording).value();
  }
  if (events.ok()) {
    feed_ = std::make_unique<EventFeed>(std::move(events), std::string(InputName(flags_.events)),
                                        EventFeed::Limits(), waker_);
  }
  return {};
}

void RunSession::Say(const DecisionLine& line) {
  printer_.Print(line);
  if (recording_ != nullptr) recording_->AddDecision(line);
  if (!env_.out) stop_ = kOutputFailed;
}

int RunSession::Run() {
  StreamRun run({.scheduler = scheduler_.get(),
                 .clock = clock_,
                 .virtual_clock = virtual_clock_.has_value() ? &*virtual_clock_ : nullptr,
                 .waker = &waker_,
                 .log = &*log_,
                 .feed = feed_.get(),
                 .recording = recording_.get(),
                 .stop = &stop_,
                 .before_step = [this] { ReloadIfAsked(); },
                 .flush =
                     [this] {
                       if (!env_.out.flush()) stop_ = kOutputFailed;
                     }});
  const Status status = Drive(run);
  return End(status, run.events());
}

Status RunSession::Drive(StreamRun& run) {
  if (requests_ != nullptr) {
    requests_->TakeStops([this](int signal) {
      stop_ = signal;
      waker_.Wake();
    });
  }
  watch_ = std::make_unique<FileWatch>(files_, kLookEvery, [this] { AskForReload(); });
  // On the real clock in any case: it is plugins that it watches.
  RealClock clock(0, env_.steady_ns);
  clock.Begin();
  CallDeadlines deadlines;
  Set(config_.call_deadline_ns, deadlines.call_ns);
  Set(config_.post_filter_deadline_ns, deadlines.post_filter_ns);
  CallWatchdog watchdog(scheduler_->monitor(), scheduler_->loop().faults(), deadlines);
  const WatchdogThread watching(watchdog, clock);
  if (real_clock_.has_value()) real_clock_->Begin();
  const Status status = run.Run();
  watch_.reset();
  requests_.reset();
  return status;
}

int RunSession::End(const Status& status, size_t events) {
  std::string summary;
  AppendSummary({.scheduler = *scheduler_,
                 .log = *log_,
                 .events = events,
                 .took_ns = clock_->NowNs() - log_->start_ns(),
                 .signal = stop_,
                 .reloaded = reloaded_,
                 .refused = refused_},
                env_.err_is_terminal ? env_.out_width : std::nullopt, summary);
  const bool written = static_cast<bool>(env_.out.flush());
  progress_.Print(summary);
  if (!status.ok()) return Fail(env_, status);
  if (!written) return OutputFailed(env_);
  if (stop_ > 0) return kExitSignal + stop_;
  return scheduler_->loop().queue().size() == 0 ? kExitDone : kExitNotAllScheduled;
}

}  // namespace

int RunRun(const RunFlags& flags, CommandEnvironment& env) {
  if (Status status = CheckFlags(flags, env.in_descriptor); !status.ok()) return Fail(env, status);
  RunSession session(flags, env);
  if (Status status = session.Open(); !status.ok()) return Fail(env, status);
  return session.Run();
}

}  // namespace berth::host
