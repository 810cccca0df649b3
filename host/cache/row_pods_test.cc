#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/split_mix.h"
#include "host/cache/node_table.h"

namespace berth::host {
namespace {

class RowPodsTest : public ::testing::Test {
 protected:
  // Expects exactly these pods, in any order, and their views in the order of the references.
  static void ExpectPods(const RowPods& row, const std::vector<PodRef>& pods) {
    EXPECT_THAT(row.refs(), ::testing::UnorderedElementsAreArray(pods));
    ASSERT_EQ(row.views().size(), pods.size());
    for (size_t i = 0; i < pods.size(); ++i) EXPECT_EQ(row.views()[i], &row.refs()[i]->view());
    EXPECT_EQ(row.empty(), pods.empty());
  }

  PodRef MakePod(std::string name) { return objects_.Pod({.name = std::move(name)}); }

 private:
  TestObjects objects_;
};

TEST_F(RowPodsTest, HasWhatAVectorHasAfterRandomChanges) {
  RowPods row;
  std::vector<PodRef> expected;
  SplitMix64 random(1);
  for (int step = 0; step < 2000; ++step) {
    if (expected.empty() || random.Next() % 5 < 3) {
      const PodRef pod = MakePod("p" + std::to_string(step));
      row.Add(pod);
      expected.push_back(pod);
    } else {
      const size_t at = random.Next() % expected.size();
      EXPECT_EQ(row.Remove(&expected[at]->view()), expected[at]);
      expected.erase(expected.begin() + static_cast<ptrdiff_t>(at));
    }
    if (step % 50 == 0) ExpectPods(row, expected);
  }
  ExpectPods(row, expected);
}

TEST_F(RowPodsTest, HoldsItsPodsAndNoOthers) {
  const PodRef pod = MakePod("p");
  {
    RowPods row;
    row.Add(pod);
    EXPECT_EQ(pod.use_count(), 2);
    RowPods moved(std::move(row));
    ExpectPods(moved, {pod});
    EXPECT_TRUE(row.empty());  // NOLINT: the state after a move is part of the contract.
    row = std::move(moved);
    ExpectPods(row, {pod});
    EXPECT_EQ(pod.use_count(), 2);
    row.Add(pod);
    row.Remove(&pod->view());
    EXPECT_EQ(pod.use_count(), 2);
  }
  EXPECT_EQ(pod.use_count(), 1);
}

TEST_F(RowPodsTest, DeathIfThePodIsNotThere) {
  RowPods row;
  row.Add(MakePod("a"));
  const PodRef other = MakePod("b");
  EXPECT_DEATH(row.Remove(&other->view()), "not on the row");
}

}  // namespace
}  // namespace berth::host
