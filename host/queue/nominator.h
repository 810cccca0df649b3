// Records which pods are nominated to which nodes without being there yet, because of PostFilter or
// because status.nominatedNodeName names the node.
#ifndef BERTH_HOST_QUEUE_NOMINATOR_H_
#define BERTH_HOST_QUEUE_NOMINATOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/string_map.h"

namespace berth::host {

// (kube-scheduler: pkg/scheduler/backend/queue/nominator.go)
// Threading: the scheduling thread.
class Nominator {
 public:
  // Nominates the pod to `node` and removes any other nomination of the pod. An empty `node` only
  // removes it.
  void Add(PodRef pod, std::string_view node);
  // Removes the pod's nomination. Returns false if there was none.
  bool Remove(std::string_view uid);
  // Replaces the pod after it changed. If its status names another node than before, that node
  // replaces the recorded nomination. Otherwise the nomination stays: its status patch may still be
  // under way.
  void Update(const PodRef& old, const PodRef& pod);

  // Returns the node that the pod is nominated to; empty if there is none.
  std::string_view NodeOf(std::string_view uid) const;
  // Returns the pods nominated to the node, in the order in which they were added. Lifetime: until
  // the next change.
  std::span<const PodRef> PodsFor(std::string_view node) const;
  // Calls each(node, pods) for every node with nominated pods, in no particular order.
  template <class F>
  void ForEachNode(F&& each) const {
    for (const auto& [node, pods] : pods_of_) {
      each(std::string_view(node), std::span<const PodRef>(pods));
    }
  }
  bool empty() const { return node_of_.empty(); }
  size_t size() const { return node_of_.size(); }
  // Increases with every change.
  uint64_t generation() const { return generation_; }

 private:
  StringMap<std::vector<PodRef>> pods_of_;  // Nominated pods by node name.
  StringMap<std::string> node_of_;          // Node names by pod uid.
  uint64_t generation_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_NOMINATOR_H_
