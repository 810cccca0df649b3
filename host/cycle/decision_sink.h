// Observers of scheduling decisions: the interface, and the one that writes the log.
#ifndef BERTH_HOST_CYCLE_DECISION_SINK_H_
#define BERTH_HOST_CYCLE_DECISION_SINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/time_units.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// Why a scheduling cycle or a binding cycle ended without a bound pod.
struct Failure {
  // Decides the reason that is reported: SchedulerError for BERTH_ERROR, Unschedulable for any
  // other code; BERTH_SKIP is a pod that is being deleted. Whether the pod is parked or backs off
  // depends on `rejection` alone. In a group,
  // BERTH_ERROR of one member makes the whole group back off.
  berth_code code = BERTH_ERROR;
  // The text of the event and of the pod's condition, as kube-scheduler words it.
  std::string message = {};
  // The plugins that rejected the pod; it is parked for their events. Empty: the pod backs off.
  Rejection rejection = {};
  // If true, the pod is nominated to `nominated_node`, or to no node if that is empty. If false,
  // the pod keeps its nomination.
  bool overrides_nomination = true;
  std::string nominated_node = {};
  // The pod is not tried again, because the cluster has reported that it was deleted, or that it is
  // on a node: another client has bound it, or this Bind succeeded after all. FailureHandler sets
  // it.
  bool is_final = false;
  // A plugin missed its deadline for this pod, which is tried again after a longer time; see
  // SchedulingQueue::Return(). The message names the plugin.
  bool is_slow = false;
};

// Called between scheduling cycles, in the order of the decisions.
// Threading: the scheduling thread.
// Must not:  call the scheduler.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;

  // The pod has a reservation on a node. It may have to wait on Permit; otherwise its binding
  // begins.
  virtual void OnAssumed(const PodRef& /*pod*/, std::string_view /*node*/) {}
  // The pod is bound to the node.
  virtual void OnBound(const PodRef& /*pod*/, std::string_view /*node*/) {}
  // The pod is not bound. `node`: the node that it had been given; empty if no node was found.
  virtual void OnFailed(const PodRef& /*pod*/, std::string_view /*node*/,
                        const Failure& /*failure*/) {}
  // The pod was not tried, because it is being deleted.
  virtual void OnSkipped(const PodRef& /*pod*/, std::string_view /*message*/) {}
};

// --- decision log --------------------------------------------------------------------------------
//
// Writes decisions to the log, as kube-scheduler does.

// The logger of the records that the scheduling loop and its parts write.
inline constexpr std::string_view kSchedulingLogger = "scheduling";

// Writes a record for each decision and passes the decision on:
//   debug  "Assumed" pod node
//   info   "Bound" pod node profile
//   info   "Pod waits for a plugin" pod err [nominatedNode]
//   info   "Unable to schedule pod; no fit; waiting" pod err [node] [nominatedNode]
//   error  "Error scheduling pod; retrying" pod err [node] [nominatedNode]
//   info   "Pod is being deleted; not retrying" pod err [node] [nominatedNode]
//   info   "Pod was deleted or bound meanwhile; not retrying" pod err [node]
//   info   "Skip schedule deleting pod" pod err
// The third record is about a pod that waits until a plugin activates it, the fourth record about
// another failure after which the pod is parked, the sixth record about any other failure of a pod
// whose deletion has begun, which the next attempt skips, the seventh record about one after which
// the pod is not tried again (Failure::is_final), and the fifth record about any other failure. The
// fourth, the fifth and the last text are those of kube-scheduler (pkg/scheduler/schedule_one.go).
//
// A pod that goes on failing for the same reason is written once in kRepeatNs, with the number of
// failures since the last record as `repeats`, so that thousands of pending pods do not fill the
// log. Two reasons are the same if they have the same parts without their numbers, in any order:
// "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable" and "0/7 nodes are
// available: 1 node(s) were unschedulable, 6 Insufficient cpu". The failures between are written at
// the level debug. The count is lost if the pod fails for another reason first.
//
// Lifetime: the clock and the sink must outlive it.
// Memory:   about 60 bytes for each pod that failed in the last kRepeatNs and is not bound; those
//           of pods that failed earlier are freed when as many others have failed.
class DecisionLog final : public DecisionSink {
 public:
  static constexpr int64_t kRepeatNs = 5 * kMinute;

  DecisionLog(Log log, const Clock& clock, DecisionSink& next)
      : log_(log), clock_(clock), next_(next) {}

  DecisionSink& next() { return next_; }

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;

 private:
  // The last record about a failure of a pod.
  struct Written {
    uint64_t reason = 0;  // A hash of the record, and of the parts of its text without numbers.
    int64_t at_ns = 0;
    uint32_t repeats = 0;  // Failures for this reason since then.
  };

  // Returns the number of failures since the last record, if a record about this failure is due.
  std::optional<uint32_t> TakeRepeats(const Pod& pod, std::string_view record,
                                      std::string_view text);
  void ForgetOldRecords(int64_t now_ns);
  void Forget(const Pod& pod);

  const Log log_;
  const Clock& clock_;
  DecisionSink& next_;
  std::unordered_map<uint64_t, Written> written_;  // By the hash of the pod's UID.
  size_t next_sweep_ = 1024;                       // The size at which old records are forgotten.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_DECISION_SINK_H_
