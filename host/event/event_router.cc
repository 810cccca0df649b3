#include "host/event/event_router.h"

#include <algorithm>
#include <tuple>

#include "host/base/kind_name.h"
#include "host/queue/queue_event.h"

namespace berth::host {

// --- cluster event -------------------------------------------------------------------------------

namespace {

bool IsAssigned(const PodRef& pod) { return pod->view().node_name != kNoId; }

bool IsOurs(const PodRef& pod, std::span<const Id> profiles) {
  return std::find(profiles.begin(), profiles.end(), pod->view().scheduler_name) != profiles.end();
}

// Returns whether both are the same version of an object. An empty resourceVersion never counts as
// the same.
bool IsSameVersion(const ObjectBase& old, const ObjectBase& now) {
  return old.resource_version() == now.resource_version() && !now.resource_version().empty();
}

void RouteAdded(const PodRef& pod, std::span<const Id> profiles, PodRoute& route) {
  if (IsAssigned(pod)) {
    route.push_back({PodAction::kAddToCache, pod, nullptr});
  } else if (IsOurs(pod, profiles)) {
    route.push_back({PodAction::kAddToQueue, pod, nullptr});
  }
}

void RouteRemoved(const PodRef& pod, std::span<const Id> profiles, PodRoute& route) {
  if (IsAssigned(pod)) {
    route.push_back({PodAction::kRemoveFromCache, pod, nullptr});
  } else if (IsOurs(pod, profiles)) {
    route.push_back({PodAction::kRemoveFromQueue, pod, nullptr});
  }
}

void RouteModified(const PodRef& old, const PodRef& now, std::span<const Id> profiles,
                   PodRoute& route) {
  const bool was_assigned = IsAssigned(old);
  const bool is_assigned = IsAssigned(now);
  if (was_assigned && old->view().node_name == now->view().node_name) {
    route.push_back({PodAction::kUpdateInCache, now, old});
  } else if (was_assigned) {
    RouteRemoved(old, profiles, route);
    RouteAdded(now, profiles, route);
  } else if (is_assigned) {
    route.push_back({PodAction::kAddToCache, now, nullptr});
    if (IsOurs(old, profiles)) route.push_back({PodAction::kRemoveBoundFromQueue, now, old});
  } else if (IsOurs(old, profiles) && IsOurs(now, profiles)) {
    route.push_back({PodAction::kUpdateInQueue, now, old});
  } else {
    RouteRemoved(old, profiles, route);
    RouteAdded(now, profiles, route);
  }
}

}  // namespace

PodRoute ClassifyPodEvent(const WatchEvent& event, std::span<const Id> profiles) {
  BERTH_ASSERT(event.has_object());
  PodRoute route;
  const PodRef& pod = std::get<PodRef>(event.object);
  if (event.type == WatchType::kAdded) {
    RouteAdded(pod, profiles, route);
    return route;
  }
  const PodRef& old = std::get<PodRef>(event.previous);
  if (old->uid() != pod->uid()) {
    route.push_back({PodAction::kRemoveAnywhere, old, nullptr});
    if (event.type == WatchType::kModified) RouteAdded(pod, profiles, route);
    return route;
  }
  if (event.type == WatchType::kDeleted) {
    if (event.final_state_unknown) {
      route.push_back({PodAction::kRemoveAnywhere, pod, nullptr});
    } else {
      RouteRemoved(pod, profiles, route);
    }
    return route;
  }
  if (!IsSameVersion(*old, *pod)) RouteModified(old, pod, profiles, route);
  return route;
}

NodeRoute ClassifyNodeEvent(const WatchEvent& event) {
  BERTH_ASSERT(event.has_object());
  NodeRoute route;
  const NodeRef& node = std::get<NodeRef>(event.object);
  if (event.type == WatchType::kAdded) {
    route.push_back({WatchType::kAdded, node, nullptr});
    return route;
  }
  const NodeRef& old = std::get<NodeRef>(event.previous);
  if (event.type == WatchType::kDeleted) {
    route.push_back({WatchType::kDeleted, old->uid() == node->uid() ? node : old, nullptr});
  } else if (old->uid() != node->uid()) {
    route.push_back({WatchType::kDeleted, old, nullptr});
    route.push_back({WatchType::kAdded, node, nullptr});
  } else if (!IsSameVersion(*old, *node)) {
    route.push_back({WatchType::kModified, node, old});
  }
  return route;
}

namespace {

QueueEvent PodEvent(uint32_t action, PodRef before, PodRef after) {
  return {.resource = BERTH_RESOURCE_ASSIGNED_POD,
          .action = action,
          .before = std::move(before),
          .after = std::move(after)};
}

QueueEvent NodeEvent(uint32_t action, NodeRef before, NodeRef after) {
  return {.resource = BERTH_RESOURCE_NODE,
          .action = action,
          .before = std::move(before),
          .after = std::move(after)};
}

// Calls `each` with every bit of `actions`, or once with BERTH_ACTION_UPDATE.
template <class Each>
void ForEachAction(uint32_t actions, Each each) {
  if (actions == BERTH_ACTION_UPDATE) return each(actions);
  for (uint32_t left = actions; left != 0; left &= left - 1) each(left & (~left + 1));
}

bool HasNode(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  return pod != nullptr && *pod != nullptr && !(*pod)->node_name().empty();
}

// Returns the type of an event in metrics: a pod that gets its node is a new pod on a node.
// (kube-scheduler: eventhandlers.go, whose informers have filters)
WatchType MeasuredTypeOf(const WatchEvent& event) {
  const bool gets_node =
      event.type == WatchType::kModified && HasNode(event.object) && !HasNode(event.previous);
  return gets_node ? WatchType::kAdded : event.type;
}

// Returns the label of an event in metrics: "NodeAdd", "AssignedPodDelete".
std::string WatchLabelOf(std::string_view kind, const WatchEvent& event,
                         KubeVersion emulated_version) {
  uint32_t action = BERTH_ACTION_UPDATE;
  if (MeasuredTypeOf(event) == WatchType::kAdded) action = BERTH_ACTION_ADD;
  if (event.type == WatchType::kDeleted) action = BERTH_ACTION_DELETE;
  if (std::holds_alternative<PodRef>(event.object)) {
    const uint32_t resource =
        HasNode(event.object) ? BERTH_RESOURCE_ASSIGNED_POD : BERTH_RESOURCE_UNSCHEDULED_POD;
    return EventLabel({.resource = resource, .action = action}, emulated_version);
  }
  std::string label(kind.substr(kind.rfind('/') + 1));
  switch (action) {
    case BERTH_ACTION_ADD: return label.append("Add");
    case BERTH_ACTION_DELETE: return label.append("Delete");
    default: return label.append("Update");
  }
}

}  // namespace

// The watch of one kind.
class EventRouter::Stream final : public WatchSink {
 public:
  // Must not: start the watch before the router knows the stream; see Start().
  Stream(EventRouter& router, std::string_view kind) : router_(router), kind_(kind) {}

