#include "host/cluster/kubernetes/watch/object_index.h"

#include <algorithm>
#include <iterator>

#include "host/base/text.h"

namespace berth::host {
namespace {

bool IsFinal(const AnyObject& object) {
  const auto* pod = std::get_if<PodRef>(&object);
  return pod != nullptr && (*pod)->has_ended();
}

bool IsSame(const AnyObject& a, const AnyObject& b) {
  return Base(a).uid() == Base(b).uid() && Base(a).resource_version() == Base(b).resource_version();
}

bool IsOlderThan(std::string_view version, const AnyObject& object) {
  return IsOlder(version, Base(object).resource_version()).value_or(false);
}

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
  const auto [known, is_new] = objects_.Add(object);
  if (is_new) return WatchEvent{WatchType::kAdded, std::move(object), {}, false};
  if (IsSame(object, *known)) return std::nullopt;
  if (IsOlderThan(Base(object).resource_version(), *known)) {
    ++lagged_;
    return std::nullopt;
  }
  AnyObject previous = std::exchange(*known, object);
  return WatchEvent{WatchType::kModified, std::move(object), std::move(previous), false};
}

std::optional<WatchEvent> ObjectIndex::Delete(AnyObject object) {
  const AnyObject* const known = objects_.Find(PlaceOf()(object));
  if (known == nullptr) return std::nullopt;
  const bool is_same_object = Base(*known).uid() == Base(object).uid();
  std::optional<WatchEvent> event = Remove(*known, Base(object).resource_version());
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
  const AnyObject* const known = Find(ns, name);
  return known != nullptr ? Remove(*known, version) : std::nullopt;
}

std::optional<WatchEvent> ObjectIndex::Remove(const AnyObject& object, std::string_view version) {
  if (IsOlderThan(version, object)) {
    ++lagged_;
    return std::nullopt;
  }
  return Tombstone(objects_.Take(PlaceOf()(object)));
}

Result<std::vector<WatchEvent>> ObjectIndex::Replace(std::vector<AnyObject> objects,
                                                     std::string_view list_version,
                                                     bool may_be_older) {
  const AnyObject* newer = nullptr;
  if (!may_be_older) {
    objects_.ForEach([&](const AnyObject& object) {
      if (IsOlderThan(list_version, object)) newer = &object;
    });
  }
  if (newer != nullptr) {
    return Status::Unavailable("the list has the resourceVersion " + std::string(list_version) +
                               ", but " + Base(*newer).Key() + " was seen with " +
                               std::string(Base(*newer).resource_version()));
  }
  Objects next;
  next.Reserve(objects.size());
  for (AnyObject& object : objects) {
    if (IsFinal(object)) continue;
    const auto [known, is_new] = next.Add(object);
    if (!is_new && !IsOlderThan(Base(object).resource_version(), *known)) *known = object;
    object = {};
  }
  std::vector<WatchEvent> deletions;
  objects_.ForEach([&](const AnyObject& object) {
    if (next.Find(PlaceOf()(object)) == nullptr) deletions.push_back(Tombstone(object));
  });
  std::vector<WatchEvent> changes;
  next.ForEach([&](AnyObject& object) {
    const AnyObject* const old = objects_.Find(PlaceOf()(object));
    if (old == nullptr) {
      changes.push_back({WatchType::kAdded, object, {}, false});
    } else if (IsSame(object, *old)) {
      object = *old;
    } else {
      changes.push_back({WatchType::kModified, object, *old, false});
    }
  });
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
  return objects_.Find({ns, name});
}

AnyObject ObjectIndex::Reuse(AnyObject object) const {
  const AnyObject* known = Find(Base(object).ns(), Base(object).name());
  return known != nullptr && IsSame(*known, object) ? *known : object;
}

std::vector<AnyObject> ObjectIndex::Take() {
  std::vector<AnyObject> objects;
  objects.reserve(objects_.size());
  objects_.ForEach([&](const AnyObject& object) { objects.push_back(object); });
  objects_.Clear();
  return objects;
}

}  // namespace berth::host
