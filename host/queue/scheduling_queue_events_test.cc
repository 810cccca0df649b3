// What events, updates and nominations do.
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

// --- what is parked -----------------------------------------------------------------------------

constexpr QueueStory kEvents[] = {
    {"the hint says yes", "add a; pop a; return a 1; node n-1", "a=backoff"},
    {"the hint says no", "add a; pop a; return a 1; node n-2", "a=parked"},
    {"another resource", "add a; pop a; return a 1; freed x-1", "a=parked"},
    {"another rejector", "add a; pop a; return a 2; node n-1-2", "a=parked"},
    {"one of two rejectors", "add a; pop a; return a 2,5; freed x", "a=backoff"},
    {"no hint: every event", "add a; pop a; return a 2; freed x", "a=backoff"},
    {"another action", "add a; pop a; return a 2; came x", "a=parked"},
    {"a rejector without interests", "add a; pop a; return a 5; node n-5; freed x-5", "a=parked"},
    {"a custom object", "add a; pop a; return a 4; other t-4", "a=backoff"},
    {"a pod that waits, for who named it", "add a; pop a; return a 6; pending p-6", "a=backoff"},
    {"a pod of ours that comes is one that waits", "add a; pop a; return a 6; add b-6",
     "a=backoff b-6=active"},
    {"it is none to itself", "hold b-6 6; add b-6", "b-6=gated"},
    {"it is none when it is updated",
     "add b-6; pop b-6; return b-6 5; add a; pop a; return a 6; label b-6 x",
     "a=parked b-6=parked"},
    {"it is one when PreEnqueue keeps it", "hold b-6 4; add a; pop a; return a 6; add b-6",
     "a=backoff b-6=gated"},
    {"a pod that waits, for who did not", "add a; pop a; return a 1,2,3,4; pending p-1-2-3-4",
     "a=parked"},
    {"after the backoff", "add a; pop a; return a 1; wait 2; node n-1", "a=active"},
    {"a moment before its end", "add a; pop a; return a 1; wait 1.999999999; node n-1",
     "a=backoff"},
    {"pending: at once", "add a; pop a; return a - 3; node n-3", "a=active"},
    {"pending, and the hint says no", "add a; pop a; return a - 3; node n-1", "a=parked"},
    {"pending, and another rejector says yes", "add a; pop a; return a 1 3; node n-1", "a=backoff"},
    {"pending, and both say yes", "add a; pop a; return a 1 3; node n-1-3", "a=active"},
    {"an order to try again", "add a; pop a; return a 5; all", "a=backoff"},
    {"an order to try again, pending", "add a; pop a; return a - 5; all", "a=backoff"},
    {"an order for one", "add a; add b; pop a; pop b; return a 5; return b 5; only b",
     "a=parked b=backoff"},
    {"who is ready hears nothing", "add a; node n-1", "a=active"},
    {"who backs off hears nothing", "add a; pop a; return a 1; node n-1; node n-1", "a=backoff"},
    {"who is in an error's backoff hears nothing", "add a; pop a; fail a; node n-1; all",
     "a=errors"},
    {"only whom it helps",
     "add a; add b; add c; pop a; pop b; pop c; return a 1; return b 2; "
     "return c 1,2; freed x",
     "a=parked b=backoff c=backoff"},
};

TEST(SchedulingQueueEventsTest, MovesWhatIsParked) { ExpectPlaces(kEvents); }

TEST(SchedulingQueueEventsTest, WithoutABackoffWhatIsHelpedIsReady) {
  constexpr QueueStory kStories[] = {
      {"helped", "add a; pop a; return a 1; node n-1", "a=active"},
      {"helped in flight", "add a; pop a; node n-1; return a 1", "a=active"},
      {"not helped", "add a; pop a; return a 1", "a=parked"},
      {"an error", "add a; pop a; fail a", "a=active"},
  };
  ExpectPlaces(kStories, {.max_backoff_ns = 0});
}

