// TermFinder: finds the terms that may mean a pod without walking all terms.
#ifndef BERTH_INTERNAL_TERM_FINDER_H_
#define BERTH_INTERNAL_TERM_FINDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/term_words.h>
#include <berth/pod.h>

namespace berth::internal {

// A table of T by what a pod must have for a term of T to mean it: its namespace, and one label.
//
// A term is entered under one of its requirements: In under each of its values, Exists under the
// key alone; without such a requirement, under the namespace alone. A term with a namespaceSelector
// is entered for all namespaces.
template <class T>
class TermFinder {
 public:
  explicit TermFinder(uint64_t hash_key) : lists_(0, Hash{hash_key}) {}

  // Enters the term at `term` (term_words.h). Returns what Remove() needs. A term that means no pod
  // is not entered.
  uint32_t Add(T* item, const uint32_t* term) {
    const uint32_t* selector = term;
    SkipScope(selector);
    if (*selector == kNothing) return kNoRequirement;
    const uint32_t requirement = ChooseRequirement(term, selector);
    ForEachKey(term, requirement, [this, item](const Key& key) {
      // The term may name a value twice.
      if (lists_[key].Add(item)) CountKey(key, 1);
    });
    return requirement;
  }
  // Removes a term that Add() entered and for which it returned `requirement`.
  void Remove(T* item, const uint32_t* term, uint32_t requirement) {
    const uint32_t* selector = term;
    SkipScope(selector);
    if (*selector == kNothing) return;
    ForEachKey(term, requirement, [this, item](const Key& key) { Erase(item, key); });
  }
  // Enters an item that may mean every pod, and removes it.
  void AddForAll(T* item) {
    if (lists_[Key{}].Add(item)) CountKey(Key{}, 1);
  }
  void RemoveForAll(T* item) { Erase(item, Key{}); }

  // Calls `each(T&)` once for every item whose term may mean a pod with these labels in this
  // namespace, in no particular order.
  template <class F>
  void ForEachCandidate(berth_id ns, Labels labels, F&& each) const {
    for (const berth_id scope : {ns, berth_id{BERTH_ID_NONE}}) {
      if (scope == BERTH_ID_NONE && for_all_namespaces_ == 0) continue;
      Visit({scope, BERTH_ID_NONE, BERTH_ID_NONE}, each);
      for (const berth_id_pair& label : labels) {
        // Few of a pod's labels are ones that terms are entered under.
        if (keys_.find(label.key) == keys_.end()) continue;
        Visit({scope, label.key, label.value}, each);
        if (for_keys_ != 0) Visit({scope, label.key, BERTH_ID_NONE}, each);
      }
    }
  }

 private:
  static constexpr uint32_t kNoRequirement = ~uint32_t{0};
  // A term is entered at most this many times.
  static constexpr std::size_t kMaxKeys = 64;

  struct Key {
    berth_id ns = BERTH_ID_NONE;     // None: every namespace.
    berth_id key = BERTH_ID_NONE;    // None: every pod.
    berth_id value = BERTH_ID_NONE;  // None: every value.

    friend bool operator==(const Key&, const Key&) = default;
  };
  // The items under one key, without an order. An item of a long list is found by its place.
  class List {
   public:
    const std::vector<T*>& items() const { return items_; }
    // Returns false if the last item is this one already.
    bool Add(T* item) {
      if (!items_.empty() && items_.back() == item) return false;
      items_.push_back(item);
      if (items_.size() == kMostScanned + 1) {
        for (std::size_t i = 0; i < items_.size(); ++i) places_[items_[i]] = i;
      } else if (items_.size() > kMostScanned) {
        places_[item] = items_.size() - 1;
      }
      return true;
    }
    // Returns false if the item is not in the list.
    bool Remove(T* item) {
      std::size_t place = 0;
      if (places_.empty()) {
        const auto at = std::find(items_.begin(), items_.end(), item);
        if (at == items_.end()) return false;
        place = static_cast<std::size_t>(at - items_.begin());
      } else {
        const auto found = places_.find(item);
        if (found == places_.end()) return false;
        place = found->second;
        places_[items_.back()] = place;
        places_.erase(item);
      }
      items_[place] = items_.back();
      items_.pop_back();
      if (items_.size() <= kMostScanned) places_.clear();
      return true;
    }

