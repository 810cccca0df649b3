// Applies every change of the cluster to the cache and the queue, and requeues the pods that wait
// for such a change.
//
// When the server begins to serve a version of a kind that plugins prefer to the version in use,
// the objects of the new version arrive one by one, and all of them replace those of the old
// version when kSynced follows. Watchers get the objects of the old version as deleted and those of
// the new one as added (<berth/abi.h>, berth.objects/1). Parked pods get other events, because
// nothing was deleted or created in the cluster:
//   - an object that has the same namespace, name and uid in both versions is updated. This is an
//     event even if its resourceVersion is the same, because a version may have fields that the
//     other one does not have. A requeue that was not necessary costs one attempt, while a lost
//     event leaves a pod parked;
//   - an object that only one of the versions has is deleted or added.
//
// These events are applied when the version has changed. A change of an object of the new version
// before that is no event, because plugins do not get the object yet: an attempt that such an event
// leads to would be rejected again, and no event would follow.
//
// When the server ends to serve the version in use, there is no such moment. The objects are
// deleted before the client reports that the kind is not served, and those of another version are
// received later. Plugins find no object in between, so that the deletions and additions are
// events.
// (kube-scheduler watches one version of each kind.)
//
// kube-scheduler: pkg/scheduler/eventhandlers.go
#ifndef BERTH_HOST_EVENT_EVENT_ROUTER_H_
#define BERTH_HOST_EVENT_EVENT_ROUTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/metrics.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {

// --- cluster event -------------------------------------------------------------------------------
//
// Decides what a change of a pod or a node means for the queue and the cache. Pure functions.
//
// kube-scheduler: pkg/scheduler/eventhandlers.go

// An action on the queue or the cache. The queue holds pods without a node that name one of this
// scheduler's profiles; the cache holds all pods that have a node, whichever scheduler bound them.
enum class PodAction : uint8_t {
  kAddToQueue,
  // The pod may also be assumed, in flight or waiting, which the caller must handle.
  kUpdateInQueue,
  kRemoveFromQueue,
  // The pod was bound, by this scheduler or another one: it leaves the queue, but no room became
  // free.
  kRemoveBoundFromQueue,
  kAddToCache,  // Confirms the pod if it was assumed.
  kUpdateInCache,
  kRemoveFromCache,
  // The pod was deleted and its last state is unknown: remove it by its uid from the cache or the
  // queue, whichever has it. Neither may have it.
  kRemoveAnywhere,
};

struct PodStep {
  PodAction action = PodAction::kAddToQueue;
  PodRef pod;  // The current pod; for removals, its last known state.
  PodRef old;  // The previous pod for updates and kRemoveBoundFromQueue; otherwise null.
};

struct NodeStep {
  WatchType action = WatchType::kAdded;  // Never kSynced.
  NodeRef node;                          // The current node; for a deletion, its last known state.
  NodeRef old;                           // The previous node, for kModified.
};

// The steps for one change, to be taken in order.
using PodRoute = boost::container::static_vector<PodStep, 2>;
using NodeRoute = boost::container::static_vector<NodeStep, 2>;

// Returns the steps for a pod event. `event` must not be kSynced. `profiles` are the schedulerNames
// of this scheduler's profiles, as ids of the pods' interner; a pod that names one of them is
// called "ours" below.
//
//   added      with a node: added to the cache. Without a node and ours: added to the queue.
//              Otherwise no step.
//   modified   the same resourceVersion on both sides: no step; otherwise a pod could be scheduled
//              twice (kubernetes issue 96071).
//              with a node before and after: updated in the cache. If the node changed, which no
//              API server allows, the pod is removed and added again; kube-scheduler ends the
//              process.
//              without a node before, with one now: added to the cache, and removed from the queue
//              if ours.
//              without a node: updated in the queue if ours. If schedulerName changed, which the
//              API does not allow, the pod is added or removed.
//              with another uid than before: the deletion of the old pod was missed. The old pod is
//              removed wherever it is, before the new one is added.
//   deleted    removed from the cache if it had a node, otherwise from the queue if ours; with
//              `final_state_unknown`, removed wherever it is.
PodRoute ClassifyPodEvent(const WatchEvent& event, std::span<const Id> profiles);

// Returns the steps for a node event: no step for an unchanged resourceVersion, a deletion and an
// addition for another uid, otherwise the event itself.
NodeRoute ClassifyNodeEvent(const WatchEvent& event);

// --- event router --------------------------------------------------------------------------------

