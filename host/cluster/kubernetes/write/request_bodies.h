// The paths and bodies of the requests that the scheduler sends.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_REQUEST_BODIES_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_REQUEST_BODIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/lease.h"

namespace berth::host {

// Returns `text` as one part of a path: every byte that is no letter, digit, '-', '.', '_' or '~'
// is percent-encoded, so that a name can never add a part to a path. In a text of dots only, which
// would name another folder, the dots are encoded too.
std::string EncodePathPart(std::string_view text);

// Returns "/api/v1/namespaces/default/pods/web-0", with an optional "/binding" or "/status".
// REQUIRES: the namespace and the name are not empty. A path without a name is that of all pods.
std::string PodPath(const PodName& pod, std::string_view subresource = {});
// Returns "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"; without a
// name, the path of the collection, which leases are created with.
// REQUIRES: the namespace is not empty.
std::string LeasePath(std::string_view ns, std::string_view name = {});
// Returns "/apis/events.k8s.io/v1/namespaces/default/events/web-0.17f1", or the path of the
// collection. The namespace is that of the object that the event is about; "default" if it has
// none.
std::string EventPath(const Event& event, std::string_view name = {});

// A Binding of v1 with the uid of the pod.
std::string BindingBody(const PodName& pod, std::string_view node);
// Returns the name of a BERTH_CONDITION_* as a condition has it: "True", "False" or "Unknown".
const char* ConditionStatusName(uint32_t status);
// A strategic merge patch of the status, with the uid as a precondition. The conditions carry type,
// status, reason, message, lastTransitionTime, lastProbeTime null and observedGeneration, as those
// of kube-scheduler. A condition whose status does not change (`keeps_status`) has no
// lastTransitionTime, so that the stored time stays.
std::string StatusPatchBody(const PodName& pod, const PodStatusPatch& patch);
// DeleteOptions with the uid as a precondition.
std::string DeleteBody(const PodName& pod, std::optional<int64_t> grace_seconds);

// The repetitions of an event.
struct EventSeries {
  int32_t count = 0;    // How often the event has happened, the first time included.
  int64_t last_ns = 0;  // When it happened last.
};

// An Event of events.k8s.io/v1. `name` is its metadata.name; see EventName(). The note is shortened
// to kMaxEventNoteBytes.
std::string EventBody(const Event& event, std::string_view name,
                      const std::optional<EventSeries>& series = {});
// A merge patch of series.count and series.lastObservedTime.
std::string EventSeriesBody(const EventSeries& series);
// Returns "<name of the object>.<unique_ns in hexadecimal>", as client-go names events. The name of
// the object is shortened if the result would be too long for a name. `unique_ns` is the time of
// the event, or a number near it if another event of the same object has this name.
std::string EventName(const Event& event, int64_t unique_ns);

// A Lease of coordination.k8s.io/v1. `stored` is the text of the lease as the server returned it,
// or empty: its other fields, such as labels, are part of the result, because an update replaces
// the whole object. A text that is not a JSON object counts as empty.
std::string LeaseBody(const Lease& lease, std::string_view stored = {});
// Errors: kInternal if the text is not a lease.
Result<Lease> ReadLease(std::string_view body);

// The binding of a pod as a GET returned it.
struct PodBinding {
  std::string uid;
  std::string node;  // Empty: the pod has none.
  bool is_deleting = false;
};
// Errors: kInternal if the text is not a pod.
Result<PodBinding> ReadPodBinding(std::string_view body);

// Formats a MicroTime: "2026-01-10T08:00:00.250000Z".
std::string MicroTime(int64_t nanoseconds);

// Writes an object member by member, for texts that are written often: it needs no value of JSON.
// Keys are written as they are.
class JsonObjectWriter {
 public:
  // `expected_bytes` is an estimate of the size of the result.
  explicit JsonObjectWriter(size_t expected_bytes = 0) {
    json_.reserve(expected_bytes);
    json_.push_back('{');
  }

  // Writes the text as DumpJson() does. A text of printable ASCII, which nearly every text of the
  // API is, is only copied.
  void AddText(std::string_view key, std::string_view text);
  // Does nothing if the text is empty.
  void AddTextIfAny(std::string_view key, std::string_view text) {
    if (!text.empty()) AddText(key, text);
  }
  void AddNumber(std::string_view key, int64_t number);
  // The members until the matching EndObject() belong to the object at `key`.
  void BeginObject(std::string_view key);
  void EndObject() { json_.push_back('}'); }
  // Returns the whole object. REQUIRES: every object was ended. Must not: be called twice.
  std::string Finish() {
    json_.push_back('}');
    return std::move(json_);
  }

 private:
  void AddKey(std::string_view key);

  std::string json_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_REQUEST_BODIES_H_
