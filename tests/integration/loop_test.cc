// What the loop keeps while pods come and go, and what it writes.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/harness.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSecond = TestClock::kSecond;

class LoopTest : public ::testing::Test {
 protected:
  void Start(const TestProfile& profile = TestProfile()) {
    const Status status = harness_.Start(profile);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  Harness harness_;
};

// Nobody is tried: what the cluster alone brings along must not stay either.
TEST_F(LoopTest, TextsOfPodsThatComeAndGoDoNotPileUp) {
  constexpr int kPods = 100'000;
  harness_.AddNode({.name = "n1"});
  Start();
  size_t most = 0;
  for (int i = 0; i < kPods; ++i) {
    harness_.AddPod(
        {.name = "p", .node = "n1", .meta = R"("labels":{"number":")" + std::to_string(i) + "\"}"});
    ASSERT_TRUE(harness_.cluster().Remove(kPodKind, "default", "p").ok());
    harness_.Settle();
    most = std::max(most, harness_.objects().interner().size());
  }
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
  EXPECT_LT(most, 20'000U);
}

// Each host port is a column of its own, built for the first pod that wants it.
TEST_F(LoopTest, ColumnsOfPodsThatComeAndGoDoNotPileUp) {
  constexpr int kPorts = 2000;
  for (int i = 0; i < 10; ++i) harness_.AddNode({.name = "n" + std::to_string(i)});
  harness_.options().idle_columns = 100;
  Start(TestProfile().Use("NodePorts",
                          {Point::kPreFilter, Point::kFilter, Point::kEnqueueExtensions}));
  const size_t before = harness_.loop().cache().table().column_count();
  size_t most = 0;
  for (int i = 0; i < kPorts; ++i) {
    const std::string number = std::to_string(i + 1);
    harness_.AddObject(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p)" + number +
                       R"(","namespace":"default"},"spec":{"containers":[{"name":"c","ports":[)"
                       R"({"containerPort":80,"hostPort":)" +
                       number + "}]}]}}");
    harness_.Run();
    most = std::max(most, harness_.loop().cache().table().column_count());
  }
  EXPECT_EQ(harness_.loop().cache().pod_count(), size_t{kPorts});
  EXPECT_GT(most, before + 90);
  EXPECT_LE(most, before + 100);
}

// A condition that was told of an older pod says nothing about the present one.
TEST_F(LoopTest, TheConditionSaysOfWhichGenerationItIs) {
  std::vector<std::string> said;
  harness_.line().on_patch = [&](const PodName&, const PodStatusPatch& patch) {
    const PodStatusPatch::Condition& condition = *patch.pod_scheduled;
    EXPECT_EQ(condition.status, BERTH_CONDITION_FALSE);
    said.push_back(std::string(condition.reason) + " " +
                   std::to_string(condition.observed_generation) + ": " +
                   std::string(condition.message));
    return Status();
  };
  Start();
  harness_.AddPod({.name = "p", .meta = R"("generation":3)"});
  harness_.Run();
  EXPECT_THAT(said, ElementsAre("Unschedulable 3: no nodes available to schedule pods"));
  harness_.Advance(400 * kSecond);  // It is tried again for having waited so long.
  EXPECT_EQ(said.size(), 1U);
  said.clear();
  ASSERT_TRUE(harness_.cluster()
                  .Update(harness_.objects().Pod({.name = "p", .meta = R"("generation":4)"}))
                  .ok());
  harness_.Advance(400 * kSecond);
  EXPECT_THAT(said, ElementsAre("Unschedulable 4: no nodes available to schedule pods"));
}

}  // namespace
}  // namespace berth::host
