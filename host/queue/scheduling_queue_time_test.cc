// Tests of backoffs and flushes, with nanosecond precision.
#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/queue/scheduling_queue.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

// A pod is rejected `rejections` times, `late_ns` after a whole second, and requeued at once each
// time. It becomes ready exactly `seconds` after that whole second, and not a nanosecond earlier.
struct BackoffCase {
  const char* description;
  int rejections;
  int64_t late_ns;
  int64_t seconds;
};

constexpr BackoffCase kBackoffs[] = {
    {"the first rejection, at the start of a second", 1, 0, 2},
    {"the first rejection, a nanosecond after the start", 1, 1, 2},
    {"the first rejection, at the end of a second", 1, kSecond - 1, 2},
    {"the second rejection", 2, 0, 3},
    {"the third rejection", 3, 0, 5},
    {"the fourth rejection", 4, 0, 9},
    {"the fifth rejection", 5, 0, 11},
    {"the sixth rejection, in the middle of a second", 6, kSecond / 2, 11},
};

TEST(SchedulingQueueTimeTest, ABackoffEndsTogetherWithItsWindow) {
  for (const BackoffCase& c : kBackoffs) {
    for (const bool is_error : {false, true}) {
      SCOPED_TRACE(std::string(c.description) + (is_error ? ", an error" : ""));
      TestQueue test;
      const std::string fail = is_error ? "fail a" : "return a 1; node n-1";
      test.Run("add a");
      for (int i = 1; i < c.rejections; ++i) test.Run("pop a; " + fail + "; activate a");
      test.clock.Advance(c.late_ns);
      test.Run("pop a; " + fail);
      const int64_t start = test.clock.NowNs() - c.late_ns;
      EXPECT_EQ(test.queue->NextTickNs(), start + c.seconds * kSecond);
      test.clock.AdvanceTo(start + c.seconds * kSecond - 1);
      test.queue->Tick();
      EXPECT_NE(test.Places(), "a=active");
      test.clock.Advance(1);
      test.queue->Tick();
      EXPECT_EQ(test.Places(), "a=active");
      EXPECT_EQ(test.queue->NextTickNs(), std::nullopt);
    }
  }
}

TEST(SchedulingQueueTimeTest, NoEventWakesASlowPod) {
  TestQueue test;
  test.Run("add a; pop a; slow a 1; node n-1; wait 29");
  EXPECT_EQ(test.Places(), "a=errors");
  test.Run("wait 2");
  EXPECT_EQ(test.Places(), "a=active");
  test.Run("pop a; slow a 1; wait 59");
  EXPECT_EQ(test.Places(), "a=errors") << "the second pause is longer";
  test.Run("wait 2; pop a; return a 1; node n-1; wait 2");
  EXPECT_EQ(test.Places(), "a=active") << "an attempt in time ends the long pauses";
  test.Run("pop a; slow a 1; wait 31");
  EXPECT_EQ(test.Places(), "a=active");
}

TEST(SchedulingQueueTimeTest, NamesSlowPodsUntilTheNextAttempt) {
  TestQueue test;
  const auto slow = [&test] { return test.queue->slow_pods().Read(2); };
  test.Run("add a; add b; add c; pop a; pop b; pop c; slow c 1; slow b 1; slow a 1");
  EXPECT_EQ(slow().count, 3U);
  EXPECT_EQ(slow().examples, (std::vector<std::string>{"default/a", "default/b"}));
  test.Run("wait 31; pop c; return c 1; pop b; slow b 1; remove a");
  EXPECT_EQ(slow().count, 1U);
  EXPECT_EQ(slow().examples, (std::vector<std::string>{"default/b"}));
}

TEST(SchedulingQueueTimeTest, WithoutPopFromBackoffThereAreNoWindows) {
  TestQueue test(TestQueue::DefaultTable(), {.pop_from_backoff = false});
  test.Run("sleep 0.5; add a; add b; pop a; pop b; return a 1; return b 1; sleep 1; node n-1");
  EXPECT_EQ(test.Places(), "a=backoff b=backoff") << "a backoff that ends now is still in effect";
  test.Run("remove b; add b; pop b; return b 1; sleep 1.000000001; node n-1");
  EXPECT_EQ(test.Places(), "a=backoff b=active") << "only Tick() moves a out of its backoff";
  EXPECT_EQ(*test.queue->NextTickNs() % kSecond, 0) << "ticks are at whole seconds";
  test.Run("tick");
  EXPECT_EQ(test.Places(), "a=active b=active");
}

TEST(SchedulingQueueTimeTest, NextTickNsReturnsTheEarliestTime) {
  TestQueue test;
  const int64_t start = test.clock.NowNs();
  EXPECT_EQ(test.queue->NextTickNs(), std::nullopt);
  test.Run("add a");
  EXPECT_EQ(test.queue->NextTickNs(), std::nullopt);
  test.Run("pop a; return a 5");
  EXPECT_EQ(test.queue->NextTickNs(), start + 330 * kSecond);
  test.Run("add b; pop b; fail b; activate b; pop b; fail b");
  EXPECT_EQ(test.queue->NextTickNs(), start + 3 * kSecond);
  test.Run("add c; pop c; return c 1; node n-1");
  EXPECT_EQ(test.queue->NextTickNs(), start + 2 * kSecond);
  test.Run("remove b; remove c");
  EXPECT_EQ(test.queue->NextTickNs(), start + 330 * kSecond);
}

