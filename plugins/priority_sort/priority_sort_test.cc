#include <cstdint>
#include <limits>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

QueuedSpec Queued(int32_t priority, int64_t queued_ns) {
  return {.pod = MakePod("p").Priority(priority), .queued_ns = queued_ns};
}

TEST(PrioritySort, Less) {
  PluginUnderTest plugin({.nodes = {}});
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min();
  constexpr int32_t kHigh = std::numeric_limits<int32_t>::max();
  const struct {
    const char* name;
    QueuedSpec first;
    QueuedSpec second;
  } cases[] = {
      {"the higher priority is first", Queued(2, 9), Queued(1, 1)},
      {"0 is before -1", Queued(0, 9), Queued(-1, 1)},
      {"the largest priority is before the smallest", Queued(kHigh, 9), Queued(kLow, 1)},
      {"with equal priority, the earlier pod is first", Queued(5, 1), Queued(5, 2)},
      {"times that differ in the second byte", Queued(5, 255), Queued(5, 256)},
      {"a pod without a priority has priority 0",
       {.pod = MakePod("p"), .queued_ns = 9},
       Queued(-1, 1)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(plugin.Less(c.first, c.second));
    EXPECT_FALSE(plugin.Less(c.second, c.first));
  }
}

TEST(PrioritySort, OnlyPriorityAndTimeAffectTheKey) {
  PluginUnderTest plugin({.nodes = {}});
  QueuedSpec other = Queued(5, 7);
  other.pod = MakePod("q").Priority(5).Label("a", "b").CpuMilli(100);
  other.attempts = 3;
  other.first_attempt_ns = 1;
  EXPECT_EQ(plugin.Key(Queued(5, 7)), plugin.Key(other));
}

}  // namespace
}  // namespace berth::testing
