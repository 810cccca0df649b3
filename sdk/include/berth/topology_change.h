// TopologyChange: one change that the journal of a TopologyIndex keeps, for `changed` (see
// dependence.h).
#ifndef BERTH_TOPOLOGY_CHANGE_H_
#define BERTH_TOPOLOGY_CHANGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

struct TopologyChange {
  enum Kind : uint32_t {
    // The count of `row` in counter `id` changed by `delta`, and with it that of the row's domain.
    kCount = 1,
    // The count of the domain of `row` in the term group `id` changed by `delta`.
    kTerm,
    // The counter, or the term group, `id` changed in another way: a node that has counted pods was
    // added, was removed or changed its domain, or labels of a namespace changed. Treat every
    // answer that read it as changed.
    kCounterMoved,
    kTermMoved,
    // The node of `row` was added or removed, or its labels, taints or spec.unschedulable changed.
    // `delta` is 1 if the row may be in another domain than before, else 0: earlier changes of its
    // counts belong to the former domain. Apart from that, answers about other rows depend on it
    // only if they depend on which domains there are, or on which nodes are counted.
    kNodeChanged,
    // The labels of the namespace with the id `id` changed: which term groups mean a pod of the
    // namespace may have changed.
    kNamespaceChanged,
  };
  Kind kind;
  uint32_t id;
  uint32_t row;
  int32_t delta;
};

namespace internal {

// The last changes, numbered. Token n names the state after the first n - 1 changes.
class TopologyJournal {
 public:
  // `capacity`: the number of changes that are kept, at least 1.
  explicit TopologyJournal(uint32_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {
    // Growing step by step would look like a leak. Pages that are not used take no memory.
    kept_.reserve(capacity_);
  }

  uint64_t token() const { return changes_ + 1; }
  // Returns the oldest token that ForEachSince() accepts.
  uint64_t oldest() const { return changes_ - kept_.size() + 1; }
  void Add(const TopologyChange& change) {
    if (kept_.size() < capacity_) {
      kept_.push_back(change);
    } else {
      kept_[changes_ % capacity_] = change;
    }
    ++changes_;
  }
  // See TopologyHistory::ForEach(). No state has the token 0.
  template <class F>
  bool ForEachSince(uint64_t token, F&& each) const {
    if (token < oldest() || token > this->token()) return false;
    for (uint64_t i = token - 1; i < changes_; ++i) each(kept_[i % capacity_]);
    return true;
  }
  std::size_t bytes() const { return kept_.capacity() * sizeof(TopologyChange); }

 private:
  const uint32_t capacity_;
  std::vector<TopologyChange> kept_;  // Change i is at i % capacity_.
  uint64_t changes_ = 0;
};

}  // namespace internal

// The changes of a TopologyIndex since the state that reused answers come from. See
// TopologyIndex::ExchangeToken().
//
// Threading: [cycle].
// Lifetime:  the index must outlive it.
class TopologyHistory {
 public:
  TopologyHistory(const internal::TopologyJournal& journal, uint64_t since)
      : journal_(&journal), since_(since) {}

  // Returns the token of the earlier state; 0 if there are no answers to reuse.
  uint64_t since() const { return since_; }
  // Calls `each(const TopologyChange&)` for every change, oldest first. Returns false, without a
  // call, if the changes are not known: treat every answer as changed.
  template <class F>
  bool ForEach(F&& each) const {
    return journal_->ForEachSince(since_, each);
  }

 private:
  const internal::TopologyJournal* journal_;
  uint64_t since_;
};

}  // namespace berth

#endif  // BERTH_TOPOLOGY_CHANGE_H_
