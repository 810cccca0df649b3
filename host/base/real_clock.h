// The clock of a process that runs in real time.
#ifndef BERTH_HOST_BASE_REAL_CLOCK_H_
#define BERTH_HOST_BASE_REAL_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/base/clock.h"

namespace berth::host {

// Returns a fixed wall clock time until Begin() is called. From then on it adds the time that the
// monotonic clock has counted since Begin().
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

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_REAL_CLOCK_H_
