// Class BindingCycle, through the whole loop. For failing binding cycles see reservation_test.cc.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "tests/harness/pod_lifecycle.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BindingCycleTest, EndsWhenAnotherClientBindsTheWaitingPod) {
  for (const char* node : {"n1", "n2"}) {
    SCOPED_TRACE(node);
    PodLifecycle pod;
    pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, 60 * kSecond);
    pod.Run();
    pod.harness().AddNode({.name = "n2"});
    pod.harness().cluster().Bind({"default", "p", ""}, node, nullptr);
    pod.harness().Settle();
    EXPECT_EQ(pod.harness().loop().in_flight(), 0U);
    EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
    EXPECT_EQ(pod.harness().PlaceOf("p"), std::nullopt);
    EXPECT_EQ(pod.harness().Column("req.cpu", node), 1000);
    EXPECT_EQ(pod.harness().loop().cache().pod_count(), 1U);
    EXPECT_EQ(Stage::slots(), 0);
    // If the pod went to another node, its place on n1 is free for "other".
    const QueuedEntity& other = *pod.harness().loop().queue().Find("uid-other");
    EXPECT_EQ(other.place != QueuePlace::kUnschedulable, std::string_view(node) != "n1");
  }
}

// The cache has the pod although the queue has it too. Nothing was reserved, so nothing is undone.
TEST(BindingCycleTest, DoesNotBeginForAPodThatTheCacheHasOnANode) {
  PodLifecycle pod;
  pod.harness().AddNode({.name = "n0"});
  pod.BeforeRun([&] {
    const PodRef twin = pod.harness().objects().PodFrom(
        R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"twin","namespace":"default",)"
        R"("uid":"uid-p"},"spec":{"nodeName":"n0","containers":[{"name":"c"}]}})");
    pod.harness().client().SendPodEvent({WatchType::kAdded, twin, PodRef(), false});
  });
  pod.Run();
  EXPECT_EQ(pod.Outcome(), "Error: pod default/p is in the cache, so it can't be assumed");
  EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_THAT(pod.calls(), IsEmpty());
  EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 0);
  EXPECT_EQ(pod.harness().loop().cache().pod_count(), 1U);
  EXPECT_EQ(Stage::slots(), 0);
}

TEST(BindingCycleTest, GoesOnAfterTheLoopWasStopped) {
  PodLifecycle pod;
  pod.a().pre_bind = pod.AnswersLater();
  pod.Run();
  pod.harness().loop().Stop();
  pod.harness().Settle();
  EXPECT_EQ(pod.harness().loop().in_flight(), 1U);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Success");
  EXPECT_EQ(pod.harness().loop().in_flight(), 0U);
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "post_bind B"));
}

}  // namespace
}  // namespace berth::host
