// WhatIf about several rows, apart and together, and with a Filter that is called for all of them.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/points/fresh_evaluation.h"
#include "tests/harness/what_if_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(WhatIfTest, RowsApartDoNotAffectEachOther) {
  const auto what_if = Ask({2, 1, 1});
  ASSERT_TRUE(what_if->RemovePod(1, pod(0)).ok());
  ASSERT_TRUE(what_if->AddPod(2, pod(2)).ok());
  Take();
  EXPECT_EQ(Run(*what_if), "Success | Success | Unschedulable: too many pods, added");
  EXPECT_THAT(Take(), ElementsAre("filter b state 99 what-if", "filter a+b+c state 101 what-if",
                                  "filter  state 100 what-if"))
      << "rows that changed are called with a state of their own";
}

TEST_F(WhatIfTest, RowsTogetherAreOneCluster) {
  const auto what_if = Ask({2, 1}, WhatIf::Mode::kTogether);
  const int64_t before = Stage::slots();
  ASSERT_TRUE(what_if->RemovePod(1, pod(0)).ok());
  ASSERT_TRUE(what_if->AddPod(0, pod(2)).ok());
  EXPECT_EQ(Stage::slots(), before + 1);
  EXPECT_THAT(Take(), ElementsAre("remove a at n1 with b state 99 what-if",
                                  "add c at n2 with c state 100 what-if"));
  EXPECT_EQ(Run(*what_if), "Success | Success");
  EXPECT_THAT(Take(), ElementsAre("filter c state 100 what-if", "filter b state 100 what-if"));
}

TEST_F(WhatIfTest, OnlySelectedRowsAreAnswered) {
  for (const auto mode : {WhatIf::Mode::kApart, WhatIf::Mode::kTogether}) {
    const auto what_if = Ask({0, 1, 2}, mode);
    ASSERT_TRUE(what_if->AddPod(1, pod(2)).ok());
    const uint32_t selected[] = {1, 2};
    EXPECT_EQ(Run(*what_if, selected), "- | Unschedulable: too many pods, added | Success");
    EXPECT_EQ(Run(*what_if, std::span(selected).first(0)), "- | - | -");
  }
}

TEST_F(WhatIfTest, FiltersWithoutStateGetBlocksOfRows) {
  for (int i = 3; i < 300; ++i) {
    stage_.cache().SetNode(stage_.objects().Node({.name = "n" + std::to_string(i)}));
  }
  Puppet& b = stage_.Add("puppet.B", {Point::kFilter});
  b.columns = {"pods.count"};
  std::vector<uint32_t> counts;
  std::vector<int64_t> pods;
  b.filter = [&](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                 berth_status*) {
    counts.push_back(block.n_selected);
    for (uint32_t k = 0; k < block.n_selected; ++k) {
      const uint32_t i = block.selected != nullptr ? block.selected[k] : k;
      pods.push_back(static_cast<const int64_t*>(block.columns[0].data)[i]);
      out.codes[i] = BERTH_SUCCESS;
    }
    return BERTH_SUCCESS;
  };
  std::vector<Row> rows(300);
  std::iota(rows.begin(), rows.end(), Row{0});
  a_limit_ = 1;
  const auto what_if = Ask(rows);
  for (const uint32_t i : {0U, 255U, 256U, 299U}) ASSERT_TRUE(what_if->AddPod(i, pod(2)).ok());
  Run(*what_if);
  EXPECT_THAT(counts, ElementsAre(255, 44)) << "256 and 44, without n1, which plugin A rejects";
  EXPECT_EQ(std::ranges::count(pods, 1), 4);
  EXPECT_EQ(std::ranges::count(pods, 0), 295);
}

TEST_F(WhatIfTest, ErrorOfOneRowApartIsItsVerdict) {
  const auto what_if = Ask({0, 1, 2});
  a_answer_ = {BERTH_ERROR, {"boom"}};
  EXPECT_FALSE(what_if->AddPod(0, pod(2)).ok());
  a_answer_ = {};
  a_limit_ = 1;
  EXPECT_EQ(Run(*what_if),
            "Error: running AddPod on PreFilter plugin \"puppet.A\": boom | "
            "Unschedulable: too many pods, added | Success");
}

TEST_F(WhatIfTest, ErrorOfOneRowFailsTheWholeQuestion) {
  const auto what_if = Ask({0, 1, 2}, WhatIf::Mode::kTogether);
  a_answer_ = {BERTH_ERROR, {"boom"}};
  EXPECT_FALSE(what_if->AddPod(0, pod(2)).ok());
  const uint32_t other = 2;
  EXPECT_EQ(Run(*what_if, {&other, 1}),
            "Error: running AddPod on PreFilter plugin \"puppet.A\": boom");
}

