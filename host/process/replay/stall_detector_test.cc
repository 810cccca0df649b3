#include "host/process/replay/stall_detector.h"

#include <string>

#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

class StallDetectorTest : public ::testing::Test {
 protected:
  // Pops the pod, which must be the first ready one, and rejects it. Every event requeues it.
  void Reject(const std::string& name) {
    queue_.Run("pop " + name + "; return " + name + " 1; all");
    Fail(name);
  }
  void Fail(const std::string& name) { detector_.OnFailed(queue_.Pod(name), "", Failure()); }
  bool IsStalled() { return detector_.IsStalled(*queue_.queue); }

  TestQueue queue_;
  StallDetector detector_{nullptr};
};

TEST_F(StallDetectorTest, AnEmptyQueueIsNotStalled) { EXPECT_FALSE(IsStalled()); }

TEST_F(StallDetectorTest, IsStalledAfterLastFailureOfEachPod) {
  queue_.Run("add a; add b");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) {
    EXPECT_FALSE(IsStalled()) << i;
    Reject("a");
    EXPECT_FALSE(IsStalled()) << i;
    Reject("b");
  }
  EXPECT_TRUE(IsStalled());
}

// Each of these keeps a scheduler from being stalled, because the pods that fail may fit now.
TEST_F(StallDetectorTest, ProgressBeginsANewCount) {
  struct Case {
    const char* description;
    void (*make_progress)(StallDetector& detector, const PodRef& other);
  };
  constexpr Case kCases[] = {
      {"another pod was bound",
       [](StallDetector& detector, const PodRef& other) { detector.OnBound(other, "n"); }},
      {"another pod is being deleted",
       [](StallDetector& detector, const PodRef& other) { detector.OnSkipped(other, ""); }},
      {"the cluster changed",
       [](StallDetector& detector, const PodRef&) { detector.OnProgress(); }},
  };
  queue_.Run("add a");
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.description);
    for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) Reject("a");
    EXPECT_TRUE(IsStalled());
    c.make_progress(detector_, queue_.Pod("b"));
    EXPECT_FALSE(IsStalled());
  }
}

TEST_F(StallDetectorTest, WaitsForAPodNotTriedYet) {
  queue_.Run("add a 9; add b; add c");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) {
    queue_.Run("pop a; return a 1; activate a");
    Fail("a");
  }
  EXPECT_FALSE(IsStalled());
}

TEST_F(StallDetectorTest, APodInFlightIsWaitedFor) {
  queue_.Run("add waiting; pop waiting; add a");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) Reject("a");
  EXPECT_FALSE(IsStalled()) << "the pod in flight may be bound";
}

TEST_F(StallDetectorTest, ParkedAndGatedPodsAreNotWaitedFor) {
  queue_.Run("hold gated 4; add gated; add parked; pop parked; return parked 1; add a");
  for (uint32_t i = 0; i < StallDetector::kMaxFailures; ++i) {
    queue_.Run("pop a; return a 2; freed x");
    Fail("a");
  }
  EXPECT_EQ(queue_.Places(), "a=backoff gated=gated parked=parked");
  EXPECT_TRUE(IsStalled());
}

// Without this limit, a pod that precedes all others whenever it is requeued would run for ever.
TEST_F(StallDetectorTest, OnePodCannotFailForEver) {
  queue_.Run("add waiting; pop waiting");
  for (uint32_t i = 0; i < StallDetector::kMaxFailuresOfOnePod; ++i) {
    EXPECT_FALSE(IsStalled()) << i;
    Fail("a");
  }
  EXPECT_TRUE(IsStalled());
}

// The detector must not hide decisions from the sink behind it.
TEST_F(StallDetectorTest, PassesEveryDecisionOn) {
  struct Sink final : DecisionSink {
    void OnAssumed(const PodRef&, std::string_view) override { calls += "assumed "; }
    void OnBound(const PodRef&, std::string_view) override { calls += "bound "; }
    void OnFailed(const PodRef&, std::string_view, const Failure&) override { calls += "failed "; }
    void OnSkipped(const PodRef&, std::string_view) override { calls += "skipped "; }
    std::string calls;
  };
  Sink sink;
  StallDetector detector(&sink);
  const PodRef pod = queue_.Pod("a");
  detector.OnAssumed(pod, "n");
  detector.OnBound(pod, "n");
  detector.OnFailed(pod, "n", Failure());
  detector.OnSkipped(pod, "deleting");
  EXPECT_EQ(sink.calls, "assumed bound failed skipped ");
}

}  // namespace
}  // namespace berth::host
