// Computes how long to wait before a repetition.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_RETRY_DELAY_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_RETRY_DELAY_H_

#include <cstdint>

#include "host/base/split_mix.h"

namespace berth::host {

// Exponential delays with jitter. The defaults are those of client-go's reflector: 800 ms doubled
// up to 30 s, each multiplied by a random number from 1 to 2, and back to the beginning when two
// minutes have passed without a call. The random numbers come from the owner's seed, so that a
// simulation repeats.
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

  RetryDelay(const Options& options, uint64_t seed);

  // Returns the next delay. `at_least_ns`: a Retry-After of the server; the result is not shorter.
  int64_t NextNs(int64_t now_ns, int64_t at_least_ns = 0);
  void Reset();

 private:
  const Options options_;
  SplitMix64 random_;
  double next_ns_;
  int64_t last_call_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_RETRY_DELAY_H_
