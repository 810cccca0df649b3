#include "host/base/sorted_vector.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

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
