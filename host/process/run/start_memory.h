// When a process gives back the memory that only its start needed.
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

// Calls a function that releases unused memory, see unused_memory.h. While the cluster is read,
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
