// DomainCounts: numbers of pods by row or by domain, as TopologyIndex maintains them.
// CountChanges: a few differences to such numbers, for AddPod and RemovePod.
#ifndef BERTH_DOMAIN_COUNTS_H_
#define BERTH_DOMAIN_COUNTS_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

// A count for each index: a row, or the number of a domain. Most counts are 0: a list of the others
// is kept while it is short, and an array of all of them otherwise.
//
// Threading: reads: [cycle] and [block]; writes: for the index only.
class DomainCounts {
 public:
  // Returns the count of an index; 0 for an index that never had one. Takes time logarithmic in the
  // number of counts that are not 0, or constant time if these are many. To read the counts of all
  // nodes, copy them by ForEach() into an array of the State.
  uint64_t At(uint32_t index) const {
    if (!dense_.empty()) return index < dense_.size() ? dense_[index] : 0;
    const auto at = Find(index);
    return at == sparse_.end() || at->index != index ? 0 : at->count;
  }
  // Returns the sum of all counts.
  uint64_t total() const { return total_; }
  // Returns how many counts are not 0.
  uint32_t size() const { return used_; }
  bool empty() const { return used_ == 0; }
  // Calls `each(uint32_t index, uint32_t count)` for every count that is not 0, by ascending index.
  template <class F>
  void ForEach(F&& each) const {
    for (const Entry& entry : sparse_) each(entry.index, entry.count);
    for (uint32_t i = 0; i < dense_.size(); ++i) {
      if (dense_[i] != 0) each(i, dense_[i]);
    }
  }
  // Returns how many bytes the counts occupy.
  std::size_t bytes() const {
    return sparse_.capacity() * sizeof(Entry) + dense_.capacity() * sizeof(uint32_t);
  }

  // For the index: changes the count of an index. REQUIRES: the count does not become negative.
  void Add(uint32_t index, int64_t change) {
    total_ += static_cast<uint64_t>(change);
    if (!dense_.empty()) return AddDense(index, change);
    const auto at = sparse_.begin() + (Find(index) - sparse_.cbegin());
    if (at == sparse_.end() || at->index != index) {
      if (change == 0) return;
      assert(change > 0);
      if (used_ == kMaxSparse) {
        BecomeDense();
        return AddDense(index, change);
      }
      ++used_;
      sparse_.insert(at, {index, static_cast<uint32_t>(change)});
      return;
    }
    at->count = static_cast<uint32_t>(at->count + change);
    if (at->count != 0) return;
    --used_;
    sparse_.erase(at);
    if (sparse_.empty()) sparse_.shrink_to_fit();
  }

 private:
  // An insertion moves at most this many entries, in less time than the rest of a change takes.
  static constexpr uint32_t kMaxSparse = 1024;

  struct Entry {
    uint32_t index;
    uint32_t count;
  };

  std::vector<Entry>::const_iterator Find(uint32_t index) const {
    return std::lower_bound(
        sparse_.begin(), sparse_.end(), index,
        [](const Entry& entry, uint32_t wanted) { return entry.index < wanted; });
  }
  void AddDense(uint32_t index, int64_t change) {
    if (index >= dense_.size()) dense_.resize(std::size_t{index} + 1);
    uint32_t& count = dense_[index];
    const bool was_used = count != 0;
    count = static_cast<uint32_t>(count + change);
    used_ = used_ + (count != 0) - was_used;
    if (used_ < kMaxSparse / 4) BecomeSparse();
  }
  void BecomeDense() {
    dense_.resize(std::size_t{sparse_.back().index} + 1);
    for (const Entry& entry : sparse_) dense_[entry.index] = entry.count;
    sparse_ = std::vector<Entry>();
  }
  void BecomeSparse() {
    std::vector<Entry> kept;
    kept.reserve(used_);
    ForEach([&kept](uint32_t index, uint32_t count) { kept.push_back({index, count}); });
    dense_ = std::vector<uint32_t>();
    sparse_ = std::move(kept);
  }

  std::vector<Entry> sparse_;    // By index; no count is 0.
  std::vector<uint32_t> dense_;  // Empty unless `sparse_` became too long.
  uint32_t used_ = 0;
  uint64_t total_ = 0;
};

// Differences to the counts of a DomainCounts, which the State keeps: in a what-if question, pods
// are added and removed in the State alone. Usually there are none, and then At() costs one test.
class CountChanges {
 public:
  void Add(uint32_t index, int64_t change) {
    total_ += change;
    for (Entry& entry : entries_) {
      if (entry.index == index) {
        entry.change += change;
        return;
      }
    }
    entries_.push_back({index, change});
  }
  int64_t At(uint32_t index) const {
    for (const Entry& entry : entries_) {
      if (entry.index == index) return entry.change;
    }
    return 0;
  }
  // Returns the sum of all differences.
  int64_t total() const { return total_; }
  bool empty() const { return entries_.empty(); }
  // Calls `each(uint32_t index, int64_t change)`, in the order in which the indices were added.
  template <class F>
  void ForEach(F&& each) const {
    for (const Entry& entry : entries_) each(entry.index, entry.change);
  }
  void Clear() {
    entries_.clear();
    total_ = 0;
  }

 private:
  struct Entry {
    uint32_t index;
    int64_t change;
  };
  std::vector<Entry> entries_;
  int64_t total_ = 0;
};

}  // namespace berth

#endif  // BERTH_DOMAIN_COUNTS_H_
