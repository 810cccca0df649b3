// Who goes where, and when.
#include "host/queue/scheduling_queue.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr int64_t kSecond = TestClock::kSecond;

// --- places -------------------------------------------------------------------------------------

constexpr QueueStory kPlaces[] = {
    {"a new pod is ready", "add a", "a=active"},
    {"one that is held back is gated", "hold a 4; add a", "a=gated"},
    {"popped", "add a; pop a", "a=flight"},
    {"there is nothing to pop", "pop -", ""},
    {"what is in flight is not popped", "add a; pop a; pop -", "a=flight"},
    {"what is parked is not popped", "add a; pop a; return a 1; pop -", "a=parked"},
    {"what is gated is not popped", "hold a 4; add a; pop -", "a=gated"},
    {"bound", "add a; pop a; done a", ""},
    {"rejected", "add a; pop a; return a 1", "a=parked"},
    {"pending", "add a; pop a; return a - 3", "a=parked"},
    {"an error", "add a; pop a; fail a", "a=errors"},
    {"an error, twice in a row", "add a; pop a; fail a; wait 2; pop a; fail a", "a=errors"},
    {"higher priority first", "add a 1; add b 2; pop b; pop a", "a=flight b=flight"},
    {"first come, first served", "add b 1; add a 1; pop b", "a=active b=flight"},
    {"who failed stands behind its equals",
     "add a; pop a; fail a; sleep 1; add b; wait 2; pop a; fail a; add c; pop b; pop c",
     "a=errors b=flight c=flight"},
    // Backoff.
    {"helped while it backs off", "add a; pop a; return a 1; node n-1", "a=backoff"},
    {"helped after its backoff", "add a; pop a; return a 1; wait 2; node n-1", "a=active"},
    {"a backoff ends", "add a; pop a; return a 1; node n-1; wait 2", "a=active"},
    {"not before its end", "add a; pop a; return a 1; node n-1; wait 1.999999999", "a=backoff"},
    {"an idle scheduler does not wait for it", "add a; pop a; return a 1; node n-1; pop a",
     "a=flight"},
    {"nor does it prefer it", "add a; pop a; return a 1; node n-1; add b; pop b; pop a",
     "a=flight b=flight"},
    {"it waits for the end of an error's backoff", "add a; pop a; fail a; pop -", "a=errors"},
    {"which ends as any other", "add a; pop a; fail a; wait 1.999999999; tick; wait 0.000000001",
     "a=active"},
    {"the window that ends first comes first, whatever the order",
     "add a 9; pop a; return a 1; node n-1; wait 2; pop a; return a 1; add b 1; pop b; return b 1; "
     "node n-1; pop b; pop a",
     "a=flight b=flight"},
    {"in one window the order decides",
     "add a 1; add b 2; pop b; return b 1; pop a; return a 1; node n-1; pop b; pop a",
     "a=flight b=flight"},
    // Removed.
    {"removed while ready", "add a; remove a", ""},
    {"removed while it backs off", "add a; pop a; return a 1; node n-1; remove a; pop -", ""},
    {"removed after an error", "add a; pop a; fail a; remove a; wait 5; pop -", ""},
    {"removed while parked", "add a; pop a; return a 1; remove a; node n-1", ""},
    {"removed while gated", "hold a 4; add a; remove a; release a; other x-4", ""},
    {"removed in flight: forgotten later", "add a; pop a; remove a", "a=flight"},
    {"removed in flight, then rejected", "add a; pop a; remove a; return a 1", ""},
    {"removed in flight, then failed", "add a; pop a; remove a; fail a", ""},
    {"removed in flight, then bound", "add a; pop a; remove a; done a", ""},
    {"removed in flight and back again", "add a; pop a; remove a; add a; return a 1", "a=parked"},
    {"removed in flight and seen again", "add a; pop a; remove a; touch a; return a 1", "a=parked"},
    {"nobody is removed", "remove a", ""},
};

TEST(SchedulingQueueTest, PodsGoTheirWays) { ExpectPlaces(kPlaces); }

// --- PreEnqueue ---------------------------------------------------------------------------------

