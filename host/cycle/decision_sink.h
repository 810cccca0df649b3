// Who is told what was decided.
#ifndef BERTH_HOST_CYCLE_DECISION_SINK_H_
#define BERTH_HOST_CYCLE_DECISION_SINK_H_

#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// Why an attempt or a binding ended without a bound pod.
struct Failure {
  // Unschedulable: plugins said no. Error: something went wrong; it is tried again.
  berth_code code = BERTH_ERROR;
  std::string message =
      {};  // As kube-scheduler words it: the event's note, the condition's message.
  Rejection rejection = {};  // Who said no. Empty for errors.
  // False: the pod's nomination stays as it is. True: it becomes `nominated_node`; empty: none.
  bool overrides_nomination = true;
  std::string nominated_node = {};
};

// Called between attempts and in the order of the decisions.
// Threading: the scheduling thread.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;

  // A node was found and reserved; the pod may wait on Permit, or its binding is under way.
  virtual void OnAssumed(const PodRef& pod, std::string_view node) {
    static_cast<void>(pod);
    static_cast<void>(node);
  }
  virtual void OnBound(const PodRef& pod, std::string_view node) {
    static_cast<void>(pod);
    static_cast<void>(node);
  }
  // `node`: the one that it had been given; empty when the attempt found none.
  virtual void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
    static_cast<void>(pod);
    static_cast<void>(node);
    static_cast<void>(failure);
  }
  // Not tried, for it is being deleted.
  virtual void OnSkipped(const PodRef& pod, std::string_view message) {
    static_cast<void>(pod);
    static_cast<void>(message);
  }
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_DECISION_SINK_H_
