// A clock whose time advances only when its owner advances it.
#ifndef BERTH_HOST_BASE_VIRTUAL_CLOCK_H_
#define BERTH_HOST_BASE_VIRTUAL_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "host/base/assert.h"
#include "host/base/clock.h"

namespace berth::host {

// Threading: one thread advances the clock; any thread reads it.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(int64_t start_ns) : now_ns_(start_ns) {}

  int64_t NowNs() const override { return now_ns_.load(std::memory_order_relaxed); }
  // REQUIRES: `now_ns` is not before NowNs().
  void AdvanceTo(int64_t now_ns) {
    BERTH_ASSERT(now_ns >= NowNs());
    now_ns_.store(now_ns, std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t> now_ns_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_VIRTUAL_CLOCK_H_
