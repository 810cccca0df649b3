// The service berth.nodes/1: where a row stands in the nodes that a plugin receives.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/nominator.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/points/run_post_filter.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/run_score.h"
#include "host/runtime/services/test_find_service.h"
#include "host/runtime/services/test_services.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class NodesServiceTest : public ::testing::Test {
 protected:
  NodesServiceTest() {
    stage_.services().scheduler = &scheduler_;
    for (int i = 3; i < 300; ++i) {
      stage_.cache().SetNode(stage_.objects().Node({.name = "n" + std::to_string(i)}));
    }
    stage_.cache().RemoveNode("n4");
  }

  // Returns "0,1" for block 0 and index 1, and checks that this is where the row stands; otherwise
  // the code.
  std::string Place(const berth_nodes& in, uint32_t row, const berth_nodes* named = nullptr) const {
    uint32_t block = 99;
    uint32_t index = 99;
    const berth_code code = FindService<berth_node_lookup>(host_, BERTH_SERVICE_NODES)
                                ->place(host_, named != nullptr ? named : &in, row, &block, &index);
    if (code != BERTH_SUCCESS) {
      EXPECT_EQ(block + index, 198U);
      return std::to_string(code);
    }
    const berth_block& found = *in.block(&in, block);
    EXPECT_LT(index, found.count);
    EXPECT_EQ(found.rows[index], row);
    return std::to_string(block) + "," + std::to_string(index);
  }
  std::vector<std::string> Places(const berth_nodes& in, const std::vector<uint32_t>& rows) const {
    std::vector<std::string> places;
    for (const uint32_t row : rows) places.push_back(Place(in, row));
    return places;
  }

  Stage stage_;
  FakeScheduler scheduler_;
  const berth_host* host_ = nullptr;
};

TEST_F(NodesServiceTest, FindsRowsInAllNodes) {
  Puppet& a = stage_.Add("puppet.A", {Point::kPreFilter});
  const berth_nodes* kept = nullptr;
  a.pre_filter = [&](const berth_cycle&, const berth_nodes& all, berth_pre_filter_out&,
                     berth_status*) {
    EXPECT_THAT(Places(all, {0, 255, 256, 299, 4, 300, UINT32_MAX}),
                ElementsAre("0,0", "0,255", "1,0", "1,43", "34", "34", "34"));
    const berth_nodes foreign = all;
    EXPECT_EQ(Place(all, 0, &foreign), "35") << "a copy has another address";
    kept = &all;
    return BERTH_SUCCESS;
  };
  stage_.Build();
  host_ = a.host;
  EXPECT_TRUE(RunPreFilter(stage_.Begin()).status.ok());
  EXPECT_EQ(Place(*kept, 0), "36") << "outside a call";
}

TEST_F(NodesServiceTest, FindsOnlyTheRowsOfTheNodesNamed) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kPreScore});
  a.filter_whole = [this](const berth_cycle&, const berth_nodes& survivors,
                          berth_filter_whole_out& out, berth_status*) {
    EXPECT_THAT(Places(survivors, {1, 256, 4}), ElementsAre("0,1", "1,0", "34"));
    std::fill_n(out.codes, out.row_count, uint8_t{BERTH_UNSCHEDULABLE});
    out.codes[1] = out.codes[256] = BERTH_SUCCESS;
    return BERTH_SUCCESS;
  };
  a.pre_score = [this](const berth_cycle&, const berth_nodes& feasible, const berth_nodes& all,
                       berth_status*) {
    EXPECT_THAT(Places(feasible, {0, 1, 256}), ElementsAre("34", "0,1", "1,0"));
    EXPECT_THAT(Places(all, {0, 1, 256}), ElementsAre("0,0", "0,1", "1,0"));
    return BERTH_SUCCESS;
  };
  stage_.Build();
  host_ = a.host;
  Attempt& attempt = stage_.Begin();
  FreshEvaluation evaluation;
  const Filtered filtered = evaluation.Filter(attempt, attempt.live_rows(), Nominator());
  EXPECT_TRUE(filtered.status.ok());
  EXPECT_TRUE(RunPreScore(attempt, *filtered.feasible).ok());
}

TEST_F(NodesServiceTest, FindsRowsInNodesOfAWhatIf) {
  Puppet& a = stage_.Add("puppet.A", {Point::kFilter, Point::kPostFilter});
  std::vector<std::string> places;
  const berth_nodes* outer = nullptr;
  a.filter_whole = [&](const berth_cycle&, const berth_nodes& survivors,
                       berth_filter_whole_out& out, berth_status*) {
    places = Places(survivors, {0, 7, 299});
    EXPECT_EQ(Place(survivors, 0, outer), "35") << "the nodes of PostFilter";
    std::fill_n(out.codes, out.row_count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  a.post_filter = [&](const berth_cycle& cycle, const berth_nodes& all, const berth_verdicts&,
                      berth_post_filter_out&, berth_status*) {
    outer = &all;
    const auto& what_if = *FindService<berth_whatif>(host_, BERTH_SERVICE_WHATIF);
    const uint32_t rows[] = {299, 0, 3};
    uint64_t question = 0;
    EXPECT_EQ(what_if.begin(host_, &cycle, rows, 3, BERTH_WHATIF_TOGETHER, &question),
              BERTH_SUCCESS);
    uint8_t codes[3];
    const berth_whatif_run run{sizeof run, 0, nullptr, 0, codes};
    EXPECT_EQ(what_if.run_filters(host_, question, &run, nullptr), BERTH_SUCCESS);
    what_if.end(host_, question);
    EXPECT_EQ(Place(all, 299), "1,43");
    return BERTH_UNSCHEDULABLE;
  };
  stage_.Build();
  host_ = a.host;
  RunPostFilter(stage_.Begin(), {}, {});
  EXPECT_THAT(places, ElementsAre("0,1", "34", "0,0"));
}

}  // namespace
}  // namespace berth::host
