#include "host/cluster/embedded/embedded_cluster.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/embedded/api_errors.h"
#include "host/cluster/embedded/with_meta.h"

namespace berth::host {
namespace {

std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!ns.empty()) key.append(1, '/');
  return key.append(name);
}

bool IsFinished(const Pod& pod) {
  const uint32_t phase = pod.view().phase;
  return phase == BERTH_PHASE_SUCCEEDED || phase == BERTH_PHASE_FAILED;
}

// Returns whether watches of its kind deliver the object.
bool IsWatched(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  return pod == nullptr || !IsFinished(**pod);
}

// Returns a text in the format of a UUID, which depends only on `number`.
std::string MakeUid(uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof(text), "00000000-0000-4000-8000-%012llx",
                static_cast<unsigned long long>(number));
  return text;
}

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

// Returns `pod`, the state in the remote cluster, with the decisions of this cluster on `stored`.
PodRef WithDecisions(const PodRef& pod, const Pod& stored, std::string_view version) {
  PodStatusPatch patch;
  if (!stored.node_name().empty()) {
    if (stored.node_name() == pod->node_name()) return pod;
    patch.nominated_node = "";
    return WithStatus(WithNode(pod, stored.view().node_name, version), patch, version);
  }
  const bool has_place = !pod->node_name().empty() || !pod->nominated_node().empty();
  if (has_place || stored.nominated_node().empty()) return pod;
  patch.nominated_node = stored.nominated_node();
  return WithStatus(pod, patch, version);
}

}  // namespace

class EmbeddedCluster::WatchHandle final : public Watch {
 public:
  WatchHandle(EmbeddedCluster& cluster, uint64_t watch) : cluster_(cluster), watch_(watch) {}
  ~WatchHandle() override { cluster_.EndWatch(watch_); }

 private:
  EmbeddedCluster& cluster_;
  const uint64_t watch_;
};

EmbeddedCluster::EmbeddedCluster(Options options) : options_(std::move(options)) {}

EmbeddedCluster::~EmbeddedCluster() {
  BERTH_ASSERT_MSG(open_watches_ == 0, "%zu watches outlive their client", open_watches_);
}

// ---- Changes by users, kubelets and controllers -------------------------------------------------