  void Start(ObjectSource& source) { watch_ = source.StartWatch(kind_, *this); }

  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.has_object()) {
        Apply(event);
        continue;
      }
      is_synced_ = event.type == WatchType::kSynced;
      if (!std::exchange(is_known_, true)) --router_.unsynced_;
      router_.SetServed(kind_, is_synced_);
    }
  }

  // Returns whether the first objects were received, or the server does not serve the kind.
  bool is_known() const { return is_known_; }

 private:
  // Applies the event, and observes how long that takes if the router observes events.
  void Apply(const WatchEvent& event) {
    const Options& options = router_.options_;
    if (options.event_seconds == nullptr) return router_.Route(kind_, event, !is_synced_);
    const int64_t since_ns = options.clock->NowNs();
    router_.Route(kind_, event, !is_synced_);
    Histogram*& seconds =
        seconds_.at(static_cast<size_t>(MeasuredTypeOf(event))).at(HasNode(event.object) ? 1 : 0);
    if (seconds == nullptr) {
      seconds =
          &options.event_seconds->With({WatchLabelOf(kind_, event, options.emulated_version)});
    }
    seconds->ObserveNs(options.clock->NowNs() - since_ns);
  }

  EventRouter& router_;
  const std::string kind_;
  // The series of each type of event with an object, those of pods with a node apart, from its
  // first event on, so that a later observation takes no lock.
  std::array<std::array<Histogram*, 2>, 3> seconds_{};
  bool is_known_ = false;
  bool is_synced_ = false;
  std::unique_ptr<berth::host::Watch> watch_;  // Destroyed first.
};

EventRouter::~EventRouter() = default;

EventRouter::EventRouter(Cache& cache, ObjectStore& objects, SchedulingQueue& queue,
                         Options options)
    : cache_(cache), objects_(objects), queue_(queue), options_(std::move(options)) {
  SetDraining({});
  BERTH_ASSERT(options_.on_assumed_pod_deleting && options_.on_pod_bound &&
               options_.on_inconsistency);
}

