// Writes decisions to the log, as kube-scheduler does.
#ifndef BERTH_HOST_CYCLE_DECISION_LOG_H_
#define BERTH_HOST_CYCLE_DECISION_LOG_H_

#include <string_view>

#include "host/base/log.h"
#include "host/cycle/decision_sink.h"

namespace berth::host {

// The logger of the records that the scheduling loop and its parts write.
inline constexpr std::string_view kSchedulingLogger = "scheduling";

// Writes a record for each decision and passes the decision on:
//   debug  "Assumed" pod node
//   info   "Bound" pod node profile
//   info   "Unable to schedule pod; no fit; waiting" pod err [node] [nominatedNode]
//   error  "Error scheduling pod; retrying" pod err [node] [nominatedNode]
//   info   "Pod is being deleted; not retrying" pod err [node] [nominatedNode]
//   info   "Pod was deleted or bound meanwhile; not retrying" pod err [node]
//   info   "Skip schedule deleting pod" pod err
// The third record is about a failure after which the pod is parked, the fifth record about any
// other failure of a pod whose deletion has begun, which the next attempt skips, the sixth record
// about one after which the pod is not tried again (Failure::is_final), and the fourth record about
// any other failure. The third, the fourth and the last text are those of kube-scheduler
// (pkg/scheduler/schedule_one.go).
// Lifetime: the sink must outlive it.
class DecisionLog final : public DecisionSink {
 public:
  DecisionLog(Log log, DecisionSink& next) : log_(log), next_(next) {}

  DecisionSink& next() { return next_; }

  void OnAssumed(const PodRef& pod, std::string_view node) override;
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;

 private:
  const Log log_;
  DecisionSink& next_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_DECISION_LOG_H_
