#include "tests/simulation/bind_audit.h"

namespace berth::host {

void BindAudit::OnExecuted(const PodName& pod, std::string_view node, const Status& status) {
  if (!status.ok()) return;
  const std::string uid(pod.uid);
  if (!bound_.emplace(uid, node).second) findings_.Add("a pod was bound twice: " + uid);
  const PodRef stored = cluster_.FindPod(pod.ns, pod.name);
  if (stored == nullptr || stored->uid() != pod.uid || stored->node_name() != node) {
    return findings_.Add("the cluster bound another pod instead of " + uid);
  }
  room_.CheckNode(node);
}

std::string_view BindAudit::NodeOf(std::string_view uid) const {
  const auto found = bound_.find(uid);
  return found == bound_.end() ? std::string_view() : found->second;
}

}  // namespace berth::host
