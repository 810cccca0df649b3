#include "host/cycle/failure_handler.h"

#include "host/api/assert.h"
#include "host/cycle/pod_events.h"

namespace berth::host {

void FailureHandler::Handle(std::string_view uid, std::string_view node, const Failure& failure) {
  const QueuedEntity* entity = queue_.Find(uid);
  BERTH_ASSERT(entity != nullptr && entity->place == QueuePlace::kInFlight);
  const PodRef pod = entity->pod;
  const bool known = queue_.Return(uid, failure.rejection);
  sink_.OnFailed(pod, node, failure);
  if (!known) return;
  Nominate(pod, failure);
  client_.CreateEvent(FailedSchedulingEvent(*pod, failure.message, clock_.NowNs()), nullptr);
  PatchStatus(pod, failure);
}

void FailureHandler::Nominate(const PodRef& pod, const Failure& failure) {
  const std::string_view node =
      failure.overrides_nomination ? failure.nominated_node : pod->nominated_node();
  if (!node.empty() || failure.overrides_nomination) queue_.Nominate(pod, node);
}

void FailureHandler::PatchStatus(const PodRef& pod, const Failure& failure) {
  const std::string_view reason = failure.code == BERTH_ERROR ? "SchedulerError" : "Unschedulable";
  PodStatusPatch patch;
  const bool tells = queue_.NoteReported(pod->uid(), reason, failure.message);
  if (tells) {
    patch.pod_scheduled = {.status = BERTH_CONDITION_FALSE,
                           .reason = reason,
                           .message = failure.message,
                           .transition_ns = clock_.NowNs()};
  }
  const bool nominates =
      failure.overrides_nomination && failure.nominated_node != pod->nominated_node();
  if (nominates) patch.nominated_node = failure.nominated_node;
  if (tells || nominates) client_.PatchPodStatus(NameOf(*pod), patch, nullptr);
}

}  // namespace berth::host
