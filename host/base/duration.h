// Parses and formats durations in the syntax of Go and Kubernetes: "1.5s", "5m0s", "1h15m30.5s".
#ifndef BERTH_HOST_BASE_DURATION_H_
#define BERTH_HOST_BASE_DURATION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

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

#endif  // BERTH_HOST_BASE_DURATION_H_
