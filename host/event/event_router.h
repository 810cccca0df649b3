// Where every change of the cluster goes: to the cache, to the queue, and to the pods that wait for
// such a change.
//
// kube-scheduler: pkg/scheduler/eventhandlers.go
#ifndef BERTH_HOST_EVENT_EVENT_ROUTER_H_
#define BERTH_HOST_EVENT_EVENT_ROUTER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/string_map.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/event/cluster_event.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// Applies changes one by one: what a pod that waits is told of has happened already, except that a
// node that goes is still there.
//
// Threading: the scheduling thread, between attempts.
// Lifetime:  cache, objects and queue must outlive it.
class EventRouter {
 public:
  struct Options {
    // schedulerName of each profile, as ids that live until others are set.
    std::vector<Id> profiles;
    // An assumed pod is being deleted, or is gone: its place may be given back, its binding will
    // fail. Must be set.
    std::function<void(std::string_view uid)> on_assumed_pod_going;
    // A pod of ours has a node: we have bound it, or somebody else has. Must be set.
    std::function<void(std::string_view uid)> on_pod_bound;
    // What the cluster says contradicts what we know. Must be set.
    std::function<void(std::string_view message)> on_contradiction;
  };

  EventRouter(Cache& cache, ObjectStore& objects, SchedulingQueue& queue, Options options);
  EventRouter(const EventRouter&) = delete;
  EventRouter& operator=(const EventRouter&) = delete;

  // Starts watching nodes, pods and `kinds`: objects and nodes first, so that the first cycle finds
  // what its pod may want. Later calls: those of `kinds` that are not watched yet.
  void StartWatches(Client& client, std::span<const std::string> kinds);
  // Other profiles: pods that wait for one that has come enter the queue, those of one that has
  // gone leave it, in flight when their attempt has ended (GiveUp). SetDraining() is then due.
  void SetProfiles(std::vector<Id> profiles);
  // Profiles that have gone and may have pods in flight, of which changes are told as before.
  void SetDraining(std::vector<Id> draining);
  // A pod of the queue, without a node, is nobody's business any more.
  void GiveUp(const PodRef& pod);
  // No event is routed any more.
  void StopWatches() { watches_.clear(); }

  void OnPod(const WatchEvent& event);
  void OnNode(const WatchEvent& event);
  void OnObject(const WatchEvent& event);

  // An assumed pod was taken back: what its deletion would be to others, but not to itself.
  void OnPlaceFreed(const PodRef& pod);

  // Everything that existed when the watches began has been seen.
  bool synced() const { return unsynced_ == 0; }
  // Pods without a node that name another scheduler: nobody's business here.
  size_t others_pending() const { return others_pending_.size(); }

 private:
  class Sink;

  void Watch(Client& client, std::string_view kind, void (EventRouter::*apply)(const WatchEvent&));
  void SetObject(uint32_t action, const ObjectRef& before, const ObjectRef& object);
  void RemoveObject(const ObjectRef& object);
  void Apply(const PodStep& step);
  void TakeFromQueue(const PodRef& pod);
  void UpdateInQueue(const PodStep& step);
  void RemoveFromQueue(const PodRef& pod);
  Status AddToCache(const PodRef& pod);
  Status UpdateInCache(const PodStep& step);
  Status RemoveFromCache(const PodRef& pod);
  void NoteOthers(const WatchEvent& event);
  bool IsOurs(const Pod& pod) const;
  // Of a profile, or on its way with one that has gone.
  bool Concerns(const Pod& pod) const;

  Cache& cache_;
  ObjectStore& objects_;
  SchedulingQueue& queue_;
  Options options_;
  std::vector<Id> routed_;                      // The profiles, and those that drain.
  StringMap<PodRef> others_pending_;            // By uid.
  std::set<std::string, std::less<>> watched_;  // Kinds.
  size_t unsynced_ = 0;
  std::vector<std::unique_ptr<WatchSink>> sinks_;
  std::vector<std::unique_ptr<berth::host::Watch>> watches_;  // Go before the sinks.
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_EVENT_ROUTER_H_
