// The watch events of shadow mode, which are delivered later, and possibly in another order.
#ifndef BERTH_HOST_PROCESS_SHADOW_SHADOW_EVENT_H_
#define BERTH_HOST_PROCESS_SHADOW_SHADOW_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cluster/client.h"
#include "host/process/shadow/shadow_client.h"
#include "host/process/shadow/shadow_judge.h"

namespace berth::host {

// The effect of an event on the decisions about pods.
enum class ShadowEventKind : uint8_t {
  kNeutral,      // It changes no decision: a heartbeat, another condition, a pod without a node.
  kPlacement,    // A pod without a node has one now.
  kNomination,   // A pod without a node is nominated to another one now.
  kEnvironment,  // Any other change of what decisions depend on.
  kMark,         // It has no object. It is not reordered.
};

// Returns the meaning of an event.
ShadowEventKind ClassifyShadowEvent(const WatchEvent& event);

// Returns the event that undoes `event`: the addition of what was deleted, the deletion of what
// was added, and the change back. A binding is undone by a change to a pod without a node, which no
// API server allows and which EventRouter accepts.
// REQUIRES: the event has an object.
WatchEvent InverseOf(const WatchEvent& event);

// Returns what has happened, for texts: "pod default/web-0 was bound", "node node-7 was added".
// REQUIRES: the event has an object.
std::string DescribeChange(const WatchEvent& event);

struct ShadowEvent {
  ShadowEvent(std::shared_ptr<ShadowRoute> to, WatchEvent what, int64_t now_ns);

  // Delivers the event, or its inverse, unless the watch was destroyed.
  void Apply() const { Deliver(event); }
  void Undo() const { Deliver(InverseOf(event)); }

  // Returns the uid of the pod; empty if the event is not about a pod.
  std::string_view pod_uid() const;
  bool IsAboutPod(std::string_view uid) const { return !uid.empty() && pod_uid() == uid; }
  // Returns whether the event binds a pod to the node.
  bool IsBindingTo(std::string_view node) const;
  // Returns whether the pod of this event precedes that of the other one in the scheduling queue:
  // by its priority, then by its arrival. False if one of the arrivals is not known.
  bool Precedes(const ShadowEvent& other) const;
  // Returns whether the event changes a pod that had a node before it or has one without it: it is
  // no placement, and no change of a pod without a node.
  bool ChangesPlacedPod() const;

  std::shared_ptr<ShadowRoute> route;
  WatchEvent event;
  ShadowEventKind kind;
  int64_t arrived_ns;
  // For placements and nominations: the pod was the arrival-th one to enter the scheduling queue.
  // 0: not known.
  uint64_t arrival = 0;
  // The remaining members are used for placements and nominations that are judged.
  std::optional<ShadowDecision> first = {};  // The verdict in the order of arrival.
  size_t moves = 0;                          // How often it was moved behind later events.
  std::string moved_behind = {};             // The last of those events.

 private:
  void Deliver(WatchEvent what) const;
};

// A state of the scheduler in another order of events. The destructor goes back to the state at the
// construction.
// Lifetime: the events must outlive it.
class ShadowDetour {
 public:
  ShadowDetour() = default;
  ~ShadowDetour();
  ShadowDetour(const ShadowDetour&) = delete;
  ShadowDetour& operator=(const ShadowDetour&) = delete;

  void Apply(const ShadowEvent& event);
  void Undo(const ShadowEvent& event);

 private:
  struct Step {
    const ShadowEvent* event;
    bool is_applied;
  };
  std::vector<Step> steps_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SHADOW_SHADOW_EVENT_H_
