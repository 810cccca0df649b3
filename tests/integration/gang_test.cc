// acme.Gang, a plugin as a third party would write it, makes a group of pods wait on Permit until
// all of them have a node.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GangTest : public ::testing::Test {
 protected:
  static TestProfile GangProfile(const char* args = nullptr) {
    TestProfile profile;
    return profile
        .Use("NodeResourcesFit", {Point::kPreFilter, Point::kFilter, Point::kEnqueueExtensions})
        .Use("acme.Gang",
             {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit, Point::kPostBind}, args);
  }
  void Start(const char* args = nullptr) {
    const Status status = harness_.Start(GangProfile(args));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  static TestPod Member(const std::string& name, int size = 3) {
    return {.name = name,
            .requests = "\"cpu\":\"1\"",
            .meta = R"("labels":{"gang":"g","gang-size":")" + std::to_string(size) + "\"}"};
  }
  // Returns a member that names its group in its spec.
  static TestPod GroupMember(const std::string& name) {
    TestPod pod = Member(name);
    pod.spec = R"("schedulingGroup":{"podGroupName":"g"})";
    return pod;
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(harness_.cluster().FindPod("default", pod)->node_name());
  }
  std::vector<std::string> Waiting() {
    std::vector<std::string> names;
    for (const auto& [uid, binding] : harness_.loop().bindings()) {
      if (binding->is_waiting()) names.emplace_back(binding->pod()->name());
    }
    return names;
  }
  // Returns the message of the pod's condition PodScheduled.
  std::string Message(const std::string& pod) {
    return std::string(harness_.cluster().PodScheduledMessage("default", pod));
  }

  Harness harness_;
};

TEST_F(GangTest, BindsAllMembersWhenLastHasANode) {
  harness_.AddNode({.name = "n1"});
  Start();
  harness_.AddPod(Member("a"));
  harness_.AddPod(Member("b"));
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a", "b"));
  EXPECT_EQ(NodeOf("a"), "");
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 2000);  // The cache counts both assumed pods.
  harness_.AddPod(Member("c"));
  harness_.Run();
  EXPECT_THAT(Waiting(), IsEmpty());
  for (const char* pod : {"a", "b", "c"}) EXPECT_EQ(NodeOf(pod), "n1") << pod;
}

TEST_F(GangTest, OtherPodsAreScheduledWhileMembersWait) {
  harness_.AddNode({.name = "n1"});
  Start();
  harness_.AddPod(Member("a"));
  harness_.AddPod({.name = "single", .requests = "\"cpu\":\"1\""});
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a"));
  EXPECT_EQ(NodeOf("single"), "n1");
}

TEST_F(GangTest, RejectsAllMembersWhenOneTimesOut) {
  harness_.AddNode({.name = "n1"});
  Start(R"({"timeoutMs":1500})");
  harness_.AddPod(Member("a"));
  harness_.Run();
  harness_.Advance(kSecond);
  harness_.AddPod(Member("b"));
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a", "b"));

  harness_.Advance(kSecond / 2 - 1);
  EXPECT_THAT(Waiting(), ElementsAre("a", "b"));
  harness_.clock().Advance(1);
  harness_.Settle();
  EXPECT_THAT(Waiting(), IsEmpty());
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 0);
  EXPECT_EQ(Message("a"),
            "0/1 nodes are available: 1 rejected due to timeout after waiting 1.5s at plugin "
            "acme.Gang.");
  EXPECT_EQ(Message("b"), "0/1 nodes are available: 1 a member of the gang has lost its node.");
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kUnschedulable);
}

TEST_F(GangTest, DeletionOfAWaitingMemberFreesItsPlace) {
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"1","pods":"10")"});
  Start();
  harness_.AddPod(Member("a"));
  harness_.AddPod({.name = "single", .requests = "\"cpu\":\"1\""});
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a"));
  EXPECT_EQ(harness_.PlaceOf("single"), QueuePlace::kUnschedulable);
  harness_.cluster().DeletePod({"default", "a", ""}, 0, nullptr);
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(NodeOf("single"), "n1");
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
}

TEST_F(GangTest, StopReturnsWaitingMembersToTheQueue) {
  harness_.AddNode({.name = "n1"});
  Start();
  harness_.AddPod(Member("a"));
  harness_.AddPod(Member("b"));
  harness_.Run();
  harness_.loop().Stop();
  harness_.Run();
  EXPECT_EQ(harness_.loop().binding_count(), 0U);
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 0);
  EXPECT_EQ(NodeOf("a"), "");
  EXPECT_EQ(Message("a"), "");  // Nothing is reported.
  harness_.AddPod({.name = "late"});
  harness_.Run();
  EXPECT_EQ(NodeOf("late"), "");
}

