// RunFilter with a Filter that is called once for all nodes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "tests/harness/run_filter_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Plugin B is called once for all nodes, between A and C. It rejects the node `worst_`.
class RunFilterWholeTest : public RunFilterTest {
 protected:
  RunFilterWholeTest() {
    b_ = &stage_.Add("puppet.B", {Point::kFilter});
    b_->filter_whole = [this](const berth_cycle& cycle, const berth_nodes& survivors,
                              berth_filter_whole_out& out, berth_status* status) {
      std::string names;
      EXPECT_EQ(out.row_count, stage_.table().row_count());
      for (uint32_t n = 0; n < survivors.n_blocks; ++n) {
        const berth_block& block = *survivors.block(&survivors, n);
        ForEachSelected(block, [&](uint32_t i) {
          names += NodeNameIn(block, i) + " ";
          out.codes[block.rows[i]] = BERTH_SUCCESS;
          if (NodeNameIn(block, i) != worst_) return;
          out.codes[block.rows[i]] = code_;
          const int32_t bit = out.add_reason(&out, AsStr("the worst of " + names));
          out.reasons[block.rows[i]] = bit < 0 ? 0 : uint64_t{1} << bit;
        });
      }
      const bool what_if = cycle.flags == BERTH_CYCLE_NOMINATED;
      stage_.log.push_back("whole " + names + (what_if ? "what-if" : ""));
      return Report(answer_, status);
    };
    Puppet& c = stage_.Add("puppet.C", {Point::kFilter});
    c.reasons = {AsStr("last")};
    c.filter = [this](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                      berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        stage_.log.push_back("C " + NodeNameIn(block, i));
        const bool fits = NodeNameIn(block, i) != last_;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = 1;
      });
      return BERTH_SUCCESS;
    };
  }
  std::vector<std::string> TakeAfterA() {
    auto lines = Take();
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("n"); });
    return lines;
  }

  Puppet* b_ = nullptr;
  std::string worst_;
  std::string last_;
  uint8_t code_ = BERTH_UNSCHEDULABLE;
  ScriptedAnswer answer_;
};

TEST_F(RunFilterWholeTest, IsCalledOnceBetweenTheOthers) {
  worst_ = "n1";
  last_ = "n2";
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 fits, n1 puppet.B Unschedulable: the worst of n0 n1 , "
            "n2 puppet.C Unschedulable: last");
  EXPECT_THAT(TakeAfterA(), ElementsAre("whole n0 n1 n2 ", "C n0", "C n2"));
}

TEST_F(RunFilterWholeTest, ReceivesOnlyNodesThatPassed) {
  limit_ = 0;
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 puppet.A Unschedulable: full, n1 puppet.A Unschedulable: full, "
            "n2 puppet.A Unschedulable: full");
  EXPECT_THAT(TakeAfterA(), IsEmpty()) << "it is not called without nodes";
  limit_ = 1;
  ASSERT_TRUE(stage_.cache().AddPod(stage_.objects().Pod({.name = "x", .node = "n1"})).ok());
  EXPECT_EQ(Outcome(Begin(), nominator_), "n0 fits, n1 puppet.A Unschedulable: full, n2 fits");
  EXPECT_THAT(TakeAfterA(), ElementsAre("whole n0 n2 ", "C n0", "C n2"));
}

TEST_F(RunFilterWholeTest, NodeWithNominatedPodsIsAskedAboutAlone) {
  limit_ = 2;
  worst_ = "n2";
  nominator_.Add(MakePod("q"), "n1");
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 fits, n1 fits, n2 puppet.B Unschedulable: the worst of n0 n1 n2 ");
  EXPECT_THAT(TakeAfterA(),
              ElementsAre("whole n1 what-if", "C n1", "whole n0 n1 n2 ", "C n0", "C n1"));
}

TEST_F(RunFilterWholeTest, FindsTheNodesOfEveryBlock) {
  for (int i = 3; i < 600; ++i) {
    stage_.cache().SetNode(stage_.objects().Node({.name = "n" + std::to_string(i)}));
  }
  worst_ = "n599";
  last_ = "n256";
  Attempt& attempt = Begin();
  EXPECT_TRUE(RunPreFilter(attempt).status.ok());
  const Filtered filtered = Filter(attempt);
  EXPECT_EQ(filtered.feasible->size(), 598U);
  EXPECT_FALSE(filtered.feasible->Contains(256));
  EXPECT_FALSE(filtered.feasible->Contains(599));
}

TEST_F(RunFilterWholeTest, ReasonsAreCutLikeAllOthers) {
  const std::string most(kMaxReasonBytes, 'x');
  const std::string more = most + "y";
  const struct {
    berth_str given;
    std::string kept;
  } kTable[] = {{AsStr(most), most},
                {AsStr(more), most.substr(3) + "..."},
                {{nullptr, 1}, "puppet.B gave a reason that is NULL"}};
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.given.len);
    b_->filter_whole = [&](const berth_cycle&, const berth_nodes&, berth_filter_whole_out& out,
                           berth_status*) {
      std::fill_n(out.codes, out.row_count, uint8_t{BERTH_SUCCESS});
      out.codes[1] = BERTH_UNSCHEDULABLE;
      out.reasons[1] = uint64_t{1} << out.add_reason(&out, row.given);
      return BERTH_SUCCESS;
    };
    EXPECT_EQ(Outcome(Begin(), nominator_),
              "n0 fits, n1 puppet.B Unschedulable: " + row.kept + ", n2 fits");
  }
}

TEST_F(RunFilterWholeTest, Errors) {
  const char* const prefix = "Error: running \"puppet.B\" filter plugin: ";
  worst_ = "n1";
  code_ = BERTH_ERROR;
  EXPECT_EQ(Outcome(Begin(), nominator_), std::string(prefix) + "the worst of n0 n1 ");
  EXPECT_THAT(stage_.Faults(), IsEmpty());
  code_ = 0xff;
  EXPECT_EQ(Outcome(Begin(), nominator_), std::string(prefix) + "no verdict for node n1");
  code_ = BERTH_WAIT;
  EXPECT_EQ(Outcome(Begin(), nominator_),
            std::string(prefix) + "verdict 4 for node n1 is not a valid verdict of Filter");
  EXPECT_THAT(stage_.Faults(),
              ElementsAre("puppet.B Filter bad verdict", "puppet.B Filter bad verdict"));
  code_ = BERTH_PENDING;
  EXPECT_EQ(Outcome(Begin(), nominator_),
            "n0 fits, n1 puppet.B Pending: the worst of n0 n1 , n2 fits");
  answer_ = {BERTH_ERROR, {"boom"}};
  EXPECT_EQ(Outcome(Begin(), nominator_), std::string(prefix) + "boom");
  answer_ = {BERTH_SKIP};
  EXPECT_EQ(Outcome(Begin(), nominator_), std::string(prefix) + "plugin returned Skip");
}

}  // namespace
}  // namespace berth::host
