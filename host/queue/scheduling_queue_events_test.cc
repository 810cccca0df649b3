// Tests of events, updates and nominations.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/scheduling_queue.h"
#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::UnorderedElementsAre;

// --- parked pods --------------------------------------------------------------------------------

constexpr QueueScript kEvents[] = {
    {"the hint returns true", "add a; pop a; return a 1; node n-1", "a=backoff"},
    {"the hint returns false", "add a; pop a; return a 1; node n-2", "a=parked"},
    {"an event of another resource", "add a; pop a; return a 1; freed x-1", "a=parked"},
    {"an event for another plugin", "add a; pop a; return a 2; node n-1-2", "a=parked"},
    {"an event for one of two rejectors", "add a; pop a; return a 2,5; freed x", "a=backoff"},
    {"an event for a rejector without a hint", "add a; pop a; return a 2; freed x", "a=backoff"},
    {"an event of another action", "add a; pop a; return a 2; came x", "a=parked"},
    {"a rejector without interests", "add a; pop a; return a 5; node n-5; freed x-5", "a=parked"},
    {"a custom object", "add a; pop a; return a 4; other t-4", "a=backoff"},
    {"an unscheduled pod, for an interest in it", "add a; pop a; return a 6; pending p-6",
     "a=backoff"},
    {"an added pod is an unscheduled pod event", "add a; pop a; return a 6; add b-6",
     "a=backoff b-6=active"},
    {"an added pod gets no event for itself", "hold b-6 6; add b-6", "b-6=gated"},
    {"an updated pod is no unscheduled pod event",
     "add b-6; pop b-6; return b-6 5; add a; pop a; return a 6; label b-6 x",
     "a=parked b-6=parked"},
    {"an added pod that is gated is an unscheduled pod event",
     "hold b-6 4; add a; pop a; return a 6; add b-6", "a=backoff b-6=gated"},
    {"an unscheduled pod, for no interest in it",
     "add a; pop a; return a 1,2,3,4; pending p-1-2-3-4", "a=parked"},
    {"an event after the backoff", "add a; pop a; return a 1; wait 2; node n-1", "a=active"},
    {"an event a nanosecond before the backoff ends",
     "add a; pop a; return a 1; wait 1.999999999; node n-1", "a=backoff"},
    {"an event for a pending plugin skips the backoff", "add a; pop a; return a - 3; node n-3",
     "a=active"},
    {"the hint of a pending plugin returns false", "add a; pop a; return a - 3; node n-1",
     "a=parked"},
    {"only the hint of another rejector returns true", "add a; pop a; return a 1 3; node n-1",
     "a=backoff"},
    {"the hints of a pending plugin and another rejector return true",
     "add a; pop a; return a 1 3; node n-1-3", "a=active"},
    {"a wildcard event", "add a; pop a; return a 5; all", "a=backoff"},
    {"a wildcard event does not skip the backoff of a pending pod",
     "add a; pop a; return a - 5; all", "a=backoff"},
    {"a wildcard event for one pod", "add a; add b; pop a; pop b; return a 5; return b 5; only b",
     "a=parked b=backoff"},
    {"an active pod gets no event", "add a; node n-1", "a=active"},
    {"a backing-off pod gets no event", "add a; pop a; return a 1; node n-1; node n-1",
     "a=backoff"},
    {"a pod in the error backoff gets no event", "add a; pop a; fail a; node n-1; all", "a=errors"},
    {"only the pods that the event helps",
     "add a; add b; add c; pop a; pop b; pop c; return a 1; return b 2; "
     "return c 1,2; freed x",
     "a=parked b=backoff c=backoff"},
};

TEST(SchedulingQueueEventsTest, MovesParkedPods) { ExpectPlaces(kEvents); }

