#include "host/cluster/kubernetes/http/rate_limit.h"

#include <cmath>

#include "host/base/time_units.h"

namespace berth::host {

int64_t RateLimit::TakeNs(int64_t now_ns) {
  const int64_t pause_ns = PauseLeftNs(now_ns);
  if (qps_ <= 0) return pause_ns;
  if (!filled_at_ns_) {
    tokens_ = burst_;
  } else {
    const auto passed_ns = static_cast<double>(std::max<int64_t>(now_ns - *filled_at_ns_, 0));
    const double filled = tokens_ + passed_ns * qps_ / static_cast<double>(kSecond);
    tokens_ = std::min(filled, static_cast<double>(burst_));
  }
  filled_at_ns_ = std::max(now_ns, filled_at_ns_.value_or(now_ns));
  tokens_ -= 1;
  if (tokens_ >= 0) return pause_ns;
  // A rate such as 1e-12 per second would exceed the range of the result.
  constexpr double kMaxWaitNs = 1e18;
  const double wait_ns = std::ceil(-tokens_ * static_cast<double>(kSecond) / qps_);
  return std::max(pause_ns, static_cast<int64_t>(std::min(wait_ns, kMaxWaitNs)));
}

}  // namespace berth::host
