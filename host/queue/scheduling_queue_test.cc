// Tests of the places of pods, PreEnqueue, Activate, queue data and policy changes.
#include "host/queue/scheduling_queue.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// --- places -------------------------------------------------------------------------------------

constexpr QueueScript kPlaces[] = {
    {"a new pod is active", "add a", "a=active"},
    {"a pod that PreEnqueue rejects is gated", "hold a 4; add a", "a=gated"},
    {"a popped pod is in flight", "add a; pop a", "a=flight"},
    {"an empty queue pops nothing", "pop -", ""},
    {"a pod in flight is not popped", "add a; pop a; pop -", "a=flight"},
    {"a parked pod is not popped", "add a; pop a; return a 1; pop -", "a=parked"},
    {"a gated pod is not popped", "hold a 4; add a; pop -", "a=gated"},
    {"a bound pod leaves the queue", "add a; pop a; done a", ""},
    {"a rejected pod is parked", "add a; pop a; return a 1", "a=parked"},
    {"a pending pod is parked", "add a; pop a; return a - 3", "a=parked"},
    {"a pod that failed is in the error backoff", "add a; pop a; fail a", "a=errors"},
    {"a pod that failed twice in a row is in the error backoff",
     "add a; pop a; fail a; wait 2; pop a; fail a", "a=errors"},
    {"a pod of higher priority is popped first", "add a 1; add b 2; pop b; pop a",
     "a=flight b=flight"},
    {"of equal pods, the one that was added first is popped first", "add b 1; add a 1; pop b",
     "a=active b=flight"},
    {"a pod that failed is popped after its equals",
     "add a; pop a; fail a; sleep 1; add b; wait 2; pop a; fail a; add c; pop b; pop c",
     "a=errors b=flight c=flight"},
    // Backoff.
    {"an event during the backoff", "add a; pop a; return a 1; node n-1", "a=backoff"},
    {"an event after the backoff", "add a; pop a; return a 1; wait 2; node n-1", "a=active"},
    {"a pod becomes active when its backoff ends", "add a; pop a; return a 1; node n-1; wait 2",
     "a=active"},
    {"a pod stays in the backoff queue until its backoff ends",
     "add a; pop a; return a 1; node n-1; wait 1.999999999", "a=backoff"},
    {"Pop takes a pod from the backoff queue if none is active",
     "add a; pop a; return a 1; node n-1; pop a", "a=flight"},
    {"Pop prefers active pods to backing-off pods",
     "add a; pop a; return a 1; node n-1; add b; pop b; pop a", "a=flight b=flight"},
    {"Pop never takes a pod from the error backoff", "add a; pop a; fail a; pop -", "a=errors"},
    {"an error backoff ends like any other",
     "add a; pop a; fail a; wait 1.999999999; tick; wait 0.000000001", "a=active"},
    {"an earlier window takes precedence over the priority",
     "add a 9; pop a; return a 1; node n-1; wait 2; pop a; return a 1; add b 1; pop b; return b 1; "
     "node n-1; pop b; pop a",
     "a=flight b=flight"},
    {"within one window the priority decides",
     "add a 1; add b 2; pop b; return b 1; pop a; return a 1; node n-1; pop b; pop a",
     "a=flight b=flight"},
    // Removed.
    {"removed while active", "add a; remove a", ""},
    {"removed during its backoff", "add a; pop a; return a 1; node n-1; remove a; pop -", ""},
    {"removed after an error", "add a; pop a; fail a; remove a; wait 5; pop -", ""},
    {"removed while parked", "add a; pop a; return a 1; remove a; node n-1", ""},
    {"removed while gated", "hold a 4; add a; remove a; release a; other x-4", ""},
    {"removed in flight: stays until its attempt ends", "add a; pop a; remove a", "a=flight"},
    {"removed in flight, then rejected", "add a; pop a; remove a; return a 1", ""},
    {"removed in flight, then failed", "add a; pop a; remove a; fail a", ""},
    {"removed in flight, then bound", "add a; pop a; remove a; done a", ""},
    {"removed in flight and added again", "add a; pop a; remove a; add a; return a 1", "a=parked"},
    {"removed in flight and updated", "add a; pop a; remove a; touch a; return a 1", "a=parked"},
    {"an unknown pod is removed", "remove a", ""},
};

