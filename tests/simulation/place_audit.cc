#include "tests/simulation/place_audit.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "host/base/time_units.h"
#include "tests/simulation/sketch.h"

namespace berth::host {
namespace {

constexpr int64_t kFlushEveryNs = 30 * kSecond;
// Tolerance: other work that is due at the same time may run before the flush.
constexpr int64_t kFlushSlackNs = 5 * kSecond;

std::string_view NameOfRow(const NodeTable& table, Row row) {
  return table.IsLive(row) ? table.node(row)->name() : std::string_view();
}

const char* PlaceName(QueuePlace place) {
  constexpr const char* kNames[] = {"active",        "backoff", "error backoff",
                                    "unschedulable", "gated",   "in flight"};
  return kNames[static_cast<size_t>(place)];
}

}  // namespace

void PlaceAudit::Check() {
  loop_.queue().CheckInvariants();
  for (const auto& [uid, pod] : observed_.delivered_pods) CheckDeliveredPod(*pod);
  loop_.queue().ForEach([this](const QueuedEntity& entity) { CheckQueued(entity); });
  CheckBindings();
  CheckCache();
  CheckNominations();
}

bool PlaceAudit::HasProfile(const Pod& pod) const {
  return std::ranges::find(scenario_.profiles, pod.scheduler_name()) != scenario_.profiles.end();
}

void PlaceAudit::CheckBindings() {
  for (const auto& [uid, binding] : loop_.bindings()) {
    const QueuedEntity* entity = loop_.queue().Find(uid);
    // The next step of the scheduler drops a finished binding.
    const bool is_finished = binding->state() == BindingCycle::State::kFinished;
    if (!is_finished && (entity == nullptr || entity->place != QueuePlace::kInFlight)) {
      findings_.Add(uid + " is being bound but is not in flight");
    }
  }
}

void PlaceAudit::CheckNominations() {
  loop_.queue().nominator().ForEachNode([this](std::string_view, std::span<const PodRef> pods) {
    for (const PodRef& pod : pods) {
      if (loop_.queue().Find(pod->uid()) != nullptr) continue;
      findings_.Add("a pod that is not in the queue is nominated: " + Describe(*pod));
    }
  });
}

void PlaceAudit::CheckDeliveredPod(const Pod& pod) {
  const Cache& cache = loop_.cache();
  const std::string_view uid = pod.uid();
  const QueuedEntity* entity = loop_.queue().Find(uid);
  if (!pod.node_name().empty()) {
    if (cache.RowOf(uid) == kNoRow || cache.IsAssumed(uid)) {
      findings_.Add(Describe(pod) + " has a node but is not in the cache, or only assumed");
    }
    if (entity != nullptr && entity->place != QueuePlace::kInFlight) {
      findings_.Add(Describe(pod) + " has a node but is in the queue: " + PlaceName(entity->place));
    }
  } else if (HasProfile(pod)) {
    CheckPending(pod);
  } else if (entity != nullptr || cache.RowOf(uid) != kNoRow) {
    findings_.Add(Describe(pod) + " belongs to another scheduler but is in the queue or cache");
  }
}

void PlaceAudit::CheckPending(const Pod& pod) {
  const Cache& cache = loop_.cache();
  const QueuedEntity* entity = loop_.queue().Find(pod.uid());
  const bool is_in_cache = cache.RowOf(pod.uid()) != kNoRow;
  if (is_in_cache && !cache.IsAssumed(pod.uid())) {
    findings_.Add(Describe(pod) + " is in the cache without an event that assigns it to a node");
  }
  if (entity == nullptr) {
    if (!is_in_cache && !pod.terminating()) {
      findings_.Add(Describe(pod) + " is lost: it is neither in the queue nor in the cache");
    }
    if (is_in_cache && !observed_.binds.IsReported(pod.uid())) {
      findings_.Add(Describe(pod) + " is assumed but not being bound");
    }
    return;
  }
  const bool is_being_bound = loop_.bindings().contains(pod.uid());
  if (is_being_bound != (entity->place == QueuePlace::kInFlight)) {
    findings_.Add(Describe(pod) +
                  (is_being_bound ? " is being bound but its place in the queue is: "
                                  : " is not being bound but its place in the queue is: ") +
                  PlaceName(entity->place));
  }
  if (is_in_cache && entity->place != QueuePlace::kInFlight) {
    findings_.Add(Describe(pod) + " is assumed but is in the queue: " + PlaceName(entity->place));
  }
  if (loop_.queue().PodOf(pod.uid())->resource_version() != pod.resource_version()) {
    findings_.Add(Describe(pod) + " has changed but the queue has an old version");
  }
}

void PlaceAudit::CheckQueued(const QueuedEntity& entity) {
  entity.ForEachPod([&](const PodRef& pod) { CheckQueuedPod(entity, *pod); });
  // queued_ns is the time at which the entity was parked.
  const int64_t parked_ns = clock_.NowNs() - entity.queued_ns;
  if (entity.place == QueuePlace::kUnschedulable &&
      parked_ns > scenario_.queue.flush_after_ns + kFlushEveryNs + kFlushSlackNs) {
    findings_.Add(Describe(*entity.pod) + " has been parked for " +
                  std::to_string(parked_ns / kSecond) + " s and was not flushed");
  }
}

void PlaceAudit::CheckQueuedPod(const QueuedEntity& entity, const Pod& pod) {
  const std::string_view uid = pod.uid();
  // Pods have their gates and rejecting labels from the start, and these are only ever removed.
  // A group may get such a member during its backoff. If pods are not popped from backoff early,
  // PreEnqueue runs when the backoff ends.
  const bool is_checked_later =
      entity.group != nullptr && !scenario_.queue.pop_from_backoff &&
      (entity.place == QueuePlace::kBackoff || entity.place == QueuePlace::kErrorBackoff);
  if (entity.place != QueuePlace::kGated && IsRejectedByPreEnqueue(pod) && !is_checked_later) {
    findings_.Add(Describe(pod) +
                  " is rejected by PreEnqueue but is in the queue: " + PlaceName(entity.place));
  }
  const bool is_alone = entity.group == nullptr;
  const std::string_view group = pod.terminating() ? "" : Text(pod.view().pod_group);
  if (is_alone ? !group.empty() && entity.place != QueuePlace::kInFlight
               : entity.group->name != "default/" + std::string(group)) {
    findings_.Add(Describe(pod) + " is not queued with its group " + std::string(group));
  }
  const auto delivered = observed_.delivered_pods.find(uid);
  const bool is_pending =
      delivered != observed_.delivered_pods.end() && delivered->second->node_name().empty();
  if (is_pending) return;  // CheckPending() checks it.
  if (entity.place == QueuePlace::kInFlight && loop_.bindings().contains(uid)) return;
  findings_.Add(Describe(pod) + " is in the queue (" + PlaceName(entity.place) +
                ") but is not pending");
}

void PlaceAudit::CheckCache() {
  const NodeTable& table = loop_.cache().table();
  size_t pods = 0;
  for (Row row = 0; row < table.row_count(); ++row) {
    for (const PodRef& pod : table.pods(row)) CheckCachedPod(row, *pod);
    pods += table.pods(row).size();
  }
  if (pods != loop_.cache().pod_count()) findings_.Add("the cache counts pods that are on no row");
  if (table.node_count() != observed_.delivered_nodes.size())
    findings_.Add("the number of nodes in the cache differs from the delivered nodes");
}

void PlaceAudit::CheckCachedPod(Row row, const Pod& pod) {
  const Cache& cache = loop_.cache();
  const NodeTable& table = cache.table();
  if (cache.RowOf(pod.uid()) != row) findings_.Add(Describe(pod) + " is on two nodes");
  const std::string_view on = NameOfRow(table, row);
  if (table.IsLive(row) ? on != pod.node_name()
                        : observed_.delivered_nodes.contains(pod.node_name())) {
    findings_.Add(Describe(pod) + " counts on node \"" + std::string(on) +
                  "\" but is on another one");
  }
  const auto delivered = observed_.delivered_pods.find(pod.uid());
  if (cache.IsAssumed(pod.uid())) {
    // The next step of the scheduler drops a finished binding first.
    const auto binding = loop_.bindings().find(pod.uid());
    const bool is_finished = binding != loop_.bindings().end() &&
                             binding->second->state() == BindingCycle::State::kFinished;
    if (delivered == observed_.delivered_pods.end() && !is_finished) {
      findings_.Add(Describe(pod) + " was deleted but is still assumed");
    }
  } else if (delivered == observed_.delivered_pods.end() ||
             delivered->second->resource_version() != pod.resource_version()) {
    findings_.Add(Describe(pod) + " is deleted or has another version in the cache");
  }
}

}  // namespace berth::host
