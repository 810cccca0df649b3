#include "host/process/decision_log.h"

#include <algorithm>
#include <utility>

#include "host/base/hash.h"
#include "host/base/text.h"

namespace berth::host {

void DecisionLog::Watch(Client& client, const SchedulingLoop& loop) {
  loop_ = &loop;
  watch_ = client.StartWatch(kPodKind, *this);
}

void DecisionLog::AfterStep() {
  for (const std::string& uid : std::exchange(assumed_, {})) {
    const auto binding = loop_->bindings().find(uid);
    if (binding == loop_->bindings().end() || !binding->second->is_waiting()) continue;
    Say(DecisionType::kWaiting, *binding->second->pod(), binding->second->node_name(), "");
  }
}

void DecisionLog::AfterReload() {
  std::vector<PodRef> pods;
  loop_->queue().ForEach([&pods](const QueuedEntity& entity) {
    entity.ForEachPod([&pods](const PodRef& pod) { pods.push_back(pod); });
  });
  std::ranges::sort(pods, {}, [](const PodRef& pod) { return std::pair(pod->ns(), pod->name()); });
  for (const PodRef& pod : pods) NoteGate(*pod);
}

void DecisionLog::OnAssumed(const PodRef& pod, std::string_view /*node*/) {
  assumed_.emplace_back(pod->uid());
}

void DecisionLog::OnBound(const PodRef& pod, std::string_view node) {
  ++bound_;
  Say(DecisionType::kBound, *pod, node, "");
  said_.erase(std::string(pod->uid()));
}

void DecisionLog::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  const bool is_error = failure.code == BERTH_ERROR;
  Say(is_error ? DecisionType::kError : DecisionType::kRefused, *pod, node, failure.message);
}

void DecisionLog::OnSkipped(const PodRef& pod, std::string_view message) {
  Say(DecisionType::kSkipped, *pod, "", message);
}

void DecisionLog::OnEvents(std::span<WatchEvent> events) {
  for (const WatchEvent& event : events) {
    if (event.type == WatchType::kSynced) continue;
    if (event.type != WatchType::kDeleted) {
      NoteGate(*std::get<PodRef>(event.object));
    } else {
      said_.erase(std::string(Base(event.object).uid()));
    }
  }
}

void DecisionLog::NoteGate(const Pod& pod) {
  const QueuedEntity* entity = loop_->queue().Find(pod.uid());
  const bool is_gated = entity != nullptr && entity->gate.has_value();
  const auto said = said_.find(pod.uid());
  if (!is_gated) {
    if (said != said_.end()) said->second.gate.clear();
    return;
  }
  const std::string message = Join(entity->gate->reasons, ", ");
  if (said != said_.end() && said->second.gate == message) return;
  said_[std::string(pod.uid())].gate = message;
  Say(DecisionType::kGated, pod, "", message);
}

void DecisionLog::Say(DecisionType type, const Pod& pod, std::string_view node,
                      std::string_view message) {
  DecisionLine line{.time_ns = clock_.NowNs() - start_ns_,
                    .type = type,
                    .pod = pod.Key(),
                    .node = std::string(node),
                    .message = std::string(message)};
  const uint64_t hash =
      HashBytes(line.node + '\n' + line.message) * 31 + static_cast<uint64_t>(type);
  Said& said = said_[std::string(pod.uid())];
  line.is_repeated = std::exchange(said.last, hash) == hash;
  listener_(line);
}

}  // namespace berth::host
