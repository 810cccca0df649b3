#include "host/contract/holdings_check.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr int64_t kRoundNs = 1000;

// The result for a plugin that holds `ids(rounds)` ids after that many rounds, and always two
// references.
HoldingsSearch Search(const std::function<uint64_t(uint64_t)>& ids, int64_t budget_ns) {
  uint64_t rounds = 0;
  const std::function<int64_t()> clock = [&rounds] {
    return static_cast<int64_t>(rounds) * kRoundNs;
  };
  return FindGrowth([&rounds] { ++rounds; },
                    [&] { return testing::Holdings{.ids = ids(rounds), .references = 2}; },
                    {budget_ns, clock});
}

TEST(HoldingsCheckTest, FindsGrowth) {
  const struct {
    const char* name;
    std::function<uint64_t(uint64_t)> ids;
    bool grows;
  } cases[] = {
      {"nothing", [](uint64_t) { return 0; }, false},
      {"ids that are held once", [](uint64_t rounds) { return rounds > 0 ? 100 : 0; }, false},
      {"one id each round", [](uint64_t rounds) { return rounds; }, true},
      {"six ids each round", [](uint64_t rounds) { return 6 * rounds; }, true},
      {"ids that are released in the end", [](uint64_t rounds) { return 6 * (rounds % 100); },
       false},
      {"an index with 250 entries at most",
       [](uint64_t rounds) { return std::min<uint64_t>(rounds, 250); }, false},
      {"less than one id each round", [](uint64_t rounds) { return rounds / 2; }, false},
      {"fewer and fewer ids", [](uint64_t rounds) { return 10'000 - rounds; }, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const HoldingsSearch search = Search(c.ids, INT64_MAX);
    EXPECT_TRUE(search.is_decided);
    EXPECT_EQ(search.more.ids > 0, c.grows);
    EXPECT_EQ(search.more.references, 0u);
    EXPECT_LE(search.rounds, kMaxHoldingRounds + 10);
    if (c.grows) {
      EXPECT_EQ(search.more.ids, c.ids(search.rounds));
      EXPECT_GE(search.rounds, kMaxHoldingRounds);
    }
  }
}

TEST(HoldingsCheckTest, DecidesByTheBudget) {
  const auto grows = [](uint64_t rounds) { return rounds; };
  const auto constant = [](uint64_t) -> uint64_t { return 0; };
  // The fourth window ends after 30 rounds and the fifth after 62; two rounds precede them.
  const struct {
    const char* name;
    std::function<uint64_t(uint64_t)> ids;
    int64_t budget_ns;
    bool is_decided;
    bool is_found;
  } cases[] = {
      {"growth, and no time", grows, 0, false, false},
      {"growth, and time for too few rounds", grows, 32 * kRoundNs, false, false},
      {"growth, and time for enough rounds", grows, 32 * kRoundNs + 1, true, true},
      {"no growth, and no time", constant, 0, true, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const HoldingsSearch search = Search(c.ids, c.budget_ns);
    EXPECT_EQ(search.is_decided, c.is_decided);
    EXPECT_EQ(search.more.ids > 0, c.is_found);
  }
}

}  // namespace
}  // namespace berth::host
