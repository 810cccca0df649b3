#include "host/queue/entity_table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/test_queue.h"

namespace berth::host {
namespace {

using ::testing::UnorderedElementsAre;

class EntityTableTest : public ::testing::Test {
 protected:
  PodRef MakePod(const std::string& name, int32_t priority = 0) {
    return objects_.Pod({.name = name, .spec = "\"priority\":" + std::to_string(priority)});
  }
  // Adds the group "default/g" with these members of priority 0. REQUIRES: at least one member.
  QueueEntry& AddGroup(const std::vector<std::string>& members) {
    QueueEntry& group = table_.AddGroup("default/g", MakePod(members.front()));
    for (size_t i = 1; i < members.size(); ++i) table_.AddMember(group, MakePod(members[i]));
    return group;
  }
  // Returns the names of all entities, such as "a" and "g(b,c)".
  std::vector<std::string> Names() const {
    table_.CheckInvariants();
    std::vector<std::string> names;
    table_.ForEach(
        [&names](const QueueEntry& entry) { names.push_back(TestQueue::NameOf(entry.entity)); });
    return names;
  }

  TestObjects objects_;
  EntityTable table_;
};

TEST_F(EntityTableTest, SlowCountFollowsAPodIntoItsGroup) {
  using Names = std::vector<std::string>;
  QueueEntry& a = table_.AddPod(MakePod("a"));
  table_.SetSlowCount(a, 2);
  EXPECT_EQ(table_.slow_pods().Read(9).examples, Names{"default/a"});
  table_.MakeGroup(a, "default/g");
  EXPECT_EQ(table_.slow_pods().Read(9).examples, Names{"group default/g"});
  table_.JoinGroup(table_.AddPod(MakePod("b")), a);
  EXPECT_EQ(a.entity.slow_count, 2U);
  table_.SplitFromGroup(a, "uid-b");
  EXPECT_EQ(table_.slow_pods().Read(9).examples, (Names{"default/b", "group default/g"}));
  QueueEntry& c = table_.AddPod(MakePod("c"));
  table_.SetSlowCount(c, 5);
  table_.JoinGroup(c, a);
  EXPECT_EQ(a.entity.slow_count, 5U);
  table_.Erase(a);
  EXPECT_EQ(table_.slow_pods().Read(9).examples, Names{"default/b"});
}

TEST_F(EntityTableTest, FindsPodsByUidAndGroupsByMembers) {
  QueueEntry& a = table_.AddPod(MakePod("a"));
  QueueEntry& g = AddGroup({"b", "c"});
  const struct {
    const char* uid;
    const QueueEntry* entry;
  } cases[] = {
      {"uid-a", &a}, {"uid-b", &g}, {"uid-c", &g}, {"uid-d", nullptr}, {"default/g", nullptr},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.uid);
    EXPECT_EQ(table_.Find(c.uid), c.entry);
    if (c.entry != nullptr) {
      EXPECT_EQ(EntityTable::PodOf(*c.entry, c.uid)->uid(), c.uid);
    }
  }
  EXPECT_EQ(table_.FindGroup("default/g"), &g);
  EXPECT_EQ(table_.FindGroup("default/h"), nullptr);
  EXPECT_EQ(table_.FindGroup("uid-a"), nullptr);
  EXPECT_EQ(table_.pod_count(), 3U);
}

TEST_F(EntityTableTest, MembersAreSortedByPriorityThenByArrival) {
  QueueEntry& group = table_.AddGroup("default/g", MakePod("a", 5));
  table_.AddMember(group, MakePod("b", 7));
  table_.AddMember(group, MakePod("c", 5));
  table_.AddMember(group, MakePod("d", 9));
  EXPECT_THAT(Names(), UnorderedElementsAre("g(d,b,a,c)"));
  EXPECT_EQ(group.entity.pod->name(), "d");
}

TEST_F(EntityTableTest, SetPodReplacesPodAndSortsMembersAgain) {
  const struct {
    const char* description;
    int32_t priority;
    const char* names;
    const char* first;
  } cases[] = {
      {"the same priority: the member keeps its position", 5, "g(a,b,c)", "a"},
      {"a higher priority", 6, "g(b,a,c)", "b"},
      {"the priority of the others again: behind them", 5, "g(a,c,b)", "a"},
      {"a lower priority", 4, "g(a,c,b)", "a"},
  };
  QueueEntry& group = table_.AddGroup("default/g", MakePod("a", 5));
  table_.AddMember(group, MakePod("b", 5));
  table_.AddMember(group, MakePod("c", 5));
  EntityTable::ReportedOf(group, "uid-b") = 42;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    const PodRef pod = MakePod("b", c.priority);
    table_.SetPod(group, pod);
    EXPECT_THAT(Names(), UnorderedElementsAre(c.names));
    EXPECT_EQ(group.entity.pod->name(), c.first);
    EXPECT_EQ(EntityTable::PodOf(group, "uid-b"), pod);
    EXPECT_EQ(EntityTable::ReportedOf(group, "uid-b"), 42U);
  }

  QueueEntry& single = table_.AddPod(MakePod("d"));
  const PodRef pod = MakePod("d", 3);
  table_.SetPod(single, pod);
  EXPECT_EQ(EntityTable::PodOf(single, "uid-d"), pod);
}

TEST_F(EntityTableTest, RemoveMemberKeepsAGroupWithoutMembers) {
  QueueEntry& group = AddGroup({"a", "b"});
  table_.RemoveMember(group, "uid-a");
  EXPECT_THAT(Names(), UnorderedElementsAre("g(b)"));
  EXPECT_EQ(group.entity.pod->name(), "b");
  table_.RemoveMember(group, "uid-b");
  EXPECT_THAT(Names(), UnorderedElementsAre("g()"));
  EXPECT_EQ(table_.Find("uid-b"), nullptr);
  EXPECT_EQ(table_.FindGroup("default/g"), &group);
  EXPECT_EQ(table_.pod_count(), 0U);
}

