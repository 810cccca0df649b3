// The text of the error for a pod with a term that cannot be parsed.
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_PARSE_ERROR_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_PARSE_ERROR_H_

#include <string>

#include <berth/plugin.h>

namespace affinity {

// Returns why terms of the pod cannot be parsed: one text for each list of terms, about its first
// wrong selector; empty if all can be parsed. An API server accepts no such pod.
// kube-scheduler: pkg/scheduler/framework/types.go, PodInfo.Update; apimachinery:
// LabelSelectorAsSelector
std::string ParseError(berth::Pod pod, const berth::Host& host);

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_PARSE_ERROR_H_
