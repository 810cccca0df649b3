// Class GroupCycle: requests of plugins during the cycle, and nominations of members.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/cycle/schedule_group.h"
#include "tests/harness/group_cycle_fixture.h"

namespace berth::host {
namespace {

using ::testing::StartsWith;

// --- requests during the cycle ------------------------------------------------------------------

TEST_F(GroupCycleTest, RollsBackMemberThatALaterPermitRejects) {
  a_.permit = [this](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                     berth_status*) {
    *timeout_ns = kSecond;
    if (NameOf(*cycle.pod) == "b") RejectWaiting("uid-a");
    return NameOf(*cycle.pod) == "a" ? BERTH_WAIT : BERTH_SUCCESS;
  };
  Run();
  EXPECT_EQ(Bound(), "bc");
  EXPECT_EQ(CpuInUse(), 2000);
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kUnschedulable);
  EXPECT_EQ(Message("a"), "0/1 nodes are available: 1 no more.");
}

TEST_F(GroupCycleTest, RollsBackAMemberThatAnUnreserveRejects) {
  SetAnswer("PermitA", "a", {BERTH_WAIT, {"quorum"}});
  SetAnswer("PermitB", "b", {BERTH_UNSCHEDULABLE, {"no claim"}});
  a_.unreserve = [this](const berth_binding& binding) {
    if (NameOf(*binding.pod) == "b") RejectWaiting("uid-a");
  };
  Run();
  EXPECT_EQ(Bound(), "c");
  EXPECT_EQ(CpuInUse(), 1000);
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kUnschedulable);
  EXPECT_EQ(harness_.loop().queue().Find("uid-a"), harness_.loop().queue().Find("uid-b"));
}

TEST_F(GroupCycleTest, IgnoresTheActivationOfItsMembers) {
  int permits = 0;
  a_.permit = [&](const berth_cycle&, const berth_target&, int64_t* timeout_ns, berth_status*) {
    ++permits;
    *timeout_ns = kSecond;
    for (const std::string_view uid : {"uid-a", "uid-b", "uid-c"}) {
      const berth_str text{uid.data(), uid.size()};
      EXPECT_EQ(a_.activate->activate(a_.host, &text, 1), BERTH_SUCCESS);
    }
    return BERTH_WAIT;
  };
  Run();
  EXPECT_EQ(permits, 3);
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kUnschedulable);
}

// The answer that a member waits for arrives within the cycle of the group.
TEST_F(GroupCycleTest, KeepsTheActivationOfAMemberThatWaits) {
  int attempts = 0;
  a_.pre_score = [&](const berth_cycle& cycle, const berth_nodes&, const berth_nodes&,
                     berth_status*) {
    if (NameOf(*cycle.pod) == "a") return ++attempts == 1 ? BERTH_PENDING : BERTH_SUCCESS;
    const std::string_view uid = "uid-a";
    const berth_str text{uid.data(), uid.size()};
    EXPECT_EQ(a_.activate->activate(a_.host, &text, 1), BERTH_SUCCESS);
    return BERTH_SUCCESS;
  };
  Run();
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupCycleTest, WaitsForThePluginOfOneMember) {
  SetAnswerForAll("PermitA", {BERTH_WAIT, {"quorum"}});
  a_.pre_score = [&](const berth_cycle& cycle, const berth_nodes&, const berth_nodes&,
                     berth_status*) {
    return NameOf(*cycle.pod) == "b" ? BERTH_PENDING : BERTH_SUCCESS;
  };
  Run();
  EXPECT_EQ(Message("b"), "pod is waiting for the plugin puppet.A");
  EXPECT_EQ(Message("a"), "pod group is unschedulable");
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kUnschedulable);
  const QueuedEntity& group = *harness_.loop().queue().Find("uid-b");
  EXPECT_EQ(group.rejection().awaited.size(), 1U);
  EXPECT_EQ(group.rejection().plugins.size(), 1U) << "Permit of the others";
}

