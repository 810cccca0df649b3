// Class SchedulingCycle: PreScore, Score, and the selection of a node.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cycle/schedule_one.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class SchedulingCycleScoreTest : public ::testing::Test {
 protected:
  // Adds a node for which the test plugins answer this raw score.
  void AddNode(const std::string& name, int64_t score) {
    harness_.AddNode(
        {.name = name,
         .allocatable = "\"cpu\":\"4\",\"example.com/score\":\"" + std::to_string(score) + '"'});
  }
  void AddThree() {
    AddNode("n1", 10);
    AddNode("n2", 40);
    AddNode("n3", 20);
  }
  std::string With(std::initializer_list<Point> points, const char* args) {
    return harness_.OutcomeOf(TestProfile().Use("test.A", points, args));
  }
  const Ranked& ranked() { return harness_.loop().cycle().findings().ranked; }
  // Decides about a new pod without placing it, which keeps the scores of the plugins.
  void Decide(const std::string& name) {
    harness_.loop().cycle().Decide(harness_.objects().Pod({.name = name}));
  }

  Harness harness_;
};

struct ScoreCase {
  const char* args;
  const char* outcome;
};

TEST_F(SchedulingCycleScoreTest, FailuresOfPreScoreAndScore) {
  AddThree();
  constexpr ScoreCase kTable[] = {
      {R"({"preScore":{"code":1,"reasons":["boom"]}})",
       "Error: running PreScore plugin \"test.A\": boom"},
      {R"({"preScore":{"code":2,"reasons":["no"]}})",  // Score cannot reject a pod.
       "Error: running PreScore plugin \"test.A\": no"},
      {R"({"preScore":{"code":6,"reasons":["later"]}})",
       "Pending: pod is waiting for the plugin test.A: later"},
      {R"({"preScore":{"code":1}})",
       "Error: running PreScore plugin \"test.A\": plugin returned Error"},
      {R"({"score":{"code":1,"reasons":["boom"]}})",
       "Error: running Score plugins: plugin \"test.A\" failed with: boom"},
      {R"({"score":{"code":5}})",
       "Error: running Score plugins: plugin \"test.A\" failed with: plugin returned Skip"},
      {R"({"normalize":{"mode":4,"code":1,"reasons":["boom"]}})",
       "Error: running Normalize on Score plugins: plugin \"test.A\" failed with: boom"},
      {R"({"normalize":{"mode":4,"to":101}})",
       "Error: applying score defaultWeights on Score plugins: plugin \"test.A\" returns an "
       "invalid "
       "score 101, it should in the range of [0, 100] after normalizing"},
      {R"({"normalize":{"mode":4,"to":-1}})",
       "Error: applying score defaultWeights on Score plugins: plugin \"test.A\" returns an "
       "invalid "
       "score -1, it should in the range of [0, 100] after normalizing"},
  };
  for (const ScoreCase& row : kTable) {
    SCOPED_TRACE(row.args);
    EXPECT_EQ(With({Point::kPreScore, Point::kScore}, row.args), row.outcome);
  }
}

TEST_F(SchedulingCycleScoreTest, NormalizationByTheHost) {
  AddThree();
  const std::pair<uint32_t, std::vector<int64_t>> kTable[] = {
      {BERTH_NORMALIZE_NONE, {10, 40, 20}},        {BERTH_NORMALIZE_MAX, {25, 100, 50}},
      {BERTH_NORMALIZE_MAX_REVERSED, {75, 0, 50}}, {BERTH_NORMALIZE_MIN_MAX, {0, 100, 33}},
      {BERTH_NORMALIZE_CUSTOM, {7, 7, 7}},
  };
  for (const auto& [mode, normalized] : kTable) {
    SCOPED_TRACE(mode);
    const std::string args =
        R"({"say":1,"normalize":{"to":7,"mode":)" + std::to_string(mode) + "}}";
    ASSERT_TRUE(harness_.Start(TestProfile().Use("test.A", {Point::kScore}, args.c_str(), 3)).ok());
    Decide("p" + std::to_string(mode));
    ASSERT_EQ(ranked().columns().size(), 1U);
    const ScoreColumn& column = ranked().columns()[0];
    EXPECT_THAT(column.raw, ElementsAre(10, 40, 20));
    EXPECT_EQ(column.normalized, normalized);
    EXPECT_EQ(column.weight, 3);
    const std::vector<int64_t> totals = ranked().Totals();
    for (size_t i = 0; i < normalized.size(); ++i) EXPECT_EQ(totals[i], 3 * normalized[i]);
  }
  EXPECT_THAT(harness_.lines(), Contains("test.A: normalize count=3"));
}

TEST_F(SchedulingCycleScoreTest, RawScoreOutOfRangeIsAnError) {
  AddNode("n1", 100);
  AddNode("n2", 0);
  EXPECT_EQ(With({Point::kScore}, "{}"), "Success");
  AddNode("n3", 101);
  harness_.AddPod({.name = "q"});
  EXPECT_EQ(Harness::Outcome(harness_.Next()),
            "Error: applying score defaultWeights on Score plugins: plugin \"test.A\" returns an "
            "invalid score 101, it should in the range of [0, 100] after normalizing");
}

TEST_F(SchedulingCycleScoreTest, SkipInPreScoreOmitsScoreOfThePlugin) {
  AddThree();
  EXPECT_EQ(With({Point::kPreScore, Point::kScore},
                 R"({"preScore":{"code":5},"score":{"code":1,"reasons":["not reached"]}})"),
            "Success");
  EXPECT_TRUE(ranked().is_scored());
  EXPECT_THAT(ranked().Totals(), ElementsAre(0, 0, 0));
}

