#include "host/process/replay/embedded_run.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include <berth/abi.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/process/assemble/cluster_files.h"
#include "host/process/replay/stream_driver.h"

namespace berth::host {
namespace {

// A value of `stop_` that is no signal.
constexpr int kOutputFailed = -1;

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

}  // namespace

EmbeddedRun::EmbeddedRun(RunOptions options, RunObserver& observer)
    : options_(std::move(options)),
      observer_(observer),
      log_(observer.log(), BERTH_LOG_WARN),
      libraries_(MakeLibraryStore(options_.temporary_directory, options_.steady_ns)),
      reloader_(
          [this](FileStamps& files) { return ReadRunConfig(options_.config, libraries_, files); },
          waker_) {}

EmbeddedRun::~EmbeddedRun() {
  if (reporter_.has_value()) reporter_->StopWatch();
}

// ---- Opening ------------------------------------------------------------------------------------

Status EmbeddedRun::Open() {
  if (options_.requests) requests_ = options_.requests([this] { reloader_.Request(); });
  FileDescriptor events;
  if (!options_.events.empty()) {
    Result<FileDescriptor> file = OpenEvents(options_.events, options_.in_descriptor);
    if (!file.ok()) return std::move(file).status();
    events = std::move(file).value();
  }
  if (Status status = OpenScheduler(); !status.ok()) return status;
  reporter_->StartWatch(scheduler_->cluster().client().source, scheduler_->loop());
  if (!options_.record.empty()) {
    auto recording = Recording::Create(options_.record);
    if (!recording.ok()) return std::move(recording).status();
    recording_ = std::move(recording).value();
  }
  if (events.ok()) {
    feed_ = std::make_unique<EventFeed>(std::move(events), std::string(InputName(options_.events)),
                                        EventFeed::Limits(), waker_);
  }
  return {};
}

Status EmbeddedRun::OpenScheduler() {
  SchedulerOptions options;
  if (Status status = ReadConfig(options); !status.ok()) return status;
  OpenClock();
  reporter_.emplace(*clock_, [this](const DecisionLine& line) { OnDecision(line); });
  options.hash_key = options_.hash_key;
  options.loop.seed = options_.seed;
  options.loop.reuse.is_checked = options_.checks_reuse;
  options.loop.clock = clock_;
  options.loop.sink = &*reporter_;
  options.loop.waker = &waker_;
  options.loop.log = &log_;
  options.loop.logs_decisions = false;  // The observer receives them.
  // Virtual time does not pass while a plugin blocks, and threads would add chance to it.
  options.bind_threads = options_.virtual_time ? 0 : kBindThreads;
  options.report_crashes = options_.report_crashes;
  scheduler_ =
      std::make_unique<EmbeddedScheduler>(std::move(options), EmbeddedScheduler::Stream::kFollowed);
  for (const std::string& file : options_.cluster_files) {
    observer_.OnReadingFile(InputName(file));
    Status status = scheduler_->cluster().AddFile(file, options_.in);
    if (!status.ok()) return status;
  }
  return scheduler_->Start();
}

Status EmbeddedRun::ReadConfig(SchedulerOptions& options) {
  Result<RunConfig> config = reloader_.ReadFirst();
  if (!config.ok()) return std::move(config).status();
  SetLogLevel(config->host);
  LogWarnings(config->set);
  options.plugins = std::move(config->set.plugins);
  options.profiles = std::move(config->set.specs);
  ApplyHostFile(reloader_.running(), options.loop);
  return {};
}

void EmbeddedRun::SetLogLevel(const HostConfig& host) {
  log_.SetLevel(options_.log_level.value_or(host.log_level.value_or(BERTH_LOG_WARN)));
}

// Backoffs end at whole seconds. A start at a whole second makes runs independent of the fraction.
void EmbeddedRun::OpenClock() {
  const int64_t now_ns = options_.wall_ns();
  const int64_t start_ns = now_ns - now_ns % kSecond;
  if (options_.virtual_time) {
    clock_ = &virtual_clock_.emplace(start_ns);
  } else {
    clock_ = &real_clock_.emplace(start_ns, options_.steady_ns);
  }
}

// ---- Running ------------------------------------------------------------------------------------

Status EmbeddedRun::Run() {
  StreamDriver driver({.scheduler = scheduler_.get(),
                       .clock = clock_,
                       .virtual_clock = virtual_clock_.has_value() ? &*virtual_clock_ : nullptr,
                       .waker = &waker_,
                       .reporter = &*reporter_,
                       .feed = feed_.get(),
                       .recording = recording_.get(),
                       .stop = &stop_,
                       .before_step = [this] { ReloadIfRequested(); },
                       .flush =
                           [this] {
                             if (!observer_.OnIdle()) stop_ = kOutputFailed;
                           },
                       .log = Log(log_, "")});
  if (requests_ != nullptr) {
    requests_->OnStop([this](int signal) {
      stop_ = signal;
      waker_.Wake();
    });
  }
  reloader_.StartWatching();
  // The deadlines of plugin calls are real time, even if the scheduler's time is virtual.
  scheduler_->host().StartWatchdog(DeadlinesOf(reloader_.running()), options_.steady_ns);
  if (real_clock_.has_value()) real_clock_->Begin();
  const Status status = driver.Run();
  scheduler_->host().StopWatchdog();
  reloader_.StopWatching();
  requests_.reset();
  events_ = driver.events();
  rejected_events_ = driver.rejected();
  without_progress_ = status.ok() && stop_ == 0 && !scheduler_->AtRest();
  return status;
}

void EmbeddedRun::OnDecision(const DecisionLine& line) {
  const bool written = observer_.OnDecision(line);
  if (recording_ != nullptr) recording_->AddDecision(line);
  if (!written) stop_ = kOutputFailed;
}

void EmbeddedRun::LogWarnings(const ProfileSet& set) {
  for (const std::string& warning : set.warnings) Log(log_, "").Warning(warning);
}

void EmbeddedRun::ReloadIfRequested() {
  reloader_.ReloadIfRequested(
      [this](const ProfileSet& set) {
        LogWarnings(set);
        Status status = scheduler_->Reload(set.plugins, set.specs);
        if (status.ok()) reporter_->ReportGatedPods();
        return status;
      },
      [this](const ReloadResult& result) {
        if (result.status.ok()) {
          SetLogLevel(result.host);
          scheduler_->loop().UpdateLogLevel();
        }
        observer_.OnReload(result);
      });
}

RunSummary EmbeddedRun::Summary() const {
  const SchedulingLoop& loop = scheduler_->loop();
  RunSummary summary{.signal = stop_ > 0 ? stop_.load() : 0,
                     .without_progress = without_progress_,
                     .bound = reporter_->bound(),
                     .pending = loop.queue().size(),
                     .other_schedulers = loop.router().other_schedulers_pending(),
                     .nodes = loop.cache().table().node_count(),
                     .events = events_,
                     .rejected_events = rejected_events_,
                     .took_ns = clock_->NowNs() - reporter_->start_ns(),
                     .reloaded = reloader_.reloaded(),
                     .failed_reloads = reloader_.failed(),
                     .pending_by_reason = {}};
  loop.queue().ForEach([&](const QueuedEntity& entity) {
    entity.ForEachPod([&](const PodRef& pod) {
      ++summary.pending_by_reason[WhyPending(entity, *pod, scheduler_->cluster().objects())];
    });
  });
  return summary;
}

}  // namespace berth::host
