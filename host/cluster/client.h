// The seam between the scheduler and a cluster: where objects come from and where decisions go.
// Above it nobody knows whether the cluster is a real API server or one in this process.
#ifndef BERTH_HOST_CLUSTER_CLIENT_H_
#define BERTH_HOST_CLUSTER_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Kinds are written "group/version/Kind", without a group for the core:
// "storage.k8s.io/v1/CSINode".
inline constexpr std::string_view kPodKind = "v1/Pod";
inline constexpr std::string_view kNodeKind = "v1/Node";

inline std::string_view KindOf(const AnyObject& object) {
  if (std::holds_alternative<PodRef>(object)) return kPodKind;
  if (std::holds_alternative<NodeRef>(object)) return kNodeKind;
  return std::get<ObjectRef>(object)->kind();
}

// ---- Watching -----------------------------------------------------------------------------------

enum class WatchType : uint8_t {
  kAdded,     // `object` is new to the watcher.
  kModified,  // `object` took the place of `previous`.
  kDeleted,   // `object` is gone.
  kSynced,    // All that existed when the watch began has been delivered. No object.
};

struct WatchEvent {
  WatchType type = WatchType::kSynced;
  // As it is now; of a deletion: as it was last, with the resourceVersion of the deletion.
  AnyObject object;
  // What the watcher was last told under this namespace and name. Set for kModified and kDeleted. A
  // `previous` with another uid was deleted unseen, and `object` created after it.
  AnyObject previous;
  // kDeleted: the deletion itself was missed, and `object` is as we last knew it; it may have
  // changed before it went. client-go: cache.DeletedFinalStateUnknown.
  bool final_state_unknown = false;

  // Empty for kSynced.
  std::string_view resource_version() const {
    return type == WatchType::kSynced ? std::string_view() : Base(object).resource_version();
  }
};

// Who is told of the objects of one kind.
// Lifetime: until the Watch that was returned for it has been destroyed.
class WatchSink {
 public:
  virtual ~WatchSink() = default;

  // Called:    first with each object that exists as kAdded, by namespace and name; with kSynced,
  //            once; then with every change of the kind, once, in order. After a gap (the server
  //            forgot what we had not read yet) the differences follow as ordinary changes,
  //            deletions with `final_state_unknown`. Changes of one call belong together: apply
  //            all of them before the next decision.
  // Threading: a thread of the client, one call at a time per watch. Nothing is said about the
  //            order between watches: a pod may come before its node.
  // Lost:      what an object was between two changes, when it changed twice during a gap. Never
  //            the last state.
  // Must not:  block; wait for a thread that may be destroying this watch.
  // Lifetime:  the span until the call returns; its elements may be moved from.
  virtual void OnEvents(std::span<WatchEvent> events) = 0;

  // Called:    when the kind cannot be listed or watched now, and once more with success when it
  //            can again. The client goes on trying by itself; this is for the log and for
  //            readiness.
  // Threading: as OnEvents.
  virtual void OnTrouble(const Status& status) { static_cast<void>(status); }
};

// A running watch. Destroying it ends it: no call to the sink is running or follows when the
// destructor returns. May be destroyed within a call to its own sink.
// Must not: outlive its client.
class Watch {
 public:
  virtual ~Watch() = default;
};

// ---- What is written ----------------------------------------------------------------------------

// Which pod is meant. The texts need to live until the call they are passed to returns.
struct PodName {
  std::string_view ns;
  std::string_view name;
  // The pod must have it; another one of the same name is a kConflict. Empty: any.
  std::string_view uid;
};

inline PodName NameOf(const Pod& pod) { return {pod.ns(), pod.name(), pod.uid()}; }

// v1 ObjectReference.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
};

// events.k8s.io/v1 Event: what `kubectl describe` shows.
struct Event {
  std::string type;    // "Normal", "Warning".
  std::string reason;  // "Scheduled".
  std::string action;  // "Binding".
  std::string note;    // At most 1024 bytes reach a real API server.
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string reporting_controller;  // The profile's schedulerName.
  std::string reporting_instance;
  int64_t time_ns = 0;  // eventTime.
};

// coordination.k8s.io/v1 Lease.
struct Lease {
  std::string ns;
  std::string name;
  std::string resource_version;
  std::string holder_identity;  // Empty: nobody.
  int32_t duration_seconds = 0;
  int32_t transitions = 0;
  int64_t acquire_ns = 0;
  int64_t renew_ns = 0;
};

// How a PATCH is meant.
enum class PatchKind : uint8_t {
  kMerge,           // application/merge-patch+json (RFC 7396).
  kStrategicMerge,  // application/strategic-merge-patch+json: lists with a merge key are merged.
};

