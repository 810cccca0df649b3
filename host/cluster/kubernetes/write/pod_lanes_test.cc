#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/cluster/kubernetes/write/pod_writer.h"

namespace berth::host {
namespace {

class PodLanesTest : public ::testing::Test {
 protected:
  // Adds a request that records its start and stays under way.
  void Add(const char* pod, const std::string& request) {
    lanes_.Add({"default", pod, {}}, [this, request] { started_.push_back(request); });
  }
  void Finish(const char* pod) { lanes_.Finish({"default", pod, {}}); }

  PodLanes lanes_;
  std::vector<std::string> started_;
};

using LaneRequests = std::vector<std::string>;

TEST_F(PodLanesTest, StartsFirstRequestOfEachPodAtOnce) {
  Add("a", "a1");
  Add("b", "b1");
  Add("a", "a2");
  EXPECT_EQ(started_, (LaneRequests{"a1", "b1"}));
  EXPECT_EQ(lanes_.pods(), 2U);
}

TEST_F(PodLanesTest, StartsNextRequestWhenOneBeforeHasFinished) {
  Add("a", "a1");
  Add("a", "a2");
  Add("a", "a3");
  Finish("a");
  EXPECT_EQ(started_, (LaneRequests{"a1", "a2"}));
  Finish("a");
  EXPECT_EQ(started_, (LaneRequests{"a1", "a2", "a3"}));
  EXPECT_EQ(lanes_.pods(), 1U);
  Finish("a");
  EXPECT_EQ(lanes_.pods(), 0U);
  Add("a", "a4");
  EXPECT_EQ(started_.back(), "a4");
}

TEST_F(PodLanesTest, DistinguishesNamespaces) {
  Add("a", "default/a");
  lanes_.Add({"other", "a", {}}, [this] { started_.emplace_back("other/a"); });
  EXPECT_EQ(started_, (LaneRequests{"default/a", "other/a"}));
  lanes_.Finish({"other", "a", {}});
  EXPECT_EQ(lanes_.pods(), 1U);
}

TEST_F(PodLanesTest, AcceptsRequestsThatFinishWithinTheirStart) {
  // So many that a recursion would exhaust the stack.
  constexpr int kRequests = 200'000;
  int finished = 0;
  Add("a", "a1");
  for (int i = 0; i < kRequests; ++i) {
    lanes_.Add({"default", "a", {}}, [this, &finished] {
      ++finished;
      Finish("a");
    });
  }
  EXPECT_EQ(finished, 0);
  Finish("a");
  EXPECT_EQ(finished, kRequests);
  EXPECT_EQ(lanes_.pods(), 0U);
}

TEST_F(PodLanesTest, AcceptsRequestsThatAreAddedWithinAStart) {
  lanes_.Add({"default", "a", {}}, [this] {
    started_.emplace_back("a1");
    Add("a", "a2");
    for (int i = 0; i < 100; ++i) Add(("b" + std::to_string(i)).c_str(), "b");
    Finish("a");
  });
  EXPECT_EQ(started_.size(), 102U);
  EXPECT_EQ(started_.front(), "a1");
  EXPECT_EQ(started_.back(), "a2");
  EXPECT_EQ(lanes_.pods(), 101U);
}

TEST(PodLanesDeathTest, RefusesAFinishWithoutARequest) {
  PodLanes lanes;
  EXPECT_DEATH(lanes.Finish({"default", "a", {}}), "is_under_way");
}

}  // namespace
}  // namespace berth::host
