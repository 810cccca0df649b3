// Units of time, in nanoseconds. All times and durations in Berth are int64_t nanoseconds.
#ifndef BERTH_HOST_BASE_TIME_UNITS_H_
#define BERTH_HOST_BASE_TIME_UNITS_H_

#include <cstdint>

namespace berth::host {

inline constexpr int64_t kMicrosecond = 1'000;
inline constexpr int64_t kMillisecond = 1'000 * kMicrosecond;
inline constexpr int64_t kSecond = 1'000 * kMillisecond;
inline constexpr int64_t kMinute = 60 * kSecond;
inline constexpr int64_t kHour = 60 * kMinute;

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TIME_UNITS_H_
