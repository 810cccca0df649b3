// A hash table of values that contain their keys.
#ifndef BERTH_HOST_BASE_KEYED_SET_H_
#define BERTH_HOST_BASE_KEYED_SET_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "host/base/assert.h"
#include "host/base/hash.h"

namespace berth::host {

// Finds values by a key that each value has itself, such as a pod by its uid, so that the table
// holds no copy of the key: for a uid that would be 80 bytes, and another cache miss.
//
// The values are in the slots of a boost::unordered_flat_set, of which between 44 % and 88 % are in
// use. Measured with 5,000 and 50,000 values: 14 and 11 bytes for a pointer, 39 and 31 bytes for a
// value of 24 bytes. A table of positions beside an array of values needed 22 and 30 bytes, and 41
// and 47 bytes.
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
  T* Find(const Key& key) { return const_cast<T*>(std::as_const(*this).Find(key)); }
  const T* Find(const Key& key) const {
    const auto found = values_.find(key);
    return found != values_.end() ? &*found : nullptr;
  }

  // Adds the value, unless there is one with its key. Returns the value with its key, and whether
  // it is the new one.
  std::pair<T*, bool> Add(T value) {
    const auto [place, is_new] = values_.insert(std::move(value));
    return {Mutable(place), is_new};
  }

  // Removes the value with this key and returns it; nullopt if there is none.
  std::optional<T> TakeIfAny(const Key& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    std::optional<T> value(std::move(*Mutable(found)));
    values_.erase(found);
    const size_t slots = values_.bucket_count();
    if (slots > kKeptSlots && values_.size() < slots / 4) values_.rehash(0);
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
    for (const T& value : values_) each(const_cast<T&>(value));
  }
  template <class F>
  void ForEach(F each) const {
    for (const T& value : values_) each(value);
  }

  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void Reserve(size_t count) { values_.reserve(count); }
  void Clear() { values_ = Values(); }

 private:
  struct Hash {
    using is_transparent = void;
    using is_avalanching = void;

    size_t operator()(std::string_view key) const { return HashBytes(key); }
    size_t operator()(const std::pair<std::string_view, std::string_view>& key) const {
      return HashCombine(HashBytes(key.first), HashBytes(key.second));
    }
    size_t operator()(const T& value) const { return (*this)(KeyOf()(value)); }
  };
  struct Equal {
    using is_transparent = void;

    bool operator()(const T& a, const T& b) const { return KeyOf()(a) == KeyOf()(b); }
    bool operator()(const T& a, const Key& b) const { return KeyOf()(a) == b; }
    bool operator()(const Key& a, const T& b) const { return a == KeyOf()(b); }
  };
  using Values = boost::unordered_flat_set<T, Hash, Equal>;

  static constexpr size_t kKeptSlots = 256;  // The memory of so many slots is never given back.

  // A set gives no access for writing, because a changed key would be in the wrong slot.
  static T* Mutable(typename Values::const_iterator place) { return const_cast<T*>(&*place); }

  Values values_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_KEYED_SET_H_
