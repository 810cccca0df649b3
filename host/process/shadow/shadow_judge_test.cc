#include "host/process/shadow/shadow_judge.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

class ShadowJudgeTest : public ::testing::Test {
 protected:
  // Adds a node for which test.A answers this raw score.
  void AddNode(const std::string& name, int64_t score) {
    harness_.AddNode({.name = name,
                      .allocatable = R"("cpu":"4","pods":"10","example.com/score":")" +
                                     std::to_string(score) + '"'});
  }
  ShadowDecision Judge(const TestProfile& profile, const TestPod& pod, std::string_view node,
                       uint32_t percentage = 0) {
    const Status status = harness_.Start(profile);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return JudgePlacement(harness_.loop().cycle(), harness_.objects().Pod(pod), node, percentage);
  }
  // "rejected n2: NodeResourcesFit: Insufficient cpu", with our node after the verdict.
  static std::string Text(const ShadowDecision& decision) {
    return std::string(ShadowVerdictName(decision.verdict)) + " " + decision.ours + ": " +
           decision.why;
  }
  static TestProfile Scores(int64_t weight = 1) {
    return TestProfile().Use("test.A", {Point::kScore}, R"({"score":{}})", weight);
  }

  Harness harness_;
};

TEST_F(ShadowJudgeTest, ScoresDecide) {
  AddNode("n1", 40);
  AddNode("n2", 60);
  AddNode("n3", 10);
  struct Case {
    const char* name;
    const char* theirs;
    int64_t weight;
    std::string expected;
  };
  const std::vector<Case> table = {
      {"best node", "n2", 1, "same n2: "},
      {"second best node", "n1", 1, "score n2: n2 has 60 and n1 40: test.A 60 and 40"},
      {"worst node", "n3", 1, "score n2: n2 has 60 and n3 10: test.A 60 and 10"},
      {"weighted", "n1", 3, "score n2: n2 has 180 and n1 120: test.A 180 and 120"},
      {"unknown node", "n9", 1, "rejected n2: the cluster has no node n9"},
  };
  for (const Case& each : table) {
    const ShadowDecision decision = Judge(Scores(each.weight), {.name = "p"}, each.theirs);
    EXPECT_EQ(Text(decision), each.expected) << each.name;
    EXPECT_EQ(decision.pod, "default/p");
    EXPECT_EQ(decision.theirs, each.theirs);
  }
}

TEST_F(ShadowJudgeTest, TotalsAreThoseOfBothNodes) {
  AddNode("n1", 40);
  AddNode("n2", 60);
  const ShadowDecision scored = Judge(Scores(2), {.name = "p"}, "n1");
  EXPECT_EQ(scored.our_total, 120);
  EXPECT_EQ(scored.their_total, 80);
  const ShadowDecision unscored = Judge(TestProfile(), {.name = "p"}, "n1");
  EXPECT_EQ(unscored.our_total, std::nullopt);
  EXPECT_EQ(unscored.their_total, std::nullopt);
}

TEST_F(ShadowJudgeTest, LargestDifferenceComesFirstWithoutEqualScores) {
  AddNode("n1", 50);
  AddNode("n2", 70);
  const TestProfile profile =
      TestProfile()
          .Use("test.A", {Point::kScore}, R"({"score":{}})")
          .Use("test.B", {Point::kScore}, R"({"score":{}})", 5)
          .Use("test.C", {Point::kScore}, R"({"score":{},"normalize":{"mode":4,"to":9}})");
  EXPECT_EQ(Text(Judge(profile, {.name = "p"}, "n1")),
            "score n2: n2 has 429 and n1 309: test.B 350 and 250, test.A 70 and 50");
}

TEST_F(ShadowJudgeTest, NodesWithTheSameTotalTie) {
  AddNode("n1", 50);
  AddNode("n2", 50);
  AddNode("n3", 49);
  ASSERT_TRUE(harness_.Start(Scores()).ok());
  const PodRef pod = harness_.objects().Pod({.name = "p"});
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    seen.insert(Text(JudgePlacement(harness_.loop().cycle(), pod, "n1", 0)));
  }
  EXPECT_THAT(seen, ElementsAre("same n1: ", "tie n2: both 50"));
}