// --- watches ------------------------------------------------------------------------------------

void EventRouter::StartWatches(ObjectSource& source, std::span<const std::string> kinds) {
  source_ = &source;
  declared_ = {kinds.begin(), kinds.end()};
  WatchUsedKinds();
  Watch(kNodeKind);
  Watch(kPodKind);
  DropUnusedKinds();
}

void EventRouter::StopWatches() { watches_.clear(); }

void EventRouter::Watch(std::string_view kind) {
  const auto [place, is_new] = watches_.try_emplace(std::string(kind), nullptr);
  if (!is_new) return;
  ++unsynced_;
  place->second = std::make_unique<Stream>(*this, kind);
  place->second->Start(*source_);
}

void EventRouter::WatchUsedKinds() {
  for (const std::string& declared : declared_) {
    for (const std::string& kind : KindsOf(declared)) {
      Watch(kind);
      if (objects_.IsServed(kind)) break;
    }
  }
}

void EventRouter::DropUnusedKinds() {
  std::set<std::string, std::less<>> used{std::string(kNodeKind), std::string(kPodKind)};
  for (const std::string& declared : declared_) {
    for (const std::string& kind : KindsOf(declared)) {
      used.insert(kind);
      if (objects_.IsServed(kind)) break;
    }
  }
  for (auto watch = watches_.begin(); watch != watches_.end();) {
    if (used.contains(watch->first)) {
      ++watch;
      continue;
    }
    if (!watch->second->is_known()) --unsynced_;
    for (const ObjectRef& object : objects_.ObjectsOf(watch->first)) {
      objects_.Remove(object->kind(), object->ns(), object->name());
    }
    watch = watches_.erase(watch);
  }
}

// A version that is served now may be preferred to one that was watched instead, and one that is no
// longer served needs a substitute.
void EventRouter::SetServed(std::string_view kind, bool served) {
  if (served == objects_.IsServed(kind)) return;
  const std::vector<std::string> before = UsedVersions();
  objects_.SetServed(kind, served);
  const std::vector<std::string> after = UsedVersions();
  std::set<std::pair<std::string, std::string>> changes;
  size_t i = 0;
  for (const std::string& declared : declared_) {
    // The objects of a kind with one version were events when they arrived.
    if (HasSeveralVersions(declared) && before[i] != after[i]) changes.emplace(before[i], after[i]);
    ++i;
  }
  for (const auto& [from, to] : changes) OnVersionChanged(from, to);
  if (served) {
    DropUnusedKinds();
  } else {
    WatchUsedKinds();
  }
}

std::vector<std::string> EventRouter::UsedVersions() const {
  std::vector<std::string> used;
  used.reserve(declared_.size());
  for (const std::string& declared : declared_) used.emplace_back(objects_.UsedKind(declared));
  return used;
}

void EventRouter::OnVersionChanged(std::string_view from, std::string_view to) {
  const auto counterpart = [this](std::string_view kind, const ObjectRef& object) {
    const ObjectRef found = objects_.Get(kind, object->ns(), object->name());
    return found != nullptr && found->uid() == object->uid() ? found : nullptr;
  };
  for (const ObjectRef& old : objects_.ObjectsOf(from)) {
    if (counterpart(to, old) == nullptr) OfferToQueue(BERTH_ACTION_DELETE, old, nullptr);
  }
  for (const ObjectRef& now : objects_.ObjectsOf(to)) {
    const ObjectRef old = counterpart(from, now);
    OfferToQueue(old == nullptr ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE, old, now);
  }
}

void EventRouter::Route(std::string_view kind, const WatchEvent& event, bool existed) {
  if (kind == kPodKind) return OnPod(event);
  if (kind == kNodeKind) return OnNode(event);
  OnObject(event, existed);
}

// --- nodes and other objects --------------------------------------------------------------------

void EventRouter::OnNode(const WatchEvent& event) {
  for (const NodeStep& step : ClassifyNodeEvent(event)) {
    switch (step.action) {
      case WatchType::kAdded:
        cache_.SetNode(step.node);
        queue_.OnEvent(NodeEvent(BERTH_ACTION_ADD, nullptr, step.node));
        break;
      case WatchType::kModified:
        cache_.SetNode(step.node);
        ForEachAction(NodeChange(*step.old, *step.node), [&](uint32_t action) {
          queue_.OnEvent(NodeEvent(action, step.old, step.node));
        });
        break;
      case WatchType::kDeleted:
        queue_.OnEvent(NodeEvent(BERTH_ACTION_DELETE, step.node, nullptr));
        cache_.RemoveNode(step.node->name());
        break;
      case WatchType::kSynced:
      case WatchType::kNotServed: break;
    }
  }
}

