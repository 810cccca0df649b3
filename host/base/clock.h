// The interface through which the host reads the time, and its clocks. It is injected: the core of
// the host never reads a system clock directly.
#ifndef BERTH_HOST_BASE_CLOCK_H_
#define BERTH_HOST_BASE_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

// Threading: any.
class Clock {
 public:
  virtual ~Clock() = default;

  // Returns nanoseconds since 1970-01-01T00:00:00Z. The value never decreases: RealClock starts at
  // one reading of the wall clock and adds the time that the monotonic clock counts from then on.
  virtual int64_t NowNs() const = 0;
};

// The clock of a process that runs in real time. Returns a fixed wall clock time until Begin() is
// called. From then on it adds the time that the monotonic clock has counted since Begin().
// Threading: any. Begin() is called once.
class RealClock final : public Clock {
 public:
  // `steady_ns` returns the monotonic time in nanoseconds. Its values never decrease, and it may be
  // called on any thread.
  RealClock(int64_t start_ns, std::function<int64_t()> steady_ns)
      : start_ns_(start_ns), steady_ns_(std::move(steady_ns)) {}

  void Begin() { began_ns_.store(steady_ns_(), std::memory_order_relaxed); }
  int64_t NowNs() const override {
    const int64_t began_ns = began_ns_.load(std::memory_order_relaxed);
    return began_ns == kNotBegun ? start_ns_ : start_ns_ + (steady_ns_() - began_ns);
  }

 private:
  static constexpr int64_t kNotBegun = INT64_MIN;

  const int64_t start_ns_;
  const std::function<int64_t()> steady_ns_;
  std::atomic<int64_t> began_ns_ = kNotBegun;
};

// A clock whose time advances only when its owner advances it.
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

#endif  // BERTH_HOST_BASE_CLOCK_H_
