// The JSON of pods and nodes, whose texts the embedded cluster keeps if a plugin needs them, and
// the rules for changing it.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_WHOLE_OBJECT_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_WHOLE_OBJECT_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Returns a pod or node as JSON: its text with the changes that only the view has, which are the
// metadata that the server determines, spec.nodeName, status.nominatedNodeName and conditions. The
// message of a condition that the scheduler wrote is known for PodScheduled alone:
// `scheduled_message`, which may be empty. managedFields are left out.
// Errors: kInternal for a text that a decoder accepts but that is not JSON, or that is nested
//         deeper than kMaxBodyDepth.
// REQUIRES: the text was kept; see KeptText().
Result<nlohmann::ordered_json> WholeObject(const AnyObject& object,
                                           std::string_view scheduled_message);

// Returns the message of the condition PodScheduled in the JSON of a pod; "" if there is none.
std::string PodScheduledMessageIn(const nlohmann::ordered_json& pod);

// Completes and checks the update of a pod or node, or of its status, as an API server does. Of
// labels and annotations only the size is checked, and a decoder checks the types of all fields.
//
// Completes: metadata that only the server changes, and what the patch removed of it. A request for
// the status keeps the spec, and any other request keeps the status.
// kube-apiserver: registry/core/{pod,node}/strategy.go; apiserver: registry/rest/update.go.
//
// Errors:  kConflict if metadata.resourceVersion is not the current one.
//          kInvalidArgument for another name, namespace or kind.
//          kInvalidArgument as InvalidError() for a change of a field that cannot be changed: the
//          uid and other metadata; of a pod's spec all but images, activeDeadlineSeconds,
//          terminationGracePeriodSeconds from a negative value to 1, more tolerations, fewer
//          scheduling gates, and more nodeSelector while the pod is gated; podCIDRs and providerID
//          of a node that has them. Unlike an API server, it refuses changes of the node affinity
//          of a gated pod, and compares values as they are written, without defaults.
// REQUIRES: `kind` is kPodKind or kNodeKind, and `before` is the result of WholeObject().
Status PrepareUpdate(std::string_view kind, bool is_status, const nlohmann::ordered_json& before,
                     nlohmann::ordered_json& after);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_WHOLE_OBJECT_H_
