// Groups in the queue: pods that wait together and are tried in one cycle.
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
  constexpr QueueStory kStories[] = {
      {"members are one entity, the highest priority first, then as they came",
       "join a g; join b g 7; join c g; add d", "d=active g(b,a,c)=active"},
      {"a group is popped as one", "join a g; join b g; pop g(a,b); pop -", "g(a,b)=flight"},
      {"two groups are two entities", "join a g; join b h", "g(a)=active h(b)=active"},
      {"a group has the priority of its highest member",
       "add x 5; join a g 1; join b g 9; pop g(b,a); pop x", "g(b,a)=flight x=flight"},
      {"one member holds all back", "hold b 4; join a g; join b g; join c g", "g(a,b,c)=gated"},
      {"a member that passes lets nobody pass for the others", "hold b 4; join b g; join a g",
       "g(b,a)=gated"},
      {"an update of any member asks about all again",
       "hold b 4; join a g; join b g; release b; touch a", "g(a,b)=active"},
      {"a member that comes takes a group that waits back to the gates",
       "join a g; pop g(a); return g 5; hold b 4; join b g", "g(a,b)=gated"},
      {"a group that was rejected is parked as one", "join a g; join b g; pop g(a,b); return g 1",
       "g(a,b)=parked"},
  };
  ExpectPlaces(kStories, kGroups);
}

TEST(SchedulingQueueGroupsTest, EventsAndMembersThatComeAndGoBringItBack) {
  constexpr QueueStory kStories[] = {
      {"an event that helps one member helps the group",
       "join a g; join b g; pop g(a,b); return g 1; node helps-1", "g(a,b)=backoff"},
      {"an event that helps nobody wakes nobody", "join a g; pop g(a); return g 1; node helps-2",
       "g(a)=parked"},
      {"what happens to one member is offered to who rejected the group",
       "join a g; join b g; pop g(a,b); return g 3; touch b", "g(a,b)=backoff"},
      {"a pending plugin lets the group skip its backoff",
       "join a g; pop g(a); return g - 3; node helps-3", "g(a)=active"},
      {"an event in flight is replayed to the group",
       "join a g; join b g; pop g(a,b); node helps-1; return g 1", "g(a,b)=backoff"},
      {"an error backs the group off", "join a g; pop g(a); fail g", "g(a)=errors"},
      {"activating one member activates the group",
       "join a g; join b g; pop g(a,b); return g 5; activate b", "g(a,b)=active"},
      {"a new member is a reason to try a parked group again",
       "join a g; pop g(a); return g 5; wait 3; join b g", "g(a,b)=active"},
      {"but not before its backoff is over", "join a g; pop g(a); return g 5; join b g",
       "g(a,b)=backoff"},
      {"a new member leaves a backoff as it is", "join a g; pop g(a); fail g; join b g",
       "g(a,b)=errors"},
      {"a member that goes is one too",
       "join a g; join b g; pop g(a,b); return g 5; wait 3; remove b", "g(a)=active"},
      {"a member that comes in flight is tried soon", "join a g; pop g(a); join b g; return g 5",
       "g(a,b)=backoff"},
      {"a member that goes in flight too", "join a g; join b g; pop g(a,b); remove b; return g 5",
       "g(a)=backoff"},
      {"with its last member a group is gone", "join a g; join b g; remove a; remove b", ""},
      {"in flight too, when its attempt ends", "join a g; pop g(a); remove a; return g 5", ""},
      {"one that comes back in flight is of the group",
       "join a g; pop g(a); remove a; join a g; return g 5", "g(a)=backoff"},
      {"a member that loses the room that it was promised takes the group along",
       "join a g; join b g; nominate a n; pop g(a,b); return g 5; wait 3; nominate a -",
       "g(a,b)=active"},
      {"in flight too", "join a g; join b g; nominate a n; pop g(a,b); nominate a -; return g 5",
       "g(a,b)=backoff"},
      {"a flush takes a parked group along", "join a g; pop g(a); return g 5; wait 331",
       "g(a)=active"},
  };
  ExpectPlaces(kStories, kGroups);
}

