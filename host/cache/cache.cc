#include "host/cache/cache.h"

#include <utility>

namespace berth::host {

void Cache::SetNode(NodeRef node) {
  // Held until it was shown.
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
  Put(std::move(pod), row, true);
  return {};
}

Status Cache::ForgetPod(std::string_view uid) {
  const auto place = pods_.find(uid);
  if (place == pods_.end()) return {};
  if (!place->second.assumed) {
    return Status::Conflict("pod " + place->second.pod->Key() +
                            " was confirmed by the cluster, so it can't be forgotten");
  }
  Drop(place, true);
  return {};
}

Status Cache::AddPod(PodRef pod) {
  if (pod->view().node_name == kNoId) {
    return Status::InvalidArgument("pod " + pod->Key() + " has no node");
  }
  const auto place = pods_.find(pod->uid());
  if (place != pods_.end() && !place->second.assumed) {
    return Status::AlreadyExists("pod " + pod->Key() + " was already in added state");
  }
  // Before it leaves where it was assumed: a ghost's only pod must not take its row along.
  const Row row = table_.RowForPodsOf(pod->node_name());
  if (place != pods_.end()) {
    if (place->second.row == row) {
      place->second.assumed = false;
      --assumed_count_;
      Replace(place->second, std::move(pod));
      return {};
    }
    Drop(place, false);
  }
  Put(std::move(pod), row, false);
  return {};
}

Status Cache::UpdatePod(PodRef pod) {
  const auto place = pods_.find(pod->uid());
  if (place == pods_.end() || place->second.assumed) {
    return Status::NotFound("pod " + pod->Key() + " is not added to the cache, so it can't change");
  }
  if (pod->view().node_name != place->second.pod->view().node_name) {
    return Status::Conflict("pod " + pod->Key() + " moved from node " +
                            std::string(place->second.pod->node_name()) + " to " +
                            std::string(pod->node_name()));
  }
  Replace(place->second, std::move(pod));
  return {};
}

Status Cache::RemovePod(std::string_view uid) {
  const auto place = pods_.find(uid);
  if (place == pods_.end()) {
    return Status::NotFound("pod " + std::string(uid) + " is not in the cache");
  }
  Drop(place, false);
  return {};
}

bool Cache::IsAssumed(std::string_view uid) const {
  const auto place = pods_.find(uid);
  return place != pods_.end() && place->second.assumed;
}

Row Cache::RowOf(std::string_view uid) const {
  const auto place = pods_.find(uid);
  return place != pods_.end() ? place->second.row : kNoRow;
}

PodRef Cache::PodOf(std::string_view uid) const {
  const auto place = pods_.find(uid);
  return place != pods_.end() ? place->second.pod : nullptr;
}

void Cache::Put(PodRef pod, Row row, bool assumed) {
  std::string uid(pod->uid());
  table_.AddPod(row, pod);
  const auto [place, fresh] = pods_.emplace(std::move(uid), Place{std::move(pod), row, assumed});
  BERTH_ASSERT(fresh);
  assumed_count_ += assumed;
  if (observer_ != nullptr) observer_->OnPodAdded(row, place->second.pod, assumed);
}

void Cache::Replace(Place& place, PodRef pod) {
  // In before out: a ghost's only pod must not take its row along.
  table_.AddPod(place.row, pod);
  table_.RemovePod(place.row, &place.pod->view());
  const PodRef old = std::exchange(place.pod, std::move(pod));
  if (observer_ != nullptr) observer_->OnPodChanged(place.row, old, place.pod);
}

void Cache::Drop(StringMap<Place>::iterator place, bool forgotten) {
  if (observer_ != nullptr) {
    observer_->OnPodRemoved(place->second.row, place->second.pod, forgotten);
  }
  assumed_count_ -= place->second.assumed;
  table_.RemovePod(place->second.row, &place->second.pod->view());
  pods_.erase(place);
}

}  // namespace berth::host
