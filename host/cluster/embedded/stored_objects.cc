#include "host/cluster/embedded/stored_objects.h"

#include <cstdio>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/embedded/with_meta.h"

namespace berth::host {
namespace {

// Returns whether watches of its kind deliver the object.
bool IsWatched(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  if (pod == nullptr) return true;
  const uint32_t phase = (*pod)->view().phase;
  return phase != BERTH_PHASE_SUCCEEDED && phase != BERTH_PHASE_FAILED;
}

// Returns a text in the format of a UUID, which depends only on `number`.
std::string MakeUid(uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof(text), "00000000-0000-4000-8000-%012llx",
                static_cast<unsigned long long>(number));
  return text;
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
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return nullptr;
  const auto found = objects->second.find(key);
  return found == objects->second.end() ? nullptr : &found->second;
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

}  // namespace berth::host
