#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/test_clock.h"
#include "host/base/test_log.h"
#include "host/cycle/decision_sink.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CalledSink final : public DecisionSink {
 public:
  void OnAssumed(const PodRef& pod, std::string_view node) override { Note("assumed", pod, node); }
  void OnBound(const PodRef& pod, std::string_view node) override { Note("bound", pod, node); }
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override {
    Note("failed " + failure.message, pod, node);
  }
  void OnSkipped(const PodRef& pod, std::string_view message) override {
    Note("skipped", pod, message);
  }

  std::vector<std::string> calls;

 private:
  void Note(const std::string& what, const PodRef& pod, std::string_view text) {
    calls.push_back(what + " " + pod->Key() + " " + std::string(text));
  }
};

class DecisionLogTest : public ::testing::Test {
 protected:
  // Makes one decision of each kind.
  static void Decide(DecisionSink& sink, const PodRef& pod) {
    sink.OnAssumed(pod, "n1");
    sink.OnBound(pod, "n1");
    sink.OnFailed(pod, "",
                  {.code = BERTH_UNSCHEDULABLE,
                   .message = "0/1 nodes are available",
                   .rejection = {.plugins = {1}},
                   .nominated_node = "n2"});
    sink.OnFailed(pod, "n1", {.code = BERTH_ERROR, .message = "conflict"});
    sink.OnFailed(pod, "n1",
                  {.code = BERTH_UNSCHEDULABLE,
                   .message = "rejected in PreBind",
                   .overrides_nomination = false,
                   .nominated_node = "n2"});
    sink.OnFailed(pod, "n1",
                  {.code = BERTH_UNSCHEDULABLE,
                   .message = "bound by another client",
                   .nominated_node = "n2",
                   .is_final = true});
    sink.OnSkipped(pod, "it is being deleted");
  }

  // The pod fails for this reason and is parked.
  void Fail(DecisionSink& sink, const PodRef& pod, const std::string& message) {
    sink.OnFailed(pod, "",
                  {.code = BERTH_UNSCHEDULABLE, .message = message, .rejection = {.plugins = {1}}});
  }

  TestClock clock_;
  TestObjects objects_;
  PodRef pod_ = objects_.Pod({.name = "p"});
  CalledSink sink_;
};

