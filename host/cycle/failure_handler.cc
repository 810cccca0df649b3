#include "host/cycle/failure_handler.h"

#include "host/base/assert.h"
#include "host/cycle/pod_events.h"

namespace berth::host {

void FailureHandler::Handle(std::string_view uid, std::string_view node, const Failure& failure) {
  const QueuedEntity* entity = queue_.Find(uid);
  BERTH_ASSERT(entity != nullptr && entity->place == QueuePlace::kInFlight);
  const PodRef pod = entity->pod;
  queue_.Return(uid, failure.rejection);
  Tell(pod, node, failure);
}

void FailureHandler::Tell(const PodRef& pod, std::string_view node, const Failure& failure) {
  sink_.OnFailed(pod, node, failure);
  if (queue_.Find(pod->uid()) == nullptr) return;
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
  const int64_t generation = pod->meta().generation;
  PodStatusPatch patch;
  ForgetUnheard();
  const bool tells = queue_.NoteReported(pod->uid(), reason, failure.message, generation);
  if (tells) {
    patch.pod_scheduled = {.status = BERTH_CONDITION_FALSE,
                           .reason = reason,
                           .message = failure.message,
                           .transition_ns = clock_.NowNs(),
                           .observed_generation = generation};
  }
  const bool nominates =
      failure.overrides_nomination && failure.nominated_node != pod->nominated_node();
  if (nominates) patch.nominated_node = failure.nominated_node;
  if (!tells && !nominates) return;
  client_.PatchPodStatus(NameOf(*pod), patch, tells ? NoteWhenUnheard(*pod) : nullptr);
}

Done FailureHandler::NoteWhenUnheard(const Pod& pod) const {
  return [unheard = unheard_, uid = std::string(pod.uid())](const Status& status) {
    if (status.ok() || status.code() == ErrorCode::kNotFound) return;
    const std::lock_guard lock(unheard->mutex);
    unheard->uids.push_back(uid);
  };
}

void FailureHandler::ForgetUnheard() {
  const std::lock_guard lock(unheard_->mutex);
  for (const std::string& uid : unheard_->uids) queue_.ForgetReported(uid);
  unheard_->uids.clear();
}

}  // namespace berth::host
