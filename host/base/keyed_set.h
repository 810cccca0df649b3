// A hash table of values that contain their keys.
#ifndef BERTH_HOST_BASE_KEYED_SET_H_
#define BERTH_HOST_BASE_KEYED_SET_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/growth.h"
#include "host/base/hash.h"

namespace berth::host {

// Finds values by a key that each value has itself, such as a pod by its uid, so that the table
// holds no copy of the key: for a uid that would be 80 bytes, and another cache miss.
//
// The values are in one array, and a table of slots has their positions: beside a value itself, a
// large table needs about 20 bytes for it.
//
// `KeyOf` is a function object: KeyOf()(value) returns the key, a string_view or a pair of two,
// which may refer to what the value points to, but not to the value itself, because values move.
//
// The owner may change a value in the table, as long as its key stays equal: a pod may be replaced
// by a newer version of it.
//
// Threading: one thread at a time.
// Lifetime:  a value may move in memory whenever another one is added or removed.
// Cost:      O(1) on average. Memory is given back when three quarters of the values are gone.
template <class T, class KeyOf>
class KeyedSet {
 public:
  using Key = std::invoke_result_t<KeyOf, const T&>;

  // Returns the value with this key; null if there is none.
  T* Find(const Key& key) {
    const size_t slot = SlotOf(key, HashOf(key));
    return slot != kNone ? &values_[slots_[slot].position] : nullptr;
  }
  const T* Find(const Key& key) const {
    const size_t slot = SlotOf(key, HashOf(key));
    return slot != kNone ? &values_[slots_[slot].position] : nullptr;
  }

  // Adds the value, unless there is one with its key. Returns the value with its key, and whether
  // it is the new one.
  std::pair<T*, bool> Add(T value) {
    const uint32_t hash = HashOf(KeyOf()(std::as_const(value)));
    const size_t found = SlotOf(KeyOf()(std::as_const(value)), hash);
    if (found != kNone) return {&values_[slots_[found].position], false};
    if (SlotsFor(values_.size() + 1) > slots_.size()) ResizeSlots(SlotsFor(values_.size() + 1));
    ReserveOneMore(values_);
    values_.push_back(std::move(value));
    Place({hash, static_cast<uint32_t>(values_.size() - 1)});
    return {&values_.back(), true};
  }

  // Removes the value with this key and returns it; nullopt if there is none.
  std::optional<T> TakeIfAny(const Key& key) {
    const size_t slot = SlotOf(key, HashOf(key));
    if (slot == kNone) return std::nullopt;
    const uint32_t position = slots_[slot].position;
    FreeSlot(slot);
    std::optional<T> value(std::move(values_[position]));
    MoveLastTo(position);
    const size_t capacity = values_.capacity();
    if (capacity > kKept && values_.size() < capacity / 4) Shrink();
    return value;
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
    for (T& value : values_) each(value);
  }
  template <class F>
  void ForEach(F each) const {
    for (const T& value : values_) each(value);
  }

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void Reserve(size_t count) {
    values_.reserve(count);
    if (SlotsFor(count) > slots_.size()) ResizeSlots(SlotsFor(count));
  }
  void Clear() {
    values_ = std::vector<T>();
    slots_ = std::vector<Slot>();
  }

 private:
  // The place of one value in the table of slots.
  struct Slot {
    uint32_t hash = 0;  // Most searches thus read no other value than the one they find.
    uint32_t position = kFree;
  };
  static constexpr size_t kKept = 256;  // The memory of so many values is never given back.
  static constexpr uint32_t kFree = std::numeric_limits<uint32_t>::max();
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  static uint32_t HashOf(std::string_view key) { return static_cast<uint32_t>(HashBytes(key)); }
  static uint32_t HashOf(const std::pair<std::string_view, std::string_view>& key) {
    return static_cast<uint32_t>(HashCombine(HashBytes(key.first), HashBytes(key.second)));
  }

  // Returns the number of slots for so many values: at most three quarters of them are in use.
  static size_t SlotsFor(size_t values) {
    BERTH_ASSERT(values < kFree);
    return values == 0 ? 0 : std::bit_ceil(values + (values + 2) / 3);
  }

  // A value is in the first free slot from that of its hash on; the first slot follows the last.
  size_t First(uint32_t hash) const { return hash & (slots_.size() - 1); }
  size_t Next(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  // Returns the slot of the value with this key; kNone if there is none.
  size_t SlotOf(const Key& key, uint32_t hash) const {
    if (slots_.empty()) return kNone;
    for (size_t slot = First(hash); slots_[slot].position != kFree; slot = Next(slot)) {
      const Slot& found = slots_[slot];
      if (found.hash == hash && KeyOf()(values_[found.position]) == key) return slot;
    }
    return kNone;
  }

  void Place(const Slot& value) {
    size_t slot = First(value.hash);
    while (slots_[slot].position != kFree) slot = Next(slot);
    slots_[slot] = value;
  }

  // Frees the slot, and moves the values behind it that would not be found any more.
  void FreeSlot(size_t slot) {
    size_t free = slot;
    for (size_t at = Next(slot); slots_[at].position != kFree; at = Next(at)) {
      const size_t mask = slots_.size() - 1;
      const size_t from_first = (at - First(slots_[at].hash)) & mask;
      const size_t from_free = (at - free) & mask;
      if (from_first < from_free) continue;
      slots_[free] = slots_[at];
      free = at;
    }
    slots_[free] = {};
  }

  // Fills the position, whose value was taken, with the last value.
  void MoveLastTo(uint32_t position) {
    const auto last = static_cast<uint32_t>(values_.size() - 1);
    if (position != last) {
      size_t slot = First(HashOf(KeyOf()(std::as_const(values_[last]))));
      while (slots_[slot].position != last) slot = Next(slot);
      slots_[slot].position = position;
      values_[position] = std::move(values_[last]);
    }
    values_.pop_back();
  }

  void ResizeSlots(size_t count) {
    std::vector<Slot> before(count);
    std::swap(slots_, before);
    for (const Slot& slot : before) {
      if (slot.position != kFree) Place(slot);
    }
  }

  void Shrink() {
    values_.shrink_to_fit();
    ResizeSlots(SlotsFor(values_.size()));
  }

  std::vector<T> values_;
  std::vector<Slot> slots_;  // None, or a power of two of them with at least one free slot.
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_KEYED_SET_H_
