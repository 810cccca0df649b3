#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
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

  TestObjects objects_;
  PodRef pod_ = objects_.Pod({.name = "p"});
  CalledSink sink_;
};

TEST_F(DecisionLogTest, WritesARecordForEachDecision) {
  TestLog log(BERTH_LOG_TRACE, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), sink_);
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

// Something delays the end of the deletion, such as a finalizer: the queue still has the pod.
TEST_F(DecisionLogTest, FailureOfATerminatingPodIsNoError) {
  TestLog log(BERTH_LOG_TRACE, true);
  DecisionLog decisions(Log(log, kSchedulingLogger), sink_);
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
  DecisionLog decisions(Log(log, kSchedulingLogger), sink_);
  Decide(decisions, pod_);
  EXPECT_THAT(log.lines(), IsEmpty());
  EXPECT_THAT(sink_.calls,
              ElementsAre("assumed default/p n1", "bound default/p n1",
                          "failed 0/1 nodes are available default/p ",
                          "failed conflict default/p n1", "failed rejected in PreBind default/p n1",
                          "failed bound by another client default/p n1",
                          "skipped default/p it is being deleted"));
}

}  // namespace
}  // namespace berth::host
