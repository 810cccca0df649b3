#include "host/cluster/kubernetes/watch/unreadable_objects.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(UnreadableObjectsTest, AListReplacesWhatWasBeforeIt) {
  UnreadableObjects objects;
  objects.Add("d", "before", "bad");
  objects.BeginList();
  objects.Add("d", "first try", "bad");
  // The list begins anew, as after a token that has expired.
  objects.BeginList();
  objects.Add("d", "b", "bad");
  objects.Add("", "node", "bad");
  EXPECT_EQ(objects.Read(9).count, 4U);
  objects.EndList();
  EXPECT_THAT(objects.Read(9).examples, ElementsAre("d/b: bad", "node: bad"));
  objects.Add("d", "c", "bad");
  objects.Remove("d", "b");
  EXPECT_THAT(objects.Read(9).examples, ElementsAre("d/c: bad", "node: bad"));
}

TEST(UnreadableObjectsTest, ReasonsAndNumberHaveALimit) {
  UnreadableObjects objects;
  objects.Add("d", "", "nobody could remove it");
  EXPECT_EQ(objects.Read(9).count, 0U);
  objects.Add("d", "a", std::string(1000, 'x'));
  EXPECT_EQ(objects.Read(1).examples[0].size(), std::string("d/a: ").size() + 300);
  const auto add_many = [&objects] {
    for (int i = 0; i < 10'001; ++i) objects.Add("d", std::to_string(i), "bad");
  };
  add_many();
  EXPECT_EQ(objects.Read(2).count, 10'000U);
  // Another list has the same objects. The first one is gone.
  objects.BeginList();
  add_many();
  objects.EndList();
  EXPECT_EQ(objects.Read(2).count, 9'999U);
  EXPECT_EQ(objects.Read(2).examples.size(), 2U);
}

}  // namespace
}  // namespace berth::host
