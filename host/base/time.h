// Kubernetes' timestamps: RFC 3339 text and nanoseconds since 1970-01-01T00:00:00Z.
#ifndef BERTH_HOST_BASE_TIME_H_
#define BERTH_HOST_BASE_TIME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Parses "2026-01-10T08:00:00Z", with an optional fraction (".5", any number of digits, cut off
// after nine) and with "Z" or an offset ("+02:00"). As Go's time.RFC3339, which metav1.Time uses:
// "T" and "Z" are capital, a leap second is refused.
//
// Returns: kInvalidArgument with the text and what was expected; kOutOfRange for a time that int64
// nanoseconds do not reach (before 1677-09-21 or after 2262-04-11).
Result<int64_t> ParseTime(std::string_view text);

// In UTC, with as many digits of a fraction as the time has: "2026-01-10T08:00:00.25Z".
std::string FormatTime(int64_t nanoseconds);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TIME_H_
