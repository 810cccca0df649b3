// A cluster in this process, for first experiments, tests, simulation and plugin development. It
// rejects the requests that an API server rejects, with the same messages, and delivers the same
// watch events.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_CLUSTER_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_CLUSTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/delivery_queue.h"
#include "host/cluster/embedded/stored_objects.h"

namespace berth::host {

// The requests that an API server serves for single pods: binding, status patch and deletion.
// Executes each request within its call. The errors and their texts are those of an API server, as
// DecisionWriter describes them for the request of the same name. A request that fails changes
// nothing.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  the arguments of the constructor must outlive this object.
class PodRequestHandler {
 public:
  // The grace period of every pod; spec.terminationGracePeriodSeconds is ignored.
  static constexpr int64_t kDefaultGraceSeconds = 30;

  PodRequestHandler(StoredObjects& objects, ResourceVersions& versions, const Clock& clock)
      : objects_(objects), versions_(versions), clock_(clock) {}
  PodRequestHandler(const PodRequestHandler&) = delete;
  PodRequestHandler& operator=(const PodRequestHandler&) = delete;

  // Binds a pod: see DecisionWriter::Bind. Clears the pod's nomination and sets its condition
  // PodScheduled.
  Status Bind(const PodName& pod, std::string_view node);
  // Patches the status of a pod: see DecisionWriter::PatchPodStatus.
  Status PatchStatus(const PodName& pod, const PodStatusPatch& patch);
  // Deletes a pod: see DecisionWriter::DeletePod. A second deletion may shorten the grace period of
  // the first one, but does not extend it.
  Status Delete(const PodName& pod, std::optional<int64_t> grace_seconds);
  // Removes a pod that is being deleted, as a kubelet does when the containers have ended.
  // Errors: kNotFound; kConflict (another uid); kInvalidArgument if the pod is not being deleted.
  Status FinishDeletion(const PodName& pod);

 private:
  // Returns the pod. Never null on success.
  // Errors: kNotFound; kConflict (another uid), with the name of `resource`.
  Result<StoredObject*> FindPod(const PodName& pod, std::string_view resource);

  StoredObjects& objects_;
  ResourceVersions& versions_;
  const Clock& clock_;
};

// The cluster is in memory, and its owner drives it. A request is executed within its call. The
// callback and the watch events that result from it wait in one queue, in the order of the requests
// that caused them, until the owner calls Deliver(). The owner of the clock thus also determines
// the order of events.
//
// Differences from an API server: there are no controllers (only the owner finishes deletions,
// collects garbage and expires leases) and no finalizers; only fields that concern scheduling are
// validated; every pod has the grace period PodRequestHandler::kDefaultGraceSeconds; an update that
// changes nothing counts as a change. The uid, the creationTimestamp and the resourceVersion are
// set in the view of an object; the JSON text of kinds that have one stays as it was received.
//
// This class applies the rules for changes of whole objects. Its parts do the rest:
// PodRequestHandler executes the requests for single pods, StoredObjects stores the objects and
// notifies the watches, and DeliveryQueue orders what waits for delivery.
//
// Threading: all methods, including those of the bases, are called on the owner's thread.
// Lifetime:  it must outlive its watches.
class EmbeddedCluster final : public ObjectSource, public DecisionWriter {
 public:
  struct Options {
    // The source of all timestamps. It must outlive the cluster.
    const Clock& clock;
    // The maximum number of stored events; the oldest events are removed first.
    size_t max_events = 100000;
    // Serves Request(), for example with an EmbeddedApi. If it is empty, every request fails with
    // kUnsupported.
    std::function<ApiResponse(const ApiRequest&)> serve;
  };

  explicit EmbeddedCluster(Options options);

  // ---- Changes by users, kubelets and controllers -----------------------------------------------

  // Adds an object from a manifest as Create() does. The error for an object that already exists is
  // "duplicate v1/Pod default/web-0".
  Status Load(AnyObject object);

  // Creates an object. Keeps its uid and creationTimestamp, but not its resourceVersion. A pod with
  // scheduling gates gets the condition that an API server sets.
  // Returns: the object as stored.
  // Errors: kNotFound for a kind that is not served; kAlreadyExists; kInvalidArgument for an object
  //         without a name, and for a pod without a namespace or with the uid of another pod,
  //         because watchers identify pods by their uid.
  Result<AnyObject> Create(AnyObject object);

  // Replaces a whole object including its status. The uid and the timestamps of the stored object
  // are kept. `scheduled_message`: the message of the pod's condition PodScheduled, which the view
  // does not contain; nullopt keeps the recorded one.
  // Returns: the object as stored.
  // Errors: kNotFound; kConflict if the object has a resourceVersion that is not the current one,
  //         or another uid; kInvalidArgument if the node of a pod changes, which only Bind may do.
  Result<AnyObject> Update(AnyObject object,
                           std::optional<std::string> scheduled_message = std::nullopt);