TEST_F(SchedulingCycleScoreTest, OnlyDecideKeepsTheScoresOfThePlugins) {
  AddThree();
  const TestProfile profile =
      TestProfile().Use("test.A", {Point::kScore}, R"({"say":1})").Use("test.B", {Point::kScore});
  ASSERT_TRUE(harness_.Start(profile).ok());
  for (const auto& [name, keeps] : {std::pair{"a", false}, {"b", true}, {"c", false}}) {
    SCOPED_TRACE(name);
    if (keeps) {
      Decide(name);
    } else {
      harness_.Schedule({.name = name});
    }
    EXPECT_EQ(ranked().columns().size(), keeps ? 2U : 0U);
    EXPECT_THAT(ranked().Totals(), ElementsAre(20, 80, 40));
  }
}

TEST_F(SchedulingCycleScoreTest, OneFeasibleNodeIsNotScored) {
  AddNode("n1", 10);
  EXPECT_EQ(
      With({Point::kPreScore, Point::kScore}, R"({"preScore":{"code":1},"score":{"code":1}})"),
      "Success");
  EXPECT_FALSE(ranked().is_scored());
}

TEST_F(SchedulingCycleScoreTest, PreScoreGetsTheFeasibleNodesAndAllNodes) {
  AddThree();
  EXPECT_EQ(With({Point::kPreFilter, Point::kFilter, Point::kPreScore, Point::kScore},
                 R"({"say":1,"filter":{"verdict":2,"onlyAt":"n2"}})"),
            "Success");
  EXPECT_THAT(harness_.lines(),
              ::testing::IsSupersetOf({"test.A: pre_score feasible=2", "test.A: pre_score all=3",
                                       "test.A: pre_score kept=1"}));
}

TEST_F(SchedulingCycleScoreTest, SelectsTheHighestWeightedTotal) {
  AddNode("n1", 10);
  AddNode("n2", 20);
  TestProfile profile;
  profile.Use("test.A", {Point::kScore}, R"({"normalize":{"mode":1}})", 1);         // 50, 100
  profile.Use("test.B", {Point::kScore}, R"({"normalize":{"mode":2}})", 3);         // 50, 0
  profile.Use("test.C", {Point::kScore}, R"({"normalize":{"mode":4,"to":9}})", 0);  // 9, 9
  ASSERT_TRUE(harness_.Start(profile).ok());
  EXPECT_EQ(harness_.Schedule({.name = "p"}).node, "n1");
  EXPECT_THAT(ranked().Totals(), ElementsAre(50 + 150 + 9, 100 + 0 + 9));
}

TEST_F(SchedulingCycleScoreTest, RejectsWeightsThatCouldOverflow) {
  TestProfile profile;
  constexpr int64_t kMost = INT64_MAX / 100;
  profile.Use("test.A", {Point::kScore}, "{}", kMost - 1).Use("test.B", {Point::kScore}, "{}", 1);
  EXPECT_TRUE(harness_.Start(profile).ok());
  profile.Use("test.C", {Point::kScore}, "{}", 1);
  EXPECT_EQ(harness_.Start(profile).message(),
            "profile default-scheduler: Score: plugin \"test.C\": total score of Score plugins "
            "could overflow");
  EXPECT_EQ(harness_.Start(TestProfile().Use("test.A", {Point::kScore}, "{}", -1)).message(),
            "profile default-scheduler: Score: plugin \"test.A\": expected a weight of at least 1, "
            "found -1");
}

// --- selection ----------------------------------------------------------------------------------

TEST_F(SchedulingCycleScoreTest, BestRowsAreInRowOrder) {
  for (const char* name : {"a", "b", "c", "d", "e"}) AddNode(name, *name == 'c' ? 1 : 50);
  ASSERT_TRUE(harness_.Start(TestProfile().Use("test.A", {Point::kScore})).ok());
  harness_.Schedule({.name = "p"});
  EXPECT_THAT(harness_.Names(ranked().BestRows()), ElementsAre("a", "b", "d", "e"));
}

// The seeded generator yields k; the k-th of the best nodes is selected, whichever rows these are.
TEST_F(SchedulingCycleScoreTest, SelectsTheKthOfTheBestNodes) {
  for (const char* name : {"z", "b", "y", "c", "x", "a"}) AddNode(name, *name < 'm' ? 50 : 1);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    TieBreaker expected(seed);
    ASSERT_TRUE(harness_.Start(TestProfile().Use("test.A", {Point::kScore}), seed).ok());
    for (int i = 0; i < 20; ++i) {
      const auto result =
          harness_.Schedule({.name = "p" + std::to_string(seed) + "-" + std::to_string(i)});
      const auto best = harness_.Names(ranked().BestRows());
      ASSERT_THAT(best, ::testing::UnorderedElementsAre("a", "b", "c"));
      EXPECT_EQ(result.node, best[expected.Below(3)]);
    }
  }
}

TEST_F(SchedulingCycleScoreTest, WithoutScoresAllFeasibleNodesAreEquallyGood) {
  AddThree();
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  std::set<std::string> winners;
  for (int i = 0; i < 40; ++i) {
    winners.insert(harness_.Schedule({.name = "p" + std::to_string(i)}).node);
  }
  EXPECT_THAT(winners, ElementsAre("n1", "n2", "n3"));
  EXPECT_FALSE(ranked().is_scored());
}

}  // namespace
}  // namespace berth::host