TEST(SchedulingQueueEventsTest, AFilterChoosesWhomItMoves) {
  TestQueue test;
  test.Tell("add a; add b; add c; pop a; pop b; return a 1; return b 1");
  const auto not_b = [](const QueuedEntity& entity) { return entity.pod->name() != "b"; };
  test.queue->OnEvent(test.NodeEvent("n-1"), not_b);
  EXPECT_EQ(test.Places(), "a=backoff b=parked c=active");
  test.queue->OnEvent(QueueEvent(), [](const QueuedEntity&) { return false; });
  EXPECT_EQ(test.Places(), "a=backoff b=parked c=active");
}

TEST(SchedulingQueueEventsTest, HintsSeeTheEventAndThePod) {
  TestQueue test;
  test.Tell("add a 7; pop a; return a 1");
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

TEST(SchedulingQueueEventsTest, EqualPodsAreAskedAboutOnceAndMovedTogether) {
  TestQueue test;
  test.Tell(
      "add a; add b; add c; label c y; pop a; pop b; pop c; return a 1; return b 1; "
      "return c 1; node n-1");
  EXPECT_THAT(test.policy.hint_questions, UnorderedElementsAre("1:a", "1:c"));
  EXPECT_EQ(test.Places(), "a=backoff b=backoff c=backoff");
}

// --- what is in flight --------------------------------------------------------------------------

constexpr QueueStory kFlights[] = {
    {"an event came that helps", "add a; pop a; node n-1; return a 1", "a=backoff"},
    {"an event came that does not", "add a; pop a; node n-2; return a 1", "a=parked"},
    {"before it was popped", "add a; node n-1; pop a; return a 1", "a=parked"},
    {"after it was returned", "add a; pop a; return a 1; node n-1", "a=backoff"},
    {"the second of two helps", "add a; pop a; node n-2; node n-1; return a 1", "a=backoff"},
    {"pending: at once", "add a; pop a; node n-3; return a - 3", "a=active"},
    {"pending: later than another", "add a; pop a; node n-1; node n-3; return a 1 3", "a=active"},
    {"pending says no to all", "add a; pop a; node n-1; node n-1; return a 1 3", "a=backoff"},
    {"an event that nobody registered for", "add a; pop a; came x-1; return a 1", "a=parked"},
    {"an order to try again", "add a; pop a; all; return a 5", "a=backoff"},
    {"an order for another", "add a; add b; pop a; pop b; only b; return a 5; return b 5",
     "a=parked b=backoff"},
    {"what helped the last attempt does not help this one",
     "add a; pop a; node n-1; return a 1; pop a; return a 1", "a=parked"},
    {"an error hears of nothing", "add a; pop a; node n-3; fail a", "a=errors"},
    {"the latest rejection counts",
     "add a; pop a; node n-2; return a 2; all; pop a; node n-1; "
     "return a 1",
     "a=backoff"},
    {"each from when it was popped", "add a; add b; pop a; node n-1; pop b; return a 1; return b 1",
     "a=backoff b=parked"},
    {"and in any order", "add a; add b; pop a; node n-1; pop b; node n-2; return b 1; return a 1",
     "a=backoff b=parked"},
    {"it stopped listening: it may have missed something", "add a; pop a; stop a; return a 1",
     "a=backoff"},
    {"it stopped listening, and failed", "add a; pop a; stop a; fail a", "a=errors"},
    {"its own labels changed", "add a; pop a; label a y; return a 1", "a=parked"},
    {"its own change, for who always hears", "add a; pop a; touch a; return a - 3", "a=active"},
    {"another's change", "add a; add b; pop a; pop b; touch b; return a - 3; return b 5",
     "a=parked b=parked"},
};

TEST(SchedulingQueueEventsTest, ReplaysWhatCameInFlight) { ExpectPlaces(kFlights); }

TEST(SchedulingQueueEventsTest, AFilterAlsoChoosesAmongThoseInFlight) {
  TestQueue test;
  test.Tell("add a; add b; pop a; pop b");
  {
    // Asked now, and not when the pods return.
    std::string except = "b";
    test.queue->OnEvent(test.NodeEvent("n-1"), [&except](const QueuedEntity& entity) {
      return entity.pod->name() != except;
    });
    except = "a";
  }
  test.Tell("return a 1; return b 1");
  EXPECT_EQ(test.Places(), "a=backoff b=parked");
}

TEST(SchedulingQueueEventsTest, WhoMissedAnEventIsTriedAgain) {
  const SchedulingQueue::Options options = {.max_logged_events = 2};
  constexpr QueueStory kStories[] = {
      {"as many as are kept", "add a; pop a; node n; node n; return a 1", "a=parked"},
      {"one more", "add a; pop a; node n; node n; node n; return a 1", "a=backoff"},
      {"who came later missed nothing",
       "add a; add b; pop a; node n; pop b; node n; node n; return a 1; return b 1",
       "a=backoff b=parked"},
      {"events that nobody registered for are not kept",
       "add a; pop a; came x; came x; came x; return a 1", "a=parked"},
  };
  ExpectPlaces(kStories, options);
}

TEST(SchedulingQueueEventsTest, ChangesOfItsOwnThatNobodyRegisteredForAreNotKept) {
  std::vector<Interest> table = TestQueue::DefaultTable();
  std::erase_if(table, [](const Interest& interest) {
    return interest.resource == BERTH_RESOURCE_TARGET_POD;
  });
  TestQueue test(table, {.max_logged_events = 1});
  test.Tell("add a; pop a; touch a; touch a; return a 1");
  EXPECT_EQ(test.Places(), "a=parked");
}

TEST(SchedulingQueueEventsTest, ReplayShowsTheObjectsOfTheTimeAndThePodOfNow) {
  TestQueue test;
  test.Tell("add a; pop a; label a y");
  PodRef old;
  test.policy.hint = [&](const Interest& interest, const berth_queued& queued,
                         const berth_event& event) {
    EXPECT_EQ(interest.index, 1U);
    EXPECT_EQ(event.resource, uint32_t{BERTH_RESOURCE_TARGET_POD});
    EXPECT_EQ(event.actions, uint32_t{BERTH_ACTION_UPDATE_POD_LABEL});
    const auto* before = static_cast<const berth_pod*>(event.before.object);
    const auto* after = static_cast<const berth_pod*>(event.after.object);
    EXPECT_NE(before->part_hashes.data, after->part_hashes.data);
    EXPECT_NE(after, queued.pod) << "it has changed once more";
    EXPECT_EQ(queued.pod, &test.Entity("a").pod->view());
    return true;
  };
  test.Tell("touch a; return a 1");
  EXPECT_EQ(test.Places(), "a=backoff");
}

// --- updates ------------------------------------------------------------------------------------

constexpr QueueStory kUpdates[] = {
    {"nowhere: added", "touch a", "a=active"},
    {"nowhere, and held back", "hold a 4; touch a", "a=gated"},
    {"added twice", "add a; add a", "a=active"},
    {"added again while it is parked", "add a; pop a; return a 1; add a", "a=parked"},
    {"ready", "add a; touch a", "a=active"},
    {"in a backoff", "add a; pop a; return a 1; node n-1; touch a", "a=backoff"},
    {"in an error's backoff", "add a; pop a; fail a; touch a", "a=errors"},
    {"parked, and nobody cares", "add a; pop a; return a 2; touch a", "a=parked"},
    {"parked, for who always hears", "add a; pop a; return a 3; touch a", "a=backoff"},
    {"parked and pending, for who always hears", "add a; pop a; return a - 3; touch a", "a=active"},
    {"a label is an update too", "add a; pop a; return a 3; label a y", "a=backoff"},
    {"who waits for labels does not hear of another change", "add a; pop a; return a 1; touch a",
     "a=parked"},
    {"another pod's change", "add a; add b; pop a; pop b; return a 3; touch b",
     "a=parked b=flight"},
    {"held back on the way", "add a; pop a; return a 3; hold a 4; touch a", "a=gated"},
};

TEST(SchedulingQueueEventsTest, UpdatesAreEventsOfThePodItself) { ExpectPlaces(kUpdates); }

TEST(SchedulingQueueEventsTest, AnUpdateChangesThePodWhereverItIs) {
  for (const char* story : {"add a", "hold a 4; add a", "add a; pop a", "add a; pop a; fail a",
                            "add a; pop a; return a 5", "add a; pop a; return a 1; node n-1"}) {
    TestQueue test;
    test.Tell(story);
    const PodRef now = test.Pod("a");
    test.queue->Update(now);
    EXPECT_EQ(test.Entity("a").pod, now) << story;
    test.queue->CheckInvariants();
  }
}

TEST(SchedulingQueueEventsTest, AnUpdateMovesItWhereItsPriorityBelongs) {
  TestQueue test;
  test.Tell("add a 1; add b 2");
  test.queue->Update(test.objects.Pod({.name = "a", .spec = "\"priority\":3"}));
  test.Tell("pop a; pop b; return a 1; return b 1; node n-1");
  test.queue->Update(test.objects.Pod({.name = "b", .spec = "\"priority\":4"}));
  test.Tell("pop b; pop a");
}

// A change that is several events is offered as each, lowest action first, until one helps.
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
      test.Tell(in_flight ? "add a; pop a" : "add a; pop a; return a 1");
      std::vector<uint32_t> actions;
      test.policy.hint = [&](const Interest&, const berth_queued&, const berth_event& event) {
        actions.push_back(event.actions);
        return label_helps && event.actions == BERTH_ACTION_UPDATE_POD_LABEL;
      };
      test.queue->Update(changed(test));
      if (in_flight) test.Tell("return a 1");
      std::vector<uint32_t> expected = {BERTH_ACTION_UPDATE_POD_LABEL};
      if (!label_helps) expected.push_back(BERTH_ACTION_UPDATE_POD_TOLERATION);
      EXPECT_EQ(actions, expected);
      EXPECT_EQ(test.Places(), label_helps ? "a=backoff" : "a=parked");
    }
  }
}

