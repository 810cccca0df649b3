#include "host/cluster/embedded/stored_objects.h"

#include <cstdio>

#include "host/base/assert.h"
#include "host/cluster/embedded/api_protocol.h"

namespace berth::host {
namespace {

// Returns whether watches of its kind deliver the object.
bool IsWatched(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  return pod == nullptr || !(*pod)->has_ended();
}

// Returns a text in the format of a UUID, which depends only on `number`.
std::string MakeUid(uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof(text), "00000000-0000-4000-8000-%012llx",
                static_cast<unsigned long long>(number));
  return text;
}

constexpr std::string_view kLeaseKind = "coordination.k8s.io/v1/Lease";
constexpr std::string_view kEventKind = "events.k8s.io/v1/Event";

// Validates an event. kube-apiserver: pkg/apis/core/validation/events.go, for events.k8s.io/v1.
Status ValidateEvent(const Event& event) {
  constexpr size_t kMaxName = 128;
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
  if (event.note.size() > kMaxEventNoteBytes)
    return invalid("note", "can have at most 1024 characters");
  return Status::Ok();
}

}  // namespace

std::string ObjectKey(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!ns.empty()) key.append(1, '/');
  return key.append(name);
}

// ---- Contents -----------------------------------------------------------------------------------

const StoredObjects::ByKey* StoredObjects::OfKind(std::string_view kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : &found->second;
}

const StoredObject* StoredObjects::Find(std::string_view kind, std::string_view key) const {
  const ByKey* objects = OfKind(kind);
  if (objects == nullptr) return nullptr;
  const auto found = objects->find(key);
  return found == objects->end() ? nullptr : &found->second;
}

StoredObject* StoredObjects::Find(std::string_view kind, std::string_view key) {
  return const_cast<StoredObject*>(std::as_const(*this).Find(kind, key));
}

std::vector<AnyObject> StoredObjects::Watched(std::string_view kind) const {
  std::vector<AnyObject> watched;
  const ByKey* objects = OfKind(kind);
  if (objects == nullptr) return watched;
  for (const auto& [key, stored] : *objects) {
    if (IsWatched(stored.object)) watched.push_back(stored.object);
  }
  return watched;
}

const std::string* StoredObjects::FindPodWithUid(std::string_view uid) const {
  const auto found = pod_by_uid_.find(uid);
  return found == pod_by_uid_.end() ? nullptr : &found->second;
}

std::vector<std::string> StoredObjects::Kinds() const {
  std::vector<std::string> kinds;
  kinds.reserve(kinds_.size());
  for (const auto& [kind, objects] : kinds_) kinds.push_back(kind);
  return kinds;
}

// Skips uids that pods already have: a manifest that was saved from an embedded cluster contains
// uids of the same sequence.
std::string StoredObjects::NewUid() {
  std::string uid;
  do {
    uid = MakeUid(++last_uid_);
  } while (pod_by_uid_.contains(uid));
  return uid;
}

// ---- Changes ------------------------------------------------------------------------------------

const StoredObject& StoredObjects::Add(StoredObject added) {
  const std::string_view kind = KindOf(added.object);
  std::string key = Base(added.object).Key();
  if (std::holds_alternative<PodRef>(added.object)) {
    pod_by_uid_.emplace(Base(added.object).uid(), key);
  }
  ByKey& objects = kinds_[std::string(kind)];
  const auto [place, is_new] = objects.try_emplace(std::move(key), std::move(added));
  BERTH_ASSERT(is_new);
  const StoredObject& stored = place->second;
  if (IsWatched(stored.object)) {
    deliveries_.Notify(KindOf(stored.object), {WatchType::kAdded, stored.object, {}, false});
  }
  return stored;
}

