// Class BindingCycle, through the whole loop. For what is undone after a failure see
// reservation_test.cc.
#include "host/cycle/binding_cycle.h"

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
    pod.harness().options().logs_decisions = true;
    pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, 60 * kSecond);
    pod.Run();
    pod.harness().lines().clear();
    pod.harness().AddNode({.name = "n2"});
    pod.harness().cluster().Bind({"default", "p", ""}, node, nullptr);
    pod.harness().Settle();
    EXPECT_EQ(pod.harness().loop().binding_count(), 0U);
    EXPECT_THAT(pod.harness().lines(),
                ::testing::Contains(
                    "scheduling: Pod was deleted or bound meanwhile; not retrying: 0/1 nodes are "
                    "available: 1 bound by another client. pod=default/p node=n1"));
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

// A finalizer keeps the pod, so that it goes back to the queue.
TEST(BindingCycleTest, DeletionOfAWaitingPodLogsNoError) {
  PodLifecycle pod;
  pod.harness().options().logs_decisions = true;
  pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, 60 * kSecond);
  pod.Run();
  pod.harness().lines().clear();
  pod.BeginDeletion();
  EXPECT_THAT(pod.harness().lines(),
              ::testing::Contains("scheduling: Pod is being deleted; not retrying: 0/1 nodes are "
                                  "available: 1 removed. pod=default/p node=n1"));
}

// The cache has the pod although the queue has it too. Nothing was reserved, so nothing is undone.
TEST(BindingCycleTest, DoesNotBeginForBoundPods) {
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
  EXPECT_EQ(pod.harness().loop().binding_count(), 1U);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Success");
  EXPECT_EQ(pod.harness().loop().binding_count(), 0U);
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "post_bind B"));
}

// --- Bind plugins with the embedded cluster ------------------------------------------------------

class BindingCycleBindTest : public ::testing::Test {
 protected:
  BindingCycleBindTest() { harness_.AddNodes({"n1"}); }

  AttemptResult With(const TestProfile& profile) {
    const Status status = harness_.Start(profile);
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    return harness_.Schedule({.name = "p", .requests = "\"cpu\":\"1\",\"memory\":\"1Gi\""});
  }
  AttemptResult With(const char* args) {
    return With(TestProfile().Use("test.A", {Point::kBind}, args));
  }

  std::string NodeOf(const std::string& pod) {
    return std::string(harness_.cluster().FindPod("default", pod)->node_name());
  }

  Harness harness_;
};

TEST_F(BindingCycleBindTest, TheHostBindsForThePlugin) {
  const AttemptResult result = With(R"({"bind":{"how":"api"}})");
  EXPECT_EQ(Harness::Outcome(result), "Success");
  EXPECT_EQ(result.node, "n1");
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 1000);
  EXPECT_EQ(harness_.loop().cache().pod_count(), 1U);
  EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);  // The watch has confirmed the binding.
}

TEST_F(BindingCycleBindTest, PluginBoundPodStaysAssumedUntilConfirmed) {
  for (const char* args : {R"({"bind":{"how":"return"}})", R"({"bind":{"how":"complete"}})"}) {
    SCOPED_TRACE(args);
    Harness harness;
    harness.AddNodes({"n1"});
    ASSERT_TRUE(harness.Start(TestProfile().Use("test.A", {Point::kBind}, args)).ok());
    const auto result = harness.Schedule({.name = "p", .requests = "\"cpu\":\"1\""});
    EXPECT_EQ(Harness::Outcome(result), "Success");
    EXPECT_EQ(result.node, "n1");
    EXPECT_EQ(harness.Column("req.cpu", "n1"), 1000);
    EXPECT_EQ(harness.loop().cache().assumed_count(), 1U);
  }
}

struct BindCase {
  const char* args;
  const char* outcome;
};

TEST_F(BindingCycleBindTest, AFailureRemovesThePodFromTheCache) {
  constexpr BindCase kTable[] = {
      {R"({"bind":{"code":1,"reasons":["boom","bang"]}})",
       "Error: running Bind plugin \"test.A\": boom, bang"},
      {R"({"bind":{"code":1}})", "Error: running Bind plugin \"test.A\": plugin returned Error"},
      {R"({"bind":{"code":37,"reasons":["a bug"]}})",
       "Error: running Bind plugin \"test.A\": a bug"},
      {R"({"bind":{"code":2,"reasons":["not there"]}})", "Unschedulable: not there"},
      {R"({"bind":{"code":5}})", "Error: all Bind plugins skipped the pod"},
      {R"({"bind":{"how":"complete","code":1,"reasons":["boom"]}})",
       "Error: running Bind plugin \"test.A\": boom"},
      {R"({"bind":{"how":"complete","code":5}})", "Error: all Bind plugins skipped the pod"},
      {R"({"bind":{"how":"small"}})",
       "Error: running Bind plugin \"test.A\": gave a berth_outcome that is too small"},
      // If a plugin completes the call and returns a code as well, the completion counts.
      {R"({"bind":{"how":"both","code":1,"reasons":["boom"]}})",
       "Error: running Bind plugin \"test.A\": boom"},
  };
  for (const BindCase& row : kTable) {
    SCOPED_TRACE(row.args);
    Harness harness;
    harness.AddNodes({"n1"});
    ASSERT_TRUE(harness.Start(TestProfile().Use("test.A", {Point::kBind}, row.args)).ok());
    const auto result = harness.Schedule({.name = "p", .requests = "\"cpu\":\"1\""});
    EXPECT_EQ(Harness::Outcome(result), row.outcome);
    EXPECT_EQ(result.node, "");
    EXPECT_EQ(harness.Column("req.cpu", "n1"), 0);
    EXPECT_EQ(harness.Column("pods.count", "n1"), 0);
    EXPECT_EQ(harness.loop().cache().pod_count(), 0U);
  }
}