TEST_F(ShadowJudgeTest, AllNodesTieWithoutScores) {
  AddNode("n1", 1);
  AddNode("n2", 2);
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  const PodRef pod = harness_.objects().Pod({.name = "p"});
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    seen.insert(Text(JudgePlacement(harness_.loop().cycle(), pod, "n1", 0)));
  }
  EXPECT_THAT(seen, ElementsAre("same n1: ", "tie n2: both fit, and no plugin scores nodes"));
}

TEST_F(ShadowJudgeTest, RejectionsNameThePluginAndTheReason) {
  AddNode("n1", 1);
  AddNode("n2", 2);
  harness_.AddPod({.name = "full", .node = "n2", .requests = R"("cpu":"4")"});
  const TestProfile fit =
      TestProfile().Use("NodeResourcesFit", {Point::kPreFilter, Point::kFilter});
  const TestProfile affinity =
      TestProfile().Use("NodeAffinity", {Point::kPreFilter, Point::kFilter});
  const auto named = [](const char* first, const char* second) {
    const auto field = [](const std::string& name) {
      return R"({"key":"metadata.name","operator":"In","values":[")" + name + "\"]}";
    };
    return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"({"nodeSelectorTerms":[{"matchFields":[)" +
           field(first) + "," + field(second) + "]}]}}}";
  };
  struct Case {
    const char* name;
    TestProfile profile;
    TestPod pod;
    std::string expected;
  };
  const std::vector<Case> table = {
      {"Filter",
       fit,
       {.name = "p", .requests = R"("cpu":"1")"},
       "rejected n1: NodeResourcesFit: Insufficient cpu"},
      {"all nodes",
       fit,
       {.name = "p", .requests = R"("cpu":"5")"},
       "rejected : NodeResourcesFit: Insufficient cpu"},
      {"several reasons",
       fit,
       {.name = "p", .requests = R"("cpu":"1","example.com/x":"1")"},
       "rejected : NodeResourcesFit: Insufficient cpu, Insufficient example.com/x"},
      {"other nodes of PreFilter",
       affinity,
       {.name = "p", .spec = named("n1", "n1")},
       "rejected n1: NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity]"},
      {"PreFilter",
       affinity,
       {.name = "p", .spec = named("n1", "n2")},
       "rejected : NodeAffinity: pod affinity terms conflict"},
      {"nomination",
       TestProfile(),
       {.name = "p", .status = R"("nominatedNodeName":"n1")"},
       "score n1: the pod is nominated to n1, where it fits"},
      {"deletion",
       TestProfile(),
       {.name = "p", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"},
       "error : skip schedule deleting pod: default/p"},
      {"plugin that fails",
       TestProfile().Use("test.A", {Point::kPreScore, Point::kScore},
                         R"({"preScore":{"code":1,"reasons":["boom"]}})"),
       {.name = "p"},
       R"(error : running PreScore plugin "test.A": boom)"},
  };
  for (const Case& each : table) {
    EXPECT_EQ(Text(Judge(each.profile, each.pod, "n2")), each.expected) << each.name;
  }
}

TEST_F(ShadowJudgeTest, AClusterWithoutNodesRejects) {
  EXPECT_EQ(Text(Judge(TestProfile(), {.name = "p"}, "n1")),
            "rejected : no nodes available to schedule pods");
}

TEST_F(ShadowJudgeTest, ResultAfterAnErrorIsANewOne) {
  AddNode("n1", 1);
  ASSERT_TRUE(harness_.Start(Scores()).ok());
  SchedulingCycle& cycle = harness_.loop().cycle();
  EXPECT_EQ(Text(JudgePlacement(cycle, harness_.objects().Pod({.name = "p"}), "n1", 0)),
            "same n1: ");
  const PodRef deleted = harness_.objects().Pod(
      {.name = "q", .meta = R"("deletionTimestamp":"2026-01-10T08:00:00Z")"});
  EXPECT_EQ(JudgePlacement(cycle, deleted, "n1", 0).verdict, ShadowVerdict::kError);
}

