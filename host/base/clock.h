// Time, injected: the core never reads a clock by itself.
#ifndef BERTH_HOST_BASE_CLOCK_H_
#define BERTH_HOST_BASE_CLOCK_H_

#include <cstdint>

namespace berth::host {

// Threading: any.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds since 1970-01-01T00:00:00Z. Never goes back: a real one takes the wall clock once
  // and adds what the monotonic clock has counted since.
  virtual int64_t NowNs() const = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_CLOCK_H_
