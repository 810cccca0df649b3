// EventsToRegister and Hint: register the events that may make a pod schedulable that this plugin
// rejected.
//
//   // Called once, after the constructor. Empty: only a flush or Activate requeues such a pod.
//   std::vector<berth::EventInterest> EventsToRegister() const;
//
//   // Decides whether the event may help the pod. Optional: without it, every registered event
//   // requeues the pod.
//   berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event);
//
// A plugin without EventsToRegister is assumed to depend on everything but new pods: every event of
// the cluster except BERTH_RESOURCE_UNSCHEDULED_POD requeues the pods that it rejected, also the
// events that the failure of another pod causes. This costs an attempt for each event. A plugin
// whose pods wait for other pods without a node, such as members of a group, registers for that
// event.
//
// Called:    Hint for each parked pod that the plugin rejected, when a registered event occurs. If
//            the interest has pod_parts, `queued` is any one of the pods that are equal in these
//            parts: read only these parts of it. In a group, `queued` is one member
//            (BERTH_QUEUED_MEMBER).
// Threading: [queue].
// Must not:  block. An exception from Hint counts as kQueue: the pod is tried once too often rather
//            than never again. After an exception in a call that cannot return a status, such as
//            OnChange, Hint is not called any more and counts as kQueue too.
#ifndef BERTH_ENQUEUE_EXTENSIONS_H_
#define BERTH_ENQUEUE_EXTENSIONS_H_

#include <concepts>
#include <cstdint>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/pod.h>
BERTH_INTERNAL_DETECT(EventsToRegister);
BERTH_INTERNAL_DETECT(Hint);

namespace berth {
using Queued = berth_queued;
using Event = berth_event;

// Return the object of an event, or null if the event has another kind of object or none.
inline const berth_pod* PodIn(const berth_tagged& tagged) {
  return tagged.kind == BERTH_KIND_POD ? static_cast<const berth_pod*>(tagged.object) : nullptr;
}
inline const berth_node* NodeIn(const berth_tagged& tagged) {
  return tagged.kind == BERTH_KIND_NODE ? static_cast<const berth_node*>(tagged.object) : nullptr;
}
inline const berth_object* ObjectIn(const berth_tagged& tagged) {
  return tagged.kind == BERTH_KIND_OBJECT ? static_cast<const berth_object*>(tagged.object)
                                          : nullptr;
}

enum class QueueingHint : uint32_t {
  kSkip = BERTH_HINT_SKIP,    // The event does not help the pod.
  kQueue = BERTH_HINT_QUEUE,  // The pod is tried again.
};

// The events that a plugin registers for: {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD |
// BERTH_ACTION_UPDATE_NODE_TAINT}.
struct EventInterest {
  uint32_t resource = 0;       // BERTH_RESOURCE_*
  uint32_t actions = 0;        // BERTH_ACTION_*
  bool always = false;         // Requeue the pod without calling Hint.
  const char* kind = nullptr;  // With BERTH_RESOURCE_CUSTOM: "group/version/Kind", a literal.
  // BERTH_PART(..) | ..: every part of a parked pod that Hint reads. The host calls Hint once for
  // all pods that are equal in these parts, which keeps events cheap when many pods wait. 0: once
  // for each pod.
  uint64_t pod_parts = 0;
};

namespace internal {

struct EnqueueExtensionsPoint {
  static constexpr const char* kId = BERTH_POINT_ENQUEUE_EXTENSIONS;
  template <class P>
  static constexpr bool kNamed = kHasEventsToRegister<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kEventsFit = requires(const P& plugin) {
      { plugin.EventsToRegister() } -> std::same_as<std::vector<EventInterest>>;
    };
    constexpr bool kHintFits = requires(P & plugin, const Queued& queued, const Event& event) {
      { plugin.Hint(queued, event) } -> std::same_as<QueueingHint>;
    };
    BERTH_INTERNAL_CHECK_METHOD(EventsToRegister, P, (kEventsFit),
                                "expected\n"
                                "  std::vector<berth::EventInterest> EventsToRegister() const");
    BERTH_INTERNAL_CHECK_METHOD(
        Hint, P, (kHintFits),
        "expected\n"
        "  berth::QueueingHint Hint(const berth::Queued& queued, const berth::Event& event)");
    static_assert(!kHasHint<P> || kNamed<P>, "Hint requires EventsToRegister in the same class");
  }

  template <class I>
  struct Table {
    static constexpr bool kHints = kHasHint<typename I::PluginType>;
    std::vector<berth_event_interest> interests;
    berth_enqueue_extensions abi = {sizeof(berth_enqueue_extensions), 0, {}, nullptr};

    explicit Table(const I& instance) {
      for (const EventInterest& interest : instance.plugin().EventsToRegister()) {
        interests.push_back({interest.resource, interest.actions, interest.kind,
                             kHints && !interest.always ? 1U : 0U, 0, interest.pod_parts});
      }
      abi.interests = {interests.data(), static_cast<uint32_t>(interests.size()),
                       sizeof(berth_event_interest)};
      if constexpr (kHints) abi.hint = &Hint;
    }
    static uint32_t Hint(void* self, const berth_queued* queued,
                         const berth_event* event) noexcept {
      I& instance = *static_cast<I*>(self);
      // An index that missed a change cannot tell whether the event helps.
      if (instance.fault.set()) return BERTH_HINT_QUEUE;
      QueueingHint hint = QueueingHint::kQueue;
      GuardHint(instance.services, "Hint", [&] { hint = instance.plugin().Hint(*queued, *event); });
      return static_cast<uint32_t>(hint);
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_ENQUEUE_EXTENSIONS_H_