TEST_F(EntityTableTest, EraseRemovesPodOrGroupWithItsMembers) {
  QueueEntry& a = table_.AddPod(MakePod("a"));
  QueueEntry& group = AddGroup({"b", "c"});
  table_.Erase(group);
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  EXPECT_EQ(table_.Find("uid-b"), nullptr);
  EXPECT_EQ(table_.FindGroup("default/g"), nullptr);
  table_.Erase(a);
  EXPECT_THAT(Names(), UnorderedElementsAre());
  EXPECT_EQ(table_.pod_count(), 0U);
}

TEST_F(EntityTableTest, SplitPodHasTheDataOfItsGroup) {
  QueueEntry& group = AddGroup({"a", "b"});
  group.sequence = 11;
  group.entity.attempts = 3;
  group.entity.rejected_count = 2;
  group.entity.error_count = 1;
  group.entity.queued_ns = 100;
  group.entity.first_attempt_ns = 90;
  EntityTable::ReportedOf(group, "uid-a") = 42;
  EntityTable::ReportedOf(group, "uid-b") = 43;

  const QueueEntry& entry = table_.SplitFromGroup(group, "uid-a");
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "g(b)"));
  EXPECT_EQ(table_.Find("uid-a"), &entry);
  EXPECT_EQ(entry.sequence, 11U);
  EXPECT_EQ(entry.entity.attempts, 3U);
  EXPECT_EQ(entry.entity.rejected_count, 2U);
  EXPECT_EQ(entry.entity.error_count, 1U);
  EXPECT_EQ(entry.entity.queued_ns, 100);
  EXPECT_EQ(entry.entity.first_attempt_ns, 90);
  EXPECT_EQ(entry.entity.reported, 42U);
  EXPECT_FALSE(entry.is_placed);
}

TEST_F(EntityTableTest, PodThatBecomesAGroupKeepsItsData) {
  QueueEntry& entry = table_.AddPod(MakePod("a"));
  entry.sequence = 11;
  entry.entity.attempts = 3;
  entry.entity.reported = 42;
  table_.MakeGroup(entry, "default/g");
  EXPECT_THAT(Names(), UnorderedElementsAre("g(a)"));
  EXPECT_EQ(table_.Find("uid-a"), &entry);
  EXPECT_EQ(table_.FindGroup("default/g"), &entry);
  EXPECT_EQ(entry.sequence, 11U);
  EXPECT_EQ(entry.entity.attempts, 3U);
  EXPECT_EQ(entry.entity.reported, 0U);
  EXPECT_EQ(EntityTable::ReportedOf(entry, "uid-a"), 42U);
}

// The attempts, rejections, errors and first attempt of a pod and of the group that it joins, and
// those of the group afterwards.
struct JoinCase {
  struct Data {
    uint32_t attempts;
    uint32_t rejected_count;
    uint32_t error_count;
    int64_t first_attempt_ns;
    bool operator==(const Data&) const = default;
  };
  const char* description;
  Data pod;
  Data group;
  Data joined;
};

TEST_F(EntityTableTest, GroupThatPodJoinsHasTheLongerBackoff) {
  constexpr JoinCase kCases[] = {
      {"the pod has more attempts", {5, 4, 0, 20}, {2, 1, 0, 10}, {5, 4, 0, 10}},
      {"the group has more attempts", {2, 1, 0, 10}, {5, 4, 0, 20}, {5, 4, 0, 20}},
      {"the group was never tried", {1, 1, 0, 10}, {0, 0, 0, 0}, {1, 1, 0, 10}},
      {"more errors than rejections", {3, 1, 3, 10}, {1, 2, 0, 10}, {3, 2, 3, 10}},
      {"fewer errors than rejections", {1, 0, 1, 10}, {4, 4, 0, 10}, {4, 4, 4, 10}},
  };
  for (const JoinCase& c : kCases) {
    SCOPED_TRACE(c.description);
    const auto set = [](QueueEntry& entry, const JoinCase::Data& data) {
      entry.entity.attempts = data.attempts;
      entry.entity.rejected_count = data.rejected_count;
      entry.entity.error_count = data.error_count;
      entry.entity.first_attempt_ns = data.first_attempt_ns;
    };
    QueueEntry& entry = table_.AddPod(MakePod("a", 1));
    set(entry, c.pod);
    entry.sequence = 12;
    entry.entity.queued_ns = 200;
    entry.entity.reported = 42;
    QueueEntry& group = AddGroup({"b"});
    set(group, c.group);
    group.sequence = 11;
    group.entity.queued_ns = 100;

    table_.JoinGroup(entry, group);
    EXPECT_THAT(Names(), UnorderedElementsAre("g(a,b)"));
    EXPECT_EQ(table_.Find("uid-a"), &group);
    const QueuedEntity& joined = group.entity;
    EXPECT_EQ((JoinCase::Data{joined.attempts, joined.rejected_count, joined.error_count,
                              joined.first_attempt_ns}),
              c.joined);
    EXPECT_EQ(joined.queued_ns, 200);
    EXPECT_EQ(group.sequence, 12U);
    EXPECT_EQ(EntityTable::ReportedOf(group, "uid-a"), 42U);
    table_.Erase(group);
  }
}

TEST_F(EntityTableTest, PodThatIsNoMemberFailsAnAssertion) {
  QueueEntry& group = AddGroup({"a"});
  EXPECT_DEATH(table_.RemoveMember(group, "uid-b"), "found != members.end");
}

}  // namespace
}  // namespace berth::host
