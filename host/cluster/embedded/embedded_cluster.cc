#include "host/cluster/embedded/embedded_cluster.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/api_protocol.h"

namespace berth::host {
namespace {

// The message of the condition that a gated pod gets. kube-apiserver:
// pkg/registry/core/pod/strategy.go, applySchedulingGatedCondition.
constexpr std::string_view kGatedMessage =
    "Scheduling is blocked due to non-empty scheduling gates";

bool NeedsGatedCondition(const Pod& pod) {
  if (pod.view().scheduling_gates.count == 0) return false;
  const auto conditions = Elements<berth_condition>(pod.view().conditions);
  return std::none_of(conditions.begin(), conditions.end(), [&pod](const berth_condition& c) {
    return pod.Name(c.type) == "PodScheduled";
  });
}

PodRef WithGatedCondition(const PodRef& pod, int64_t now_ns) {
  PodStatusPatch patch;
  patch.pod_scheduled =
      PodStatusPatch::Condition{BERTH_CONDITION_FALSE, "SchedulingGated", kGatedMessage, now_ns};
  return WithStatus(pod, patch, pod->resource_version());
}

// Returns `pod`, the state in the remote cluster, with the decisions of this cluster on the stored
// pod. A nomination that came from the remote cluster is none of them.
PodRef WithDecisions(const PodRef& pod, const StoredObject& object, std::string_view version) {
  const Pod& stored = *std::get<PodRef>(object.object);
  PodStatusPatch patch;
  if (!stored.node_name().empty()) {
    if (stored.node_name() == pod->node_name()) return pod;
    patch.nominated_node = "";
    return WithStatus(WithNode(pod, stored.view().node_name, version), patch, version);
  }
  const bool has_place = !pod->node_name().empty() || !pod->nominated_node().empty();
  if (has_place || !object.is_nominated_here) return pod;
  patch.nominated_node = stored.nominated_node();
  return WithStatus(pod, patch, version);
}

Status StoppedError() { return Status::Unavailable("the embedded cluster was stopped"); }

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

// ---- Requests for single pods -------------------------------------------------------------------

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
  if (patch.nominated_node) stored.is_nominated_here = !patch.nominated_node->empty();
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
  const bool runs_nowhere = pod->node_name().empty() || pod->has_ended();
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

// ---- EmbeddedCluster ----------------------------------------------------------------------------

EmbeddedCluster::EmbeddedCluster(Options options) : options_(std::move(options)) {}

// ---- Changes by users, kubelets and controllers -------------------------------------------------

Status EmbeddedCluster::Load(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const std::string key = Base(object).Key();
  if (objects_.Find(kind, key) != nullptr) {
    return Status::AlreadyExists(std::string("duplicate ").append(kind).append(" ").append(key));
  }
  return Create(std::move(object)).status();
}

// Validates a new object. The uids of pods must be unique, because watchers identify pods by them.
Status EmbeddedCluster::CheckNew(std::string_view kind, const ObjectBase& object) const {
  if (object.name().empty()) return InvalidError(kind, "", "metadata.name", "Required value");
  if (kind != kPodKind) return {};
  if (object.ns().empty()) {
    return InvalidError(kind, object.name(), "metadata.namespace", "Required value");
  }
  const std::string* other = objects_.FindPodWithUid(object.uid());
  if (other == nullptr) return {};
  std::string why = "Duplicate value: \"";
  why.append(object.uid()).append("\": pod ").append(*other).append(" has this uid");
  return InvalidError(kind, object.name(), "metadata.uid", why);
}

// Returns the object with a new resourceVersion, and with a uid and a creationTimestamp.
AnyObject EmbeddedCluster::WithNewMeta(const AnyObject& object) {
  const std::string version = versions_.Next();
  ServerMeta meta = MetaOf(Base(object));
  if (!meta.uid.empty() && meta.created_ns != 0) return WithResourceVersion(object, version);
  const std::string uid = meta.uid.empty() ? objects_.NewUid() : std::string(meta.uid);
  meta.uid = uid;
  meta.resource_version = version;
  if (meta.created_ns == 0) meta.created_ns = options_.clock.NowNs();
  return WithMeta(object, meta);
}

Result<AnyObject> EmbeddedCluster::Create(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const ObjectBase& base = Base(object);
  if (!objects_.IsServed(kind)) return NoResourceError();
  if (objects_.Find(kind, base.Key()) != nullptr) return AlreadyExistsError(kind, base.name());
  if (Status status = CheckNew(kind, base); !status.ok()) return status;

  StoredObject added{.object = WithNewMeta(object)};
  if (const PodRef* pod = std::get_if<PodRef>(&added.object)) {
    if ((*pod)->terminating()) added.grace_seconds = PodRequestHandler::kDefaultGraceSeconds;
    if (NeedsGatedCondition(**pod)) {
      added.object = WithGatedCondition(*pod, options_.clock.NowNs());
      added.scheduled_message = kGatedMessage;
    }
  }
  return objects_.Add(std::move(added)).object;
}

Result<AnyObject> EmbeddedCluster::Update(AnyObject object,
                                          std::optional<std::string> scheduled_message) {
  const std::string_view kind = KindOf(object);
  const ObjectBase& base = Base(object);
  StoredObject* found = objects_.Find(kind, base.Key());
  if (found == nullptr) return NotFoundError(kind, base.name());
  const ObjectBase& stored = Base(found->object);
  if (!base.uid().empty() && base.uid() != stored.uid()) {
    return UidConflictError(ResourceOf(kind), base.name(), base.uid(), stored.uid());
  }
  if (!base.resource_version().empty() && base.resource_version() != stored.resource_version()) {
    return StaleError(kind, base.name());
  }
  if (const PodRef* pod = std::get_if<PodRef>(&object)) {
    if ((*pod)->node_name() != std::get<PodRef>(found->object)->node_name()) {
      return InvalidError(kind, base.name(), "spec.nodeName",
                          "Forbidden: pod updates may not change it");
    }
  }
  ServerMeta meta = MetaOf(stored);
  const std::string version = versions_.Next();
  meta.resource_version = version;
  if (scheduled_message.has_value()) found->scheduled_message = *std::move(scheduled_message);
  objects_.Replace(*found, WithMeta(object, meta));
  return found->object;
}

Status EmbeddedCluster::Delete(std::string_view kind, std::string_view ns, std::string_view name) {
  if (kind == kPodKind) return pods_.Delete({ns, name, {}}, std::nullopt);
  return Remove(kind, ns, name);
}

void EmbeddedCluster::SetServed(std::string_view kind, bool served) {
  BERTH_ASSERT(kind != kPodKind && kind != kNodeKind);
  objects_.SetServed(kind, served);
}

std::optional<int64_t> EmbeddedCluster::NextDeletionNs() const {
  const StoredObject* first = objects_.FirstDue();
  return first == nullptr ? std::nullopt : std::optional(first->due_ns);
}

size_t EmbeddedCluster::FinishDueDeletions() {
  const int64_t now_ns = options_.clock.NowNs();
  size_t count = 0;
  for (const StoredObject* due = objects_.FirstDue(); due != nullptr && due->due_ns <= now_ns;
       due = objects_.FirstDue()) {
    const Status status = pods_.FinishDeletion(NameOf(*std::get<PodRef>(due->object)));
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    ++count;
  }
  return count;
}

// ---- Changes that the watch of a remote cluster reports -----------------------------------------

Result<AnyObject> EmbeddedCluster::Put(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const ObjectBase& base = Base(object);
  StoredObject* found = objects_.Find(kind, base.Key());
  if (found == nullptr) return Create(std::move(object));
  const ObjectBase& stored = Base(found->object);
  if (!base.uid().empty() && base.uid() != stored.uid()) {
    if (Status status = CheckNew(kind, base); !status.ok()) return status;
    objects_.Erase(*found);
    return Create(std::move(object));
  }
  const std::string version = versions_.Next();
  if (PodRef* pod = std::get_if<PodRef>(&object)) {
    const bool is_replaced = !(*pod)->nominated_node().empty();
    *pod = WithDecisions(*pod, *found, version);
    if (is_replaced || (*pod)->nominated_node().empty()) found->is_nominated_here = false;
  }
  ServerMeta meta = MetaOf(Base(object));
  meta.uid = stored.uid();
  meta.resource_version = version;
  if (meta.created_ns == 0) meta.created_ns = stored.meta().created_ns;
  if (meta.deleted_ns == 0) {
    meta.deleted_ns = stored.meta().deleted_ns;
  } else if (stored.meta().deleted_ns == 0) {
    found->grace_seconds = PodRequestHandler::kDefaultGraceSeconds;
  }
  objects_.Replace(*found, WithMeta(object, meta));
  return found->object;
}

Status EmbeddedCluster::Remove(std::string_view kind, std::string_view ns, std::string_view name) {
  StoredObject* found = objects_.Find(kind, ObjectKey(ns, name));
  if (found == nullptr) return NotFoundError(kind, name);
  objects_.Erase(*found);
  return Status::Ok();
}

// ---- Contents -----------------------------------------------------------------------------------

std::optional<AnyObject> EmbeddedCluster::Find(std::string_view kind, std::string_view ns,
                                               std::string_view name) const {
  const StoredObject* found = objects_.Find(kind, ObjectKey(ns, name));
  if (found == nullptr) return std::nullopt;
  return found->object;
}

PodRef EmbeddedCluster::FindPod(std::string_view ns, std::string_view name) const {
  const StoredObject* found = objects_.Find(kPodKind, ObjectKey(ns, name));
  return found == nullptr ? nullptr : std::get<PodRef>(found->object);
}

NodeRef EmbeddedCluster::FindNode(std::string_view name) const {
  const StoredObject* found = objects_.Find(kNodeKind, name);
  return found == nullptr ? nullptr : std::get<NodeRef>(found->object);
}

std::vector<AnyObject> EmbeddedCluster::List(std::string_view kind) const {
  std::vector<AnyObject> list;
  const StoredObjects::ByKey* objects = objects_.OfKind(kind);
  if (objects == nullptr) return list;
  list.reserve(objects->size());
  for (const auto& [key, stored] : *objects) list.push_back(stored.object);
  return list;
}

std::string_view EmbeddedCluster::PodScheduledMessage(std::string_view ns,
                                                      std::string_view name) const {
  const StoredObject* found = objects_.Find(kPodKind, ObjectKey(ns, name));
  return found == nullptr ? std::string_view() : found->scheduled_message;
}

// ---- Delivery -----------------------------------------------------------------------------------

size_t EmbeddedCluster::Deliver() {
  size_t delivered = 0;
  while (DeliverOne()) ++delivered;
  return delivered;
}

// ---- ObjectSource, DecisionWriter ---------------------------------------------------------------

template <class Execute>
void EmbeddedCluster::Answer(StatusCallback done, const Execute& execute) {
  deliveries_.Reply(std::move(done), deliveries_.is_stopped() ? StoppedError() : execute());
}

std::unique_ptr<Watch> EmbeddedCluster::StartWatch(std::string_view kind, WatchSink& sink) {
  const bool is_served = objects_.IsServed(kind);
  if (is_served && !deliveries_.is_stopped()) objects_.AddKind(kind);
  return deliveries_.StartWatch(kind, sink, objects_.Watched(kind),
                                is_served ? WatchType::kSynced : WatchType::kNotServed);
}

void EmbeddedCluster::Bind(const PodName& pod, std::string_view node, StatusCallback done) {
  Answer(std::move(done), [&] { return pods_.Bind(pod, node); });
}

void EmbeddedCluster::PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                                     StatusCallback done) {
  Answer(std::move(done), [&] { return pods_.PatchStatus(pod, patch); });
}

void EmbeddedCluster::DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                                StatusCallback done) {
  Answer(std::move(done), [&] { return pods_.Delete(pod, grace_seconds); });
}

void EmbeddedCluster::CreateEvent(Event event, StatusCallback done) {
  Answer(std::move(done), [&] { return events_.Add(std::move(event)); });
}

void EmbeddedCluster::Request(ApiRequest request, ResponseCallback answer) {
  ApiResponse response;
  if (deliveries_.is_stopped()) {
    response = ApiResponse::None(StoppedError());
  } else if (options_.serve) {
    response = options_.serve(request);
  } else {
    response = ApiResponse::None(Status::Unsupported("the embedded cluster does not serve " +
                                                     request.verb + " " + request.path));
  }
  deliveries_.Reply(std::move(answer), std::move(response));
}

}  // namespace berth::host
