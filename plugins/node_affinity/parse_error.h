// The text of the error for a pod with a preferred term that cannot be parsed.
#ifndef BERTH_PLUGINS_NODE_AFFINITY_PARSE_ERROR_H_
#define BERTH_PLUGINS_NODE_AFFINITY_PARSE_ERROR_H_

#include <string>

#include <berth/plugin.h>

#include "terms.h"

namespace affinity {

// Returns why the first of the preferred terms that cannot be parsed is wrong, with the path of the
// wrong field, its value and the key of its requirement; empty if all can be parsed. A term with
// weight 0 is not parsed. An API server accepts no such pod.
// The words are those of kube-scheduler, which begins the path at the index of the term and does
// not name the key: component-helpers, scheduling/corev1/nodeaffinity/nodeaffinity.go,
// NewPreferredSchedulingTerms; apimachinery, pkg/labels/selector.go, NewRequirement.
std::string PreferredParseError(NodeTerms terms, const berth::Host& host);

}  // namespace affinity

#endif  // BERTH_PLUGINS_NODE_AFFINITY_PARSE_ERROR_H_
