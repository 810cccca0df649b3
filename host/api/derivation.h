// The memory of an object that shares most of what it points to with another object.
#ifndef BERTH_HOST_API_DERIVATION_H_
#define BERTH_HOST_API_DERIVATION_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/arena.h"
#include "host/base/interner.h"
#include "host/base/text.h"

namespace berth::host {

// Builds the memory that such an object owns: a few ids and a few bytes.
// Threading: one thread.
class Derivation {
 public:
  // Enough for the usual change: a resource version and the name of a node.
  static constexpr size_t kUsualBytes = ObjectMemory::kOwnBytes + 32;

  // `bytes`: an estimate of the memory. If it is right, no byte of it stays unused.
  explicit Derivation(Interner& interner, size_t bytes = kUsualBytes)
      : arena_(bytes), interner_(interner) {}
  ~Derivation() {
    for (const Id id : ids_) interner_.Release(id);
  }

  berth_str Copy(std::string_view text) { return AsStr(arena_.CopyString(text)); }
  berth_str Copy(berth_str text) { return Copy(Text(text)); }

  // Returns a copy of the elements, which point to the same memory and have the same ids.
  template <class T>
  std::span<T> CopyArray(const berth_array& array) {
    return arena_.CopyArray(Elements<T>(array));
  }
  Arena& arena() { return arena_; }

  // Adds a reference to an id that another object holds, because the new object may outlive that
  // object.
  Id Share(Id id) {
    interner_.AddRef(id);
    if (id > kEmptyId) ids_.push_back(id);
    return id;
  }

  Id Intern(std::string_view text) {
    const Id id = interner_.Intern(text);
    if (id > kEmptyId) ids_.push_back(id);
    return id;
  }

  // Returns the memory of the object, and keeps `other` alive, with which it shares memory.
  ObjectMemory Finish(std::shared_ptr<const void> other, ObjectMemory::Other kind) {
    ObjectMemory memory(std::move(arena_), interner_, ids_, std::move(other), kind);
    ids_.clear();
    return memory;
  }

 private:
  Arena arena_;
  Interner& interner_;
  std::vector<Id> ids_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_DERIVATION_H_
