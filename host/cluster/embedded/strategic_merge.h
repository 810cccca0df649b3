// Strategic merge patches of pods and nodes.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STRATEGIC_MERGE_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STRATEGIC_MERGE_H_

#include <string_view>

#include <nlohmann/json.hpp>

#include "host/base/status.h"

namespace berth::host {

// Applies a strategic merge patch to an object of `kind` as an API server does.
//
//   objects   are merged member by member, and null removes a member.
//   lists     are replaced, except those to which the API gives a merge key
//             (k8s.io/api/core/v1/types.go, patchMergeKey): an element of the patch is merged into
//             the element with the same key, or is added. Containers are merged by name, their
//             ports by containerPort, conditions by type. Tolerations and taints are replaced.
//             Finalizers and podCIDRs are sets of texts, and the patch adds to them.
//   "$patch": "replace"         the object that has it replaces its counterpart; as an element, all
//                               other elements replace the list.
//   "$patch": "delete"          empties the object; as an element, removes the elements with its
//                               key.
//   "$retainKeys": [...]        removes all other members of the object.
//   "$deleteFromPrimitiveList/finalizers": [...]   removes texts of a set.
//   "$setElementOrder/containers": [...]           orders a merged list.
//
// Without "$setElementOrder" the elements of the patch keep the order of the patch, and all others
// that of the list.
// apimachinery: util/strategicpatch/patch.go.
//
// Returns: the patched object. A kind without merge keys is merged with lists that are replaced.
// Errors:  kInvalidArgument, with the JSON pointer of the place, for a patch that is malformed: a
//          directive of another form, an element without its merge key, a list within a merged
//          list, an order that contradicts the patch. For some of these an API server answers with
//          500 or 422.
// REQUIRES: `object` and `patch` are objects that are not nested deeper than kMaxBodyDepth.
Result<nlohmann::ordered_json> StrategicMerge(std::string_view kind, nlohmann::ordered_json object,
                                              nlohmann::ordered_json patch);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STRATEGIC_MERGE_H_
