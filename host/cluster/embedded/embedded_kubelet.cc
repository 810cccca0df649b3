#include "host/cluster/embedded/embedded_kubelet.h"

#include <utility>

#include "host/api/assert.h"

namespace berth::host {

EmbeddedKubelet::EmbeddedKubelet(EmbeddedCluster& cluster, std::function<int64_t()> now_ns)
    : cluster_(cluster), now_ns_(std::move(now_ns)), watch_(cluster.StartWatch(kPodKind, *this)) {}

EmbeddedKubelet::Deletion EmbeddedKubelet::DeletionOf(const Pod& pod) {
  return {pod.meta().deleted_ns, std::string(pod.uid()), std::string(pod.ns()),
          std::string(pod.name())};
}

void EmbeddedKubelet::OnEvents(std::span<WatchEvent> events) {
  for (const WatchEvent& event : events) {
    if (event.type == WatchType::kModified || event.type == WatchType::kDeleted) {
      deletions_.erase(DeletionOf(*std::get<PodRef>(event.previous)));
    }
    if (event.type != WatchType::kAdded && event.type != WatchType::kModified) continue;
    const Pod& pod = *std::get<PodRef>(event.object);
    if (!pod.terminating() || pod.node_name().empty()) continue;
    if (pod.meta().deleted_ns < now_ns_()) continue;
    deletions_.insert(DeletionOf(pod));
  }
}

std::optional<int64_t> EmbeddedKubelet::NextNs() const {
  if (deletions_.empty()) return std::nullopt;
  return std::get<0>(*deletions_.begin());
}

size_t EmbeddedKubelet::RunDue() {
  const int64_t now_ns = now_ns_();
  size_t count = 0;
  while (!deletions_.empty() && std::get<0>(*deletions_.begin()) <= now_ns) {
    const auto [at_ns, uid, ns, name] = std::move(deletions_.extract(deletions_.begin()).value());
    // It may have gone meanwhile: the watch has not said so yet.
    count += cluster_.FinishDeletion({ns, name, uid}).ok() ? 1 : 0;
  }
  return count;
}

}  // namespace berth::host