constexpr QueueStory kGates[] = {
    {"released, but nobody has told", "hold a 4; add a; release a; tick", "a=gated"},
    {"an event of who holds it back", "hold a 4; add a; release a; other x-4", "a=active"},
    {"the event helps, but it is still held back", "hold a 4; add a; other x-4", "a=gated"},
    {"the hint says no", "hold a 4; add a; release a; other x-1", "a=gated"},
    {"an event of somebody else", "hold a 4; add a; release a; node n-4", "a=gated"},
    {"somebody else holds it back then",
     "hold a 4; add a; hold a 1; other x-4; release a; node n-1", "a=active"},
    {"and he who did has no say any more",
     "hold a 4; add a; hold a 1; other x-4; release a; other x-4", "a=gated"},
    {"its own change asks again", "hold a 4; add a; release a; touch a", "a=active"},
    {"its own change, in vain", "hold a 4; add a; touch a", "a=gated"},
    {"who has no events at all is asked when the pod changes",
     "hold a 5; add a; release a; touch a", "a=active"},
    {"an order to try again", "hold a 5; add a; release a; all", "a=active"},
    {"an order to try again, in vain", "hold a 5; add a; all", "a=gated"},
    {"activated", "hold a 5; add a; release a; activate a", "a=active"},
    {"activated in vain", "hold a 5; add a; activate a", "a=gated"},
    {"on its way to the active queue", "add a; pop a; return a 1; wait 2; hold a 4; node n-1",
     "a=gated"},
    {"on its way to a backoff", "add a; pop a; return a 1; hold a 4; node n-1", "a=gated"},
    {"on its way to an error's backoff", "add a; pop a; hold a 4; fail a", "a=gated"},
    {"not on its way to be parked", "add a; pop a; hold a 4; return a 1", "a=parked"},
    {"not out of a backoff", "add a; pop a; return a 1; node n-1; hold a 4; wait 2", "a=active"},
    {"nor when it is activated there", "add a; pop a; return a 1; node n-1; hold a 4; activate a",
     "a=active"},
    {"nor out of an error's backoff", "add a; pop a; fail a; hold a 4; wait 2", "a=active"},
    {"not when it is popped", "add a; hold a 4; pop a", "a=flight"},
    {"released while it should back off",
     "add a; pop a; return a 1; hold a 4; node n-1; release a; "
     "other x-4",
     "a=backoff"},
    {"released after an error: as an error", "add a; pop a; hold a 4; fail a; release a; other x-4",
     "a=errors"},
    {"held back in flight, helped", "add a; pop a; hold a 4; node n-1; return a 1", "a=gated"},
};

TEST(SchedulingQueueTest, PreEnqueueHoldsPodsBack) { ExpectPlaces(kGates); }

constexpr QueueStory kGatesWithoutEarlyPop[] = {
    {"not on its way to a backoff", "add a; pop a; return a 1; hold a 4; node n-1", "a=backoff"},
    {"but on its way out", "add a; pop a; return a 1; hold a 4; node n-1; wait 2", "a=gated"},
    {"also of an error's", "add a; pop a; fail a; hold a 4; wait 2", "a=gated"},
    {"also when it is activated", "add a; pop a; fail a; hold a 4; activate a", "a=gated"},
    {"and nobody is popped early", "add a; pop a; return a 1; node n-1; pop -", "a=backoff"},
};

TEST(SchedulingQueueTest, WithoutEarlyPopsPreEnqueueIsAskedOnTheWayOut) {
  ExpectPlaces(kGatesWithoutEarlyPop, {.pop_from_backoff = false});
}

TEST(SchedulingQueueTest, WhoHeldItBackIsAskedFirst) {
  TestQueue test;
  test.Tell("hold a 4; add a; hold a 1; other x-4; release a; node n-1");
  EXPECT_THAT(test.policy.gate_questions, ElementsAre("a", "a first 4", "a first 1"));
}

TEST(SchedulingQueueTest, AGatedPodSaysWhoHoldsItBack) {
  TestQueue test;
  test.Tell("hold a 4; add a");
  const QueuedEntity& a = test.Entity("a");
  ASSERT_TRUE(a.gate.has_value());
  EXPECT_EQ(a.gate->plugin, 4U);
  EXPECT_THAT(a.gate->reasons, ElementsAre("held"));
  EXPECT_THAT(a.rejection.plugins, ElementsAre(4));
  EXPECT_EQ(a.attempts, 0U);
  EXPECT_EQ(a.first_attempt_ns, 0);
  test.Tell("release a; sleep 3; touch a");
  EXPECT_FALSE(a.gate.has_value());
  EXPECT_EQ(a.first_attempt_ns, a.queued_ns + 3 * kSecond);
}

// --- Activate -----------------------------------------------------------------------------------

constexpr QueueStory kActivations[] = {
    {"parked", "add a; pop a; return a 5; activate a", "a=active"},
    {"in a backoff", "add a; pop a; return a 1; node n-1; activate a", "a=active"},
    {"in an error's backoff", "add a; pop a; fail a; activate a", "a=active"},
    {"ready already", "add a; activate a", "a=active"},
    {"unknown", "activate a", ""},
    {"in flight, then rejected", "add a; pop a; activate a; return a 5", "a=backoff"},
    {"in flight, then rejected, and nobody else",
     "add a; add b; pop a; pop b; activate a; "
     "return b 5; return a 5",
     "a=backoff b=parked"},
    {"in flight, then bound", "add a; pop a; activate a; done a", ""},
    {"before it was popped", "add a; activate a; pop a; return a 5", "a=parked"},
};

