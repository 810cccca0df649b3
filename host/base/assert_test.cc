#include "host/base/assert.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(Assert, ATrueConditionIsEvaluatedOnceAndPasses) {
  int32_t evaluations = 0;
  BERTH_ASSERT(++evaluations == 1);
  BERTH_ASSERT_MSG(++evaluations == 2, "evaluated %d times", evaluations);
  EXPECT_EQ(evaluations, 2);
}

TEST(Assert, IsSingleStatementInAnIfWithoutBraces) {
  bool reached_else = false;
  if (false)
    BERTH_ASSERT(false);
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

TEST(AssertDeathTest, AFailureNamesFileLineAndExpression) {
  const int32_t rows = 3;
  EXPECT_DEATH(BERTH_ASSERT(rows == 4), "assert_test.cc:[0-9]+: assertion failed: rows == 4\n");
}

TEST(AssertDeathTest, AFailureEndsWithItsMessage) {
  const int32_t row = 7;
  EXPECT_DEATH(BERTH_ASSERT_MSG(row < 3, "row %d of %s", row, "the node table"),
               "assertion failed: row < 3: row 7 of the node table\n");
}

}  // namespace
}  // namespace berth::host
