// The ids and objects that a plugin instance holds through berth.strings/1 and berth.refs/1.
#ifndef BERTH_HOST_RUNTIME_SERVICES_HELD_H_
#define BERTH_HOST_RUNTIME_SERVICES_HELD_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <berth/abi.h>

#include "host/base/interner.h"

namespace berth::host {

// Ids that the plugin has interned and not released. Counts each call; the interner has one
// reference for each id. The destructor releases all.
// Threading: any; the destructor when no other thread uses it.
// Lifetime:  the interner must outlive it.
class HeldIds {
 public:
  explicit HeldIds(Interner& interner) : interner_(interner) {}
  ~HeldIds();
  HeldIds(const HeldIds&) = delete;
  HeldIds& operator=(const HeldIds&) = delete;

  Id Intern(std::string_view text);
  // Undoes one Intern(). Returns false, and does nothing, if the id is not held.
  bool Release(Id id);

 private:
  Interner& interner_;
  std::mutex mutex_;  // Guards what follows.
  std::unordered_map<Id, uint64_t> counts_;
};

// Pods, nodes and objects that the plugin retains, counted. The destructor releases all.
// Threading: any; the destructor when no other thread uses it.
class HeldObjects {
 public:
  HeldObjects() = default;
  HeldObjects(const HeldObjects&) = delete;
  HeldObjects& operator=(const HeldObjects&) = delete;

  // Returns false if `object` is not the view of an object of its kind.
  // REQUIRES: if it is such a view, the object exists.
  bool Retain(const berth_tagged& object);
  // Undoes one Retain(). Returns false, and does nothing, if the object is not held.
  bool Release(const berth_tagged& object);

 private:
  struct Held {
    std::shared_ptr<const void> owner;
    uint32_t kind = 0;
    uint64_t count = 0;
  };

  std::mutex mutex_;                            // Guards what follows.
  std::unordered_map<const void*, Held> held_;  // By the address of the view.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_HELD_H_
