#include "host/runtime/points/run_queue_sort.h"

#include <string>

#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {

void PluginQueueOrder::SetPlan(const Plan& plan) {
  plugin_ = &plan.plugins()[plan.At(Point::kQueueSort).front().plugin];
  sort_ = plugin_->instance->queue_sort();
}

SortKey PluginQueueOrder::KeyOf(const berth_queued& queued) const {
  SortKey key{};
  Invoke(*plugin_, Point::kQueueSort,
         [&](auto& instance) { sort_->key(instance.self(), &queued, key.data()); },
         {.pod = queued.pod});
  return key;
}

bool PluginQueueOrder::Less(const berth_queued& a, const berth_queued& b) const {
  return Invoke(*plugin_, Point::kQueueSort,
                [&](auto& instance) { return sort_->less(instance.self(), &a, &b); },
                {.pod = a.pod}) != 0;
}

uint64_t PluginQueueOrder::LaneOf(const berth_queued& queued) const {
  return Invoke(*plugin_, Point::kQueueSort,
                [&](auto& instance) { return sort_->lane(instance.self(), &queued); },
                {.pod = queued.pod});
}

size_t PluginQueueOrder::NextLane(std::span<const berth_lane> lanes) const {
  const uint32_t next = Invoke(*plugin_, Point::kQueueSort, [&](auto& instance) {
    return sort_->next(instance.self(), AsArray(lanes));
  });
  if (next < lanes.size()) return next;
  plugin_->host->NoteFault(Point::kQueueSort, FaultKind::kBadCode,
                           "next returned the index " + std::to_string(next) + " of " +
                               std::to_string(lanes.size()) + " lanes");
  return 0;
}

}  // namespace berth::host
