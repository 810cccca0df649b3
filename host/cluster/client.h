// The interface between the scheduler and a cluster: ObjectSource, from which it reads objects, and
// DecisionWriter, through which it writes its decisions. The cluster is a real API server or an
// embedded one in this process; the code above this interface does not depend on which.
#ifndef BERTH_HOST_CLUSTER_CLIENT_H_
#define BERTH_HOST_CLUSTER_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/text.h"

namespace berth::host {

// Kinds are written as "group/version/Kind", such as "storage.k8s.io/v1/CSINode"; kinds of the core
// group have no group.
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
  kModified,  // `object` replaced `previous`.
  kDeleted,   // `object` was deleted.
  kSynced,    // All objects that existed when the watch began have been delivered. Has no object.
  // The server does not serve the kind now. All objects that were delivered before were delivered
  // as deleted. Has no object.
  kNotServed,
};

struct WatchEvent {
  WatchType type = WatchType::kSynced;
  // The current object. For kDeleted, the last state of the object with the resourceVersion of the
  // deletion.
  AnyObject object;
  // The object that was last delivered to the watcher under this namespace and name. Set for
  // kModified and kDeleted. If it has another uid, its deletion was not observed, and `object` was
  // created after it.
  AnyObject previous;
  // For kDeleted: the deletion was not observed, and `object` is the last known state of the
  // object, which may have changed before the deletion. client-go: cache.DeletedFinalStateUnknown.
  bool final_state_unknown = false;

  // Returns whether the event is the change of an object: it is not kSynced or kNotServed.
  bool has_object() const { return type < WatchType::kSynced; }
  // Returns the resourceVersion of `object`; empty if the event has no object.
  std::string_view resource_version() const {
    return has_object() ? Base(object).resource_version() : std::string_view();
  }
};

// Receives the events of a watch of one kind.
// Lifetime: until the Watch that was returned for it has been destroyed.
class WatchSink {
 public:
  virtual ~WatchSink() = default;

  // Called:    first with a kAdded event for each existing object, in the order of namespace and
  //            name; then with kSynced, once; then with every change of an object of the kind, once
  //            and in order.
  //            If the server does not serve the kind, there is kNotServed instead of kSynced,
  //            without delay. The client finds out by discovery, at its start and again from time
  //            to time.
  //            When the server begins to serve the kind, its objects follow, then kSynced. When it
  //            ends to serve the kind, the deletions of all objects follow, then kNotServed.
  //            After a gap (the server discarded changes that the client had not read yet) the
  //            differences are delivered as ordinary changes, deletions with
  //            `final_state_unknown`. The changes of one call belong together: the receiver applies
  //            all of them before the next scheduling decision.
  // Threading: one call at a time per watch, on a thread that the ObjectSource names.
  //            SchedulingLoop requires the scheduling thread. The order between watches is not
  //            defined: a pod may be delivered before its node.
  // Lost:      an intermediate state of an object that changed several times during a gap. The last
  //            state is never lost.
  // Must not:  block; wait for a thread that may be destroying this watch.
  // Lifetime:  the span is valid until the call returns; its elements may be moved from.
  virtual void OnEvents(std::span<WatchEvent> events) = 0;

  // Called:    with an error when the kind cannot be listed or watched, and once with success when
  //            it can be listed and watched again. The client retries by itself; the call serves
  //            the log and the readiness check. A kind that the server does not serve is no error:
  //            see kNotServed.
  // Threading: as for OnEvents.
  virtual void OnWatchError(const Status& status) { static_cast<void>(status); }
};

// A running watch. Its destruction ends the watch: when the destructor returns, no call to the sink
// is running, and none follows. It may be destroyed within a call to its own sink.
// Must not: outlive its source.
class Watch {
 public:
  virtual ~Watch() = default;
};

// ---- Requests -----------------------------------------------------------------------------------

// Identifies a pod.
// Lifetime: the texts are valid until the call that they are passed to returns.
struct PodName {
  std::string_view ns;
  std::string_view name;
  // The uid that the pod must have: a pod with the same name and another uid is a kConflict. If it
  // is empty, any uid is accepted.
  std::string_view uid;
};