// Applies changes one by one. The cache is updated before waiting pods get the event, except that a
// deleted node is still in the cache during its event.
//
// Threading: the scheduling thread, between attempts.
// Lifetime:  cache, objects and queue must outlive the router.
class EventRouter {
 public:
  struct Options {
    // The schedulerName of each profile, as ids that live until others are set.
    std::vector<Id> profiles;
    // Observes the duration of each event of the cluster, by the label "event", with the clock.
    // Both or neither.
    HistogramFamily* event_seconds = nullptr;
    const Clock* clock = nullptr;
    // The version of kube-scheduler whose labels the events have.
    KubeVersion emulated_version = kNewestKubeVersion;
    // Called when an assumed pod is being deleted, or was deleted: its reservation may be released,
    // because its binding will fail. Must be set.
    std::function<void(std::string_view uid)> on_assumed_pod_deleting;
    // Called when a pod of one of the profiles was bound, by this scheduler or another one. Must be
    // set.
    std::function<void(std::string_view uid)> on_pod_bound;
    // Called when an event contradicts the cache. Must be set.
    std::function<void(std::string_view message)> on_inconsistency;
  };

  EventRouter(Cache& cache, ObjectStore& objects, SchedulingQueue& queue, Options options);
  ~EventRouter();
  EventRouter(const EventRouter&) = delete;
  EventRouter& operator=(const EventRouter&) = delete;

  // Starts watching nodes, pods and `kinds`, which may name several versions: the first one that
  // the server serves is watched. Other objects and nodes are watched before pods, so that the
  // first cycle finds what its pod needs. Later calls start only the watches of `kinds` that do not
  // exist yet, and end the watches of other kinds. The source must outlive the router.
  void StartWatches(ObjectSource& source, std::span<const std::string> kinds);
  // Replaces the profiles. Waiting pods of a new profile enter the queue, and those of a removed
  // profile leave it. The caller must then call SetDraining(), and must call ReleasePod() for a pod
  // in flight of a removed profile when the pod's attempt has ended.
  void SetProfiles(std::vector<Id> profiles);
  // Sets the removed profiles that may still have pods in flight. Changes of these pods are routed
  // as before.
  void SetDraining(std::vector<Id> draining);
  // Removes a pod without a node from the queue, because no profile is responsible for it any more.
  void ReleasePod(const PodRef& pod);
  // Stops all watches. No event is routed afterwards.
  void StopWatches();

  void OnPod(const WatchEvent& event);
  void OnNode(const WatchEvent& event);
  // `existed`: the object existed before it was watched.
  void OnObject(const WatchEvent& event, bool existed = false);

  // Applies the deletion of an assigned pod as an event to all other pods, after an assumed pod was
  // forgotten.
  void OnAssumedPodForgotten(const PodRef& pod);

  // Returns whether every object that existed when the watches began was received. A kind that the
  // server does not serve has no objects.
  bool synced() const { return unsynced_ == 0; }
  // Returns the number of pods without a node that name another scheduler.
  size_t other_schedulers_pending() const { return others_pending_.size(); }

 private:
  class Stream;

  void Watch(std::string_view kind);
  // Watches the versions of every declared kind, up to the first one that the server may serve.
  void WatchUsedKinds();
  // Ends the watches of kinds and versions that no declared kind uses, and removes their objects.
  // This is no event for parked pods: either they got the change of the version, or plugins did not
  // get the objects.
  void DropUnusedKinds();
  void SetServed(std::string_view kind, bool served);
  // Returns the version in use of each declared kind, in the order of declared_; empty if the
  // server serves none.
  std::vector<std::string> UsedVersions() const;
  // Applies, as events, that plugins get the objects of version `to` instead of those of `from`.
  // Either may be empty.
  void OnVersionChanged(std::string_view from, std::string_view to);
  // Returns whether plugins get the objects of this version: not while only kinds with several
  // versions name it and its first objects arrive.
  bool IsRead(std::string_view kind) const;
  void OfferToQueue(uint32_t action, const ObjectRef& before, const ObjectRef& after);
  void Route(std::string_view kind, const WatchEvent& event, bool existed);
  void SetObject(uint32_t action, const ObjectRef& before, const ObjectRef& object, bool existed);
  void RemoveObject(const ObjectRef& object);
  void Apply(const PodStep& step);
  void RemoveBoundFromQueue(const PodRef& pod);
  void UpdateInQueue(const PodStep& step);
  void RemoveFromQueue(const PodRef& pod);
  Status AddToCache(const PodRef& pod);
  Status UpdateInCache(const PodStep& step);
  Status RemoveFromCache(const PodRef& pod);
  void UpdateOthersPending(const WatchEvent& event);
  bool IsOurs(const Pod& pod) const;
  // Returns whether the pod names a profile, or is still in the queue or assumed for a removed one.
  bool IsOursOrKnown(const Pod& pod) const;

  Cache& cache_;
  ObjectStore& objects_;
  SchedulingQueue& queue_;
  Options options_;
  std::vector<Id> routed_;            // The profiles and the draining ones.
  StringMap<PodRef> others_pending_;  // Keyed by uid.
  ObjectSource* source_ = nullptr;    // Set by StartWatches().
  // The kinds that were passed to the last StartWatches().
  std::set<std::string, std::less<>> declared_;
  size_t unsynced_ = 0;
  std::map<std::string, std::unique_ptr<Stream>, std::less<>> watches_;  // By kind.
};

}  // namespace berth::host

#endif  // BERTH_HOST_EVENT_EVENT_ROUTER_H_
