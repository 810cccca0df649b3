// Gives memory back to the system that only the start of a process needed.
#ifndef BERTH_HOST_PROCESS_RUN_START_MEMORY_H_
#define BERTH_HOST_PROCESS_RUN_START_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "host/base/time_units.h"
#include "host/cluster/kubernetes/watch/cluster_watches.h"

namespace berth::host {

// Drops the process's pages of programs and libraries that are as they are in their files. A page
// that is used again is mapped again, which is a minor page fault while the file is in the page
// cache of the system.
//
// Most of these pages are read only when a process starts: by the dynamic linker, the set-up of
// OpenSSL, the parsers of configuration. They count as resident memory until they are dropped.
//
// Returns the number of mappings whose pages were dropped; 0 if /proc cannot be read.
// Threading: any. Other threads may run the code at the same time.
// Cost: about half a millisecond in a small process; the kernel visits every mapped page. Later
// the page faults.
size_t DropCleanPages();

// Drops clean pages and the free pages of the heap.
// Threading and cost: as DropCleanPages(); an allocation of another thread may wait meanwhile.
void ReleaseUnusedMemory();

// Calls a function that releases unused memory: ReleaseUnusedMemory(). While the cluster is read,
// each kind that becomes complete is an occasion to release the memory that connected and read it,
// before the next kind needs memory. More occasions follow when scheduling has begun, while the
// first bindings open their connections: one at once, and one after each delay, of which each is
// twice as long as the one before. Afterwards there are none.
//
// Threading: one thread at a time.
class StartMemory {
 public:
  // The delays after the begin of scheduling.
  static constexpr int64_t kFirstDelayNs = 10 * kMillisecond;
  static constexpr int64_t kLastDelayNs = 320 * kMillisecond;

  explicit StartMemory(std::function<void()> release) : release_(std::move(release)) {}

  // Called whenever kinds may have become complete, until are_all_complete().
  void OnWatches(std::span<const WatchState> watches) {
    const auto complete =
        static_cast<size_t>(std::ranges::count(watches, true, &WatchState::is_synced));
    are_all_complete_ = !watches.empty() && complete == watches.size();
    if (std::exchange(complete_, complete) != complete) release_();
  }
  bool are_all_complete() const { return are_all_complete_; }

  void OnScheduling(int64_t now_ns) {
    release_();
    delay_ns_ = kFirstDelayNs;
    next_ns_ = now_ns + delay_ns_;
  }
  // Called often.
  void OnTime(int64_t now_ns) {
    if (delay_ns_ == 0 || now_ns < next_ns_) return;
    release_();
    delay_ns_ = delay_ns_ < kLastDelayNs ? 2 * delay_ns_ : 0;
    next_ns_ = now_ns + delay_ns_;
  }

 private:
  const std::function<void()> release_;
  size_t complete_ = 0;
  bool are_all_complete_ = false;
  int64_t delay_ns_ = 0;  // Before the next occasion; 0 if there is none.
  int64_t next_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_START_MEMORY_H_
