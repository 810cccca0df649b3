// Class SchedulingCycle: the order of the stages, and where the failure of each stage goes. For the
// answers and texts of PreFilter and Filter see schedule_one_filter_test.cc, for those of PreScore
// and Score see schedule_one_score_test.cc. For what is undone after Reserve and Permit see
// reservation_test.cc.
#include "host/cycle/schedule_one.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One attempt to schedule pod "p". puppet.A runs at every point of the scheduling cycle, records
// its calls, and gives the answers that the test sets; the default is Success.
class OneAttempt {
 public:
  OneAttempt()
      : a_(stage_.Add("puppet.A",
                      {Point::kPreFilter, Point::kFilter, Point::kPostFilter, Point::kPreScore,
                       Point::kScore, Point::kReserve, Point::kPermit})) {
    a_.reasons = {AsStr("no room")};
    a_.pre_filter = [this](const berth_cycle&, const berth_nodes&, berth_pre_filter_out&,
                           berth_status* status) { return Answer(Point::kPreFilter, status); };
    a_.filter = [this](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                       berth_status* status) { return Filter(block, out, status); };
    a_.post_filter = [this](const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                            berth_post_filter_out&,
                            berth_status* status) { return Answer(Point::kPostFilter, status); };
    a_.pre_score = [this](const berth_cycle&, const berth_nodes&, const berth_nodes&,
                          berth_status* status) { return Answer(Point::kPreScore, status); };
    a_.score = [this](const berth_cycle&, const berth_block& block, int64_t* out,
                      berth_status* status) {
      std::fill_n(out, block.count, 50);
      return Answer(Point::kScore, status);
    };
    a_.reserve = [this](const berth_cycle&, const berth_target&, berth_status* status) {
      return Answer(Point::kReserve, status);
    };
    a_.permit = [this](const berth_cycle&, const berth_target&, int64_t*, berth_status* status) {
      return Answer(Point::kPermit, status);
    };
  }

  void SetAnswer(Point point, const ScriptedAnswer& answer) { answers_[point] = answer; }
  TestPod& pod() { return pod_; }
  std::vector<const char*>& nodes() { return nodes_; }
  Harness& harness() { return harness_; }
  // The extension points that were called, in order.
  const std::vector<std::string>& calls() const { return calls_; }
  // "Unschedulable: message" for each patch of the condition PodScheduled.
  const std::vector<std::string>& conditions() const { return conditions_; }

  // Returns the outcome of the attempt.
  std::string Run() {
    for (const char* node : nodes_) harness_.AddNode({.name = node});
    stage_.CompleteProfile();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    if (!status.ok()) return status.ToString();
    harness_.client().on_patch = [this](const PodName&, const PodStatusPatch& patch) {
      if (patch.pod_scheduled.has_value()) {
        conditions_.push_back(std::string(patch.pod_scheduled->reason) + ": " +
                              std::string(patch.pod_scheduled->message));
      }
      return Status();
    };
    std::string& spec = pod_.spec;
    if (!spec.empty()) spec += ',';
    spec += "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
    return Harness::Outcome(harness_.Schedule(pod_));
  }

 private:
  berth_code Answer(Point point, berth_status* status) {
    calls_.emplace_back(NameOf(point));
    return Report(answers_[point], status);
  }
  // The answer Unschedulable rejects every node. Any other answer is that of the call.
  berth_code Filter(const berth_block& block, berth_filter_out& out, berth_status* status) {
    const bool rejects = answers_[Point::kFilter].code == BERTH_UNSCHEDULABLE;
    std::fill_n(out.codes, block.count,
                static_cast<uint8_t>(rejects ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS));
    std::fill_n(out.reasons, block.count, rejects ? 1U : 0U);
    const berth_code code = Answer(Point::kFilter, status);
    return rejects ? static_cast<berth_code>(BERTH_SUCCESS) : code;
  }

  Stage stage_;
  Puppet& a_;
  std::map<Point, ScriptedAnswer> answers_;
  std::vector<std::string> calls_;
  std::vector<std::string> conditions_;
  TestPod pod_{.name = "p"};
  std::vector<const char*> nodes_ = {"n1", "n2"};
  Harness harness_;  // Destroyed first, because it calls the plugins.
};

// One way in which the cycle ends early.
struct CycleFailure {
  const char* name;  // The name of the test.
  std::function<void(OneAttempt&)> arrange;
  std::vector<std::string> calls;   // The extension points that are called.
  std::string outcome;              // The code and the message of CycleResult::failure.
  std::optional<QueuePlace> place;  // Where the pod goes; none: it leaves the queue.
  const char* condition;            // The reason of the condition; empty: there is no condition.
};

void PrintTo(const CycleFailure& failure, std::ostream* out) { *out << failure.name; }

std::function<void(OneAttempt&)> AnswerAt(Point point, berth_code code, const char* reason) {
  return [=](OneAttempt& attempt) { attempt.SetAnswer(point, {code, {reason}}); };
}

