#include "host/cache/cache.h"

#include <utility>

namespace berth::host {

void Cache::SetNode(NodeRef node) {
  // Keep the old object alive until the observer was called with it.
  const Row before = table_.FindNode(node->name());
  const NodeRef old = before != kNoRow ? table_.node(before) : nullptr;
  const Row row = table_.SetNode(std::move(node));
  if (observer_ == nullptr) return;
  if (old != nullptr) {
    observer_->OnNodeChanged(row, old, table_.node(row));
  } else {
    observer_->OnNodeAdded(row, table_.node(row));
  }
}

void Cache::RemoveNode(std::string_view name) {
  const Row row = table_.FindNode(name);
  if (row == kNoRow) return;
  if (observer_ != nullptr) observer_->OnNodeRemoved(row, table_.node(row));
  table_.RemoveNode(name);
}

Status Cache::AssumePod(PodRef pod, Row row) {
  if (pods_.contains(pod->uid())) {
    return Status::AlreadyExists("pod " + pod->Key() + " is in the cache, so it can't be assumed");
  }
  Insert(std::move(pod), row, true);
  return {};
}

Status Cache::ForgetPod(std::string_view uid) {
  const auto cached = pods_.find(uid);
  if (cached == pods_.end()) return {};
  if (!cached->second.assumed) {
    return Status::Conflict("pod " + cached->second.pod->Key() +
                            " was confirmed by the cluster, so it can't be forgotten");
  }
  Erase(cached, true);
  return {};
}

Status Cache::AddPod(PodRef pod) {
  if (pod->view().node_name == kNoId) {
    return Status::InvalidArgument("pod " + pod->Key() + " has no node");
  }
  const auto cached = pods_.find(pod->uid());
  if (cached != pods_.end() && !cached->second.assumed) {
    // The text of kube-scheduler. (pkg/scheduler/backend/cache/cache.go, AddPod)
    return Status::AlreadyExists("pod " + pod->Key() + " was already in added state");
  }
  // Find the row before removing the assumed pod: removing the last pod of a row without a node
  // would release that row.
  const Row row = table_.RowForPodsOf(pod->node_name());
  if (cached != pods_.end()) {
    if (cached->second.row == row) {
      cached->second.assumed = false;
      --assumed_count_;
      Replace(cached->second, std::move(pod));
      return {};
    }
    Erase(cached, false);
  }
  Insert(std::move(pod), row, false);
  return {};
}

Status Cache::UpdatePod(PodRef pod) {
  const auto cached = pods_.find(pod->uid());
  if (cached == pods_.end() || cached->second.assumed) {
    return Status::NotFound("pod " + pod->Key() +
                            " is not added to the cache, so it can't be updated");
  }
  if (pod->view().node_name != cached->second.pod->view().node_name) {
    return Status::Conflict("pod " + pod->Key() + " moved from node " +
                            std::string(cached->second.pod->node_name()) + " to " +
                            std::string(pod->node_name()));
  }
  Replace(cached->second, std::move(pod));
  return {};
}

Status Cache::RemovePod(std::string_view uid) {
  const auto cached = pods_.find(uid);
  if (cached == pods_.end()) {
    return Status::NotFound("pod " + std::string(uid) + " is not in the cache");
  }
  Erase(cached, false);
  return {};
}

bool Cache::IsAssumed(std::string_view uid) const {
  const auto cached = pods_.find(uid);
  return cached != pods_.end() && cached->second.assumed;
}

Row Cache::RowOf(std::string_view uid) const {
  const auto cached = pods_.find(uid);
  return cached != pods_.end() ? cached->second.row : kNoRow;
}

PodRef Cache::PodOf(std::string_view uid) const {
  const auto cached = pods_.find(uid);
  return cached != pods_.end() ? cached->second.pod : nullptr;
}

void Cache::Insert(PodRef pod, Row row, bool assumed) {
  std::string uid(pod->uid());
  table_.AddPod(row, pod);
  const auto [cached, fresh] =
      pods_.emplace(std::move(uid), CachedPod{std::move(pod), row, assumed});
  BERTH_ASSERT(fresh);
  assumed_count_ += assumed;
  if (observer_ != nullptr) observer_->OnPodAdded(row, cached->second.pod, assumed);
}

void Cache::Replace(CachedPod& cached, PodRef pod) {
  // Add before removing: removing the last pod of a row without a node would release that row.
  table_.AddPod(cached.row, pod);
  table_.RemovePod(cached.row, &cached.pod->view());
  const PodRef old = std::exchange(cached.pod, std::move(pod));
  if (observer_ != nullptr) observer_->OnPodChanged(cached.row, old, cached.pod);
}

void Cache::Erase(StringMap<CachedPod>::iterator cached, bool forgotten) {
  if (observer_ != nullptr) {
    observer_->OnPodRemoved(cached->second.row, cached->second.pod, forgotten);
  }
  assumed_count_ -= cached->second.assumed;
  table_.RemovePod(cached->second.row, &cached->second.pod->view());
  pods_.erase(cached);
}

}  // namespace berth::host
