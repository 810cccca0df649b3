// Requeues and reports pods that got no node, and creates the events of pods.
#ifndef BERTH_HOST_CYCLE_FAILURE_HANDLER_H_
#define BERTH_HOST_CYCLE_FAILURE_HANDLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/cluster/client.h"
#include "host/cycle/cycle_meter.h"
#include "host/cycle/decision_sink.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// Returns the event "Scheduled" of type Normal: the pod is bound. `time_ns`: since
// 1970-01-01T00:00:00Z. This applies to the next function too.
Event ScheduledEvent(const Pod& pod, std::string_view node, int64_t time_ns);
// Returns the event "FailedScheduling" of type Warning: a scheduling cycle or a binding cycle
// failed, or the pod was skipped.
Event FailedSchedulingEvent(const Pod& pod, std::string_view note, int64_t time_ns);

// Ends attempts without a node: returns the pod to the queue, and reports why.
// (kube-scheduler: pkg/scheduler/schedule_one.go, handleSchedulingFailure)
// Threading: the scheduling thread.
// Lifetime:  the arguments of the constructor must outlive it.
class FailureHandler {
 public:
  // Called last for each failed attempt, when the pod is back in the queue.
  using OnAttemptFailed =
      std::function<void(const PodRef& pod, std::string_view node, const Failure& failure)>;

  // `meter` may be null, and `on_attempt_failed` empty.
  FailureHandler(SchedulingQueue& queue, DecisionWriter& writer, const Clock& clock,
                 DecisionSink& sink, CycleMeter* meter = nullptr,
                 OnAttemptFailed on_attempt_failed = {})
      : queue_(queue),
        writer_(writer),
        clock_(clock),
        sink_(sink),
        meter_(meter),
        on_attempt_failed_(std::move(on_attempt_failed)),
        failed_patches_(std::make_shared<FailedPatches>()) {}

  // Returns the pod to the queue, in the version that the cluster reported last, and then calls
  // Report(). With a rejection the queue parks the pod; without one the pod backs off.
  // `node`: the node that the pod had been given; empty: none.
  // REQUIRES: the pod is in flight.
  void Handle(std::string_view uid, std::string_view node, const Failure& failure);

  // Reports the failure, in this order: the decision sink; the pod's nomination in the queue; an
  // event; the pod's condition PodScheduled and status.nominatedNodeName, as far as they differ
  // from the last report; `on_attempt_failed`. Only the sink and `on_attempt_failed` are called for
  // a pod that was deleted or bound meanwhile, and they get the failure with `is_final`.
  void Report(const PodRef& pod, std::string_view node, const Failure& failure);

  // Removes a pod that is being deleted from the queue, and reports `message` by an event.
  // REQUIRES: the pod is in flight.
  void Skip(const PodRef& pod, std::string_view message);

 private:
  // The pods whose condition did not reach the cluster. The writer may add to it on another thread,
  // and after the handler is gone. The condition of such a pod is sent with its next failure, even
  // if it is the same.
  struct FailedPatches {
    std::mutex mutex;
    std::vector<std::string> uids;
  };

  // Implements Report() without the metrics and without `on_attempt_failed`.
  void ReportToCluster(const PodRef& pod, std::string_view node, const Failure& failure);
  // Implements Report() without the metrics.
  void ReportUncounted(const PodRef& pod, std::string_view node, const Failure& failure);
  void Nominate(const PodRef& pod, const Failure& failure);
  void PatchStatus(const PodRef& pod, const Failure& failure);
  StatusCallback RecordFailedPatch(const Pod& pod) const;
  void ForgetFailedPatches();

  SchedulingQueue& queue_;
  DecisionWriter& writer_;
  const Clock& clock_;
  DecisionSink& sink_;
  CycleMeter* const meter_;
  const OnAttemptFailed on_attempt_failed_;
  std::shared_ptr<FailedPatches> failed_patches_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_FAILURE_HANDLER_H_
