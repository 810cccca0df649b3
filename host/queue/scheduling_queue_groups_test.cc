// Tests of groups: pods that are queued together and tried in one cycle.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const TestQueue::Options kGroups{.groups = true};

TEST(SchedulingQueueGroupsTest, MembersAreOneEntity) {
  constexpr QueueScript kCases[] = {
      {"members are one entity, by descending priority, then in order of arrival",
       "join a g; join b g 7; join c g; add d", "d=active g(b,a,c)=active"},
      {"a group is popped as one", "join a g; join b g; pop g(a,b); pop -", "g(a,b)=flight"},
      {"two groups are two entities", "join a g; join b h", "g(a)=active h(b)=active"},
      {"a group has the priority of its highest member",
       "add x 5; join a g 1; join b g 9; pop g(b,a); pop x", "g(b,a)=flight x=flight"},
      {"one member that PreEnqueue rejects gates the group",
       "hold b 4; join a g; join b g; join c g", "g(a,b,c)=gated"},
      {"an accepted member does not ungate a rejected one", "hold b 4; join b g; join a g",
       "g(b,a)=gated"},
      {"an update of any member runs PreEnqueue for all",
       "hold b 4; join a g; join b g; release b; touch a", "g(a,b)=active"},
      {"a new member that PreEnqueue rejects gates a parked group",
       "join a g; pop g(a); return g 5; hold b 4; join b g", "g(a,b)=gated"},
      {"a rejected group is parked as one entity", "join a g; join b g; pop g(a,b); return g 1",
       "g(a,b)=parked"},
  };
  ExpectPlaces(kCases, kGroups);
}

// The lane of a group is that of its view, whose pod is its first member.
TEST(SchedulingQueueGroupsTest, AGroupIsInOneLane) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.order.lane = [](const berth_queued& queued) {
    return uint64_t{queued.kind == BERTH_QUEUED_GROUP ? 10U : 0U} +
           static_cast<uint64_t>(queued.priority);
  };
  test.order.next = [](std::span<const berth_lane> lanes) { return lanes.size() - 1; };
  test.queue->PolicyChanged();
  test.Run("join a g 1; join b g 2; join c h 1; add d 5; pop g(b,a)");
  EXPECT_THAT(test.order.offered, ElementsAre("5:1:d", "11:1:c", "12:1:b"));
  // A member of a group that is active takes the group to another lane.
  test.Run("join e h 9; pop h(e,c)");
  EXPECT_THAT(test.order.offered, ElementsAre("5:1:d", "19:1:e"));
  test.Run("return g 1; activate a; pop g(b,a); pop d; pop -");
}

TEST(SchedulingQueueGroupsTest, EventsAndMembershipChangesRequeueTheGroup) {
  constexpr QueueScript kCases[] = {
      {"an event that helps one member helps the group",
       "join a g; join b g; pop g(a,b); return g 1; node helps-1", "g(a,b)=backoff"},
      {"an event that helps no member does not requeue the group",
       "join a g; pop g(a); return g 1; node helps-2", "g(a)=parked"},
      {"an update of one member is an event for the group's rejectors",
       "join a g; join b g; pop g(a,b); return g 3; touch b", "g(a,b)=backoff"},
      {"a pending plugin lets the group skip its backoff",
       "join a g; pop g(a); return g - 3; node helps-3", "g(a)=active"},
      {"an event in flight is replayed to the group",
       "join a g; join b g; pop g(a,b); node helps-1; return g 1", "g(a,b)=backoff"},
      {"an error moves the group to the error backoff", "join a g; pop g(a); fail g",
       "g(a)=errors"},
      {"activating one member activates the group",
       "join a g; join b g; pop g(a,b); return g 5; activate b", "g(a,b)=active"},
      {"a new member requeues a parked group", "join a g; pop g(a); return g 5; wait 3; join b g",
       "g(a,b)=active"},
      {"a new member does not skip the group's backoff", "join a g; pop g(a); return g 5; join b g",
       "g(a,b)=backoff"},
      {"a new member leaves a backoff as it is", "join a g; pop g(a); fail g; join b g",
       "g(a,b)=errors"},
      {"a removed member requeues a parked group",
       "join a g; join b g; pop g(a,b); return g 5; wait 3; remove b", "g(a)=active"},
      {"a member added in flight requeues the group", "join a g; pop g(a); join b g; return g 5",
       "g(a,b)=backoff"},
      {"a member removed in flight requeues the group",
       "join a g; join b g; pop g(a,b); remove b; return g 5", "g(a)=backoff"},
      {"a group without members is erased", "join a g; join b g; remove a; remove b", ""},
      {"a group without members in flight is erased when its attempt ends",
       "join a g; pop g(a); remove a; return g 5", ""},
      {"a member removed and added in flight belongs to the group",
       "join a g; pop g(a); remove a; join a g; return g 5", "g(a)=backoff"},
      {"a member that loses its nomination requeues the group",
       "join a g; join b g; nominate a n; pop g(a,b); return g 5; wait 3; nominate a -",
       "g(a,b)=active"},
      {"a member that loses its nomination in flight requeues the group",
       "join a g; join b g; nominate a n; pop g(a,b); nominate a -; return g 5", "g(a,b)=backoff"},
      {"a flush requeues a parked group", "join a g; pop g(a); return g 5; wait 331",
       "g(a)=active"},
  };
  ExpectPlaces(kCases, kGroups);
}

