// Limits the rate of requests.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_RATE_LIMIT_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_RATE_LIMIT_H_

#include <algorithm>
#include <cstdint>
#include <optional>

namespace berth::host {

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

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_RATE_LIMIT_H_