   private:
    static constexpr std::size_t kMostScanned = 64;

    std::vector<T*> items_;
    std::unordered_map<T*, std::size_t> places_;  // Empty unless the list is long.
  };
  struct Hash {
    uint64_t hash_key = 0;

    std::size_t operator()(const Key& key) const {
      uint64_t hash = hash_key ^ (uint64_t{key.ns} << 32 | key.key);
      hash = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15 ^ key.value;
      hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
      return static_cast<std::size_t>(hash ^ hash >> 32);
    }
  };

  void CountKey(const Key& key, uint32_t change) {
    if (key.ns == BERTH_ID_NONE) for_all_namespaces_ += change;
    if (key.key == BERTH_ID_NONE) return;
    if (key.value == BERTH_ID_NONE) for_keys_ += change;
    const auto entries = keys_.try_emplace(key.key, 0).first;
    entries->second += change;
    if (entries->second == 0) keys_.erase(entries);
  }
  template <class F>
  void Visit(const Key& key, F&& each) const {
    const auto found = lists_.find(key);
    if (found == lists_.end()) return;
    for (T* const item : found->second.items()) each(*item);
  }
  void Erase(T* item, const Key& key) {
    const auto found = lists_.find(key);
    if (found == lists_.end()) return;
    if (!found->second.Remove(item)) return;
    if (found->second.items().empty()) lists_.erase(found);
    CountKey(key, ~uint32_t{0});
  }

  // Returns where the requirement whose lists are shortest begins, as an offset from `term`: many
  // terms that have one label in common are then found by another one.
  uint32_t ChooseRequirement(const uint32_t* term, const uint32_t* selector) const {
    const uint32_t count = *selector++;
    uint32_t best = kNoRequirement;
    std::size_t best_cost = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (selector[1] == BERTH_OP_IN || selector[1] == BERTH_OP_EXISTS) {
        std::size_t cost = selector[1] == BERTH_OP_EXISTS ? kMaxKeys : 0;
        const auto at = static_cast<uint32_t>(selector - term);
        ForEachKey(term, at, [this, &cost](const Key& key) {
          const auto found = lists_.find(key);
          cost += 1 + (found == lists_.end() ? 0 : found->second.items().size());
        });
        if (best == kNoRequirement || cost < best_cost) {
          best = at;
          best_cost = cost;
        }
      }
      selector += 3 + selector[2];
    }
    return best;
  }

  // Calls `each(Key)` for every list that the term is entered in.
  template <class F>
  static void ForEachKey(const uint32_t* term, uint32_t requirement, F&& each) {
    Key key;
    const uint32_t* values = nullptr;
    std::size_t count = 0;
    if (requirement != kNoRequirement) {
      const uint32_t* const at = term + requirement;
      key.key = at[0];
      values = at + 3;
      count = at[1] == BERTH_OP_IN && at[2] <= kMaxKeys ? at[2] : 0;
      // No pod has one of no values.
      if (at[1] == BERTH_OP_IN && at[2] == 0) return;
    }
    const std::size_t namespaces = *term;
    const bool has_selector = term[1 + namespaces] != 0;
    const bool by_namespace =
        !has_selector && namespaces * std::max<std::size_t>(count, 1) <= kMaxKeys;
    const std::size_t scopes = by_namespace ? namespaces : 1;
    for (std::size_t scope = 0; scope < scopes; ++scope) {
      key.ns = by_namespace ? term[1 + scope] : berth_id{BERTH_ID_NONE};
      if (count == 0) each(key);
      for (std::size_t i = 0; i < count; ++i) {
        key.value = values[i];
        each(key);
      }
    }
  }

  std::unordered_map<Key, List, Hash> lists_;
  std::unordered_map<berth_id, uint32_t> keys_;  // The number of entries under each key.
  uint32_t for_all_namespaces_ = 0;              // Entries without a namespace.
  uint32_t for_keys_ = 0;                        // Entries with a key without a value.
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_TERM_FINDER_H_
