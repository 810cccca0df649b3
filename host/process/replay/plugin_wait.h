// How long a run that has nothing else to do waits for timers and threads of plugins.
#ifndef BERTH_HOST_PROCESS_REPLAY_PLUGIN_WAIT_H_
#define BERTH_HOST_PROCESS_REPLAY_PLUGIN_WAIT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/event/inbox.h"
#include "host/runtime/services/plugin_work.h"

namespace berth::host {

// All limits begin at the last progress: see StallDetector.
struct WaitLimits {
  // How long a run lets timers of plugins fire, on the clock of the scheduler. An hour is twelve
  // times the interval after which a pod is tried again without an event, and longer than the
  // periods and time-outs of usual plugins; in virtual time it takes a moment.
  int64_t timers_ns = kHour;
  // How long a run waits for announced work of threads, in real time.
  int64_t threads_ns = kMinute;
  // How often timers fire and posted functions are called. It is the limit of timers without a
  // delay, or with a very short one, for which virtual time hardly passes.
  uint64_t calls = 1'000'000;
  // A monotonic clock in real time. If empty, a run does not wait for threads.
  std::function<int64_t()> steady_ns = {};
};

// What waits in a scheduler. Plugins by name, in all profiles together.
struct StillWaiting {
  std::map<std::string, size_t> timers = {};
  std::map<std::string, size_t> threads = {};  // Announced work of threads.
  size_t on_permit = 0;                        // Pods.
  size_t in_backoff = 0;                       // Pods; also those that back off from an error.

  bool empty() const {
    return timers.empty() && threads.empty() && on_permit == 0 && in_backoff == 0;
  }
};

// Keeps the limits. A timer that is started again and again must not keep a run from ending, nor a
// thread that never ends its work.
//
// Threading: the scheduling thread.
class PluginWait {
 public:
  enum class Awaited : uint8_t {
    kNothing,
    kPlugins,       // A timer that is due within its limit, or a thread.
    kLimitReached,  // There are timers or threads, but a limit was reached.
  };

  // At most so many steps in which plugins call themselves back, and no pod is tried, are made at
  // one virtual time.
  static constexpr uint32_t kMaxRounds = 64;

  // `clock`: the scheduler's. It must outlive the object.
  explicit PluginWait(const Clock& clock) : clock_(clock), progress_ns_(clock.NowNs()) {}

  void SetLimits(const WaitLimits& limits) { limits_ = limits; }

  // Observes a step of the scheduler. `progress`: how often there was progress. `has_tried`: a pod
  // was tried. Returns true if plugins were called back within the limits, so that failures are to
  // be counted anew; for timers, only once at one time.
  bool OnStep(const PluginWork& work, uint64_t progress, bool has_tried);
  Awaited AwaitedOf(const PluginWork& work) const;
  bool IsRunaway() const { return calls_ >= limits_.calls; }
  // See EmbeddedScheduler::BusyAdvanceNs().
  int64_t BusyAdvanceNs() const;
  // See EmbeddedScheduler::WaitForAnnouncedWork().
  bool WaitForThreads(const PluginWork& work, ThreadWaker& waker, int64_t most_ns);

 private:
  bool AwaitsThreads(const PluginWork& work) const;
  bool IsWithinTimerLimit(int64_t at_ns) const;
  // Returns how much is left of the limit of threads, which begins with the first call.
  // REQUIRES: limits_.steady_ns is set.
  int64_t LeftForThreadsNs();

  const Clock& clock_;
  WaitLimits limits_;
  // What OnStep() has seen.
  uint64_t progress_ = 0;
  uint64_t seen_by_itself_ = 0;
  uint64_t seen_by_threads_ = 0;
  // Since the last progress.
  int64_t progress_ns_;                        // When it was.
  uint64_t calls_ = 0;                         // Calls of timers and posted functions.
  std::optional<int64_t> wait_began_ns_ = {};  // In real time: the first LeftForThreadsNs().
  bool gave_up_ = false;                       // The limit of threads was reached.

  int64_t round_ns_ = INT64_MIN;   // When a plugin called itself back last.
  uint32_t rounds_ = 0;            // Steps at this time in which it did, without an attempt.
  uint64_t given_up_through_ = 0;  // The run does not wait for this hold and older ones any more.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_PLUGIN_WAIT_H_