TEST(SchedulingQueueGroupsTest, WhoIsTakenIsByItselfUntilItComesBack) {
  constexpr QueueStory kStories[] = {
      {"who is taken goes on by itself",
       "join a g; join b g; join c g; pop g(a,b,c); take a; take c",
       "a=flight c=flight g(b)=flight"},
      {"without members there is no group", "join a g; join b g; pop g(a,b); take a; take b",
       "a=flight b=flight"},
      {"who is bound is gone", "join a g; join b g; pop g(a,b); take a; done a; return g 5",
       "g(b)=parked"},
      {"who comes back founds its group anew", "join a g; pop g(a); take a; return a 1",
       "g(a)=parked"},
      {"who comes back to a group that waits takes it along",
       "join a g; join b g; pop g(a,b); take a; return g 5; return a 5", "g(b,a)=backoff"},
      {"and holds it back as long as itself",
       "join a g; join b g; pop g(a,b); take a; return g 5; wait 60; fail a", "g(b,a)=errors"},
      {"one that is ready too", "join a g; pop g(a); take a; join b g; return a 5",
       "g(b,a)=backoff"},
      {"who was removed on the way does not come back",
       "join a g; pop g(a); take a; remove a; return a 5", ""},
      {"what came for one that is gone is not for another",
       "join a g; join b g; nominate a n; pop g(a,b); take a; nominate a -; done a; take b; "
       "return b 2",
       "g(b)=backoff"},
      {"nor what came for the group alone is for who was taken",
       "join a g; join b g; pop g(a,b); activate a; take a; take b; return a 5",
       "b=flight g(a)=parked"},
      {"the longer of both backoffs counts",
       "join a g; join b g; pop g(a,b); return g 5; activate a; pop g(a,b); return g 5; "
       "activate a; pop g(a,b); return g 5; activate a; pop g(a,b); take a; return g 5; fail a; "
       "wait 6",
       "g(b,a)=errors"},
      {"who is being deleted is in no group", "join a g; join b g; delete b",
       "b=active g(a)=active"},
      {"and leaves it in flight", "join a g; join b g; pop g(a,b); delete b; return g 5",
       "b=active g(a)=backoff"},
      {"who is taken has seen what the group has",
       "join a g; pop g(a); node helps-1; take a; return a 1", "g(a)=backoff"},
      {"a new member does not wait for those on their way", "join a g; pop g(a); take a; join b g",
       "a=flight g(b)=active"},

      {"who leaves its group is by itself", "join a g; join b g; leave a", "a=active g(b)=active"},
      {"who changes its group is of the other", "join a g; join b h; join a h", "h(b,a)=active"},
      {"in flight by itself it comes back to the other",
       "join a g; pop g(a); take a; join a h; return a 5", "h(a)=parked"},
  };
  ExpectPlaces(kStories, kGroups);
}

TEST(SchedulingQueueGroupsTest, WithoutTheOptionPodsAreByThemselves) {
  TestQueue test;
  test.Tell("join a g; join b g");
  EXPECT_EQ(test.Places(), "a=active b=active");
}

TEST(SchedulingQueueGroupsTest, GroupsOfTwoNamespacesAreTwo) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  for (const char* ns : {"one", "two"}) {
    test.queue->Add(test.objects.PodFrom(std::string(R"({"metadata":{"name":"p","namespace":")") +
                                         ns + R"(","uid":")" + ns +
                                         R"("},"spec":{"schedulingGroup":{"podGroupName":"g"}}})"));
  }
  EXPECT_EQ(test.queue->CountIn(QueuePlace::kActive), 2U);
}

TEST(SchedulingQueueGroupsTest, HintsSeeOneMemberAfterTheOtherUntilOneSaysYes) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join b g; join c g; pop g(a,b,c); return g 1");
  test.policy.hint = [](const Interest&, const berth_queued& queued, const berth_event&) {
    EXPECT_EQ(queued.kind, uint32_t{BERTH_QUEUED_POD});
    EXPECT_EQ(queued.attempts, 1U);
    return Text(queued.pod->meta->name) == "b";
  };
  test.Tell("node n");
  EXPECT_THAT(test.policy.hint_questions, ElementsAre("1:a", "1:b"));
  EXPECT_EQ(test.Places(), "g(a,b,c)=backoff");
}

TEST(SchedulingQueueGroupsTest, OfWhatHappenedToAMemberOnlyThatOneIsAsked) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join b g; pop g(a,b); return g 1; label b y");
  EXPECT_THAT(test.policy.hint_questions, ElementsAre("1:b"));
}

