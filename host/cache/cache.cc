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
  if (pods_.Find(pod->uid()) != nullptr) {
    return Status::AlreadyExists("pod " + pod->Key() + " is in the cache, so it can't be assumed");
  }
  Insert(std::move(pod), row, true);
  return {};
}

Status Cache::ForgetPod(std::string_view uid) {
  const CachedPod* const cached = pods_.Find(uid);
  if (cached == nullptr) return {};
  if (!cached->assumed) {
    return Status::Conflict("pod " + cached->pod->Key() +
                            " was confirmed by the cluster, so it can't be forgotten");
  }
  Erase(*cached, true);
  return {};
}

Status Cache::AddPod(PodRef pod) {
  if (pod->view().node_name == kNoId) {
    return Status::InvalidArgument("pod " + pod->Key() + " has no node");
  }
  CachedPod* const cached = pods_.Find(pod->uid());
  if (cached != nullptr && !cached->assumed) {
    // The text of kube-scheduler. (pkg/scheduler/backend/cache/cache.go, AddPod)
    return Status::AlreadyExists("pod " + pod->Key() + " was already in added state");
  }
  // Find the row before removing the assumed pod: removing the last pod of a row without a node
  // would release that row.
  const Row row = table_.RowForPodsOf(pod->node_name());
  if (cached != nullptr) {
    if (cached->row == row) {
      cached->assumed = false;
      --assumed_count_;
      Replace(*cached, std::move(pod));
      return {};
    }
    Erase(*cached, false);
  }
  Insert(std::move(pod), row, false);
  return {};
}

Status Cache::UpdatePod(PodRef pod) {
  CachedPod* const cached = pods_.Find(pod->uid());
  if (cached == nullptr || cached->assumed) {
    return Status::NotFound("pod " + pod->Key() +
                            " is not added to the cache, so it can't be updated");
  }
  if (pod->view().node_name != cached->pod->view().node_name) {
    return Status::Conflict("pod " + pod->Key() + " moved from node " +
                            std::string(cached->pod->node_name()) + " to " +
                            std::string(pod->node_name()));
  }
  Replace(*cached, std::move(pod));
  return {};
}

Status Cache::RemovePod(std::string_view uid) {
  const CachedPod* const cached = pods_.Find(uid);
  if (cached == nullptr) {
    return Status::NotFound("pod " + std::string(uid) + " is not in the cache");
  }
  Erase(*cached, false);
  return {};
}

bool Cache::IsAssumed(std::string_view uid) const {
  const CachedPod* const cached = pods_.Find(uid);
  return cached != nullptr && cached->assumed;
}

Row Cache::RowOf(std::string_view uid) const {
  const CachedPod* const cached = pods_.Find(uid);
  return cached != nullptr ? cached->row : kNoRow;
}

PodRef Cache::PodOf(std::string_view uid) const {
  const CachedPod* const cached = pods_.Find(uid);
  return cached != nullptr ? cached->pod : nullptr;
}

void Cache::Insert(PodRef pod, Row row, bool assumed) {
  table_.AddPod(row, pod);
  const auto [cached, fresh] = pods_.Add({std::move(pod), row, assumed});
  BERTH_ASSERT(fresh);
  assumed_count_ += assumed;
  if (observer_ != nullptr) observer_->OnPodAdded(row, cached->pod, assumed);
}

void Cache::Replace(CachedPod& cached, PodRef pod) {
  // Add before removing: removing the last pod of a row without a node would release that row.
  table_.AddPod(cached.row, pod);
  table_.RemovePod(cached.row, &cached.pod->view());
  const PodRef old = std::exchange(cached.pod, std::move(pod));
  if (observer_ != nullptr) observer_->OnPodChanged(cached.row, old, cached.pod);
}

void Cache::Erase(const CachedPod& cached, bool forgotten) {
  if (observer_ != nullptr) observer_->OnPodRemoved(cached.row, cached.pod, forgotten);
  assumed_count_ -= cached.assumed;
  table_.RemovePod(cached.row, &cached.pod->view());
  pods_.Take(cached.pod->uid());
}

}  // namespace berth::host
