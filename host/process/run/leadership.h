// Takes part in a leader election, for callers on other threads.
#ifndef BERTH_HOST_PROCESS_RUN_LEADERSHIP_H_
#define BERTH_HOST_PROCESS_RUN_LEADERSHIP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/client_metrics.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/http/transport.h"

namespace berth::host {

// Runs a LeaderElector and its lease requests on the thread of their channel, which nothing else
// uses. Keeps the metrics of the election, and writes an event about the lease when this process
// begins to lead.
//
// Threading: any, except the thread of the channel; constructed and destroyed on one thread. The
//            callbacks are called on the thread of the channel.
// Lifetime:  what the constructor receives must outlive it. The channel must run its tasks until it
//            is destroyed.
class Leadership {
 public:
  struct Options {
    Channel leases;
    const Clock* wall = nullptr;
    std::function<int64_t()> boot_ns;  // CLOCK_BOOTTIME.
    BindFence* fence = nullptr;
    ElectionOptions election;
    std::string scheduler;  // The schedulerName of the first profile, for the event.
    ClientMetrics* metrics = nullptr;
    std::function<void(Event event)> write_event;
    // As LeaderElector::Callbacks.
    std::function<void()> on_started;
    std::function<void(std::string_view why)> on_lost;
    std::function<int64_t()> last_progress_ns = {};
    Log log;
  };

  explicit Leadership(Options options);
  // Ends the election without a release, and closes the transport of the channel. Waits for the
  // thread of the channel.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // Begins to acquire the lease. Called once.
  void Start();
  // Closes the fence, and releases the lease if this process holds it. Waits for the release, at
  // most `limit_ns` and one second. Called once.
  void Release(int64_t limit_ns);

  struct View {
    bool leads = false;
    std::string holder;      // The holder in the record that was last read; may be empty.
    int64_t renewed_ns = 0;  // While it leads: when the last renewal was sent, by CLOCK_BOOTTIME.
    Status error = {};  // While it does not lead: why the last try to acquire the lease failed.
  };
  // Returns the state as of at most one second ago.
  View view() const;

 private:
  class Runner;

  // Shared with the tasks on the channel's thread.
  const std::shared_ptr<Runner> runner_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_LEADERSHIP_H_
