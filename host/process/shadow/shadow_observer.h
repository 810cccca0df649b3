// Judges the placements of another scheduler while they are observed.
//
// The other scheduler does not decide in the state in which its bindings become visible:
//
//   - It counts a pod on its node from the decision on, and sends bindings in parallel, so that
//     they arrive in another order than that of the decisions.
//   - A change of a node, a deletion of a pod or another change may have reached it only after a
//     decision whose binding arrives here after the change; changes of different kinds arrive in
//     any order.
//   - If it needs time before the binding, for volumes or on Permit, it writes its choice to
//     status.nominatedNodeName when it has decided.
//
// Therefore all events are delivered to the scheduler a moment later than they arrive, in an order
// that may differ from that of their arrival. A placement is first judged at its own place. If the
// two schedulers do not agree there, it is judged again in other states:
//
//   1. with the bindings in the order of the scheduling queue: a pod of a higher priority, or else
//      one that was created earlier, has its node, and a later one has none. This applies to pods
//      that were created after the start and have not changed since: a pod that was rejected has
//      another place in the queue. All others stay where they are;
//   2. without the last changes of nodes, other objects and pods that had a node;
//   3. after the bindings and other changes that arrived shortly after it, one by one. If one of
//      these states explains it, the events of this state are delivered before it, and it is judged
//      in its new place when its turn comes;
//   4. without the last events of any kind;
//   5. with single bindings in the other order: it is judged after a later binding to the node that
//      this scheduler prefers, or before an earlier one to the node of the other scheduler, until
//      both agree.
//
// If a state explains the placement, the verdict is kOrder. To judge in a state of the past, the
// last events are undone with their inverses (ShadowEvent::Undo) and applied again afterwards; to
// judge in a state of the future, events are applied and undone. The order is therefore decided
// by delaying and reordering events, and no part of the scheduler takes part in it.
//
// Placements of other pods between the two places keep their own verdicts: each pod is judged once
// for the result, in a state that contains the placements that were delivered before it.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_OBSERVER_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_OBSERVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/base/string_map.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cycle/scheduling_loop.h"
#include "host/process/shadow/shadow_event.h"
#include "host/process/shadow/shadow_judge.h"

namespace berth::host {

// The counts of a shadow run.
struct ShadowTotals {
  std::array<uint64_t, kShadowVerdictCount> by_verdict = {};  // Indexed by ShadowVerdict.
  // Pods that had a node when they were first seen after the start; they are not judged.
  uint64_t unseen = 0;
  // Judged pods for which no other state was tried, because the observer was late.
  uint64_t hurried = 0;

  // Returns how many judged pods have a verdict that fulfils the condition.
  uint64_t Count(bool (*condition)(ShadowVerdict verdict)) const;
  uint64_t judged() const {
    return Count([](ShadowVerdict) { return true; });
  }
  uint64_t unexplained() const { return Count(IsUnexplained); }
  // The share of the judged pods about which both schedulers decide alike, in per cent. 100 if no
  // pod was judged.
  double agreement() const;
};

// The scheduling loop never tries a pod: its owner calls Settle() and never Step(). The cache
// follows the cluster, and the profile that a pod names decides about it; pods that name no profile
// are judged with the first one, without the nominations of such pods.
//
// Threading: the scheduling thread.
class ShadowObserver {
 public:
  using Listener = std::function<void(const ShadowDecision& decision)>;
  struct Options {
    // The values of spec.schedulerName of the pods that are judged.
    std::set<std::string, std::less<>> scheduler_names;
    // How long events are delayed, which is also how far a placement is moved at most.
    int64_t window_ns = kSecond;
    // See FeasibleNodesToFind().
    uint32_t percentage_of_nodes = 0;
    // In how many states a placement is judged again, in each of the ways 2 to 5.
    size_t max_tries = 64;
    // How often a placement is moved behind later events.
    size_t max_moves = 8;
    // If an event is delivered with a larger delay, the observer is late and tries no other states.
    int64_t late_ns = 10 * kSecond;
  };

