// Durations as Go writes them, which is how Kubernetes does: "1.5s", "5m0s", "1h15m30.5s".
#ifndef BERTH_HOST_BASE_DURATION_H_
#define BERTH_HOST_BASE_DURATION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Go's time.ParseDuration: an optional sign, then numbers with an optional fraction and a unit each
// ("h", "m", "s", "ms", "us", "µs", "ns"); "0" needs no unit. Fractions of nanoseconds are cut off.
// Errors: kInvalidArgument with the text and what was expected; kOutOfRange beyond 292 years.
Result<int64_t> ParseDuration(std::string_view text);

// Go's Duration.String: "0s", "1.5µs", "250ms", "1m30s", "-5m0s".
std::string FormatDuration(int64_t nanoseconds);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_DURATION_H_
