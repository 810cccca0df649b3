#include "host/process/doctor/clock_skew.h"

#include <algorithm>

#include "host/base/time_units.h"

namespace berth::host {

void ClockSkew::Add(int64_t sent_ns, int64_t received_ns, int64_t date_ns) {
  // This machine's clock was set back during the request, or there is nothing to compare with.
  if (date_ns == 0 || received_ns < sent_ns) return;
  // The server wrote the date between both readings of this machine's clock, and its clock was at
  // most one second later than the date.
  const int64_t min_ns = sent_ns - (date_ns + kSecond);
  const int64_t max_ns = received_ns - date_ns;
  const bool agrees = has_range_ && min_ns <= max_ns_ && max_ns >= min_ns_;
  min_ns_ = agrees ? std::max(min_ns_, min_ns) : min_ns;
  max_ns_ = agrees ? std::min(max_ns_, max_ns) : max_ns;
  has_range_ = true;
}

std::optional<int64_t> ClockSkew::AheadNs() const {
  if (!has_range_) return std::nullopt;
  return std::clamp<int64_t>(0, min_ns_, max_ns_);
}

}  // namespace berth::host