// A pod for which a plugin returned Pending in PreFilter or PreScore waits for that plugin.
constexpr QueueScript kAwaits[] = {
    {"no event that the plugin registered for", "add a; pop a; await a 1; node n-1", "a=parked"},
    {"no event for a plugin without a hint", "add a; pop a; await a 2; freed x", "a=parked"},
    {"no event in flight", "add a; pop a; node n-1; await a 1", "a=parked"},
    {"it is activated", "add a; pop a; await a 1; activate a", "a=active"},
    {"another pod is activated", "add a; add b; pop a; await a 1; activate b", "a=parked b=active"},
    {"its label changes", "add a; pop a; await a 5; label a y", "a=active"},
    {"its annotation changes", "add a; pop a; await a 5; touch a", "a=active"},
    {"nothing of it changes", "add a; pop a; await a 5; label a x", "a=parked"},
    {"only its status changes", "add a; pop a; await a 5; nominate a n", "a=parked"},
    {"it is not yet flushed", "add a; pop a; await a 1; wait 300", "a=parked"},
    {"it is flushed", "add a; pop a; await a 1; wait 330.1", "a=active"},
    {"all pods are tried again", "add a; pop a; await a 1; all", "a=active"},
    {"PreEnqueue rejects it meanwhile", "add a; pop a; await a 1; hold a 4; activate a", "a=gated"},
    {"it is removed", "add a; pop a; await a 1; remove a", ""},
    {"an event for another rejector", "add a; pop a; await a 1 2; freed x", "a=backoff"},
    {"an event for nothing but the plugin", "add a; pop a; await a 1 2; node n-1", "a=parked"},
    {"its group has a change of a member", "join a g; join b g; pop g(a,b); await g 1; touch b",
     "g(a,b)=active"},
    {"its group is activated by a member", "join a g; join b g; pop g(a,b); await g 1; activate b",
     "g(a,b)=active"},
};

TEST(SchedulingQueueEventsTest, AwaitingPodsIgnoreEvents) {
  ExpectPlaces(kAwaits, {.groups = true});
}

// The pod was not rejected, so that its next rejection counts as the first.
TEST(SchedulingQueueEventsTest, WaitingForAPluginAddsNoBackoff) {
  TestQueue test;
  test.Run("add a; pop a; await a 1; activate a; pop a; await a 1; activate a; pop a");
  EXPECT_EQ(test.Entity("a").attempts, 3U);
  EXPECT_EQ(test.Entity("a").rejected_count, 0U);
  test.Run("return a 1; node n-1; wait 2");
  EXPECT_EQ(test.Places(), "a=active");
}

TEST(SchedulingQueueEventsTest, WaitingForAPluginResetsErrors) {
  TestQueue test;
  test.Run("add a; pop a; fail a; wait 2; pop a; await a 1");
  EXPECT_EQ(test.Entity("a").error_count, 0U);
}

TEST(SchedulingQueueEventsTest, WithoutBackoffARequeuedPodIsActive) {
  constexpr QueueScript kCases[] = {
      {"an event helps", "add a; pop a; return a 1; node n-1", "a=active"},
      {"an event in flight helps", "add a; pop a; node n-1; return a 1", "a=active"},
      {"no event", "add a; pop a; return a 1", "a=parked"},
      {"an error", "add a; pop a; fail a", "a=active"},
  };
  ExpectPlaces(kCases, {.max_backoff_ns = 0});
}

TEST(SchedulingQueueEventsTest, FilterLimitsThePodsThatAnEventMoves) {
  TestQueue test;
  test.Run("add a; add b; add c; pop a; pop b; return a 1; return b 1");
  const auto not_b = [](const QueuedEntity& entity) { return entity.pod->name() != "b"; };
  test.queue->OnEvent(test.NodeEvent("n-1"), not_b);
  EXPECT_EQ(test.Places(), "a=backoff b=parked c=active");
  test.queue->OnEvent(QueueEvent(), [](const QueuedEntity&) { return false; });
  EXPECT_EQ(test.Places(), "a=backoff b=parked c=active");
}

