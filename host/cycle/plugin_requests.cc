#include "host/cycle/plugin_requests.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace berth::host {
namespace {

// Returns the level of the record about the answer to an eviction. After a conflict, the pod was
// replaced or changed by another client, and the next attempt chooses its victims anew. An API
// server that is away is a problem of the server, which the client reports as well.
uint32_t EvictionLevel(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
    case ErrorCode::kConflict: return BERTH_LOG_INFO;
    case ErrorCode::kUnavailable: return BERTH_LOG_WARN;
    default: return BERTH_LOG_ERROR;
  }
}

}  // namespace

bool PluginRequests::CarryOut() {
  std::vector<std::function<void()>> requests;
  requests.swap(deferred_);
  for (const auto& request : requests) request();
  return !requests.empty();
}

bool PluginRequests::ClearNomination(std::string_view uid) {
  if (queue_.nominator().NodeOf(uid).empty()) return false;
  Defer([this, uid = std::string(uid)] {
    const PodRef pod = queue_.PodOf(uid);
    if (pod == nullptr || queue_.nominator().NodeOf(uid).empty()) return;
    queue_.Nominate(pod, "");
    if (pod->nominated_node().empty()) return;
    PodStatusPatch patch;
    patch.nominated_node = "";
    writer_.PatchPodStatus(NameOf(*pod), patch, nullptr);
  });
  return true;
}

// A pod in its attempt, on Permit or in its binding is not waiting in the queue. If it could be
// activated there, it would be retried without end, each time at once after it failed. The same
// applies to a pod whose attempt begins before the request is carried out.
void PluginRequests::Activate(std::string_view uid) {
  const auto waiting = [this](std::string_view pod) {
    const QueuedEntity* entity = queue_.Find(pod);
    return entity != nullptr && entity->place != QueuePlace::kInFlight ? entity : nullptr;
  };
  const QueuedEntity* entity = waiting(uid);
  if (entity == nullptr) return;
  Defer([this, waiting, uid = std::string(uid), attempts = entity->attempts] {
    const QueuedEntity* now = waiting(uid);
    if (now != nullptr && now->attempts == attempts) queue_.Activate(uid);
  });
}

bool PluginRequests::Allow(std::string_view uid, PluginId plugin) {
  BindingCycle* binding = waiting_pods_.Find(uid);
  if (binding == nullptr || !binding->WaitsFor(plugin)) return false;
  binding->Allow(plugin);
  if (!binding->is_waiting()) ApplyVerdictLater(uid);
  return true;
}

bool PluginRequests::Reject(std::string_view uid, PluginId plugin, std::string_view reason) {
  BindingCycle* binding = waiting_pods_.Find(uid);
  if (binding == nullptr || !binding->is_waiting()) return false;
  binding->Reject(plugin, reason);
  ApplyVerdictLater(uid);
  return true;
}

void PluginRequests::ApplyVerdictLater(std::string_view uid) {
  Defer([this, uid = std::string(uid)] {
    if (BindingCycle* binding = waiting_pods_.Find(uid)) binding->ApplyVerdict();
  });
}

// --- evictions ----------------------------------------------------------------------------------

struct PluginRequests::Victim {
  std::string ns, name, uid, message;
  bool had_place;  // The pod waited or was being bound when the eviction was requested.

  std::string Key() const { return ns + "/" + name; }
};

void PluginRequests::LogEviction(Log log, const Victim& victim, const Status& status) {
  const uint32_t level = EvictionLevel(status.code());
  if (!log.IsOn(level)) return;
  const std::string key = victim.Key();
  const std::array<LogField, 2> fields = {LogField{"pod", key}, {"reason", victim.message}};
  log.Write(level, status.ok() ? "Evicted" : "Cannot evict", fields, status.message());
}

void PluginRequests::Evict(const PodName& pod, std::string_view message, StatusCallback done) {
  Victim victim{std::string(pod.ns), std::string(pod.name), std::string(pod.uid),
                std::string(message), waiting_pods_.Find(pod.uid) != nullptr};
  ++evictions_;
  Defer([this, victim = std::move(victim), done = std::move(done)] { EvictNow(victim, done); });
}

// A pod that waits on Permit or is in PreBind goes back to the queue; any other pod is deleted.
void PluginRequests::EvictNow(const Victim& victim, const StatusCallback& done) {
  BindingCycle* binding = waiting_pods_.Find(victim.uid);
  if (binding != nullptr && binding->Preempt(victim.message)) {
    log_.Info("Preempted a pod before its binding",
              {{"pod", victim.Key()}, {"reason", victim.message}});
    return done(Status());
  }
  // The binding has failed since the eviction was requested, so the pod has no place any more.
  const bool lost_place =
      binding == nullptr && victim.had_place && queue_.PodOf(victim.uid) != nullptr;
  if (lost_place) return done(Status());
  const PodName name{victim.ns, victim.name, victim.uid};
  const std::string message = TruncateConditionMessage(victim.message);
  PodStatusPatch patch;
  patch.disruption_target = PodStatusPatch::Condition{.status = BERTH_CONDITION_TRUE,
                                                      .reason = "PreemptionByScheduler",
                                                      .message = message,
                                                      .transition_ns = clock_.NowNs()};
  writer_.PatchPodStatus(name, patch, nullptr);
  writer_.DeletePod(name, std::nullopt, [log = log_, victim, done](const Status& status) {
    if (status.code() == ErrorCode::kNotFound) return done(Status());
    LogEviction(log, victim, status);
    done(status);
  });
}

}  // namespace berth::host
