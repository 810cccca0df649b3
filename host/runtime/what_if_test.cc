// WhatIf: Filters on a private row with pods added or removed.
#include "host/runtime/what_if.h"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/run_pre_filter.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string NamesOf(const berth_pod_list& pods) {
  std::vector<std::string> names;
  for (uint64_t i = 0; i < pods.count; ++i) {
    names.emplace_back(Text(pods.data[i]->meta->name));
  }
  std::ranges::sort(names);
  return Join(names, "+");
}

int64_t& SlotOf(const berth_cycle& cycle) { return *static_cast<int64_t*>(cycle.slots[0]); }

// Plugin A counts pods in its cycle state: 100 after PreFilter, one more or less for each pod that
// is added or removed. It records its calls, and rejects a row with more than `a_limit_` pods.
class WhatIfTest : public ::testing::Test {
 protected:
  WhatIfTest() {
    a_ = &stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter});
    a_->has_slot = true;
    a_->reasons = {AsStr("too many pods"), AsStr("odd")};
    a_->pre_filter = [](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out& out,
                        berth_status*) {
      SlotOf(cycle) = 100;
      EXPECT_EQ(out.add_reason(&out, AsStr("added")), 2);
      return BERTH_SUCCESS;
    };
    a_->add_pod = [this](const berth_cycle& cycle, const berth_pod& pod, const berth_block& block,
                         uint32_t index, berth_status* status) {
      ++SlotOf(cycle);
      return Note("add", cycle, pod, block, index, status);
    };
    a_->remove_pod = [this](const berth_cycle& cycle, const berth_pod& pod,
                            const berth_block& block, uint32_t index, berth_status* status) {
      --SlotOf(cycle);
      return Note("remove", cycle, pod, block, index, status);
    };
    a_->filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                        berth_status*) {
      for (uint32_t i = 0; i < block.count; ++i) {
        stage_.log.push_back("filter " + NamesOf(block.pods[i]) + State(cycle));
        const bool fits = block.pods[i].count <= a_limit_;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = fits ? 0 : 0b101;
      }
      return BERTH_SUCCESS;
    };
    for (const char* name : {"a", "b"}) {
      pods_.push_back(stage_.objects().Pod({.name = name, .node = "n1"}));
      EXPECT_TRUE(stage_.cache().AddPod(pods_.back()).ok());
    }
    pods_.push_back(stage_.objects().Pod({.name = "c"}));
  }

  static std::string State(const berth_cycle& cycle) {
    const bool what_if = (cycle.flags & BERTH_CYCLE_WHAT_IF) != 0;
    return " state " + std::to_string(SlotOf(cycle)) + (what_if ? " what-if" : "");
  }
  berth_code Note(const std::string& what, const berth_cycle& cycle, const berth_pod& pod,
                  const berth_block& block, uint32_t index, berth_status* status) {
    stage_.log.push_back(what + " " + std::string(Text(pod.meta->name)) + " at " +
                         std::string(Text(block.nodes[index]->meta->name)) + " with " +
                         NamesOf(block.pods[index]) + State(cycle));
    return Report(a_answer_, status);
  }

  // Builds the plan and begins an attempt, up to Filter.
  Attempt& Begin() {
    if (!built_) stage_.Build();
    built_ = true;
    Attempt& attempt = stage_.Begin();
    EXPECT_TRUE(RunPreFilter(attempt).ok());
    return attempt;
  }
  std::unique_ptr<WhatIf> BeginAtN1() {
    auto what_if = WhatIf::Begin(Begin(), stage_.table().FindNode("n1"));
    EXPECT_TRUE(what_if.ok());
    return std::move(what_if).value();
  }
  const berth_pod& pod(size_t i) const { return pods_[i]->view(); }
  std::vector<std::string> Take() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  Puppet* a_;
  size_t a_limit_ = 2;
  ScriptedAnswer a_answer_;
  std::vector<PodRef> pods_;  // a and b run on n1, c on no node.
  bool built_ = false;
};