TEST(SchedulingQueueTest, MovesPodsBetweenPlaces) { ExpectPlaces(kPlaces); }

// --- PreEnqueue ---------------------------------------------------------------------------------

constexpr QueueScript kGates[] = {
    {"PreEnqueue would accept the pod, but no event triggers it",
     "hold a 4; add a; release a; tick", "a=gated"},
    {"an event of the plugin that gates the pod", "hold a 4; add a; release a; other x-4",
     "a=active"},
    {"an event helps, but PreEnqueue still rejects the pod", "hold a 4; add a; other x-4",
     "a=gated"},
    {"the hint returns false", "hold a 4; add a; release a; other x-1", "a=gated"},
    {"an event of another plugin", "hold a 4; add a; release a; node n-4", "a=gated"},
    {"another plugin gates the pod next",
     "hold a 4; add a; hold a 1; other x-4; release a; node n-1", "a=active"},
    {"the plugin that gated the pod before no longer counts",
     "hold a 4; add a; hold a 1; other x-4; release a; other x-4", "a=gated"},
    {"an update of the pod runs PreEnqueue", "hold a 4; add a; release a; touch a", "a=active"},
    {"an update of the pod, still rejected", "hold a 4; add a; touch a", "a=gated"},
    {"an update runs PreEnqueue of a plugin without interests",
     "hold a 5; add a; release a; touch a", "a=active"},
    {"a wildcard event", "hold a 5; add a; release a; all", "a=active"},
    {"a wildcard event, still rejected", "hold a 5; add a; all", "a=gated"},
    {"activated", "hold a 5; add a; release a; activate a", "a=active"},
    {"activated, still rejected", "hold a 5; add a; activate a", "a=gated"},
    {"runs on the way to the active queue", "add a; pop a; return a 1; wait 2; hold a 4; node n-1",
     "a=gated"},
    {"runs on the way to the backoff queue", "add a; pop a; return a 1; hold a 4; node n-1",
     "a=gated"},
    {"runs on the way to the error backoff", "add a; pop a; hold a 4; fail a", "a=gated"},
    {"does not run when a pod is parked", "add a; pop a; hold a 4; return a 1", "a=parked"},
    {"does not run when a backoff ends", "add a; pop a; return a 1; node n-1; hold a 4; wait 2",
     "a=active"},
    {"does not run when a backing-off pod is activated",
     "add a; pop a; return a 1; node n-1; hold a 4; activate a", "a=active"},
    {"does not run when an error backoff ends", "add a; pop a; fail a; hold a 4; wait 2",
     "a=active"},
    {"does not run when a pod is popped", "add a; hold a 4; pop a", "a=flight"},
    {"accepted before the backoff is over",
     "add a; pop a; return a 1; hold a 4; node n-1; release a; "
     "other x-4",
     "a=backoff"},
    {"accepted after an error: goes to the error backoff",
     "add a; pop a; hold a 4; fail a; release a; other x-4", "a=errors"},
    {"rejected by PreEnqueue after an event in flight",
     "add a; pop a; hold a 4; node n-1; return a 1", "a=gated"},
};

TEST(SchedulingQueueTest, PreEnqueueGatesPods) { ExpectPlaces(kGates); }

constexpr QueueScript kGatesWithoutPopFromBackoff[] = {
    {"does not run on the way to the backoff queue", "add a; pop a; return a 1; hold a 4; node n-1",
     "a=backoff"},
    {"runs when a backoff ends", "add a; pop a; return a 1; hold a 4; node n-1; wait 2", "a=gated"},
    {"runs when an error backoff ends", "add a; pop a; fail a; hold a 4; wait 2", "a=gated"},
    {"runs when a backing-off pod is activated", "add a; pop a; fail a; hold a 4; activate a",
     "a=gated"},
    {"no pod is popped from the backoff queue", "add a; pop a; return a 1; node n-1; pop -",
     "a=backoff"},
};

TEST(SchedulingQueueTest, EndingBackoffRunsPreEnqueueWithoutPopFromBackoff) {
  ExpectPlaces(kGatesWithoutPopFromBackoff, {.pop_from_backoff = false});
}

TEST(SchedulingQueueTest, RunsThePluginThatGatedThePodFirst) {
  TestQueue test;
  test.Run("hold a 4; add a; hold a 1; other x-4; release a; node n-1");
  EXPECT_THAT(test.policy.pre_enqueue_calls, ElementsAre("a", "a first 4", "a first 1"));
}

