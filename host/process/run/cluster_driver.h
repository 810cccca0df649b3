// Drives a scheduler over the client of a real API server until the process must end.
#ifndef BERTH_HOST_PROCESS_RUN_CLUSTER_DRIVER_H_
#define BERTH_HOST_PROCESS_RUN_CLUSTER_DRIVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/base/wake_pacer.h"
#include "host/cycle/scheduling_loop.h"
#include "host/event/inbox.h"

namespace berth::host {

// Why Run() returned.
struct DriverEnd {
  int signal = 0;          // The signal that requested the stop; 0 if there was none.
  std::string lost_lease;  // Why the lease was lost; empty if it was not.
  bool output_failed = false;
  size_t unsettled = 0;  // Bindings that had not ended.
};

// The loop of the scheduling thread:
//
//   1. deliver what the client has received
//   2. reload if it was requested
//   3. if this process leads, its cache is fresh, and the client has room for a binding:
//      SchedulingLoop::Step(), otherwise Settle(), which tries no pod
//   4. if there was nothing to do: flush the output, pause under load (see WakePacer), and wait for
//      the waker or the next timer
//
// A stop ends it in order: no further pod is tried; pods that wait on Permit return to the queue;
// bindings under way are finished, at most `settle_limit_ns`. A lost lease ends it at once: what is
// under way stays undecided, as when the process is killed, and the next leader reads it from the
// API server.
//
// Threading: the scheduling thread, except the requests, which are any.
class ClusterDriver {
 public:
  // Everything that is pointed to must outlive the driver. Functions may be empty, except `deliver`
  // and `boot_ns`.
  struct Parts {
    SchedulingLoop* loop = nullptr;
    const Clock* clock = nullptr;  // The loop's.
    ThreadWaker* waker = nullptr;  // The loop's and the client's.
    // Delivers what the client has received. Returns how much it was.
    std::function<size_t()> deliver;
    // Calls `done` within a later `deliver`, when the cache contains everything that was written
    // before the call; see KubernetesClient::Refresh(). If it is empty, the cache is fresh when the
    // watches have delivered their first state.
    std::function<void(std::function<void()> done)> refresh;
    // Returns false while the client has so many bindings under way that one more would only wait
    // there. No pod is tried then: it keeps its place in the scheduling queue instead, where a pod
    // of a higher priority can overtake it. A binding that ends wakes the waker, unless its binding
    // cycle does not wait for it any more; therefore the driver also asks every kMaxFullWaitNs.
    std::function<bool()> has_room;
    // Called before each step, unless the driver is stopping. It may do what must not happen within
    // a step, such as a reload.
    std::function<void()> before_step;
    std::function<void()> after_step;
    // Called when there is nothing else to do. Returns false if the output could not be written,
    // which is a request to stop.
    std::function<bool()> flush;
    // Called when pods may be tried from now on, with the time since OnLeading().
    std::function<void(int64_t took_ns)> on_scheduling;
    std::function<int64_t()> boot_ns;  // CLOCK_BOOTTIME.
    int64_t settle_limit_ns = 20 * kSecond;
  };

  // A round begins at least this often.
  static constexpr int64_t kMaxWaitNs = 5 * kSecond;
  // A round begins at least this often while the client has no room.
  static constexpr int64_t kMaxFullWaitNs = 100 * kMillisecond;
  // Under load, the answers to bindings and the events of the watches are gathered for this time.
  static constexpr int64_t kGatherNs = kMillisecond;

  explicit ClusterDriver(Parts parts);
  ClusterDriver(const ClusterDriver&) = delete;
  ClusterDriver& operator=(const ClusterDriver&) = delete;

  // ---- Any thread -------------------------------------------------------------------------------

  // `signal` is positive. Only the first request counts.
  void RequestStop(int signal);
  // The output has failed: requests a stop without a signal.
  void OnOutputFailed();
  // Only the first call counts.
  void OnLeaseLost(std::string why);
  // This process leads. Scheduling begins when the cache has been refreshed.
  void OnLeading();
  // Returns when the loop last began a round, by CLOCK_BOOTTIME. A plugin call that never returns
  // stops it.
  int64_t last_progress_ns() const { return last_progress_ns_.load(std::memory_order_relaxed); }
  bool schedules() const { return schedules_.load(std::memory_order_relaxed); }
  bool is_stopping() const { return stop_.load() != 0 || lost_.load(); }

  // ---- The scheduling thread --------------------------------------------------------------------

  // Called once.
  DriverEnd Run();

 private:
  // A value of stop_ that is no signal.
  static constexpr int kOutputFailed = -1;

  // Begins to stop if it was requested.
  void StopIfRequested();
  bool IsDone() const;
  // Begins the refresh when this process leads, and scheduling when the cache is fresh.
  void Lead();
  // Returns whether pods are tried, as far as the client has room.
  bool MaySchedule() const { return schedules_ && !is_stopping_; }
  bool HasRoom() const { return !parts_.has_room || parts_.has_room(); }
  bool RunOneRound();
  // Returns for how long there is nothing to do, at most kMaxWaitNs.
  int64_t IdleNs() const;
  void Wait();
  void Flush();

  const Parts parts_;
  // The signal that requested the stop, kOutputFailed, or 0 while the driver runs.
  std::atomic<int> stop_ = 0;
  std::atomic<bool> leads_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> schedules_ = false;
  std::atomic<int64_t> last_progress_ns_ = 0;
  std::mutex lost_mutex_;
  std::string lost_why_;  // Guarded by lost_mutex_. Written once, before lost_.
  // The fields below are used by the scheduling thread alone.
  bool is_stopping_ = false;
  int64_t settle_until_ns_ = 0;
  bool is_refreshing_ = false;  // A refresh has begun.
  bool is_fresh_ = false;
  int64_t leading_ns_ = 0;  // When the refresh began.
  WakePacer pacer_{kGatherNs};
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_CLUSTER_DRIVER_H_