// The checks of the host, and the stages that look for a node.
std::vector<CycleFailure> FailuresWithoutNode() {
  const auto parked = QueuePlace::kUnschedulable;
  const auto backs_off = QueuePlace::kErrorBackoff;
  const std::string fit = "Unschedulable: 0/2 nodes are available: ";
  return {
      {"PodIsBeingDeleted",
       [](OneAttempt& attempt) {
         attempt.pod().meta = R"("deletionTimestamp":"2026-01-01T00:00:00Z")";
       },
       {},
       "Skip: skip schedule deleting pod: default/p",
       std::nullopt,
       ""},
      {"FieldIsUnhandled",
       [](OneAttempt& attempt) { attempt.pod().spec = R"("resourceClaims":[{"name":"c"}])"; },
       {},
       "UnschedulableAndUnresolvable: pod uses spec.resourceClaims, which no installed plugin "
       "handles",
       parked,
       "Unschedulable"},
      {"ClusterHasNoNode",
       [](OneAttempt& attempt) { attempt.nodes().clear(); },
       {},
       "UnschedulableAndUnresolvable: no nodes available to schedule pods",
       parked,
       "Unschedulable"},
      {"PreFilterRejects",
       AnswerAt(Point::kPreFilter, BERTH_UNSCHEDULABLE, "not today"),
       {"PreFilter", "PostFilter"},
       fit + "not today.",
       parked,
       "Unschedulable"},
      {"PreFilterFails",
       AnswerAt(Point::kPreFilter, BERTH_ERROR, "boom"),
       {"PreFilter"},
       "Error: running PreFilter plugin \"puppet.A\": boom",
       backs_off,
       "SchedulerError"},
      {"FilterRejectsAllNodes",
       AnswerAt(Point::kFilter, BERTH_UNSCHEDULABLE, "unused"),
       {"PreFilter", "Filter", "PostFilter"},
       fit + "2 no room.",
       parked,
       "Unschedulable"},
      {"FilterFails",
       AnswerAt(Point::kFilter, BERTH_ERROR, "boom"),
       {"PreFilter", "Filter"},
       "Error: running \"puppet.A\" filter plugin: boom",
       backs_off,
       "SchedulerError"},
      {"PreScoreFails",
       AnswerAt(Point::kPreScore, BERTH_ERROR, "boom"),
       {"PreFilter", "Filter", "PreScore"},
       "Error: running PreScore plugin \"puppet.A\": boom",
       backs_off,
       "SchedulerError"},
      {"ScoreFails",
       AnswerAt(Point::kScore, BERTH_ERROR, "boom"),
       {"PreFilter", "Filter", "PreScore", "Score"},
       "Error: running Score plugins: plugin \"puppet.A\" failed with: boom",
       backs_off,
       "SchedulerError"},
  };
}

// A plugin waits for an answer.
std::vector<CycleFailure> WaitsForAPlugin() {
  const auto parked = QueuePlace::kUnschedulable;
  return {
      {"PreFilterAwaitsAnAnswer",
       AnswerAt(Point::kPreFilter, BERTH_PENDING, "asked the rater"),
       {"PreFilter"},
       "Pending: pod is waiting for the plugin puppet.A: asked the rater",
       parked,
       "Unschedulable"},
      {"PreFilterGivesNoReasonToWait",
       AnswerAt(Point::kPreFilter, BERTH_PENDING, ""),
       {"PreFilter"},
       "Pending: pod is waiting for the plugin puppet.A",
       parked,
       "Unschedulable"},
      {"PreScoreAwaitsAnAnswer",
       AnswerAt(Point::kPreScore, BERTH_PENDING, "asked the rater"),
       {"PreFilter", "Filter", "PreScore"},
       "Pending: pod is waiting for the plugin puppet.A: asked the rater",
       parked,
       "Unschedulable"},
  };
}

// The stages after "assume". The answers are about the selected node alone.
std::vector<CycleFailure> FailuresOnANode() {
  const auto parked = QueuePlace::kUnschedulable;
  const auto backs_off = QueuePlace::kErrorBackoff;
  const std::string fit = "Unschedulable: 0/1 nodes are available: ";
  const std::vector<std::string> reserve = {"PreFilter", "Filter", "PreScore", "Score", "Reserve"};
  std::vector<std::string> permit = reserve;
  permit.emplace_back("Permit");
  return {
      {"ReserveRejects", AnswerAt(Point::kReserve, BERTH_UNSCHEDULABLE, "no claim"), reserve,
       fit + "1 no claim.", parked, "Unschedulable"},
      {"ReserveFails", AnswerAt(Point::kReserve, BERTH_ERROR, "boom"), reserve,
       "Error: running Reserve plugin \"puppet.A\": boom", backs_off, "SchedulerError"},
      {"PermitRejects", AnswerAt(Point::kPermit, BERTH_UNSCHEDULABLE, "not yet"), permit,
       fit + "1 not yet.", parked, "Unschedulable"},
      {"PermitFails", AnswerAt(Point::kPermit, BERTH_ERROR, "boom"), permit,
       "Error: running Permit plugin \"puppet.A\": boom", backs_off, "SchedulerError"},
  };
}