TEST(SchedulingQueueEventsTest, HintsSeeTheEventAndThePod) {
  TestQueue test;
  test.Run("add a 7; pop a; return a 1");
  const NodeRef before = test.objects.Node({.name = "n-1"});
  const NodeRef after = test.objects.Node({.name = "n-1"});
  uint32_t asked = 0;
  test.policy.hint = [&](const Interest& interest, const berth_queued& queued,
                         const berth_event& event) {
    ++asked;
    EXPECT_EQ(interest.plugin, 1U);
    EXPECT_EQ(queued.pod, &test.Entity("a").pod->view());
    EXPECT_EQ(queued.priority, 7);
    EXPECT_EQ(queued.attempts, 1U);
    EXPECT_EQ(event.struct_size, sizeof(berth_event));
    EXPECT_EQ(event.resource, uint32_t{BERTH_RESOURCE_NODE});
    EXPECT_EQ(event.actions, uint32_t{BERTH_ACTION_UPDATE_NODE_LABEL});
    EXPECT_EQ(event.interest, 0U);
    EXPECT_EQ(event.before.kind, uint32_t{BERTH_KIND_NODE});
    EXPECT_EQ(event.before.object, &before->view());
    EXPECT_EQ(event.after.object, &after->view());
    return false;
  };
  test.queue->OnEvent({.resource = BERTH_RESOURCE_NODE,
                       .action = BERTH_ACTION_UPDATE_NODE_LABEL,
                       .before = before,
                       .after = after});
  EXPECT_EQ(asked, 1U);
  test.policy.hint = [&](const Interest&, const berth_queued&, const berth_event& event) {
    EXPECT_EQ(event.before.kind, 0U);
    EXPECT_EQ(event.before.object, nullptr);
    return false;
  };
  test.queue->OnEvent(test.NodeEvent("n-1"));
}

TEST(SchedulingQueueEventsTest, EqualPodsShareOneHintCall) {
  TestQueue test;
  test.Run(
      "add a; add b; add c; label c y; pop a; pop b; pop c; return a 1; return b 1; "
      "return c 1; node n-1");
  EXPECT_THAT(test.policy.hint_calls, UnorderedElementsAre("1:a", "1:c"));
  EXPECT_EQ(test.Places(), "a=backoff b=backoff c=backoff");
}

// The hash of a pod's parts has another key in every process, but hints are called in one order.
TEST(SchedulingQueueEventsTest, CallsHintsInTheOrderOfParking) {
  TestQueue test;
  std::vector<std::string> calls;
  for (char name = 'a'; name <= 'p'; ++name) {
    const std::string pod(1, name);
    test.Run("add " + pod + "; label " + pod + " of-" + pod + "; pop " + pod);
    test.Run("return " + pod + " 1");
    calls.push_back("1:" + pod);
  }
  test.Run("node n-2");
  EXPECT_EQ(test.policy.hint_calls, calls);
}

// --- pods in flight -----------------------------------------------------------------------------

constexpr QueueScript kFlights[] = {
    {"an event that helps", "add a; pop a; node n-1; return a 1", "a=backoff"},
    {"an event that does not help", "add a; pop a; node n-2; return a 1", "a=parked"},
    {"an event before Pop", "add a; node n-1; pop a; return a 1", "a=parked"},
    {"an event after Return", "add a; pop a; return a 1; node n-1", "a=backoff"},
    {"the second of two helps", "add a; pop a; node n-2; node n-1; return a 1", "a=backoff"},
    {"an event for a pending plugin skips the backoff", "add a; pop a; node n-3; return a - 3",
     "a=active"},
    {"an event for a pending plugin after one for another rejector",
     "add a; pop a; node n-1; node n-3; return a 1 3", "a=active"},
    {"no event helps the pending plugin", "add a; pop a; node n-1; node n-1; return a 1 3",
     "a=backoff"},
    {"an event without registered plugins", "add a; pop a; came x-1; return a 1", "a=parked"},
    {"a wildcard event", "add a; pop a; all; return a 5", "a=backoff"},
    {"a wildcard event for another pod",
     "add a; add b; pop a; pop b; only b; return a 5; return b 5", "a=parked b=backoff"},
    {"an event during the previous attempt",
     "add a; pop a; node n-1; return a 1; pop a; return a 1", "a=parked"},
    {"an event does not affect an attempt that fails", "add a; pop a; node n-3; fail a",
     "a=errors"},
    {"only the latest rejection counts",
     "add a; pop a; node n-2; return a 2; all; pop a; node n-1; "
     "return a 1",
     "a=backoff"},
    {"every pod gets the events since its own Pop",
     "add a; add b; pop a; node n-1; pop b; return a 1; return b 1", "a=backoff b=parked"},
    {"every pod gets the events since its own Pop, returned in another order",
     "add a; add b; pop a; node n-1; pop b; node n-2; return b 1; return a 1",
     "a=backoff b=parked"},
    {"recording stopped, then rejected: may have missed an event",
     "add a; pop a; stop a; return a 1", "a=backoff"},
    {"recording stopped, then failed", "add a; pop a; stop a; fail a", "a=errors"},
    {"an update of the pod that does not help", "add a; pop a; label a y; return a 1", "a=parked"},
    {"an update of the pod, for a plugin without a hint", "add a; pop a; touch a; return a - 3",
     "a=active"},
    {"an update of another pod", "add a; add b; pop a; pop b; touch b; return a - 3; return b 5",
     "a=parked b=parked"},
};

