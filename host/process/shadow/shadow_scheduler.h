// A scheduler that decides about the pods of another one and writes nothing.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_SCHEDULER_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/process/assemble/scheduler_host.h"
#include "host/process/shadow/shadow_client.h"
#include "host/process/shadow/shadow_observer.h"

namespace berth::host {

// Connects a SchedulerHost, a ShadowClient and a ShadowObserver over a client that reads a cluster.
// The owner repeats: let the client deliver what it has received, then call Step() while it returns
// true, then wait until NextStepNs() or until the waker of the options is called.
//
// The PostFilter plugins of the profiles do not run: they would evict pods, and a pod that was
// placed fits on a node.
//
// Threading: one thread, the scheduling thread.
class ShadowScheduler {
 public:
  // `cluster` must deliver its events on the scheduling thread. It and `interner` must outlive the
  // object. `cluster` must decode objects with DecodeOptionsFor(*options.plugins). If
  // `observing.scheduler_names` is empty, the pods that name one of the profiles are judged.
  // `wake` is called, on any thread, when Step() has work; it may be empty.
  ShadowScheduler(Interner& interner, Client cluster, SchedulerOptions options,
                  ShadowObserver::Options observing, ShadowObserver::Listener listener,
                  std::function<void()> wake = {});
  ~ShadowScheduler();
  ShadowScheduler(const ShadowScheduler&) = delete;
  ShadowScheduler& operator=(const ShadowScheduler&) = delete;

  // Creates the plugins and starts the watches.
  // Called: once.
  // Errors: those of SchedulerHost::Start.
  Status Start();

  // REQUIRES: Start() succeeded. This applies to every method below.

  // Delivers refusals, judges what is due, and settles the scheduler. Returns false if there was
  // nothing to do.
  bool Step();
  // Returns when Step() next has work if no event arrives before; nullopt if it will have none.
  std::optional<int64_t> NextStepNs() const;
  // Judges everything that was received.
  void Finish();

  // Returns whether placements are judged: everything that existed at the start was received.
  bool has_begun() const { return observer_->has_begun(); }
  const ShadowTotals& totals() const { return observer_->totals(); }
  // The number of requests that plugins sent and that were refused.
  size_t refused() const { return client_.refused(); }
  SchedulerHost& host() { return host_; }

 private:
  const Clock& clock_;
  ShadowObserver::Options observing_;
  const ShadowObserver::Listener listener_;
  ShadowClient client_;
  SchedulerHost host_;
  std::unique_ptr<ShadowObserver> observer_;  // Created by Start().
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_SCHEDULER_H_
