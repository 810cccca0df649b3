// When requests are sent: the rate limit, and the delays before repetitions.
#ifndef BERTH_HOST_HTTP_PACING_H_
#define BERTH_HOST_HTTP_PACING_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "host/base/split_mix.h"

namespace berth::host {

// Returns the time to wait for the Retry-After of an answer: one minute at most, because one answer
// must not stop a watch, or the read of a pod whose binding is unknown, for hours.
constexpr int64_t LimitRetryAfterNs(int64_t retry_after_ns) {
  return std::min(retry_after_ns, int64_t{60'000'000'000});
}

// Exponential delays with jitter. The defaults are those of client-go's reflector: 800 ms doubled
// up to 30 s, each multiplied by a random number from 1 to 2, and back to the beginning when more
// than two minutes have passed without a call. The random numbers come from the owner's seed, so
// that a simulation repeats. (client-go: wait.NewExponentialBackoffManager)
// Threading: one thread.
class RetryDelay {
 public:
  struct Options {
    int64_t first_ns = 800'000'000;
    int64_t max_ns = 30'000'000'000;
    double factor = 2;
    double jitter = 1;  // 0: none.
    int64_t reset_after_ns = 120'000'000'000;
  };

  // REQUIRES: first_ns and max_ns are positive, factor is 1 or more, jitter is 0 or more.
  RetryDelay(const Options& options, uint64_t seed);

  // Returns the next delay. `at_least_ns`: a Retry-After of the server; the result is not shorter
  // than LimitRetryAfterNs() of it.
  int64_t NextNs(int64_t now_ns, int64_t at_least_ns = 0);
  // Begins with the first delay again: an attempt has succeeded.
  void Reset();

 private:
  const Options options_;
  SplitMix64 random_;
  double next_ns_;
  std::optional<int64_t> last_call_ns_;
};

// A token bucket, as client-go's flowcontrol.NewTokenBucketRateLimiter: `burst` requests at once,
// then `qps` per second. qps 0 sets no limit, which is the default of Berth.
// Threading: one thread. The caller passes the time.
class RateLimit {
 public:
  RateLimit(double qps, uint32_t burst) : qps_(qps), burst_(std::max<uint32_t>(burst, 1)) {}

  // Takes a token and returns how long the request must wait for it; 0: not at all.
  int64_t TakeNs(int64_t now_ns);
  // Delays the next token to this time at least: the server has answered 429 with Retry-After.
  void PauseUntil(int64_t at_ns) { paused_until_ns_ = std::max(paused_until_ns_, at_ns); }
  // Returns how long the pause goes on; 0: there is none.
  int64_t PauseLeftNs(int64_t now_ns) const {
    return std::max<int64_t>(paused_until_ns_ - now_ns, 0);
  }

 private:
  const double qps_;
  const uint32_t burst_;
  double tokens_ = 0;                    // Negative: tokens that were taken in advance.
  std::optional<int64_t> filled_at_ns_;  // Without a value, the bucket is full.
  int64_t paused_until_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_PACING_H_