inline PodName NameOf(const Pod& pod) { return {pod.ns(), pod.name(), pod.uid()}; }

// An ObjectReference of v1.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
};

// The most bytes that the note of an event may have. The API server refuses a longer note.
inline constexpr size_t kMaxEventNoteBytes = 1024;

// Returns `note`, shortened to kMaxEventNoteBytes with " ..." at its end if it is longer.
// (kube-scheduler: pkg/scheduler/schedule_one.go, truncateMessage, which may cut within a UTF-8
// character. The API server refuses text that is not UTF-8, so this function does not.)
inline std::string TruncateNote(std::string_view note) {
  return Truncate(note, kMaxEventNoteBytes, " ...");
}

// The most bytes of a message that the scheduler writes to a condition of a pod. The API server
// accepts more, but refuses an object of more than 1.5 MiB. (As for conditions of
// k8s.io/apimachinery/pkg/apis/meta/v1, types.go.)
inline constexpr size_t kMaxConditionMessageBytes = 32'768;

// Returns `message`, shortened to kMaxConditionMessageBytes with " ..." at its end if it is longer.
inline std::string TruncateConditionMessage(std::string_view message) {
  return Truncate(message, kMaxConditionMessageBytes, " ...");
}

// An Event of events.k8s.io/v1, which `kubectl describe` shows.
struct Event {
  std::string type;    // "Normal" or "Warning".
  std::string reason;  // Such as "Scheduled".
  std::string action;  // Such as "Binding".
  std::string note;    // At most kMaxEventNoteBytes; see TruncateNote.
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string reporting_controller;  // The profile's schedulerName.
  std::string reporting_instance;
  int64_t time_ns = 0;     // eventTime.
  bool is_unique = false;  // Nothing like it is reported again, so that it begins no series.
};

// Media types.
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";  // RFC 7396.
inline constexpr std::string_view kJsonPatch = "application/json-patch+json";    // RFC 6902.
// A merge patch that merges the elements of lists that have a merge key.
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";

struct ApiRequest {
  std::string verb;  // "GET", "POST", "PUT", "PATCH", "DELETE".
  std::string path;  // The path with its query, such as "/api/v1/persistentvolumes/pv-1".
  std::string body;
  int64_t timeout_ns = 0;         // 0 selects the default of the client.
  std::string content_type = {};  // The media type of the body; see ContentType().

  // Returns the media type of the body. If none is set, it is JSON, and a merge patch for PATCH.
  std::string_view ContentType() const {
    if (!content_type.empty()) return content_type;
    return verb == "PATCH" ? kMergePatch : kJson;
  }
};

// The answer to an ApiRequest.
struct ApiResponse {
  // An error if the server did not respond, or responded with an error. The message is that of the
  // Status object in the body; if the body is none, it names the HTTP status.
  Status status = {};
  uint32_t http_status = 0;    // 0: the server did not respond.
  int64_t retry_after_ns = 0;  // The header Retry-After; 0: not given.
  std::string content_type = {};
  std::string body = {};  // As received.

  // Returns the answer to a request to which no server responded.
  static ApiResponse None(Status error) { return {.status = std::move(error)}; }
};

// Callbacks that receive the result of a request. A callback may be empty if the caller does not
// need the result.
using StatusCallback = std::function<void(Status)>;
using ResponseCallback = std::function<void(ApiResponse)>;

// ---- The two halves of a cluster ----------------------------------------------------------------

// The source of the objects of a cluster.
// Threading: the implementation names the thread that may start and destroy watches.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;

  // Lists and watches the objects of `kind` until the result is destroyed. Pods in phase Succeeded
  // or Failed are not delivered: when a pod reaches such a phase, it is delivered as deleted
  // (kube-scheduler's informer has the field selector
  // status.phase!=Succeeded,status.phase!=Failed).
  // `kind` has one version.
  // Returns: never null.
  [[nodiscard]] virtual std::unique_ptr<Watch> StartWatch(std::string_view kind,
                                                          WatchSink& sink) = 0;
};

