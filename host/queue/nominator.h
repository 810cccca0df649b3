// Records which pods are nominated to which nodes without being there yet, because of PostFilter or
// because status.nominatedNodeName names the node.
#ifndef BERTH_HOST_QUEUE_NOMINATOR_H_
#define BERTH_HOST_QUEUE_NOMINATOR_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/string_map.h"

namespace berth::host {

// (kube-scheduler: pkg/scheduler/backend/queue/nominator.go)
// Threading: the scheduling thread.
class Nominator {
 public:
  // Returns whether an attempt of `pod` counts the nominated pod on its node: if it has the same or
  // a higher priority.
  static bool CountsAgainst(const berth_pod& nominated, const berth_pod& pod) {
    return nominated.priority >= pod.priority && Text(nominated.meta->uid) != Text(pod.meta->uid);
  }

  // Nominates the pod to `node` and removes any other nomination of the pod. An empty `node` only
  // removes it.
  void Add(PodRef pod, std::string_view node) {
    if (node.empty()) {
      Remove(pod->uid());
      return;
    }
    if (NodeOf(pod->uid()) == node) {
      std::vector<PodRef>& pods = pods_of_.find(node)->second;
      *FindPod(pods, pod->uid()) = std::move(pod);
    } else {
      Remove(pod->uid());
      node_of_.emplace(pod->uid(), node);
      pods_of_[std::string(node)].push_back(std::move(pod));
    }
  }
  // Removes the pod's nomination. Returns false if there was none.
  bool Remove(std::string_view uid) {
    const auto found = node_of_.find(uid);
    if (found == node_of_.end()) return false;
    const auto pods = pods_of_.find(found->second);
    pods->second.erase(FindPod(pods->second, uid));
    if (pods->second.empty()) pods_of_.erase(pods);
    node_of_.erase(found);
    return true;
  }
  // Replaces the pod after it changed. If its status names another node than before, that node
  // replaces the recorded nomination. Otherwise the nomination stays: its status patch may still be
  // under way.
  void Update(const PodRef& old, const PodRef& pod) {
    const std::string_view node = pod->nominated_node();
    Add(pod, node != old->nominated_node() ? node : NodeOf(pod->uid()));
  }

  // Returns the node that the pod is nominated to; empty if there is none.
  std::string_view NodeOf(std::string_view uid) const {
    const auto found = node_of_.find(uid);
    return found != node_of_.end() ? std::string_view(found->second) : std::string_view();
  }
  // Returns the pods nominated to the node, in the order in which they were added. Lifetime: until
  // the next change.
  std::span<const PodRef> PodsFor(std::string_view node) const {
    const auto found = pods_of_.find(node);
    return found != pods_of_.end() ? std::span<const PodRef>(found->second)
                                   : std::span<const PodRef>();
  }
  // Calls each(node, pods) for every node with nominated pods, in no particular order.
  template <class F>
  void ForEachNode(F&& each) const {
    for (const auto& [node, pods] : pods_of_) {
      each(std::string_view(node), std::span<const PodRef>(pods));
    }
  }
  bool empty() const { return node_of_.empty(); }
  size_t size() const { return node_of_.size(); }

 private:
  static std::vector<PodRef>::iterator FindPod(std::vector<PodRef>& pods, std::string_view uid) {
    const auto found = std::ranges::find(pods, uid, [](const PodRef& pod) { return pod->uid(); });
    BERTH_ASSERT(found != pods.end());
    return found;
  }

  StringMap<std::vector<PodRef>> pods_of_;  // Nominated pods by node name.
  StringMap<std::string> node_of_;          // Node names by pod uid.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_NOMINATOR_H_
