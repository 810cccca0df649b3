// The interface through which the host reads the time. It is injected: the core of the host never
// reads a system clock directly.
#ifndef BERTH_HOST_BASE_CLOCK_H_
#define BERTH_HOST_BASE_CLOCK_H_

#include <cstdint>

namespace berth::host {

// Threading: any.
class Clock {
 public:
  virtual ~Clock() = default;

  // Returns nanoseconds since 1970-01-01T00:00:00Z. The value never decreases: RealClock starts at
  // one reading of the wall clock and adds the time that the monotonic clock counts from then on.
  virtual int64_t NowNs() const = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_CLOCK_H_
