// What time does: backoffs and flushes, to the nanosecond.
#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "host/queue/scheduling_queue.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

constexpr int64_t kSecond = TestClock::kSecond;

// Pods are rejected `late` after a whole second, as often as it takes, and helped at once. They are
// not ready a nanosecond before `seconds` after that whole second, and ready then.
struct BackoffCase {
  const char* sentence;
  int rejections;
  int64_t late_ns;
  int64_t seconds;
};

constexpr BackoffCase kBackoffs[] = {
    {"the first, at the second", 1, 0, 2},
    {"the first, a nanosecond later", 1, 1, 2},
    {"the first, at the end of the second", 1, kSecond - 1, 2},
    {"the second", 2, 0, 3},
    {"the third", 3, 0, 5},
    {"the fourth", 4, 0, 9},
    {"the fifth", 5, 0, 11},
    {"the sixth, in the middle", 6, kSecond / 2, 11},
};

TEST(SchedulingQueueTimeTest, ABackoffEndsWithItsWindow) {
  for (const BackoffCase& c : kBackoffs) {
    for (const bool is_error : {false, true}) {
      SCOPED_TRACE(std::string(c.sentence) + (is_error ? ", an error" : ""));
      TestQueue test;
      const std::string fail = is_error ? "fail a" : "return a 1; node n-1";
      test.Tell("add a");
      for (int i = 1; i < c.rejections; ++i) test.Tell("pop a; " + fail + "; activate a");
      test.clock.Advance(c.late_ns);
      test.Tell("pop a; " + fail);
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

TEST(SchedulingQueueTimeTest, WithoutEarlyPopsThereAreNoWindows) {
  TestQueue test(TestQueue::DefaultTable(), {.pop_from_backoff = false});
  test.Tell("sleep 0.5; add a; add b; pop a; pop b; return a 1; return b 1; sleep 1; node n-1");
  EXPECT_EQ(test.Places(), "a=backoff b=backoff") << "it ends now, and has not ended";
  test.Tell("remove b; add b; pop b; return b 1; sleep 1.000000001; node n-1");
  EXPECT_EQ(test.Places(), "a=backoff b=active") << "until Tick() a backoff is a backoff";
  EXPECT_EQ(*test.queue->NextTickNs() % kSecond, 0) << "and it comes with a whole second";
  test.Tell("tick");
  EXPECT_EQ(test.Places(), "a=active b=active");
}

TEST(SchedulingQueueTimeTest, TheNextTickIsTheEarliest) {
  TestQueue test;
  const int64_t start = test.clock.NowNs();
  EXPECT_EQ(test.queue->NextTickNs(), std::nullopt);
  test.Tell("add a");
  EXPECT_EQ(test.queue->NextTickNs(), std::nullopt);
  test.Tell("pop a; return a 5");
  EXPECT_EQ(test.queue->NextTickNs(), start + 330 * kSecond);
  test.Tell("add b; pop b; fail b; activate b; pop b; fail b");
  EXPECT_EQ(test.queue->NextTickNs(), start + 3 * kSecond);
  test.Tell("add c; pop c; return c 1; node n-1");
  EXPECT_EQ(test.queue->NextTickNs(), start + 2 * kSecond);
  test.Tell("remove b; remove c");
  EXPECT_EQ(test.queue->NextTickNs(), start + 330 * kSecond);
}

// Parked so long after the queue was made, in nanoseconds; tried again at so many seconds after it.
struct FlushCase {
  const char* sentence;
  int64_t parked_ns;
  int64_t seconds;
};

constexpr FlushCase kFlushes[] = {
    {"exactly five minutes are not longer than five minutes", 0, 330},
    {"a nanosecond less", 1, 330},
    {"just before the grid", 30 * kSecond - 1, 330},
    {"on the grid", 30 * kSecond, 360},
    {"just behind it", 30 * kSecond + 1, 360},
    {"in the middle", 45 * kSecond, 360},
    {"long after the queue was made", 3600 * kSecond + 1, 3930},
};

TEST(SchedulingQueueTimeTest, FlushesWhatHasBeenParkedForTooLong) {
  for (const FlushCase& c : kFlushes) {
    for (const bool is_gated : {false, true}) {
      SCOPED_TRACE(std::string(c.sentence) + (is_gated ? ", gated" : ""));
      TestQueue test;
      const int64_t start = test.clock.NowNs();
      test.clock.Advance(c.parked_ns);
      test.Tell(is_gated ? "hold a 5; add a; release a" : "add a; pop a; return a 5");
      const int64_t due = start + c.seconds * kSecond;
      EXPECT_EQ(test.queue->NextTickNs(), due);
      // However often one looks.
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

TEST(SchedulingQueueTimeTest, WhoeverTicksLateFlushesAsOfTheGrid) {
  TestQueue test;
  test.Tell("sleep 25; add a; pop a; return a 5; sleep 300.5");
  // It has been parked for longer than five minutes; at the last point of the grid it had not.
  test.Tell("tick");
  EXPECT_EQ(test.Places(), "a=parked");
  test.Tell("wait 4.5");
  EXPECT_EQ(test.Places(), "a=active");
}

TEST(SchedulingQueueTimeTest, WhoIsHeldBackIsAskedOncePerFlush) {
  TestQueue test;
  test.Tell("hold a 5; add a; wait 330");
  EXPECT_EQ(test.policy.gate_questions.size(), 2U);
  EXPECT_FALSE(test.Entity("a").was_flushed) << "it did not bring it back";
  test.Tell("wait 300");
  EXPECT_EQ(test.policy.gate_questions.size(), 2U) << "it is five minutes since it was asked";
  test.Tell("release a; wait 30");
  EXPECT_EQ(test.Places(), "a=active");
}

TEST(SchedulingQueueTimeTest, AFlushedPodMayStillBackOff) {
  TestQueue test(TestQueue::DefaultTable(),
                 {.initial_backoff_ns = 400 * kSecond, .max_backoff_ns = 400 * kSecond});
  test.Tell("add a; pop a; return a 5; wait 330");
  EXPECT_EQ(test.Places(), "a=backoff");
  EXPECT_TRUE(test.Entity("a").was_flushed);
  test.Tell("wait 71");
  EXPECT_EQ(test.Places(), "a=active");
  EXPECT_TRUE(test.Entity("a").was_flushed);
  test.Tell("pop a; return a 5");
  EXPECT_FALSE(test.Entity("a").was_flushed);
  test.Tell("sleep 1; all");
  EXPECT_FALSE(test.Entity("a").was_flushed) << "not time, but an order";
}

TEST(SchedulingQueueTimeTest, WhoIsHeldBackAfterAFlushWasNotBroughtBack) {
  TestQueue test(TestQueue::DefaultTable(), {.initial_backoff_ns = 400 * kSecond,
                                             .max_backoff_ns = 400 * kSecond,
                                             .pop_from_backoff = false});
  test.Tell("add a; pop a; return a 5; wait 330; hold a 4; wait 71");
  EXPECT_EQ(test.Places(), "a=gated");
  EXPECT_FALSE(test.Entity("a").was_flushed);
}

TEST(SchedulingQueueTimeTest, AFlushIsNoEventForWhatIsInFlight) {
  TestQueue test;
  test.Tell("add a; add b; pop a; pop b; return b 5; wait 330; return a 5");
  EXPECT_EQ(test.Places(), "a=parked b=active");
}

TEST(SchedulingQueueTimeTest, AnUpdateIsNoReasonToWaitLonger) {
  TestQueue test;
  test.Tell("add a; pop a; return a 5; sleep 299; touch a; wait 31");
  EXPECT_EQ(test.Places(), "a=active");
}

}  // namespace
}  // namespace berth::host