class SchedulingCycleFailureTest : public ::testing::TestWithParam<CycleFailure> {};

TEST_P(SchedulingCycleFailureTest, EndsTheCycleAndIsReported) {
  const CycleFailure& failure = GetParam();
  OneAttempt attempt;
  failure.arrange(attempt);
  EXPECT_EQ(attempt.Run(), failure.outcome);
  EXPECT_EQ(attempt.calls(), failure.calls);
  EXPECT_EQ(attempt.harness().PlaceOf("p"), failure.place);
  EXPECT_EQ(attempt.harness().loop().cache().pod_count(), 0U);
  const std::string message = failure.outcome.substr(failure.outcome.find(": ") + 2);
  const auto& events = attempt.harness().cluster().events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].type + " " + events[0].reason + " " + events[0].note,
            "Warning FailedScheduling " + message);
  if (*failure.condition == '\0') {
    EXPECT_THAT(attempt.conditions(), IsEmpty());
  } else {
    EXPECT_THAT(attempt.conditions(), ElementsAre(std::string(failure.condition) + ": " + message));
  }
}

std::string NameOfFailure(const ::testing::TestParamInfo<CycleFailure>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(WithoutNode, SchedulingCycleFailureTest,
                         ::testing::ValuesIn(FailuresWithoutNode()), NameOfFailure);
INSTANTIATE_TEST_SUITE_P(ForAPlugin, SchedulingCycleFailureTest,
                         ::testing::ValuesIn(WaitsForAPlugin()), NameOfFailure);
INSTANTIATE_TEST_SUITE_P(OnANode, SchedulingCycleFailureTest,
                         ::testing::ValuesIn(FailuresOnANode()), NameOfFailure);

TEST(SchedulingCycleTest, RunsTheStagesInOrder) {
  OneAttempt attempt;
  EXPECT_EQ(attempt.Run(), "Success");
  EXPECT_THAT(attempt.calls(),
              ElementsAre("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit"));
  EXPECT_EQ(attempt.harness().PlaceOf("p"), std::nullopt);
  EXPECT_THAT(attempt.conditions(), IsEmpty());
}

// Decide() is for commands that explain a decision.
// The Filters run twice in such an attempt.
TEST(SchedulingCycleTest, AFaultForANominatedPodCountsOnce) {
  OneAttempt attempt;
  attempt.SetAnswer(Point::kFilter, {BERTH_BUG, {"std::bad_alloc"}});
  attempt.pod().status = "\"nominatedNodeName\":\"n2\"";
  attempt.Run();
  EXPECT_EQ(std::ranges::count(attempt.calls(), "Filter"), 2);
  EXPECT_EQ(std::ranges::count_if(attempt.harness().lines(),
                                  [](const std::string& line) {
                                    return line.find("exception: std::bad_alloc") !=
                                           std::string::npos;
                                  }),
            1);
  const auto counts = attempt.harness().loop().faults().Counts();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].count, 1U);
}

TEST(SchedulingCycleTest, DecideRollsBackWhatItReserved) {
  OneAttempt attempt;
  ASSERT_EQ(attempt.Run(), "Success");
  SchedulingCycle& cycle = attempt.harness().loop().cycle();
  const size_t calls = attempt.calls().size();
  const CycleResult result = cycle.Decide(attempt.harness().objects().Pod({.name = "q"}));
  EXPECT_EQ(result.code(), BERTH_SUCCESS);
  EXPECT_NE(result.row, kNoRow);
  EXPECT_EQ(result.reservation, nullptr);
  const std::vector<std::string> made(attempt.calls().begin() + static_cast<ptrdiff_t>(calls),
                                      attempt.calls().end());
  EXPECT_THAT(made, ElementsAre("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit"));
  EXPECT_EQ(attempt.harness().loop().cache().pod_count(), 1U);
}

TEST(SchedulingCycleTest, DecideTellsWhereANodeWasRejected) {
  for (const Point point : {Point::kReserve, Point::kPermit}) {
    SCOPED_TRACE(NameOf(point));
    OneAttempt attempt;
    ASSERT_EQ(attempt.Run(), "Success");
    attempt.SetAnswer(point, {.code = BERTH_UNSCHEDULABLE, .reasons = {"not here"}});
    SchedulingCycle& cycle = attempt.harness().loop().cycle();
    const CycleResult result = cycle.Decide(attempt.harness().objects().Pod({.name = "q"}));
    EXPECT_EQ(result.code(), BERTH_UNSCHEDULABLE);
    EXPECT_EQ(result.ended_at, point);
    EXPECT_NE(result.row, kNoRow);
    EXPECT_EQ(result.reservation, nullptr);
    EXPECT_EQ(attempt.harness().loop().cache().pod_count(), 1U);
  }
}

}  // namespace
}  // namespace berth::host