TEST(SchedulingQueueTest, ActivateSkipsTheBackoff) { ExpectPlaces(kActivations); }

// --- what the queue notes -----------------------------------------------------------------------

TEST(SchedulingQueueTest, CountsAttemptsRejectionsAndErrors) {
  TestQueue test;
  test.Tell("add a; pop a");
  const QueuedEntity& a = test.Entity("a");
  EXPECT_EQ(a.attempts, 1U);
  test.Tell("return a 1,2 3");
  EXPECT_EQ(a.rejected_count, 1U);
  EXPECT_THAT(a.rejection.plugins, ElementsAre(1, 2));
  EXPECT_THAT(a.rejection.pending, ElementsAre(3));
  test.Tell("activate a; pop a");
  EXPECT_TRUE(a.rejection.empty());
  test.Tell("fail a; activate a; pop a; fail a");
  EXPECT_EQ(a.attempts, 3U);
  EXPECT_EQ(a.rejected_count, 1U);
  EXPECT_EQ(a.error_count, 2U);
  test.Tell("activate a; pop a; return a 2");
  EXPECT_EQ(a.rejected_count, 2U);
  EXPECT_EQ(a.error_count, 0U);
}

TEST(SchedulingQueueTest, RejectionsAreSetsWhoeverMakesThem) {
  TestQueue test;
  test.Tell("add a; add b; pop a; pop b; return a 2,1,2; return b 1,2");
  EXPECT_THAT(test.Entity("a").rejection.plugins, ElementsAre(1, 2));
  test.Tell("node n-1");
  EXPECT_THAT(test.policy.hint_questions, ElementsAre("1:a")) << "one class";
}

TEST(SchedulingQueueTest, NotesWhenItEnteredTheQueueAndWasFirstReady) {
  TestQueue test;
  const int64_t start = test.clock.NowNs();
  test.Tell("add a; sleep 1; pop a; sleep 1; return a 1");
  const QueuedEntity& a = test.Entity("a");
  EXPECT_EQ(a.first_attempt_ns, start);
  EXPECT_EQ(a.queued_ns, start + 2 * kSecond);
  test.Tell("sleep 5; node n-1; pop a");
  EXPECT_EQ(a.queued_ns, start + 2 * kSecond) << "to be woken is not to enter it";
  EXPECT_EQ(a.first_attempt_ns, start);
}

TEST(SchedulingQueueTest, SaysWhenABackoffEnds) {
  TestQueue test;
  test.Tell("sleep 0.25; add a; pop a; return a 1");
  const QueuedEntity& a = test.Entity("a");
  EXPECT_EQ(a.backoff_until_ns, 0);
  test.Tell("node n-1");
  EXPECT_EQ(a.backoff_until_ns, a.queued_ns - kSecond / 4 + kSecond);
  test.Tell("pop a");
  EXPECT_EQ(a.backoff_until_ns, 0);
}

