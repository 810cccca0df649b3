#include "host/process/replay/replay.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include <berth/abi.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/process/assemble/input_files.h"

namespace berth::host {
namespace {

Result<FileDescriptor> OpenEvents(const std::string& path, int in_descriptor) {
  FileDescriptor file(path == kStandardInput ? fcntl(in_descriptor, F_DUPFD_CLOEXEC, 0)
                                             : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return SystemError(std::string(InputName(path)), errno);
  return file;
}

std::string WhyPending(const QueuedEntity& entity, const Pod& pod, const EmbeddedCluster& cluster) {
  if (entity.gate != nullptr) return Join(entity.gate->reasons, ", ");
  const std::string_view message = cluster.PodScheduledMessage(pod.ns(), pod.name());
  if (!message.empty()) return std::string(message);
  return entity.attempts == 0 ? "not tried yet" : "not bound yet";
}

// Backoffs end at whole seconds. A start at a whole second makes runs independent of the fraction.
int64_t WholeSecond(int64_t time_ns) { return time_ns - time_ns % kSecond; }

}  // namespace

Replay::Replay(ReplayOptions options, ReplayObserver& observer)
    : StreamDriver([&observer] { return observer.OnIdle(); }),
      options_(std::move(options)),
      observer_(observer),
      session_(options_, {.logger = "", .log_level = BERTH_LOG_WARN, .reloads = true}, *this),
      real_clock_(WholeSecond(options_.wall_ns()), options_.steady_ns),
      virtual_clock_(real_clock_.NowNs()),
      reporter_(clock(), [this](const DecisionLine& line) { OnDecision(line); }) {}

Replay::~Replay() { reporter_.StopWatch(); }

const Clock& Replay::clock() const {
  if (options_.virtual_time) return virtual_clock_;
  return real_clock_;
}

// ---- Opening ------------------------------------------------------------------------------------

Status Replay::Open() {
  FileDescriptor events;
  if (!options_.events.empty()) {
    Result<FileDescriptor> file = OpenEvents(options_.events, options_.in_descriptor);
    if (!file.ok()) return std::move(file).status();
    events = std::move(file).value();
  }
  if (Status status = session_.ReadConfig(); !status.ok()) return status;
  session_.OpenLog(observer_.log());
  if (Status status = OpenScheduler(); !status.ok()) return status;
  reporter_.StartWatch(scheduler_->cluster().client().source, scheduler_->loop());
  if (!options_.record.empty()) {
    Result<Recording> recording = Recording::Create(options_.record);
    if (!recording.ok()) return std::move(recording).status();
    recording_ = std::move(recording).value();
  }
  if (events.ok()) {
    feed_.emplace(std::move(events), std::string(InputName(options_.events)), EventFeed::Limits(),
                  waker());
  }
  return {};
}

Status Replay::OpenScheduler() {
  SchedulerOptions options = session_.TakeSchedulerOptions(clock());
  options.loop.sink = &reporter_;
  options.loop.logs_decisions = false;  // The observer receives them.
  // Virtual time does not pass while a plugin blocks, and threads would add chance to it.
  options.bind_threads = options_.virtual_time ? 0 : kBindThreads;
  scheduler_.emplace(std::move(options), EmbeddedScheduler::Stream::kFollowed);
  scheduler_->SetWaitLimits(Limits());
  LocalCluster& cluster = scheduler_->cluster();
  cluster.SetAdmission(options_.admits, options_.is_complete);
  Status status = cluster.AddFiles(
      {.paths = options_.cluster_files,
       .in = *options_.in,
       .on_reading = [this](std::string_view name) { observer_.OnReadingFile(name); }});
  if (!status.ok()) return status;
  PassNotes();
  return scheduler_->Start();
}

void Replay::PassNotes() {
  for (const std::string& note : scheduler_->cluster().TakeNotes()) observer_.OnNote(note);
}

WaitLimits Replay::Limits() const {
  WaitLimits limits;
  if (!options_.virtual_time) limits.timers_ns = kRealTimerWaitNs;
  limits.timers_ns = options_.timer_wait_ns.value_or(limits.timers_ns);
  limits.threads_ns = options_.thread_wait_ns.value_or(limits.threads_ns);
  limits.steady_ns = options_.steady_ns;
  return limits;
}

// ---- Running ------------------------------------------------------------------------------------

Status Replay::Run() {
  session_.Begin(scheduler_->host());
  real_clock_.Begin();
  const Status status =
      StreamDriver::Run({.scheduler = &*scheduler_,
                         .clock = &clock(),
                         .virtual_clock = options_.virtual_time ? &virtual_clock_ : nullptr,
                         .reporter = &reporter_,
                         .feed = feed_.has_value() ? &*feed_ : nullptr,
                         .recording = recording_.has_value() ? &*recording_ : nullptr,
                         .log = session_.log()});
  session_.End();
  PassNotes();
  without_progress_ =
      status.ok() && !is_stop_requested() && !has_reached_limit() && !scheduler_->AtRest();
  return status;
}

void Replay::OnDecision(const DecisionLine& line) {
  // The last try of parked pods is reported only where its result is another one.
  if (line.is_repeated && scheduler_->has_tried_parked_again()) return;
  const bool written = observer_.OnDecision(line);
  if (recording_.has_value()) recording_->AddDecision(line);
  if (!written) OnOutputFailed();
}

void Replay::BeforeStep() {
  session_.ReloadIfRequested(
      [this](const ProfileSet& set) {
        Status status = scheduler_->Reload(set.plugins, set.specs);
        if (status.ok()) reporter_.ReportGatedPods();
        return status;
      },
      [this](const ReloadResult& result) { observer_.OnReload(result); });
}

ReplaySummary Replay::Summary() const {
  const SchedulingLoop& loop = scheduler_->loop();
  ReplaySummary summary{.signal = signal(),
                        .without_progress = without_progress_,
                        .without_events = {},
                        .limit_reached = has_reached_limit(),
                        .waiting = scheduler_->Waiting(),
                        .bound = reporter_.bound(),
                        .pending = loop.queue().size(),
                        .other_schedulers = loop.router().other_schedulers_pending(),
                        .nodes = loop.cache().table().node_count(),
                        .events = events(),
                        .rejected_events = rejected(),
                        .took_ns = clock().NowNs() - reporter_.start_ns(),
                        .reloaded = session_.reloads().reloaded(),
                        .failed_reloads = session_.reloads().failed(),
                        .pending_by_reason = {},
                        .missing_kinds = FindMissingKinds(scheduler_->cluster(), loop)};
  if (without_progress_) summary.without_events = scheduler_->RejectorsWithoutEvents();
  loop.queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      ++summary.pending_by_reason[WhyPending(entity, *pod, scheduler_->cluster().objects())];
    });
  });
  return summary;
}

}  // namespace berth::host
