// What the queue passes to a plugin: waiting pods, and events.
#ifndef BERTH_TESTING_QUEUED_H_
#define BERTH_TESTING_QUEUED_H_

#include <cstdint>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/views.h>

namespace berth::testing {

// The queue's data for a pod.
struct QueuedSpec {
  PodSpec pod = {};
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
  const PodSpec* pod() const;
};

// The views of an event.
class EventView {
 public:
  EventView(EventSpec spec, Ids& ids);

  const EventSpec& spec() const { return spec_; }
  // Returns the event as interest `i` receives it.
  berth_event abi(uint32_t i) const;

 private:
  EventSpec spec_;
  std::vector<PodHandle> pods_;
  std::vector<NodeHandle> nodes_;
  std::vector<ObjectHandle> objects_;
  berth_tagged before_;
  berth_tagged after_;
};

// Calls `use(const berth_queued&)` for the pod. `spec.pod` is not used.
template <class Use>
void WithQueued(const QueuedSpec& spec, const PodHandle& pod, Use use) {
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

template <class Use>
void WithQueued(const QueuedSpec& spec, Ids& ids, Use use) {
  WithQueued(spec, PodHandle(spec.pod, ids), use);
}

// Calls the hints of one instance, as the queue does for a pod that the plugin rejected.
class HintCaller {
 public:
  // REQUIRES: the plugin has EnqueueExtensions.
  explicit HintCaller(Instance* instance) : instance_(*instance) {}

  // Returns the event with the exact resource for `pod`: the event's own pod is a TARGET_POD.
  static EventSpec SeenFrom(const PodSpec& pod, EventSpec event);

  uint32_t count() const { return instance_.enqueue_extensions->interests.count; }
  const berth_event_interest& interest(uint32_t i) const;
  // Returns whether interest `i` covers the event. BERTH_ACTION_UPDATE is covered only by interests
  // in every update, and UNSCHEDULED_POD only by interests that name it.
  bool IsFor(const EventSpec& event, uint32_t i) const;

  // Returns the hint; BERTH_HINT_QUEUE for a value that is unknown here, as in the host. The value
  // is reported unless the plugin was built with a later version of abi.h.
  // REQUIRES: interest `i` has a hint.
  uint32_t Invoke(const PodHandle& pod, const EventView& event, uint32_t i);

  Reporter& reporter() const { return instance_.reporter(); }

 private:
  Instance& instance_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_QUEUED_H_
