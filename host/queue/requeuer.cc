#include "host/queue/requeuer.h"

#include <memory>
#include <optional>
#include <utility>

namespace berth::host {

void Requeuer::SetCause(const QueueEvent& event) {
  if (meter_ != nullptr) cause_ = event_label_ = meter_->LabelOf(event);
}

// With pop_from_backoff a pod may be popped from a backoff queue at any time, so PreEnqueue runs
// when the pod enters the backoff queue and not again when it leaves. Otherwise it runs when the
// pod leaves.
void Requeuer::Requeue(QueueEntry& entry, Requeueing how, bool was_flushed) {
  QueuedEntity& entity = entry.entity;
  const bool ran_before =
      pop_from_backoff_ && entry.is_placed &&
      (entity.place == QueuePlace::kBackoff || entity.place == QueuePlace::kErrorBackoff);
  const bool backs_off =
      how == Requeueing::kAfterBackoff && backoff_.IsOn(backoff_.UntilNs(entity), clock_.NowNs());
  const bool runs_pre_enqueue = !ran_before && (!backs_off || pop_from_backoff_);
  if (runs_pre_enqueue && GateIfPreEnqueueRejects(entry)) return;
  entity.was_flushed = was_flushed;
  if (!backs_off) return Move(entry, QueuePlace::kActive);
  Move(entry, entity.error_count > 0 ? QueuePlace::kErrorBackoff : QueuePlace::kBackoff);
}

void Requeuer::ParkOrRequeue(QueueEntry& entry, Requeueing how) {
  if (how == Requeueing::kSkip) return Move(entry, QueuePlace::kUnschedulable);
  Requeue(entry, how);
}

void Requeuer::SetRejection(QueueEntry& entry, Rejection rejection) {
  if (meter_ != nullptr) meter_->CountRejected(entry.entity, -1);
  entry.entity.SetRejection(std::move(rejection));
  if (meter_ != nullptr) meter_->CountRejected(entry.entity, 1);
}

bool Requeuer::GateIfPreEnqueueRejects(QueueEntry& entry) {
  QueuedEntity& entity = entry.entity;
  std::optional<PluginId> first;
  if (entity.gate != nullptr) first = entity.gate->plugin;
  std::optional<Gate> gate;
  const bool is_rejected = entity.AnyPod([&](const PodRef& pod) {
    gate = policy_.PreEnqueue(pod, entity.ViewOf(pod), first);
    return gate.has_value();
  });
  if (!is_rejected) return false;
  entity.was_flushed = false;
  SetRejection(entry, {.plugins = {gate->plugin}});
  entity.gate = std::make_unique<Gate>(*std::move(gate));
  Move(entry, QueuePlace::kGated);
  return true;
}

void Requeuer::EndBackoffs(QueuePlace place, int64_t at_ns) {
  while (QueueEntry* entry = places_.FirstBackoff(place)) {
    if (backoff_.IsOn(entry->entity.backoff_until_ns, at_ns)) return;
    cause_ = QueueMeter::kBackoffEnd;
    Requeue(*entry, Requeueing::kImmediately, entry->entity.was_flushed);
  }
}

void Requeuer::Move(QueueEntry& entry, QueuePlace to) {
  places_.Move(entry, to);
  if (meter_ != nullptr) meter_->CountIncoming(to, cause_);
}

}  // namespace berth::host