TEST(SchedulingQueueEventsTest, ReplaysEventsToPodsInFlight) { ExpectPlaces(kFlights); }

TEST(SchedulingQueueEventsTest, AFilterAlsoLimitsPodsInFlight) {
  TestQueue test;
  test.Run("add a; add b; pop a; pop b");
  {
    // The filter is called now, not when the pods return.
    std::string except = "b";
    test.queue->OnEvent(test.NodeEvent("n-1"), [&except](const QueuedEntity& entity) {
      return entity.pod->name() != except;
    });
    except = "a";
  }
  test.Run("return a 1; return b 1");
  EXPECT_EQ(test.Places(), "a=backoff b=parked");
}

TEST(SchedulingQueueEventsTest, PodThatMissedAnEventIsTriedAgain) {
  const SchedulingQueue::Options options = {.max_logged_events = 2};
  constexpr QueueScript kCases[] = {
      {"as many events as the log keeps", "add a; pop a; node n; node n; return a 1", "a=parked"},
      {"one event more than the log keeps", "add a; pop a; node n; node n; node n; return a 1",
       "a=backoff"},
      {"a pod that was popped later missed no event",
       "add a; add b; pop a; node n; pop b; node n; node n; return a 1; return b 1",
       "a=backoff b=parked"},
      {"events without registered plugins are not recorded",
       "add a; pop a; came x; came x; came x; return a 1", "a=parked"},
  };
  ExpectPlaces(kCases, options);
}

TEST(SchedulingQueueEventsTest, UpdatesWithoutRegisteredPluginsAreNotRecorded) {
  std::vector<Interest> table = TestQueue::DefaultTable();
  std::erase_if(table, [](const Interest& interest) {
    return interest.resource == BERTH_RESOURCE_TARGET_POD;
  });
  TestQueue test(table, {.max_logged_events = 1});
  test.Run("add a; pop a; touch a; touch a; return a 1");
  EXPECT_EQ(test.Places(), "a=parked");
}

TEST(SchedulingQueueEventsTest, ReplayPassesRecordedObjectsAndTheCurrentPod) {
  TestQueue test;
  test.Run("add a; pop a; label a y");
  PodRef old;
  test.policy.hint = [&](const Interest& interest, const berth_queued& queued,
                         const berth_event& event) {
    EXPECT_EQ(interest.index, 1U);
    EXPECT_EQ(event.resource, uint32_t{BERTH_RESOURCE_TARGET_POD});
    EXPECT_EQ(event.actions, uint32_t{BERTH_ACTION_UPDATE_POD_LABEL});
    const auto* before = static_cast<const berth_pod*>(event.before.object);
    const auto* after = static_cast<const berth_pod*>(event.after.object);
    EXPECT_NE(before->own_part_hashes.data, after->own_part_hashes.data);
    EXPECT_NE(after, queued.pod) << "the pod changed again after the event";
    EXPECT_EQ(queued.pod, &test.Entity("a").pod->view());
    return true;
  };
  test.Run("touch a; return a 1");
  EXPECT_EQ(test.Places(), "a=backoff");
}

// --- updates ------------------------------------------------------------------------------------

