// The rows that changed last, in the order of their changes.
#ifndef BERTH_HOST_CACHE_ROW_JOURNAL_H_
#define BERTH_HOST_CACHE_ROW_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::host {

// A ring of the last changes, which are numbered from 1. A reader that knows the state after some
// change reads only what changed since, so that its work follows the number of changes, not the
// number of rows.
//
// Threading: one thread.
class RowJournal {
 public:
  // `capacity`: the number of changes that it keeps, at four bytes each.
  explicit RowJournal(size_t capacity) : capacity_(capacity) {}

  // Records the next change.
  void Add(uint32_t row) {
    ++last_;
    if (rows_.size() < capacity_) {
      rows_.push_back(row);
    } else {
      rows_[Index(last_)] = row;
    }
  }

  // The number of the last change; 0 before the first.
  uint64_t last() const { return last_; }
  // Returns whether all changes after change `number` are still in the ring.
  bool Covers(uint64_t number) const { return number + rows_.size() >= last_; }

  // Calls each(row) for every change after change `number`, in order. A row that changed several
  // times is passed several times. REQUIRES: Covers(number).
  template <class Each>
  void ForEachSince(uint64_t number, Each&& each) const {
    for (uint64_t change = number + 1; change <= last_; ++change) each(rows_[Index(change)]);
  }

  size_t bytes() const { return rows_.capacity() * sizeof(uint32_t); }

 private:
  size_t Index(uint64_t change) const { return static_cast<size_t>((change - 1) % capacity_); }

  size_t capacity_;
  std::vector<uint32_t> rows_;
  uint64_t last_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_ROW_JOURNAL_H_
