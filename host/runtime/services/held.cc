#include "host/runtime/services/held.h"

#include <utility>

#include "host/api/objects.h"

namespace berth::host {
namespace {

// Returns the object that has this view; null if there is none.
std::shared_ptr<const void> OwnerOf(const berth_tagged& tagged) {
  if (tagged.object == nullptr) return nullptr;
  switch (tagged.kind) {
    case BERTH_KIND_POD: return Pod::Of(*static_cast<const berth_pod*>(tagged.object));
    case BERTH_KIND_NODE: return Node::Of(*static_cast<const berth_node*>(tagged.object));
    case BERTH_KIND_OBJECT: return Object::Of(*static_cast<const berth_object*>(tagged.object));
    default: return nullptr;
  }
}

}  // namespace

// ---- HeldIds ------------------------------------------------------------------------------------

HeldIds::~HeldIds() {
  for (const auto& [id, count] : counts_) interner_.Release(id);
}

Id HeldIds::Intern(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  const Id id = interner_.Intern(text);
  uint64_t& count = counts_[id];
  if (count++ != 0) interner_.Release(id);
  return id;
}

bool HeldIds::Release(Id id) {
  const std::scoped_lock lock(mutex_);
  const auto found = counts_.find(id);
  if (found == counts_.end()) return false;
  if (--found->second != 0) return true;
  counts_.erase(found);
  interner_.Release(id);
  return true;
}

// ---- HeldObjects --------------------------------------------------------------------------------

bool HeldObjects::Retain(const berth_tagged& object) {
  const std::scoped_lock lock(mutex_);
  const auto found = held_.find(object.object);
  if (found != held_.end()) {
    if (found->second.kind != object.kind) return false;
    ++found->second.count;
    return true;
  }
  std::shared_ptr<const void> owner = OwnerOf(object);
  if (owner == nullptr) return false;
  held_.emplace(object.object, Held{std::move(owner), object.kind, 1});
  return true;
}

bool HeldObjects::Release(const berth_tagged& object) {
  std::shared_ptr<const void> last;  // Destroyed after the lock is released.
  const std::scoped_lock lock(mutex_);
  const auto found = held_.find(object.object);
  if (found == held_.end() || found->second.kind != object.kind) return false;
  if (--found->second.count != 0) return true;
  last = std::move(found->second.owner);
  held_.erase(found);
  return true;
}

}  // namespace berth::host
