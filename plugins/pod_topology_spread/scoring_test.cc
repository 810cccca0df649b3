#include "scoring.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace spread {
namespace {

using Scores = std::vector<int64_t>;

TEST(SpreadScoring, TheWeightGrowsWithTheNumberOfDomains) {
  EXPECT_DOUBLE_EQ(WeightOf(0), 0.69314718055994530942);
  EXPECT_DOUBLE_EQ(WeightOf(1), 1.09861228866810969140);
  EXPECT_DOUBLE_EQ(WeightOf(3), 1.60943791243410037460);
  EXPECT_DOUBLE_EQ(WeightOf(4998), 8.51719319141623742665);
}

TEST(SpreadScoring, PartIsWeightedCountAndSkewBeyondOne) {
  EXPECT_DOUBLE_EQ(PartOf(0, 1, 2.5), 0);
  EXPECT_DOUBLE_EQ(PartOf(3, 1, 2.5), 7.5);
  EXPECT_DOUBLE_EQ(PartOf(3, 5, 2.5), 11.5);
}

TEST(SpreadScoring, RoundsHalfAwayFromZero) {
  EXPECT_EQ(Round(0), 0);
  EXPECT_EQ(Round(0.5), 1);
  EXPECT_EQ(Round(1.5), 2);
  EXPECT_EQ(Round(2.5), 3);
  EXPECT_EQ(Round(std::nextafter(0.5, 0)), 0) << "adding 0.5 would round this up to 1";
  EXPECT_EQ(Round(std::nextafter(2.5, 0)), 2);
  EXPECT_EQ(Round(4503599627370497.5), 4503599627370498);
  for (double score = 0; score < 2000; score += 0.1) {
    EXPECT_EQ(Round(score), static_cast<int64_t>(std::round(score))) << score;
  }
}

TEST(SpreadScoring, NormalizeReversesScores) {
  const struct {
    Scores raw;
    Scores want;
  } cases[] = {
      {{}, {}},
      {{0, 0}, {100, 100}},
      {{7}, {100}},
      {{5, 5}, {100, 100}},
      {{0, 10}, {100, 0}},
      {{3, 10, 7}, {100, 30, 60}},
      {{1, 3, 2}, {100, 33, 66}},
      {{kIgnored, 3, 10}, {0, 100, 30}},
      {{kIgnored, 0, 0}, {0, 100, 100}},
      {{kIgnored, kIgnored}, {0, 0}},
  };
  for (const auto& c : cases) {
    Scores scores = c.raw;
    Normalize(scores);
    EXPECT_EQ(scores, c.want) << ::testing::PrintToString(c.raw);
  }
}

// The division in double must give the results of the integer division.
TEST(SpreadScoring, NormalizeIsExact) {
  for (const int64_t max : {1, 3, 7, 99, 101, 1'000'003, 123'456'789}) {
    for (const int64_t min : {int64_t{0}, int64_t{1}, max / 3}) {
      Scores scores = {min, max};
      for (int64_t i = 0; i < 500; ++i) scores.push_back(min + (max - min) * i / 500);
      const Scores raw = scores;
      Normalize(scores);
      for (size_t i = 0; i < raw.size(); ++i) {
        EXPECT_EQ(scores[i], 100 * (max + min - raw[i]) / max) << raw[i] << " of " << max;
      }
    }
  }
  constexpr int64_t kHuge = int64_t{1} << 50;
  Scores huge = {kHuge, kHuge - 1, kHuge / 2};
  Normalize(huge);
  EXPECT_EQ(huge, (Scores{50, 50, 100}));
}

}  // namespace
}  // namespace spread