TEST(SchedulingQueueGroupsTest, ATakenMemberIsSingleUntilItReturns) {
  constexpr QueueScript kCases[] = {
      {"a taken member is in flight on its own",
       "join a g; join b g; join c g; pop g(a,b,c); take a; take c",
       "a=flight c=flight g(b)=flight"},
      {"a group whose members were all taken is erased",
       "join a g; join b g; pop g(a,b); take a; take b", "a=flight b=flight"},
      {"a bound member leaves the queue",
       "join a g; join b g; pop g(a,b); take a; done a; return g 5", "g(b)=parked"},
      {"a returned member creates its group again", "join a g; pop g(a); take a; return a 1",
       "g(a)=parked"},
      {"a returned member requeues a parked group",
       "join a g; join b g; pop g(a,b); take a; return g 5; return a 5", "g(b,a)=backoff"},
      {"a returned member delays a parked group by its own backoff",
       "join a g; join b g; pop g(a,b); take a; return g 5; wait 60; fail a", "g(b,a)=errors"},
      {"a returned member delays an active group by its own backoff",
       "join a g; pop g(a); take a; join b g; return a 5", "g(b,a)=backoff"},
      {"a member removed in flight does not return",
       "join a g; pop g(a); take a; remove a; return a 5", ""},
      {"an event for a bound member is not replayed to another member",
       "join a g; join b g; nominate a n; pop g(a,b); take a; nominate a -; done a; take b; "
       "return b 2",
       "g(b)=backoff"},
      {"an event for the group alone is not replayed to a taken member",
       "join a g; join b g; pop g(a,b); activate a; take a; take b; return a 5",
       "b=flight g(a)=parked"},
      {"a returned member and its group back off for the longer of both backoffs",
       "join a g; join b g; pop g(a,b); return g 5; activate a; pop g(a,b); return g 5; "
       "activate a; pop g(a,b); return g 5; activate a; pop g(a,b); take a; return g 5; fail a; "
       "wait 6",
       "g(b,a)=errors"},
      {"a pod that is being deleted belongs to no group", "join a g; join b g; delete b",
       "b=active g(a)=active"},
      {"a pod that is being deleted leaves its group in flight",
       "join a g; join b g; pop g(a,b); delete b; return g 5", "b=active g(a)=backoff"},
      {"a taken member gets the events since the group was popped",
       "join a g; pop g(a); node helps-1; take a; return a 1", "g(a)=backoff"},
      {"a new member does not wait for taken members", "join a g; pop g(a); take a; join b g",
       "a=flight g(b)=active"},

      {"a pod that leaves its group is a single pod", "join a g; join b g; leave a",
       "a=active g(b)=active"},
      {"a pod that changes its group belongs to the new one", "join a g; join b h; join a h",
       "h(b,a)=active"},
      {"a taken member that changes its group returns to the new one",
       "join a g; pop g(a); take a; join a h; return a 5", "h(a)=parked"},
  };
  ExpectPlaces(kCases, kGroups);
}

TEST(SchedulingQueueGroupsTest, WithoutTheOptionPodsAreSingle) {
  TestQueue test;
  test.Run("join a g; join b g");
  EXPECT_EQ(test.Places(), "a=active b=active");
}