TEST_F(BindingCycleBindTest, SkipCallsTheNextPlugin) {
  const char* skip = R"({"bind":{"code":5}})";
  const AttemptResult result =
      With(TestProfile()
               .Use("test.A", {Point::kBind}, skip)
               .Use("test.B", {Point::kBind}, R"({"bind":{"how":"complete","code":5}})")
               .Use("test.C", {Point::kBind}, R"({"bind":{"how":"api"}})"));
  EXPECT_EQ(Harness::Outcome(result), "Success");
  EXPECT_EQ(NodeOf("p"), "n1");
}

// The message of the API server is reported unchanged, as kube-scheduler does.
TEST_F(BindingCycleBindTest, TheErrorOfTheClusterIsReported) {
  ASSERT_TRUE(
      harness_.Start(TestProfile().Use("test.A", {Point::kBind}, R"({"bind":{"how":"api"}})"))
          .ok());
  harness_.AddPod({.name = "p", .requests = "\"cpu\":\"1\""});
  // Another client has bound the pod before, and the watch has not reported this yet.
  harness_.cluster().Bind({"default", "p", ""}, "elsewhere", nullptr);
  ASSERT_TRUE(harness_.loop().Step());
  harness_.Settle();
  const AttemptResult result = harness_.results().back();
  EXPECT_THAT(Harness::Outcome(result),
              ::testing::StartsWith("Error: running Bind plugin \"test.A\": "));
  EXPECT_THAT(result.failure.message, ::testing::HasSubstr("p is already assigned to node"));
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 0);
  EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);
  // The cache has the pod on the node to which the other client bound it.
  EXPECT_EQ(harness_.loop().cache().pod_count(), 1U);
}

// The answer of the cluster arrives after the plugin has answered.
TEST_F(BindingCycleBindTest, PluginMayAnswerBeforeTheHostsBindingEnds) {
  const AttemptResult result =
      With(R"({"bind":{"how":"api-then-return","code":1,"reasons":["changed my mind"]}})");
  EXPECT_EQ(Harness::Outcome(result), "Error: running Bind plugin \"test.A\": changed my mind");
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 1000);
  EXPECT_EQ(harness_.loop().cache().assumed_count(), 0U);
}

// The plugin completes the call on another thread, before or after the call returns.
TEST_F(BindingCycleBindTest, ThreadOfThePluginMayCompleteTheCall) {
  ASSERT_TRUE(harness_.Start(TestProfile().Use("cpp.LateBinder", {Point::kBind})).ok());
  for (int i = 0; i < 50; ++i) {
    const auto result = harness_.Schedule({.name = "p" + std::to_string(i)});
    EXPECT_EQ(Harness::Outcome(result),
              "Error: running Bind plugin \"cpp.LateBinder\": the network is unreachable");
  }
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
}

TEST_F(BindingCycleBindTest, APodIsRetriedAfterAnError) {
  EXPECT_EQ(With(R"({"bind":{"code":1}})").node, "");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kErrorBackoff);
  harness_.Settle();
  EXPECT_FALSE(harness_.loop().queue().has_ready());
  harness_.clock().Advance(2 * kSecond);
  EXPECT_EQ(harness_.Next().node, "");
  EXPECT_EQ(harness_.loop().queue().Find("uid-p")->attempts, 2U);
}

TEST_F(BindingCycleBindTest, RetriesAPodInItsNewVersion) {
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  harness_.AddPod({.name = "p"});
  // The loop receives the change while it waits for the answer to the binding, which fails because
  // of the scheduling gate.
  ASSERT_TRUE(harness_.cluster()
                  .Update(harness_.objects().Pod(
                      {.name = "p", .spec = R"("schedulingGates":[{"name":"g"}])"}))
                  .ok());
  ASSERT_TRUE(harness_.loop().Step());
  harness_.Settle();
  const AttemptResult result = harness_.results().back();
  EXPECT_THAT(result.failure.message, ::testing::HasSubstr("non-empty .spec.schedulingGates"));
  ASSERT_NE(harness_.loop().queue().Find("uid-p"), nullptr);
  EXPECT_EQ(harness_.loop().queue().Find("uid-p")->pod->view().scheduling_gates.count, 1U);
}

TEST_F(BindingCycleBindTest, DeletedPodWithFailedBindingIsNotRequeued) {
  ASSERT_TRUE(harness_.Start(TestProfile()).ok());
  harness_.AddPod({.name = "p"});
  harness_.cluster().DeletePod({"default", "p", {}}, 0, nullptr);
  ASSERT_TRUE(harness_.loop().Step());
  harness_.Settle();
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
  EXPECT_EQ(harness_.loop().cache().pod_count(), 0U);
}

}  // namespace
}  // namespace berth::host
