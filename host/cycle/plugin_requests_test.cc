#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_log.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/failure_handler.h"
#include "host/cycle/scheduling_loop.h"
#include "host/event/event_router.h"
#include "host/event/timer_queue.h"
#include "host/runtime/points/async_call.h"
#include "tests/harness/pod_lifecycle.h"
#include "tests/harness/queue_parts.h"

namespace berth::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Requests about pods without a binding cycle.
class PluginRequestsTest : public QueuePartsTest {
 protected:
  // Parks the pod.
  void Park(const std::string& name) {
    PopPod(name);
    queue_.Return("uid-" + name, {.plugins = {1}});
  }
  QueuePlace PlaceOf(const std::string& name) const { return queue_.Find("uid-" + name)->place; }
  void Evict(const std::string& name) {
    const std::string uid = "uid-" + name;
    requests_.Evict({"default", name, uid}, "make room",
                    [this](const Status& status, bool in_memory) {
                      evicted_ = status;
                      in_memory_ = in_memory;
                    });
  }

  DecisionSink sink_;
  TimerQueue timers_;
  AsyncCalls calls_;
  Cache cache_{objects_.interner()};
  ObjectStore store_;
  EventRouter router_{cache_,
                      store_,
                      queue_,
                      {.profiles = {},
                       .on_assumed_pod_deleting = [](std::string_view) {},
                       .on_pod_bound = [](std::string_view) {},
                       .on_inconsistency = [](std::string_view) {}}};
  FailureHandler failures_{queue_, client_, clock_, sink_};
  const CycleContext context_{.interner = objects_.interner(),
                              .source = client_,
                              .writer = client_,
                              .clock = clock_,
                              .timers = timers_,
                              .calls = calls_,
                              .sink = sink_,
                              .cache = cache_,
                              .queue = queue_,
                              .router = router_,
                              .failures = failures_,
                              .waiting_pods = waiting_pods_};
  WaitingPods waiting_pods_{context_};
  TestLog log_{BERTH_LOG_TRACE, true};
  PluginRequests requests_{cache_.table(), queue_, waiting_pods_,
                           client_,        clock_, Log(log_, kSchedulingLogger)};
  std::optional<Status> evicted_;
  bool in_memory_ = false;
};

TEST_F(PluginRequestsTest, CarriesOutNothingWhenNothingWasRequested) {
  EXPECT_TRUE(requests_.empty());
  EXPECT_FALSE(requests_.CarryOut());
}

TEST_F(PluginRequestsTest, ActivatesLater) {
  Park("p");
  requests_.Activate("uid-p");
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable);
  EXPECT_FALSE(requests_.empty());
  EXPECT_TRUE(requests_.CarryOut());
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kActive);
  EXPECT_FALSE(requests_.CarryOut());
}

TEST_F(PluginRequestsTest, ActivatesOnlyPodsThatWaitInTheQueue) {
  requests_.Activate("uid-unknown");
  EXPECT_TRUE(requests_.empty());
  PopPod("p");
  requests_.Activate("uid-p");
  queue_.Return("uid-p", {.plugins = {1}});
  requests_.CarryOut();
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable);
}

// The answer that the pod waits for may arrive before the pod is parked.
TEST_F(PluginRequestsTest, ActivatesAPodThatIsAboutToWait) {
  PopPod("p");
  requests_.Activate("uid-p");
  queue_.Return("uid-p", {.awaited = {1}});
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable);
  requests_.CarryOut();
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kActive);
  PopAgain("uid-p");
  queue_.Return("uid-p", {.awaited = {1}});
  requests_.CarryOut();
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable) << "one activation counts once";
}

TEST_F(PluginRequestsTest, AnActivationDoesNotOutliveItsAttempt) {
  PopPod("p");
  requests_.Activate("uid-p");
  queue_.Return("uid-p", {.awaited = {1}});
  queue_.Activate("uid-p");
  PopAgain("uid-p");
  queue_.Return("uid-p", {.awaited = {1}});
  requests_.CarryOut();
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable);
}

TEST_F(PluginRequestsTest, IgnoresActivationDuringTheBinding) {
  PopPod("p");
  requests_.Activate("uid-p");
  requests_.CarryOut();
  queue_.Return("uid-p", {.awaited = {1}});
  EXPECT_FALSE(requests_.CarryOut());
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable);
}