TEST(SchedulingQueueTest, PluginsSeePodAndQueueData) {
  TestQueue test;
  test.Tell("add a 11; sleep 3; pop a");
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

TEST(SchedulingQueueTest, CountsWhoIsWhere) {
  TestQueue test;
  test.Tell(
      "hold g 4; add g; add p; pop p; return p 5; add e; pop e; fail e; add f; pop f; add b; "
      "pop b; return b 1; node n-1; add a; add c");
  EXPECT_EQ(test.Places(), "a=active b=backoff c=active e=errors f=flight g=gated p=parked");
  EXPECT_EQ(test.queue->size(), 7U);
  const size_t counts[] = {2, 1, 1, 1, 1, 1};
  for (size_t place = 0; place < 6; ++place) {
    EXPECT_EQ(test.queue->CountIn(static_cast<QueuePlace>(place)), counts[place]) << place;
  }
}

TEST(SchedulingQueueTest, SaysWhetherSomethingIsReady) {
  for (const bool pops_early : {true, false}) {
    TestQueue test(TestQueue::DefaultTable(), {.pop_from_backoff = pops_early});
    EXPECT_FALSE(test.queue->has_ready());
    test.Tell("add a");
    EXPECT_TRUE(test.queue->has_ready());
    test.Tell("pop a");
    EXPECT_FALSE(test.queue->has_ready());
    test.Tell("return a 1; node n-1");
    EXPECT_EQ(test.queue->has_ready(), pops_early);
  }
}

TEST(SchedulingQueueTest, ATwinOfAnotherUidIsAnotherPod) {
  TestQueue test;
  test.Tell("add a; pop a");
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

TEST(SchedulingQueueTest, RemoveSaysWhetherItWasThere) {
  TestQueue test;
  EXPECT_FALSE(test.queue->Remove("uid-a"));
  test.Tell("add a; pop a");
  EXPECT_TRUE(test.queue->Remove("uid-a"));
  EXPECT_FALSE(test.queue->Remove("uid-a")) << "it is there for its attempt alone";
  EXPECT_NE(test.queue->Find("uid-a"), nullptr);
}

TEST(SchedulingQueueTest, ReturnSaysWhetherItIsStillWanted) {
  TestQueue test;
  test.Tell("add a; add b; pop a; pop b; remove b");
  EXPECT_TRUE(test.queue->Return("uid-a", {}));
  EXPECT_FALSE(test.queue->Return("uid-b", {}));
}

TEST(SchedulingQueueTest, RemembersWhatAConditionWasTold) {
  TestQueue test;
  test.Tell("add a");
  EXPECT_TRUE(test.queue->NoteReported("uid-a", "Unschedulable", "no", 1));
  EXPECT_FALSE(test.queue->NoteReported("uid-a", "Unschedulable", "no", 1));
  EXPECT_TRUE(test.queue->NoteReported("uid-a", "SchedulerError", "no", 1));
  EXPECT_TRUE(test.queue->NoteReported("uid-a", "SchedulerErrorn", "o", 1));
  EXPECT_TRUE(test.queue->NoteReported("uid-a", "Unschedulable", "no", 1));
  EXPECT_TRUE(test.queue->NoteReported("uid-a", "Unschedulable", "no", 2));
  test.queue->ForgetReported("uid-a");
  EXPECT_TRUE(test.queue->NoteReported("uid-a", "Unschedulable", "no", 2));
  test.queue->ForgetReported("nobody");
}

TEST(SchedulingQueueTest, WhatIsNotInFlightCannotEnd) {
  TestQueue test;
  test.Tell("add a");
  EXPECT_DEATH(test.queue->Return("uid-a", {}), "pod uid-a is not in flight");
  EXPECT_DEATH(test.queue->Done("uid-b"), "pod uid-b is not in flight");
  EXPECT_DEATH(test.queue->StopRecording("uid-a"), "pod uid-a is not in flight");
}

// --- another policy -----------------------------------------------------------------------------

TEST(SchedulingQueueTest, ANewOrderIsTakenUp) {
  TestQueue test;
  test.Tell("add a 1; add b 2; pop b; pop a; return a 1; return b 1; node n-1; add c 1; add d 2");
  test.order.lowest_first = true;
  test.order.uses_key = false;
  test.queue->PolicyChanged();
  test.queue->CheckInvariants();
  test.Tell("pop c; pop d; pop a; pop b");
}

TEST(SchedulingQueueTest, NewInterestsAreTakenUp) {
  TestQueue test;
  test.Tell("add a; add b; label b y; pop a; pop b; return a 5; return b 5; node n-5");
  EXPECT_EQ(test.Places(), "a=parked b=parked");
  test.policy.table = {{.plugin = 5,
                        .resource = BERTH_RESOURCE_NODE,
                        .actions = BERTH_ACTION_ADD,
                        .has_hint = true,
                        .pod_parts = BERTH_PART(LABELS)}};
  test.queue->PolicyChanged();
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=parked b=parked") << "an order to try again is the caller's";
  test.Tell("node n");
  EXPECT_THAT(test.policy.hint_questions, UnorderedElementsAre("5:a", "5:b"));
  test.Tell("node n-5");
  EXPECT_EQ(test.Places(), "a=backoff b=backoff");
}

TEST(SchedulingQueueTest, TryAllAgainAsksAboutAllThatWaitAndWakesAllThatIsParked) {
  TestQueue test;
  test.Tell("hold f 4; add f; add a; add b; add c; add d; add e; pop a; pop b; pop c; pop d");
  test.Tell("return a 5; return b 1; node n-1; fail c; sleep 1");
  EXPECT_EQ(test.Places(), "a=parked b=backoff c=errors d=flight e=active f=gated");
  for (const char* pod : {"b", "c", "d", "e"}) test.policy.held[pod] = 4;
  test.policy.held.erase("f");
  test.queue->TryAllAgain();
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=backoff b=gated c=gated d=flight e=gated f=active");
  test.Tell("release d; return d 5");
  EXPECT_EQ(test.Places(), "a=backoff b=gated c=gated d=backoff e=gated f=active");
}

}  // namespace
}  // namespace berth::host