TEST_F(ShadowJudgeTest, AJudgementChangesNothing) {
  AddNode("n1", 1);
  AddNode("n2", 2);
  harness_.AddPod({.name = "p"});
  ASSERT_TRUE(harness_.Start(Scores()).ok());
  harness_.Settle();
  const PodRef pod = harness_.cluster().FindPod("default", "p");
  EXPECT_EQ(Text(JudgePlacement(harness_.loop().cycle(), pod, "n2", 0)), "same n2: ");
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kActive);
  EXPECT_EQ(harness_.loop().binding_count(), 0U);
}

TEST_F(ShadowJudgeTest, PartOfTheNodesExplainsALowerTotal) {
  for (int i = 0; i < 250; ++i) AddNode("n" + std::to_string(i), i == 7 ? 60 : 40);
  struct Case {
    const char* name;
    uint32_t percentage;
    const char* verdict;
    const char* end;
  };
  const std::vector<Case> table = {
      {"default", 0, "sampled", "; kube-scheduler scores only 120 of the 250 nodes that fit"},
      {"99 per cent", 99, "sampled", "; kube-scheduler scores only 247 of the 250 nodes that fit"},
      {"all nodes", 100, "score", "test.A 60 and 40"},
  };
  for (const Case& each : table) {
    const std::string text = Text(Judge(Scores(), {.name = "p"}, "n8", each.percentage));
    EXPECT_THAT(text, StartsWith(each.verdict)) << each.name;
    EXPECT_THAT(text, EndsWith(each.end)) << each.name;
  }
}

TEST_F(ShadowJudgeTest, AllNodesAreScoredIfFewFit) {
  for (int i = 0; i < 250; ++i) AddNode("n" + std::to_string(i), i == 0 ? 60 : 40);
  for (int i = 0; i < 131; ++i) {
    const std::string number = std::to_string(i + 100);
    harness_.AddPod({.name = "p" + number, .node = "n" + number, .requests = R"("cpu":"4")"});
  }
  const TestProfile profile = TestProfile()
                                  .Use("NodeResourcesFit", {Point::kPreFilter, Point::kFilter})
                                  .Use("test.A", {Point::kScore}, R"({"score":{}})");
  const TestPod pod{.name = "p", .requests = R"("cpu":"1")"};
  EXPECT_EQ(Judge(profile, pod, "n1").verdict, ShadowVerdict::kScore);  // 119 nodes fit.
  EXPECT_EQ(Judge(profile, pod, "n1", 40).verdict, ShadowVerdict::kSampled);
}

TEST(ShadowVerdict, Classes) {
  std::vector<std::string> agreements, unexplained;
  for (size_t i = 0; i < kShadowVerdictCount; ++i) {
    const auto verdict = static_cast<ShadowVerdict>(i);
    if (IsAgreement(verdict)) agreements.emplace_back(ShadowVerdictName(verdict));
    if (IsUnexplained(verdict)) unexplained.emplace_back(ShadowVerdictName(verdict));
  }
  EXPECT_THAT(agreements, ElementsAre("same", "tie", "order"));
  EXPECT_THAT(unexplained, ElementsAre("score", "rejected", "error"));
}

// The expected values follow from numFeasibleNodesToFind of kube-scheduler.
TEST(FeasibleNodesToFind, FollowsKubeScheduler) {
  struct Case {
    uint32_t nodes;
    uint32_t percentage;
    uint32_t expected;
  };
  constexpr Case kTable[] = {
      {0, 0, 0},        {99, 0, 99},     {100, 0, 100},       {101, 0, 100},    {204, 0, 100},
      {205, 0, 100},    {250, 0, 120},   {5'000, 0, 500},     {5'625, 0, 281},  {5'750, 0, 287},
      {15'000, 0, 750}, {99, 10, 99},    {150, 10, 100},      {1'000, 10, 100}, {1'001, 10, 100},
      {1'010, 10, 101}, {150, 100, 150}, {5'000, 100, 5'000},
  };
  for (const Case& each : kTable) {
    EXPECT_EQ(FeasibleNodesToFind(each.nodes, each.percentage), each.expected)
        << each.nodes << " nodes, " << each.percentage;
  }
}

}  // namespace
}  // namespace berth::host