// If an object was replaced by one with another uid and the deletion was missed, waiting pods get a
// deletion and an addition, as for nodes and pods.
void EventRouter::OnObject(const WatchEvent& event, bool existed) {
  const auto* object = std::get_if<ObjectRef>(&event.object);
  BERTH_ASSERT(object != nullptr && *object != nullptr);
  const auto* previous = std::get_if<ObjectRef>(&event.previous);
  const ObjectRef before = previous != nullptr ? *previous : nullptr;
  const bool replaced = before != nullptr && before->uid() != (*object)->uid();
  if (event.type == WatchType::kDeleted) return RemoveObject(replaced ? before : *object);
  if (replaced) {
    RemoveObject(before);
    return SetObject(BERTH_ACTION_ADD, nullptr, *object, existed);
  }
  const bool is_same = event.type == WatchType::kModified && before != nullptr &&
                       before->resource_version() == (*object)->resource_version() &&
                       !(*object)->resource_version().empty();
  if (is_same) return;
  const bool is_new = event.type == WatchType::kAdded;
  SetObject(is_new ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE, before, *object, existed);
}

void EventRouter::SetObject(uint32_t action, const ObjectRef& before, const ObjectRef& object,
                            bool existed) {
  objects_.Set(object, existed);
  if (IsRead(object->kind())) OfferToQueue(action, before, object);
}

void EventRouter::RemoveObject(const ObjectRef& object) {
  objects_.Remove(object->kind(), object->ns(), object->name());
  if (IsRead(object->kind())) OfferToQueue(BERTH_ACTION_DELETE, object, nullptr);
}

bool EventRouter::IsRead(std::string_view kind) const {
  return objects_.IsServed(kind) || declared_.contains(kind);
}

void EventRouter::OfferToQueue(uint32_t action, const ObjectRef& before, const ObjectRef& after) {
  const std::string_view kind = (after != nullptr ? after : before)->kind();
  queue_.OnEvent(
      {.resource = EventResourceOf(kind), .action = action, .before = before, .after = after});
}

// --- pods ---------------------------------------------------------------------------------------

void EventRouter::OnPod(const WatchEvent& event) {
  UpdateOthersPending(event);
  for (const PodStep& step : ClassifyPodEvent(event, routed_)) Apply(step);
}

void EventRouter::Apply(const PodStep& step) {
  Status status;
  switch (step.action) {
    case PodAction::kAddToQueue:
      if (IsOursOrKnown(*step.pod)) queue_.Add(step.pod);
      break;
    case PodAction::kUpdateInQueue:
      if (IsOursOrKnown(*step.pod)) UpdateInQueue(step);
      break;
    case PodAction::kRemoveBoundFromQueue: RemoveBoundFromQueue(step.pod); break;
    case PodAction::kRemoveFromQueue: RemoveFromQueue(step.pod); break;
    case PodAction::kAddToCache: status = AddToCache(step.pod); break;
    case PodAction::kUpdateInCache: status = UpdateInCache(step); break;
    case PodAction::kRemoveFromCache: status = RemoveFromCache(step.pod); break;
    case PodAction::kRemoveAnywhere:
      RemoveFromQueue(step.pod);
      if (const PodRef assigned = cache_.PodOf(step.pod->uid())) status = RemoveFromCache(assigned);
      break;
  }
  if (!status.ok()) options_.on_inconsistency(status.message());
}

// Updates a pod in flight in the queue too, because the next attempt uses that version. A pod that
// is assumed and not in the queue was bound already, and the event is older than the binding.
void EventRouter::UpdateInQueue(const PodStep& step) {
  const std::string_view uid = step.pod->uid();
  const bool is_assumed = cache_.IsAssumed(uid);
  if (!is_assumed || queue_.Find(uid) != nullptr) queue_.Update(step.pod);
  const bool deletion_began = step.pod->terminating() && !step.old->terminating();
  if (deletion_began && is_assumed) options_.on_assumed_pod_deleting(uid);
}

void EventRouter::RemoveBoundFromQueue(const PodRef& pod) {
  queue_.Remove(pod->uid(), pod->node_name());
  options_.on_pod_bound(pod->uid());
}

