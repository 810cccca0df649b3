// The extension points are listed once more here, because plugins rely on their names and order.
#include "host/guard/point.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(Points, HaveTheseNames) {
  std::vector<std::string_view> names;
  for (const PointInfo& info : kPoints) names.push_back(info.name);
  EXPECT_THAT(names,
              ElementsAre("PreEnqueue", "EnqueueExtensions", "QueueSort", "Entity", "PreFilter",
                          "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit",
                          "PreBind", "Bind", "PostBind", "AttemptFailed", "Changes", "HandOver"));
}

TEST(Points, AreInTheOrderOfTheEnumeration) {
  for (size_t i = 0; i < kPointCount; ++i) {
    EXPECT_EQ(static_cast<size_t>(kPoints[i].point), i);
    EXPECT_EQ(FindPoint(kPoints[i].id), &kPoints[i]);
    EXPECT_EQ(&InfoOf(kPoints[i].point), &kPoints[i]);
  }
  EXPECT_EQ(FindPoint("berth.filter/2"), nullptr);
  EXPECT_EQ(FindPoint("berth.queue_sort/2"), &InfoOf(Point::kQueueSort));
  EXPECT_EQ(FindPoint("berth.queue_sort/3"), nullptr);
  EXPECT_EQ(FindPoint(""), nullptr);
}

TEST(Points, OfPluginHaveOneNameForAllRevisions) {
  const std::vector<std::string> ids = {"berth.queue_sort/2", "berth.filter/1",
                                        "berth.queue_sort/1", "acme.later/1"};
  EXPECT_THAT(PointNames(ids), ElementsAre("QueueSort", "Filter", "acme.later/1"));
  EXPECT_TRUE(HasPoint(ids, Point::kQueueSort));
  EXPECT_TRUE(HasPoint(std::span(ids).first(1), Point::kQueueSort));
  EXPECT_TRUE(HasPoint(ids, Point::kFilter));
  EXPECT_FALSE(HasPoint(ids, Point::kScore));
  EXPECT_FALSE(HasPoint({}, Point::kFilter));
}

TEST(Points, OfSeveralRevisionsOnlyTheNewestIsCalled) {
  const struct {
    std::vector<std::string> ids;
    std::vector<std::string> called;
  } kTable[] = {
      {{}, {}},
      {{"berth.filter/1", "berth.changes/1"}, {"berth.filter/1", "berth.changes/1"}},
      {{"berth.filter/2", "acme.later/1"}, {}},
      {{"berth.queue_sort/1"}, {"berth.queue_sort/1"}},
      {{"berth.queue_sort/2"}, {"berth.queue_sort/2"}},
      {{"berth.queue_sort/1", "berth.queue_sort/2"}, {"berth.queue_sort/2"}},
      {{"berth.queue_sort/2", "berth.queue_sort/1"}, {"berth.queue_sort/2"}},
  };
  for (const auto& row : kTable) EXPECT_EQ(CalledPoints(row.ids), row.called);
}

}  // namespace
}  // namespace berth::host