TEST_F(WhatIfTest, NodeThatFailsIsTheOnlyOneApart) {
  for (const bool fails_as_a_whole : {false, true}) {
    SCOPED_TRACE(fails_as_a_whole);
    a_->filter = [&](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                     berth_status* status) -> berth_code {
      for (uint32_t i = 0; i < block.count; ++i) {
        const bool fails = block.pods[i].count == 2;
        if (fails && fails_as_a_whole) return Report({BERTH_ERROR, {"odd"}}, status);
        out.codes[i] = fails ? BERTH_ERROR : BERTH_SUCCESS;
        out.reasons[i] = 2;
      }
      return BERTH_SUCCESS;
    };
    const char* const error = "Error: running \"puppet.A\" filter plugin: odd";
    EXPECT_EQ(Run(*Ask({0, 1, 2})), std::string("Success | ") + error + " | Success");
    EXPECT_EQ(Run(*Ask({0, 1, 2}, WhatIf::Mode::kTogether)), error);
  }
}

TEST_F(WhatIfTest, NominatedPodsCountOnTheirRow) {
  Nominator nominator;
  nominator.Add(pods_[2], "n1");
  nominator.Add(stage_.objects().Pod({.name = "d"}), "n2");
  for (const auto mode : {WhatIf::Mode::kApart, WhatIf::Mode::kTogether}) {
    const auto what_if = Ask({1, 2, 0}, mode);
    Take();
    EXPECT_EQ(Run(*what_if, &nominator), "Unschedulable: too many pods, added | Success | Success");
    const auto calls = Take();
    ASSERT_GE(calls.size(), 4U);
    EXPECT_EQ(calls[0], "add c at n1 with a+b+c state 101 what-if");
    EXPECT_EQ(calls[1], "filter a+b+c state 101 what-if");
    EXPECT_EQ(calls[2], "add d at n2 with d state 101 what-if");
    EXPECT_EQ(calls[3], "filter d state 101 what-if");
  }
}

// --- faults --------------------------------------------------------------------------------------

// A question calls a plugin for many rows; one attempt must not quarantine the plugin.
TEST_F(WhatIfTest, AnAttemptCountsOneFaultAtEachPoint) {
  const auto fail = [](const berth_cycle&, const berth_block&, berth_filter_out&,
                       berth_status* status) {
    return Report({BERTH_BUG, {"thrown"}}, status);
  };
  const auto forget = [](const berth_cycle&, const berth_block&, berth_filter_out&, berth_status*) {
    return BERTH_SUCCESS;
  };
  Puppet& b = stage_.Add("puppet.B", {Point::kFilter});
  a_->filter = fail;
  auto what_if = Ask({0, 1, 2});
  Run(*what_if);
  Run(*what_if);
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.A Filter exception"));
  a_->filter = forget;
  Run(*what_if);
  const Row rows[] = {0, 1};
  WhatIf second(stage_.attempt(), rows);
  Run(second);
  EXPECT_EQ(stage_.Faults().size(), 1U) << "another question and another kind of fault";
  a_answer_ = {BERTH_BUG, {"thrown"}};
  EXPECT_FALSE(what_if->AddPod(0, pod(2)).ok());
  EXPECT_FALSE(what_if->RemovePod(1, pod(0)).ok());
  EXPECT_THAT(stage_.Faults(),
              UnorderedElementsAre("puppet.A Filter exception", "puppet.A PreFilter exception"))
      << "another point";
  a_answer_ = {};
  a_->filter = nullptr;
  b.filter = fail;
  Run(second);
  EXPECT_EQ(stage_.Faults().size(), 3U) << "another plugin";
  what_if = Ask({0, 1, 2});
  Run(*what_if);
  EXPECT_THAT(stage_.Faults(),
              UnorderedElementsAre("puppet.A Filter exception", "puppet.A PreFilter exception",
                                   "puppet.B Filter exception", "puppet.B Filter exception"))
      << "another attempt";
}

TEST_F(WhatIfTest, FaultsOutsideOfQuestionsAreNotLimited) {
  a_->filter = [](const berth_cycle&, const berth_block&, berth_filter_out&, berth_status* status) {
    return Report({BERTH_BUG, {"thrown"}}, status);
  };
  const auto what_if = Ask({0, 1, 2});
  Run(*what_if);
  FreshEvaluation evaluation;
  Attempt& attempt = stage_.attempt();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(evaluation.Filter(attempt, attempt.live_rows(), Nominator()).status.ok());
  }
  EXPECT_EQ(stage_.Faults().size(), 4U);
}

// --- whole Filters -------------------------------------------------------------------------------