TEST_F(PluginRequestsTest, AnAttemptThatBeginsMeanwhileEndsTheRequest) {
  Park("p");
  requests_.Activate("uid-p");
  PopAgain("uid-p");
  requests_.CarryOut();
  queue_.Return("uid-p", {.plugins = {1}});
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable) << "in flight";
  requests_.Activate("uid-p");
  PopAgain("uid-p");
  queue_.Return("uid-p", {.plugins = {1}});
  requests_.CarryOut();
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable) << "parked again";
}

TEST_F(PluginRequestsTest, ClearDropsRequests) {
  Park("p");
  requests_.Activate("uid-p");
  requests_.Clear();
  EXPECT_FALSE(requests_.CarryOut());
  EXPECT_EQ(PlaceOf("p"), QueuePlace::kUnschedulable);
}

TEST_F(PluginRequestsTest, WhatRequestLeadsToWaitsForNextCall) {
  Park("q");
  requests_.Evict({"default", "p", "uid-p"}, "make room",
                  [this](const Status&, bool) { requests_.Activate("uid-q"); });
  EXPECT_TRUE(requests_.CarryOut());
  EXPECT_FALSE(requests_.empty());
}

TEST_F(PluginRequestsTest, ClearsNominationInQueueAndInPodsStatus) {
  const PodRef pod = objects_.Pod({.name = "p", .status = R"("nominatedNodeName":"n1")"});
  queue_.Add(pod);
  ASSERT_EQ(queue_.nominator().NodeOf("uid-p"), "n1");
  EXPECT_TRUE(requests_.ClearNomination("uid-p"));
  EXPECT_EQ(queue_.nominator().NodeOf("uid-p"), "n1");
  requests_.CarryOut();
  EXPECT_EQ(queue_.nominator().NodeOf("uid-p"), "");
  EXPECT_THAT(client_.patches, ElementsAre("p; nominated to ''"));
  EXPECT_FALSE(requests_.ClearNomination("uid-p"));
}

TEST_F(PluginRequestsTest, OnlyWaitingPodsAreAllowedOrRejected) {
  PopPod("p");
  EXPECT_FALSE(requests_.Allow("uid-p", 1));
  EXPECT_FALSE(requests_.Reject("uid-p", 1, "no"));
  EXPECT_TRUE(requests_.empty());
}

TEST_F(PluginRequestsTest, EvictsAPlacedPodByDeletingIt) {
  Evict("p");
  EXPECT_THAT(client_.deletions, IsEmpty());
  EXPECT_EQ(requests_.TakeEvictionCount(), 1u);
  EXPECT_EQ(requests_.TakeEvictionCount(), 0u);
  requests_.CarryOut();
  EXPECT_THAT(client_.patches, ElementsAre("p PreemptionByScheduler: make room"));
  EXPECT_THAT(client_.deletions, ElementsAre("p"));
  EXPECT_TRUE(evicted_->ok());
  EXPECT_FALSE(in_memory_);
  EXPECT_THAT(log_.lines(), ElementsAre("2 scheduling: Evicted pod=default/p reason=make room"));
}

TEST_F(PluginRequestsTest, PodThatIsGoneAlreadyCountsAsEvicted) {
  client_.delete_answer = Status::NotFound("no such pod");
  Evict("p");
  requests_.CarryOut();
  EXPECT_TRUE(evicted_->ok());
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(PluginRequestsTest, AFailedDeletionIsAFailedEviction) {
  const struct {
    Status answer;
    const char* level;
  } kTable[] = {{Status::Conflict("changed"), "2"},
                {Status::Unavailable("busy"), "3"},
                {Status::PermissionDenied("forbidden"), "4"},
                {Status::Internal("broken"), "4"}};
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.answer.ToString());
    log_.lines().clear();
    client_.delete_answer = row.answer;
    Evict("p");
    requests_.CarryOut();
    EXPECT_EQ(evicted_->code(), row.answer.code());
    EXPECT_THAT(log_.lines(),
                ElementsAre(std::string(row.level) + " scheduling: Cannot evict: " +
                            std::string(row.answer.message()) + " pod=default/p reason=make room"));
  }
}

// --- the eviction of pods that are being bound, through the whole loop ---------------------------

// The answer to an eviction. `code` is empty until the answer arrives.
struct Evicted {
  std::optional<berth_code> code;
  bool in_memory = false;
};