// The target of the decisions of a scheduler.
//
// Requests are asynchronous: a call copies its arguments and returns immediately. Its callback is
// called exactly once, later, and never from within the call. The owner of an implementation ends
// it: users of this interface cannot.
//
// Threading: methods may be called from any thread, unless an implementation restricts this.
//            Callbacks are called on a thread that the implementation names, and must not block.
// Order:     requests may be executed in any order, except that requests for one pod are executed
//            and answered in the order of the calls. The order between a callback and the watch
//            event that the request causes is not defined.
// Errors:    the API server's response as an ErrorCode, with the server's message:
//              400, 422           kInvalidArgument
//              401, 403           kPermissionDenied
//              404                kNotFound
//              405, 406, 415      kUnsupported
//              409 AlreadyExists  kAlreadyExists
//              409 otherwise      kConflict
//              410, 413           kOutOfRange
//              500                kInternal
//              429, 502, 503, 504, no connection, time-out
//                                 kUnavailable, after the client has used up its own retries
//            After kUnavailable and kInternal it is unknown whether the request was executed. Only
//            Bind gives a stronger guarantee.
//            After its owner has stopped an implementation, every request fails with kUnavailable.
class DecisionWriter {
 public:
  virtual ~DecisionWriter() = default;

  // POST pods/<name>/binding: binds the pod to the node. The server does not check that the node
  // exists.
  // Returns: success: this call has bound the pod with this uid to this node.
  //          kNotFound: the pod does not exist.
  //          kConflict: the pod has another uid, is being deleted, has scheduling gates, or was
  //          bound by another client.
  //          kUnavailable: the request was not executed and may be retried; or the client was
  //          stopped, and it is unknown whether the request was executed.
  // If the server's response is lost, the client reads the pod until the outcome is known, and then
  // calls `done`. The caller keeps the pod assumed on the node until `done` is called, so that no
  // other pod gets the room while the outcome is unknown.
  virtual void Bind(const PodName& pod, std::string_view node, StatusCallback done) = 0;

  // PATCH pods/<name>/status. A patch that changes nothing keeps the resourceVersion. The request
  // may safely be repeated.
  // Errors: kNotFound; kConflict (another uid).
  virtual void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                              StatusCallback done) = 0;

  // DELETE pods/<name>. A pod on a node first gets a deletionTimestamp, and is removed when its
  // containers have ended. A pod without a node, a pod in a final phase, and a pod with a grace
  // period of 0 is removed immediately. Without `grace_seconds` the pod's own grace period applies.
  // The request may safely be repeated.
  // Returns: success: the pod was removed or is being deleted.
  // Errors: kNotFound; kConflict (another uid).
  virtual void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                         StatusCallback done) = 0;

  // Creates an event.
  // Returns: success means that the client has accepted the event, not that it was stored.
  // Lost:    events may be lost under load or while the server is unavailable. They inform users
  //          and never delay requests of other types. Repeated events may be counted in the first
  //          one (event series).
  virtual void CreateEvent(Event event, StatusCallback done) = 0;

  // Sends any other request and returns the response. It serves plugins that write their own
  // objects.
  virtual void Request(ApiRequest request, ResponseCallback answer) = 0;
};

// A cluster as a scheduler uses it: a source of objects and a target of decisions, which may be one
// object or two.
// Lifetime: refers to both.
struct Client {
  Client(ObjectSource& its_source, DecisionWriter& its_writer)
      : source(its_source), writer(its_writer) {}
  // Both halves are `cluster`.
  template <class Cluster>
  requires(std::is_base_of_v<ObjectSource, Cluster>&& std::is_base_of_v<DecisionWriter, Cluster>)
      Client(Cluster& cluster)
      : Client(cluster, cluster) {}  // NOLINT: a cluster is both halves

  ObjectSource& source;
  DecisionWriter& writer;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_CLIENT_H_
