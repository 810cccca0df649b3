// Which pods are promised to which nodes and are not there yet: PostFilter nominated them, or
// somebody wrote status.nominatedNodeName.
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
  // The pod is nominated to `node`, and to no other any more.
  void Add(PodRef pod, std::string_view node);
  // Removes its nomination. False: it had none.
  bool Remove(std::string_view uid);
  // The pod changed. A status that names another node than it did before wins over what is here; a
  // status that has never named one leaves a nomination alone, for its writing may be under way.
  void Update(const PodRef& old, const PodRef& pod);

  // Empty: none.
  std::string_view NodeOf(std::string_view uid) const;
  // In the order in which they came. Lifetime: until the next change.
  std::span<const PodRef> PodsFor(std::string_view node) const;
  // Calls each(node, pods) for every node that has any, in no order.
  template <class F>
  void ForEachNode(F&& each) const {
    for (const auto& [node, pods] : pods_of_) {
      each(std::string_view(node), std::span<const PodRef>(pods));
    }
  }
  bool empty() const { return node_of_.empty(); }
  size_t size() const { return node_of_.size(); }
  // Grows with every change.
  uint64_t generation() const { return generation_; }

 private:
  StringMap<std::vector<PodRef>> pods_of_;  // By node.
  StringMap<std::string> node_of_;          // By uid.
  uint64_t generation_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_NOMINATOR_H_