TEST(SchedulingQueueTest, AGatedPodNamesTheRejectingPlugin) {
  TestQueue test;
  test.Run("hold a 4; add a");
  const QueuedEntity& a = test.Entity("a");
  ASSERT_NE(a.gate, nullptr);
  EXPECT_EQ(a.gate->plugin, 4U);
  EXPECT_THAT(a.gate->reasons, ElementsAre("gated by the test"));
  EXPECT_THAT(a.rejection().plugins, ElementsAre(4));
  EXPECT_EQ(a.attempts, 0U);
  EXPECT_EQ(a.first_attempt_ns, 0);
  test.Run("release a; sleep 3; touch a");
  EXPECT_EQ(a.gate, nullptr);
  EXPECT_EQ(a.first_attempt_ns, a.queued_ns + 3 * kSecond);
}

// --- Activate -----------------------------------------------------------------------------------

constexpr QueueScript kActivations[] = {
    {"parked", "add a; pop a; return a 5; activate a", "a=active"},
    {"in a backoff", "add a; pop a; return a 1; node n-1; activate a", "a=active"},
    {"in an error backoff", "add a; pop a; fail a; activate a", "a=active"},
    {"already active", "add a; activate a", "a=active"},
    {"unknown", "activate a", ""},
    {"in flight, then rejected", "add a; pop a; activate a; return a 5", "a=backoff"},
    {"in flight, then rejected; another pod is not activated",
     "add a; add b; pop a; pop b; activate a; "
     "return b 5; return a 5",
     "a=backoff b=parked"},
    {"in flight, then bound", "add a; pop a; activate a; done a", ""},
    {"before it was popped", "add a; activate a; pop a; return a 5", "a=parked"},
};

TEST(SchedulingQueueTest, ActivateSkipsTheBackoff) { ExpectPlaces(kActivations); }

// --- queue data ---------------------------------------------------------------------------------

TEST(SchedulingQueueTest, CountsAttemptsRejectionsAndErrors) {
  TestQueue test;
  test.Run("add a; pop a");
  const QueuedEntity& a = test.Entity("a");
  EXPECT_EQ(a.attempts, 1U);
  test.Run("return a 1,2 3");
  EXPECT_EQ(a.rejected_count, 1U);
  EXPECT_THAT(a.rejection().plugins, ElementsAre(1, 2));
  EXPECT_THAT(a.rejection().pending, ElementsAre(3));
  test.Run("activate a; pop a");
  EXPECT_TRUE(a.rejection().empty());
  test.Run("fail a; activate a; pop a; fail a");
  EXPECT_EQ(a.attempts, 3U);
  EXPECT_EQ(a.rejected_count, 1U);
  EXPECT_EQ(a.error_count, 2U);
  test.Run("activate a; pop a; return a 2");
  EXPECT_EQ(a.rejected_count, 2U);
  EXPECT_EQ(a.error_count, 0U);
}

TEST(SchedulingQueueTest, RejectionsAreSortedAndUnique) {
  TestQueue test;
  test.Run("add a; add b; pop a; pop b; return a 2,1,2; return b 1,2");
  EXPECT_THAT(test.Entity("a").rejection().plugins, ElementsAre(1, 2));
  test.Run("node n-1");
  EXPECT_THAT(test.policy.hint_calls, ElementsAre("1:a")) << "both pods are in one class";
}

TEST(SchedulingQueueTest, RecordsQueuedAndFirstAttemptTimes) {
  TestQueue test;
  const int64_t start = test.clock.NowNs();
  test.Run("add a; sleep 1; pop a; sleep 1; return a 1");
  const QueuedEntity& a = test.Entity("a");
  EXPECT_EQ(a.first_attempt_ns, start);
  EXPECT_EQ(a.queued_ns, start + 2 * kSecond);
  test.Run("sleep 5; node n-1; pop a");
  EXPECT_EQ(a.queued_ns, start + 2 * kSecond) << "a requeue by an event does not change queued_ns";
  EXPECT_EQ(a.first_attempt_ns, start);
}