TEST_F(WhatIfTest, AddsAndRemovesPodsOnTheRowAndInTheState) {
  const auto what_if = BeginAtN1();
  EXPECT_EQ(TextOf(what_if->RunFilters()), "Success");
  EXPECT_EQ(TextOf(what_if->AddPod(pod(2))), "Success");
  EXPECT_EQ(TextOf(what_if->RunFilters()), "Unschedulable: too many pods, added");
  EXPECT_EQ(TextOf(what_if->RemovePod(pod(0))), "Success");
  EXPECT_EQ(TextOf(what_if->RunFilters()), "Success");
  EXPECT_EQ(TextOf(what_if->RemovePod(pod(2))), "Success") << "an added pod can be removed again";
  EXPECT_THAT(
      Take(),
      ElementsAre("filter a+b state 100 what-if", "add c at n1 with a+b+c state 101 what-if",
                  "filter a+b+c state 101 what-if", "remove a at n1 with b+c state 100 what-if",
                  "filter b+c state 100 what-if", "remove c at n1 with b state 99 what-if"));
}

TEST_F(WhatIfTest, DoesNotChangeTheAttempt) {
  const auto what_if = BeginAtN1();
  ASSERT_TRUE(what_if->AddPod(pod(2)).ok());
  ASSERT_TRUE(what_if->RemovePod(pod(0)).ok());
  Attempt& attempt = *PluginCycle::FromAbi(stage_.attempt().cycle(0).abi())->attempt();
  EXPECT_EQ(&attempt, &stage_.attempt());
  EXPECT_EQ(SlotOf(*attempt.cycle(0).abi()), 100);
  EXPECT_EQ(attempt.cycle(0).abi()->flags, 0U);
  const Row row = stage_.table().FindNode("n1");
  EXPECT_EQ(NamesOf(stage_.table().pod_lists()[row]), "a+b");
}

TEST_F(WhatIfTest, SeveralMayExistAndDestroyTheirState) {
  Attempt& attempt = Begin();
  const int64_t before = Stage::slots();
  {
    auto first = WhatIf::Begin(attempt, 0);
    auto second = WhatIf::Begin(attempt, 1);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(Stage::slots(), before + 2);
    ASSERT_TRUE((*first)->AddPod(pod(2)).ok());
    Take();
    ASSERT_TRUE((*second)->RunFilters().ok());
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
  const auto what_if = WhatIf::Begin(attempt, 1);
  ASSERT_TRUE((*what_if)->RunFilters().ok());
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
  const auto what_if = WhatIf::Begin(attempt, 1);
  EXPECT_EQ(Stage::slots(), before);
  EXPECT_EQ(TextOf((*what_if)->AddPod(pod(2))), "Success");
  EXPECT_EQ(TextOf((*what_if)->RunFilters()), "Success");
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
  const PluginStatus status = what_if->RunFilters();
  EXPECT_EQ(TextOf(status), "UnschedulableAndUnresolvable: never");
  EXPECT_EQ(stage_.PluginName(status.plugin), "puppet.C");
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
  ASSERT_TRUE(what_if->AddPod(pod(2)).ok());
  Take();
  ASSERT_TRUE(what_if->RunFilters().ok());
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
    EXPECT_EQ(TextOf(what_if->AddPod(pod(2))), expected("AddPod"));
    EXPECT_EQ(TextOf(what_if->RemovePod(pod(2))), expected("RemovePod"));
    ASSERT_EQ(stage_.Faults().size(), faults + (*row.fault != '\0' ? 2 : 0));
    if (*row.fault != '\0') {
      EXPECT_THAT(stage_.Faults(), ::testing::Contains(row.fault));
    }
  }
}

TEST_F(WhatIfTest, APodThatIsNotOnTheRowCannotBeRemoved) {
  const auto what_if = BeginAtN1();
  EXPECT_EQ(TextOf(what_if->RemovePod(pod(2))), "Error: no corresponding pod c in pods of node n1");
  ASSERT_TRUE(what_if->RemovePod(pod(0)).ok());
  Take();
  EXPECT_EQ(TextOf(what_if->RemovePod(pod(0))), "Error: no corresponding pod a in pods of node n1");
  EXPECT_THAT(Take(), IsEmpty()) << "AddPod and RemovePod are not called";
}

