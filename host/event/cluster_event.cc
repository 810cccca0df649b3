#include "host/event/cluster_event.h"

#include <algorithm>

namespace berth::host {
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
    route.Add({PodAction::kAddToCache, pod, nullptr});
  } else if (IsOurs(pod, profiles)) {
    route.Add({PodAction::kAddToQueue, pod, nullptr});
  }
}

void RouteRemoved(const PodRef& pod, std::span<const Id> profiles, PodRoute& route) {
  if (IsAssigned(pod)) {
    route.Add({PodAction::kRemoveFromCache, pod, nullptr});
  } else if (IsOurs(pod, profiles)) {
    route.Add({PodAction::kRemoveFromQueue, pod, nullptr});
  }
}

void RouteModified(const PodRef& old, const PodRef& now, std::span<const Id> profiles,
                   PodRoute& route) {
  const bool was_assigned = IsAssigned(old);
  const bool is_assigned = IsAssigned(now);
  if (was_assigned && old->view().node_name == now->view().node_name) {
    route.Add({PodAction::kUpdateInCache, now, old});
  } else if (was_assigned) {
    RouteRemoved(old, profiles, route);
    RouteAdded(now, profiles, route);
  } else if (is_assigned) {
    route.Add({PodAction::kAddToCache, now, nullptr});
    if (IsOurs(old, profiles)) route.Add({PodAction::kRemoveBoundFromQueue, now, old});
  } else if (IsOurs(old, profiles) && IsOurs(now, profiles)) {
    route.Add({PodAction::kUpdateInQueue, now, old});
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
    route.Add({PodAction::kRemoveAnywhere, old, nullptr});
    if (event.type == WatchType::kModified) RouteAdded(pod, profiles, route);
    return route;
  }
  if (event.type == WatchType::kDeleted) {
    if (event.final_state_unknown) {
      route.Add({PodAction::kRemoveAnywhere, pod, nullptr});
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
    route.Add({WatchType::kAdded, node, nullptr});
    return route;
  }
  const NodeRef& old = std::get<NodeRef>(event.previous);
  if (event.type == WatchType::kDeleted) {
    route.Add({WatchType::kDeleted, old->uid() == node->uid() ? node : old, nullptr});
  } else if (old->uid() != node->uid()) {
    route.Add({WatchType::kDeleted, old, nullptr});
    route.Add({WatchType::kAdded, node, nullptr});
  } else if (!IsSameVersion(*old, *node)) {
    route.Add({WatchType::kModified, node, old});
  }
  return route;
}

}  // namespace berth::host
