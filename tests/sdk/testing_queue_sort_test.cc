// Tests the test kit: QueueSort, with and without lanes.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> SortFindings(const Parts& parts,
                                      const std::function<void(PluginUnderTest&)>& use) {
  return Findings(parts, {.nodes = {MakeNode("a")}}, use);
}

TEST(QueueSort, OrdersByKey) {
  Parts parts;
  parts.queue_sort = {
      sizeof(berth_queue_sort), 0,
      [](void*, const berth_queued* queued, uint8_t out[BERTH_SORT_KEY_SIZE]) noexcept {
        std::memset(out, 0, BERTH_SORT_KEY_SIZE);
        out[0] = static_cast<uint8_t>(255 - queued->priority);
      },
      nullptr};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_TRUE(plugin.Less({MakePod("high").Priority(9)}, {MakePod("low").Priority(1)}));
  EXPECT_FALSE(plugin.Less({MakePod("low").Priority(1)}, {MakePod("high").Priority(9)}));
}

TEST(QueueSort, ReportsAnOrderThatIsNotStrict) {
  Parts parts;
  parts.queue_sort = {
      sizeof(berth_queue_sort), 0, nullptr,
      [](void*, const berth_queued*, const berth_queued*) noexcept -> int32_t { return 1; }};
  EXPECT_THAT(
      SortFindings(parts, [](PluginUnderTest& p) { p.Less({MakePod("a")}, {MakePod("b")}); }),
      Contains(HasSubstr("QueueSort orders a pod before itself")));
}

// By name within a lane; the lane is the number of attempts, and the last lane is next.
berth_queue_sort_2 LaneSort() {
  return {sizeof(berth_queue_sort_2),
          0,
          nullptr,
          [](void*, const berth_queued* a, const berth_queued* b) noexcept -> int32_t {
            return FromAbi(a->pod->meta->name) < FromAbi(b->pod->meta->name) ? 1 : 0;
          },
          [](void*, const berth_queued* queued) noexcept -> uint64_t { return queued->attempts; },
          [](void*, berth_array lanes) noexcept -> uint32_t { return lanes.count - 1; }};
}

TEST(QueueSort, SelectsLanes) {
  Parts parts;
  parts.queue_sort_2 = LaneSort();
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_EQ(plugin.Lane({.pod = MakePod("a"), .attempts = 3}), 3U);
  EXPECT_TRUE(plugin.Less({MakePod("a")}, {MakePod("b")}));
  std::vector<QueuedSpec> active = {{.pod = MakePod("d"), .attempts = 1},
                                    {.pod = MakePod("c"), .attempts = 1},
                                    {.pod = MakePod("b"), .attempts = 0},
                                    {.pod = MakePod("b"), .group = "second", .attempts = 0}};
  EXPECT_EQ(plugin.Next(active), 1U);
  active.erase(active.begin() + 1);
  EXPECT_EQ(plugin.Next(active), 0U);
  active.erase(active.begin());
  EXPECT_EQ(plugin.Next(active), 0U) << "equal pods in the order of the list";
}

TEST(QueueSort, WithoutLanesFirstPodByOrderIsNext) {
  Parts parts;
  parts.queue_sort = {sizeof(berth_queue_sort), 0, nullptr, LaneSort().less};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_EQ(plugin.Next({{MakePod("c")}, {MakePod("a")}, {MakePod("b")}}), 1U);
}

TEST(QueueSort, ReportsWrongLanes) {
  const auto use = [](PluginUnderTest& p) {
    p.Next({{.pod = MakePod("a"), .attempts = 1}, {.pod = MakePod("b"), .attempts = 2}});
  };
  Parts parts;
  parts.queue_sort_2 = LaneSort();
  EXPECT_THAT(SortFindings(parts, use), IsEmpty());
  parts.queue_sort_2.next = [](void*, berth_array lanes) noexcept -> uint32_t {
    return lanes.count;
  };
  EXPECT_THAT(SortFindings(parts, use),
              Contains(HasSubstr("QueueSort's next returns the index 2 of 2 lanes")));
  parts.queue_sort_2 = LaneSort();
  static uint64_t calls;
  calls = 0;
  parts.queue_sort_2.lane = [](void*, const berth_queued*) noexcept { return calls++; };
  EXPECT_THAT(SortFindings(parts, use),
              Contains(HasSubstr("QueueSort returns two lanes for one pod")));
  parts.queue_sort_2 = LaneSort();
  parts.queue_sort_2.next = nullptr;
  EXPECT_THAT(SortFindings(parts, [](PluginUnderTest&) {}),
              Contains(HasSubstr("QueueSort has only one of lane and next")));
}

}  // namespace
}  // namespace berth::testing