TEST(SchedulingQueueGroupsTest, AnArrivalIsOfferedToOtherGroupsAndNotToItsOwn) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join x h; pop g(a); pop h(x); return g 6; return h 6; wait 3");
  test.Tell("join b-6 g");
  EXPECT_THAT(test.policy.hint_questions, ElementsAre("6:x"));
  EXPECT_EQ(test.Places(), "g(a,b-6)=active h(x)=active");
}

TEST(SchedulingQueueGroupsTest, AsksPreEnqueueOfTheOneThatHeldItBackFirst) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("hold b 4; join a g; join b g");
  test.policy.gate_questions.clear();
  test.Tell("touch a");
  EXPECT_THAT(test.policy.gate_questions, ElementsAre("a first 4", "b first 4"));
}

TEST(SchedulingQueueGroupsTest, QueueSortSeesTheGroup) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g 3; join b g 8");
  const berth_queued view = test.Entity("a").View();
  EXPECT_EQ(view.kind, uint32_t{BERTH_QUEUED_GROUP});
  EXPECT_EQ(Text(view.group), "default/g");
  EXPECT_EQ(view.priority, 8);
  EXPECT_EQ(Text(view.pod->meta->name), "b");
}

TEST(SchedulingQueueGroupsTest, TheOrderFollowsAPriorityThatChanges) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g 3; join b g 8; add x 5; join b g 1; pop x; pop g(a,b)");
}

TEST(SchedulingQueueGroupsTest, ConditionsAreNotedForEachMember) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join b g");
  SchedulingQueue& queue = *test.queue;
  EXPECT_TRUE(queue.NoteReported("uid-a", "r", "m", 1));
  EXPECT_TRUE(queue.NoteReported("uid-b", "r", "m", 1));
  EXPECT_FALSE(queue.NoteReported("uid-a", "r", "m", 1));
  queue.ForgetReported("uid-b");
  test.Tell("pop g(a,b); take a; return a 1; return g 1");
  EXPECT_FALSE(queue.NoteReported("uid-a", "r", "m", 1));
  EXPECT_TRUE(queue.NoteReported("uid-b", "r", "m", 1));
}

TEST(SchedulingQueueGroupsTest, PodsAreFoundAndCountedOneByOne) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join b g; add c");
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

TEST(SchedulingQueueGroupsTest, TheNominationOfAMemberThatGoesIsFree) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join b g; nominate b n; add x; pop g(a,b); pop x; return x 2; wait 3");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "n");
  test.Tell("remove b");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "");
  EXPECT_EQ(test.Places(), "g(a)=flight x=active");
}

TEST(SchedulingQueueGroupsTest, CountersAreOfTheGroup) {
  TestQueue test(TestQueue::DefaultTable(), kGroups);
  test.Tell("join a g; join b g; pop g(a,b); take a; return g 5; fail a");
  const QueuedEntity& group = test.Entity("a");
  EXPECT_EQ(group.attempts, 1U);
  EXPECT_EQ(group.error_count, 1U);
  EXPECT_EQ(group.rejected_count, 1U);
  EXPECT_THAT(group.rejection.plugins, ElementsAre(5U));
  test.Tell("wait 3; pop g(b,a)");
  EXPECT_EQ(test.Entity("b").attempts, 2U);
  EXPECT_THAT(test.Entity("b").rejection.plugins, IsEmpty());
}

TEST(SchedulingQueueGroupsTest, GroupsBeginAndEndWhileTheQueueWorks) {
  TestQueue test;
  test.Tell("join a g; join b g; join c g; add d; pop a; pop b; return b 5; nominate b n");
  test.queue->SetGroups(true);
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=flight d=active g(c,b)=active");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "n");
  test.Tell("return a 5");
  EXPECT_EQ(test.Places(), "d=active g(c,b,a)=backoff");
  test.queue->SetGroups(false);
  test.queue->CheckInvariants();
  EXPECT_EQ(test.Places(), "a=active b=active c=active d=active");
  EXPECT_EQ(test.queue->nominator().NodeOf("uid-b"), "n");
}

// Random stories: whatever happens, a pod that came and has not gone is here once, in the group
// that it names, or by itself while it is on its way.
class Tale {
 public:
  explicit Tale(uint32_t seed) : random_(seed) {
    for (PluginId plugin = 1; plugin <= 6; ++plugin) plugins_.push_back(std::to_string(plugin));
  }