TEST_F(GroupCycleTest, DoesNotDeleteMemberEvictedDuringTheCycle) {
  SetAnswer("Filter", "c", {BERTH_UNSCHEDULABLE, {}});
  SetAnswerForAll("PermitA", {BERTH_WAIT, {"quorum"}});
  int answers = 0;
  a_.post_filter = [&](const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                       berth_post_filter_out&, berth_status*) {
    const PodRef victim = harness_.loop().cache().PodOf("uid-a");
    EXPECT_NE(victim, nullptr);
    const auto answer = [](void* to, const berth_api_result* result) noexcept {
      EXPECT_EQ(result->code, BERTH_SUCCESS);
      ++*static_cast<int*>(to);
    };
    const std::string_view why = "room";
    const berth_eviction eviction{sizeof eviction, 0, &victim->view(), {why.data(), why.size()}};
    a_.api->evict(a_.host, &eviction, answer, &answers);
    return BERTH_UNSCHEDULABLE;
  };
  Run();
  EXPECT_EQ(answers, 1);
  EXPECT_NE(harness_.cluster().FindPod("default", "a"), nullptr);
  EXPECT_EQ(Bound(), "");
}

// --- nominations --------------------------------------------------------------------------------

TEST_F(GroupCycleTest, RestoresTheNominationOfARolledBackMember) {
  // The nomination exists only in the queue: the patch of the status fails.
  harness_.client().on_patch = [](const PodName&, const PodStatusPatch&) {
    return Status(ErrorCode::kUnavailable, "not now");
  };
  SetAnswer("Filter", "a", {BERTH_UNSCHEDULABLE, {}});
  NominateNodes({"n2"});
  Run();
  const Nominator& nominator = harness_.loop().queue().nominator();
  ASSERT_EQ(nominator.NodeOf("uid-a"), "n2");
  ASSERT_EQ(harness_.cluster().FindPod("default", "a")->nominated_node(), "");
  ClearAnswers();
  SetAnswerForAll("PermitA", {BERTH_WAIT, {"quorum"}});
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(nominator.NodeOf("uid-a"), "n2");
  ClearAnswers();
  harness_.AddNode({.name = "n4"});
  harness_.Advance(4 * kSecond);
  EXPECT_EQ(Bound(), "abc");
  EXPECT_TRUE(nominator.empty());
}

TEST_F(GroupCycleTest, ParksGroupWhileMemberWaitsForAPreemption) {
  SetAnswer("Filter", "b", {BERTH_UNSCHEDULABLE, {}});
  NominateNodes({"n1"});
  Run();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(CpuInUse(), 0);
  EXPECT_EQ(harness_.loop().queue().nominator().NodeOf("uid-b"), "n1");
  EXPECT_EQ(Message("a"), "pod group is waiting for preemption to complete");
  EXPECT_THAT(Message("b"), StartsWith("0/2 nodes are available:"));
  EXPECT_EQ(Failures("a"), 1U);
  ClearAnswers();
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupCycleTest, DoesNotRetryBecauseANominationMoves) {
  SetAnswer("Filter", "b", {BERTH_UNSCHEDULABLE, {}});
  NominateNodes({"n1", "n2"});
  Run();
  EXPECT_EQ(nominations_, 1U);
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(nominations_, 2U);
  EXPECT_EQ(harness_.loop().queue().nominator().NodeOf("uid-b"), "n2");
}

TEST_F(GroupCycleTest, ReleasedMemberNominationRequeuesOtherPods) {
  Start();
  TestPod nominated = Member("a");
  nominated.status = R"("nominatedNodeName":"n2")";
  SetAnswer("Filter", "other", {BERTH_UNSCHEDULABLE, {}});
  TestPod other{.name = "other",
                .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"'};
  harness_.AddPod(other);
  harness_.Run();
  ASSERT_EQ(harness_.PlaceOf("other"), QueuePlace::kUnschedulable);
  // Pods that wait for the deletion of an assigned pod are tried when "a" goes to n1 instead of n2.
  SetAnswer("Filter but n1", "a", {BERTH_UNSCHEDULABLE, {}});
  harness_.AddPod(nominated);
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(NodeOf("a"), "n1");
  EXPECT_EQ(Failures("other"), 2U);
}

}  // namespace
}  // namespace berth::host
