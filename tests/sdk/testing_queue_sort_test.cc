// Tests the test kit: QueueSort, with and without lanes, and Entity.
#include <cstddef>
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

// The entity of a pod is the first letter of its name; those with "s" stand alone.
berth_entity ByLetter() {
  return {sizeof(berth_entity), 0,
          [](void*, const berth_pod* pod, berth_put_text put, void* to) noexcept {
            if (*pod->meta->name.ptr != 's') put(to, {pod->meta->name.ptr, 1});
          }};
}

// Returns the names in the order in which Next() selects them.
std::string Drain(PluginUnderTest& plugin, std::vector<QueuedSpec> active) {
  std::string order;
  while (!active.empty()) {
    const auto next = active.begin() + static_cast<ptrdiff_t>(plugin.Next(active));
    order += (order.empty() ? "" : " ") + next->pod.name;
    active.erase(next);
  }
  return order;
}

TEST(Entity, NamesThePodsThatFollowEachOther) {
  Parts parts;
  parts.entity = ByLetter();
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_EQ(plugin.Entity(MakePod("a1")), "a");
  EXPECT_EQ(plugin.Entity(MakePod("s1")), "");
  const QueuedSpec a1{MakePod("a1")}, a2{MakePod("a2")}, b1{MakePod("b1")}, s1{MakePod("s1")};
  EXPECT_EQ(Drain(plugin, {a1, b1, s1, a2, {MakePod("s2")}, {MakePod("b2")}}), "a1 a2 b1 b2 s1 s2");
  EXPECT_EQ(Drain(plugin, {a1, {.pod = MakePod("a3"), .group = "g"}, b1, a2}), "a1 a2 a3 b1")
      << "a group has no entity";
  // A pod that was tried waits for its turn.
  EXPECT_EQ(plugin.Next({a1, b1, a2}), 0U);
  EXPECT_EQ(plugin.Next({b1, a1}), 0U);
  EXPECT_EQ(plugin.Next({a1}), 0U);
  EXPECT_EQ(plugin.Next({b1, a2}), 1U);
  EXPECT_EQ(Drain(plugin, {b1, {MakePod("a4").Namespace("other")}, {MakePod("a5")}}), "a5 b1 a4");
}

TEST(Entity, IsFollowedWithinItsLane) {
  Parts parts;
  parts.entity = ByLetter();
  parts.queue_sort_2 = LaneSort();
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  const QueuedSpec a9{.pod = MakePod("a9"), .attempts = 1}, b1{.pod = MakePod("b1"), .attempts = 1};
  const QueuedSpec a1{.pod = MakePod("a1"), .attempts = 1};
  const QueuedSpec c1{.pod = MakePod("c1"), .attempts = 2}, a5{.pod = MakePod("a5"), .attempts = 2};
  const QueuedSpec b5{.pod = MakePod("b5"), .attempts = 2}, c9{.pod = MakePod("c9"), .attempts = 2};
  EXPECT_EQ(Drain(plugin, {b1, a9, a1, c1, c9, b5, a5}), "a5 b5 c1 c9 a1 a9 b1");
}

TEST(Entity, ReportsContradictions) {
  const auto use = [](PluginUnderTest& p) { p.Entity(MakePod("a")); };
  Parts parts;
  parts.entity = ByLetter();
  EXPECT_THAT(SortFindings(parts, use), IsEmpty());
  static bool is_second;
  is_second = false;
  parts.entity.entity = [](void*, const berth_pod*, berth_put_text put, void* to) noexcept {
    is_second = !is_second;
    if (is_second) put(to, {"x", 1});
  };
  EXPECT_THAT(SortFindings(parts, use),
              Contains(HasSubstr("Entity returns two texts for one pod")));
  parts.entity.entity = [](void*, const berth_pod*, berth_put_text put, void* to) noexcept {
    put(to, {"x", 1});
    put(to, {"x", 1});
  };
  EXPECT_THAT(SortFindings(parts, use), Contains(HasSubstr("Entity calls put more than once")));
}

}  // namespace
}  // namespace berth::testing
