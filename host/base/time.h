// Parses and formats the times of Kubernetes, RFC 3339 text and nanoseconds since
// 1970-01-01T00:00:00Z, and durations in the syntax of Go and Kubernetes: "1.5s", "5m0s".
#ifndef BERTH_HOST_BASE_TIME_H_
#define BERTH_HOST_BASE_TIME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Parses a time such as "2026-01-10T08:00:00Z", with an optional fraction (".5" with any number of
// digits; digits after the ninth are cut off) and with "Z" or an offset ("+02:00"). Accepts what
// time.Parse of Go accepts for time.RFC3339, which metav1.Time calls: also an hour of one digit, a
// comma before the fraction, and offsets up to 24:60. "T" and "Z" are upper case, and a leap second
// is rejected.
//
// Returns: nanoseconds since 1970-01-01T00:00:00Z. A time before 1677-09-21 or after 2262-04-11,
// which an int64 cannot represent, becomes the earliest or the latest one: API servers accept the
// years 0000 to 9999.
// Errors: kInvalidArgument with the text and what was expected.
Result<int64_t> ParseTime(std::string_view text);

// Formats a time in UTC with the shortest exact fraction: "2026-01-10T08:00:00.25Z".
std::string FormatTime(int64_t nanoseconds);

// Parses a duration as Go's time.ParseDuration does: an optional sign, then one or more numbers,
// each with an optional fraction and a unit ("h", "m", "s", "ms", "us", "µs", "ns"). "0" needs no
// unit. Fractions of nanoseconds are cut off.
// Returns: nanoseconds.
// Errors: kInvalidArgument with the text and what was expected; kOutOfRange for a duration of more
// than 292 years.
Result<int64_t> ParseDuration(std::string_view text);

// Formats a duration as Go's Duration.String does: "0s", "1.5µs", "250ms", "1m30s", "-5m0s".
std::string FormatDuration(int64_t nanoseconds);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TIME_H_