// Its class is what it is now: the next event is asked about the pod as it is.
TEST(SchedulingQueueEventsTest, AnUpdateWhileParkedChangesTheClass) {
  TestQueue test;
  test.Tell("add a; add b; pop a; pop b; return a 1; return b 1; label a y");
  test.policy.hint_questions.clear();
  test.Tell("node n");
  EXPECT_THAT(test.policy.hint_questions, UnorderedElementsAre("1:a", "1:b"));
}

// --- nominations --------------------------------------------------------------------------------

TEST(SchedulingQueueEventsTest, NominationsFollowThePod) {
  TestQueue test;
  const auto node_of = [&](const char* uid) { return test.queue->nominator().NodeOf(uid); };
  test.Tell("add a on n; hold g 4; add g on n");
  EXPECT_EQ(node_of("uid-a"), "n");
  EXPECT_EQ(node_of("uid-g"), "n") << "gated pods keep their room too";
  test.Tell("nominate a m");
  EXPECT_EQ(node_of("uid-a"), "m");
  EXPECT_EQ(test.queue->nominator().PodsFor("m").front(), test.Entity("a").pod);
  test.Tell("touch a");
  EXPECT_EQ(test.queue->nominator().PodsFor("m").front(), test.Entity("a").pod);
  test.Tell("nominate a -; remove g");
  EXPECT_TRUE(test.queue->nominator().empty());
}

