#include "host/runtime/run_queue_sort.h"

#include "host/runtime/plugin_call.h"

namespace berth::host {

void PluginQueueOrder::SetPlan(const Plan& plan) {
  plugin_ = &plan.plugins()[plan.At(Point::kQueueSort).front().plugin];
  sort_ = plugin_->instance->queue_sort();
}

SortKey PluginQueueOrder::KeyOf(const berth_queued& queued) const {
  SortKey key{};
  const PluginCall call(*plugin_, Point::kQueueSort, queued.pod);
  sort_->key(plugin_->instance->self(), &queued, key.data());
  return key;
}

bool PluginQueueOrder::Less(const berth_queued& a, const berth_queued& b) const {
  const PluginCall call(*plugin_, Point::kQueueSort, a.pod);
  return sort_->less(plugin_->instance->self(), &a, &b) != 0;
}

}  // namespace berth::host