void EventRouter::RemoveFromQueue(const PodRef& pod) {
  queue_.Remove(pod->uid());
  if (cache_.IsAssumed(pod->uid())) options_.on_assumed_pod_deleting(pod->uid());
}

// The assumption may have been wrong: the pod may be on another node, or have smaller requests by
// now. That room is offered to waiting pods.
Status EventRouter::AddToCache(const PodRef& pod) {
  const PodRef assumed = cache_.IsAssumed(pod->uid()) ? cache_.PodOf(pod->uid()) : nullptr;
  Status status = cache_.AddPod(pod);
  queue_.OnEvent(PodEvent(BERTH_ACTION_ADD, nullptr, pod));
  if (assumed == nullptr) return status;
  if (assumed->view().node_name != pod->view().node_name) {
    OnAssumedPodForgotten(assumed);
  } else if (const uint32_t change = PodChange(*assumed, *pod); change != BERTH_ACTION_UPDATE) {
    ForEachAction(change, [&](uint32_t action) { queue_.OnEvent(PodEvent(action, assumed, pod)); });
  }
  return status;
}

Status EventRouter::UpdateInCache(const PodStep& step) {
  Status status = cache_.UpdatePod(step.pod);
  ForEachAction(PodChange(*step.old, *step.pod),
                [&](uint32_t action) { queue_.OnEvent(PodEvent(action, step.old, step.pod)); });
  return status;
}

Status EventRouter::RemoveFromCache(const PodRef& pod) {
  Status status = cache_.RemovePod(pod->uid());
  queue_.OnEvent(PodEvent(BERTH_ACTION_DELETE, pod, nullptr));
  return status;
}

void EventRouter::OnAssumedPodForgotten(const PodRef& pod) {
  const std::string_view uid = pod->uid();
  queue_.OnEvent(PodEvent(BERTH_ACTION_DELETE, pod, nullptr),
                 [uid](const QueuedEntity& entity) { return !entity.Has(uid); });
}

void EventRouter::UpdateOthersPending(const WatchEvent& event) {
  const auto* pod = std::get_if<PodRef>(&event.object);
  BERTH_ASSERT(pod != nullptr);
  const auto* previous = std::get_if<PodRef>(&event.previous);
  if (previous != nullptr && *previous != nullptr) {
    others_pending_.erase(std::string((*previous)->uid()));
  }
  const berth_pod& view = (*pod)->view();
  const bool pending = event.type != WatchType::kDeleted && view.node_name == kNoId;
  if (pending && !IsOurs(**pod)) others_pending_.insert_or_assign(std::string((*pod)->uid()), *pod);
}

// --- profiles -----------------------------------------------------------------------------------

bool EventRouter::IsOurs(const Pod& pod) const {
  const Id name = pod.view().scheduler_name;
  return std::ranges::find(options_.profiles, name) != options_.profiles.end();
}

bool EventRouter::IsOursOrKnown(const Pod& pod) const {
  return IsOurs(pod) || queue_.Find(pod.uid()) != nullptr || cache_.IsAssumed(pod.uid());
}

void EventRouter::SetDraining(std::vector<Id> draining) {
  routed_ = std::move(draining);
  routed_.insert(routed_.end(), options_.profiles.begin(), options_.profiles.end());
}

void EventRouter::ReleasePod(const PodRef& pod) {
  queue_.Remove(pod->uid());
  others_pending_.insert_or_assign(std::string(pod->uid()), pod);
}

// Adds the pods of new profiles in the order of their creation, because their events would have
// arrived in that order.
void EventRouter::SetProfiles(std::vector<Id> profiles) {
  options_.profiles = std::move(profiles);
  std::vector<PodRef> joining, leaving;
  for (const auto& [uid, pod] : others_pending_) {
    if (IsOurs(*pod)) joining.push_back(pod);
  }
  queue_.ForEach([&](const QueuedEntity& entity) {
    if (entity.place == QueuePlace::kInFlight) return;
    entity.ForEachPod([&](const PodRef& pod) {
      if (!IsOurs(*pod)) leaving.push_back(pod);
    });
  });
  for (const PodRef& pod : leaving) ReleasePod(pod);
  std::ranges::sort(joining, {}, [](const PodRef& pod) {
    return std::tuple(pod->meta().created_ns, pod->Key());
  });
  for (const PodRef& pod : joining) {
    others_pending_.erase(others_pending_.find(pod->uid()));
    queue_.Add(pod);
  }
}

}  // namespace berth::host
