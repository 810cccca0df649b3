#include "host/http/pacing.h"

#include <cmath>

#include "host/base/assert.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

// Returns a number from 0 to less than 1.
double Fraction(uint64_t random) { return static_cast<double>(random >> 11) * 0x1.0p-53; }

}  // namespace

RetryDelay::RetryDelay(const Options& options, uint64_t seed)
    : options_(options), random_(seed), next_ns_(0) {
  BERTH_ASSERT(options.first_ns > 0 && options.max_ns > 0);
  BERTH_ASSERT(options.factor >= 1 && options.jitter >= 0);
  Reset();
}

int64_t RetryDelay::NextNs(int64_t now_ns, int64_t at_least_ns) {
  const bool is_long_ago = last_call_ns_ && now_ns - *last_call_ns_ > options_.reset_after_ns;
  if (is_long_ago) Reset();
  last_call_ns_ = now_ns;
  const auto max_ns = static_cast<double>(options_.max_ns);
  const double delay_ns = next_ns_ * (1 + options_.jitter * Fraction(random_.Next()));
  next_ns_ = std::min(next_ns_ * options_.factor, max_ns);
  return std::max(static_cast<int64_t>(delay_ns), LimitRetryAfterNs(at_least_ns));
}

void RetryDelay::Reset() {
  next_ns_ = static_cast<double>(std::min(options_.first_ns, options_.max_ns));
}

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
