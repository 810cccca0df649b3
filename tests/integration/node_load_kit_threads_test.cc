// The same plugin in the test kit, which calls what no cycle of the host calls yet: `changed`.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

#include "tests/harness/load_source.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

using ::berth::testing::Answer;
using ::berth::testing::BlockAnswer;
using ::berth::testing::Cycle;
using ::berth::testing::DependenceOf;
using ::berth::testing::EvaluateTable;
using ::berth::testing::kCycle;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePod;
using ::berth::testing::PluginUnderTest;
using ::berth::testing::PodHandle;
using ::berth::testing::Step;
using ::testing::ElementsAre;

class NodeLoadInTheKitTest : public ::testing::Test {
 protected:
  // The answers for a pod: the scores by row, and what `changed` reports.
  struct Scored {
    std::vector<int64_t> scores;
    uint32_t result = BERTH_STALE_ALL;
    std::set<uint32_t> rows;
    uint64_t token = 0;
  };

  NodeLoadInTheKitTest()
      : plugin_(PluginUnderTest::FromLibrary(
            TestPluginDirectory() + "/libtest_node_load.so",
            {.nodes = {MakeNode("a"), MakeNode("b"), MakeNode("c")},
             .args = {{"port", int64_t{source_.port()}}, {"everyMilliseconds", 1}}})) {}

  void Report(const std::string& loads) {
    source_.Set("200 OK", loads);
    source_.AwaitTwoRequests();
    plugin_.Advance(0);
  }
  // Scores all nodes now. `token` names the state that `changed` compares with.
  Scored ScoreSince(uint64_t token) {
    const PodHandle pod(MakePod("p"), plugin_.ids());
    Cycle cycle(&plugin_.instance(), &plugin_.table(), pod);
    Scored scored;
    scored.token = token;
    const Answer answer = cycle.Invoke("changed", kCycle, [&](berth_status*) {
      const auto put = [](void* to, const uint32_t* rows, uint64_t count) noexcept {
        static_cast<std::set<uint32_t>*>(to)->insert(rows, rows + count);
      };
      scored.result =
          DependenceOf(plugin_.instance(), Step::kScore)
              ->changed(plugin_.instance().self(), cycle.abi(), &scored.token, put, &scored.rows);
      return berth_code{BERTH_SUCCESS};
    });
    EXPECT_EQ(answer.code, BERTH_SUCCESS);
    const BlockAnswer all = EvaluateTable(cycle, Step::kScore);
    for (const auto& row : all.rows) scored.scores.push_back(row.score);
    return scored;
  }

  LoadSource source_;
  PluginUnderTest plugin_;
};

// A row that is not named has the same score as in the state that the token names.
TEST_F(NodeLoadInTheKitTest, ReportsTheRowsWhoseLoadDiffers) {
  Report("a 90\nb 10\nc 50\n");
  const Scored first = ScoreSince(0);
  EXPECT_THAT(first.scores, ElementsAre(10, 90, 50));
  EXPECT_NE(first.token, 0U);

  Report("a 90\nb 95\nc 50\n");
  const Scored second = ScoreSince(first.token);
  EXPECT_THAT(second.scores, ElementsAre(10, 5, 50));
  EXPECT_EQ(second.result, uint32_t{BERTH_STALE_ROWS});
  EXPECT_THAT(second.rows, ElementsAre(1));
  EXPECT_NE(second.token, first.token);

  Report("c 51\n");
  EXPECT_THAT(ScoreSince(second.token).rows, ElementsAre(2));
  EXPECT_THAT(ScoreSince(first.token).rows, ElementsAre(1, 2)) << "older tokens stay valid";
}

TEST_F(NodeLoadInTheKitTest, ReportsNothingWithoutAChange) {
  Report("a 90\n");
  source_.Hold();
  source_.AwaitHeldRequest();
  plugin_.Advance(0);  // Applies the last answer.
  const Scored first = ScoreSince(0);
  const Scored second = ScoreSince(first.token);
  EXPECT_EQ(second.result, uint32_t{BERTH_STALE_NONE});
  EXPECT_EQ(second.token, first.token);
  EXPECT_EQ(second.scores, first.scores);
  source_.Release();
}

// The source reports any number of names; the ids are those of nodes.
TEST_F(NodeLoadInTheKitTest, HoldsOnlyTheIdsOfNodes) {
  std::string loads = "a 1\nb 2\n";
  for (int i = 0; i < 100; ++i) loads += "gone-" + std::to_string(i) + " 3\n";
  Report(loads);
  EXPECT_EQ(plugin_.held_ids(), 2U);
  source_.Hold();
  source_.AwaitHeldRequest();
  plugin_.Advance(0);
  plugin_.RemoveNode("b");
  EXPECT_EQ(plugin_.held_ids(), 1U);
  source_.Release();
}

}  // namespace
}  // namespace berth::host
