// WhatIf: Filters on private rows with pods added or removed.
#include "host/runtime/points/what_if.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"
#include "tests/harness/what_if_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(WhatIfTest, AddsAndRemovesPodsOnRowAndState) {
  const auto what_if = BeginAtN1();
  EXPECT_EQ(Run(*what_if), "Success");
  EXPECT_EQ(TextOf(what_if->AddPod(0, pod(2))), "Success");
  EXPECT_EQ(Run(*what_if), "Unschedulable: too many pods, added");
  EXPECT_EQ(TextOf(what_if->RemovePod(0, pod(0))), "Success");
  EXPECT_EQ(Run(*what_if), "Success");
  EXPECT_EQ(TextOf(what_if->RemovePod(0, pod(2))), "Success")
      << "an added pod can be removed again";
  EXPECT_THAT(
      Take(),
      ElementsAre("filter a+b state 100 what-if", "add c at n1 with a+b+c state 101 what-if",
                  "filter a+b+c state 101 what-if", "remove a at n1 with b+c state 100 what-if",
                  "filter b+c state 100 what-if", "remove c at n1 with b state 99 what-if"));
}

TEST_F(WhatIfTest, DoesNotChangeTheAttempt) {
  const auto what_if = BeginAtN1();
  ASSERT_TRUE(what_if->AddPod(0, pod(2)).ok());
  ASSERT_TRUE(what_if->RemovePod(0, pod(0)).ok());
  Attempt& attempt = *PluginCycle::FromAbi(stage_.attempt().cycle(0).abi())->attempt();
  EXPECT_EQ(&attempt, &stage_.attempt());
  EXPECT_EQ(PodCountOf(*attempt.cycle(0).abi()), 100);
  EXPECT_EQ(attempt.cycle(0).abi()->flags, 0U);
  const Row row = stage_.table().FindNode("n1");
  EXPECT_EQ(PodNamesIn(stage_.table().arrays().pods[row]), "a+b");
}

TEST_F(WhatIfTest, SeveralMayExistAndDestroyTheirState) {
  Attempt& attempt = Begin();
  const int64_t before = Stage::slots();
  {
    const Row rows[] = {0, 1};
    WhatIf first(attempt, std::span(rows).first(1));
    WhatIf second(attempt, std::span(rows).last(1));
    EXPECT_EQ(Stage::slots(), before) << "nothing has changed yet";
    ASSERT_TRUE(first.AddPod(0, pod(2)).ok());
    EXPECT_EQ(Stage::slots(), before + 1);
    Take();
    EXPECT_EQ(Run(second), "Success");
    EXPECT_THAT(Take(), ElementsAre("filter a+b state 100 what-if"));
  }
  EXPECT_EQ(Stage::slots(), before);
}

TEST_F(WhatIfTest, ClonesOnlyStateThatPodsChange) {
  Puppet& b = stage_.Add("puppet.B", {Point::kPreFilter, Point::kFilter});
  b.has_slot = true;
  void* const* slots = nullptr;
  uint32_t flags = 0;
  b.filter = [&](const berth_cycle& cycle, const berth_block&, berth_filter_out& out,
                 berth_status*) {
    slots = cycle.slots;
    flags = cycle.flags;
    out.codes[0] = BERTH_SUCCESS;
    return BERTH_SUCCESS;
  };
  Attempt& attempt = Begin();
  const int64_t before = Stage::slots();
  const Row row = 1;
  WhatIf what_if(attempt, {&row, 1});
  a_limit_ = 3;
  ASSERT_TRUE(what_if.AddPod(0, pod(2)).ok());
  EXPECT_EQ(Run(what_if), "Success");
  EXPECT_EQ(Stage::slots(), before + 1);
  EXPECT_EQ(slots, attempt.cycle(1).abi()->slots);
  EXPECT_EQ(flags, uint32_t{BERTH_CYCLE_WHAT_IF});
}

