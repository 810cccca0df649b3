#include "host/runtime/run_pre_enqueue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/assert.h"
#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"

namespace berth::host {
namespace {

// Plugins that have none of these cannot reject a pod, and have nothing to say about bringing one
// back. (kube-scheduler: pkg/scheduler/scheduler.go, buildQueueingHintMap)
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

// What a plugin that says nothing is offered: everything.
Interest InEverything(PluginId id) {
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
      const std::string& name = plan->plugins()[use.plugin].name;
      gatekeepers.plugins.push_back(ids_.IdOf(plan->scheduler_name(), name));
    }
  }
}

void PluginQueuePolicy::AddPlugin(const Plan& plan, uint32_t plugin) {
  const PlannedPlugin& planned = plan.plugins()[plugin];
  const PluginId id = ids_.IdOf(plan.scheduler_name(), planned.name);
  if (instances_.size() <= id) instances_.resize(id + 1);
  instances_[id] = &planned;
  if (!MayReject(plan, plugin)) return;
  const berth_enqueue_extensions* extensions = planned.instance->enqueue_extensions();
  if (extensions == nullptr || !UsesPoint(plan, Point::kEnqueueExtensions, plugin)) {
    interests_.push_back(InEverything(id));
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

// --- PreEnqueue ---------------------------------------------------------------------------------

const PluginQueuePolicy::Gatekeepers* PluginQueuePolicy::GatekeepersOf(const Pod& pod) const {
  const std::string_view name = pod.scheduler_name();
  const auto found = std::ranges::find_if(gatekeepers_, [name](const Gatekeepers& each) {
    return each.plan->scheduler_name() == name;
  });
  return found != gatekeepers_.end() ? &*found : nullptr;
}

std::optional<Gate> PluginQueuePolicy::PreEnqueue(const PodRef& pod,
                                                  std::optional<PluginId> first) {
  const Gatekeepers* gatekeepers = GatekeepersOf(*pod);
  if (gatekeepers == nullptr) return std::nullopt;
  const auto& plugins = gatekeepers->plugins;
  // It may have left the profile.
  if (first.has_value() && std::ranges::find(plugins, *first) != plugins.end()) {
    if (auto gate = Ask(*first, *pod)) return gate;
  }
  for (const PluginId plugin : plugins) {
    if (plugin == first) continue;
    if (auto gate = Ask(plugin, *pod)) return gate;
  }
  return std::nullopt;
}

std::optional<Gate> PluginQueuePolicy::Ask(PluginId id, const Pod& pod) const {
  const PlannedPlugin& plugin = *instances_[id];
  std::string_view why;
  if (IsQuarantined(plugin, &why)) {
    return Gate{id, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {std::string(why)}};
  }
  StatusSink sink;
  berth_code code = BERTH_SUCCESS;
  {
    const PluginCall call(plugin, Point::kPreEnqueue, &pod.view());
    code = plugin.instance->pre_enqueue()->pre_enqueue(plugin.instance->self(), &pod.view(),
                                                       sink.raw());
  }
  if (code == BERTH_SUCCESS) return std::nullopt;
  const auto reasons = sink.reasons();
  Gate gate{id, code, {reasons.begin(), reasons.end()}};
  const bool refuses = code == BERTH_UNSCHEDULABLE ||
                       code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE || code == BERTH_PENDING;
  if (refuses) return gate;
  const std::string said = WhyFailed(plugin, Point::kPreEnqueue, code, sink);
  gate.code = BERTH_ERROR;
  gate.reasons = {"running PreEnqueue plugin \"" + plugin.name + "\": " + said};
  const auto& services = plugin.host->services();
  if (services.log) services.log(BERTH_LOG_ERROR, plugin.name, gate.reasons.front());
  return gate;
}

// --- EnqueueExtensions --------------------------------------------------------------------------

bool PluginQueuePolicy::Hint(const Interest& interest, const berth_queued& queued,
                             const berth_event& event) {
  BERTH_ASSERT(interest.has_hint && interest.plugin < instances_.size());
  BERTH_ASSERT(instances_[interest.plugin] != nullptr);
  const PlannedPlugin& plugin = *instances_[interest.plugin];
  if (IsQuarantined(plugin, nullptr)) return true;
  const uint32_t hint = [&] {
    const PluginCall call(plugin, Point::kEnqueueExtensions, queued.pod);
    return plugin.instance->enqueue_extensions()->hint(plugin.instance->self(), &queued, &event);
  }();
  if (hint > BERTH_HINT_QUEUE) {
    NoteFault(plugin, Point::kEnqueueExtensions, FaultKind::kBadCode,
              "answered " + std::to_string(hint) + ", which is no hint");
  }
  return hint != BERTH_HINT_SKIP;
}

}  // namespace berth::host