TEST(SchedulingQueueTest, RecordsWhenABackoffEnds) {
  TestQueue test;
  test.Run("sleep 0.25; add a; pop a; return a 1");
  const QueuedEntity& a = test.Entity("a");
  EXPECT_EQ(a.backoff_until_ns, 0);
  test.Run("node n-1");
  EXPECT_EQ(a.backoff_until_ns, a.queued_ns - kSecond / 4 + kSecond);
  test.Run("pop a");
  EXPECT_EQ(a.backoff_until_ns, 0);
}

TEST(SchedulingQueueTest, PluginsSeePodAndQueueData) {
  TestQueue test;
  test.Run("add a 11; sleep 3; pop a");
  const QueuedEntity& a = test.Entity("a");
  const berth_queued view = a.View();
  EXPECT_EQ(view.struct_size, sizeof(berth_queued));
  EXPECT_EQ(view.kind, uint32_t{BERTH_QUEUED_POD});
  EXPECT_EQ(view.pod, &a.pod->view());
  EXPECT_EQ(view.group.len, 0U);
  EXPECT_EQ(view.priority, 11);
  EXPECT_EQ(view.attempts, 1U);
  EXPECT_EQ(view.queued_ns, test.clock.NowNs() - 3 * kSecond);
  EXPECT_EQ(view.first_attempt_ns, view.queued_ns);
}

TEST(SchedulingQueueTest, PreEnqueueSeesQueueData) {
  TestQueue test;
  test.Run("add a 11; sleep 3; pop a; return a 1; wait 3; node n-1");
  const std::vector<berth_queued>& views = test.policy.pre_enqueue_views;
  ASSERT_GE(views.size(), 2U);
  EXPECT_EQ(views.front().attempts, 0U);
  EXPECT_EQ(views.front().first_attempt_ns, 0);
  EXPECT_EQ(views.back().kind, uint32_t{BERTH_QUEUED_POD});
  EXPECT_EQ(views.back().priority, 11);
  EXPECT_EQ(views.back().attempts, 1U);
  EXPECT_EQ(views.back().first_attempt_ns, views.front().queued_ns);
  EXPECT_EQ(views.back().queued_ns, views.front().queued_ns + 3 * kSecond);
}

TEST(SchedulingQueueTest, CountsEntitiesInEachPlace) {
  TestQueue test;
  test.Run(
      "hold g 4; add g; add p; pop p; return p 5; add e; pop e; fail e; add f; pop f; add b; "
      "pop b; return b 1; node n-1; add a; add c");
  EXPECT_EQ(test.Places(), "a=active b=backoff c=active e=errors f=flight g=gated p=parked");
  EXPECT_EQ(test.queue->size(), 7U);
  const size_t counts[] = {2, 1, 1, 1, 1, 1};
  for (size_t place = 0; place < 6; ++place) {
    EXPECT_EQ(test.queue->CountIn(static_cast<QueuePlace>(place)), counts[place]) << place;
  }
}

TEST(SchedulingQueueTest, HasReadyReturnsWhetherPopWouldSucceed) {
  for (const bool pops_early : {true, false}) {
    TestQueue test(TestQueue::DefaultTable(), {.pop_from_backoff = pops_early});
    EXPECT_FALSE(test.queue->has_ready());
    test.Run("add a");
    EXPECT_TRUE(test.queue->has_ready());
    test.Run("pop a");
    EXPECT_FALSE(test.queue->has_ready());
    test.Run("return a 1; node n-1");
    EXPECT_EQ(test.queue->has_ready(), pops_early);
  }
}

TEST(SchedulingQueueTest, DifferentUidsAreDifferentPods) {
  TestQueue test;
  test.Run("add a; pop a");
  const PodRef twin = test.objects.PodFrom(
      R"({"metadata":{"name":"a","namespace":"default","uid":"twin"},"spec":{}})");
  test.queue->Remove("uid-a");
  test.queue->Add(twin);
  test.queue->CheckInvariants();
  EXPECT_EQ(test.queue->size(), 2U);
  EXPECT_EQ(test.queue->Find("twin")->place, QueuePlace::kActive);
  EXPECT_FALSE(test.queue->Return("uid-a", {.plugins = {1}, .pending = {}}));
  EXPECT_EQ(test.queue->Find("uid-a"), nullptr);
  EXPECT_EQ(test.queue->Pop()->pod, twin);
}

