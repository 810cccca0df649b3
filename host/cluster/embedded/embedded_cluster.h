// A cluster in this process: for the first run, tests, simulation and plugin development. It
// refuses what an API server refuses, in its words, and tells watchers what an API server tells
// them.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_CLUSTER_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_CLUSTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/client.h"

namespace berth::host {

// In memory, synchronous inside, driven by its owner. A request is carried out within the call that
// makes it; what follows from it, the answer and watch events, stands in one line in the order of
// the causes until the owner calls Deliver(). So whoever owns the clock owns the order too.
//
// What an API server does and this does not: it runs no controllers (nobody finishes a deletion,
// collects garbage or expires a lease unless the owner does), knows no finalizers, validates only
// what concerns scheduling, and counts an update that changes nothing as a change. It fills in a
// uid, a creationTimestamp and resourceVersions in the view of an object; the JSON text of kinds
// that have one stays as it came.
//
// Threading: everything on the owner's thread, the functions of Client too.
class EmbeddedCluster final : public Client {
 public:
  struct Options {
    // The wall clock, in nanoseconds since 1970-01-01T00:00:00Z. Must be set.
    std::function<int64_t()> now_ns;
    // How many events are kept; the oldest go first.
    size_t max_events = 100000;
    // Serves Request(): an EmbeddedApi, say. Empty: every request is kUnsupported.
    std::function<Result<std::string>(const ApiRequest&)> serve;
  };

  // A pod's own grace period: spec.terminationGracePeriodSeconds is not looked at.
  static constexpr int64_t kDefaultGraceSeconds = 30;

  explicit EmbeddedCluster(Options options);
  // Must not: be destroyed before its watches.
  ~EmbeddedCluster() override;
  EmbeddedCluster(const EmbeddedCluster&) = delete;
  EmbeddedCluster& operator=(const EmbeddedCluster&) = delete;

  // ---- The rest of the cluster: what users, kubelets and controllers do -------------------------

  // Adds an object from a manifest: as Create, but says "duplicate v1/Pod default/web-0" of an
  // object that is there already.
  Status Load(AnyObject object);

  // A uid and a creationTimestamp that it has are kept; a resourceVersion is not. A pod with
  // scheduling gates gets the condition that an API server writes.
  // Returns: the object as stored. kAlreadyExists; kInvalidArgument without a name, or for a pod
  //          without a namespace or with the uid of another pod: who watches pods knows them by it.
  Result<AnyObject> Create(AnyObject object);

  // Replaces the whole object, status included. uid and timestamps stay those of the stored object.
  // Returns: the object as stored. kNotFound; kConflict when it has a resourceVersion that is not
  //          the present one or a uid that is another; kInvalidArgument when it moves a pod: only
  //          Bind gives a pod its node.
  Result<AnyObject> Update(AnyObject object);

  // Pods: as DeletePod with its own grace period. All else goes at once. kNotFound.
  Status Delete(std::string_view kind, std::string_view ns, std::string_view name);

  // The kubelet's part: the containers of a pod that is being deleted have ended, and it goes.
  // Returns: kNotFound; kConflict (another uid); kInvalidArgument when nobody has deleted it.
  Status FinishDeletion(const PodName& pod);

  // The deletion of a pod that was decided here, by Delete or DeletePod: when its grace period is
  // up. A deletionTimestamp that a pod came with, or that Put gave it, is no decision of this
  // cluster: whoever wrote it says when the pod goes.
  struct DueDeletion {
    int64_t due_ns = 0;
    std::string ns;
    std::string name;
  };
  // The first one; none: no pod is to go.
  std::optional<DueDeletion> NextDeletion() const;

  // As PatchPodStatus, with the answer at once.
  Status PatchStatus(const PodName& pod, const PodStatusPatch& patch) {
    return PatchNow(pod, patch);
  }

  // ---- What a watch of a cluster elsewhere says -------------------------------------------------

  // The object is now like this: it is created, or replaced whole, timestamps included. One with
  // another uid was created after the stored one went. Of a pod, what was decided here stays: its
  // node, a deletion, and a nomination where the new one has none.
  // Returns: the object as stored. kInvalidArgument as Create; then nothing has changed.
  Result<AnyObject> Put(AnyObject object);

  // The object is gone: at once, whatever it is. kNotFound.
  Status Remove(std::string_view kind, std::string_view ns, std::string_view name);

  // ---- What there is ----------------------------------------------------------------------------

