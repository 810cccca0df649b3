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
  b.score = [](const berth_cycle&, const berth_block& block, int64_t* out, berth_status*) {
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
      Run("q"),
      "Error: an answer was reused wrongly: pod default/q, node n1: the reused verdict is "
      "\"feasible\", a new one \"puppet.A: full\"; the pod differs from default/p, the pod of "
      "the reused answer, in no part that puppet.A leaves out, apart from IDENTITY and TIMES: "
      "does the answer depend on other nodes, on the time, or on what its signature or "
      "`changed` leaves out?");
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
                        "\"puppet.A: full\"; the pod differs from default/p, the pod of the reused "
                        "answer, in parts that puppet.A does not declare: PRIORITY"));
}

// Only what comes before a whole Filter is reused, and is checked.
TEST_F(ClassCacheTest, TheCheckFindsVerdictsBeforeWholeFilters) {
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
  AddWhole("puppet.B", [](size_t pods) { return pods == 0; });
  Put("x", "n2");
  EXPECT_EQ(Run("p"), "n0 0, n1 0");
  fits = false;
  EXPECT_THAT(Run("q"), HasSubstr("node n1: the reused verdict is \"feasible\", a new one "
                                  "\"puppet.A: full\""));
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
  EXPECT_THAT(Run("q"),
              HasSubstr("node n0: the reused total is 1, a new one 2; puppet.B scored node "
                        "n0 1, and scores it 2 now; the pod differs from default/p, the pod "
                        "of the reused answer, in no part that puppet.B leaves out"));
}

// Neither the plugin that is asked about every pod, nor the one whose node has changed, is blamed.
TEST_F(ClassCacheTest, TheCheckNamesThePluginOfAScore) {
  options_.is_checked = true;
  int64_t asked = 0;
  int64_t stale = 10;
  AddLimit("puppet.A", 9);
  AddScore("puppet.Slow", 0, std::nullopt).score = [&](const berth_cycle&, const berth_block& block,
                                                       int64_t* out, berth_status*) {
    ForEachSelected(block, [&](uint32_t i) { out[i] = asked; });
    return BERTH_SUCCESS;
  };
  AddScore("puppet.B", 50);
  Puppet& c = AddScore("puppet.C", 0);
  c.normalize_mode = BERTH_NORMALIZE_MAX;
  c.score = [&](const berth_cycle&, const berth_block& block, int64_t* out, berth_status*) {
    ForEachSelected(block, [&](uint32_t i) { out[i] = block.rows[i] == 2 ? stale : 10; });
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run("p"), "n0 150, n1 150, n2 150");
  asked = 7;
  Put("x", "n0");
  stale = 20;
  EXPECT_THAT(Run("q"), HasSubstr("; puppet.C scored node n2 10, and scores it 20 now; the pod "
                                  "differs from default/p"));
}

}  // namespace
}  // namespace berth::host
