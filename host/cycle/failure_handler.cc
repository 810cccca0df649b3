#include "host/cycle/failure_handler.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "host/base/assert.h"
#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

constexpr uint32_t kReasonBits = 64;

// The number of nodes that a plugin rejected, by the bit of the reason, and without a reason.
struct RejectedNodes {
  std::array<uint32_t, kReasonBits> by_reason{};
  uint32_t without_reason = 0;
};

// The number of nodes by reason. Several plugins may give the same reason.
using ReasonCounts = std::map<std::string, uint32_t, std::less<>>;

std::string Headline(uint32_t nodes) {
  return "0/" + std::to_string(nodes) + " nodes are available:";
}

std::string Sentence(const ReasonCounts& reasons) {
  std::vector<std::string> parts;
  for (const auto& [text, count] : reasons) parts.push_back(std::to_string(count) + " " + text);
  std::ranges::sort(parts);
  return parts.empty() ? "" : " " + Join(parts, ", ") + ".";
}

ReasonCounts CountReasons(const Attempt& attempt, const NodeFindings& findings) {
  std::vector<RejectedNodes> counts(attempt.plan().plugins().size());
  const std::span<const RejectedRow> rejected = findings.filtered.rejected;
  for (const auto& [row, verdict] : rejected) {
    RejectedNodes& nodes = counts[verdict.plugin];
    nodes.without_reason += verdict.reasons == 0 ? 1 : 0;
    for (uint64_t mask = verdict.reasons; mask != 0; mask &= mask - 1) {
      ++nodes.by_reason[static_cast<size_t>(__builtin_ctzll(mask))];
    }
  }
  ReasonCounts texts;
  for (uint32_t plugin = 0; plugin < counts.size(); ++plugin) {
    const PluginCycle& cycle = attempt.cycle(plugin);
    for (uint32_t bit = 0; bit < kReasonBits; ++bit) {
      if (counts[plugin].by_reason[bit] == 0) continue;
      texts[std::string(cycle.ReasonText(bit))] += counts[plugin].by_reason[bit];
    }
    if (counts[plugin].without_reason == 0) continue;
    texts[NoReason(cycle.plugin().name)] += counts[plugin].without_reason;
  }
  const auto absent = attempt.live_rows().size() - static_cast<uint32_t>(rejected.size());
  if (absent > 0 && findings.pre_filter.subset.has_value()) {
    texts[AbsentReason(attempt.plan(), findings.pre_filter)] += absent;
  }
  return texts;
}

}  // namespace

std::string AbsentReason(const Plan& plan, const PreFilterResult& pre_filter) {
  return "node(s) didn't satisfy plugin(s) [" + Join(pre_filter.SubsetPluginNames(plan), " ") + "]";
}

std::string FitErrorMessage(const Attempt& attempt, const NodeFindings& findings,
                            std::string_view post_filter) {
  std::string message = Headline(attempt.live_rows().size());
  if (const PluginStatus& status = findings.pre_filter.status; status.rejected()) {
    const std::string reasons = status.Message();
    if (!reasons.empty()) message += " " + reasons + ".";
  } else {
    message += Sentence(CountReasons(attempt, findings));
  }
  if (!post_filter.empty()) message.append(" ").append(post_filter);
  return message;
}

std::string OneNodeFitError(std::span<const std::string> reasons) {
  ReasonCounts counts;
  for (const std::string& reason : reasons) ++counts[reason];
  return Headline(1) + Sentence(counts);
}

Rejection RejectedBy(const Plan& plan, const NodeFindings& findings) {
  const std::span<const PlannedPlugin> planned = plan.plugins();
  std::vector<bool> rejects(planned.size());
  std::vector<bool> answers_pending(planned.size());
  const PreFilterResult& pre_filter = findings.pre_filter;
  for (const uint32_t plugin : pre_filter.subset_plugins) rejects[plugin] = true;
  for (const auto& [row, verdict] : findings.filtered.rejected) {
    (verdict.code == BERTH_PENDING ? answers_pending : rejects)[verdict.plugin] = true;
  }
  Rejection rejection;
  for (size_t i = 0; i < planned.size(); ++i) {
    const PluginId id = planned[i].id;
    if (rejects[i] || (pre_filter.status.rejected() && pre_filter.status.plugin == id)) {
      rejection.plugins.push_back(id);
    }
    if (answers_pending[i]) rejection.pending.push_back(id);
  }
  std::ranges::sort(rejection.plugins);
  std::ranges::sort(rejection.pending);
  return rejection;
}

std::vector<std::string> RejectorNames(const Plan& plan, const NodeFindings& findings) {
  const Rejection by = RejectedBy(plan, findings);
  std::vector<PluginId> ids;
  std::ranges::set_union(by.plugins, by.pending, std::back_inserter(ids));
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const PluginId id : ids) names.push_back(plan.NameOf(id));
  std::ranges::sort(names);
  return names;
}

// --- pod events ----------------------------------------------------------------------------------