  std::optional<AnyObject> Find(std::string_view kind, std::string_view ns,
                                std::string_view name) const;
  // Null where there is none.
  PodRef FindPod(std::string_view ns, std::string_view name) const;
  NodeRef FindNode(std::string_view name) const;
  // By namespace and name, pods in a final phase included.
  std::vector<AnyObject> List(std::string_view kind) const;
  // The message of the pod's condition PodScheduled as it was last patched; no view has it.
  std::string_view PodScheduledMessage(std::string_view ns, std::string_view name) const;
  // The oldest first.
  const std::deque<Event>& events() const { return events_; }
  // Of which an object was ever stored or watched, in order.
  std::vector<std::string> Kinds() const;
  int64_t now_ns() const { return options_.now_ns(); }
  // Of the last change: grows by one with each.
  uint64_t resource_version() const { return resource_version_; }

  // ---- Delivery ---------------------------------------------------------------------------------

  // Hands out the first answer or watch event that is waiting. False when there was none.
  // Must not: be called from within a delivery. What is delivered may call everything else but
  // Stop.
  bool DeliverOne();
  // Until nothing is waiting, what was caused meanwhile included. Returns how many.
  size_t Deliver();
  size_t waiting() const { return line_.size(); }

  // ---- Client -----------------------------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override;
  void Bind(const PodName& pod, std::string_view node, Done done) override;
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch, Done done) override;
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds, Done done) override;
  void CreateEvent(Event event, Done done) override;
  void GetLease(std::string_view ns, std::string_view name, Answer<Lease> answer) override;
  void CreateLease(const Lease& lease, Answer<Lease> answer) override;
  void UpdateLease(const Lease& lease, Answer<Lease> answer) override;
  void Request(ApiRequest request, Answer<std::string> answer) override;
  // The answers that are waiting are delivered within the call.
  void Stop() override;

 private:
  class WatchHandle;

  struct Entry {
    AnyObject object;
    int64_t grace_seconds = 0;      // Of a pod that is being deleted.
    int64_t due_ns = 0;             // When its deletion, decided here, is due; 0: it is not.
    std::string scheduled_message;  // Of its condition PodScheduled.
  };

  // The objects of one kind, by "namespace/name": the order of an API server's lists.
  struct Store {
    std::map<std::string, Entry, std::less<>> objects;
    std::vector<uint64_t> watches;
  };
  using Place = std::map<std::string, Entry, std::less<>>::iterator;

  struct ForWatch {
    uint64_t watch;
    WatchEvent event;
  };
  using Delivery = std::variant<ForWatch, std::function<void()>>;

  Store& StoreOf(std::string_view kind);
  const Store* FindStore(std::string_view kind) const;
  const Entry* FindEntry(std::string_view kind, std::string_view ns, std::string_view name) const;
  Result<Place> FindPodPlace(const PodName& pod, std::string_view resource);

  std::string NextVersion() { return std::to_string(++resource_version_); }
  std::string NewUid();
  Status CheckNew(std::string_view kind, const ObjectBase& object) const;
  AnyObject AsCreated(AnyObject object);
  void Replace(Store& store, Entry& entry, AnyObject now);
  void Erase(Store& store, Place place);
  void SetDue(const Place& place, int64_t due_ns);
  void Notify(const Store& store, WatchEvent event);
  void EndWatch(uint64_t watch);

  Status BindNow(const PodName& name, std::string_view node);
  Status PatchNow(const PodName& name, const PodStatusPatch& patch);
  Status DeleteNow(const PodName& name, std::optional<int64_t> grace_seconds);
  Status RecordNow(Event event);
  Result<Lease> GetLeaseNow(std::string_view ns, std::string_view name) const;
  Result<Lease> CreateLeaseNow(Lease lease);
  Result<Lease> UpdateLeaseNow(Lease lease);

  template <class R>
  void Reply(std::function<void(R)> answer, R result);
  void Run(Delivery delivery);

  const Options options_;
  uint64_t resource_version_ = 0;
  uint64_t last_uid_ = 0;
  StringMap<std::string> pod_by_uid_;                    // Its key.
  std::set<std::pair<int64_t, std::string>> deletions_;  // When a pod is to go, and its key.
  std::map<std::string, Store, std::less<>> stores_;
  std::map<std::string, Lease, std::less<>> leases_;
  std::deque<Event> events_;

  uint64_t last_watch_ = 0;
  size_t open_watches_ = 0;
  std::unordered_map<uint64_t, WatchSink*> sinks_;
  std::deque<Delivery> line_;
  bool delivering_ = false;
  bool stopped_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_CLUSTER_H_
