// Class PluginRequests, through the whole loop: the eviction of pods that are being bound. For the
// other requests see host/cycle/plugin_requests_test.cc and service_calls_test.cc.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "tests/harness/pod_lifecycle.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The answer to an eviction. `code` is empty until the answer arrives.
struct Evicted {
  std::optional<berth_code> code;
};

void EvictP(PodLifecycle& pod, const char* message, Evicted& evicted) {
  const PodRef victim = FindInCluster(pod);
  const berth_code begun = pod.a().api->evict(
      pod.a().host, &victim->view(), AsStr(std::string_view(message)),
      [](void* to, berth_code code, berth_str) { static_cast<Evicted*>(to)->code = code; },
      &evicted);
  ASSERT_EQ(begun, BERTH_SUCCESS);
}

TEST(PluginRequestsTest, APodThatIsEvictedDuringPreBindWithoutAMessageIsNotBound) {
  PodLifecycle pod;
  Evicted evicted;
  pod.b().pre_bind = pod.AnswersLater();
  pod.Run();
  EvictP(pod, "", evicted);
  pod.harness().Settle();
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Error");
  EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
}

TEST(PluginRequestsTest, APodWhoseBindingFailsMeanwhileIsNotDeleted) {
  PodLifecycle pod;
  Evicted evicted;
  pod.a().pre_bind = pod.AnswersLater();
  pod.Run();
  EvictP(pod, "make room", evicted);
  Stage::Complete(pod.done(), {BERTH_ERROR, {"boom"}});
  pod.harness().Settle();
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  ASSERT_NE(FindInCluster(pod), nullptr);
  EXPECT_FALSE(FindInCluster(pod)->terminating());
  EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_EQ(pod.Outcome(), "Error: running PreBind plugin \"puppet.A\": boom");
}

// A pod that is bound before the eviction is carried out is deleted like any other pod on a node.
TEST(PluginRequestsTest, APodThatIsBoundMeanwhileIsDeleted) {
  PodLifecycle pod;
  Evicted evicted;
  pod.c().bind = pod.AnswersLater();
  pod.Run();
  EvictP(pod, "make room", evicted);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Success");
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  EXPECT_EQ(FindInCluster(pod), nullptr);
}

// The call of PreBind is cancelled. Whatever the plugin answers, the pod is not bound.
TEST(PluginRequestsTest, APodThatIsEvictedDuringPreBindGoesBackToTheQueue) {
  for (const ScriptedAnswer& answer : {ScriptedAnswer{}, ScriptedAnswer{BERTH_ERROR, {"boom"}}}) {
    PodLifecycle pod;
    Evicted evicted;
    pod.b().pre_bind = pod.AnswersLater();
    pod.Run();
    EvictP(pod, "make room", evicted);
    pod.harness().Settle();
    EXPECT_EQ(evicted.code, BERTH_SUCCESS);
    Stage::Complete(pod.done(), answer);
    pod.harness().Settle();
    EXPECT_EQ(pod.Outcome(), "Error: make room");
    EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
    EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
    EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 0);
    EXPECT_EQ(Stage::slots(), 0);
  }
}

}  // namespace
}  // namespace berth::host