namespace {

Event EventFor(const Pod& pod, int64_t time_ns) {
  Event event;
  event.regarding = {.api_version = "v1",
                     .kind = "Pod",
                     .ns = std::string(pod.ns()),
                     .name = std::string(pod.name()),
                     .uid = std::string(pod.uid()),
                     .resource_version = std::string(pod.resource_version())};
  event.reporting_controller = pod.scheduler_name();
  event.reporting_instance = pod.scheduler_name();
  event.time_ns = time_ns;
  return event;
}

}  // namespace

Event ScheduledEvent(const Pod& pod, std::string_view node, int64_t time_ns) {
  Event event = EventFor(pod, time_ns);
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.is_unique = true;  // A pod is bound once.
  event.note = TruncateNote("Successfully assigned " + pod.Key() + " to " + std::string(node));
  return event;
}

Event FailedSchedulingEvent(const Pod& pod, std::string_view note, int64_t time_ns) {
  Event event = EventFor(pod, time_ns);
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = TruncateNote(note);
  return event;
}

namespace {

// Returns whether the pod has the condition PodScheduled with the status False.
bool IsMarkedUnscheduled(const Pod& pod) {
  for (const berth_condition& condition : Elements<berth_condition>(pod.view().conditions)) {
    if (pod.Name(condition.type) == "PodScheduled") {
      return condition.status == BERTH_CONDITION_FALSE;
    }
  }
  return false;
}

}  // namespace

void FailureHandler::Handle(std::string_view uid, std::string_view node, const Failure& failure) {
  const QueuedEntity* entity = queue_.Find(uid);
  BERTH_ASSERT(entity != nullptr && entity->place == QueuePlace::kInFlight);
  const PodRef pod = entity->pod;
  if (meter_ != nullptr) meter_->OnFailed(pod->scheduler_name(), failure.code, entity->popped_ns);
  queue_.Return(uid, failure.rejection);
  ReportUncounted(pod, node, failure);
}

void FailureHandler::Report(const PodRef& pod, std::string_view node, const Failure& failure) {
  if (meter_ != nullptr) {
    const QueuedEntity* entity = queue_.Find(pod->uid());
    meter_->OnFailed(pod->scheduler_name(), failure.code,
                     entity != nullptr ? entity->popped_ns : 0);
  }
  ReportUncounted(pod, node, failure);
}

void FailureHandler::ReportUncounted(const PodRef& pod, std::string_view node,
                                     const Failure& failure) {
  if (queue_.Find(pod->uid()) == nullptr) {
    Failure last = failure;
    last.is_final = true;
    return sink_.OnFailed(pod, node, last);
  }
  sink_.OnFailed(pod, node, failure);
  Nominate(pod, failure);
  writer_.CreateEvent(FailedSchedulingEvent(*pod, failure.message, clock_.NowNs()), nullptr);
  PatchStatus(pod, failure);
}

void FailureHandler::Skip(const PodRef& pod, std::string_view message) {
  queue_.Remove(pod->uid());
  queue_.Done(pod->uid());
  sink_.OnSkipped(pod, message);
  writer_.CreateEvent(FailedSchedulingEvent(*pod, message, clock_.NowNs()), nullptr);
}

void FailureHandler::Nominate(const PodRef& pod, const Failure& failure) {
  const std::string_view node =
      failure.overrides_nomination ? failure.nominated_node : pod->nominated_node();
  if (!node.empty() || failure.overrides_nomination) queue_.Nominate(pod, node);
}

void FailureHandler::PatchStatus(const PodRef& pod, const Failure& failure) {
  const std::string_view reason = failure.code == BERTH_ERROR ? "SchedulerError" : "Unschedulable";
  const int64_t generation = pod->meta().generation;
  const std::string message = TruncateConditionMessage(failure.message);
  PodStatusPatch patch;
  ForgetFailedPatches();
  const bool sets_condition = queue_.RecordReported(pod->uid(), reason, message, generation);
  if (sets_condition) {
    patch.pod_scheduled = {.status = BERTH_CONDITION_FALSE,
                           .reason = reason,
                           .message = message,
                           .transition_ns = clock_.NowNs(),
                           .observed_generation = generation,
                           .keeps_status = IsMarkedUnscheduled(*pod)};
  }
  const bool sets_nomination =
      failure.overrides_nomination && failure.nominated_node != pod->nominated_node();
  if (sets_nomination) patch.nominated_node = failure.nominated_node;
  if (!sets_condition && !sets_nomination) return;
  writer_.PatchPodStatus(NameOf(*pod), patch, sets_condition ? RecordFailedPatch(*pod) : nullptr);
}

StatusCallback FailureHandler::RecordFailedPatch(const Pod& pod) const {
  return [failed = failed_patches_, uid = std::string(pod.uid())](const Status& status) {
    if (status.ok() || status.code() == ErrorCode::kNotFound) return;
    const std::lock_guard lock(failed->mutex);
    failed->uids.push_back(uid);
  };
}

void FailureHandler::ForgetFailedPatches() {
  const std::lock_guard lock(failed_patches_->mutex);
  for (const std::string& uid : failed_patches_->uids) queue_.ClearReported(uid);
  failed_patches_->uids.clear();
}

}  // namespace berth::host
