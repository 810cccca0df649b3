#include "host/base/count_text.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(WithCommasTest, GroupsThreeDigits) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(1000), "1,000");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
}

TEST(CountOfTest, AddsTheNounInTheRightNumber) {
  EXPECT_EQ(CountOf(0, "node"), "0 nodes");
  EXPECT_EQ(CountOf(1, "node"), "1 node");
  EXPECT_EQ(CountOf(1204, "node"), "1,204 nodes");
}

}  // namespace
}  // namespace berth::host