TEST(SchedulingQueueGroupsTest, GroupsOfDifferentNamespacesAreDifferent) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  for (const char* ns : {"one", "two"}) {
    test.queue->Add(test.objects.PodFrom(std::string(R"({"metadata":{"name":"p","namespace":")") +
                                         ns + R"(","uid":")" + ns +
                                         R"("},"spec":{"schedulingGroup":{"podGroupName":"g"}}})"));
  }
  EXPECT_EQ(test.queue->CountIn(QueuePlace::kActive), 2U);
}

TEST(SchedulingQueueGroupsTest, CallsHintsOfMembersUntilOneIsTrue) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join b g; join c g; pop g(a,b,c); return g 1");
  test.policy.hint = [](const Interest&, const berth_queued& queued, const berth_event&) {
    EXPECT_EQ(queued.kind, uint32_t{BERTH_QUEUED_MEMBER});
    EXPECT_EQ(queued.attempts, 1U);
    return Text(queued.pod->meta->name) == "b";
  };
  test.Run("node n");
  EXPECT_THAT(test.policy.hint_calls, ElementsAre("1:a", "1:b"));
  EXPECT_EQ(test.Places(), "g(a,b,c)=backoff");
}

TEST(SchedulingQueueGroupsTest, MembersUpdateCallsTheHintForThatMember) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join b g; pop g(a,b); return g 1; label b y");
  EXPECT_THAT(test.policy.hint_calls, ElementsAre("1:b"));
}

TEST(SchedulingQueueGroupsTest, NewMemberIsEventForOtherGroupsOnly) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join x h; pop g(a); pop h(x); return g 6; return h 6; wait 3");
  test.Run("join b-6 g");
  EXPECT_THAT(test.policy.hint_calls, ElementsAre("6:x"));
  EXPECT_EQ(test.Places(), "g(a,b-6)=active h(x)=active");
}

TEST(SchedulingQueueGroupsTest, RunsThePluginThatGatedTheGroupFirst) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("hold b 4; join a g; join b g");
  test.policy.pre_enqueue_calls.clear();
  test.Run("touch a");
  EXPECT_THAT(test.policy.pre_enqueue_calls, ElementsAre("a first 4", "b first 4"));
}

TEST(SchedulingQueueGroupsTest, PreEnqueueSeesMembersWithTheGroupsAttempts) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g 3; join b g 8; pop g(b,a); return g 6; wait 3");
  test.policy.pre_enqueue_views.clear();
  test.Run("join c g 1");
  std::vector<int32_t> priorities;
  for (const berth_queued& view : test.policy.pre_enqueue_views) {
    EXPECT_EQ(view.kind, uint32_t{BERTH_QUEUED_MEMBER});
    EXPECT_EQ(view.attempts, 1U);
    priorities.push_back(view.priority);
  }
  EXPECT_THAT(priorities, ElementsAre(8, 3, 1));
}

TEST(SchedulingQueueGroupsTest, QueueSortSeesTheGroup) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g 3; join b g 8");
  const berth_queued view = test.Entity("a").View();
  EXPECT_EQ(view.kind, uint32_t{BERTH_QUEUED_GROUP});
  EXPECT_EQ(Text(view.group), "default/g");
  EXPECT_EQ(view.priority, 8);
  EXPECT_EQ(Text(view.pod->meta->name), "b");
}

TEST(SchedulingQueueGroupsTest, AHintSeesTheMemberAndItsGroup) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g 3; join b g 8; add x");
  const QueuedEntity& group = test.Entity("a");
  const berth_queued view = group.ViewOf(group.group->members.back().pod);
  EXPECT_EQ(view.kind, uint32_t{BERTH_QUEUED_MEMBER});
  EXPECT_EQ(Text(view.group), "default/g");
  EXPECT_EQ(view.priority, 3);
  EXPECT_EQ(Text(view.pod->meta->name), "a");
  const berth_queued single = test.Entity("x").ViewOf(test.Entity("x").pod);
  EXPECT_EQ(single.kind, uint32_t{BERTH_QUEUED_POD});
  EXPECT_EQ(Text(single.group), "");
}

TEST(SchedulingQueueGroupsTest, APriorityChangeMovesTheGroup) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g 3; join b g 8; add x 5; join b g 1; pop x; pop g(a,b)");
}

