// Class GroupCycle: the members of a group are bound or rolled back together.
#include "host/cycle/schedule_group.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/group_cycle_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// --- commit or roll back ------------------------------------------------------------------------

TEST_F(GroupCycleTest, BindsAllMembersInOneAttempt) {
  Run();
  EXPECT_EQ(Bound(), "abc");
  EXPECT_THAT(calls_, ElementsAre("reserve A a", "reserve B a", "reserve A b", "reserve B b",
                                  "reserve A c", "reserve B c"));
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
}

// A rejected member goes back to the queue; the other members are bound.
TEST_F(GroupCycleTest, BindsTheOtherMembersAfterARejection) {
  const ScriptedAnswer no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const ScriptedFailure failures[] = {
      {"Filter", no, "0/2 nodes are available: 2 no claim."},
      {"ReserveA", no, "0/1 nodes are available: 1 no claim."},
      {"ReserveB", no, "0/1 nodes are available: 1 no claim."},
      {"PermitA", no, "0/1 nodes are available: 1 no claim."},
      {"PermitB", no, "0/1 nodes are available: 1 no claim."},
  };
  ForEachMember(failures, [this](const ScriptedFailure& failure, const std::string& member,
                                 const std::string& suffix) {
    for (const std::string pod : {"a", "b", "c"}) {
      EXPECT_EQ(NodeOf(pod + suffix).empty(), pod == member) << pod;
    }
    EXPECT_EQ(harness_.PlaceOf(member + suffix), QueuePlace::kUnschedulable);
    EXPECT_EQ(Failures(member + suffix), 1U);
    EXPECT_EQ(Message(member + suffix), failure.message);
  });
}

// After an error all reservations are undone, the last one first.
TEST_F(GroupCycleTest, RollsBackAllMembersAfterAnError) {
  const ScriptedAnswer boom{BERTH_ERROR, {"boom"}};
  const ScriptedFailure failures[] = {
      {"Filter", boom, "running \"puppet.A\" filter plugin: boom"},
      {"ReserveA", boom, "running Reserve plugin \"puppet.A\": boom"},
      {"ReserveB", boom, "running Reserve plugin \"puppet.B\": boom"},
      {"PermitA", boom, "running Permit plugin \"puppet.A\": boom"},
      {"PermitB", boom, "running Permit plugin \"puppet.B\": boom"},
  };
  ForEachMember(failures, [this](const ScriptedFailure& failure, const std::string& member,
                                 const std::string& suffix) {
    EXPECT_EQ(CpuInUse(), 0);
    EXPECT_EQ(harness_.loop().binding_count(), 0U);
    for (const std::string pod : {"a", "b", "c"}) {
      EXPECT_EQ(NodeOf(pod + suffix), "") << pod;
      EXPECT_EQ(harness_.PlaceOf(pod + suffix), QueuePlace::kErrorBackoff) << pod;
      EXPECT_EQ(Message(pod + suffix),
                pod == member ? failure.message
                              : "failed to schedule other pod from a pod group: " + failure.message)
          << pod;
    }
    // Every reservation is undone: plugins and pods in reverse order.
    std::vector<std::string> expected;
    std::vector<std::string> undone;
    for (const std::string& call : calls_) {
      if (call.starts_with("reserve ")) expected.insert(expected.begin(), "un" + call);
      if (call.starts_with("unreserve ")) undone.push_back(call);
    }
    if (std::string_view(failure.point) == "ReserveA") {
      // As in kube-scheduler, Unreserve is also called for plugins whose Reserve was not reached.
      expected.insert(expected.begin(), "unreserve B " + member + suffix);
    }
    EXPECT_EQ(undone, expected);
  });
}

