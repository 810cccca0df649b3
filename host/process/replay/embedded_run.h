// A run of the scheduler over a cluster in this process: `berth run --embedded` without its output.
#ifndef BERTH_HOST_PROCESS_REPLAY_EMBEDDED_RUN_H_
#define BERTH_HOST_PROCESS_REPLAY_EMBEDDED_RUN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/base/file_descriptor.h"
#include "host/base/log.h"
#include "host/base/real_clock.h"
#include "host/base/status.h"
#include "host/base/virtual_clock.h"
#include "host/event/inbox.h"
#include "host/guard/call_monitor.h"
#include "host/process/assemble/config_reloader.h"
#include "host/process/assemble/decision_line.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/assemble/process_signals.h"
#include "host/process/assemble/run_config.h"
#include "host/process/replay/embedded_scheduler.h"
#include "host/process/replay/event_feed.h"
#include "host/process/replay/recording.h"

namespace berth::host {

// Receives what happens in a run.
// Threading: the scheduling thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // A file is about to be read.
  virtual void OnReadingFile(std::string_view name) = 0;
  // Returns false if the decision could not be written. The run stops then.
  virtual bool OnDecision(const DecisionLine& line) = 0;
  virtual void OnReload(const ReloadResult& result) = 0;
  // There is time to flush the output. Returns false if it could not be written. The run stops
  // then.
  virtual bool OnIdle() = 0;
  // Returns what receives the log of plugins and of the host; the logger of the host's records is
  // empty where they concern an input. The run drops the records below its level. The sink must
  // outlive the run.
  virtual LogSink& log() = 0;
};

struct RunOptions {
  ConfigSources config;
  std::vector<std::string> cluster_files;  // Files with objects; kStandardInput is `in`.
  // The file of the stream; kStandardInput means `in_descriptor`. Empty if there is no stream.
  std::string events;
  std::string record;  // The file for the recording; empty if the run is not recorded.
  bool virtual_time = false;
  uint64_t seed = kDefaultSeed;
  bool checks_reuse = false;               // See ReuseOptions.
  HashKey hash_key = Interner::kFixedKey;  // See SchedulerOptions::hash_key.
  // If nullopt, the level of the host file, or BERTH_LOG_WARN if that has none.
  std::optional<uint32_t> log_level = {};

  std::istream& in;
  int in_descriptor = -1;                // The file that `in` reads from, or -1.
  std::string temporary_directory = {};  // See MakeLibraryStore().
  std::function<int64_t()> steady_ns;    // A monotonic clock. Threading: any.
  std::function<int64_t()> wall_ns;      // The time since 1970-01-01T00:00:00Z.
  SubscribeToRequests requests = {};     // If empty, a reload or a stop cannot be requested.
  // See SchedulerOptions::report_crashes.
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
};

// The state of a run at its end.
struct RunSummary {
  int signal = 0;  // The signal that stopped the run, or 0.
  // The run ended although pods would be tried again; see StallDetector.
  bool without_progress = false;
  size_t bound = 0;
  size_t pending = 0;
  size_t other_schedulers = 0;  // Pending pods that name a scheduler that no profile has.
  size_t nodes = 0;
  size_t events = 0;           // Events of the stream that were applied.
  size_t rejected_events = 0;  // Events of the stream that could not be applied.
  int64_t took_ns = 0;
  size_t reloaded = 0;
  size_t failed_reloads = 0;
  std::map<std::string, size_t> pending_by_reason = {};
};

// Threading: one thread, the scheduling thread.
// Lifetime:  the observer and what the options refer to must outlive it.
class EmbeddedRun {
 public:
  EmbeddedRun(RunOptions options, RunObserver& observer);
  ~EmbeddedRun();
  EmbeddedRun(const EmbeddedRun&) = delete;
  EmbeddedRun& operator=(const EmbeddedRun&) = delete;

  // Reads the configuration and the cluster, creates the plugins, and opens the stream and the
  // recording. A reload that is requested meanwhile is carried out at the beginning of Run(); a
  // request to stop ends the process.
  // Called: once.
  // Errors: the first thing that failed.
  Status Open();

  // Runs until the stream has ended and the scheduler is at rest or stalled, or until a request to
  // stop or an error ends the run.
  // Called: once. REQUIRES: Open() succeeded.
  // Errors: those of StreamDriver::Run.
  Status Run();

  // REQUIRES: Run() has returned.
  RunSummary Summary() const;

 private:
  Status OpenScheduler();
  Status ReadConfig(SchedulerOptions& options);
  void SetLogLevel(const HostConfig& host);
  void OpenClock();
  void OnDecision(const DecisionLine& line);
  void LogWarnings(const ProfileSet& set);
  void ReloadIfRequested();

  const RunOptions options_;
  RunObserver& observer_;
  LogFilter log_;
  const std::shared_ptr<LibraryStore> libraries_;
  ThreadWaker waker_;
  ConfigReloader reloader_;
  // The number of the signal that requested a stop, kOutputFailed if the output failed, or 0 while
  // the run continues.
  std::atomic<int> stop_ = 0;
  std::optional<RealClock> real_clock_;
  std::optional<VirtualClock> virtual_clock_;
  const Clock* clock_ = nullptr;  // Points to the clock that is used.
  std::unique_ptr<Recording> recording_;
  std::optional<DecisionReporter> reporter_;
  std::unique_ptr<EmbeddedScheduler> scheduler_;
  std::unique_ptr<EventFeed> feed_;
  size_t events_ = 0;
  size_t rejected_events_ = 0;
  bool without_progress_ = false;
  std::unique_ptr<ProcessRequests> requests_;  // Set until Run() returns. May be null.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_EMBEDDED_RUN_H_
