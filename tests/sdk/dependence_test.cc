// Tests the tokens of FilterChanged and ScoreChanged.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

// What Indexed does in FilterChanged and ScoreChanged.
struct ChangedAnswer {
  Stale stale = Stale::kNone;
  uint64_t token = 0;  // The token that the method writes.
  bool throws = false;
};
ChangedAnswer g_changed;
std::vector<uint64_t> g_asked;  // The tokens that the methods received.

class Indexed : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.Indexed";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Depends on an index.";
  static constexpr Dependence kFilterDependence{.cluster = kOther, .pod_parts = 0};
  static constexpr Dependence kScoreDependence{.cluster = kOther, .pod_parts = 0};
  using Node = NodeRow<Columns>;

  Verdict Filter(const Cycle& /*cycle*/, const Node& /*node*/) const { return kPass; }
  int64_t Score(const Cycle& /*cycle*/, const Node& /*node*/) const { return 0; }
  Stale FilterChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& rows) const {
    g_asked.push_back(token);
    token = g_changed.token;
    if (g_changed.throws) throw std::runtime_error("no index");
    if (g_changed.stale == Stale::kRows) rows.Put(4);
    return g_changed.stale;
  }
  Stale ScoreChanged(const Cycle& cycle, uint64_t& token, RowSink& rows) const {
    return FilterChanged(cycle, token, rows);
  }
};

// A token of 0 names no state: there is nothing to reuse before the call, or after it.
TEST(Changed, ReusesNothingWithoutAToken) {
  const struct {
    const char* name;
    uint64_t before;
    ChangedAnswer answer;
    uint32_t want;
    uint64_t after;
  } cases[] = {
      {"the first token", 0, {Stale::kNone, 6}, BERTH_STALE_ALL, 6},
      {"rows without a token", 0, {Stale::kRows, 6}, BERTH_STALE_ALL, 6},
      {"no token at all", 0, {Stale::kNone, 0}, BERTH_STALE_ALL, 0},
      {"the lowest token", 1, {Stale::kNone, 1}, BERTH_STALE_NONE, 1},
      {"another token", 5, {Stale::kRows, 6}, BERTH_STALE_ROWS, 6},
      {"a token is withdrawn", 5, {Stale::kNone, 0}, BERTH_STALE_NONE, 0},
      {"an exception after a token", 5, {Stale::kNone, 6, true}, BERTH_STALE_ALL, 0},
      {"an exception at first", 0, {Stale::kNone, 6, true}, BERTH_STALE_ALL, 0},
  };
  testing::SmallHost host;
  testing::SmallInstance plugin(kEntryOf<Indexed>, host);
  const testing::SmallCycle<int> cycle;
  const auto put = [](void*, const uint32_t*, uint64_t) noexcept {};
  for (const berth_dependence* dependence :
       {plugin.Point<berth_filter>(BERTH_POINT_FILTER)->dependence,
        plugin.Point<berth_score>(BERTH_POINT_SCORE)->dependence}) {
    for (const auto& c : cases) {
      SCOPED_TRACE(c.name);
      g_changed = c.answer;
      g_asked.clear();
      uint64_t token = c.before;
      EXPECT_EQ(dependence->changed(plugin.self(), &cycle.cycle, &token, put, nullptr), c.want);
      EXPECT_EQ(token, c.after);
      EXPECT_EQ(g_asked, (std::vector<uint64_t>{c.before})) << "it is always called";
    }
  }
}

}  // namespace
}  // namespace berth