struct ApiRequest {
  std::string verb;        // "GET", "POST", "PUT", "PATCH", "DELETE".
  std::string path;        // "/api/v1/persistentvolumes/pv-1", with its query.
  std::string body;        // JSON.
  int64_t timeout_ns = 0;  // 0: the client's own.
  PatchKind patch = PatchKind::kMerge;
};

// What becomes of a request. An empty one means that nobody wants to know.
using Done = std::function<void(Status)>;
template <class T>
using Answer = std::function<void(Result<T>)>;

// ---- The client ---------------------------------------------------------------------------------

// Requests are asynchronous: a call copies what it needs, returns at once, and its answer comes
// exactly once, later, never from within the call.
//
// Threading: calls from any thread, unless an implementation says otherwise. Answers come on a
//            thread of the client and must not block; host/event/ brings them to the scheduling
//            thread.
// Order:     requests may be carried out in any order, except that those for one pod are carried
//            out and answered in the order of the calls. Nothing is said about whether an answer or
//            the watch event that it causes comes first.
// Errors:    what an API server answers, as an ErrorCode, with the server's message:
//              400, 422           kInvalidArgument
//              401, 403           kPermissionDenied
//              404                kNotFound
//              405, 406, 415      kUnsupported
//              409 AlreadyExists  kAlreadyExists
//              409 otherwise      kConflict
//              410, 413           kOutOfRange
//              500                kInternal
//              429, 502, 503, 504, no connection, time-out
//                                 kUnavailable, after the client's own attempts were used up
//            kUnavailable and kInternal mean that the request may or may not have been carried out.
//            Only Bind is more definite.
class Client {
 public:
  virtual ~Client() = default;

  // Lists and watches the objects of `kind`, for as long as the result lives. Pods in phase
  // Succeeded or Failed do not exist for a watcher: one that reaches such a phase is deleted
  // (kube-scheduler's informer has the field selector
  // status.phase!=Succeeded,status.phase!=Failed).
  // Returns: never null. A kind that the server does not know is tried again; see
  //          WatchSink::OnTrouble.
  [[nodiscard]] virtual std::unique_ptr<Watch> StartWatch(std::string_view kind,
                                                          WatchSink& sink) = 0;

  // POST pods/<name>/binding: puts the pod on the node. The server does not check that the node
  // exists.
  // Returns: success: the pod with this uid is on this node because of this call.
  //          kNotFound: there is no such pod.
  //          kConflict: it has another uid, is being deleted, has scheduling gates, or was bound by
  //          somebody else.
  //          kUnavailable: it was not carried out, and may be tried again; or the client was
  //          stopped, and nobody knows.
  // Where the server's reply is lost, the client reads the pod until it knows, and answers then:
  // the caller keeps what it assumed until the answer is there, and never gives room away on a
  // guess.
  virtual void Bind(const PodName& pod, std::string_view node, Done done) = 0;

  // PATCH pods/<name>/status. A patch that changes nothing changes no resourceVersion.
  // Returns: kNotFound, kConflict (another uid). May safely be repeated.
  virtual void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch, Done done) = 0;

  // DELETE pods/<name>. A pod on a node first gets a deletionTimestamp and goes when its containers
  // have ended; one without a node, one in a final phase, and with a grace period of 0 goes at
  // once. `grace_seconds`: none: the pod's own.
  // Returns: success: it is gone or going. kNotFound, kConflict (another uid). May safely be
  //          repeated.
  virtual void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds, Done done) = 0;

  // Returns: success says that the event was taken over, not that it was stored.
  // Lost:    events, under load or when the server is away; they are for people and never hold up a
  //          request of another sort. Repetitions may be counted into the first one (event series).
  virtual void CreateEvent(Event event, Done done) = 0;

  // Of a lease, the answer holds the resourceVersion that the next update must carry.
  // Returns: Get: kNotFound. Create: kAlreadyExists. Update: kNotFound, kConflict when
  //          `lease.resource_version` is not the present one, kInvalidArgument when it is empty.
  // Leases go before all other requests, so that a busy client does not lose its leadership.
  virtual void GetLease(std::string_view ns, std::string_view name, Answer<Lease> answer) = 0;
  virtual void CreateLease(const Lease& lease, Answer<Lease> answer) = 0;
  virtual void UpdateLease(const Lease& lease, Answer<Lease> answer) = 0;

  // Any other request: JSON in, JSON out. For plugins that write objects of their own.
  // Errors: what the server answered is the message, its Status object (meta/v1) as JSON; a text
  //         where there is none, because nothing came from a server.
  virtual void Request(ApiRequest request, Answer<std::string> answer) = 0;

  // Ends all watches and answers everything that is open, with its outcome where that is known and
  // with kUnavailable where not. When it returns, no call from the client is running or follows,
  // except the answers to requests made later, which are kUnavailable. Call it before destroying
  // the client; the destructor drops open answers.
  virtual void Stop() = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CLIENT_H_