  void Step() {
    const std::string pod = "p" + std::to_string(Below(9));
    switch (Below(10)) {
      case 0:
      case 1: Come(pod); break;
      case 2: Go(pod); break;
      case 3: test_.Tell("wait " + std::to_string(Below(20))); break;
      case 4: test_.Tell((Below(2) == 0 ? "hold " + pod + " 4" : "release " + pod)); break;
      case 5: test_.Tell("node helps-" + OneOf(plugins_)); break;
      case 6:
        if (here_.contains(pod)) test_.Tell((Below(2) == 0 ? "touch " : "activate ") + pod);
        break;
      case 7: End(); break;
      default: Try(); break;
    }
    Check();
  }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  std::string OneOf(const std::vector<std::string>& all) {
    return all[Below(static_cast<uint32_t>(all.size()))];
  }

  void Come(const std::string& pod) {
    const std::string group = "g" + std::to_string(Below(3));
    const std::string priority = std::to_string(Below(3));
    if (Below(4) != 0) {
      test_.Tell("join " + pod + " " + group + " " + priority);
      here_[pod] = group;
    } else if (!here_.contains(pod)) {
      test_.Tell("add " + pod + " " + priority);
      here_[pod] = "";
    }
  }
  // In flight it is still there until its attempt ends.
  void Go(const std::string& pod) {
    test_.Tell("remove " + pod);
    here_.erase(pod);
  }
  // Pops one; of a group some go on, and the others come back.
  void Try() {
    const QueuedEntity* entity = test_.queue->Pop();
    if (entity == nullptr) return;
    if (entity->group == nullptr) {
      flying_.push_back(std::string(entity->pod->name()));
      return;
    }
    const std::string name = entity->group->name;
    std::vector<std::string> members;
    entity->ForEachPod([&](const PodRef& pod) { members.emplace_back(pod->name()); });
    if (Below(4) == 0) Come("p" + std::to_string(Below(9)));
    if (Below(4) == 0) Go(OneOf(members));
    const bool takes_all = Below(2) == 0;
    for (const std::string& member : members) {
      const QueuedEntity* now = test_.queue->Find("uid-" + member);
      const bool is_member = now != nullptr && now->group != nullptr && now->group->name == name;
      if (!is_member || (!takes_all && Below(2) == 0)) continue;
      test_.queue->TakeFromGroup("uid-" + member);
      flying_.push_back(member);
    }
    test_.queue->CheckInvariants();
    const bool is_left = test_.queue->CountIn(QueuePlace::kInFlight) > flying_.size();
    if (is_left) test_.queue->ReturnGroup(name, RandomRejection());
  }
  void End() {
    if (flying_.empty()) return;
    const std::string pod = OneOf(flying_);
    std::erase(flying_, pod);
    if (Below(2) == 0) {
      test_.queue->Done("uid-" + pod);
      here_.erase(pod);
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
        const bool is_flying = std::ranges::find(flying_, name) != flying_.end();
        EXPECT_EQ(is_flying, entity.place == QueuePlace::kInFlight) << name;
        EXPECT_TRUE(found.emplace(name, Text(pod->view().pod_group)).second) << name;
        if (is_flying) {
          EXPECT_EQ(entity.group, nullptr) << name;
        } else if (!found[name].empty()) {
          ASSERT_NE(entity.group, nullptr) << name;
          EXPECT_EQ(entity.group->name, "default/" + found[name]);
        }
        EXPECT_EQ(test_.queue->Find("uid-" + name), &entity) << name;
      });
    });
    for (const auto& [name, group] : here_) {
      ASSERT_TRUE(found.contains(name)) << name;
      EXPECT_EQ(found[name], group) << name;
    }
    for (const auto& [name, group] : found) {
      const bool is_going = std::ranges::find(flying_, name) != flying_.end();
      EXPECT_TRUE(here_.contains(name) || is_going) << name;
    }
    EXPECT_EQ(test_.queue->size(), found.size());
  }

  std::mt19937 random_;
  std::vector<std::string> plugins_;
  TestQueue test_{TestQueue::DefaultTable(), kGroups};
  std::map<std::string, std::string> here_;  // Pods, and the groups that they name.
  std::vector<std::string> flying_;          // By themselves.
};

TEST(SchedulingQueueGroupsTest, APodIsInOnePlaceWhateverHappens) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    Tale tale(seed);
    for (uint32_t step = 0; step < 400; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      tale.Step();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
}

}  // namespace
}  // namespace berth::host