TEST_F(WhatIfTest, APluginThatSkippedIsNotCalled) {
  a_->pre_filter = [](const berth_cycle&, const berth_nodes&, berth_pre_filter_out&,
                      berth_status*) { return BERTH_SKIP; };
  a_limit_ = 0;
  Attempt& attempt = Begin();
  const int64_t before = Stage::slots();
  const Row row = 1;
  const auto what_if = std::make_unique<WhatIf>(attempt, std::span(&row, 1));
  EXPECT_EQ(TextOf(what_if->AddPod(0, pod(2))), "Success");
  EXPECT_EQ(Run(*what_if), "Success");
  EXPECT_EQ(Stage::slots(), before);
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(WhatIfTest, RunsFiltersInOrderUntilOneRejects) {
  const auto reject = [this](const char* name) {
    return
        [this, name](const berth_cycle&, const berth_block&, berth_filter_out& out, berth_status*) {
          stage_.log.emplace_back(name);
          out.codes[0] = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
          out.reasons[0] = 1;
          return BERTH_SUCCESS;
        };
  };
  Puppet& c = stage_.Add("puppet.C", {Point::kFilter});
  c.reasons = {AsStr("never")};
  c.filter = reject("C");
  stage_.Add("puppet.B", {Point::kFilter}).filter = reject("B");
  const auto what_if = BeginAtN1();
  RowVerdict verdict;
  ASSERT_TRUE(what_if->RunFilters(kOneIndex, {&verdict, 1}).ok());
  EXPECT_EQ(TextOf(*what_if, 0, verdict), "UnschedulableAndUnresolvable: never");
  EXPECT_EQ(stage_.attempt().cycle(verdict.plugin).plugin().name, "puppet.C");
  EXPECT_THAT(Take(), ElementsAre("filter a+b state 100 what-if", "C"));
}

TEST_F(WhatIfTest, ColumnsIncludeThePodsOfTheRow) {
  Puppet& b = stage_.Add("puppet.B", {Point::kFilter});
  b.columns = {"pods.count", "alloc.cpu"};
  b.filter = [this](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                    berth_status*) {
    for (const size_t column : {0U, 1U}) {
      stage_.log.push_back(
          std::to_string(*static_cast<const int64_t*>(block.columns[column].data)));
    }
    out.codes[0] = BERTH_SUCCESS;
    return BERTH_SUCCESS;
  };
  a_limit_ = 9;
  const auto what_if = BeginAtN1();
  ASSERT_TRUE(what_if->AddPod(0, pod(2)).ok());
  Take();
  EXPECT_EQ(Run(*what_if), "Success");
  EXPECT_THAT(Take(), ElementsAre("filter a+b+c state 101 what-if", "3", "4000"));
}

// --- errors --------------------------------------------------------------------------------------

TEST_F(WhatIfTest, AnswersOfAddPodAndRemovePod) {
  const struct {
    const char* description;
    ScriptedAnswer given;
    const char* why;    // Empty: success.
    const char* fault;  // Empty: no fault.
  } kTable[] = {
      {"done", {BERTH_SUCCESS}, "", ""},
      {"it failed", {BERTH_ERROR, {"boom", "bang"}}, "boom, bang", ""},
      {"it failed without a word", {BERTH_ERROR}, "plugin returned Error", ""},
      {"it threw", {BERTH_BUG, {"thrown"}}, "thrown", "puppet.A PreFilter exception"},
      {"a rejection is not allowed",
       {BERTH_UNSCHEDULABLE},
       "plugin returned Unschedulable",
       "puppet.A PreFilter bad code"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.description);
    const size_t faults = stage_.Faults().size();
    a_answer_ = {};
    const auto what_if = BeginAtN1();
    a_answer_ = row.given;
    const auto expected = [&](const std::string& point) {
      return *row.why == '\0'
                 ? "Success"
                 : "Error: running " + point + " on PreFilter plugin \"puppet.A\": " + row.why;
    };
    EXPECT_EQ(TextOf(what_if->AddPod(0, pod(2))), expected("AddPod"));
    EXPECT_EQ(TextOf(what_if->RemovePod(0, pod(2))), expected("RemovePod"));
    ASSERT_EQ(stage_.Faults().size(), faults + (*row.fault != '\0' ? 1 : 0))
        << "both functions belong to PreFilter";
    if (*row.fault != '\0') {
      EXPECT_THAT(stage_.Faults(), ::testing::Contains(row.fault));
    }
  }
}

TEST_F(WhatIfTest, RemovesOnlyPodsOfTheRow) {
  const auto what_if = BeginAtN1();
  EXPECT_EQ(TextOf(what_if->RemovePod(0, pod(2))),
            "NotFound: no corresponding pod c in pods of node n1");
  EXPECT_EQ(Run(*what_if), "Success") << "the row keeps its verdict";
  ASSERT_TRUE(what_if->RemovePod(0, pod(0)).ok());
  Take();
  EXPECT_EQ(TextOf(what_if->RemovePod(0, pod(0))),
            "NotFound: no corresponding pod a in pods of node n1");
  EXPECT_THAT(Take(), IsEmpty()) << "AddPod and RemovePod are not called";
}

TEST_F(WhatIfTest, FailsIfStateCannotBeCloned) {
  Attempt& attempt = Begin();
  const int64_t before = Stage::slots();
  PodCountOf(*attempt.cycle(0).abi()) = -1;
  const Row row = 1;
  WhatIf what_if(attempt, {&row, 1});
  const char* const error = "Error: plugin puppet.A could not clone its cycle state";
  EXPECT_EQ(TextOf(what_if.AddPod(0, pod(2))), error);
  EXPECT_EQ(Run(what_if), error);
  EXPECT_EQ(Stage::slots(), before);
  EXPECT_THAT(stage_.Faults(), IsEmpty());
  PodCountOf(*attempt.cycle(0).abi()) = -BERTH_BUG;
  EXPECT_FALSE(WhatIf(attempt, {&row, 1}).RemovePod(0, pod(0)).ok());
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.A cycle state exception"));
  PodCountOf(*attempt.cycle(0).abi()) = 1;
}

TEST_F(WhatIfTest, ReportsAFilterThatFails) {
  a_->filter = [](const berth_cycle&, const berth_block&, berth_filter_out&, berth_status* status) {
    return Report({BERTH_ERROR, {"boom"}}, status);
  };
  EXPECT_EQ(Run(*BeginAtN1()), "Error: running \"puppet.A\" filter plugin: boom");
  a_->filter = [](const berth_cycle&, const berth_block&, berth_filter_out&, berth_status*) {
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(Run(*BeginAtN1()), "Error: running \"puppet.A\" filter plugin: no verdict for node n1");
}

TEST_F(WhatIfTest, AQuarantinedPluginIsNotCalled) {
  const auto what_if = BeginAtN1();
  const Row row = 1;
  WhatIf other(stage_.attempt(), {&row, 1});
  stage_.Quarantine("puppet.A");
  EXPECT_THAT(TextOf(what_if->AddPod(0, pod(2))),
              StartsWith("Error: running AddPod on PreFilter plugin \"puppet.A\": "));
  EXPECT_THAT(Run(other), StartsWith("Error: running \"puppet.A\" filter plugin: "));
  EXPECT_THAT(Take(), IsEmpty());
}

// --- nominated pods ------------------------------------------------------------------------------

TEST_F(WhatIfTest, RunsFiltersWithNominatedPodsFirst) {
  Nominator nominator;
  nominator.Add(pods_[2], "n1");
  nominator.Add(stage_.objects().Pod({.name = "elsewhere"}), "n2");
  nominator.Add(stage_.objects().Pod({.name = "low", .spec = "\"priority\":-1"}), "n1");
  const auto what_if = BeginAtN1();
  ASSERT_TRUE(what_if->RemovePod(0, pod(0)).ok());
  Take();
  EXPECT_EQ(Run(*what_if, &nominator), "Success");
  EXPECT_THAT(Take(), ElementsAre("add c at n1 with b+c state 100 what-if",
                                  "filter b+c state 100 what-if", "filter b state 99 what-if"));
  a_limit_ = 1;
  EXPECT_EQ(Run(*what_if, &nominator), "Unschedulable: too many pods, added");
  EXPECT_THAT(Take(), ElementsAre("add c at n1 with b+c state 100 what-if",
                                  "filter b+c state 100 what-if"));
  a_limit_ = 0;
  EXPECT_EQ(Run(*what_if), "Unschedulable: too many pods, added");
}

TEST_F(WhatIfTest, TheFlagsStateWhetherPodsAreNominated) {
  std::vector<uint32_t> flags;
  a_->filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                   berth_status*) {
    flags.push_back(cycle.flags);
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  Attempt& attempt = Begin();
  const Row row = 1;
  WhatIf what_if(attempt, {&row, 1});
  Nominator nominator;
  nominator.Add(pods_[2], "n1");
  RowVerdict verdict;
  EXPECT_TRUE(what_if.RunFiltersWithNominated(nominator, kOneIndex, {&verdict, 1}).ok());
  EXPECT_THAT(flags, ElementsAre(BERTH_CYCLE_WHAT_IF | BERTH_CYCLE_NOMINATED, BERTH_CYCLE_WHAT_IF));
}

TEST_F(WhatIfTest, WithoutNominatedPodsThatCountFiltersRunOnce) {
  Nominator nominator;
  const auto what_if = BeginAtN1();
  const int64_t before = Stage::slots();
  EXPECT_EQ(Run(*what_if, &nominator), "Success");
  nominator.Add(stage_.objects().Pod({.name = "p"}), "n1");  // The pod itself.
  EXPECT_EQ(Run(*what_if, &nominator), "Success");
  EXPECT_THAT(Take(), ElementsAre("filter a+b state 100 what-if", "filter a+b state 100 what-if"));
  EXPECT_EQ(Stage::slots(), before);
}

TEST_F(WhatIfTest, ReportsAnErrorWithNominatedPods) {
  Nominator nominator;
  nominator.Add(pods_[2], "n1");
  const auto what_if = BeginAtN1();
  a_answer_ = {BERTH_ERROR, {"boom"}};
  EXPECT_EQ(Run(*what_if, &nominator),
            "Error: running AddPod on PreFilter plugin \"puppet.A\": boom");
}

}  // namespace
}  // namespace berth::host
