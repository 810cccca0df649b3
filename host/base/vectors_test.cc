#include "host/base/vectors.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(GrowthTest, CapacityGrowsByAQuarterOr64) {
  struct Case {
    size_t before, after;
  };
  for (const Case& c :
       {Case{0, 64}, {64, 128}, {255, 319}, {256, 320}, {257, 321}, {260, 325}, {10'000, 12'500}}) {
    EXPECT_EQ(GrownCapacity(c.before), c.after) << c.before;
  }
}

TEST(GrowthTest, ReservesInFullVectorsOnly) {
  std::vector<int> numbers(3);
  numbers.shrink_to_fit();
  std::vector<std::string> texts;
  texts.reserve(5);
  ReserveOneMore(numbers, texts);
  EXPECT_EQ(numbers.capacity(), GrownCapacity(3));
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(texts.capacity(), 5U);
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SortUnique, SortsAndRemovesRepeatedValues) {
  std::vector<int> numbers = {3, 1, 2, 3, 1};
  SortUnique(numbers);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
  std::vector<std::string> texts = {"b", "a", "b"};
  SortUnique(texts);
  EXPECT_THAT(texts, ElementsAre("a", "b"));
}

TEST(SortUnique, KeepsAnEmptyVectorEmpty) {
  std::vector<int> none;
  SortUnique(none);
  EXPECT_THAT(none, IsEmpty());
}

}  // namespace
}  // namespace berth::host
