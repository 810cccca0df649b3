#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/abi.h>

#include "host/runtime/points/run_score.h"

namespace berth::host {
namespace {

struct Case {
  const char* description;
  uint32_t mode;
  std::vector<int64_t> raw;
  std::vector<int64_t> normalized;
};

class NormalizeTest : public ::testing::TestWithParam<Case> {};

TEST_P(NormalizeTest, Normalizes) {
  SCOPED_TRACE(GetParam().description);
  std::vector<int64_t> scores = GetParam().raw;
  Normalize(GetParam().mode, scores);
  EXPECT_EQ(scores, GetParam().normalized);
}

constexpr int64_t kMost = INT64_MAX;
constexpr int64_t kLeast = INT64_MIN;

INSTANTIATE_TEST_SUITE_P(
    None, NormalizeTest,
    ::testing::Values(Case{"scores stay", BERTH_NORMALIZE_NONE, {3, -1, 200}, {3, -1, 200}},
                      Case{"no scores", BERTH_NORMALIZE_NONE, {}, {}}));

INSTANTIATE_TEST_SUITE_P(
    Max, NormalizeTest,
    ::testing::Values(
        Case{"the highest score becomes 100", BERTH_NORMALIZE_MAX, {0, 5, 10}, {0, 50, 100}},
        Case{"division truncates", BERTH_NORMALIZE_MAX, {1, 2, 3}, {33, 66, 100}},
        Case{"a maximum of 0 changes nothing", BERTH_NORMALIZE_MAX, {0, 0}, {0, 0}},
        Case{"only negative scores: no change", BERTH_NORMALIZE_MAX, {-5, -1}, {-5, -1}},
        Case{"negative and positive scores", BERTH_NORMALIZE_MAX, {-5, 10}, {-50, 100}},
        Case{"one score", BERTH_NORMALIZE_MAX, {7}, {100}},
        Case{"no scores", BERTH_NORMALIZE_MAX, {}, {}},
        Case{"the largest possible scores",
             BERTH_NORMALIZE_MAX,
             {kMost, kMost / 2, 0},
             {100, 49, 0}},
        Case{"a result outside the int64 range stays outside of 0..100",
             BERTH_NORMALIZE_MAX,
             {kLeast, 1},
             {kLeast, 100}}));

INSTANTIATE_TEST_SUITE_P(
    MaxReversed, NormalizeTest,
    ::testing::Values(
        Case{
            "the lowest score becomes 100", BERTH_NORMALIZE_MAX_REVERSED, {0, 5, 10}, {100, 50, 0}},
        Case{"division truncates before the score is reversed",
             BERTH_NORMALIZE_MAX_REVERSED,
             {1, 2, 3},
             {67, 34, 0}},
        Case{"with a maximum of 0 all scores become 100",
             BERTH_NORMALIZE_MAX_REVERSED,
             {0, 0},
             {100, 100}},
        Case{"only negative scores: all become 100",
             BERTH_NORMALIZE_MAX_REVERSED,
             {-5, -1},
             {100, 100}},
        Case{"negative and positive scores", BERTH_NORMALIZE_MAX_REVERSED, {-5, 10}, {150, 0}},
        Case{"no scores", BERTH_NORMALIZE_MAX_REVERSED, {}, {}},
        Case{"the largest possible scores", BERTH_NORMALIZE_MAX_REVERSED, {kMost, 0}, {0, 100}},
        Case{"a result outside the int64 range stays outside of 0..100",
             BERTH_NORMALIZE_MAX_REVERSED,
             {kLeast, 1},
             {kMost, 0}}));

INSTANTIATE_TEST_SUITE_P(
    MinMax, NormalizeTest,
    ::testing::Values(
        Case{"from 0 to 100", BERTH_NORMALIZE_MIN_MAX, {10, 15, 20}, {0, 50, 100}},
        Case{"division truncates", BERTH_NORMALIZE_MIN_MAX, {0, 1, 2, 3}, {0, 33, 66, 100}},
        Case{"equal scores are all 0", BERTH_NORMALIZE_MIN_MAX, {7, 7}, {0, 0}},
        Case{"one score is 0", BERTH_NORMALIZE_MIN_MAX, {7}, {0}},
        Case{"negative scores", BERTH_NORMALIZE_MIN_MAX, {-10, 0, 10}, {0, 50, 100}},
        Case{"no scores", BERTH_NORMALIZE_MIN_MAX, {}, {}},
        Case{"the whole range of int64",
             BERTH_NORMALIZE_MIN_MAX,
             {kLeast, 0, kMost},
             {0, 50, 100}}));

INSTANTIATE_TEST_SUITE_P(
    MinMaxFloat, NormalizeTest,
    ::testing::Values(
        Case{"from 0 to 100", BERTH_NORMALIZE_MIN_MAX_FLOAT, {10, 15, 20}, {0, 50, 100}},
        Case{"a share that has no exact double is rounded down",
             BERTH_NORMALIZE_MIN_MAX_FLOAT,
             {0, 28, 29, 30, 57, 58, 100},
             {0, 28, 28, 30, 56, 57, 100}},
        Case{"equal scores are all 0", BERTH_NORMALIZE_MIN_MAX_FLOAT, {7, 7}, {0, 0}},
        Case{"one score is 0", BERTH_NORMALIZE_MIN_MAX_FLOAT, {7}, {0}},
        Case{"negative scores", BERTH_NORMALIZE_MIN_MAX_FLOAT, {-10, 0, 10}, {0, 50, 100}},
        Case{"no scores", BERTH_NORMALIZE_MIN_MAX_FLOAT, {}, {}},
        Case{"the whole range of int64",
             BERTH_NORMALIZE_MIN_MAX_FLOAT,
             {kLeast, 0, kMost},
             {0, 50, 100}}));

}  // namespace
}  // namespace berth::host
