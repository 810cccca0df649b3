#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "host/base/split_mix.h"
#include "tests/harness/election_fixture.h"

namespace berth::host {
namespace {

// ---- Many electors ------------------------------------------------------------------------------

// Draws the faults of one run.
class ElectionFaults {
 public:
  explicit ElectionFaults(uint64_t seed) : random_(seed) {}

  bool OneIn(uint64_t n) { return random_.Next() % n == 0; }
  int64_t UpTo(int64_t ns) {
    return static_cast<int64_t>(random_.Next() % static_cast<uint64_t>(ns));
  }
  LeaseFault Next() {
    LeaseFault fault{.to_server_ns = UpTo(50 * kMillisecond),
                     .to_client_ns = UpTo(50 * kMillisecond)};
    // The server may execute a request long after the client has given it up.
    if (OneIn(8)) fault.to_server_ns = UpTo(20 * kSecond);
    if (OneIn(8)) fault.to_client_ns = UpTo(6 * kSecond);
    fault.loses_request = OneIn(8);
    fault.loses_answer = OneIn(8);
    return fault;
  }

 private:
  SplitMix64 random_;
};

class ElectionPropertyTest : public LeaderElectorTest, public ::testing::WithParamInterface<int> {
 protected:
  // Replaces each process that has lost the lease or was killed.
  void Restart(size_t want, ElectionFaults& faults) {
    const auto is_over = [](const auto& candidate) {
      return candidate->is_dead || !candidate->lost.empty();
    };
    for (const auto& candidate : candidates_) {
      if (is_over(candidate)) candidate->is_dead = true;
    }
    while (candidates_.size() - static_cast<size_t>(std::ranges::count_if(candidates_, is_over)) <
           want) {
      ElectionCandidate& added = Add("p" + std::to_string(++last_name_));
      added.store.fault = [&faults] { return faults.Next(); };
      added.elector.Start();
    }
  }
  void Disturb(ElectionCandidate& candidate, ElectionFaults& faults) {
    if (candidate.is_dead) return;
    // From 0.5 to 3 times the lease.
    if (faults.OneIn(10))
      Pause(candidate, 7500 * kMillisecond + faults.UpTo(37'500 * kMillisecond));
    if (faults.OneIn(5)) candidate.wall.step_ns = faults.UpTo(2 * kHour) - kHour;
    if (faults.OneIn(30)) candidate.is_dead = true;
    if (faults.OneIn(30) && candidate.lost.empty()) {
      ElectionCandidate* released = &candidate;
      candidate.elector.Release(2 * kSecond,
                                [released] { released->lost.emplace_back("released"); });
      // A process that releases the lease is not used again.
      candidate.lost.emplace_back("releasing");
    }
  }

  int last_name_ = 0;
};

// Each step checks that at most one fence is open.
TEST_P(ElectionPropertyTest, AtMostOneFenceIsOpen) {
  for (int run = 0; run < 25; ++run) {
    const auto seed = static_cast<uint64_t>(GetParam() * 25 + run + 1);
    SCOPED_TRACE("seed " + std::to_string(seed));
    RetireAll();
    RunFor(60 * kSecond);
    ElectionFaults faults(seed);
    const size_t want = 2 + seed % 2;
    int terms = 0;
    for (int step = 0; step < 60; ++step) {
      Restart(want, faults);
      RunFor(kSecond + faults.UpTo(9 * kSecond));
      if (HasFatalFailure()) return;
      for (size_t i = 0; i < candidates_.size(); ++i) Disturb(*candidates_[i], faults);
    }
    for (const auto& candidate : candidates_) terms += static_cast<int>(candidate->started.size());
    EXPECT_GT(terms, 0) << "no process ever led";
    // Without faults, one of the processes leads again.
    for (const auto& candidate : candidates_) {
      candidate->store.fault = [] { return LeaseFault(); };
      candidate->paused_until_ns = 0;
    }
    RunFor(90 * kSecond);
    ElectionFaults none(seed);
    Restart(want, none);
    for (const auto& candidate : candidates_) candidate->store.fault = [] { return LeaseFault(); };
    RunFor(90 * kSecond);
    EXPECT_NE(Leaders(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ElectionPropertyTest, ::testing::Range(0, 8));

// ---- Options ------------------------------------------------------------------------------------

struct ElectionOptionsCase {
  const char* name;
  int64_t lease_ns;
  int64_t deadline_ns;
  int64_t retry_ns;
  const char* error;  // Empty: valid.
};

TEST(ElectionOptionsTest, ChecksTheDurations) {
  const ElectionOptionsCase cases[] = {
      {"the defaults", 15 * kSecond, 10 * kSecond, 2 * kSecond, ""},
      {"a lease just above the deadline", 11 * kSecond, 10 * kSecond, 2 * kSecond, ""},
      {"a lease of the same whole seconds", 10'999 * kMillisecond, 10 * kSecond, 2 * kSecond,
       "[leaderElection] leaseDuration: expected whole seconds of more than renewDeadline (10s), "
       "found 10.999s"},
      {"a lease below one second", 900 * kMillisecond, 100 * kMillisecond, 10 * kMillisecond,
       "[leaderElection] leaseDuration: expected whole seconds of more than renewDeadline (100ms), "
       "found 900ms"},
      {"a lease of one second", kSecond, 900 * kMillisecond, 100 * kMillisecond, ""},
      {"the longest lease", 2'147'483'647 * kSecond, 10 * kSecond, 2 * kSecond, ""},
      {"a lease that is too long", 2'147'483'648 * kSecond, 10 * kSecond, 2 * kSecond,
       "[leaderElection] leaseDuration: expected at most 2147483647s, found 596523h14m8s"},
      {"a deadline of 1.2 times the period", 15 * kSecond, 12 * kSecond, 10 * kSecond,
       "[leaderElection] renewDeadline: expected more than 1.2 times retryPeriod (10s), found 12s"},
      {"a deadline just above", 15 * kSecond, 12 * kSecond + 1, 10 * kSecond, ""},
      {"a deadline below the period", 15 * kSecond, 2 * kSecond, 10 * kSecond,
       "[leaderElection] renewDeadline: expected more than 1.2 times retryPeriod (10s), found 2s"},
      {"no lease", 0, 10 * kSecond, 2 * kSecond,
       "[leaderElection] leaseDuration: expected more than 0s, found 0s"},
      {"no deadline", 15 * kSecond, 0, 2 * kSecond,
       "[leaderElection] renewDeadline: expected more than 0s, found 0s"},
      {"a negative period", 15 * kSecond, 10 * kSecond, -1,
       "[leaderElection] retryPeriod: expected more than 0s, found -1ns"},
  };
  for (const ElectionOptionsCase& c : cases) {
    SCOPED_TRACE(c.name);
    ElectionOptions options;
    options.identity = "a";
    options.lease_ns = c.lease_ns;
    options.renew_deadline_ns = c.deadline_ns;
    options.retry_ns = c.retry_ns;
    EXPECT_EQ(CheckElectionOptions(options).message(), c.error);
  }
}

TEST(ElectionOptionsTest, NeedsNames) {
  ElectionOptions options = ElectionOptionsOf("a", 1);
  options.ns.clear();
  EXPECT_EQ(CheckElectionOptions(options).message(),
            "[leaderElection] resourceNamespace: expected a name, found \"\"");
  options.ns = "kube-system";
  options.name.clear();
  EXPECT_EQ(CheckElectionOptions(options).message(),
            "[leaderElection] resourceName: expected a name, found \"\"");
}

}  // namespace
}  // namespace berth::host