TEST(SchedulingQueueGroupsTest, RecordsReportedConditionsForEachMember) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join b g");
  SchedulingQueue& queue = *test.queue;
  EXPECT_TRUE(queue.RecordReported("uid-a", "r", "m", 1));
  EXPECT_TRUE(queue.RecordReported("uid-b", "r", "m", 1));
  EXPECT_FALSE(queue.RecordReported("uid-a", "r", "m", 1));
  queue.ClearReported("uid-b");
  test.Run("pop g(a,b); take a; return a 1; return g 1");
  EXPECT_FALSE(queue.RecordReported("uid-a", "r", "m", 1));
  EXPECT_TRUE(queue.RecordReported("uid-b", "r", "m", 1));
}

TEST(SchedulingQueueGroupsTest, FindsAndCountsMembersAsPods) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join b g; add c");
  EXPECT_EQ(test.queue->size(), 3U);
  EXPECT_EQ(test.queue->CountIn(QueuePlace::kActive), 2U);
  EXPECT_EQ(test.queue->PodOf("uid-b")->name(), "b");
  EXPECT_EQ(test.queue->PodOf("uid-x"), nullptr);
  std::vector<std::string> pods;
  test.queue->ForEach([&pods](const QueuedEntity& entity) {
    entity.ForEachPod([&pods](const PodRef& pod) { pods.emplace_back(pod->name()); });
  });
  EXPECT_THAT(pods, UnorderedElementsAre("a", "b", "c"));
  EXPECT_EQ(test.queue->Find("uid-a"), test.queue->Find("uid-b"));
}

TEST(SchedulingQueueGroupsTest, RemovingAMemberRemovesItsNomination) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join b g; nominate b n; add x; pop g(a,b); pop x; return x 2; wait 3");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "n");
  test.Run("remove b");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "");
  EXPECT_EQ(test.Places(), "g(a)=flight x=active");
}

TEST(SchedulingQueueGroupsTest, TheGroupHasTheCounters) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Run("join a g; join b g; pop g(a,b); take a; return g 5; fail a");
  const QueuedEntity& group = test.Entity("a");
  EXPECT_EQ(group.attempts, 1U);
  EXPECT_EQ(group.error_count, 1U);
  EXPECT_EQ(group.rejected_count, 1U);
  EXPECT_THAT(group.rejection().plugins, ElementsAre(5U));
  test.Run("wait 3; pop g(b,a)");
  EXPECT_EQ(test.Entity("b").attempts, 2U);
  EXPECT_THAT(test.Entity("b").rejection().plugins, IsEmpty());
}

TEST(SchedulingQueueGroupsTest, SetGroupsChangesAFilledQueue) {
  TestQueue test;
  test.Run("join a g; join b g; join c g; add d; pop a; pop b; return b 5; nominate b n");
  test.queue->SetGroups(true);
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=flight d=active g(c,b)=active");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "n");
  test.Run("return a 5");
  EXPECT_EQ(test.Places(), "d=active g(c,b,a)=backoff");
  test.queue->SetGroups(false);
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=active b=active c=active d=active");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "n");
}

// Random operations. After every step, each pod that was added and not removed is in the queue
// exactly once: in the group that it names, or on its own while it is in flight.
class RandomOperations {
 public:
  explicit RandomOperations(uint32_t seed) : random_(seed) {
    for (PluginId plugin = 1; plugin <= 6; ++plugin) plugins_.push_back(std::to_string(plugin));
  }

  void Step() {
    const std::string pod = "p" + std::to_string(Below(9));
    switch (Below(10)) {
      case 0:
      case 1: AddPod(pod); break;
      case 2: RemovePod(pod); break;
      case 3: test_.Run("wait " + std::to_string(Below(20))); break;
      case 4: test_.Run((Below(2) == 0 ? "hold " + pod + " 4" : "release " + pod)); break;
      case 5: test_.Run("node helps-" + OneOf(plugins_)); break;
      case 6:
        if (pods_.contains(pod)) test_.Run((Below(2) == 0 ? "touch " : "activate ") + pod);
        break;
      case 7: EndAttempt(); break;
      default: PopOne(); break;
    }
    Check();
  }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  std::string OneOf(const std::vector<std::string>& all) {
    return all[Below(static_cast<uint32_t>(all.size()))];
  }

