// A clock for tests, whose time changes only when the test advances it.
#ifndef BERTH_HOST_BASE_TEST_CLOCK_H_
#define BERTH_HOST_BASE_TEST_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/time_units.h"

namespace berth::host {

// Threading: one thread advances the clock; any thread reads it.
class TestClock final : public Clock {
 public:
  // Returns 2026-01-10T08:00:00Z, a whole second, until the clock is advanced.
  int64_t NowNs() const override { return now_ns_; }
  void Advance(int64_t ns) {
    BERTH_ASSERT(ns >= 0);
    now_ns_ += ns;
  }
  void AdvanceTo(int64_t now_ns) {
    BERTH_ASSERT(now_ns >= now_ns_);
    now_ns_ = now_ns;
  }

 private:
  std::atomic<int64_t> now_ns_ = 1'768'032'000 * kSecond;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TEST_CLOCK_H_
