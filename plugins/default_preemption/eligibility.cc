#include "eligibility.h"

#include <algorithm>

#include <berth/span.h>

namespace preemption {
namespace {

constexpr std::string_view kNever = "not eligible due to preemptionPolicy=Never.";
constexpr std::string_view kTerminating =
    "not eligible due to a terminating pod on the nominated node.";

}  // namespace

Eligibility::Eligibility(const berth::Host& host)
    : disruption_target_(host.Intern("DisruptionTarget")),
      by_scheduler_(host.Intern("PreemptionByScheduler")) {}

std::string_view Eligibility::WhyNot(const berth_pod& pod,
                                     std::span<const berth_pod* const> nominated_node) const {
  if (pod.preemption_policy == BERTH_PREEMPT_NEVER) return kNever;
  const bool waits = std::any_of(
      nominated_node.begin(), nominated_node.end(),
      [&](const berth_pod* other) { return MayPreempt(pod, *other) && IsPreempted(*other); });
  return waits ? kTerminating : std::string_view();
}

bool Eligibility::IsPreempted(const berth_pod& pod) const {
  if (pod.meta->deleted_ns == 0) return false;
  for (const berth_condition& condition : berth::Span<const berth_condition>(pod.conditions)) {
    if (condition.type != disruption_target_) continue;
    if (condition.status == BERTH_CONDITION_TRUE && condition.reason == by_scheduler_) return true;
  }
  return false;
}

}  // namespace preemption