constexpr QueueScript kUpdates[] = {
    {"an unknown pod is added", "touch a", "a=active"},
    {"an unknown pod is added and gated", "hold a 4; touch a", "a=gated"},
    {"added twice", "add a; add a", "a=active"},
    {"added again while it is parked", "add a; pop a; return a 1; add a", "a=parked"},
    {"active", "add a; touch a", "a=active"},
    {"backing off", "add a; pop a; return a 1; node n-1; touch a", "a=backoff"},
    {"in the error backoff", "add a; pop a; fail a; touch a", "a=errors"},
    {"parked, and the rejector is not registered", "add a; pop a; return a 2; touch a", "a=parked"},
    {"parked by a plugin without a hint", "add a; pop a; return a 3; touch a", "a=backoff"},
    {"parked and pending on a plugin without a hint", "add a; pop a; return a - 3; touch a",
     "a=active"},
    {"a label change matches an interest in all updates", "add a; pop a; return a 3; label a y",
     "a=backoff"},
    {"an annotation change does not match an interest in labels",
     "add a; pop a; return a 1; touch a", "a=parked"},
    {"an update of another pod", "add a; add b; pop a; pop b; return a 3; touch b",
     "a=parked b=flight"},
    {"gated when it is requeued", "add a; pop a; return a 3; hold a 4; touch a", "a=gated"},
};

TEST(SchedulingQueueEventsTest, UpdatesAreEventsOfThePodItself) { ExpectPlaces(kUpdates); }

TEST(SchedulingQueueEventsTest, AnUpdateChangesThePodWhereverItIs) {
  for (const char* script : {"add a", "hold a 4; add a", "add a; pop a", "add a; pop a; fail a",
                             "add a; pop a; return a 5", "add a; pop a; return a 1; node n-1"}) {
    TestQueue test;
    test.Run(script);
    const PodRef now = test.Pod("a");
    test.queue->Update(now);
    EXPECT_EQ(test.Entity("a").pod, now) << script;
    test.queue->CheckInvariants();
  }
}

TEST(SchedulingQueueEventsTest, UpdateMovesThePodToItsNewPosition) {
  TestQueue test;
  test.Run("add a 1; add b 2");
  test.queue->Update(test.objects.Pod({.name = "a", .spec = "\"priority\":3"}));
  test.Run("pop a; pop b; return a 1; return b 1; node n-1");
  test.queue->Update(test.objects.Pod({.name = "b", .spec = "\"priority\":4"}));
  test.Run("pop b; pop a");
}

// A change that is several events is applied as each of them, lowest action first, until one helps.
TEST(SchedulingQueueEventsTest, EachPartOfAChangeIsAnEvent) {
  std::vector<Interest> table = {{.plugin = 1,
                                  .index = 0,
                                  .resource = BERTH_RESOURCE_POD_ANY,
                                  .actions = BERTH_ACTION_ALL,
                                  .has_hint = true,
                                  .pod_parts = BERTH_PART(LABELS)}};
  const auto changed = [](TestQueue& test) {
    return test.objects.Pod({.name = "a",
                             .spec = R"("tolerations":[{"operator":"Exists"}])",
                             .meta = R"("labels":{"v":"other"})"});
  };
  for (const bool in_flight : {false, true}) {
    for (const bool label_helps : {false, true}) {
      TestQueue test(table);
      test.Run(in_flight ? "add a; pop a" : "add a; pop a; return a 1");
      std::vector<uint32_t> actions;
      test.policy.hint = [&](const Interest&, const berth_queued&, const berth_event& event) {
        actions.push_back(event.actions);
        return label_helps && event.actions == BERTH_ACTION_UPDATE_POD_LABEL;
      };
      test.queue->Update(changed(test));
      if (in_flight) test.Run("return a 1");
      std::vector<uint32_t> expected = {BERTH_ACTION_UPDATE_POD_LABEL};
      if (!label_helps) expected.push_back(BERTH_ACTION_UPDATE_POD_TOLERATION);
      EXPECT_EQ(actions, expected);
      EXPECT_EQ(test.Places(), label_helps ? "a=backoff" : "a=parked");
    }
  }
}

// The next event's hint is called for the updated pod, which is in a class of its own.
TEST(SchedulingQueueEventsTest, AnUpdateWhileParkedChangesTheClass) {
  TestQueue test;
  test.Run("add a; add b; pop a; pop b; return a 1; return b 1; label a y");
  test.policy.hint_calls.clear();
  test.Run("node n");
  EXPECT_THAT(test.policy.hint_calls, UnorderedElementsAre("1:a", "1:b"));
}

