#include "evictions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <berth/abi.h>
#include <berth/status.h>

namespace preemption {
namespace {

// The delay after the second failure in a row; it doubles up to about a minute.
constexpr std::chrono::seconds kFirstDelay{1};
constexpr uint32_t kFailuresMax = 8;

std::string MessageFor(std::string_view scheduler_name) {
  return std::string(scheduler_name) + ": preempting to accommodate a higher priority pod";
}

std::string NoteFor(const berth::Pod& pod, std::string_view node, bool in_memory) {
  std::string note = "Preempted by pod ";
  note.append(pod.uid()).append(" on node ").append(node);
  return in_memory ? note + " (in kube-scheduler memory)." : note;
}

}  // namespace

void Evictions::Begin(const berth::Pod& pod, std::string_view node, const Units& victims) {
  const std::string uid(pod.uid());
  ForgetVictims(uid);
  Preemptor& preemptor = preemptors_[uid];
  preemptor.node = node;
  preemptor.retry.reset();
  for (const Unit& victim : victims) {
    victim.ForEachPod([&](const berth_pod& each) {
      if (each.meta->deleted_ns != 0) return;
      const std::string victim_uid(berth::Pod(each).uid());
      preemptor.victims.try_emplace(victim_uid);
      waiting_for_[victim_uid].push_back(uid);
      Evict(pod, node, each);
    });
  }
}

void Evictions::Evict(const berth::Pod& pod, std::string_view node, const berth_pod& victim) {
  const std::string message = MessageFor(host_.Text(pod->scheduler_name));
  const std::string pod_uid(pod.uid());
  const std::string victim_uid(berth::Pod(victim).uid());
  auto answer = [this, node = std::string(node), preemptor = host_.Retain(*pod),
                 evicted = host_.Retain(victim)](const berth::ApiResult& result) {
    if (result.code() == BERTH_CANCELLED) return;  // The instance ends.
    if (result.ok()) {
      const std::string note = NoteFor(*preemptor, node, result.in_memory());
      (void)host_.api().Event(
          *evicted, *preemptor,
          {.type = "Normal", .reason = "Preempted", .action = "Preempting", .note = note});
    }
    OnAnswer(berth::Pod(*preemptor).uid(), berth::Pod(*evicted).uid(),
             {.ok = result.ok(), .in_memory = result.in_memory()});
  };
  const berth::Status sent = host_.api().Evict(victim, message, std::move(answer));
  if (sent.ok()) return;
  host_.log().Error("cannot evict a victim", {{"victim", victim_uid}, {"pod", pod_uid}});
  // Later, because the pod cannot be activated within its own attempt.
  (void)host_.timers().Post(
      [this, pod_uid, victim_uid] { OnAnswer(pod_uid, victim_uid, {.ok = false}); });
}

void Evictions::OnAnswer(std::string_view pod, std::string_view victim, Answer answer) {
  const auto preemptor = preemptors_.find(pod);
  if (preemptor == preemptors_.end()) return;
  const auto waited = preemptor->second.victims.find(victim);
  if (waited == preemptor->second.victims.end()) return;
  waited->second.is_answered = true;
  if (answer.in_memory) preemptor->second.needs_activation = true;
  if (!answer.ok) preemptor->second.has_failed = true;
  if (!answer.ok) return EndWait(preemptor, victim);
  Settle(preemptor, victim);
}

void Evictions::OnEnding(std::string_view victim) {
  const auto waiting = waiting_for_.find(victim);
  if (waiting == waiting_for_.end()) return;
  const std::vector<std::string> pods = waiting->second;
  for (const std::string& pod : pods) {
    const auto preemptor = preemptors_.find(pod);
    preemptor->second.victims.find(victim)->second.is_ending = true;
    Settle(preemptor, victim);
  }
}

void Evictions::Settle(Preemptors::iterator preemptor, std::string_view victim) {
  const Victim& waited = preemptor->second.victims.find(victim)->second;
  if (waited.is_answered && waited.is_ending) EndWait(preemptor, victim);
}

void Evictions::EndWait(Preemptors::iterator preemptor, std::string_view victim) {
  auto& [uid, state] = *preemptor;
  state.victims.erase(state.victims.find(victim));
  const auto waiting = waiting_for_.find(victim);
  std::erase(waiting->second, uid);
  if (waiting->second.empty()) waiting_for_.erase(waiting);
  if (!state.victims.empty()) return;
  Wake(preemptor);
}

void Evictions::Wake(Preemptors::iterator preemptor) {
  auto& [uid, state] = *preemptor;
  const bool has_failed = std::exchange(state.has_failed, false);
  const bool is_due = std::exchange(state.was_held_back, false) || state.needs_activation;
  state.needs_activation = false;
  state.failures = has_failed ? std::min(state.failures + 1, kFailuresMax) : 0;
  if (state.failures > 1) {
    state.retry = std::make_unique<berth::Timer>(
        host_.timers(), [this, uid = uid] { (void)host_.activate().Pod(uid); });
    (void)state.retry->Start(kFirstDelay * (1U << (state.failures - 2)));
  } else if (is_due || has_failed) {
    (void)host_.activate().Pod(uid);
  }
}

bool Evictions::HoldBack(std::string_view uid) {
  const auto preemptor = preemptors_.find(uid);
  if (preemptor == preemptors_.end() || preemptor->second.victims.empty()) return false;
  preemptor->second.was_held_back = true;
  return true;
}

std::string_view Evictions::NodeOf(std::string_view uid) const {
  const auto preemptor = preemptors_.find(uid);
  return preemptor == preemptors_.end() ? std::string_view() : preemptor->second.node;
}

void Evictions::ForgetNode(std::string_view uid) {
  const auto preemptor = preemptors_.find(uid);
  if (preemptor != preemptors_.end()) preemptor->second.node.clear();
}

void Evictions::ForgetVictims(std::string_view uid) {
  const auto preemptor = preemptors_.find(uid);
  if (preemptor == preemptors_.end()) return;
  for (const auto& [victim, state] : preemptor->second.victims) {
    const auto waiting = waiting_for_.find(victim);
    std::erase(waiting->second, uid);
    if (waiting->second.empty()) waiting_for_.erase(waiting);
  }
  preemptor->second.victims.clear();
}

void Evictions::OnChange(const berth::Change& change) {
  if (preemptors_.empty()) return;
  switch (change.kind) {
    case BERTH_CHANGE_POD_CHANGED:
      if (change.pod->meta->deleted_ns != 0) OnEnding(berth::Pod(*change.pod).uid());
      return;
    case BERTH_CHANGE_POD_REMOVED: return OnEnding(berth::Pod(*change.pod).uid());
    // The pod has a node, or is gone.
    case BERTH_CHANGE_PENDING_REMOVED: {
      const std::string_view uid = berth::Pod(*change.pod).uid();
      ForgetVictims(uid);
      const auto preemptor = preemptors_.find(uid);
      if (preemptor != preemptors_.end()) preemptors_.erase(preemptor);
      return;
    }
    default: return;
  }
}

}  // namespace preemption