TEST(SchedulingQueueEventsTest, WhatIsInFlightIsNotNominatedAnew) {
  TestQueue test;
  test.Tell("add a on n; pop a");
  test.queue->nominator().Remove("uid-a");  // It has been assumed.
  test.Tell("touch a; nominate a m");
  EXPECT_TRUE(test.queue->nominator().empty());
}

TEST(SchedulingQueueEventsTest, WhoNominatesAnewFreesTheRoomThatWasKept) {
  TestQueue test;
  test.Tell("add low 1; pop low; return low 2; add p 5; pop p");
  const PodRef p = test.Entity("p").pod;
  const auto node = [&] { return test.queue->nominator().NodeOf("uid-p"); };
  test.queue->Nominate(p, "n");
  test.queue->Nominate(p, "n");
  EXPECT_EQ(node(), "n");
  EXPECT_EQ(test.Places(), "low=parked p=flight");
  test.queue->Nominate(p, "m");
  EXPECT_EQ(node(), "m");
  EXPECT_EQ(test.Places(), "low=backoff p=flight");
  test.Tell("pop low; return low 2");
  test.queue->Nominate(p, "");
  EXPECT_EQ(node(), "");
  EXPECT_EQ(test.Places(), "low=backoff p=flight");
  test.Tell("pop low; return low 2");
  test.queue->Nominate(p, "");
  EXPECT_EQ(test.Places(), "low=parked p=flight");
}