// --- nominations --------------------------------------------------------------------------------

TEST(SchedulingQueueEventsTest, NominationsFollowThePod) {
  TestQueue test;
  const auto node_of = [&](const char* uid) { return test.queue->nominator().NodeOf(uid); };
  test.Run("add a on n; hold g 4; add g on n");
  EXPECT_EQ(node_of("uid-a"), "n");
  EXPECT_EQ(node_of("uid-g"), "n") << "gated pods keep their nomination too";
  test.Run("nominate a m");
  EXPECT_EQ(node_of("uid-a"), "m");
  EXPECT_EQ(test.queue->nominator().PodsFor("m").front(), test.Entity("a").pod);
  test.Run("touch a");
  EXPECT_EQ(test.queue->nominator().PodsFor("m").front(), test.Entity("a").pod);
  test.Run("nominate a -; remove g");
  EXPECT_TRUE(test.queue->nominator().empty());
}

// In 1.36, the nomination of a new pod that is gated is recorded at its next update.
TEST(SchedulingQueueEventsTest, NominationOfGatedPodDependsOnVersion) {
  for (const KubeVersion version : {KubeVersion{1, 36}, KubeVersion{1, 37}}) {
    SCOPED_TRACE(version.minor);
    SchedulingQueue::Options options;
    options.emulated_version = version;
    TestQueue test(TestQueue::DefaultTable(), options);
    const auto node_of_g = [&] { return test.queue->nominator().NodeOf("uid-g"); };
    test.Run("hold g 4; add g on n; add a on n");
    EXPECT_EQ(node_of_g(), version.minor == 36 ? "" : "n");
    EXPECT_EQ(test.queue->nominator().NodeOf("uid-a"), "n") << "it is not gated";
    test.Run("touch g");
    EXPECT_EQ(node_of_g(), "n");
  }
}

TEST(SchedulingQueueEventsTest, UpdateInFlightDoesNotNominateAssumedPod) {
  TestQueue test;
  test.Run("add a on n; pop a");
  test.queue->nominator().Remove("uid-a");  // Assuming a pod does the same.
  test.Run("touch a; nominate a m");
  EXPECT_TRUE(test.queue->nominator().empty());
}

TEST(SchedulingQueueEventsTest, NominatingAnotherNodeRequeuesWaitingPods) {
  TestQueue test;
  test.Run("add low 1; pop low; return low 2; add p 5; pop p");
  const PodRef p = test.Entity("p").pod;
  const auto node = [&] { return test.queue->nominator().NodeOf("uid-p"); };
  test.queue->Nominate(p, "n");
  test.queue->Nominate(p, "n");
  EXPECT_EQ(node(), "n");
  EXPECT_EQ(test.Places(), "low=parked p=flight");
  test.queue->Nominate(p, "m");
  EXPECT_EQ(node(), "m");
  EXPECT_EQ(test.Places(), "low=backoff p=flight");
  test.Run("pop low; return low 2");
  test.queue->Nominate(p, "");
  EXPECT_EQ(node(), "");
  EXPECT_EQ(test.Places(), "low=backoff p=flight");
  test.Run("pop low; return low 2");
  test.queue->Nominate(p, "");
  EXPECT_EQ(test.Places(), "low=parked p=flight");
}

TEST(SchedulingQueueEventsTest, ABoundPodIsNotNominated) {
  TestQueue test;
  test.Run("add a on n; pop a; done a");
  EXPECT_TRUE(test.queue->nominator().empty());
}

// `low` (priority 1), `same` (5) and `high` (9) are parked by plugin 2, which registered for the
// deletion of assigned pods; `p` (5) is nominated to n.
constexpr QueueScript kNominations[] = {
    {"removed", "remove p", "high=parked low=backoff same=backoff"},
    {"cleared", "nominate p -", "high=parked low=backoff p=active same=backoff"},
    {"changed", "nominate p m", "high=parked low=backoff p=active same=backoff"},
    {"another field changed", "touch p", "high=parked low=parked p=active same=parked"},
    {"removed in flight", "pop p; remove p", "high=parked low=backoff p=flight same=backoff"},
    {"bound", "pop p; done p", "high=parked low=parked same=parked"},
    {"cleared in flight", "pop p; nominate p -", "high=parked low=backoff p=flight same=backoff"},
};

