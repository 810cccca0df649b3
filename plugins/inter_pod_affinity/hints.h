// Queueing hints of InterPodAffinity: which cluster events may make a rejected pod schedulable.
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_HINTS_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_HINTS_H_

#include <berth/plugin.h>
#include <berth/topology_index.h>

namespace affinity {

// Returns whether the event may help a pod that the plugin rejected. These events do:
// - the labels of the pod itself change;
// - a pod on a node is added or relabelled, so that all required affinity terms mean it;
// - a pod on a node is deleted or relabelled, so that a required anti-affinity term no longer means
//   it, or so that the pod may become the first one of a set with affinity to each other;
// - a pod on a node is deleted that had a required anti-affinity term which means the pod;
// - a node is added that has the key of a required affinity term, or gets the key or another value;
// - any node is added, or a node is removed, loses the key of a term or gets another value, if the
//   pod has required anti-affinity, or if pods on nodes have required anti-affinity to it;
// - a node with the key of a required affinity term is removed, loses the key or gets another
//   value, so that the pod may become the first one of a set;
// - a Namespace is added, relabelled or deleted, so that all required affinity terms begin to mean
//   pods in it, or cease to, so that the pod may become the first one of a set;
// - a Namespace is relabelled or deleted, so that a required anti-affinity term of the pod ceases
//   to mean pods in it;
// - the Namespace of the pod is added, relabelled or deleted, so that a required anti-affinity term
//   of a pod on a node ceases to mean the pod.
// kube-scheduler: interpodaffinity/plugin.go, isSchedulableAfterPodChange,
// isSchedulableAfterNodeChange. Up to 1.36, a pod that several anti-affinity terms keep out waits
// until all of them stop to mean a pod, and a pod without terms of its own waits for no node. Here
// one term, and a node, are enough. kube-scheduler has no event for namespaces and for the removal
// of nodes.
bool Helps(berth::Pod pod, const berth::Event& event, const berth::TopologyIndex& index,
           const berth::Host& host);

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_HINTS_H_