TEST_F(GroupCycleTest, ParksAnUnpermittedGroupForPermitPluginsEvents) {
  SetAnswerForAll("PermitA", {BERTH_WAIT, {"quorum"}});
  Run();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(CpuInUse(), 0);
  EXPECT_EQ(harness_.loop().binding_count(), 0U);
  EXPECT_THAT(calls_,
              ElementsAre("reserve A a", "reserve B a", "reserve A b", "reserve B b", "reserve A c",
                          "reserve B c", "unreserve B c", "unreserve A c", "unreserve B b",
                          "unreserve A b", "unreserve B a", "unreserve A a"));
  for (const char* pod : {"a", "b", "c"}) {
    EXPECT_EQ(harness_.PlaceOf(pod), QueuePlace::kUnschedulable);
    EXPECT_EQ(Message(pod), "pod group is unschedulable");
    EXPECT_EQ(Failures(pod), 1U);
  }
  ClearAnswers();
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupCycleTest, LastMembersPermitBindsAllMembers) {
  a_.permit = [this](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                     berth_status*) {
    *timeout_ns = kSecond;
    if (NameOf(*cycle.pod) != "c") return BERTH_WAIT;
    std::vector<std::string> uids;
    const auto each = [](void* to, const berth_pod* pod) noexcept {
      static_cast<std::vector<std::string>*>(to)->emplace_back(Text(pod->meta->uid));
      return 1;
    };
    EXPECT_EQ(a_.waiting->each(a_.host, each, &uids), BERTH_SUCCESS);
    EXPECT_THAT(uids, ElementsAre("uid-a", "uid-b"));
    for (const std::string& uid : uids) {
      EXPECT_EQ(a_.waiting->allow(a_.host, {uid.data(), uid.size()}), BERTH_SUCCESS);
    }
    return BERTH_SUCCESS;
  };
  Run();
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupCycleTest, WaitingMemberKeepsItsNodeUntilTimeout) {
  SetAnswer("PermitA", "b", {BERTH_WAIT, {"quorum"}});
  Run();
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(CpuInUse(), 3000);
  harness_.Advance(kSecond);
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kUnschedulable);
  EXPECT_EQ(CpuInUse(), 2000);
}

// --- binding and requeueing ---------------------------------------------------------------------

TEST_F(GroupCycleTest, RequeuesMemberWhoseBindingFailsAsTheGroup) {
  SetAnswer("PreBindA", "b", {BERTH_ERROR, {"boom"}});
  Run();
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kErrorBackoff);
  ASSERT_NE(harness_.loop().queue().Find("uid-b"), nullptr);
  EXPECT_NE(harness_.loop().queue().Find("uid-b")->group, nullptr);
  ClearAnswers();
  harness_.Advance(3 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupCycleTest, RequeuesMembersWhoseBindingsFailAsOneGroup) {
  SetAnswer("PreBindA", "a", {BERTH_ERROR, {"boom"}});
  SetAnswer("PreBindA", "c", {BERTH_ERROR, {"boom"}});
  Run();
  EXPECT_EQ(Bound(), "b");
  EXPECT_EQ(harness_.loop().queue().Find("uid-a"), harness_.loop().queue().Find("uid-c"));
  ClearAnswers();
  harness_.Advance(3 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupCycleTest, LeavesOutAMemberThatIsBeingDeleted) {
  Start();
  SetAnswerForAll("PreEnqueueA", {BERTH_UNSCHEDULABLE, {"not yet"}});
  AddGroup();
  harness_.Run();
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kGated);
  const PodRef pod = harness_.cluster().FindPod("default", "b");
  TestPod terminating = Member("b");
  terminating.meta = R"("resourceVersion":"1000","deletionTimestamp":"2026-01-10T08:00:00Z")";
  ClearAnswers();
  harness_.client().SendPodEvent(
      {WatchType::kModified, harness_.objects().Pod(terminating), pod, false});
  harness_.Run();
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(harness_.loop().queue().Find("uid-b"), nullptr);
}

TEST_F(GroupCycleTest, GroupIsGatedWhileOneMemberIsGated) {
  SetAnswer("PreEnqueueA", "b", {BERTH_UNSCHEDULABLE, {"not yet"}});
  Run();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kGated);
  EXPECT_EQ(Failures("a"), 0U);
  ClearAnswers();
  harness_.AddPod(Member("d"));
  harness_.Run();
  EXPECT_EQ(Bound(), "abc");
}

}  // namespace
}  // namespace berth::host
