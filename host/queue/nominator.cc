#include "host/queue/nominator.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

auto FindPod(std::vector<PodRef>& pods, std::string_view uid) {
  const auto found = std::ranges::find(pods, uid, [](const PodRef& pod) { return pod->uid(); });
  BERTH_ASSERT(found != pods.end());
  return found;
}

}  // namespace

void Nominator::Add(PodRef pod, std::string_view node) {
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
  ++generation_;
}

bool Nominator::Remove(std::string_view uid) {
  const auto found = node_of_.find(uid);
  if (found == node_of_.end()) return false;
  const auto pods = pods_of_.find(found->second);
  pods->second.erase(FindPod(pods->second, uid));
  if (pods->second.empty()) pods_of_.erase(pods);
  node_of_.erase(found);
  ++generation_;
  return true;
}

void Nominator::Update(const PodRef& old, const PodRef& pod) {
  const std::string_view node = pod->nominated_node();
  Add(pod, node != old->nominated_node() ? node : NodeOf(pod->uid()));
}

std::string_view Nominator::NodeOf(std::string_view uid) const {
  const auto found = node_of_.find(uid);
  return found != node_of_.end() ? std::string_view(found->second) : std::string_view();
}

std::span<const PodRef> Nominator::PodsFor(std::string_view node) const {
  const auto found = pods_of_.find(node);
  return found != pods_of_.end() ? std::span<const PodRef>(found->second)
                                 : std::span<const PodRef>();
}

}  // namespace berth::host
