// The requests of the scheduler to the embedded cluster.
#include <algorithm>
#include <utility>

#include "host/base/time_units.h"
#include "host/cluster/embedded/api_errors.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/embedded/with_meta.h"

namespace berth::host {
namespace {

// About seventy years; the end of a longer grace period would not fit in a timestamp.
constexpr int64_t kMaxGraceSeconds = int64_t{1} << 31;

constexpr std::string_view kLeaseKind = "coordination.k8s.io/v1/Lease";
constexpr std::string_view kEventKind = "events.k8s.io/v1/Event";

std::string LeaseKey(std::string_view ns, std::string_view name) {
  return std::string(ns).append(1, '/').append(name);
}

// Returns whether the pod's condition of this type already has the status and reason of the patch,
// or the patch has no condition.
bool HasCondition(const Pod& pod, std::string_view type,
                  const std::optional<PodStatusPatch::Condition>& patch) {
  if (!patch) return true;
  for (const berth_condition& condition : Elements<berth_condition>(pod.view().conditions)) {
    if (pod.Name(condition.type) != type) continue;
    return condition.status == patch->status && pod.Name(condition.reason) == patch->reason;
  }
  return false;
}

// Validates an event. kube-apiserver: pkg/apis/core/validation/events.go, for events.k8s.io/v1.
Status ValidateEvent(const Event& event) {
  constexpr size_t kMaxName = 128;
  constexpr size_t kMaxNote = 1024;
  const std::string& about = event.regarding.name;
  const auto invalid = [&about](std::string_view field, std::string_view why) {
    return InvalidError(kEventKind, about, field, why);
  };
  const std::pair<std::string_view, const std::string&> required[] = {
      {"reportingController", event.reporting_controller},
      {"reportingInstance", event.reporting_instance},
      {"reason", event.reason},
      {"action", event.action}};
  for (const auto& [field, value] : required) {
    if (value.empty()) return invalid(field, "Required value");
    if (value.size() > kMaxName) return invalid(field, "can have at most 128 characters");
  }
  if (event.type != "Normal" && event.type != "Warning") {
    return invalid("type", "Invalid value: \"" + event.type + "\"");
  }
  if (event.note.size() > kMaxNote) return invalid("note", "can have at most 1024 characters");
  return Status::Ok();
}

Status StoppedError() { return Status::Unavailable("the embedded cluster was stopped"); }

}  // namespace

template <class R>
void EmbeddedCluster::Reply(std::function<void(R)> answer, R result) {
  if (!answer) return;
  deliveries_.push_back([answer = std::move(answer), result = std::move(result)]() mutable {
    answer(std::move(result));
  });
}

// ---- Pods ---------------------------------------------------------------------------------------

void EmbeddedCluster::Bind(const PodName& pod, std::string_view node, StatusCallback done) {
  Reply(std::move(done), stopped_ ? StoppedError() : BindNow(pod, node));
}

// kube-apiserver: pkg/registry/core/pod/storage/storage.go, setPodNodeAndMetadata.
Status EmbeddedCluster::BindNow(const PodName& name, std::string_view node) {
  constexpr std::string_view kResource = "pods/binding";
  if (node.empty()) {
    return InvalidError("v1/Binding", name.name, "target.name", "Required value");
  }
  const Result<Place> place = FindPodPlace(name, kResource);
  if (!place.ok()) return place.status();
  Entry& entry = (*place)->second;
  const PodRef pod = std::get<PodRef>(entry.object);
  const std::string subject = std::string("pod ").append(name.name);
  if (pod->terminating()) {
    return ConflictError(kResource, name.name,
                         subject + " is being deleted, cannot be assigned to a host");
  }
  if (!pod->node_name().empty()) {
    std::string why = subject + " is already assigned to node \"";
    why.append(pod->node_name()).append(1, '"');
    return ConflictError(kResource, name.name, why);
  }
  if (pod->view().scheduling_gates.count != 0) {
    return ConflictError(kResource, name.name, subject + " has non-empty .spec.schedulingGates");
  }
  const std::string version = NextVersion();
  IdRefs refs(pod->interner());
  const PodRef bound = WithNode(pod, refs.Intern(node), version);
  PodStatusPatch patch;
  patch.nominated_node = "";
  patch.pod_scheduled =
      PodStatusPatch::Condition{BERTH_CONDITION_TRUE, {}, {}, options_.clock.NowNs()};
  entry.scheduled_message.clear();
  Replace(StoreOf(kPodKind), entry, WithStatus(bound, patch, version));
  return Status::Ok();
}

void EmbeddedCluster::PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                                     StatusCallback done) {
  Reply(std::move(done), stopped_ ? StoppedError() : PatchNow(pod, patch));
}

Status EmbeddedCluster::PatchNow(const PodName& name, const PodStatusPatch& patch) {
  const Result<Place> place = FindPodPlace(name, "pods");
  if (!place.ok()) return place.status();
  Entry& entry = (*place)->second;
  const PodRef pod = std::get<PodRef>(entry.object);
  const bool same_nomination =
      !patch.nominated_node || *patch.nominated_node == pod->nominated_node();
  const bool same_conditions =
      HasCondition(*pod, "PodScheduled", patch.pod_scheduled) &&
      (!patch.pod_scheduled || patch.pod_scheduled->message == entry.scheduled_message) &&
      HasCondition(*pod, "DisruptionTarget", patch.disruption_target);
  if (same_nomination && same_conditions) return Status::Ok();
  if (patch.pod_scheduled) entry.scheduled_message = patch.pod_scheduled->message;
  Replace(StoreOf(kPodKind), entry, WithStatus(pod, patch, NextVersion()));
  return Status::Ok();
}