// The pod is parked `parked_ns` nanoseconds after the queue was created, and tried again `seconds`
// after it was created.
struct FlushCase {
  const char* description;
  int64_t parked_ns;
  int64_t seconds;
};

constexpr FlushCase kFlushes[] = {
    {"exactly five minutes are not longer than five minutes", 0, 330},
    {"parked a nanosecond later", 1, 330},
    {"parked just before a multiple of 30 s", 30 * kSecond - 1, 330},
    {"parked at a multiple of 30 s", 30 * kSecond, 360},
    {"parked just after a multiple of 30 s", 30 * kSecond + 1, 360},
    {"parked between two multiples of 30 s", 45 * kSecond, 360},
    {"parked long after the queue was created", 3600 * kSecond + 1, 3930},
};

TEST(SchedulingQueueTimeTest, FlushesPodsParkedForTooLong) {
  for (const FlushCase& c : kFlushes) {
    for (const bool is_gated : {false, true}) {
      SCOPED_TRACE(std::string(c.description) + (is_gated ? ", gated" : ""));
      TestQueue test;
      const int64_t start = test.clock.NowNs();
      test.clock.Advance(c.parked_ns);
      test.Run(is_gated ? "hold a 5; add a; release a" : "add a; pop a; return a 5");
      const int64_t due = start + c.seconds * kSecond;
      EXPECT_EQ(test.queue->NextTickNs(), due);
      // Calling Tick() more often changes nothing.
      for (int64_t at = start + 20 * kSecond; at < due; at += 20 * kSecond) {
        if (at > test.clock.NowNs()) test.clock.AdvanceTo(at);
        test.queue->Tick();
      }
      test.clock.AdvanceTo(due - 1);
      test.queue->Tick();
      EXPECT_EQ(test.Places(), is_gated ? "a=gated" : "a=parked");
      test.clock.AdvanceTo(due);
      test.queue->Tick();
      EXPECT_EQ(test.Places(), "a=active");
      EXPECT_TRUE(test.Entity("a").was_flushed);
    }
  }
}

TEST(SchedulingQueueTimeTest, LateTickFlushesAsOfItsDueTime) {
  TestQueue test;
  test.Run("sleep 25; add a; pop a; return a 5; sleep 300.5");
  // The pod has been parked for longer than five minutes now, but not at the last multiple of 30 s.
  test.Run("tick");
  EXPECT_EQ(test.Places(), "a=parked");
  test.Run("wait 4.5");
  EXPECT_EQ(test.Places(), "a=active");
}

TEST(SchedulingQueueTimeTest, GatedPodRunsPreEnqueueOncePerFlush) {
  TestQueue test;
  test.Run("hold a 5; add a; wait 330");
  EXPECT_EQ(test.policy.pre_enqueue_calls.size(), 2U);
  EXPECT_FALSE(test.Entity("a").was_flushed) << "the flush did not requeue the pod";
  test.Run("wait 300");
  EXPECT_EQ(test.policy.pre_enqueue_calls.size(), 2U)
      << "PreEnqueue ran exactly five minutes ago, not longer";
  test.Run("release a; wait 30");
  EXPECT_EQ(test.Places(), "a=active");
}

TEST(SchedulingQueueTimeTest, AFlushedPodMayStillBackOff) {
  TestQueue test(TestQueue::DefaultTable(),
                 {.initial_backoff_ns = 400 * kSecond, .max_backoff_ns = 400 * kSecond});
  test.Run("add a; pop a; return a 5; wait 330");
  EXPECT_EQ(test.Places(), "a=backoff");
  EXPECT_TRUE(test.Entity("a").was_flushed);
  test.Run("wait 71");
  EXPECT_EQ(test.Places(), "a=active");
  EXPECT_TRUE(test.Entity("a").was_flushed);
  test.Run("pop a; return a 5");
  EXPECT_FALSE(test.Entity("a").was_flushed);
  test.Run("sleep 1; all");
  EXPECT_FALSE(test.Entity("a").was_flushed) << "a wildcard event, not the flush, requeued the pod";
}

TEST(SchedulingQueueTimeTest, PodGatedAfterAFlushIsNotFlushed) {
  TestQueue test(TestQueue::DefaultTable(), {.initial_backoff_ns = 400 * kSecond,
                                             .max_backoff_ns = 400 * kSecond,
                                             .pop_from_backoff = false});
  test.Run("add a; pop a; return a 5; wait 330; hold a 4; wait 71");
  EXPECT_EQ(test.Places(), "a=gated");
  EXPECT_FALSE(test.Entity("a").was_flushed);
}

TEST(SchedulingQueueTimeTest, FlushIsNoEventForPodsInFlight) {
  TestQueue test;
  test.Run("add a; add b; pop a; pop b; return b 5; wait 330; return a 5");
  EXPECT_EQ(test.Places(), "a=parked b=active");
}

TEST(SchedulingQueueTimeTest, AnUpdateDoesNotDelayTheFlush) {
  TestQueue test;
  test.Run("add a; pop a; return a 5; sleep 299; touch a; wait 31");
  EXPECT_EQ(test.Places(), "a=active");
}

}  // namespace
}  // namespace berth::host