TEST(SchedulingQueueEventsTest, RemovedNominationRequeuesPodsUpToItsPriority) {
  for (const QueueScript& script : kNominations) {
    SCOPED_TRACE(script.description);
    TestQueue test;
    test.Run(
        "add low 1; add same 5; add high 9; pop high; pop same; pop low; return low 2; "
        "return same 2; return high 2; add p 5");
    test.Run("remove p; add q 5; remove q");  // Pods without a nomination cause no event.
    EXPECT_EQ(test.Places(), "high=parked low=parked same=parked");
    test.queue->Add(test.objects.Pod(
        {.name = "p", .spec = "\"priority\":5", .status = R"("nominatedNodeName":"n")"}));
    // The script's pod p must have the nomination as well.
    test.Run(std::string("nominate p n; ") + script.script);
    EXPECT_EQ(test.Places(), script.places);
  }
}

TEST(SchedulingQueueEventsTest, TheEventShowsThePodWithItsNomination) {
  std::vector<Interest> table = {{.plugin = 2,
                                  .resource = BERTH_RESOURCE_ASSIGNED_POD,
                                  .actions = BERTH_ACTION_DELETE,
                                  .has_hint = true,
                                  .pod_parts = BERTH_PART(LABELS)}};
  for (const bool is_written : {false, true}) {
    TestQueue test(table);
    test.Run("add a; pop a; return a 2");
    test.Run(is_written ? "add p on n" : "add p");
    if (!is_written) test.queue->nominator().Add(test.Entity("p").pod, "n");
    std::string node;
    test.policy.hint = [&](const Interest&, const berth_queued&, const berth_event& event) {
      EXPECT_EQ(event.after.kind, 0U);
      const auto* gone = static_cast<const berth_pod*>(event.before.object);
      node = test.objects.interner().Text(gone->nominated_node);
      return true;
    };
    test.Run("remove p");
    EXPECT_EQ(node, "n");
    EXPECT_EQ(test.Places(), "a=backoff");
  }
}

// kube-scheduler requeues no pod for these changes.
TEST(SchedulingQueueEventsTest, ChangedNominatedPodRequeuesWaitingPods) {
  const std::vector<Interest> table = {
      {.plugin = 2,
       .resource = BERTH_RESOURCE_ASSIGNED_POD,
       .actions = BERTH_ACTION_UPDATE_POD_LABEL | BERTH_ACTION_UPDATE_POD_SCALE_DOWN,
       .pod_parts = BERTH_PART(LABELS)}};
  const struct {
    const char* description;
    std::string meta;
    std::string requests;
    bool is_nominated;
    const char* places;
  } cases[] = {
      {"other labels", R"("labels":{"a":"x"})", R"("cpu":"2")", true,
       "high=parked low=backoff p=active same=backoff"},
      {"smaller requests", "", R"("cpu":"1")", true,
       "high=parked low=backoff p=active same=backoff"},
      {"larger requests", "", R"("cpu":"3")", true, "high=parked low=parked p=active same=parked"},
      {"an annotation", R"("annotations":{"a":"x"})", R"("cpu":"2")", true,
       "high=parked low=parked p=active same=parked"},
      {"other labels without a nomination", R"("labels":{"a":"x"})", R"("cpu":"2")", false,
       "high=parked low=parked p=active same=parked"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    TestQueue test(table);
    test.Run(
        "add low 1; add same 5; add high 9; pop high; pop same; pop low; return low 2; "
        "return same 2; return high 2");
    const auto pod = [&](const std::string& meta, const std::string& requests) {
      return test.objects.Pod({.name = "p",
                               .requests = requests,
                               .spec = "\"priority\":5",
                               .meta = meta,
                               .status = c.is_nominated ? R"("nominatedNodeName":"n")" : ""});
    };
    test.queue->Add(pod("", R"("cpu":"2")"));
    test.queue->Update(pod(c.meta, c.requests));
    EXPECT_EQ(test.Places(), c.places);
  }
}

}  // namespace
}  // namespace berth::host
