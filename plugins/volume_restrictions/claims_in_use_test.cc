#include "claims_in_use.h"

#include <vector>

#include <gtest/gtest.h>

#include <berth/testing/builders.h>

namespace restrictions {
namespace {

using berth::testing::Ids;
using berth::testing::MakePod;
using berth::testing::PodHandle;
using berth::testing::PodSpec;

class ClaimsInUseTest : public ::testing::Test {
 protected:
  static PodSpec PodWith(std::vector<const char*> claims) {
    PodSpec pod = MakePod("p");
    for (const char* claim : claims) {
      pod.Volume({.name = "v", .kind = BERTH_VOLUME_CLAIM, .source = claim});
    }
    return pod;
  }
  void Node(uint32_t kind, uint32_t row) { Send(kind, row, nullptr, nullptr); }
  void Pod(uint32_t kind, uint32_t row, const PodHandle& pod, const PodHandle* old = nullptr) {
    Send(kind, row, pod.get(), old == nullptr ? nullptr : old->get());
  }
  int64_t Count(const char* claim) { return index_.Count(ids_.Intern("default"), claim); }

  Ids ids_;
  ClaimsInUse index_;

 private:
  void Send(uint32_t kind, uint32_t row, const berth_pod* pod, const berth_pod* old) {
    berth_change change = {};
    change.struct_size = sizeof(change);
    change.kind = kind;
    change.row = row;
    change.pod = pod;
    change.old_pod = old;
    index_.OnChange(change);
  }
};

TEST_F(ClaimsInUseTest, PodsCountWhileTheyAreOnANode) {
  const PodHandle pod(PodWith({"a", "b", "a"}), ids_);
  Node(BERTH_CHANGE_NODE_ADDED, 1);
  Pod(BERTH_CHANGE_POD_ADDED, 1, pod);
  EXPECT_EQ(Count("a"), 2);
  EXPECT_EQ(Count("b"), 1);
  EXPECT_EQ(Count("c"), 0);
  EXPECT_EQ(index_.Count(ids_.Intern("other"), "a"), 0);
  Pod(BERTH_CHANGE_POD_REMOVED, 1, pod);
  EXPECT_EQ(Count("a"), 0);
}

TEST_F(ClaimsInUseTest, PodsOfAMissingNodeDoNotCount) {
  const PodHandle pod(PodWith({"a"}), ids_);
  Pod(BERTH_CHANGE_POD_ADDED, 1, pod);
  EXPECT_EQ(Count("a"), 0);
  Node(BERTH_CHANGE_NODE_ADDED, 2);
  EXPECT_EQ(Count("a"), 0) << "another node";
  Node(BERTH_CHANGE_NODE_ADDED, 1);
  EXPECT_EQ(Count("a"), 1);
  Node(BERTH_CHANGE_NODE_CHANGED, 1);
  EXPECT_EQ(Count("a"), 1);
  Node(BERTH_CHANGE_NODE_REMOVED, 1);
  EXPECT_EQ(Count("a"), 0);
  Node(BERTH_CHANGE_NODE_ADDED, 1);
  EXPECT_EQ(Count("a"), 1) << "the pod is still assigned to the node";
  Node(BERTH_CHANGE_NODE_REMOVED, 1);
  Pod(BERTH_CHANGE_POD_REMOVED, 1, pod);
  Node(BERTH_CHANGE_NODE_ADDED, 1);
  EXPECT_EQ(Count("a"), 0);
}

TEST_F(ClaimsInUseTest, AChangedPodCountsWithItsNewClaims) {
  const PodHandle before(PodWith({"a"}), ids_);
  const PodHandle after(PodWith({"b"}), ids_);
  Node(BERTH_CHANGE_NODE_ADDED, 1);
  Pod(BERTH_CHANGE_POD_ADDED, 1, before);
  Pod(BERTH_CHANGE_POD_CHANGED, 1, after, &before);
  EXPECT_EQ(Count("a"), 0);
  EXPECT_EQ(Count("b"), 1);
  Node(BERTH_CHANGE_SYNCED, 0);
  EXPECT_EQ(Count("b"), 1);
}

}  // namespace
}  // namespace restrictions
