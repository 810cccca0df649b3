// The extension points are listed once more here, because plugins rely on their names and order.
#include "host/guard/point.h"

#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(Points, AreTheseFourteen) {
  std::vector<std::string_view> names;
  for (const PointInfo& info : kPoints) names.push_back(info.name);
  EXPECT_THAT(names, ElementsAre("PreEnqueue", "EnqueueExtensions", "QueueSort", "PreFilter",
                                 "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit",
                                 "PreBind", "Bind", "PostBind", "Changes"));
}

TEST(Points, AreInTheOrderOfTheEnumeration) {
  for (size_t i = 0; i < kPointCount; ++i) {
    EXPECT_EQ(static_cast<size_t>(kPoints[i].point), i);
    EXPECT_EQ(FindPoint(kPoints[i].id), &kPoints[i]);
    EXPECT_EQ(&InfoOf(kPoints[i].point), &kPoints[i]);
  }
  EXPECT_EQ(FindPoint("berth.filter/2"), nullptr);
  EXPECT_EQ(FindPoint(""), nullptr);
}

}  // namespace
}  // namespace berth::host