TEST_F(GangTest, TheLoopCanBeDestroyedWhileMembersWait) {
  harness_.AddNode({.name = "n1"});
  Start();
  harness_.AddPod(Member("a"));
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a"));
  harness_.Stop();
}

TEST_F(GangTest, RetriesAGangWhenThereIsRoom) {
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"2","pods":"10")"});
  Start(R"({"timeoutMs":60000})");
  for (const char* pod : {"a", "b", "c"}) harness_.AddPod(Member(pod));
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a", "b"));
  EXPECT_THAT(Message("c"), HasSubstr("Insufficient cpu"));
  harness_.AddNode({.name = "n2", .allocatable = R"("cpu":"1","pods":"10")"});
  harness_.Advance(20 * kSecond);
  for (const char* pod : {"a", "b", "c"}) EXPECT_NE(NodeOf(pod), "") << pod;
}

// The reservations of the members are undone one after the other. A pod that needs the room of all
// of them is tried when all of it is free, and not earlier.
TEST_F(GangTest, TriesAPodBehindAGangOnce) {
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"2","pods":"10")"});
  Start(R"({"timeoutMs":1500})");
  harness_.AddPod(Member("a"));
  harness_.Run();
  harness_.Advance(kSecond);  // The other member times out later.
  harness_.AddPod(Member("b"));
  harness_.AddPod({.name = "single", .requests = "\"cpu\":\"2\""});
  harness_.Run();
  EXPECT_THAT(Waiting(), ElementsAre("a", "b"));
  ASSERT_EQ(harness_.PlaceOf("single"), QueuePlace::kUnschedulable);
  harness_.Advance(kSecond);
  EXPECT_EQ(NodeOf("single"), "n1");
  EXPECT_EQ(std::ranges::count_if(harness_.cluster().events(),
                                  [](const Event& event) {
                                    return event.regarding.name == "single" &&
                                           event.reason == "FailedScheduling";
                                  }),
            1);
}

// --- with groups of the queue --------------------------------------------------------------------

TEST_F(GangTest, AGroupThatDoesNotFitReservesNothing) {
  harness_.AddNode({.name = "n1", .allocatable = R"("cpu":"2","pods":"10")"});
  Start(R"({"timeoutMs":60000})");
  for (const char* pod : {"a", "b", "c"}) harness_.AddPod(GroupMember(pod));
  harness_.Run();
  EXPECT_THAT(Waiting(), IsEmpty());
  EXPECT_EQ(harness_.Column("req.cpu", "n1"), 0);
  EXPECT_THAT(Message("c"), HasSubstr("Insufficient cpu"));
  EXPECT_EQ(Message("a"), "pod group is unschedulable");
  harness_.AddPod({.name = "single", .requests = "\"cpu\":\"1\""});
  harness_.Run();
  EXPECT_EQ(NodeOf("single"), "n1");

  harness_.AddNode({.name = "n2", .allocatable = R"("cpu":"2","pods":"10")"});
  harness_.Advance(20 * kSecond);
  for (const char* pod : {"a", "b", "c"}) EXPECT_NE(NodeOf(pod), "") << pod;
}

TEST_F(GangTest, GroupIsRetriedWhenAMemberIsAdded) {
  harness_.AddNode({.name = "n1"});
  Start();
  for (const char* pod : {"a", "b"}) harness_.AddPod(GroupMember(pod));
  harness_.Run();
  EXPECT_THAT(Waiting(), IsEmpty());
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kUnschedulable);
  harness_.AddPod(GroupMember("c"));
  harness_.Advance(2 * kSecond);
  for (const char* pod : {"a", "b", "c"}) EXPECT_EQ(NodeOf(pod), "n1") << pod;
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
}

TEST_F(GangTest, MembersOfTwoProfilesFail) {
  harness_.AddNode({.name = "n1"});
  PlanSpec mine = GangProfile().Spec();
  PlanSpec other = mine;
  other.scheduler_name = "other";
  const Status status = harness_.Start(std::vector{mine, other}, TestCatalog(), 1);
  ASSERT_TRUE(status.ok()) << status.ToString();
  TestPod pod = GroupMember("b");
  pod.spec += R"(,"schedulerName":"other")";
  harness_.AddObject(TestObjects::Json(GroupMember("a")));
  harness_.AddObject(TestObjects::Json(pod));
  harness_.Advance(20 * kSecond);
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(harness_.PlaceOf(name), QueuePlace::kErrorBackoff);
    EXPECT_EQ(Message(name),
              "all pods in a single pod group should have the same .spec.schedulerName set, got: "
              "\"default-scheduler\" and \"other\"");
  }
}

}  // namespace
}  // namespace berth::host
