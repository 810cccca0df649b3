// Tests how the test kit calls whole Filters, and what it checks about them.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct WholeActs {
  bool forgets = false;
  bool writes_others = false;
  bool depends_on_calls = false;
  bool fails = false;
  bool has_reason = true;
};
WholeActs whole;

// Accepts the nodes with the fewest pods.
class Fewest : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Fewest";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Accepts the nodes with the fewest pods.";
  using Columns = berth::Columns<PodsCount>;
  using Node = NodeRow<Columns>;

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& out) {
    if (Pod(cycle.pod()).name() == "not-b") {
      const std::string_view names[] = {"a", "c"};
      out.OnlyNodes(names);
    }
    return berth::Status::Success();
  }
  berth::Status Filter(const berth::Cycle& /*cycle*/, const berth::Nodes& survivors,
                       FilterWholeOut& out) const {
    if (whole.fails) return berth::Status::Error("boom");
    int64_t fewest = INT64_MAX;
    survivors.ForEach<Columns>(
        [&](const Node& node) { fewest = std::min(fewest, node[PodsCount{}]); });
    if (whole.depends_on_calls && ++calls_ % 2 == 0) fewest = -1;
    const int reason = whole.has_reason ? out.AddReason("not the fewest pods") : -1;
    bool forgets = whole.forgets;
    survivors.ForEach<Columns>([&](const Node& node) {
      if (std::exchange(forgets, false)) return;
      out.Set(node.row(), berth::UnschedulableIf(node[PodsCount{}] > fewest, reason));
    });
    if (whole.writes_others) out.Set(1, kPass);
    return berth::Status::Success();
  }

 private:
  static inline std::atomic<int> calls_ = 0;
};

class WholeFilterTest : public ::testing::Test {
 protected:
  WholeFilterTest() { whole = {}; }

  FilterResult Filter(const std::string& pod = "p") {
    findings_.clear();
    PluginUnderTest plugin(
        kEntryOf<Fewest>,
        {.nodes = {MakeNode("a").Pod(MakePod("a1")), MakeNode("b"),
                   MakeNode("c").Pod(MakePod("c1")).Pod(MakePod("c2"))},
         .on_failure = [this](const std::string& text) { findings_.push_back(text); }});
    return plugin.Filter(MakePod(pod));
  }

  std::vector<std::string> findings_;
};

TEST_F(WholeFilterTest, ReceivesAllNodes) {
  const FilterResult result = Filter();
  EXPECT_THAT(result.Fitting(), ElementsAre("b"));
  EXPECT_EQ(result.On("c"), Unschedulable("not the fewest pods"));
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(WholeFilterTest, ReceivesOnlyNodesThatPreFilterAllows) {
  const FilterResult result = Filter("not-b");
  EXPECT_THAT(result.Fitting(), ElementsAre("a"));
  EXPECT_EQ(result.On("b"), Unresolvable(kLeftOutByPreFilter));
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(WholeFilterTest, Violations) {
  whole.fails = true;
  EXPECT_EQ(Filter().filter, Error("boom"));
  whole = {.forgets = true};
  Filter();
  EXPECT_THAT(findings_, Contains(AllOf(HasSubstr("leaves the code"), HasSubstr("kOutputs"))));
  whole = {.writes_others = true};
  Filter("not-b");
  EXPECT_THAT(findings_,
              Contains(AllOf(HasSubstr("writes row 1, which is not one of the survivors"),
                             HasSubstr("kOutputs"))));
  whole = {.depends_on_calls = true};
  Filter();
  EXPECT_THAT(findings_, Contains(AllOf(HasSubstr("called again"), HasSubstr("kRepeat"))));
  whole = {.has_reason = false};
  Filter();
  EXPECT_THAT(findings_, Contains(AllOf(HasSubstr("has no reason"), HasSubstr("kCodes"))));
}

TEST_F(WholeFilterTest, NeedsItsFunctionAndNoDependence) {
  Parts parts = CorrectFilter();
  parts.filter.flags = BERTH_FILTER_WHOLE;
  parts.filter.filter_whole = [](void*, const berth_cycle*, const berth_nodes*,
                                 berth_filter_whole_out*,
                                 berth_status*) noexcept -> berth_code { return BERTH_SUCCESS; };
  const auto shape = [&] { return Findings(parts, {}, [](PluginUnderTest&) {}); };
  EXPECT_THAT(shape(), ElementsAre(HasSubstr("BERTH_FILTER_WHOLE and a dependence")));
  parts.filter.dependence = nullptr;
  EXPECT_THAT(shape(), IsEmpty());
  parts.filter.filter_whole = nullptr;
  EXPECT_THAT(shape(), ElementsAre(HasSubstr("berth.filter/1 has no function")));
}

}  // namespace
}  // namespace berth::testing
