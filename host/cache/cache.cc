#include "host/cache/cache.h"

#include <utility>

namespace berth::host {

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
  Drop(place);
  return {};
}

Status Cache::AddPod(PodRef pod) {
  if (pod->view().node_name == kNoId) {
    return Status::InvalidArgument("pod " + pod->Key() + " has no node");
  }
  if (const auto place = pods_.find(pod->uid()); place != pods_.end()) {
    if (!place->second.assumed) {
      return Status::AlreadyExists("pod " + pod->Key() + " was already in added state");
    }
    Drop(place);
  }
  const Row row = table_.RowForPodsOf(pod->node_name());
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
  // In before out: a ghost's only pod must not take its row along.
  const Row row = place->second.row;
  table_.AddPod(row, pod);
  table_.RemovePod(row, &place->second.pod->view());
  place->second.pod = std::move(pod);
  return {};
}

Status Cache::RemovePod(std::string_view uid) {
  const auto place = pods_.find(uid);
  if (place == pods_.end()) {
    return Status::NotFound("pod " + std::string(uid) + " is not in the cache");
  }
  Drop(place);
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

void Cache::Put(PodRef pod, Row row, bool assumed) {
  std::string uid(pod->uid());
  table_.AddPod(row, pod);
  const bool fresh = pods_.emplace(std::move(uid), Place{std::move(pod), row, assumed}).second;
  BERTH_ASSERT(fresh);
  assumed_count_ += assumed;
}

void Cache::Drop(StringMap<Place>::iterator place) {
  assumed_count_ -= place->second.assumed;
  table_.RemovePod(place->second.row, &place->second.pod->view());
  pods_.erase(place);
}

}  // namespace berth::host
