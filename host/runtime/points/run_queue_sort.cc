#include "host/runtime/points/run_queue_sort.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

void PutText(void* to, berth_str text) noexcept {
  *static_cast<std::string*>(to) = std::string_view(text.ptr, text.len);
}

}  // namespace

void PluginQueueOrder::SetPlans(const std::vector<const Plan*>& plans) {
  const Plan& first = *plans.front();
  plugin_ = &first.plugins()[first.At(Point::kQueueSort).front().plugin];
  sort_ = plugin_->instance->queue_sort();
  namers_.clear();
  for (const Plan* plan : plans) {
    const auto uses = plan->At(Point::kEntity);
    if (!uses.empty()) namers_.push_back({plan, &plan->plugins()[uses.front().plugin]});
  }
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

std::string PluginQueueOrder::SharedEntityOf(const PodRef& pod) const {
  const std::string_view name = pod->scheduler_name();
  const auto namer = std::ranges::find_if(
      namers_, [name](const Namer& each) { return each.plan->scheduler_name() == name; });
  std::string text;
  if (namer == namers_.end() || IsQuarantined(*namer->plugin)) return text;
  const berth_pod& view = pod->view();
  Invoke(*namer->plugin, Point::kEntity,
         [&](auto& instance) { instance.entity()->entity(instance.self(), &view, PutText, &text); },
         {.pod = &view});
  return text;
}

}  // namespace berth::host