TEST_F(WhatIfTest, FailsIfStateCannotBeCloned) {
  Attempt& attempt = Begin();
  const int64_t before = Stage::slots();
  SlotOf(*attempt.cycle(0).abi()) = -1;
  const auto what_if = WhatIf::Begin(attempt, 1);
  ASSERT_FALSE(what_if.ok());
  EXPECT_EQ(what_if.status().code(), ErrorCode::kInternal);
  EXPECT_EQ(what_if.status().message(), "plugin puppet.A could not clone its cycle state");
  EXPECT_EQ(Stage::slots(), before);
  EXPECT_THAT(stage_.Faults(), IsEmpty());
  SlotOf(*attempt.cycle(0).abi()) = -BERTH_BUG;
  EXPECT_FALSE(WhatIf::Begin(attempt, 1).ok());
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.A cycle state exception"));
  SlotOf(*attempt.cycle(0).abi()) = 1;
}

TEST_F(WhatIfTest, ReportsAFilterThatFails) {
  a_->filter = [](const berth_cycle&, const berth_block&, berth_filter_out&, berth_status* status) {
    return Report({BERTH_ERROR, {"boom"}}, status);
  };
  EXPECT_EQ(TextOf(BeginAtN1()->RunFilters()), "Error: running \"puppet.A\" filter plugin: boom");
  a_->filter = [](const berth_cycle&, const berth_block&, berth_filter_out&, berth_status*) {
    return BERTH_SUCCESS;
  };
  EXPECT_EQ(TextOf(BeginAtN1()->RunFilters()),
            "Error: running \"puppet.A\" filter plugin: no verdict for node n1");
}

TEST_F(WhatIfTest, AQuarantinedPluginIsNotCalled) {
  const auto what_if = BeginAtN1();
  stage_.Quarantine("puppet.A");
  EXPECT_THAT(TextOf(what_if->AddPod(pod(2))),
              StartsWith("Error: running AddPod on PreFilter plugin \"puppet.A\": "));
  EXPECT_THAT(TextOf(what_if->RunFilters()),
              StartsWith("Error: running \"puppet.A\" filter plugin: "));
  EXPECT_THAT(Take(), IsEmpty());
}

// --- nominated pods ------------------------------------------------------------------------------

TEST_F(WhatIfTest, RunsFiltersWithNominatedPodsFirst) {
  Nominator nominator;
  nominator.Add(pods_[2], "n1");
  nominator.Add(stage_.objects().Pod({.name = "elsewhere"}), "n2");
  nominator.Add(stage_.objects().Pod({.name = "low", .spec = "\"priority\":-1"}), "n1");
  const auto what_if = BeginAtN1();
  ASSERT_TRUE(what_if->RemovePod(pod(0)).ok());
  Take();
  EXPECT_EQ(TextOf(what_if->RunFiltersWithNominated(nominator)), "Success");
  EXPECT_THAT(Take(), ElementsAre("add c at n1 with b+c state 100 what-if",
                                  "filter b+c state 100 what-if", "filter b state 99 what-if"));
  a_limit_ = 1;
  EXPECT_EQ(TextOf(what_if->RunFiltersWithNominated(nominator)),
            "Unschedulable: too many pods, added");
  EXPECT_THAT(Take(), ElementsAre("add c at n1 with b+c state 100 what-if",
                                  "filter b+c state 100 what-if"));
  a_limit_ = 0;
  EXPECT_EQ(TextOf(what_if->RunFilters()), "Unschedulable: too many pods, added");
}

TEST_F(WhatIfTest, WithoutNominatedPodsThatCountFiltersRunOnce) {
  Nominator nominator;
  const auto what_if = BeginAtN1();
  const int64_t before = Stage::slots();
  EXPECT_EQ(TextOf(what_if->RunFiltersWithNominated(nominator)), "Success");
  nominator.Add(stage_.objects().Pod({.name = "p"}), "n1");  // The pod itself.
  EXPECT_EQ(TextOf(what_if->RunFiltersWithNominated(nominator)), "Success");
  EXPECT_THAT(Take(), ElementsAre("filter a+b state 100 what-if", "filter a+b state 100 what-if"));
  EXPECT_EQ(Stage::slots(), before);
}

TEST_F(WhatIfTest, ReportsAnErrorWithNominatedPods) {
  Nominator nominator;
  nominator.Add(pods_[2], "n1");
  const auto what_if = BeginAtN1();
  a_answer_ = {BERTH_ERROR, {"boom"}};
  EXPECT_EQ(TextOf(what_if->RunFiltersWithNominated(nominator)),
            "Error: running AddPod on PreFilter plugin \"puppet.A\": boom");
}

}  // namespace
}  // namespace berth::host
