#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/queued.h>
#include <berth/testing/report.h>
#include <berth/testing/views.h>

namespace berth::testing {

const PodSpec* EventSpec::pod() const {
  if (!new_pod.empty()) return &new_pod.front();
  return old_pod.empty() ? nullptr : &old_pod.front();
}

EventSpec HintCaller::SeenFrom(const PodSpec& pod, EventSpec event) {
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

const berth_event_interest& HintCaller::interest(uint32_t i) const {
  return *BERTH_AT(berth_event_interest, instance_.enqueue_extensions->interests, i);
}

bool HintCaller::IsFor(const EventSpec& event, uint32_t i) const {
  const uint32_t wanted = interest(i).resource;
  const bool is_pod =
      event.resource == BERTH_RESOURCE_ASSIGNED_POD || event.resource == BERTH_RESOURCE_TARGET_POD;
  const bool is_for_everyone = event.resource != BERTH_RESOURCE_UNSCHEDULED_POD;
  if (wanted != event.resource && !(wanted == BERTH_RESOURCE_WILDCARD && is_for_everyone) &&
      !(wanted == BERTH_RESOURCE_POD_ANY && is_pod)) {
    return false;
  }
  return (interest(i).actions & event.action) != 0 && event.action <= interest(i).actions;
}

EventView::EventView(EventSpec spec, Ids& ids) : spec_(std::move(spec)) {
  const auto tag = [&](const std::vector<PodSpec>& of_pod, const std::vector<NodeSpec>& of_node,
                       const std::vector<ObjectSpec>& of_object) -> berth_tagged {
    if (!of_pod.empty()) {
      return {BERTH_KIND_POD, 0, pods_.emplace_back(of_pod.front(), ids).get()};
    }
    if (!of_node.empty()) {
      return {BERTH_KIND_NODE, 0, nodes_.emplace_back(of_node.front(), ids).get()};
    }
    if (!of_object.empty()) {
      return {BERTH_KIND_OBJECT, 0, objects_.emplace_back(of_object.front(), ids).get()};
    }
    return {0, 0, nullptr};
  };
  before_ = tag(spec_.old_pod, spec_.old_node, spec_.old_object);
  after_ = tag(spec_.new_pod, spec_.new_node, spec_.new_object);
}

berth_event EventView::abi(uint32_t i) const {
  berth_event event{};
  event.struct_size = sizeof event;
  event.resource = spec_.resource;
  event.actions = spec_.action;
  event.interest = i;
  event.before = before_;
  event.after = after_;
  return event;
}

uint32_t HintCaller::Invoke(const PodHandle& pod, const EventView& view, uint32_t i) {
  const berth_event event = view.abi(i);
  uint32_t hint = BERTH_HINT_QUEUE;
  WithQueued({}, pod, [&](const berth_queued& queued) {
    const CallScope scope(&instance_.reporter(), "hint", kQueue);
    hint = instance_.enqueue_extensions->hint(instance_.self(), &queued, &event);
  });
  if (hint <= BERTH_HINT_QUEUE) return hint;
  if (!instance_.is_newer()) {
    instance_.reporter().Fail(Check::kCodes, "hint returns " + std::to_string(hint) +
                                                 ", which is not a BERTH_HINT_* value");
  }
  return BERTH_HINT_QUEUE;
}

}  // namespace berth::testing
