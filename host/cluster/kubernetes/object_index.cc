#include "host/cluster/kubernetes/object_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/text.h"

namespace berth::host {
namespace {

bool IsFinal(const AnyObject& object) {
  const auto* pod = std::get_if<PodRef>(&object);
  if (pod == nullptr) return false;
  const uint32_t phase = (*pod)->view().phase;
  return phase == BERTH_PHASE_SUCCEEDED || phase == BERTH_PHASE_FAILED;
}

bool IsSame(const AnyObject& a, const AnyObject& b) {
  return Base(a).uid() == Base(b).uid() && Base(a).resource_version() == Base(b).resource_version();
}

bool IsOlderThan(std::string_view version, const AnyObject& object) {
  return IsOlder(version, Base(object).resource_version()).value_or(false);
}

std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + 1 + name.size());
  return key.append(ns).append("/").append(name);
}

std::string KeyOf(const AnyObject& object) { return KeyOf(Base(object).ns(), Base(object).name()); }

void SortByName(std::vector<WatchEvent>& events) {
  std::ranges::sort(events, {}, [](const WatchEvent& event) {
    return std::pair(Base(event.object).ns(), Base(event.object).name());
  });
}

WatchEvent Tombstone(AnyObject last) {
  return {WatchType::kDeleted, last, std::move(last), /*final_state_unknown=*/true};
}

}  // namespace

std::optional<bool> IsOlder(std::string_view version, std::string_view than) {
  if (!IsNumber(version) || !IsNumber(than)) return std::nullopt;
  const auto without_zeros = [](std::string_view number) {
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
  };
  version = without_zeros(version);
  than = without_zeros(than);
  return std::pair(version.size(), version) < std::pair(than.size(), than);
}

std::optional<WatchEvent> ObjectIndex::Put(AnyObject object) {
  if (IsFinal(object)) return Delete(std::move(object));
  const auto [at, is_new] = objects_.try_emplace(KeyOf(object), object);
  if (is_new) return WatchEvent{WatchType::kAdded, std::move(object), {}, false};
  if (IsSame(object, at->second)) return std::nullopt;
  if (IsOlderThan(Base(object).resource_version(), at->second)) {
    ++lagged_;
    return std::nullopt;
  }
  AnyObject previous = std::exchange(at->second, object);
  return WatchEvent{WatchType::kModified, std::move(object), std::move(previous), false};
}

std::optional<WatchEvent> ObjectIndex::Delete(AnyObject object) {
  const auto at = objects_.find(KeyOf(object));
  if (at == objects_.end()) return std::nullopt;
  const bool is_same_object = Base(at->second).uid() == Base(object).uid();
  std::optional<WatchEvent> event = Remove(at, Base(object).resource_version());
  // If the uids differ, the deletion of the object in the index and the creation of the deleted one
  // were not observed.
  if (event && is_same_object) {
    event->object = std::move(object);
    event->final_state_unknown = false;
  }
  return event;
}

std::optional<WatchEvent> ObjectIndex::DeleteNamed(std::string_view ns, std::string_view name,
                                                   std::string_view version) {
  const auto at = objects_.find(KeyOf(ns, name));
  if (at == objects_.end()) return std::nullopt;
  return Remove(at, version);
}

std::optional<WatchEvent> ObjectIndex::Remove(Objects::iterator at, std::string_view version) {
  if (IsOlderThan(version, at->second)) {
    ++lagged_;
    return std::nullopt;
  }
  AnyObject last = std::move(at->second);
  objects_.erase(at);
  return Tombstone(std::move(last));
}

Result<std::vector<WatchEvent>> ObjectIndex::Replace(std::vector<AnyObject> objects,
                                                     std::string_view list_version,
                                                     bool may_be_older) {
  for (const auto& [key, object] : objects_) {
    if (may_be_older || !IsOlderThan(list_version, object)) continue;
    return Status::Unavailable("the list has the resourceVersion " + std::string(list_version) +
                               ", but " + key + " was seen with " +
                               std::string(Base(object).resource_version()));
  }
  Objects next;
  next.reserve(objects.size());
  for (AnyObject& object : objects) {
    if (IsFinal(object)) continue;
    const auto [at, is_new] = next.try_emplace(KeyOf(object), object);
    if (!is_new && !IsOlderThan(Base(object).resource_version(), at->second)) at->second = object;
    object = {};
  }
  std::vector<WatchEvent> deletions;
  for (auto& [key, object] : objects_) {
    if (!next.contains(key)) deletions.push_back(Tombstone(object));
  }
  std::vector<WatchEvent> changes;
  for (auto& [key, object] : next) {
    const auto old = objects_.find(key);
    if (old == objects_.end()) {
      changes.push_back({WatchType::kAdded, object, {}, false});
    } else if (IsSame(object, old->second)) {
      object = std::move(old->second);
    } else {
      changes.push_back({WatchType::kModified, object, std::move(old->second), false});
    }
  }
  SortByName(deletions);
  SortByName(changes);
  objects_ = std::move(next);
  deletions.insert(deletions.end(), std::make_move_iterator(changes.begin()),
                   std::make_move_iterator(changes.end()));
  return deletions;
}

std::vector<WatchEvent> ObjectIndex::Clear() {
  std::vector<WatchEvent> events;
  events.reserve(objects_.size());
  for (AnyObject& object : Take()) events.push_back(Tombstone(std::move(object)));
  SortByName(events);
  return events;
}

const AnyObject* ObjectIndex::Find(std::string_view ns, std::string_view name) const {
  const auto at = objects_.find(KeyOf(ns, name));
  return at == objects_.end() ? nullptr : &at->second;
}

AnyObject ObjectIndex::Reuse(AnyObject object) const {
  const AnyObject* known = Find(Base(object).ns(), Base(object).name());
  return known != nullptr && IsSame(*known, object) ? *known : object;
}

std::vector<AnyObject> ObjectIndex::Take() {
  std::vector<AnyObject> objects;
  objects.reserve(objects_.size());
  for (auto& [key, object] : objects_) objects.push_back(std::move(object));
  objects_.clear();
  return objects;
}

}  // namespace berth::host
