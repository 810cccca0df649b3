// Class SchedulingLoop: its memory while pods come and go, pods that wait for a plugin, and the
// conditions that it writes.
#include "host/cycle/scheduling_loop.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class SchedulingLoopTest : public ::testing::Test {
 protected:
  void Start(const TestProfile& profile = TestProfile()) {
    const Status status = harness_.Start(profile);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  Harness harness_;
};

// No pod is scheduled: the strings of pods on nodes are freed too.
TEST_F(SchedulingLoopTest, FreesTheStringsOfFormerPods) {
  constexpr int kPods = 30'000;
  harness_.AddNode({.name = "n1"});
  Start();
  size_t most = 0;
  for (int i = 0; i < kPods; ++i) {
    harness_.AddPod(
        {.name = "p", .node = "n1", .meta = R"("labels":{"number":")" + std::to_string(i) + "\"}"});
    ASSERT_TRUE(harness_.cluster().Remove(kPodKind, "default", "p").ok());
    harness_.Settle();
    most = std::max(most, harness_.objects().interner().size());
  }
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
  EXPECT_LT(most, 20'000U);
}

// The first pod that uses a host port adds a column for it.
TEST_F(SchedulingLoopTest, DropsTheColumnsOfFormerPods) {
  constexpr int kPorts = 1000;
  for (int i = 0; i < 10; ++i) harness_.AddNode({.name = "n" + std::to_string(i)});
  harness_.options().memory.idle_columns = 100;
  Start(TestProfile().Use("NodePorts",
                          {Point::kPreFilter, Point::kFilter, Point::kEnqueueExtensions}));
  const size_t before = harness_.loop().cache().table().column_count();
  size_t most = 0;
  for (int i = 0; i < kPorts; ++i) {
    const std::string number = std::to_string(i + 1);
    harness_.AddObject(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p)" + number +
                       R"(","namespace":"default"},"spec":{"containers":[{"name":"c","ports":[)"
                       R"({"containerPort":80,"hostPort":)" +
                       number + "}]}]}}");
    harness_.Run();
    most = std::max(most, harness_.loop().cache().table().column_count());
  }
  EXPECT_EQ(harness_.loop().cache().pod_count(), size_t{kPorts});
  EXPECT_GT(most, before + 90);
  EXPECT_LE(most, before + 100);
}

// --- pods that wait for a plugin ----------------------------------------------------------------

// puppet.A returns Pending for pod "p" until it has an answer.
class AwaitingPodTest : public ::testing::TestWithParam<Point> {
 protected:
  AwaitingPodTest()
      : a_(stage_.Add("puppet.A", {GetParam(), Point::kScore, Point::kAttemptFailed})) {
    a_.attempt_failed = [this](const berth_failed_attempt&) { ++failures_; };
    a_.pre_filter = [this](const berth_cycle&, const berth_nodes&, berth_pre_filter_out&,
                           berth_status* status) { return Answer(status); };
    a_.pre_score = [this](const berth_cycle&, const berth_nodes&, const berth_nodes&,
                          berth_status* status) { return Answer(status); };
    harness_.AddNodes({"n1", "n2"});
    stage_.CompleteProfile();
    spec_ = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
    EXPECT_TRUE(harness_.Start(stage_.spec(), Stage::catalog()).ok());
  }
  void Activate() {
    const std::string_view uid = "uid-p";
    const berth_str text{uid.data(), uid.size()};
    EXPECT_EQ(a_.activate->activate(a_.host, &text, 1), BERTH_SUCCESS);
  }

  Stage stage_;
  Puppet& a_;
  std::string spec_;
  bool has_answer_ = false;
  bool activates_itself_ = false;
  int asked_ = 0;
  int failures_ = 0;
  Harness harness_;  // Destroyed first, because it calls the plugins.

 private:
  berth_code Answer(berth_status* status) {
    ++asked_;
    if (has_answer_) return BERTH_SUCCESS;
    if (activates_itself_) {  // Like an answer that a thread has just brought.
      has_answer_ = true;
      Activate();
    }
    return Report({BERTH_PENDING, {"asked the rater"}}, status);
  }
};

TEST_P(AwaitingPodTest, WaitsUntilThePluginActivatesIt) {
  harness_.AddPod({.name = "p", .spec = spec_});
  harness_.Run();
  EXPECT_EQ(harness_.cluster().PodScheduledMessage("default", "p"),
            "pod is waiting for the plugin puppet.A: asked the rater");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
  // puppet.A has no EventsToRegister, so that every event would requeue a pod that it rejects.
  harness_.AddNode({.name = "n3"});
  harness_.AddPod({.name = "on-node", .node = "n1"});
  harness_.Run();
  ASSERT_TRUE(harness_.cluster().Remove(kPodKind, "default", "on-node").ok());
  harness_.Run();
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(failures_, 0) << "to wait is no failure";
  has_answer_ = true;
  harness_.AddPod({.name = "q", .spec = spec_});
  harness_.Run();
  EXPECT_EQ(asked_, 2) << "q";
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
}

TEST_P(AwaitingPodTest, AnActivationWithinTheAttemptCounts) {
  activates_itself_ = true;
  harness_.AddPod({.name = "p", .spec = spec_});
  harness_.Run();
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(harness_.PlaceOf("p"), std::nullopt);
  EXPECT_EQ(harness_.results().back().failure.code, BERTH_SUCCESS);
}

TEST_P(AwaitingPodTest, AChangeOfThePodEndsTheWait) {
  harness_.AddPod({.name = "p", .spec = spec_});
  harness_.Run();
  ASSERT_TRUE(harness_.cluster()
                  .Update(harness_.objects().Pod(
                      {.name = "p", .spec = spec_, .meta = R"("labels":{"a":"b"})"}))
                  .ok());
  harness_.Run();
  EXPECT_EQ(asked_, 2);
}

TEST_P(AwaitingPodTest, TheFlushEndsTheWait) {
  harness_.AddPod({.name = "p", .spec = spec_});
  harness_.Run();
  harness_.Advance(299 * kSecond);
  EXPECT_EQ(asked_, 1);
  harness_.Advance(61 * kSecond);
  EXPECT_EQ(asked_, 2);
}

// The room that was made for the pod stays its own.
TEST_P(AwaitingPodTest, ThePodKeepsItsNomination) {
  harness_.AddPod({.name = "p", .spec = spec_, .status = "\"nominatedNodeName\":\"gone\""});
  harness_.Run();
  EXPECT_EQ(harness_.loop().queue().nominator().NodeOf("uid-p"), "gone");
  EXPECT_EQ(harness_.cluster().FindPod("default", "p")->nominated_node(), "gone");
}

INSTANTIATE_TEST_SUITE_P(Points, AwaitingPodTest,
                         ::testing::Values(Point::kPreFilter, Point::kPreScore),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

// --- conditions ---------------------------------------------------------------------------------

// An equal condition is sent again for a new generation of the pod.
TEST_F(SchedulingLoopTest, ConditionsHaveTheGenerationOfThePod) {
  std::vector<std::string> conditions;
  harness_.client().on_patch = [&](const PodName&, const PodStatusPatch& patch) {
    const PodStatusPatch::Condition& condition = *patch.pod_scheduled;
    EXPECT_EQ(condition.status, BERTH_CONDITION_FALSE);
    conditions.push_back(std::string(condition.reason) + " " +
                         std::to_string(condition.observed_generation) + ": " +
                         std::string(condition.message));
    return Status();
  };
  Start();
  harness_.AddPod({.name = "p", .meta = R"("generation":3)"});
  harness_.Run();
  EXPECT_THAT(conditions, ElementsAre("Unschedulable 3: no nodes available to schedule pods"));
  harness_.Advance(400 * kSecond);  // The periodic flush retries it.
  EXPECT_EQ(conditions.size(), 1U);
  conditions.clear();
  ASSERT_TRUE(harness_.cluster()
                  .Update(harness_.objects().Pod({.name = "p", .meta = R"("generation":4)"}))
                  .ok());
  harness_.Advance(400 * kSecond);
  EXPECT_THAT(conditions, ElementsAre("Unschedulable 4: no nodes available to schedule pods"));
}

// The API server must keep the time of the last transition of a condition whose status stays.
TEST_F(SchedulingLoopTest, ConditionsStateWhetherTheirStatusStays) {
  struct Case {
    const char* name;
    const char* status;  // The fields of the status of the pod.
    bool keeps_status;
  };
  const Case cases[] = {
      {"no-condition", "", false},
      {"another-condition", R"("conditions":[{"type":"Ready","status":"False"}])", false},
      {"false", R"("conditions":[{"type":"PodScheduled","status":"False"}])", true},
      {"true", R"("conditions":[{"type":"PodScheduled","status":"True"}])", false},
  };
  std::map<std::string, bool> sent;
  harness_.client().on_patch = [&](const PodName& pod, const PodStatusPatch& patch) {
    sent[std::string(pod.name)] = patch.pod_scheduled->keeps_status;
    return Status();
  };
  Start();
  for (const Case& c : cases) harness_.AddPod({.name = c.name, .status = c.status});
  harness_.Run();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(sent.contains(c.name));
    EXPECT_EQ(sent[c.name], c.keeps_status);
  }
}

}  // namespace
}  // namespace berth::host