  // Deletes a pod as DeletePod() with the pod's own grace period does, and any other object
  // immediately.
  // Errors: kNotFound.
  Status Delete(std::string_view kind, std::string_view ns, std::string_view name);

  // Removes a pod that is being deleted, as a kubelet does when the containers have ended.
  // Errors: kNotFound; kConflict (another uid); kInvalidArgument if the pod is not being deleted.
  Status FinishDeletion(const PodName& pod) { return pods_.FinishDeletion(pod); }

  // Finishes each deletion that was requested here, by Delete() or DeletePod(), when its grace
  // period has expired, as if the containers used all of it. A pod that was created with a
  // deletionTimestamp, or received one from Put(), stays until its removal is reported, whatever
  // its deletionTimestamp is, so that the result does not depend on the time of day.
  // Returns: the number of deletions.
  size_t FinishDueDeletions();
  // Returns the time at which the next such deletion is due; nullopt if none is pending.
  std::optional<int64_t> NextDeletionNs() const;

  // Begins or ends to serve a kind, as an API server does when a CustomResourceDefinition is
  // created or deleted, or when it is updated. Every kind is served at first. When the cluster ends
  // to serve a kind, it deletes all objects of the kind. REQUIRES: `kind` is neither v1/Pod nor
  // v1/Node.
  void SetServed(std::string_view kind, bool served);

  // Patches a status as PatchPodStatus() does, but returns the result immediately.
  Status PatchStatus(const PodName& pod, const PodStatusPatch& patch) {
    return pods_.PatchStatus(pod, patch);
  }

  // ---- Changes that the watch of a remote cluster reports ---------------------------------------

  // Stores the current state of an object: creates it, or replaces it as a whole, including its
  // timestamps. An object with another uid replaces the stored object as a new one. A pod keeps the
  // decisions of this cluster: its node, its deletion, and its nomination if the new state has
  // neither a node nor a nomination.
  // Returns: the object as stored.
  // Errors: kInvalidArgument as in Create(); the cluster is not changed then.
  Result<AnyObject> Put(AnyObject object);

  // Removes an object of any kind immediately.
  // Errors: kNotFound.
  Status Remove(std::string_view kind, std::string_view ns, std::string_view name);

  // ---- Contents ---------------------------------------------------------------------------------

  std::optional<AnyObject> Find(std::string_view kind, std::string_view ns,
                                std::string_view name) const;
  // FindPod and FindNode return null if the object does not exist.
  PodRef FindPod(std::string_view ns, std::string_view name) const;
  NodeRef FindNode(std::string_view name) const;
  // Returns the objects by namespace and name, including pods in a final phase.
  std::vector<AnyObject> List(std::string_view kind) const;
  // Returns the message of the pod's condition PodScheduled as it was last patched. The views do
  // not contain it.
  std::string_view PodScheduledMessage(std::string_view ns, std::string_view name) const;
  // Returns the stored events, the oldest first.
  const std::deque<Event>& events() const { return events_.events(); }
  // The leases, which have no watch and share the resourceVersions of the cluster.
  StoredLeases& leases() { return leases_; }
  // Returns the kinds of which an object was ever stored or watched, sorted.
  std::vector<std::string> Kinds() const { return objects_.Kinds(); }
  const Clock& clock() const { return options_.clock; }
  // Returns the resourceVersion of the last change. Each change increases it by one.
  uint64_t resource_version() const { return versions_.last(); }

  // ---- Delivery ---------------------------------------------------------------------------------

  // Delivers the first waiting callback or watch event. Returns false if none was waiting.
  // Must not: be called from within a delivery. A delivery may call every other method except
  // Stop().
  bool DeliverOne() { return deliveries_.DeliverOne(); }
  // Delivers until nothing is waiting, including what the deliveries cause. Returns the number of
  // deliveries.
  size_t Deliver();
  size_t waiting() const { return deliveries_.waiting(); }
  // Ends all watches and delivers the waiting callbacks within the call. Later requests fail with
  // kUnavailable.
  void Stop() { deliveries_.Stop(); }

  // ---- ObjectSource, DecisionWriter -------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override;
  void CreateEvent(Event event, StatusCallback done) override;
  void Request(ApiRequest request, ResponseCallback answer) override;

 private:
  Status CheckNew(std::string_view kind, const ObjectBase& object) const;
  AnyObject WithNewMeta(const AnyObject& object);
  // Executes a request, unless the client was stopped, and lets its result wait for delivery.
  template <class Execute>
  void Answer(StatusCallback done, const Execute& execute);

  const Options options_;
  ResourceVersions versions_;
  DeliveryQueue deliveries_;
  StoredObjects objects_{deliveries_, versions_};
  PodRequestHandler pods_{objects_, versions_, options_.clock};
  StoredLeases leases_{versions_};
  StoredEvents events_{options_.max_events, versions_, options_.clock};
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_CLUSTER_H_