  void AddPod(const std::string& pod) {
    const std::string group = "g" + std::to_string(Below(3));
    const std::string priority = std::to_string(Below(3));
    if (Below(4) != 0) {
      test_.Run("join " + pod + " " + group + " " + priority);
      pods_[pod] = group;
    } else if (!pods_.contains(pod)) {
      test_.Run("add " + pod + " " + priority);
      pods_[pod] = "";
    }
  }
  // A pod in flight remains in the queue until its attempt ends.
  void RemovePod(const std::string& pod) {
    test_.Run("remove " + pod);
    pods_.erase(pod);
  }
  // Pops one entity. If it is a group, takes some members and returns the others.
  void PopOne() {
    const QueuedEntity* entity = test_.queue->Pop();
    if (entity == nullptr) return;
    if (entity->group == nullptr) {
      in_flight_.push_back(std::string(entity->pod->name()));
      return;
    }
    const std::string name = entity->group->name;
    std::vector<std::string> members;
    entity->ForEachPod([&](const PodRef& pod) { members.emplace_back(pod->name()); });
    if (Below(4) == 0) AddPod("p" + std::to_string(Below(9)));
    if (Below(4) == 0) RemovePod(OneOf(members));
    const bool takes_all = Below(2) == 0;
    for (const std::string& member : members) {
      const QueuedEntity* now = test_.queue->Find("uid-" + member);
      const bool is_member = now != nullptr && now->group != nullptr && now->group->name == name;
      if (!is_member || (!takes_all && Below(2) == 0)) continue;
      test_.queue->SplitFromGroup("uid-" + member);
      in_flight_.push_back(member);
    }
    test_.queue->CheckInvariants();
    const bool is_left = test_.queue->CountIn(QueuePlace::kInFlight) > in_flight_.size();
    if (is_left) test_.queue->ReturnGroup(name, RandomRejection());
  }
  void EndAttempt() {
    if (in_flight_.empty()) return;
    const std::string pod = OneOf(in_flight_);
    std::erase(in_flight_, pod);
    if (Below(2) == 0) {
      test_.queue->Done("uid-" + pod);
      pods_.erase(pod);
    } else {
      test_.queue->Return("uid-" + pod, RandomRejection());
    }
  }
  Rejection RandomRejection() {
    Rejection rejection;
    if (Below(4) != 0) rejection.plugins.push_back(1 + Below(6));
    if (Below(6) == 0) rejection.pending.push_back(1 + Below(6));
    return rejection;
  }

  void Check() {
    test_.queue->CheckInvariants();
    std::map<std::string, std::string> found;
    test_.queue->ForEach([&](const QueuedEntity& entity) {
      entity.ForEachPod([&](const PodRef& pod) {
        const std::string name(pod->name());
        const bool is_in_flight = std::ranges::find(in_flight_, name) != in_flight_.end();
        EXPECT_EQ(is_in_flight, entity.place == QueuePlace::kInFlight) << name;
        EXPECT_TRUE(found.emplace(name, Text(pod->view().pod_group)).second) << name;
        if (is_in_flight) {
          EXPECT_EQ(entity.group, nullptr) << name;
        } else if (!found[name].empty()) {
          ASSERT_NE(entity.group, nullptr) << name;
          EXPECT_EQ(entity.group->name, "default/" + found[name]);
        }
        EXPECT_EQ(test_.queue->Find("uid-" + name), &entity) << name;
      });
    });
    for (const auto& [name, group] : pods_) {
      ASSERT_TRUE(found.contains(name)) << name;
      EXPECT_EQ(found[name], group) << name;
    }
    for (const auto& [name, group] : found) {
      const bool is_terminating = std::ranges::find(in_flight_, name) != in_flight_.end();
      EXPECT_TRUE(pods_.contains(name) || is_terminating) << name;
    }
    EXPECT_EQ(test_.queue->size(), found.size());
  }

  std::mt19937 random_;
  std::vector<std::string> plugins_;
  TestQueue test_{TestQueue::DefaultTable(), kGroups};
  std::map<std::string, std::string> pods_;  // Pods and their groups; empty for none.
  std::vector<std::string> in_flight_;       // Single pods in flight.
};

TEST(SchedulingQueueGroupsTest, RandomOperationsKeepEachPodInOnePlace) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    RandomOperations operations(seed);
    for (uint32_t step = 0; step < 400; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      operations.Step();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
}

}  // namespace
}  // namespace berth::host
