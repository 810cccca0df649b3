// Tests what a scenario states about the profile: its extension points and the deadline.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Requires PreFilter for its Filter, and at least a second for its calls.
class Paired : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Paired";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Requires PreFilter.";
  static constexpr berth::Reasons kReasons{"odd"};
  using Node = berth::NodeRow<Columns>;
  using State = int;

  explicit Paired(const berth::Host& host) {
    if (host.Enables(BERTH_POINT_FILTER) && !host.Enables(BERTH_POINT_PRE_FILTER)) {
      throw berth::Error("Filter needs PreFilter");
    }
    if (host.deadline_ns() != 0 && host.deadline_ns() < 1'000'000'000) {
      throw berth::Error("the deadline is too short");
    }
    if (host.emulated_version() < berth::KubeVersion{1, 36}) throw berth::Error("needs 1.36");
    if (!host.Enables(BERTH_POINT_ENQUEUE_EXTENSIONS)) throw berth::Error("no events");
    if (host.Enables(BERTH_POINT_SCORE)) throw berth::Error("Score, which the plugin has not");
  }
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    cycle.Emplace<State>(0);
    return berth::Status::Success();
  }
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    return berth::Unschedulable(0);
  }
  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }
};

TEST(Profile, EnablesAllPointsByDefault) {
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {}), Success());
}

TEST(Profile, MayLeaveOutPoints) {
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {.points = {{BERTH_POINT_FILTER}}}),
            Error("Filter needs PreFilter"));
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {.points = {{BERTH_POINT_SCORE}}}),
            Success());
}

TEST(Profile, PointsThatItLeavesOutAreNotCalled) {
  PluginUnderTest plugin(kEntryOf<Paired>,
                         {.nodes = {MakeNode("a")}, .points = {{BERTH_POINT_PRE_FILTER}}});
  EXPECT_FALSE(plugin.instance().filter.has_value());
  EXPECT_TRUE(plugin.instance().pre_filter.has_value());
  EXPECT_TRUE(plugin.instance().enqueue_extensions.has_value());
}

TEST(Profile, SetsTheDeadline) {
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {.deadline_ns = 999'999'999}),
            Error("the deadline is too short"));
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {.deadline_ns = 1'000'000'000}), Success());
}

TEST(Profile, HostHasAnEmulatedVersion) {
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {.emulated_version = {1, 35}}),
            Error("needs 1.36"));
  EXPECT_EQ(PluginUnderTest::Create(kEntryOf<Paired>, {.emulated_version = {1, 36}}), Success());
}

TEST(Profile, NewerRevisionOfQueueSortIsUsed) {
  const char* const both[] = {BERTH_POINT_QUEUE_SORT, BERTH_POINT_QUEUE_SORT_2, nullptr};
  const char* const one[] = {BERTH_POINT_QUEUE_SORT, nullptr};
  berth_plugin_info info{};
  World world{Library(kEntryOf<Paired>)};
  world.info = &info;
  EXPECT_THAT(world.EnabledPoints(), IsEmpty());
  info.points = both;
  EXPECT_THAT(world.EnabledPoints(), ElementsAre(BERTH_POINT_QUEUE_SORT_2));
  info.points = one;
  EXPECT_THAT(world.EnabledPoints(), ElementsAre(BERTH_POINT_QUEUE_SORT));
}

}  // namespace
}  // namespace berth::testing
