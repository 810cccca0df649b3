#include "host/process/shadow/shadow_event.h"

#include <utility>
#include <variant>

#include "host/base/assert.h"
#include "host/queue/queue_event.h"

namespace berth::host {
namespace {

bool HasNode(const PodRef& pod) { return pod->view().node_name != kNoId; }

const PodRef* PodIn(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  return pod != nullptr && *pod != nullptr ? pod : nullptr;
}

ShadowEventKind ClassifyPod(const WatchEvent& event, const PodRef& pod) {
  if (event.type != WatchType::kModified) {
    return HasNode(pod) ? ShadowEventKind::kEnvironment : ShadowEventKind::kNeutral;
  }
  const PodRef* previous = PodIn(event.previous);
  BERTH_ASSERT(previous != nullptr);
  if ((*previous)->uid() != pod->uid()) return ShadowEventKind::kEnvironment;
  if (HasNode(*previous)) {
    const bool is_same_place = HasNode(pod) && OnlyStatusChanged(**previous, *pod);
    return is_same_place ? ShadowEventKind::kNeutral : ShadowEventKind::kEnvironment;
  }
  if (HasNode(pod)) return ShadowEventKind::kPlacement;
  const std::string_view nominated = pod->nominated_node();
  const bool is_new = !nominated.empty() && nominated != (*previous)->nominated_node();
  return is_new ? ShadowEventKind::kNomination : ShadowEventKind::kNeutral;
}

std::string ObjectText(const AnyObject& object) {
  const std::string_view kind = KindOf(object);
  const std::string key = Base(object).Key();
  if (kind == kPodKind) return "pod " + key;
  if (kind == kNodeKind) return "node " + key;
  return std::string(kind.substr(kind.rfind('/') + 1)) + " " + key;
}

}  // namespace

ShadowEventKind ClassifyShadowEvent(const WatchEvent& event) {
  if (!event.has_object()) return ShadowEventKind::kMark;
  if (const PodRef* pod = PodIn(event.object)) return ClassifyPod(event, *pod);
  const NodeRef* node = std::get_if<NodeRef>(&event.object);
  if (node == nullptr || event.type != WatchType::kModified) return ShadowEventKind::kEnvironment;
  const NodeRef& previous = std::get<NodeRef>(event.previous);
  // A change that makes no pod schedulable may keep one from being scheduled.
  const bool is_heartbeat = previous->uid() == (*node)->uid() &&
                            NodeChange(*previous, **node) == 0 &&
                            NodeChange(**node, *previous) == 0;
  return is_heartbeat ? ShadowEventKind::kNeutral : ShadowEventKind::kEnvironment;
}

WatchEvent InverseOf(const WatchEvent& event) {
  BERTH_ASSERT(event.has_object());
  switch (event.type) {
    case WatchType::kAdded: return {WatchType::kDeleted, event.object, event.object};
    case WatchType::kDeleted: return {WatchType::kAdded, event.previous, {}};
    default: return {WatchType::kModified, event.previous, event.object};
  }
}

std::string DescribeChange(const WatchEvent& event) {
  BERTH_ASSERT(event.has_object());
  const std::string object = ObjectText(event.object);
  switch (ClassifyShadowEvent(event)) {
    case ShadowEventKind::kPlacement: return object + " was bound";
    case ShadowEventKind::kNomination: return object + " was nominated";
    default: break;
  }
  switch (event.type) {
    case WatchType::kAdded: return object + " was added";
    case WatchType::kDeleted: return object + " was deleted";
    default: return object + " was changed";
  }
}

ShadowEvent::ShadowEvent(std::shared_ptr<ShadowRoute> to, WatchEvent what, int64_t now_ns)
    : route(std::move(to)),
      event(std::move(what)),
      kind(ClassifyShadowEvent(event)),
      arrived_ns(now_ns) {}

std::string_view ShadowEvent::pod_uid() const {
  if (!event.has_object()) return {};
  const PodRef* pod = PodIn(event.object);
  return pod != nullptr ? (*pod)->uid() : std::string_view();
}

bool ShadowEvent::ChangesPlacedPod() const {
  if (kind == ShadowEventKind::kPlacement || pod_uid().empty()) return false;
  if (event.type == WatchType::kAdded) return HasNode(*PodIn(event.object));
  return HasNode(*PodIn(event.previous));
}

bool ShadowEvent::IsBindingTo(std::string_view node) const {
  return kind == ShadowEventKind::kPlacement && (*PodIn(event.object))->node_name() == node;
}

bool ShadowEvent::Precedes(const ShadowEvent& other) const {
  if (arrival == 0 || other.arrival == 0) return false;
  const int32_t own = (*PodIn(event.object))->view().priority;
  const int32_t others = (*PodIn(other.event.object))->view().priority;
  return own != others ? own > others : arrival < other.arrival;
}

ShadowDetour::~ShadowDetour() {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (step->is_applied) {
      step->event->Undo();
    } else {
      step->event->Apply();
    }
  }
}

void ShadowDetour::Apply(const ShadowEvent& event) {
  event.Apply();
  steps_.push_back({&event, true});
}

void ShadowDetour::Undo(const ShadowEvent& event) {
  event.Undo();
  steps_.push_back({&event, false});
}

void ShadowEvent::Deliver(WatchEvent what) const {
  if (route->sink != nullptr) route->sink->OnEvents(std::span(&what, 1));
}

}  // namespace berth::host
