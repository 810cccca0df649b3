// ReusedEvaluation: scores, nominations, and the check of what is reused.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/class_cache_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

// --- normalization -------------------------------------------------------------------------------

struct RangeCase {
  uint32_t mode;
  const char* at_first;  // Raw scores 40, 30, 30.
  const char* higher;    // 40, 60, 30
  const char* lower;     // 40, 30, 30 again
};

class ClassCacheRangeTest : public ClassCacheTest,
                            public ::testing::WithParamInterface<RangeCase> {};

// A plugin gives the node 40, or 30 if it has a pod, or 60 if it has two.
TEST_P(ClassCacheRangeTest, NewRangeOfRawScoresChangesAllTotals) {
  AddLimit("puppet.A", 9);
  Puppet& b = AddScore("puppet.B", 0);
  b.normalize_mode = GetParam().mode;
  b.score = [this](const berth_cycle&, const berth_block& block, int64_t* out, berth_status*) {
    constexpr int64_t kByPods[] = {40, 30, 60};
    ForEachSelected(block, [&](uint32_t i) { out[i] = kByPods[block.pods[i].count]; });
    return BERTH_SUCCESS;
  };
  Put("x", "n1");
  Put("y", "n2");
  EXPECT_EQ(Run(), GetParam().at_first);
  const PodRef second = Put("z", "n1");
  EXPECT_EQ(Run(), GetParam().higher);
  ASSERT_TRUE(stage_.cache().RemovePod(second->uid()).ok());
  EXPECT_EQ(Run(), GetParam().lower);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, ClassCacheRangeTest,
    ::testing::Values(RangeCase{BERTH_NORMALIZE_NONE, "n0 40, n1 30, n2 30", "n0 40, n1 60, n2 30",
                                "n0 40, n1 30, n2 30"},
                      RangeCase{BERTH_NORMALIZE_MAX, "n0 100, n1 75, n2 75", "n0 66, n1 100, n2 50",
                                "n0 100, n1 75, n2 75"},
                      RangeCase{BERTH_NORMALIZE_MAX_REVERSED, "n0 0, n1 25, n2 25",
                                "n0 34, n1 0, n2 50", "n0 0, n1 25, n2 25"},
                      RangeCase{BERTH_NORMALIZE_MIN_MAX, "n0 100, n1 0, n2 0",
                                "n0 33, n1 100, n2 0", "n0 100, n1 0, n2 0"},
                      RangeCase{BERTH_NORMALIZE_MIN_MAX_FLOAT, "n0 100, n1 0, n2 0",
                                "n0 33, n1 100, n2 0", "n0 100, n1 0, n2 0"}));

TEST_F(ClassCacheTest, NodeThatHadTheHighestScoreAloneLeaves) {
  AddLimit("puppet.A", 9);
  Puppet& b = AddScore("puppet.B", 40);
  b.normalize_mode = BERTH_NORMALIZE_MAX;
  for (const char* pod : {"a", "b"}) Put(pod, "n0");
  for (const char* pod : {"c", "d", "e", "f"}) Put(pod, "n1");
  EXPECT_EQ(Run(), "n0 95, n1 90, n2 100");
  stage_.cache().RemoveNode("n2");
  EXPECT_EQ(Run(), "n0 100, n1 94");
}

// --- nominations ---------------------------------------------------------------------------------

TEST_F(ClassCacheTest, NodeThatNominatedPodsFillIsNotFeasible) {
  AddLimit("puppet.A", 1);
  AddScore("puppet.B", 50);
  EXPECT_EQ(Run(), "n0 50, n1 50, n2 50");
  nominator_.Add(MakePod("nominated"), "n1");
  EXPECT_EQ(Run(), "n0 50, n2 50");
  Put("x", "n0");
  Put("y", "n2");
  EXPECT_EQ(Run(), "n0 puppet.A: full, n1 puppet.A: full, n2 puppet.A: full");
  nominator_ = Nominator();
  EXPECT_EQ(Run(), "n1 50");
}

// --- the check -----------------------------------------------------------------------------------

// The plugins depend on a number of which they do not declare anything.
TEST_F(ClassCacheTest, TheCheckFindsAVerdictReusedWrongly) {
  options_.is_checked = true;
  bool fits = true;
  AddLimit("puppet.A", 2).filter = [&](const berth_cycle&, const berth_block& block,
                                       berth_filter_out& out, berth_status*) {
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] = fits || block.rows[i] != 1 ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
      out.reasons[i] = 1;
    });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run(), "n0 0, n1 0, n2 0");
  fits = false;
  EXPECT_EQ(
      Run(),
      "Error: an answer was reused wrongly: pod default/p, node n1: the reused verdict is "
      "\"feasible\", a new one \"puppet.A: full\"; the pod differs from default/p, the pod of "
      "the reused answer, in no part that dependence.pod_parts of puppet.A leaves out: its "
      "answer depends on something else, such as other nodes or the time");
}

TEST_F(ClassCacheTest, TheCheckNamesUndeclaredPartsOfAVerdict) {
  options_.is_checked = true;
  AddScore("puppet.B", 5);
  AddLimit("puppet.A", 2).filter = [](const berth_cycle& cycle, const berth_block& block,
                                      berth_filter_out& out, berth_status*) {
    const bool fits = cycle.pod->priority == 0;
    ForEachSelected(block, [&](uint32_t i) {
      out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
      out.reasons[i] = fits ? 0 : 1;
    });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run("p"), "n0 5, n1 5, n2 5");
  const PodRef urgent = stage_.objects().Pod(
      {.name = "q", .spec = R"("priority":7)", .meta = R"("labels":{"app":"x"})"});
  EXPECT_THAT(Run(urgent),
              HasSubstr("pod default/q, node n0: the reused verdict is \"feasible\", a new one "
                        "\"puppet.A: full\"; dependence.pod_parts of puppet.A does not name parts "
                        "in which the pod differs from default/p, the pod of the reused answer: "
                        "IDENTITY, PRIORITY"));
}

TEST_F(ClassCacheTest, TheCheckFindsAScoreReusedWrongly) {
  options_.is_checked = true;
  int64_t score = 1;
  AddLimit("puppet.A", 2);
  AddScore("puppet.B", 0).score = [&](const berth_cycle&, const berth_block& block, int64_t* out,
                                      berth_status*) {
    ForEachSelected(block, [&](uint32_t i) { out[i] = score; });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run(), "n0 1, n1 1, n2 1");
  score = 2;
  EXPECT_THAT(Run(),
              HasSubstr("node n0: the reused total is 1, a new one 2: puppet.B scored it 1, "
                        "now 2; the pod differs from default/p, the pod of the reused answer, "
                        "in no part that dependence.pod_parts of puppet.B leaves out"));
}

// The first plugin scores as before.
TEST_F(ClassCacheTest, TheCheckNamesThePluginOfAScore) {
  options_.is_checked = true;
  int64_t score = 1;
  AddLimit("puppet.A", 2);
  AddScore("puppet.B", 10);
  AddScore("puppet.C", 0).score = [&](const berth_cycle&, const berth_block& block, int64_t* out,
                                      berth_status*) {
    ForEachSelected(block, [&](uint32_t i) { out[i] = score; });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run("p"), "n0 11, n1 11, n2 11");
  score = 4;
  EXPECT_THAT(Run("q"),
              HasSubstr("the reused total is 11, a new one 14: puppet.C scored it 1, now "
                        "4; dependence.pod_parts of puppet.C does not name parts in which "
                        "the pod differs from default/p, the pod of the reused answer: "
                        "IDENTITY"));
}

}  // namespace
}  // namespace berth::host
