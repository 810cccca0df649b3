#include "host/contract/contract_check.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(SettledCountTest, WaitsForWhatComesDown) {
  const std::vector<size_t> slowly = [] {
    std::vector<size_t> counts;  // Down by one every ten looks, from 9 to 3.
    for (size_t count = 9; count >= 3; --count) counts.insert(counts.end(), 10, count);
    return counts;
  }();
  const struct {
    const char* name;
    size_t most;
    std::vector<size_t> counts;  // One look after the other; the last stays.
    size_t settled;
    size_t looks;  // 0: any number.
  } cases[] = {
      {"as many as there may be", 3, {3}, 3, 1},
      {"less", 3, {2}, 2, 1},
      {"one that ends soon", 3, {4, 4, 3}, 3, 3},
      {"one that does not end", 3, {4}, 4, 0},
      {"one of two ends", 3, {5, 4}, 4, 0},
      {"one that comes and goes", 3, {4, 5, 4, 3}, 3, 4},
      {"many that end slowly", 3, slowly, 3, 61},
      {"nothing", 0, {0}, 0, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    size_t looks = 0;
    size_t waits = 0;
    const size_t settled = SettledCount(
        c.most, [&] { return c.counts[std::min(looks++, c.counts.size() - 1)]; }, [&] { ++waits; });
    EXPECT_EQ(settled, c.settled);
    EXPECT_EQ(waits + 1, looks);
    if (c.looks != 0) {
      EXPECT_EQ(looks, c.looks);
    }
  }
}

}  // namespace
}  // namespace berth::host