// Plugin C is called for all rows; it passes the row with the fewest pods.
class WhatIfWholeTest : public WhatIfTest {
 protected:
  WhatIfWholeTest() {
    Puppet& c = stage_.Add("puppet.C", {Point::kFilter});
    c.reasons = {AsStr("not the emptiest")};
    c.filter_whole = [this](const berth_cycle&, const berth_nodes& survivors,
                            berth_filter_whole_out& out, berth_status*) {
      std::vector<std::pair<uint64_t, uint32_t>> rows;
      for (uint32_t b = 0; b < survivors.n_blocks; ++b) {
        const berth_block& block = *survivors.block(&survivors, b);
        for (uint32_t k = 0; k < block.n_selected; ++k) {
          const uint32_t i = block.selected != nullptr ? block.selected[k] : k;
          rows.emplace_back(block.pods[i].count, block.rows[i]);
        }
      }
      calls_.push_back(rows.size());
      std::vector<std::string> counts;
      for (const auto& [count, row] : rows) {
        counts.push_back("n" + std::to_string(row) + ":" + std::to_string(count));
      }
      asked_.push_back(Join(counts, " "));
      const uint64_t fewest = std::ranges::min(rows).first;
      for (const auto& [count, row] : rows) {
        out.codes[row] = count == fewest ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[row] = 1;
      }
      return BERTH_SUCCESS;
    };
    a_limit_ = 9;
  }

  std::vector<size_t> calls_;
  std::vector<std::string> asked_;  // The rows and their numbers of pods: "n0:0 n1:2".
};

TEST_F(WhatIfWholeTest, IsCalledOnceForRowsTogether) {
  const auto what_if = Ask({0, 1, 2}, WhatIf::Mode::kTogether);
  ASSERT_TRUE(what_if->AddPod(0, pod(2)).ok());
  EXPECT_EQ(Run(*what_if),
            "Unschedulable: not the emptiest | Unschedulable: not the emptiest | Success");
  EXPECT_THAT(calls_, ElementsAre(3));
}

TEST_F(WhatIfWholeTest, IsCalledForEachRowApart) {
  const auto what_if = Ask({0, 1, 1});
  EXPECT_EQ(Run(*what_if), "Success | Success | Success");
  EXPECT_THAT(calls_, ElementsAre(1, 1, 1));
}

// The verdict of a row may depend on the other rows, also with the row's nominated pods.
TEST_F(WhatIfWholeTest, NominatedPodsCountAmongAllRowsTogether) {
  Nominator nominator;
  nominator.Add(pods_[2], "n0");
  const auto together = Ask({0, 1, 2}, WhatIf::Mode::kTogether);
  EXPECT_EQ(Run(*together, &nominator),
            "Unschedulable: not the emptiest | Unschedulable: not the emptiest | Success")
      << "with its nominated pod, n0 has more pods than n2";
  EXPECT_THAT(asked_, ElementsAre("n0:1 n1:2 n2:0", "n1:2 n2:0"));
  asked_.clear();
  const uint32_t selected[] = {0, 1};
  EXPECT_EQ(Run(*together, selected, &nominator), "Success | Unschedulable: not the emptiest | -");
  EXPECT_THAT(asked_, ElementsAre("n0:1 n1:2", "n0:0 n1:2")) << "the rows in question";
}

TEST_F(WhatIfWholeTest, AddsNominatedPodsOnlyToTheirRow) {
  Nominator nominator;
  nominator.Add(pods_[2], "n0");
  nominator.Add(stage_.objects().Pod({.name = "d"}), "n2");
  const auto together = Ask({2, 1, 0}, WhatIf::Mode::kTogether);
  EXPECT_EQ(Run(*together, &nominator),
            "Unschedulable: not the emptiest | Success | Unschedulable: not the emptiest");
  EXPECT_THAT(asked_, ElementsAre("n2:1 n1:2 n0:0", "n2:0 n1:2 n0:1", "n1:2"))
      << "one call for each row with nominated pods, and one without them";
}

TEST_F(WhatIfWholeTest, NominatedPodsOfRowApartAreTriedAlone) {
  Nominator nominator;
  nominator.Add(pods_[2], "n0");
  EXPECT_EQ(Run(*Ask({0, 1, 2}), &nominator), "Success | Success | Success");
  EXPECT_THAT(asked_, ElementsAre("n0:1", "n0:0", "n1:2", "n2:0"));
}

TEST_F(WhatIfWholeTest, ErrorWithNominatedPodsFailsTheWholeQuestion) {
  Nominator nominator;
  nominator.Add(pods_[2], "n0");
  const auto together = Ask({0, 1, 2}, WhatIf::Mode::kTogether);
  a_answer_ = {BERTH_ERROR, {"boom"}};
  EXPECT_EQ(Run(*together, &nominator),
            "Error: running AddPod on PreFilter plugin \"puppet.A\": boom");
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(WhatIfWholeTest, ReceivesOnlyRowsThatPassed) {
  a_limit_ = 1;
  EXPECT_EQ(Run(*Ask({0, 1, 2}, WhatIf::Mode::kTogether)),
            "Success | Unschedulable: too many pods, added | Success");
  EXPECT_THAT(calls_, ElementsAre(2));
}

}  // namespace
}  // namespace berth::host
