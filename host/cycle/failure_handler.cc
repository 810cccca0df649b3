#include "host/cycle/failure_handler.h"

#include "host/base/assert.h"

namespace berth::host {

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
  queue_.Return(uid, failure.rejection, failure.is_slow);
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
  if (queue_.Find(pod->uid()) != nullptr) {
    ReportToCluster(pod, node, failure);
    if (on_attempt_failed_) on_attempt_failed_(pod, node, failure);
    return;
  }
  Failure last = failure;
  last.is_final = true;
  sink_.OnFailed(pod, node, last);
  if (on_attempt_failed_) on_attempt_failed_(pod, node, last);
}

void FailureHandler::ReportToCluster(const PodRef& pod, std::string_view node,
                                     const Failure& failure) {
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
