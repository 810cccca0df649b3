#include "host/contract/contract_check.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(SettledCountTest, ReturnsTheLowestCount) {
  const std::vector<size_t> slowly = [] {
    std::vector<size_t> counts;  // Ten counts of 9, ten of 8, and so on until ten of 3.
    for (size_t count = 9; count >= 3; --count) counts.insert(counts.end(), 10, count);
    return counts;
  }();
  const struct {
    const char* name;
    size_t most;
    std::vector<size_t> counts;  // The results of count(). The last one is repeated.
    size_t settled;
    size_t counted;  // 0: any number.
  } cases[] = {
      {"already at the limit", 3, {3}, 3, 1},
      {"below the limit", 3, {2}, 2, 1},
      {"one thread that ends soon", 3, {4, 4, 3}, 3, 3},
      {"one thread that does not end", 3, {4}, 4, 0},
      {"one of two threads ends", 3, {5, 4}, 4, 0},
      {"one thread that starts and ends", 3, {4, 5, 4, 3}, 3, 4},
      {"many threads that end slowly", 3, slowly, 3, 61},
      {"no threads", 0, {0}, 0, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    size_t counted = 0;
    size_t waits = 0;
    const size_t settled = SettledCount(
        c.most, [&] { return c.counts[std::min(counted++, c.counts.size() - 1)]; },
        [&] { ++waits; });
    EXPECT_EQ(settled, c.settled);
    EXPECT_EQ(waits + 1, counted);
    if (c.counted != 0) {
      EXPECT_EQ(counted, c.counted);
    }
  }
}

}  // namespace
}  // namespace berth::host
