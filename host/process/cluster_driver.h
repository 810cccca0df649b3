// Drives a scheduler over the client of a real API server until the process must end.
#ifndef BERTH_HOST_PROCESS_CLUSTER_DRIVER_H_
#define BERTH_HOST_PROCESS_CLUSTER_DRIVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "host/base/clock.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cycle/scheduling_loop.h"
#include "host/event/inbox.h"

namespace berth::host {

// Why Run() returned.
struct DriverEnd {
  int signal = 0;          // The signal that requested the stop; 0 if there was none.
  std::string lost_lease;  // Why the lease was lost; empty if it was not.
  bool output_failed = false;
};

// The loop of the scheduling thread:
//
//   1. deliver what the client has received
//   2. reload if it was requested
//   3. if this process leads and its cache is fresh: SchedulingLoop::Step(), otherwise Settle(),
//      which tries no pod
//   4. if there was nothing to do: flush the output, and wait for the waker or the next timer
//
// A stop ends it in order: no further pod is tried; pods that wait on Permit return to the queue;
// bindings under way are finished, at most `settle_limit_ns`. A lost lease ends it at once: what is
// under way stays undecided, as when the process is killed, and the next leader reads it from the
// API server.
//
// Threading: the scheduling thread, except the requests, which are any.
class ClusterDriver {
 public:
  // Everything that is pointed to must outlive the driver.
  struct Parts {
    KubernetesClient* client = nullptr;
    SchedulingLoop* loop = nullptr;
    const Clock* clock = nullptr;
    ThreadWaker* waker = nullptr;
    std::function<void()> before_step;  // As StreamDriver::Parts.
    std::function<bool()> flush;        // Returns false if the output could not be written.
    std::function<int64_t()> boot_ns;
    int64_t settle_limit_ns = 20'000'000'000;
  };

  explicit ClusterDriver(Parts parts);

  // ---- Any thread -------------------------------------------------------------------------------

  void RequestStop(int signal);
  void OnLeaseLost(std::string why);
  // This process leads. Scheduling begins when pods and nodes have been refreshed; see
  // KubernetesClient::Refresh().
  void OnLeading();
  // Returns when the loop last began a round, by CLOCK_BOOTTIME. A plugin call that never returns
  // stops it.
  int64_t last_progress_ns() const { return last_progress_ns_.load(std::memory_order_relaxed); }
  bool schedules() const { return schedules_.load(std::memory_order_relaxed); }
  bool is_stopping() const { return stop_.load(std::memory_order_relaxed) != 0; }

  // ---- The scheduling thread --------------------------------------------------------------------

  DriverEnd Run();

 private:
  const Parts parts_;
  std::atomic<int> stop_ = 0;
  std::atomic<bool> leads_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> schedules_ = false;
  std::atomic<int64_t> last_progress_ns_ = 0;
  std::string lost_why_;  // Written once, before lost_.
  bool is_refreshing_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_CLUSTER_DRIVER_H_
