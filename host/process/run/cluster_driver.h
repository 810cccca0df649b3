// Drives a scheduler over the client of a real API server until the process must end.
#ifndef BERTH_HOST_PROCESS_RUN_CLUSTER_DRIVER_H_
#define BERTH_HOST_PROCESS_RUN_CLUSTER_DRIVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/base/wake_pacer.h"
#include "host/cycle/scheduling_loop.h"
#include "host/process/assemble/driver.h"

namespace berth::host {

// A round:
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
// Threading: as Driver; OnLeaseLost(), OnLeading() and the state are any.
class ClusterDriver : public Driver {
 public:
  // A round begins at least this often.
  static constexpr int64_t kMaxWaitNs = 5 * kSecond;
  // A round begins at least this often while the client has no room.
  static constexpr int64_t kMaxFullWaitNs = 100 * kMillisecond;

  struct Options {
    FlushOutput flush = {};            // See Driver.
    std::function<int64_t()> boot_ns;  // CLOCK_BOOTTIME.
    int64_t settle_limit_ns = 20 * kSecond;
  };

  explicit ClusterDriver(Options options);

  // ---- Any thread -------------------------------------------------------------------------------

  // Only the first call counts.
  void OnLeaseLost(std::string_view why);
  // This process leads. Scheduling begins when the cache has been refreshed.
  void OnLeading();
  // Returns why the lease was lost; empty if it was not.
  std::string lost_lease() const;
  // Returns when the loop last began a round, by CLOCK_BOOTTIME. A plugin call that never returns
  // stops it.
  int64_t last_progress_ns() const { return last_progress_ns_.load(std::memory_order_relaxed); }
  bool schedules() const { return schedules_.load(std::memory_order_relaxed); }
  bool is_ending() const { return is_stop_requested() || lost_.load(); }

  // ---- The scheduling thread --------------------------------------------------------------------

  // Runs until a stop was requested or the lease was lost. The arguments must outlive the call.
  // `clock`: the loop's. The waker of the loop and of the client is that of the driver.
  // Called: once.
  void Run(SchedulingLoop& loop, const Clock& clock);

 private:
  // ---- What the owner does in a round -----------------------------------------------------------

  // Delivers what the client has received. Returns how much it was.
  virtual size_t Deliver() = 0;
  // Calls `done`, at once or within a later Deliver(), when the cache contains everything that was
  // written before the call; see KubernetesClient::Refresh().
  virtual void Refresh(std::function<void()> done) = 0;
  // Returns false while the client has so many bindings under way that one more would only wait
  // there. No pod is tried then: it keeps its place in the scheduling queue instead, where a pod of
  // a higher priority can overtake it. A binding that ends wakes the waker, unless its binding
  // cycle does not wait for it any more; therefore the driver also asks every kMaxFullWaitNs.
  virtual bool HasRoom() const = 0;
  // Returns for how long the answers to bindings and the events of the watches are gathered under
  // load; see WakePacer.
  virtual int64_t GatherNs() const = 0;
  // Called before each step, unless the driver is stopping. It may do what must not happen within a
  // step, such as a reload.
  virtual void BeforeStep() = 0;
  virtual void AfterStep() = 0;
  // Called when pods may be tried from now on, with the time since OnLeading().
  virtual void OnScheduling(int64_t took_ns) = 0;

  // ---- Driver -----------------------------------------------------------------------------------

  bool IsDone() final;
  bool RunRound() final;
  void Wait() final;
  void OnStop() final;

  // Begins the refresh when this process leads, and scheduling when the cache is fresh.
  void Lead();
  // Returns whether pods are tried, as far as the client has room.
  bool MaySchedule() const { return schedules_ && !is_stopping(); }
  // Returns for how long there is nothing to do, at most kMaxWaitNs.
  int64_t IdleNs() const;

  const Options options_;
  SchedulingLoop* loop_ = nullptr;  // Set by Run(). This applies to the clock, too.
  const Clock* clock_ = nullptr;
  std::atomic<bool> leads_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> schedules_ = false;
  std::atomic<int64_t> last_progress_ns_ = 0;
  mutable std::mutex lost_mutex_;
  std::string lost_why_;  // Guarded by lost_mutex_. Written once, before lost_.
  // The fields below are used by the scheduling thread alone.
  int64_t settle_until_ns_ = 0;
  bool is_refreshing_ = false;  // A refresh has begun.
  bool is_fresh_ = false;
  int64_t leading_ns_ = 0;  // When the refresh began.
  WakePacer pacer_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_CLUSTER_DRIVER_H_