void EvictP(PodLifecycle& pod, const char* message, Evicted& evicted) {
  const PodRef victim = FindInCluster(pod);
  const berth_eviction eviction{sizeof eviction, 0, &victim->view(),
                                AsStr(std::string_view(message))};
  const berth_code begun = pod.a().api->evict(
      pod.a().host, &eviction,
      [](void* to, const berth_api_result* result) noexcept {
        auto& answer = *static_cast<Evicted*>(to);
        answer.code = result->code;
        answer.in_memory = (result->flags & BERTH_API_RESULT_IN_MEMORY) != 0;
      },
      &evicted);
  ASSERT_EQ(begun, BERTH_SUCCESS);
}

TEST(PluginRequestsInTheLoopTest, PodEvictedWithoutAMessageIsNotBound) {
  PodLifecycle pod;
  Evicted evicted;
  pod.b().pre_bind = pod.AnswersLater();
  // The claims of PreBind must be released, although PreBind itself is cancelled.
  pod.b().unreserve = [unreserve = pod.b().unreserve](const berth_binding& binding) {
    EXPECT_FALSE(BERTH_IS_CANCELLED(&binding));
    unreserve(binding);
  };
  pod.Run();
  EvictP(pod, "", evicted);
  pod.harness().Settle();
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  EXPECT_TRUE(evicted.in_memory);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Error");
  EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
}

TEST(PluginRequestsInTheLoopTest, PodWhoseBindingFailsMeanwhileIsNotDeleted) {
  PodLifecycle pod;
  Evicted evicted;
  pod.a().pre_bind = pod.AnswersLater();
  pod.Run();
  EvictP(pod, "make room", evicted);
  Stage::Complete(pod.done(), {BERTH_ERROR, {"boom"}});
  pod.harness().Settle();
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  EXPECT_TRUE(evicted.in_memory);
  ASSERT_NE(FindInCluster(pod), nullptr);
  EXPECT_FALSE(FindInCluster(pod)->terminating());
  EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
  EXPECT_EQ(pod.Outcome(), "Error: running PreBind plugin \"puppet.A\": boom");
}

// A pod that is bound before the eviction is carried out is deleted like any other pod on a node.
TEST(PluginRequestsInTheLoopTest, APodThatIsBoundMeanwhileIsDeleted) {
  PodLifecycle pod;
  Evicted evicted;
  pod.c().bind = pod.AnswersLater();
  pod.Run();
  EvictP(pod, "make room", evicted);
  Stage::Complete(pod.done(), {});
  pod.harness().Settle();
  EXPECT_EQ(pod.Outcome(), "Success");
  EXPECT_EQ(evicted.code, BERTH_SUCCESS);
  EXPECT_FALSE(evicted.in_memory);
  EXPECT_EQ(FindInCluster(pod), nullptr);
}

// The call of PreBind is cancelled. Whatever the plugin answers, the pod is not bound.
TEST(PluginRequestsInTheLoopTest, PodEvictedDuringPreBindReturnsToTheQueue) {
  for (const ScriptedAnswer& answer : {ScriptedAnswer{}, ScriptedAnswer{BERTH_ERROR, {"boom"}}}) {
    PodLifecycle pod;
    Evicted evicted;
    pod.b().pre_bind = pod.AnswersLater();
    pod.Run();
    EvictP(pod, "make room", evicted);
    pod.harness().Settle();
    EXPECT_EQ(evicted.code, BERTH_SUCCESS);
    EXPECT_TRUE(evicted.in_memory);
    Stage::Complete(pod.done(), answer);
    pod.harness().Settle();
    EXPECT_EQ(pod.Outcome(), "Error: make room");
    EXPECT_EQ(pod.harness().PlaceOf("p"), QueuePlace::kErrorBackoff);
    EXPECT_THAT(pod.calls(), ElementsAre("reserve A", "reserve B", "unreserve B", "unreserve A"));
    EXPECT_EQ(pod.harness().Column("req.cpu", "n1"), 0);
    EXPECT_EQ(Stage::slots(), 0);
    EXPECT_THAT(pod.harness().lines(), Contains("scheduling: Preempted a pod before its binding "
                                                "pod=default/p reason=make room"));
  }
}

}  // namespace
}  // namespace berth::host
