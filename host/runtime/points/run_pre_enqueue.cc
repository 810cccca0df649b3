#include "host/runtime/points/run_pre_enqueue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/assert.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

// A plugin that runs at none of these points cannot reject a pod, so that its EnqueueExtensions are
// not used. (kube-scheduler: pkg/scheduler/scheduler.go, buildQueueingHintMap)
constexpr std::array kRejectingPoints{Point::kPreEnqueue, Point::kPreFilter, Point::kFilter,
                                      Point::kReserve, Point::kPermit};

bool UsesPoint(const Plan& plan, Point point, uint32_t plugin) {
  const auto uses = plan.At(point);
  return std::ranges::find(uses, plugin, &PlannedUse::plugin) != uses.end();
}

bool MayReject(const Plan& plan, uint32_t plugin) {
  return std::ranges::any_of(kRejectingPoints,
                             [&](Point point) { return UsesPoint(plan, point, plugin); });
}

// The interest of a plugin without EnqueueExtensions: every event.
Interest InterestInEverything(PluginId id) {
  return {.plugin = id,
          .index = 0,
          .resource = BERTH_RESOURCE_WILDCARD,
          .actions = BERTH_ACTION_ALL,
          .kind = "",
          .has_hint = false,
          .pod_parts = 0};
}

}  // namespace

void PluginQueuePolicy::SetPlans(const std::vector<const Plan*>& plans,
                                 std::vector<Interest> others) {
  interests_ = std::move(others);
  instances_.clear();
  gatekeepers_.clear();
  for (const Plan* plan : plans) {
    for (uint32_t plugin = 0; plugin < plan->plugins().size(); ++plugin) AddPlugin(*plan, plugin);
    Gatekeepers& gatekeepers = gatekeepers_.emplace_back(Gatekeepers{plan, {}});
    for (const PlannedUse& use : plan->At(Point::kPreEnqueue)) {
      gatekeepers.plugins.push_back(plan->plugins()[use.plugin].id);
    }
  }
}

void PluginQueuePolicy::AddPlugin(const Plan& plan, uint32_t plugin) {
  const PlannedPlugin& planned = plan.plugins()[plugin];
  const PluginId id = planned.id;
  if (instances_.size() <= id) instances_.resize(id + 1);
  instances_[id] = &planned;
  if (!MayReject(plan, plugin)) return;
  const berth_enqueue_extensions* extensions = planned.instance->enqueue_extensions();
  if (extensions == nullptr || !UsesPoint(plan, Point::kEnqueueExtensions, plugin)) {
    interests_.push_back(InterestInEverything(id));
    return;
  }
  uint32_t index = 0;
  for (const berth_event_interest& interest :
       Elements<berth_event_interest>(extensions->interests)) {
    interests_.push_back({.plugin = id,
                          .index = index++,
                          .resource = interest.resource,
                          .actions = interest.actions,
                          .kind = interest.kind != nullptr ? interest.kind : "",
                          .has_hint = interest.has_hint != 0 && extensions->hint != nullptr,
                          .pod_parts = interest.pod_parts});
  }
}

// --- PreEnqueue ----------------------------------------------------------------------------------

const PluginQueuePolicy::Gatekeepers* PluginQueuePolicy::GatekeepersOf(const Pod& pod) const {
  const std::string_view name = pod.scheduler_name();
  const auto found = std::ranges::find_if(gatekeepers_, [name](const Gatekeepers& each) {
    return each.plan->scheduler_name() == name;
  });
  return found != gatekeepers_.end() ? &*found : nullptr;
}

std::optional<Gate> PluginQueuePolicy::PreEnqueue(const PodRef& pod, const berth_queued& queued,
                                                  std::optional<PluginId> first) {
  const Gatekeepers* gatekeepers = GatekeepersOf(*pod);
  if (gatekeepers == nullptr) return std::nullopt;
  const auto& plugins = gatekeepers->plugins;
  // The plugin may have left the profile.
  if (first.has_value() && std::ranges::find(plugins, *first) != plugins.end()) {
    if (auto gate = RunPlugin(*first, queued)) return gate;
  }
  for (const PluginId plugin : plugins) {
    if (plugin == first) continue;
    if (auto gate = RunPlugin(plugin, queued)) return gate;
  }
  return std::nullopt;
}

std::optional<Gate> PluginQueuePolicy::RunPlugin(PluginId id, const berth_queued& queued) const {
  const PlannedPlugin& plugin = *instances_[id];
  if (auto why = QuarantineReason(plugin)) {
    return Gate{id, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {*std::move(why)}};
  }
  PluginAnswer answer =
      Invoke(plugin, Point::kPreEnqueue,
             [&queued](auto& instance, berth_status* status) {
               return instance.pre_enqueue()->pre_enqueue(instance.self(), &queued, status);
             },
             {.pod = queued.pod});
  if (answer.ok()) return std::nullopt;
  if (IsRejection(answer.code)) {
    return Gate{id, answer.code, RejectionReasons(plugin.name, std::move(answer.reasons))};
  }
  PluginStatus error = AnswerError(plugin, Point::kPreEnqueue, answer);
  plugin.host->Log(BERTH_LOG_ERROR, error.reasons.front());
  return Gate{id, error.code, std::move(error.reasons)};
}

// --- EnqueueExtensions ---------------------------------------------------------------------------

bool PluginQueuePolicy::Hint(const Interest& interest, const berth_queued& queued,
                             const berth_event& event) {
  BERTH_ASSERT(interest.has_hint && interest.plugin < instances_.size());
  BERTH_ASSERT(instances_[interest.plugin] != nullptr);
  const PlannedPlugin& plugin = *instances_[interest.plugin];
  if (IsQuarantined(plugin)) return true;
  const uint32_t hint =
      Invoke(plugin, Point::kEnqueueExtensions,
             [&](auto& instance) {
               return instance.enqueue_extensions()->hint(instance.self(), &queued, &event);
             },
             {.pod = queued.pod});
  return hint != BERTH_HINT_SKIP;  // A value that is unknown here may be that of a later version.
}

}  // namespace berth::host
