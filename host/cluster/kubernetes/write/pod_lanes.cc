#include "host/cluster/kubernetes/write/pod_lanes.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

std::string LaneKey(std::string_view ns, std::string_view name) {
  return std::string(ns).append(1, '/').append(name);
}

}  // namespace

void PodLanes::Add(std::string_view ns, std::string_view name, Start start) {
  std::string key = LaneKey(ns, name);
  const auto [place, is_new] = lanes_.try_emplace(std::move(key));
  place->second.waiting.push_back(std::move(start));
  if (is_new) StartNext(place->first, place->second);
}

void PodLanes::Finish(std::string_view ns, std::string_view name) {
  const auto place = lanes_.find(LaneKey(ns, name));
  BERTH_ASSERT(place != lanes_.end() && place->second.is_under_way);
  Lane& lane = place->second;
  lane.is_under_way = false;
  if (!lane.is_starting) StartNext(place->first, lane);
}

void PodLanes::StartNext(const std::string& key, Lane& lane) {
  lane.is_starting = true;
  while (!lane.is_under_way && !lane.waiting.empty()) {
    const Start start = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    lane.is_under_way = true;
    start();
  }
  lane.is_starting = false;
  if (!lane.is_under_way) lanes_.erase(lanes_.find(key));
}

}  // namespace berth::host