void EmbeddedCluster::DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                                StatusCallback done) {
  Reply(std::move(done), stopped_ ? StoppedError() : DeleteNow(pod, grace_seconds));
}

// apiserver: registry/rest/delete.go, BeforeDelete; kube-apiserver:
// pkg/registry/core/pod/strategy.go, CheckGracefulDelete.
Status EmbeddedCluster::DeleteNow(const PodName& name, std::optional<int64_t> grace_seconds) {
  const Result<Place> place = FindPodPlace(name, "pods");
  if (!place.ok()) return place.status();
  Store& store = StoreOf(kPodKind);
  Entry& entry = (*place)->second;
  const PodRef pod = std::get<PodRef>(entry.object);
  const uint32_t phase = pod->view().phase;
  const bool runs_nowhere =
      pod->node_name().empty() || phase == BERTH_PHASE_SUCCEEDED || phase == BERTH_PHASE_FAILED;
  int64_t grace = std::min(grace_seconds.value_or(kDefaultGraceSeconds), kMaxGraceSeconds);
  if (grace < 0) grace = 1;
  if (runs_nowhere) grace = 0;
  if (grace == 0) {
    Erase(store, *place);
    return Status::Ok();
  }
  ServerMeta meta = MetaOf(*pod);
  const bool is_shorter = grace < entry.grace_seconds;
  // The deletion is due by the clock of this cluster, even if the pod already has a
  // deletionTimestamp from elsewhere, which may be any time.
  if (entry.due_ns == 0) {
    SetDue(*place, options_.clock.NowNs() + grace * kSecond);
  } else if (is_shorter) {
    SetDue(*place, entry.due_ns - (entry.grace_seconds - grace) * kSecond);
  }
  if (!pod->terminating()) {
    meta.deleted_ns = entry.due_ns;
  } else if (is_shorter) {
    meta.deleted_ns -= (entry.grace_seconds - grace) * kSecond;
  } else {
    return Status::Ok();
  }
  entry.grace_seconds = grace;
  const std::string version = NextVersion();
  meta.resource_version = version;
  Replace(store, entry, WithMeta(pod, meta));
  return Status::Ok();
}

// ---- Events -------------------------------------------------------------------------------------

void EmbeddedCluster::CreateEvent(Event event, StatusCallback done) {
  Reply(std::move(done), stopped_ ? StoppedError() : RecordNow(std::move(event)));
}

Status EmbeddedCluster::RecordNow(Event event) {
  if (Status status = ValidateEvent(event); !status.ok()) return status;
  if (event.time_ns == 0) event.time_ns = options_.clock.NowNs();
  NextVersion();
  events_.push_back(std::move(event));
  while (events_.size() > options_.max_events) events_.pop_front();
  return Status::Ok();
}

// ---- Leases -------------------------------------------------------------------------------------

void EmbeddedCluster::GetLease(std::string_view ns, std::string_view name,
                               ResultCallback<Lease> answer) {
  Reply<Result<Lease>>(std::move(answer), stopped_ ? StoppedError() : GetLeaseNow(ns, name));
}

Result<Lease> EmbeddedCluster::GetLeaseNow(std::string_view ns, std::string_view name) const {
  const auto found = leases_.find(LeaseKey(ns, name));
  if (found == leases_.end()) return NotFoundError(kLeaseKind, name);
  return found->second;
}

void EmbeddedCluster::CreateLease(const Lease& lease, ResultCallback<Lease> answer) {
  Reply<Result<Lease>>(std::move(answer), stopped_ ? StoppedError() : CreateLeaseNow(lease));
}

Result<Lease> EmbeddedCluster::CreateLeaseNow(Lease lease) {
  const auto [place, is_new] = leases_.try_emplace(LeaseKey(lease.ns, lease.name));
  if (!is_new) return AlreadyExistsError(kLeaseKind, lease.name);
  lease.resource_version = NextVersion();
  place->second = std::move(lease);
  return place->second;
}

void EmbeddedCluster::UpdateLease(const Lease& lease, ResultCallback<Lease> answer) {
  Reply<Result<Lease>>(std::move(answer), stopped_ ? StoppedError() : UpdateLeaseNow(lease));
}

Result<Lease> EmbeddedCluster::UpdateLeaseNow(Lease lease) {
  if (lease.resource_version.empty()) {
    return InvalidError(kLeaseKind, lease.name, "metadata.resourceVersion",
                        "Invalid value: \"\": must be specified for an update");
  }
  const auto found = leases_.find(LeaseKey(lease.ns, lease.name));
  if (found == leases_.end()) return NotFoundError(kLeaseKind, lease.name);
  if (found->second.resource_version != lease.resource_version) {
    return StaleError(kLeaseKind, lease.name);
  }
  lease.resource_version = NextVersion();
  found->second = std::move(lease);
  return found->second;
}

// ---- Other requests -----------------------------------------------------------------------------

void EmbeddedCluster::Request(ApiRequest request, ResultCallback<std::string> answer) {
  if (stopped_) return Reply<Result<std::string>>(std::move(answer), StoppedError());
  if (options_.serve) return Reply(std::move(answer), options_.serve(request));
  Reply<Result<std::string>>(
      std::move(answer), Status::Unsupported("the embedded cluster does not serve " + request.verb +
                                             " " + request.path));
}

}  // namespace berth::host
