#include "host/process/replay/stream_cluster.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "host/base/text.h"
#include "host/cluster/client.h"

namespace berth::host {
namespace {

// Compares two resourceVersions of an object by age. Returns unordered if that is not known.
std::partial_ordering CompareVersions(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return std::partial_ordering::unordered;
  if (a == b) return std::partial_ordering::equivalent;
  if (!IsNumber(a) || !IsNumber(b)) return std::partial_ordering::unordered;
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::string SeenKey(const AnyObject& object) {
  return std::string(KindOf(object)).append(1, ' ').append(Base(object).Key());
}

bool AreDifferent(std::string_view uid, std::string_view other) {
  return !uid.empty() && !other.empty() && uid != other;
}

}  // namespace

void StreamCluster::NoteLoaded(const AnyObject& object) { Record(object, seen_[SeenKey(object)]); }

Result<bool> StreamCluster::Apply(const StreamEvent& event) {
  switch (event.type) {
    case StreamType::kAdded:
    case StreamType::kModified: return Put(event.type, event.object);
    case StreamType::kDeleted: return Delete(event.object);
    case StreamType::kBookmark:
    case StreamType::kDecision:
    case StreamType::kAttempt: break;
  }
  return false;
}

void StreamCluster::Record(const AnyObject& object, Seen& seen) {
  const ObjectBase& base = Base(object);
  if (!base.resource_version().empty()) seen.version = base.resource_version();
  seen.uid = base.uid();
  seen.is_deleted = false;
}

// If the uids are not known, ADDED is taken for a new object of the same name, MODIFIED for the
// same object.
bool StreamCluster::WasDeletedHere(StreamType type, const AnyObject& object,
                                   const Seen& seen) const {
  const ObjectBase& base = Base(object);
  if (seen.is_deleted || cluster_.Find(KindOf(object), base.ns(), base.name()).has_value()) {
    return false;
  }
  if (base.uid().empty() || seen.uid.empty()) return type == StreamType::kModified;
  return base.uid() == seen.uid;
}

Result<bool> StreamCluster::Put(StreamType type, const AnyObject& object) {
  const std::string key = SeenKey(object);
  const auto found = seen_.find(key);
  if (found != seen_.end()) {
    const auto order = CompareVersions(Base(object).resource_version(), found->second.version);
    if (std::is_lteq(order) || WasDeletedHere(type, object, found->second)) return false;
  }
  const Result<AnyObject> stored = cluster_.Put(object);
  if (!stored.ok()) return stored.status();
  Record(object, seen_[key]);
  return true;
}

bool StreamCluster::Delete(const AnyObject& object) {
  const ObjectBase& base = Base(object);
  std::string key = SeenKey(object);
  Seen& seen = seen_[key];
  const auto order = CompareVersions(base.resource_version(), seen.version);
  // The event is about an earlier object of the same name.
  if (std::is_lt(order) || (AreDifferent(base.uid(), seen.uid) && !std::is_gt(order))) return false;
  const bool was_deleted = seen.is_deleted;
  Record(object, seen);
  seen.is_deleted = true;
  if (!was_deleted) RememberDeleted(std::move(key));
  return cluster_.Remove(KindOf(object), base.ns(), base.name()).ok();
}

void StreamCluster::RememberDeleted(std::string key) {
  deleted_.push_back(std::move(key));
  if (deleted_.size() <= max_deleted_) return;
  const auto oldest = seen_.find(deleted_.front());
  if (oldest != seen_.end() && oldest->second.is_deleted) seen_.erase(oldest);
  deleted_.pop_front();
}

}  // namespace berth::host
