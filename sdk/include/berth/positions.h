// Positions: numbers keys in the order in which they appear.
#ifndef BERTH_POSITIONS_H_
#define BERTH_POSITIONS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

namespace berth {

// Finds what belongs to a key in a vector beside it:
//
//   const std::size_t at = positions.Use(key);
//   if (at == all.size()) all.push_back(...);
//
// The few keys of most pods are compared one by one. Beyond that a look-up takes constant time, so
// that a pod with thousands of terms costs in proportion to their number.
template <class Key, class Hash = std::hash<Key>>
class Positions {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // Returns the number of the key. A new key gets the number size().
  std::size_t Use(const Key& key) {
    const std::size_t found = Find(key);
    if (found != kNone) return found;
    keys_.push_back(key);
    if (keys_.size() == kMostScanned + 1) {
      for (std::size_t i = 0; i < kMostScanned; ++i) by_key_.emplace(keys_[i], i);
    }
    if (keys_.size() > kMostScanned) by_key_.emplace(key, keys_.size() - 1);
    return keys_.size() - 1;
  }
  // Returns the number of the key, or kNone.
  std::size_t Find(const Key& key) const {
    if (keys_.size() > kMostScanned) {
      const auto found = by_key_.find(key);
      return found == by_key_.end() ? kNone : found->second;
    }
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    return found == keys_.end() ? kNone : static_cast<std::size_t>(found - keys_.begin());
  }
  // Returns how many keys there are.
  std::size_t size() const { return keys_.size(); }

 private:
  static constexpr std::size_t kMostScanned = 16;

  std::vector<Key> keys_;
  std::unordered_map<Key, std::size_t, Hash> by_key_;  // Empty unless there are many.
};

}  // namespace berth

#endif  // BERTH_POSITIONS_H_
