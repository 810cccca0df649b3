// The evictions that are under way, and the pods that wait for them.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_EVICTIONS_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_EVICTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <berth/changes.h>
#include <berth/host.h>
#include <berth/pod.h>
#include <berth/scheduling.h>

#include "unit.h"

namespace preemption {

// Evicts victims without waiting. A pod that preempted is held back until the last of its victims
// is being deleted or is gone: an attempt before that would find the victims still there, and might
// preempt others. Then the pod is activated if an event would have requeued it meanwhile, if an
// eviction failed, or if no deletion is to come that would requeue it. After further failures in a
// row, it is activated after a growing delay, so that evictions that always fail cost little.
//
//   Begin ---> every victim: requested --> answered and ending ---> the pod may be tried
//                                     \--> failed ----------------/
//
// An eviction that was answered ends the wait only when the change of the victim has arrived too,
// in whichever order. Evictions that never were answered end with the instance.
//
// kube-scheduler: preemption/executor.go. It deletes the last victim after the others, so that
// the deletion of that one requeues the pod. Here every victim counts, so that all are deleted at
// the same time.
//
// Threading: the scheduling thread.
class Evictions {
 public:
  explicit Evictions(const berth::Host& host) : host_(host) {}

  // Evicts the victims on the node, except for those that are being deleted already, for the pod of
  // the present attempt. Called: within PostFilter.
  void Begin(const berth::Pod& pod, std::string_view node, const Units& victims);

  // Returns whether the pod must wait. If so, it is activated when the wait ends.
  // Called: when the pod would become ready.
  bool HoldBack(std::string_view uid);
  // Returns the node for which the pod preempted; empty if it did not. The pod's status may not
  // name the node yet.
  std::string_view NodeOf(std::string_view uid) const;
  // Forgets the node for which the pod preempted, because the nomination was cleared.
  void ForgetNode(std::string_view uid);

  // Called: for every change of the node table.
  void OnChange(const berth::Change& change);

 private:
  // An eviction for one pod.
  struct Victim {
    bool is_answered = false;
    bool is_ending = false;  // The victim is being deleted or is gone.
  };
  // A pod that preempted.
  struct Preemptor {
    std::string node;
    std::map<std::string, Victim, std::less<>> victims;  // By uid, while the pod waits for them.
    bool was_held_back = false;
    bool needs_activation = false;  // No event is to come that requeues the pod.
    bool has_failed = false;        // An eviction failed.
    uint32_t failures = 0;          // The preemptions in a row of which an eviction failed.
    std::unique_ptr<berth::Timer> retry = nullptr;  // Activates the pod later.
  };
  // The answer to an eviction.
  struct Answer {
    bool ok = false;
    bool in_memory = false;  // No deletion is to come.
  };
  using Preemptors = std::map<std::string, Preemptor, std::less<>>;

  void Evict(const berth::Pod& pod, std::string_view node, const berth_pod& victim);
  void OnAnswer(std::string_view pod, std::string_view victim, Answer answer);
  void OnEnding(std::string_view victim);
  // Ends the wait of the pod for the victim if the eviction is over, and the wait of the pod if it
  // was the last one.
  void Settle(Preemptors::iterator preemptor, std::string_view victim);
  void EndWait(Preemptors::iterator preemptor, std::string_view victim);
  void Wake(Preemptors::iterator preemptor);
  // Ends the wait of the pod for all of its victims, which are evicted nevertheless.
  void ForgetVictims(std::string_view uid);

  const berth::Host host_;
  Preemptors preemptors_;
  // The pods that wait for a victim, by its uid. Two pods may have chosen the same victim.
  std::map<std::string, std::vector<std::string>, std::less<>> waiting_for_;
};

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_EVICTIONS_H_
