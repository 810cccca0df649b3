// Parses and formats Kubernetes timestamps: RFC 3339 text and nanoseconds since
// 1970-01-01T00:00:00Z.
#ifndef BERTH_HOST_BASE_TIME_H_
#define BERTH_HOST_BASE_TIME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Parses a time such as "2026-01-10T08:00:00Z", with an optional fraction (".5" with any number of
// digits; digits after the ninth are cut off) and with "Z" or an offset ("+02:00"). The syntax is
// that of Go's time.RFC3339, which metav1.Time uses: "T" and "Z" are upper case, and a leap second
// is rejected.
//
// Returns: nanoseconds since 1970-01-01T00:00:00Z.
// Errors: kInvalidArgument with the text and what was expected; kOutOfRange for a time that an
// int64 of nanoseconds cannot represent (before 1677-09-21 or after 2262-04-11).
Result<int64_t> ParseTime(std::string_view text);

// Formats a time in UTC with the shortest exact fraction: "2026-01-10T08:00:00.25Z".
std::string FormatTime(int64_t nanoseconds);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TIME_H_
