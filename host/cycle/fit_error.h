// The message for a pod that fits no node, and the plugins that rejected it.
#ifndef BERTH_HOST_CYCLE_FIT_ERROR_H_
#define BERTH_HOST_CYCLE_FIT_ERROR_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/queue/queued_entity.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"
#include "host/runtime/points/run_pre_filter.h"

namespace berth::host {

// The results of the stages of one scheduling cycle that concern the nodes. A member has its
// default value if the cycle ended before its stage.
struct NodeFindings {
  PreFilterResult pre_filter = {};
  Filtered filtered = {};
  Ranked ranked = {};
};

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
//
// Returns kube-scheduler's message. Each reason is prefixed with the number of its nodes, and these
// strings are sorted. If PreFilter rejected the pod, its reasons replace those of the nodes. The
// text of PostFilter, `post_filter`, is appended unless it is empty.
// (kube-scheduler: pkg/scheduler/framework/types.go, FitError.Error)
std::string FitErrorMessage(const Attempt& attempt, const NodeFindings& findings,
                            std::string_view post_filter);

// Returns the same message for one node: the node for which Reserve or Permit rejected the pod.
std::string OneNodeFitError(std::span<const std::string> reasons);

// Returns the reason for nodes that are outside the subset which PreFilter plugins named.
std::string AbsentReason(const Plan& plan, const PreFilterResult& pre_filter);

// Returns the plugins that made the pod unschedulable; only events that they registered for requeue
// the pod. Rejection::plugins holds the plugins that rejected a node, the plugin that rejected
// the pod in PreFilter, and the plugins that restricted the pod to a subset of the nodes.
// Rejection::pending holds the plugins that answered Pending for a node. A plugin may be in both.
// (kube-scheduler: pkg/scheduler/framework/types.go, Diagnosis.AddPluginStatus)
Rejection RejectedBy(const Plan& plan, const NodeFindings& findings);

// Return the names of all plugins of RejectedBy(), and of all plugins of a rejection; sorted, for
// texts.
std::vector<std::string> RejectorNames(const Plan& plan, const NodeFindings& findings);
std::vector<std::string> NamesOf(const Plan& plan, const Rejection& rejection);

// "pod is waiting for the plugin acme.Rater: scores are requested"
//
// Returns the message for a pod that PreFilter or PreScore parks until the plugin activates it.
// `status`: that of the point, with the code Pending.
std::string AwaitedMessage(const Plan& plan, const PluginStatus& status);

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_FIT_ERROR_H_
