// A scheduler over a cluster in this process, which comes from files and a stream: `berth replay`
// without its output.
#ifndef BERTH_HOST_PROCESS_REPLAY_REPLAY_H_
#define BERTH_HOST_PROCESS_REPLAY_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/base/time_units.h"
#include "host/process/assemble/config_reloader.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/assemble/session.h"
#include "host/process/replay/embedded_scheduler.h"
#include "host/process/replay/event_feed.h"
#include "host/process/replay/missing_kinds.h"
#include "host/process/replay/plugin_wait.h"
#include "host/process/replay/stream_driver.h"
#include "host/process/replay/stream_event.h"

namespace berth::host {

// Receives what happens in a run.
// Threading: the scheduling thread.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;

  // A file is about to be read.
  virtual void OnReadingFile(std::string_view name) = 0;
  // Something was added to the objects of files or of the stream: see LocalCluster::TakeNotes().
  virtual void OnNote(const std::string& note) = 0;
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

inline constexpr int64_t kRealTimerWaitNs = kMinute;

// The default of log_level is BERTH_LOG_WARN.
struct ReplayOptions : ProcessOptions {
  std::vector<std::string> cluster_files = {};  // Files with objects; kStandardInput is `in`.
  // The file of the stream; kStandardInput means `in_descriptor`. Empty if there is no stream.
  std::string events = {};
  std::string record = {};  // The file for the recording; empty if the run is not recorded.
  bool virtual_time = false;
  // How long the run waits for timers and for threads of plugins: see WaitLimits. Nullopt: the
  // defaults, but kRealTimerWaitNs for timers in real time, in which an hour is too long.
  std::optional<int64_t> timer_wait_ns = {};
  std::optional<int64_t> thread_wait_ns = {};

  std::istream* in = nullptr;  // Must be set.
  int in_descriptor = -1;      // The file that `in` reads from, or -1.
  bool admits = false;         // See LocalCluster::SetAdmission.
  bool is_complete = false;
};

// The state of a run at its end.
struct ReplaySummary {
  int signal = 0;  // The signal that stopped the run, or 0.
  // The run ended although pods would be tried again; see StallDetector.
  bool without_progress = false;
  // If without progress: see EmbeddedScheduler::RejectorsWithoutEvents().
  std::vector<std::string> without_events = {};
  bool limit_reached = false;  // A limit of timers or threads of plugins has ended the run.
  StillWaiting waiting = {};
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
  MissingKinds missing_kinds = {};
};

// Threading: one thread, the scheduling thread.
// Lifetime:  the observer and what the options refer to must outlive it.
class Replay final : private StreamDriver {
 public:
  Replay(ReplayOptions options, ReplayObserver& observer);
  ~Replay() override;

  // Reads the configuration and the cluster, creates the plugins, and opens the stream and the
  // recording. A reload that is requested meanwhile is carried out at the beginning of Run(); a
  // request to stop ends the process.
  // Called: once.
  // Errors: the first thing that failed.
  Status Open();

  // Runs until the stream has ended, the scheduler is at rest or stalled, no plugin is awaited, and
  // the parked pods were tried once more, or until a request to stop or an error ends the run. From
  // that last try on, the observer and the recording get no decision that repeats the last one
  // about its pod.
  // Called: once. REQUIRES: Open() succeeded.
  // Errors: those of StreamDriver::Run.
  Status Run();

  // REQUIRES: Run() has returned.
  ReplaySummary Summary() const;

 private:
  Status OpenScheduler();
  WaitLimits Limits() const;
  void PassNotes();
  const Clock& clock() const;
  void OnDecision(const DecisionLine& line);
  void BeforeStep() override;

  const ReplayOptions options_;
  ReplayObserver& observer_;
  Session session_;
  RealClock real_clock_;        // Stands still until Run().
  VirtualClock virtual_clock_;  // Used instead if time is virtual.
  std::optional<Recording> recording_;
  DecisionReporter reporter_;
  std::optional<EmbeddedScheduler> scheduler_;
  std::optional<EventFeed> feed_;
  bool without_progress_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_REPLAY_H_