TEST_F(DecisionLogTest, WritesARecordForEachDecision) {
  TestLog log(BERTH_LOG_TRACE, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  Decide(decisions, pod_);
  EXPECT_THAT(
      log.lines(),
      ElementsAre(
          "1 scheduling: Assumed pod=default/p node=n1",
          "2 scheduling: Bound pod=default/p node=n1 profile=default-scheduler",
          "2 scheduling: Unable to schedule pod; no fit; waiting: 0/1 nodes are available "
          "pod=default/p nominatedNode=n2",
          "4 scheduling: Error scheduling pod; retrying: conflict pod=default/p node=n1",
          "4 scheduling: Error scheduling pod; retrying: rejected in PreBind "
          "pod=default/p node=n1",
          "2 scheduling: Pod was deleted or bound meanwhile; not retrying: bound by another "
          "client pod=default/p node=n1",
          "2 scheduling: Skip schedule deleting pod: it is being deleted pod=default/p"));
}

// A group may have members that wait for a plugin and others that were rejected.
TEST_F(DecisionLogTest, WritesARecordForAnAwaitingPod) {
  TestLog log(BERTH_LOG_TRACE, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  DecisionSink& sink = decisions;
  const std::string why = "pod is waiting for the plugin A";
  sink.OnFailed(pod_, "", {.code = BERTH_PENDING, .message = why, .rejection = {.awaited = {1}}});
  sink.OnFailed(pod_, "",
                {.code = BERTH_UNSCHEDULABLE,
                 .message = "no room",
                 .rejection = {.plugins = {2}, .awaited = {1}}});
  EXPECT_THAT(
      log.lines(),
      ElementsAre("2 scheduling: Pod waits for a plugin: " + why + " pod=default/p",
                  "2 scheduling: Unable to schedule pod; no fit; waiting: no room pod=default/p"));
}

// Something delays the end of the deletion, such as a finalizer: the queue still has the pod.
TEST_F(DecisionLogTest, FailureOfATerminatingPodIsNoError) {
  TestLog log(BERTH_LOG_TRACE, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  DecisionSink& sink = decisions;
  const PodRef pod =
      objects_.Pod({.name = "p", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"});
  sink.OnFailed(pod, "n1", {.code = BERTH_UNSCHEDULABLE, .message = "removed"});
  sink.OnFailed(pod, "",
                {.code = BERTH_UNSCHEDULABLE,
                 .message = "0/1 nodes are available",
                 .rejection = {.plugins = {1}}});
  sink.OnFailed(pod, "n1", {.message = "not found", .is_final = true});
  EXPECT_THAT(
      log.lines(),
      ElementsAre("2 scheduling: Pod is being deleted; not retrying: removed pod=default/p node=n1",
                  "2 scheduling: Unable to schedule pod; no fit; waiting: 0/1 nodes are available "
                  "pod=default/p",
                  "2 scheduling: Pod was deleted or bound meanwhile; not retrying: not found "
                  "pod=default/p node=n1"));
}

TEST_F(DecisionLogTest, PassesEachDecisionOnWhateverTheLevelIs) {
  TestLog log(BERTH_LOG_OFF);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  Decide(decisions, pod_);
  EXPECT_THAT(log.lines(), IsEmpty());
  EXPECT_THAT(sink_.calls,
              ElementsAre("assumed default/p n1", "bound default/p n1",
                          "failed 0/1 nodes are available default/p ",
                          "failed conflict default/p n1", "failed rejected in PreBind default/p n1",
                          "failed bound by another client default/p n1",
                          "skipped default/p it is being deleted"));
}

TEST_F(DecisionLogTest, UnchangedReasonIsWrittenOnceInFiveMinutes) {
  TestLog log(BERTH_LOG_INFO);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  const std::string start = "scheduling: Unable to schedule pod; no fit; waiting: ";
  Fail(decisions, pod_, "0/5 nodes are available: 5 Insufficient cpu");
  clock_.Advance(DecisionLog::kRepeatNs - 1);
  Fail(decisions, pod_, "0/5 nodes are available: 5 Insufficient cpu");
  Fail(decisions, pod_, "0/12 nodes are available: 12 Insufficient cpu");
  EXPECT_THAT(log.lines(),
              ElementsAre(start + "0/5 nodes are available: 5 Insufficient cpu pod=default/p"));
  EXPECT_EQ(sink_.calls.size(), 3u) << "every failure is passed on";
  clock_.Advance(1);
  Fail(decisions, pod_, "0/6 nodes are available: 6 Insufficient cpu");
  Fail(decisions, pod_, "0/6 nodes are available: 6 Insufficient cpu");
  EXPECT_THAT(log.lines(),
              ElementsAre(start + "0/5 nodes are available: 5 Insufficient cpu pod=default/p",
                          start + "0/6 nodes are available: 6 Insufficient cpu pod=default/p "
                                  "repeats=2"));
}

// Messages list reasons by their text, which begins with a number of nodes.
TEST_F(DecisionLogTest, OrderOfReasonsDoesNotMatter) {
  TestLog log(BERTH_LOG_INFO);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  Fail(decisions, pod_, "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were tainted");
  Fail(decisions, pod_, "0/9 nodes are available: 1 node(s) were tainted, 8 Insufficient cpu");
  EXPECT_EQ(log.lines().size(), 1u);
  Fail(decisions, pod_, "0/9 nodes are available: 9 Insufficient cpu");
  EXPECT_EQ(log.lines().size(), 2u);
}

// A failure that no level showed does not hold the next one back.
TEST_F(DecisionLogTest, FailureThatWasNotWrittenIsNoRepeat) {
  TestLog log(BERTH_LOG_TRACE);
  LogFilter filter(log, BERTH_LOG_ERROR);
  DecisionLog decisions(Log(filter, kSchedulingLogger), clock_, sink_);
  Fail(decisions, pod_, "no");
  EXPECT_THAT(log.lines(), IsEmpty());
  filter.SetLevel(BERTH_LOG_INFO);
  Fail(decisions, pod_, "no");
  EXPECT_EQ(log.lines().size(), 1u);
}

TEST_F(DecisionLogTest, BoundPodIsForgotten) {
  TestLog log(BERTH_LOG_INFO);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  Fail(decisions, pod_, "no");
  decisions.OnBound(pod_, "n1");
  Fail(decisions, pod_, "no");
  EXPECT_EQ(log.lines().size(), 3u);
}

TEST_F(DecisionLogTest, AnotherReasonIsWrittenAtOnce) {
  TestLog log(BERTH_LOG_INFO, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  const PodRef other = objects_.Pod({.name = "q"});
  Fail(decisions, pod_, "Insufficient cpu");
  Fail(decisions, other, "Insufficient cpu");
  Fail(decisions, pod_, "Insufficient memory");
  decisions.OnFailed(pod_, "", {.code = BERTH_ERROR, .message = "Insufficient memory"});
  Fail(decisions, pod_, "Insufficient memory");
  const std::string parked = "2 scheduling: Unable to schedule pod; no fit; waiting: ";
  EXPECT_THAT(log.lines(),
              ElementsAre(parked + "Insufficient cpu pod=default/p",
                          parked + "Insufficient cpu pod=default/q",
                          parked + "Insufficient memory pod=default/p",
                          "4 scheduling: Error scheduling pod; retrying: Insufficient memory "
                          "pod=default/p",
                          parked + "Insufficient memory pod=default/p"));
}

TEST_F(DecisionLogTest, RepeatsAreCountedAndWrittenAsDebug) {
  TestLog log(BERTH_LOG_DEBUG, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  for (int i = 0; i < 3; ++i) Fail(decisions, pod_, "no");
  clock_.Advance(DecisionLog::kRepeatNs);
  Fail(decisions, pod_, "no");
  const std::string text = " scheduling: Unable to schedule pod; no fit; waiting: no pod=default/p";
  EXPECT_THAT(log.lines(),
              ElementsAre("2" + text, "1" + text, "1" + text, "2" + text + " repeats=2"));
}

// The records of thousands of pods that came and went are not kept.
TEST_F(DecisionLogTest, PodThatFailedLongAgoIsForgotten) {
  TestLog log(BERTH_LOG_INFO, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), clock_, sink_);
  for (int i = 0; i < 2; ++i) Fail(decisions, pod_, "no");
  clock_.Advance(DecisionLog::kRepeatNs);
  for (int i = 0; i < 1100; ++i)
    Fail(decisions, objects_.Pod({.name = "p" + std::to_string(i)}), "no");
  Fail(decisions, pod_, "no");
  EXPECT_THAT(log.lines().back(),
              "2 scheduling: Unable to schedule pod; no fit; waiting: no "
              "pod=default/p")
      << "without repeats, which were forgotten";
}

}  // namespace
}  // namespace berth::host