void StoredObjects::Replace(StoredObject& stored, AnyObject object) {
  AnyObject before = std::exchange(stored.object, std::move(object));
  const std::string_view kind = KindOf(stored.object);
  const bool was_watched = IsWatched(before);
  const bool is_watched = IsWatched(stored.object);
  if (was_watched && is_watched) {
    deliveries_.Notify(kind, {WatchType::kModified, stored.object, std::move(before), false});
  } else if (was_watched) {
    // An object that no longer matches the selector is deleted in its former state, with the new
    // version. apiserver: storage/cacher.
    AnyObject last = WithResourceVersion(before, Base(stored.object).resource_version());
    deliveries_.Notify(kind, {WatchType::kDeleted, std::move(last), std::move(before), false});
  } else if (is_watched) {
    deliveries_.Notify(kind, {WatchType::kAdded, stored.object, {}, false});
  }
}

void StoredObjects::Erase(StoredObject& stored) {
  SetDeletionDue(stored, 0);
  const AnyObject before = std::move(stored.object);
  const std::string_view kind = KindOf(before);
  ByKey& objects = kinds_.find(kind)->second;
  objects.erase(objects.find(Base(before).Key()));
  if (std::holds_alternative<PodRef>(before)) {
    pod_by_uid_.erase(pod_by_uid_.find(Base(before).uid()));
  }
  const std::string version = versions_.Next();
  if (!IsWatched(before)) return;
  deliveries_.Notify(kind,
                     {WatchType::kDeleted, WithResourceVersion(before, version), before, false});
}

void StoredObjects::SetServed(std::string_view kind, bool served) {
  if (served == IsServed(kind)) return;
  if (served) {
    not_served_.erase(not_served_.find(kind));
    kinds_.try_emplace(std::string(kind));
    return deliveries_.Notify(kind, {WatchType::kSynced, {}, {}, false});
  }
  not_served_.emplace(kind);
  if (const auto objects = kinds_.find(kind); objects != kinds_.end()) {
    while (!objects->second.empty()) Erase(objects->second.begin()->second);
    kinds_.erase(objects);
  }
  deliveries_.Notify(kind, {WatchType::kNotServed, {}, {}, false});
}

// ---- Due deletions ------------------------------------------------------------------------------

void StoredObjects::SetDeletionDue(StoredObject& pod, int64_t due_ns) {
  if (pod.due_ns == due_ns) return;
  std::string key = Base(pod.object).Key();
  if (pod.due_ns != 0) deletions_.erase({pod.due_ns, key});
  pod.due_ns = due_ns;
  if (due_ns != 0) deletions_.emplace(due_ns, std::move(key));
}

const StoredObject* StoredObjects::FirstDue() const {
  return deletions_.empty() ? nullptr : Find(kPodKind, deletions_.begin()->second);
}

// ---- Leases -------------------------------------------------------------------------------------

Result<Lease> StoredLeases::Get(std::string_view ns, std::string_view name) const {
  const auto found = leases_.find(ObjectKey(ns, name));
  if (found == leases_.end()) return NotFoundError(kLeaseKind, name);
  return found->second;
}

Result<Lease> StoredLeases::Create(Lease lease) {
  const auto [place, is_new] = leases_.try_emplace(ObjectKey(lease.ns, lease.name));
  if (!is_new) return AlreadyExistsError(kLeaseKind, lease.name);
  lease.resource_version = versions_.Next();
  place->second = std::move(lease);
  return place->second;
}

Result<Lease> StoredLeases::Update(Lease lease) {
  if (lease.resource_version.empty()) {
    return InvalidError(kLeaseKind, lease.name, "metadata.resourceVersion",
                        "Invalid value: \"\": must be specified for an update");
  }
  const auto found = leases_.find(ObjectKey(lease.ns, lease.name));
  if (found == leases_.end()) return NotFoundError(kLeaseKind, lease.name);
  if (found->second.resource_version != lease.resource_version) {
    return StaleError(kLeaseKind, lease.name);
  }
  lease.resource_version = versions_.Next();
  found->second = std::move(lease);
  return found->second;
}

// ---- Events -------------------------------------------------------------------------------------

Status StoredEvents::Add(Event event) {
  if (Status status = ValidateEvent(event); !status.ok()) return status;
  if (event.time_ns == 0) event.time_ns = clock_.NowNs();
  static_cast<void>(versions_.Next());
  events_.push_back(std::move(event));
  while (events_.size() > max_events_) events_.pop_front();
  return Status::Ok();
}

}  // namespace berth::host