  // `loop`, whose client is a ShadowClient that calls Receive(), and `clock` must outlive it.
  ShadowObserver(SchedulingLoop& loop, const Clock& clock, Options options, Listener listener);

  // As ShadowClient::Receive. Until all watches have delivered their first objects, events are
  // delivered within the call, and no placement is judged.
  void Receive(const std::shared_ptr<ShadowRoute>& route, std::span<WatchEvent> events);
  // Delivers events that have been delayed for long enough, and judges the placements among them.
  // Returns true if more of them are due; the caller can do other work before the next call.
  bool Tick();
  // Returns when Tick() next has work; nullopt if no event waits.
  std::optional<int64_t> NextTickNs() const;
  // Delivers all events, as if their delay had ended.
  void Finish();

  // Returns whether the first objects of all watches have been received.
  bool has_begun() const { return has_begun_; }
  const ShadowTotals& totals() const { return totals_; }

 private:
  // Notes the place of a new pod in the queue of the other scheduler, forgets that of one that has
  // changed, and sets ShadowEvent::arrival.
  void NoteArrival(ShadowEvent& event);
  void DeliverFirst();
  // Judges the first pending event. Returns false if it was moved behind others instead.
  bool Judge(ShadowEvent& first);
  bool IsJudged(const ShadowEvent& event) const;
  // Uses the verdict that was found for a pod when it was nominated. Returns false if there is
  // none for this node.
  bool ReportNomination(const ShadowEvent& event);
  // Judges a placement or a nomination in the present state.
  ShadowDecision JudgeNow(const ShadowEvent& event);
  // Ends the judgement of a placement or a nomination.
  void Conclude(const ShadowEvent& event, ShadowDecision decision);
  void Report(ShadowDecision decision);

  // Returns the decision in the order of the scheduling queue, if both schedulers agree in it. The
  // state is unchanged afterwards.
  std::optional<ShadowDecision> TryQueueOrder(const ShadowEvent& event);
  // Returns the decision in a state without the last events for which `is_undone` returns true, if
  // both schedulers agree in one; see the head of this file. The state is unchanged afterwards.
  std::optional<ShadowDecision> TryPast(const ShadowEvent& event,
                                        const std::function<bool(const ShadowEvent&)>& is_undone);
  // `decision`: the one in the present state.
  std::optional<ShadowDecision> TrySingleBindings(const ShadowEvent& event,
                                                  ShadowDecision decision);
  // Returns the positions in pending_ of the events with which both schedulers agree about the
  // first pending event; empty if there are none. The state is unchanged afterwards.
  std::set<size_t> FindLaterState(const ShadowEvent& event);
  // Return the events that the other scheduler may not have seen when it decided, the last one
  // first, and the positions in pending_ of those that it may have seen.
  std::vector<const ShadowEvent*> EarlierEvents(const ShadowEvent& event) const;
  std::vector<size_t> LaterEvents(const ShadowEvent& event) const;
  // Undoes the bindings of these pods in history_, and the later events of the pods.
  void UndoPods(const std::set<std::string_view>& uids, ShadowDetour& detour) const;
  // Moves these events, and the earlier events of their pods, ahead of the first pending event.
  void MoveAhead(const std::set<size_t>& positions);
  // Counts a pod that is first seen with a node, and drops what is known about a pod that is gone.
  void Forget(const ShadowEvent& event);

  SchedulingLoop& loop_;
  const Clock& clock_;
  const Options options_;
  const Listener listener_;
  const int64_t start_ns_;
  bool has_begun_ = false;
  ShadowTotals totals_;
  std::deque<ShadowEvent> pending_;  // The events that were not delivered, in the order to be used.
  std::deque<ShadowEvent> history_;  // The events of the last moments, in the order of delivery.
  StringMap<ShadowDecision> nominated_;  // Verdicts about nominated pods without a node, by uid.
  // As ShadowEvent::arrival, by uid: pods of the other scheduler that have not changed since they
  // were created.
  StringMap<uint64_t> arrivals_;
  uint64_t last_arrival_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_OBSERVER_H_
