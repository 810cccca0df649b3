// What the queue passes to a plugin: waiting pods, and events.
#ifndef BERTH_TESTING_QUEUED_H_
#define BERTH_TESTING_QUEUED_H_

#include <cstdint>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/builders.h>
#include <berth/testing/call.h>
#include <berth/testing/instance.h>
#include <berth/testing/views.h>

namespace berth::testing {

// The queue's data for a pod.
struct QueuedSpec {
  PodSpec pod;
  std::string group = "";
  uint32_t attempts = 0;
  int64_t queued_ns = 0;
  int64_t first_attempt_ns = 0;
};

// An event for Hint(). An empty `old_*` means that the object is new; an empty `new_*` that it was
// deleted.
struct EventSpec {
  uint32_t resource = 0;  // BERTH_RESOURCE_*; POD_ANY for a pod: the kit determines the exact one
  uint32_t action = 0;    // BERTH_ACTION_*
  std::vector<PodSpec> old_pod = {};  // one or none
  std::vector<PodSpec> new_pod = {};
  std::vector<NodeSpec> old_node = {};
  std::vector<NodeSpec> new_node = {};
  std::vector<ObjectSpec> old_object = {};
  std::vector<ObjectSpec> new_object = {};

  // Returns the pod of the event; NULL for an event of another kind of object.
  const PodSpec* pod() const {
    if (!new_pod.empty()) return &new_pod.front();
    return old_pod.empty() ? nullptr : &old_pod.front();
  }
};

// Calls `use(const berth_queued&)` for the pod.
template <class Use>
void WithQueued(const QueuedSpec& spec, Ids& ids, Use use) {
  const PodHandle pod(spec.pod, ids);
  berth_queued queued{};
  queued.struct_size = sizeof queued;
  queued.kind = spec.group.empty() ? BERTH_QUEUED_POD : BERTH_QUEUED_GROUP;
  queued.pod = pod.get();
  queued.group = ToAbi(spec.group);
  queued.priority = pod->priority;
  queued.attempts = spec.attempts;
  queued.queued_ns = spec.queued_ns;
  queued.first_attempt_ns = spec.first_attempt_ns;
  use(queued);
}

// Calls the hints of one instance, as the queue does for a pod that the plugin rejected.
class HintCaller {
 public:
  // REQUIRES: the plugin has EnqueueExtensions.
  HintCaller(Instance* instance, Ids* ids) : instance_(*instance), ids_(*ids) {}

  // Returns the event with the exact resource for `pod`: the event's own pod is a TARGET_POD.
  static EventSpec SeenFrom(const PodSpec& pod, EventSpec event) {
    if (event.resource != BERTH_RESOURCE_POD_ANY || event.pod() == nullptr) return event;
    const PodSpec& subject = *event.pod();
    if (subject.uid == pod.uid) {
      event.resource = BERTH_RESOURCE_TARGET_POD;
    } else {
      event.resource = subject.node_name.empty() && subject.nominated_node.empty()
                           ? BERTH_RESOURCE_UNSCHEDULED_POD
                           : BERTH_RESOURCE_ASSIGNED_POD;
    }
    return event;
  }

  uint32_t count() const { return instance_.enqueue_extensions->interests.count; }
  const berth_event_interest& interest(uint32_t i) const {
    return *BERTH_AT(berth_event_interest, instance_.enqueue_extensions->interests, i);
  }
  // Returns whether interest `i` covers the event. BERTH_ACTION_UPDATE is covered only by interests
  // in every update, and UNSCHEDULED_POD only by interests that name it.
  bool IsFor(const EventSpec& event, uint32_t i) const {
    const uint32_t wanted = interest(i).resource;
    const bool is_pod = event.resource == BERTH_RESOURCE_ASSIGNED_POD ||
                        event.resource == BERTH_RESOURCE_TARGET_POD;
    const bool is_for_everyone = event.resource != BERTH_RESOURCE_UNSCHEDULED_POD;
    if (wanted != event.resource && !(wanted == BERTH_RESOURCE_WILDCARD && is_for_everyone) &&
        !(wanted == BERTH_RESOURCE_POD_ANY && is_pod)) {
      return false;
    }
    return (interest(i).actions & event.action) != 0 && event.action <= interest(i).actions;
  }

  // REQUIRES: interest `i` has a hint.
  uint32_t Invoke(const PodSpec& pod, const EventSpec& spec, uint32_t i) {
    berth_event event{};
    event.struct_size = sizeof event;
    event.resource = spec.resource;
    event.actions = spec.action;
    event.interest = i;
    std::vector<PodHandle> pods;
    std::vector<NodeHandle> nodes;
    std::vector<ObjectHandle> objects;
    const auto tag = [&](const std::vector<PodSpec>& of_pod, const std::vector<NodeSpec>& of_node,
                         const std::vector<ObjectSpec>& of_object) -> berth_tagged {
      if (!of_pod.empty()) {
        return {BERTH_KIND_POD, 0, pods.emplace_back(of_pod.front(), ids_).get()};
      }
      if (!of_node.empty()) {
        return {BERTH_KIND_NODE, 0, nodes.emplace_back(of_node.front(), ids_).get()};
      }
      if (!of_object.empty()) {
        return {BERTH_KIND_OBJECT, 0, objects.emplace_back(of_object.front(), ids_).get()};
      }
      return {0, 0, nullptr};
    };
    event.before = tag(spec.old_pod, spec.old_node, spec.old_object);
    event.after = tag(spec.new_pod, spec.new_node, spec.new_object);
    uint32_t hint = BERTH_HINT_QUEUE;
    WithQueued({pod}, ids_, [&](const berth_queued& queued) {
      const CallScope scope(&instance_.reporter(), "hint", kQueue);
      hint = instance_.enqueue_extensions->hint(instance_.self(), &queued, &event);
    });
    if (hint > BERTH_HINT_QUEUE) {
      instance_.reporter().Fail(Check::kCodes, "hint returns " + std::to_string(hint) +
                                                   ", which is not a BERTH_HINT_* value");
    }
    return hint;
  }

  Reporter& reporter() const { return instance_.reporter(); }

 private:
  Instance& instance_;
  Ids& ids_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_QUEUED_H_
