// Class ShadowObserver: random events.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/split_mix.h"
#include "tests/harness/shadow_fixture.h"

namespace berth::host {
namespace {

// Random changes and random placements, most of which need other states. After them, cache and
// queue hold exactly what the cluster holds, and each placement was judged once.
class ShadowChurnTest : public ShadowTest {
 protected:
  void Run(uint64_t seed) {
    SplitMix64 random(seed);
    for (int i = 0; i < 4; ++i) AddNode("n" + std::to_string(i));
    Start();
    for (int step = 0; step < 400; ++step) {
      Change(random.Next());
      if (random.Next() % 4 == 0) Advance(static_cast<int64_t>(random.Next() % 400) * 1'000'000);
    }
    Deliver();
    scheduler_->Finish();
    Check(seed);
  }

 private:
  void Change(uint64_t random) {
    const uint64_t choice = random % 16;
    const uint64_t which = random / 16;
    if (choice < 4) return AddSmallPod("p" + std::to_string(++pods_));
    if (choice < 10) return BindSome(which);
    if (choice < 12) return RemoveSomePod(which);
    if (choice == 12) return NominateSome(which);
    const std::string node = "n" + std::to_string(which % 6);
    if (cluster_.FindNode(node) == nullptr) return AddNode(node);
    if (choice == 13) return Remove(kNodeKind, node);
    const std::string cpu = std::to_string(2 + which / 6 % 4);
    ASSERT_TRUE(cluster_
                    .Update(objects_.Node(
                        {.name = node, .allocatable = R"("cpu":")" + cpu + R"(","pods":"9")"}))
                    .ok());
  }
  std::vector<PodRef> Pods(bool is_pending) {
    std::vector<PodRef> pods;
    for (const AnyObject& object : cluster_.List(kPodKind)) {
      const PodRef& pod = std::get<PodRef>(object);
      if (pod->node_name().empty() == is_pending) pods.push_back(pod);
    }
    return pods;
  }
  void BindSome(uint64_t which) {
    const std::vector<PodRef> pods = Pods(true);
    if (pods.empty()) return;
    const PodRef& pod = pods[which % pods.size()];
    Bind(std::string(pod->name()), "n" + std::to_string(which / 64 % 6));
    ++placed_;
  }
  void RemoveSomePod(uint64_t which) {
    const std::vector<PodRef> pods = Pods(which % 4 == 0);
    if (!pods.empty()) Remove(kPodKind, std::string(pods[which / 4 % pods.size()]->name()));
  }
  void NominateSome(uint64_t which) {
    const std::vector<PodRef> pods = Pods(true);
    if (pods.empty()) return;
    Nominate(std::string(pods[which % pods.size()]->name()), "n" + std::to_string(which / 64 % 6));
  }
  void Check(uint64_t seed) {
    SchedulingLoop& loop = scheduler_->host().loop();
    loop.queue().CheckInvariants();
    size_t bound = 0;
    size_t pending = 0;
    for (const AnyObject& object : cluster_.List(kPodKind)) {
      const PodRef& pod = std::get<PodRef>(object);
      if (pod->node_name().empty()) {
        ++pending;
        EXPECT_EQ(loop.queue().PodOf(pod->uid()), pod) << seed;
        EXPECT_EQ(loop.queue().nominator().NodeOf(pod->uid()), pod->nominated_node()) << seed;
      } else {
        ++bound;
        EXPECT_EQ(loop.cache().PodOf(pod->uid()), pod) << seed << " " << pod->Key();
        EXPECT_EQ(loop.queue().Find(pod->uid()), nullptr) << seed << " " << pod->Key();
      }
    }
    EXPECT_EQ(loop.cache().pod_count(), bound) << seed;
    EXPECT_EQ(loop.cache().assumed_count(), 0U) << seed;
    EXPECT_EQ(loop.queue().size(), pending) << seed;
    const std::vector<AnyObject> nodes = cluster_.List(kNodeKind);
    EXPECT_EQ(loop.cache().table().node_count(), nodes.size()) << seed;
    for (const AnyObject& object : nodes) {
      const NodeRef& node = std::get<NodeRef>(object);
      const Row row = loop.cache().table().FindNode(node->name());
      ASSERT_NE(row, kNoRow) << seed << " " << node->name();
      EXPECT_EQ(loop.cache().table().node(row), node) << seed;
    }
    std::set<std::string> judged;
    for (const ShadowDecision& decision : decisions_) judged.insert(decision.pod);
    EXPECT_EQ(judged.size(), decisions_.size()) << seed << ": a pod was judged twice";
    EXPECT_EQ(decisions_.size(), placed_) << seed;
    EXPECT_EQ(scheduler_->totals().judged(), placed_) << seed;
    others_ += scheduler_->totals().by_verdict[static_cast<size_t>(ShadowVerdict::kOrder)];
    unexplained_ += scheduler_->totals().unexplained();
  }

 protected:
  int pods_ = 0;
  size_t placed_ = 0;
  uint64_t others_ = 0;
  uint64_t unexplained_ = 0;
};

class ShadowChurnSeedsTest : public ShadowChurnTest,
                             public ::testing::WithParamInterface<uint64_t> {};

TEST_P(ShadowChurnSeedsTest, OtherStatesLeaveNoTrace) {
  Run(GetParam());
  EXPECT_GT(others_, 0U);
  EXPECT_GT(unexplained_, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShadowChurnSeedsTest, ::testing::Range<uint64_t>(1, 21));

// The other scheduler is this one: it decides with the same plugins, and its bindings arrive up to
// seven places late. Every placement is then explained.
TEST_F(ShadowChurnTest, BindingsThatAreShuffledAreExplained) {
  for (int i = 1; i <= 6; ++i) AddNode("n" + std::to_string(i));
  const int kPods = 18;
  for (int i = 0; i < kPods; ++i) AddSmallPod("p" + std::to_string(i));
  Start();
  std::vector<std::string> bindings;
  for (int i = 0; i < kPods; ++i) bindings.push_back("p" + std::to_string(i));
  SplitMix64 random(7);
  for (size_t i = 0; i + 7 < bindings.size(); ++i) {
    std::swap(bindings[i], bindings[i + random.Next() % 7]);
  }
  for (const std::string& pod : bindings) {
    Bind(pod, "n" + std::to_string(std::stoi(pod.substr(1)) % 6 + 1));
  }
  AdvancePastWindow();
  EXPECT_EQ(scheduler_->totals().judged(), static_cast<uint64_t>(kPods));
  EXPECT_EQ(scheduler_->totals().agreement(), 100.0);
}

}  // namespace
}  // namespace berth::host
