#include "host/cluster/embedded/pod_request_handler.h"

#include <algorithm>
#include <string>

#include "host/base/time_units.h"
#include "host/cluster/embedded/api_errors.h"
#include "host/cluster/embedded/with_meta.h"

namespace berth::host {
namespace {

// About seventy years; the end of a longer grace period would not fit in a timestamp.
constexpr int64_t kMaxGraceSeconds = int64_t{1} << 31;

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

}  // namespace

Result<StoredObject*> PodRequestHandler::FindPod(const PodName& name, std::string_view resource) {
  StoredObject* stored = objects_.Find(kPodKind, ObjectKey(name.ns, name.name));
  if (stored == nullptr) return NotFoundError(kPodKind, name.name);
  const std::string_view uid = Base(stored->object).uid();
  if (!name.uid.empty() && name.uid != uid) {
    return UidConflictError(resource, name.name, name.uid, uid);
  }
  return stored;
}

// kube-apiserver: pkg/registry/core/pod/storage/storage.go, setPodNodeAndMetadata.
Status PodRequestHandler::Bind(const PodName& name, std::string_view node) {
  constexpr std::string_view kResource = "pods/binding";
  if (node.empty()) {
    return InvalidError("v1/Binding", name.name, "target.name", "Required value");
  }
  const Result<StoredObject*> found = FindPod(name, kResource);
  if (!found.ok()) return found.status();
  StoredObject& stored = **found;
  const PodRef pod = std::get<PodRef>(stored.object);
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
  const std::string version = versions_.Next();
  IdRefs refs(pod->interner());
  const PodRef bound = WithNode(pod, refs.Intern(node), version);
  PodStatusPatch patch;
  patch.nominated_node = "";
  patch.pod_scheduled = PodStatusPatch::Condition{BERTH_CONDITION_TRUE, {}, {}, clock_.NowNs()};
  stored.scheduled_message.clear();
  objects_.Replace(stored, WithStatus(bound, patch, version));
  return Status::Ok();
}

Status PodRequestHandler::PatchStatus(const PodName& name, const PodStatusPatch& patch) {
  const Result<StoredObject*> found = FindPod(name, "pods");
  if (!found.ok()) return found.status();
  StoredObject& stored = **found;
  const PodRef pod = std::get<PodRef>(stored.object);
  const bool same_nomination =
      !patch.nominated_node || *patch.nominated_node == pod->nominated_node();
  const bool same_conditions =
      HasCondition(*pod, "PodScheduled", patch.pod_scheduled) &&
      (!patch.pod_scheduled || patch.pod_scheduled->message == stored.scheduled_message) &&
      HasCondition(*pod, "DisruptionTarget", patch.disruption_target);
  if (same_nomination && same_conditions) return Status::Ok();
  if (patch.pod_scheduled) stored.scheduled_message = patch.pod_scheduled->message;
  objects_.Replace(stored, WithStatus(pod, patch, versions_.Next()));
  return Status::Ok();
}

// apiserver: registry/rest/delete.go, BeforeDelete; kube-apiserver:
// pkg/registry/core/pod/strategy.go, CheckGracefulDelete.
Status PodRequestHandler::Delete(const PodName& name, std::optional<int64_t> grace_seconds) {
  const Result<StoredObject*> found = FindPod(name, "pods");
  if (!found.ok()) return found.status();
  StoredObject& stored = **found;
  const PodRef pod = std::get<PodRef>(stored.object);
  const uint32_t phase = pod->view().phase;
  const bool runs_nowhere =
      pod->node_name().empty() || phase == BERTH_PHASE_SUCCEEDED || phase == BERTH_PHASE_FAILED;
  int64_t grace = std::min(grace_seconds.value_or(kDefaultGraceSeconds), kMaxGraceSeconds);
  if (grace < 0) grace = 1;
  if (runs_nowhere) grace = 0;
  if (grace == 0) {
    objects_.Erase(stored);
    return Status::Ok();
  }
  ServerMeta meta = MetaOf(*pod);
  const bool is_shorter = grace < stored.grace_seconds;
  // The deletion is due by the clock of this cluster, even if the pod already has a
  // deletionTimestamp from elsewhere, which may be any time.
  if (stored.due_ns == 0) {
    objects_.SetDeletionDue(stored, clock_.NowNs() + grace * kSecond);
  } else if (is_shorter) {
    objects_.SetDeletionDue(stored, stored.due_ns - (stored.grace_seconds - grace) * kSecond);
  }
  if (!pod->terminating()) {
    meta.deleted_ns = stored.due_ns;
  } else if (is_shorter) {
    meta.deleted_ns -= (stored.grace_seconds - grace) * kSecond;
  } else {
    return Status::Ok();
  }
  stored.grace_seconds = grace;
  const std::string version = versions_.Next();
  meta.resource_version = version;
  objects_.Replace(stored, WithMeta(pod, meta));
  return Status::Ok();
}

Status PodRequestHandler::FinishDeletion(const PodName& name) {
  const Result<StoredObject*> found = FindPod(name, "pods");
  if (!found.ok()) return found.status();
  if (!std::get<PodRef>((*found)->object)->terminating()) {
    return InvalidError(kPodKind, name.name, "metadata.deletionTimestamp", "Required value");
  }
  objects_.Erase(**found);
  return Status::Ok();
}

}  // namespace berth::host