TEST(SchedulingQueueEventsTest, WhatIsBoundIsNominatedNoMore) {
  TestQueue test;
  test.Tell("add a on n; pop a; done a");
  EXPECT_TRUE(test.queue->nominator().empty());
}

// `low` (priority 1), `same` (5) and `high` (9) were parked by plugin 2, which hears when a pod
// leaves its node; `p` (5) is nominated to n.
constexpr QueueStory kNominations[] = {
    {"removed", "remove p", "high=parked low=backoff same=backoff"},
    {"cleared", "nominate p -", "high=parked low=backoff p=active same=backoff"},
    {"changed", "nominate p m", "high=parked low=backoff p=active same=backoff"},
    {"changed in no other way", "touch p", "high=parked low=parked p=active same=parked"},
    {"removed in flight", "pop p; remove p", "high=parked low=backoff p=flight same=backoff"},
    {"bound", "pop p; done p", "high=parked low=parked same=parked"},
    {"cleared in flight", "pop p; nominate p -", "high=parked low=backoff p=flight same=backoff"},
};

TEST(SchedulingQueueEventsTest, ANominationThatGoesFreesRoomForThoseBelow) {
  for (const QueueStory& story : kNominations) {
    SCOPED_TRACE(story.sentence);
    TestQueue test;
    test.Tell(
        "add low 1; add same 5; add high 9; pop high; pop same; pop low; return low 2; "
        "return same 2; return high 2; add p 5");
    test.Tell("remove p; add q 5; remove q");  // Nobody is nominated: nothing is freed.
    EXPECT_EQ(test.Places(), "high=parked low=parked same=parked");
    test.queue->Add(test.objects.Pod(
        {.name = "p", .spec = "\"priority\":5", .status = R"("nominatedNodeName":"n")"}));
    // What the story tells from here is told of p as it is: nominated.
    test.Tell(std::string("nominate p n; ") + story.story);
    EXPECT_EQ(test.Places(), story.places);
  }
}

TEST(SchedulingQueueEventsTest, RoomIsFreedByThePodAsItWasNominated) {
  std::vector<Interest> table = {{.plugin = 2,
                                  .resource = BERTH_RESOURCE_ASSIGNED_POD,
                                  .actions = BERTH_ACTION_DELETE,
                                  .has_hint = true,
                                  .pod_parts = BERTH_PART(LABELS)}};
  for (const bool is_written : {false, true}) {
    TestQueue test(table);
    test.Tell("add a; pop a; return a 2");
    test.Tell(is_written ? "add p on n" : "add p");
    if (!is_written) test.queue->nominator().Add(test.Entity("p").pod, "n");
    std::string node;
    test.policy.hint = [&](const Interest&, const berth_queued&, const berth_event& event) {
      EXPECT_EQ(event.after.kind, 0U);
      const auto* gone = static_cast<const berth_pod*>(event.before.object);
      node = test.objects.interner().Text(gone->nominated_node);
      return true;
    };
    test.Tell("remove p");
    EXPECT_EQ(node, "n");
    EXPECT_EQ(test.Places(), "a=backoff");
  }
}

}  // namespace
}  // namespace berth::host
