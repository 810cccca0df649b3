#include "host/runtime/run_queue_sort.h"

namespace berth::host {

PluginQueueOrder::PluginQueueOrder(const Plan& plan) {
  const PlannedPlugin& plugin = plan.plugins()[plan.At(Point::kQueueSort).front().plugin];
  sort_ = plugin.instance->queue_sort();
  self_ = plugin.instance->self();
}

SortKey PluginQueueOrder::KeyOf(const berth_queued& queued) const {
  SortKey key{};
  sort_->key(self_, &queued, key.data());
  return key;
}

bool PluginQueueOrder::Less(const berth_queued& a, const berth_queued& b) const {
  return sort_->less(self_, &a, &b) != 0;
}

}  // namespace berth::host