Status EmbeddedCluster::Load(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const std::string key = Base(object).Key();
  const Store* store = FindStore(kind);
  if (store != nullptr && store->objects.contains(key)) {
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
  const auto other = pod_by_uid_.find(object.uid());
  if (other == pod_by_uid_.end()) return {};
  return InvalidError(
      kind, object.name(), "metadata.uid",
      "Duplicate value: \"" + other->first + "\": pod " + other->second + " has this uid");
}

Result<AnyObject> EmbeddedCluster::Create(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const ObjectBase& base = Base(object);
  Store& store = StoreOf(kind);
  std::string key = base.Key();
  if (store.objects.contains(key)) return AlreadyExistsError(kind, base.name());
  if (Status status = CheckNew(kind, base); !status.ok()) return status;

  Entry& entry = store.objects[key];
  entry.object = AsCreated(std::move(object));
  const PodRef* pod = std::get_if<PodRef>(&entry.object);
  if (pod != nullptr) {
    pod_by_uid_.emplace((*pod)->uid(), std::move(key));
    if (NeedsGatedCondition(**pod)) {
      entry.object = WithGatedCondition(*pod, options_.clock.NowNs());
      entry.scheduled_message = kGatedMessage;
    }
    if ((*pod)->terminating()) entry.grace_seconds = kDefaultGraceSeconds;
  }
  if (IsWatched(entry.object)) Notify(store, {WatchType::kAdded, entry.object, {}, false});
  return entry.object;
}

Result<AnyObject> EmbeddedCluster::Update(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const ObjectBase& base = Base(object);
  Store& store = StoreOf(kind);
  const Place place = store.objects.find(base.Key());
  if (place == store.objects.end()) return NotFoundError(kind, base.name());
  Entry& entry = place->second;
  const ObjectBase& stored = Base(entry.object);
  if (!base.uid().empty() && base.uid() != stored.uid()) {
    return UidConflictError(ResourceOf(kind), base.name(), base.uid(), stored.uid());
  }
  if (!base.resource_version().empty() && base.resource_version() != stored.resource_version()) {
    return StaleError(kind, base.name());
  }
  if (const PodRef* pod = std::get_if<PodRef>(&object)) {
    if ((*pod)->node_name() != std::get<PodRef>(entry.object)->node_name()) {
      return InvalidError(kind, base.name(), "spec.nodeName",
                          "Forbidden: pod updates may not change it");
    }
  }
  ServerMeta meta = MetaOf(stored);
  const std::string version = NextVersion();
  meta.resource_version = version;
  Replace(store, entry, WithMeta(object, meta));
  return entry.object;
}

Status EmbeddedCluster::Delete(std::string_view kind, std::string_view ns, std::string_view name) {
  if (kind == kPodKind) return DeleteNow({ns, name, {}}, std::nullopt);
  return Remove(kind, ns, name);
}

Status EmbeddedCluster::FinishDeletion(const PodName& name) {
  const Result<Place> place = FindPodPlace(name, "pods");
  if (!place.ok()) return place.status();
  if (!std::get<PodRef>((*place)->second.object)->terminating()) {
    return InvalidError(kPodKind, name.name, "metadata.deletionTimestamp", "Required value");
  }
  Erase(StoreOf(kPodKind), *place);
  return Status::Ok();
}

std::optional<EmbeddedCluster::DueDeletion> EmbeddedCluster::NextDeletion() const {
  if (deletions_.empty()) return std::nullopt;
  const auto& [due_ns, key] = *deletions_.begin();
  const ObjectBase& pod = Base(FindStore(kPodKind)->objects.find(key)->second.object);
  return DueDeletion{due_ns, std::string(pod.ns()), std::string(pod.name())};
}

void EmbeddedCluster::SetDue(const Place& place, int64_t due_ns) {
  Entry& entry = place->second;
  if (entry.due_ns != 0) deletions_.erase({entry.due_ns, place->first});
  entry.due_ns = due_ns;
  if (due_ns != 0) deletions_.emplace(due_ns, place->first);
}

// ---- Changes that the watch of a remote cluster reports -----------------------------------------

Result<AnyObject> EmbeddedCluster::Put(AnyObject object) {
  const std::string_view kind = KindOf(object);
  const ObjectBase& base = Base(object);
  Store& store = StoreOf(kind);
  const Place place = store.objects.find(base.Key());
  if (place == store.objects.end()) return Create(std::move(object));
  Entry& entry = place->second;
  const ObjectBase& stored = Base(entry.object);
  if (!base.uid().empty() && base.uid() != stored.uid()) {
    if (Status status = CheckNew(kind, base); !status.ok()) return status;
    Erase(store, place);
    return Create(std::move(object));
  }
  const std::string version = NextVersion();
  if (PodRef* pod = std::get_if<PodRef>(&object)) {
    *pod = WithDecisions(*pod, *std::get<PodRef>(entry.object), version);
  }
  ServerMeta meta = MetaOf(Base(object));
  meta.uid = stored.uid();
  meta.resource_version = version;
  if (meta.created_ns == 0) meta.created_ns = stored.meta().created_ns;
  if (meta.deleted_ns == 0) {
    meta.deleted_ns = stored.meta().deleted_ns;
  } else if (stored.meta().deleted_ns == 0) {
    entry.grace_seconds = kDefaultGraceSeconds;
  }
  Replace(store, entry, WithMeta(object, meta));
  return entry.object;
}

Status EmbeddedCluster::Remove(std::string_view kind, std::string_view ns, std::string_view name) {
  Store& store = StoreOf(kind);
  const Place place = store.objects.find(KeyOf(ns, name));
  if (place == store.objects.end()) return NotFoundError(kind, name);
  Erase(store, place);
  return Status::Ok();
}

// ---- Contents -----------------------------------------------------------------------------------

std::optional<AnyObject> EmbeddedCluster::Find(std::string_view kind, std::string_view ns,
                                               std::string_view name) const {
  const Entry* entry = FindEntry(kind, ns, name);
  if (entry == nullptr) return std::nullopt;
  return entry->object;
}

PodRef EmbeddedCluster::FindPod(std::string_view ns, std::string_view name) const {
  const Entry* entry = FindEntry(kPodKind, ns, name);
  return entry == nullptr ? nullptr : std::get<PodRef>(entry->object);
}

NodeRef EmbeddedCluster::FindNode(std::string_view name) const {
  const Entry* entry = FindEntry(kNodeKind, {}, name);
  return entry == nullptr ? nullptr : std::get<NodeRef>(entry->object);
}

std::vector<AnyObject> EmbeddedCluster::List(std::string_view kind) const {
  std::vector<AnyObject> list;
  const Store* store = FindStore(kind);
  if (store == nullptr) return list;
  list.reserve(store->objects.size());
  for (const auto& [key, entry] : store->objects) list.push_back(entry.object);
  return list;
}

std::vector<std::string> EmbeddedCluster::Kinds() const {
  std::vector<std::string> kinds;
  kinds.reserve(stores_.size());
  for (const auto& [kind, store] : stores_) kinds.push_back(kind);
  return kinds;
}

std::string_view EmbeddedCluster::PodScheduledMessage(std::string_view ns,
                                                      std::string_view name) const {
  const Entry* entry = FindEntry(kPodKind, ns, name);
  return entry == nullptr ? std::string_view() : entry->scheduled_message;
}

// ---- Delivery -----------------------------------------------------------------------------------

bool EmbeddedCluster::DeliverOne() {
  BERTH_ASSERT_MSG(!delivering_, "a delivery must not deliver");
  if (deliveries_.empty()) return false;
  Delivery first = std::move(deliveries_.front());
  deliveries_.pop_front();
  Run(std::move(first));
  return true;
}

size_t EmbeddedCluster::Deliver() {
  size_t delivered = 0;
  while (DeliverOne()) ++delivered;
  return delivered;
}

void EmbeddedCluster::Run(Delivery delivery) {
  delivering_ = true;
  if (WatchDelivery* change = std::get_if<WatchDelivery>(&delivery)) {
    // The watch exists, because EndWatch() removes the waiting deliveries of a watch.
    sinks_.at(change->watch)->OnEvents({&change->event, 1});
  } else {
    std::get<std::function<void()>>(delivery)();
  }
  delivering_ = false;
}

std::unique_ptr<Watch> EmbeddedCluster::StartWatch(std::string_view kind, WatchSink& sink) {
  const uint64_t watch = ++last_watch_;
  ++open_watches_;
  auto handle = std::make_unique<WatchHandle>(*this, watch);
  if (stopped_) return handle;
  sinks_.emplace(watch, &sink);
  Store& store = StoreOf(kind);
  store.watches.push_back(watch);
  for (const auto& [key, entry] : store.objects) {
    if (!IsWatched(entry.object)) continue;
    deliveries_.push_back(WatchDelivery{watch, {WatchType::kAdded, entry.object, {}, false}});
  }
  deliveries_.push_back(WatchDelivery{watch, {WatchType::kSynced, {}, {}, false}});
  return handle;
}

void EmbeddedCluster::EndWatch(uint64_t watch) {
  --open_watches_;
  if (sinks_.erase(watch) == 0) return;
  for (auto& [kind, store] : stores_) std::erase(store.watches, watch);
  std::erase_if(deliveries_, [watch](const Delivery& delivery) {
    const WatchDelivery* change = std::get_if<WatchDelivery>(&delivery);
    return change != nullptr && change->watch == watch;
  });
}

void EmbeddedCluster::Notify(const Store& store, WatchEvent event) {
  for (const uint64_t watch : store.watches) deliveries_.push_back(WatchDelivery{watch, event});
}

void EmbeddedCluster::Stop() {
  BERTH_ASSERT_MSG(!delivering_, "a delivery must not stop its client");
  stopped_ = true;
  sinks_.clear();
  for (auto& [kind, store] : stores_) store.watches.clear();
  std::erase_if(deliveries_, [](const Delivery& delivery) {
    return std::holds_alternative<WatchDelivery>(delivery);
  });
  for (size_t open = deliveries_.size(); open > 0; --open) DeliverOne();
}

// ---- The stores ---------------------------------------------------------------------------------

EmbeddedCluster::Store& EmbeddedCluster::StoreOf(std::string_view kind) {
  const auto found = stores_.find(kind);
  return found != stores_.end() ? found->second : stores_[std::string(kind)];
}

const EmbeddedCluster::Store* EmbeddedCluster::FindStore(std::string_view kind) const {
  const auto found = stores_.find(kind);
  return found == stores_.end() ? nullptr : &found->second;
}

const EmbeddedCluster::Entry* EmbeddedCluster::FindEntry(std::string_view kind, std::string_view ns,
                                                         std::string_view name) const {
  const Store* store = FindStore(kind);
  if (store == nullptr) return nullptr;
  const auto found = store->objects.find(KeyOf(ns, name));
  return found == store->objects.end() ? nullptr : &found->second;
}

Result<EmbeddedCluster::Place> EmbeddedCluster::FindPodPlace(const PodName& name,
                                                             std::string_view resource) {
  Store& store = StoreOf(kPodKind);
  const Place place = store.objects.find(KeyOf(name.ns, name.name));
  if (place == store.objects.end()) return NotFoundError(kPodKind, name.name);
  const std::string_view uid = Base(place->second.object).uid();
  if (!name.uid.empty() && name.uid != uid) {
    return UidConflictError(resource, name.name, name.uid, uid);
  }
  return place;
}

// Skips uids that pods already have: a manifest that was saved from an embedded cluster contains
// uids of the same sequence.
std::string EmbeddedCluster::NewUid() {
  std::string uid;
  do {
    uid = MakeUid(++last_uid_);
  } while (pod_by_uid_.contains(uid));
  return uid;
}

AnyObject EmbeddedCluster::AsCreated(AnyObject object) {
  const std::string version = NextVersion();
  ServerMeta meta = MetaOf(Base(object));
  if (!meta.uid.empty() && meta.created_ns != 0) return WithResourceVersion(object, version);
  const std::string uid = meta.uid.empty() ? NewUid() : std::string(meta.uid);
  meta.uid = uid;
  meta.resource_version = version;
  if (meta.created_ns == 0) meta.created_ns = options_.clock.NowNs();
  return WithMeta(object, meta);
}

void EmbeddedCluster::Replace(Store& store, Entry& entry, AnyObject now) {
  AnyObject before = std::exchange(entry.object, std::move(now));
  const bool was_watched = IsWatched(before);
  const bool is_watched = IsWatched(entry.object);
  if (was_watched && is_watched) {
    Notify(store, {WatchType::kModified, entry.object, std::move(before), false});
  } else if (was_watched) {
    // An object that no longer matches the selector is deleted in its former state, with the new
    // version. apiserver: storage/cacher.
    AnyObject last = WithResourceVersion(before, Base(entry.object).resource_version());
    Notify(store, {WatchType::kDeleted, std::move(last), std::move(before), false});
  } else if (is_watched) {
    Notify(store, {WatchType::kAdded, entry.object, {}, false});
  }
}

void EmbeddedCluster::Erase(Store& store, Place place) {
  SetDue(place, 0);
  const AnyObject before = std::move(place->second.object);
  store.objects.erase(place);
  if (std::holds_alternative<PodRef>(before)) {
    pod_by_uid_.erase(pod_by_uid_.find(Base(before).uid()));
  }
  const std::string version = NextVersion();
  if (!IsWatched(before)) return;
  Notify(store, {WatchType::kDeleted, WithResourceVersion(before, version), before, false});
}

}  // namespace berth::host
