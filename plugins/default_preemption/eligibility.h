// Whether a pod may preempt others now.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_ELIGIBILITY_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_ELIGIBILITY_H_

#include <span>
#include <string_view>

#include <berth/abi.h>
#include <berth/host.h>
#include <berth/pod.h>

namespace preemption {

// Returns whether a pod of this priority may take the place of the other pod.
inline bool MayPreempt(const berth_pod& pod, const berth_pod& other) {
  return other.priority < pod.priority;
}

// Reads pods with the ids of one host.
//
// kube-scheduler: defaultpreemption/default_preemption.go, PodEligibleToPreemptOthers.
class Eligibility {
 public:
  explicit Eligibility(const berth::Host& host);

  // Returns why the pod must not preempt; empty if it may. `nominated_node`: the pods on the node
  // to which the pod is nominated, unless preemption cannot help there; empty for none.
  std::string_view WhyNot(const berth_pod& pod,
                          std::span<const berth_pod* const> nominated_node) const;

 private:
  // Returns whether the pod is being deleted because it was preempted.
  bool IsPreempted(const berth_pod& pod) const;

  const berth_id disruption_target_;
  const berth_id by_scheduler_;
};

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_ELIGIBILITY_H_
