// Tests the C++ layer in a plugin that is built without exceptions, as this file is.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

#if defined(__cpp_exceptions)
#error "this file must be compiled with -fno-exceptions"
#endif

namespace berth {
namespace {

class Unguarded : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.Unguarded";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Makes mistakes.";
  struct State {
    int64_t free = 0;
  };

  Verdict Filter(const Cycle& cycle, const NodeRow<Columns>& /*node*/) const {
    return UnschedulableIf(cycle.State<State>().free == 0, 0);
  }
  // Binds a column that is then read as 0.
  Status Reserve(Cycle& cycle, const Target& target) {
    const auto column = cycle.Bind<int64_t>("req:example.com/gpu");
    return target.Get(column) == 0 ? Status::Success() : Status::Unschedulable("in use");
  }
  void Unreserve(const Binding& /*binding*/) {}
};

class NoExceptionsTest : public ::testing::Test {
 protected:
  testing::SmallHost host_;
  testing::SmallInstance plugin_{kEntryOf<Unguarded>, host_};
  testing::SmallCycle<Unguarded::State> cycle_;
  testing::RecordedStatus recorded_;
  berth_block block_ = {
      sizeof(berth_block), 1, 1, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
};

TEST_F(NoExceptionsTest, BindInAWrongMethodFailsTheCall) {
  const berth_target target = {sizeof(target), 0, nullptr, &block_, 0, 0};
  EXPECT_EQ(plugin_.Point<berth_reserve>(BERTH_POINT_RESERVE)
                ->reserve(plugin_.self(), &cycle_.cycle, &target, recorded_.abi()),
            BERTH_BUG);
  EXPECT_EQ(recorded_.texts, (std::vector<std::string>{
                                 "Reserve binds the column \"req:example.com/gpu\", which only "
                                 "PreFilter and PreScore may do"}));
}

TEST_F(NoExceptionsTest, MissingStateEndsTheProcessWithTheText) {
  internal::StateSlot<Unguarded::State> empty;
  cycle_.slots[0] = &empty;
  uint8_t code = 0;
  uint64_t reasons = 0;
  berth_filter_out out = {sizeof(out), 0, &code, &reasons};
  const auto* filter = plugin_.Point<berth_filter>(BERTH_POINT_FILTER);
  EXPECT_DEATH(filter->filter(plugin_.self(), &cycle_.cycle, &block_, &out, recorded_.abi()),
               "Filter requires the State of the plugin, which no method has emplaced");
}

}  // namespace
}  // namespace berth