TEST(SchedulingQueueTest, RemoveReturnsWhetherPodWasInTheQueue) {
  TestQueue test;
  EXPECT_FALSE(test.queue->Remove("uid-a"));
  test.Run("add a; pop a");
  EXPECT_TRUE(test.queue->Remove("uid-a"));
  EXPECT_FALSE(test.queue->Remove("uid-a")) << "the pod only remains until its attempt ends";
  EXPECT_NE(test.queue->Find("uid-a"), nullptr);
}

TEST(SchedulingQueueTest, ReturnReturnsFalseForARemovedPod) {
  TestQueue test;
  test.Run("add a; add b; pop a; pop b; remove b");
  EXPECT_TRUE(test.queue->Return("uid-a", {}));
  EXPECT_FALSE(test.queue->Return("uid-b", {}));
}

TEST(SchedulingQueueTest, RecordReportedDetectsRepeatedConditions) {
  TestQueue test;
  test.Run("add a");
  EXPECT_TRUE(test.queue->RecordReported("uid-a", "Unschedulable", "no", 1));
  EXPECT_FALSE(test.queue->RecordReported("uid-a", "Unschedulable", "no", 1));
  EXPECT_TRUE(test.queue->RecordReported("uid-a", "SchedulerError", "no", 1));
  EXPECT_TRUE(test.queue->RecordReported("uid-a", "SchedulerErrorn", "o", 1));
  EXPECT_TRUE(test.queue->RecordReported("uid-a", "Unschedulable", "no", 1));
  EXPECT_TRUE(test.queue->RecordReported("uid-a", "Unschedulable", "no", 2));
  test.queue->ClearReported("uid-a");
  EXPECT_TRUE(test.queue->RecordReported("uid-a", "Unschedulable", "no", 2));
  test.queue->ClearReported("unknown");
}

TEST(SchedulingQueueTest, EndingAnAttemptRequiresAPodInFlight) {
  TestQueue test;
  test.Run("add a");
  EXPECT_DEATH(test.queue->Return("uid-a", {}), "pod uid-a is not in flight");
  EXPECT_DEATH(test.queue->Done("uid-b"), "pod uid-b is not in flight");
  EXPECT_DEATH(test.queue->StopRecording("uid-a"), "pod uid-a is not in flight");
}

// --- policy changes -----------------------------------------------------------------------------

TEST(SchedulingQueueTest, PolicyChangedAppliesANewOrder) {
  TestQueue test;
  test.Run("add a 1; add b 2; pop b; pop a; return a 1; return b 1; node n-1; add c 1; add d 2");
  test.order.lowest_first = true;
  test.order.uses_key = false;
  test.queue->PolicyChanged();
  test.queue->CheckInvariants();
  test.Run("pop c; pop d; pop a; pop b");
}

TEST(SchedulingQueueTest, PolicyChangedAppliesNewInterests) {
  TestQueue test;
  test.Run("add a; add b; label b y; pop a; pop b; return a 5; return b 5; node n-5");
  EXPECT_EQ(test.Places(), "a=parked b=parked");
  test.policy.table = {{.plugin = 5,
                        .resource = BERTH_RESOURCE_NODE,
                        .actions = BERTH_ACTION_ADD,
                        .has_hint = true,
                        .pod_parts = BERTH_PART(LABELS)}};
  test.queue->PolicyChanged();
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=parked b=parked") << "PolicyChanged() requeues no pod";
  test.Run("node n");
  EXPECT_THAT(test.policy.hint_calls, UnorderedElementsAre("5:a", "5:b"));
  test.Run("node n-5");
  EXPECT_EQ(test.Places(), "a=backoff b=backoff");
}

TEST(SchedulingQueueTest, RequeueAllRunsPreEnqueueAndRequeuesParkedPods) {
  TestQueue test;
  test.Run("hold f 4; add f; add a; add b; add c; add d; add e; pop a; pop b; pop c; pop d");
  test.Run("return a 5; return b 1; node n-1; fail c; sleep 1");
  EXPECT_EQ(test.Places(), "a=parked b=backoff c=errors d=flight e=active f=gated");
  for (const char* pod : {"b", "c", "d", "e"}) test.policy.gated_by[pod] = 4;
  test.policy.gated_by.erase("f");
  test.queue->RequeueAll();
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=backoff b=gated c=gated d=flight e=gated f=active");
  test.Run("release d; return d 5");
  EXPECT_EQ(test.Places(), "a=backoff b=gated c=gated d=backoff e=gated f=active");
}

}  // namespace
}  // namespace berth::host
