// A hash table of values that contain their keys.
#ifndef BERTH_HOST_BASE_KEYED_SET_H_
#define BERTH_HOST_BASE_KEYED_SET_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "host/base/assert.h"
#include "host/base/hash.h"

namespace berth::host {

// Finds values by a key that each value has itself, such as a pod by its uid, so that the table
// holds no copy of the key: for a uid that would be 80 bytes, and another cache miss.
//
// `KeyOf` is a function object: KeyOf()(value) returns the key, a string_view or a pair of two,
// which may refer to the value.
//
// The owner may change a value in the table, as long as its key stays equal: a pod may be replaced
// by a newer version of it.
//
// Threading: one thread at a time.
// Lifetime:  a value stays where it is in memory until it is removed or the table is assigned to.
template <class T, class KeyOf>
class KeyedSet {
 public:
  using Key = std::invoke_result_t<KeyOf, const T&>;

  // Returns the value with this key; null if there is none.
  T* Find(const Key& key) {
    const auto at = slots_.find(key);
    return at != slots_.end() ? &at->value : nullptr;
  }
  const T* Find(const Key& key) const {
    const auto at = slots_.find(key);
    return at != slots_.end() ? &at->value : nullptr;
  }

  // Adds the value, unless there is one with its key. Returns the value with its key, and whether
  // it is the new one.
  std::pair<T*, bool> Add(T value) {
    const auto [at, is_new] = slots_.insert(Slot{std::move(value)});
    return {&at->value, is_new};
  }

  // Removes the value with this key and returns it; nullopt if there is none.
  std::optional<T> TakeIfAny(const Key& key) {
    const auto at = slots_.find(key);
    if (at == slots_.end()) return std::nullopt;
    return std::move(slots_.extract(at).value().value);
  }
  // As TakeIfAny(). REQUIRES: there is a value with this key.
  T Take(const Key& key) {
    std::optional<T> value = TakeIfAny(key);
    BERTH_ASSERT(value.has_value());
    return *std::move(value);
  }

  // Calls each(value) for every value, in no particular order.
  // Must not: add or remove values within `each`.
  template <class F>
  void ForEach(F each) {
    for (const Slot& slot : slots_) each(slot.value);
  }
  template <class F>
  void ForEach(F each) const {
    for (const Slot& slot : slots_) each(std::as_const(slot.value));
  }

  size_t size() const { return slots_.size(); }
  bool empty() const { return slots_.empty(); }
  void Reserve(size_t count) { slots_.reserve(count); }
  void Clear() { slots_.clear(); }

 private:
  // The standard set has constant elements, so that their keys cannot change.
  struct Slot {
    mutable T value;
  };
  static Key ToKey(const Key& key) { return key; }
  static Key ToKey(const Slot& slot) { return KeyOf()(std::as_const(slot.value)); }
  static size_t HashOf(std::string_view key) { return HashBytes(key); }
  static size_t HashOf(const std::pair<std::string_view, std::string_view>& key) {
    return HashBytes(key.first) * 31 + HashBytes(key.second);
  }
  // Both may throw as far as the compiler knows, so that the set stores the hash of each element:
  // most searches then read no other value than the one they find.
  struct Hash {
    using is_transparent = void;
    template <class K>
    size_t operator()(const K& key) const {
      return HashOf(ToKey(key));
    }
  };
  struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return ToKey(a) == ToKey(b);
    }
  };

  std::unordered_set<Slot, Hash, Equal> slots_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_KEYED_SET_H_
