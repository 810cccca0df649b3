// Tests Cycle::Bind and TryBind in every method that receives a Cycle&.
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

// How BindsAnywhere binds.
struct ColumnBinding {
  std::string column;  // Empty: it binds nothing.
  bool is_optional = false;
  bool catches = false;  // It catches exceptions of the binding.
};
ColumnBinding g_binding;

// Binds a column in every method that receives a Cycle&.
class BindsAnywhere : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.BindsAnywhere";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Binds columns.";
  using Node = NodeRow<Columns>;

  Status PreFilter(Cycle& cycle, const Nodes& /*all*/, PreFilterOut& /*out*/) {
    return BindOne(cycle);
  }
  Status AddPod(Cycle& cycle, const Pod& /*pod*/, const Node& /*node*/) { return BindOne(cycle); }
  Status RemovePod(Cycle& cycle, const Pod& /*pod*/, const Node& /*node*/) {
    return BindOne(cycle);
  }
  Status PostFilter(Cycle& cycle, const Nodes& /*all*/, const Verdicts& /*verdicts*/,
                    PostFilterOut& /*out*/) {
    return BindOne(cycle);
  }
  Status PreScore(Cycle& cycle, const Nodes& /*feasible*/, const Nodes& /*all*/) {
    return BindOne(cycle);
  }
  int64_t Score(const Cycle& /*cycle*/, const Node& /*node*/) const { return 0; }
  Status NormalizeScore(Cycle& cycle, Scores& /*scores*/) { return BindOne(cycle); }
  Status Reserve(Cycle& cycle, const Target& /*target*/) { return BindOne(cycle); }
  Status Permit(Cycle& cycle, const Target& /*target*/, std::chrono::nanoseconds& /*timeout*/) {
    return BindOne(cycle);
  }

 private:
  static Status BindOne(Cycle& cycle) {
    if (g_binding.column.empty()) return Status::Success();
    try {
      static_cast<void>(g_binding.is_optional ? cycle.TryBind<int64_t>(g_binding.column)
                                              : cycle.Bind<int64_t>(g_binding.column));
    } catch (const std::exception&) {
      if (!g_binding.catches) throw;
    }
    return Status::Success();
  }
};

class BindColumnTest : public ::testing::Test {
 protected:
  BindColumnTest() { g_binding = {}; }
  // Calls the method of this name.
  berth_code Call(const std::string& method, berth_status* status) {
    void* const self = plugin_.self();
    const berth_cycle* const cycle = &cycle_.cycle;
    const auto* pre_filter = plugin_.Point<berth_pre_filter>(BERTH_POINT_PRE_FILTER);
    if (method == "PreFilter") return pre_filter->pre_filter(self, cycle, &nodes_, &out_, status);
    if (method == "AddPod") {
      return pre_filter->add_pod(self, cycle, &cycle_.pod, &block_, 0, status);
    }
    if (method == "RemovePod") {
      return pre_filter->remove_pod(self, cycle, &cycle_.pod, &block_, 0, status);
    }
    if (method == "PostFilter") {
      return plugin_.Point<berth_post_filter>(BERTH_POINT_POST_FILTER)
          ->post_filter(self, cycle, &nodes_, &verdicts_, &nominated_, status);
    }
    if (method == "PreScore") {
      return plugin_.Point<berth_pre_score>(BERTH_POINT_PRE_SCORE)
          ->pre_score(self, cycle, &nodes_, &nodes_, &pre_score_out_, status);
    }
    if (method == "NormalizeScore") {
      return plugin_.Point<berth_score>(BERTH_POINT_SCORE)
          ->normalize(self, cycle, &scores_, status);
    }
    if (method == "Reserve") {
      return plugin_.Point<berth_reserve>(BERTH_POINT_RESERVE)
          ->reserve(self, cycle, &target_, status);
    }
    const auto* permit = plugin_.Point<berth_permit>(BERTH_POINT_PERMIT);
    return permit->permit(self, cycle, &target_, &permit_, status);
  }

  testing::SmallHost host_;
  testing::SmallInstance plugin_{kEntryOf<BindsAnywhere>, host_};
  testing::SmallCycle<int> cycle_;

 private:
  berth_node node_ = {};
  const berth_node* views_[1] = {&node_};
  berth_block block_ = {
      sizeof(berth_block), 1, 1, 0, nullptr, nullptr, nullptr, views_, nullptr, nullptr};
  berth_nodes nodes_ = {};
  berth_pre_score_out pre_score_out_ = {sizeof(berth_pre_score_out), 0, nullptr};
  berth_pre_filter_out out_ = {};
  berth_verdicts verdicts_ = {};
  berth_post_filter_out nominated_ = {};
  berth_scores scores_ = {};
  berth_target target_ = {};
  berth_permit_out permit_{sizeof(berth_permit_out), 0, 0};
};

// The call fails even if the method catches the exception.
TEST_F(BindColumnTest, OnlyPreFilterAndPreScoreBind) {
  for (const std::string method :
       {"AddPod", "RemovePod", "PostFilter", "NormalizeScore", "Reserve", "Permit"}) {
    for (const bool is_optional : {false, true}) {
      for (const bool catches : {false, true}) {
        SCOPED_TRACE(method + (is_optional ? " TryBind" : " Bind") + (catches ? " caught" : ""));
        g_binding = {"req:example.com/gpu", is_optional, catches};
        testing::RecordedStatus recorded;
        EXPECT_EQ(Call(method, recorded.abi()), BERTH_BUG);
        EXPECT_EQ(recorded.texts,
                  (std::vector<std::string>{method +
                                            " binds the column \"req:example.com/gpu\", which only "
                                            "PreFilter and PreScore may do"}));
        g_binding = {};
        EXPECT_EQ(Call(method, nullptr), BERTH_SUCCESS) << "the next call does not fail";
      }
    }
  }
  EXPECT_TRUE(host_.bound_columns.empty());
}

TEST_F(BindColumnTest, PreFilterAndPreScoreFailWithoutARequiredColumn) {
  for (const std::string method : {"PreFilter", "PreScore"}) {
    SCOPED_TRACE(method);
    testing::RecordedStatus recorded;
    g_binding = {"req:example.com/gpu"};
    EXPECT_EQ(Call(method, recorded.abi()), BERTH_SUCCESS);
    g_binding = {"unknown", true};
    EXPECT_EQ(Call(method, recorded.abi()), BERTH_SUCCESS);
    EXPECT_TRUE(recorded.texts.empty());
    g_binding = {"unknown"};
    EXPECT_EQ(Call(method, recorded.abi()), BERTH_ERROR);
    EXPECT_EQ(recorded.texts,
              (std::vector<std::string>{"the host has no column \"unknown\" of this type"}));
  }
}

}  // namespace
}  // namespace berth
