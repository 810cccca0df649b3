// Groups of pods: tried in one cycle, given back whole, and told of one by one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/group_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSecond = TestClock::kSecond;

// --- whole, or not at all -----------------------------------------------------------------------

TEST_F(GroupTest, AllAreBoundInOneAttempt) {
  Run();
  EXPECT_EQ(Bound(), "abc");
  EXPECT_THAT(calls_, ElementsAre("reserve A a", "reserve B a", "reserve A b", "reserve B b",
                                  "reserve A c", "reserve B c"));
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
}

// Whoever is rejected stays behind; the others go.
TEST_F(GroupTest, AMemberThatIsRejectedStaysBehind) {
  const Said no{BERTH_UNSCHEDULABLE, {"no claim"}};
  const Refusal refusals[] = {
      {"Filter", no, "0/2 nodes are available: 2 no claim."},
      {"ReserveA", no, "0/1 nodes are available: 1 no claim."},
      {"ReserveB", no, "0/1 nodes are available: 1 no claim."},
      {"PermitA", no, "0/1 nodes are available: 1 no claim."},
      {"PermitB", no, "0/1 nodes are available: 1 no claim."},
  };
  ForEachMember(refusals, [this](const Refusal& refusal, const std::string& member,
                                 const std::string& suffix) {
    for (const std::string pod : {"a", "b", "c"}) {
      EXPECT_EQ(NodeOf(pod + suffix).empty(), pod == member) << pod;
    }
    EXPECT_EQ(harness_.PlaceOf(member + suffix), QueuePlace::kUnschedulable);
    EXPECT_EQ(Failures(member + suffix), 1U);
    EXPECT_EQ(Message(member + suffix), refusal.message);
  });
}

// After an error everything is given back, the last first.
TEST_F(GroupTest, AnErrorOfOneMemberGivesAllBack) {
  const Said boom{BERTH_ERROR, {"boom"}};
  const Refusal refusals[] = {
      {"Filter", boom, "running \"puppet.A\" filter plugin: boom"},
      {"ReserveA", boom, "running Reserve plugin \"puppet.A\": boom"},
      {"ReserveB", boom, "running Reserve plugin \"puppet.B\": boom"},
      {"PermitA", boom, "running Permit plugin \"puppet.A\": boom"},
      {"PermitB", boom, "running Permit plugin \"puppet.B\": boom"},
  };
  ForEachMember(refusals, [this](const Refusal& refusal, const std::string& member,
                                 const std::string& suffix) {
    EXPECT_EQ(CpuInUse(), 0);
    EXPECT_EQ(harness_.loop().in_flight(), 0U);
    for (const std::string pod : {"a", "b", "c"}) {
      EXPECT_EQ(NodeOf(pod + suffix), "") << pod;
      EXPECT_EQ(harness_.PlaceOf(pod + suffix), QueuePlace::kErrorBackoff) << pod;
      EXPECT_EQ(Message(pod + suffix),
                pod == member ? refusal.message
                              : "failed to schedule other pod from a pod group: " + refusal.message)
          << pod;
    }
    // What was reserved is unreserved, each plugin after those behind it, each pod too.
    std::vector<std::string> expected;
    std::vector<std::string> given_back;
    for (const std::string& call : calls_) {
      if (call.starts_with("reserve ")) expected.insert(expected.begin(), "un" + call);
      if (call.starts_with("unreserve ")) given_back.push_back(call);
    }
    if (std::string_view(refusal.point) == "ReserveA") {
      // Upstream calls every plugin's Unreserve, those that were not reached too.
      expected.insert(expected.begin(), "unreserve B " + member + suffix);
    }
    EXPECT_EQ(given_back, expected);
  });
}

TEST_F(GroupTest, AGroupThatNobodyLetsGoIsGivenBackAndWaitsForWhoMadeItWait) {
  SayOfAll("PermitA", {BERTH_WAIT, {"quorum"}});
  Run();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(CpuInUse(), 0);
  EXPECT_EQ(harness_.loop().in_flight(), 0U);
  EXPECT_THAT(calls_,
              ElementsAre("reserve A a", "reserve B a", "reserve A b", "reserve B b", "reserve A c",
                          "reserve B c", "unreserve B c", "unreserve A c", "unreserve B b",
                          "unreserve A b", "unreserve B a", "unreserve A a"));
  for (const char* pod : {"a", "b", "c"}) {
    EXPECT_EQ(harness_.PlaceOf(pod), QueuePlace::kUnschedulable);
    EXPECT_EQ(Message(pod), "pod group is unschedulable");
    EXPECT_EQ(Failures(pod), 1U);
  }
  Unsay();
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupTest, ThePermitOfTheLastLetsTheOthersGo) {
  a_.permit = [this](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                     berth_status*) {
    *timeout_ns = kSecond;
    if (NameOf(*cycle.pod) != "c") return BERTH_WAIT;
    std::vector<std::string> uids;
    const auto each = [](void* to, const berth_pod* pod) {
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

TEST_F(GroupTest, OnesWhoWaitAreBoundWhenTheyAreAllowed) {
  Say("PermitA", "b", {BERTH_WAIT, {"quorum"}});
  Run();
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(CpuInUse(), 3000);
  harness_.Advance(kSecond);
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kUnschedulable);
  EXPECT_EQ(CpuInUse(), 2000);
}

// --- on the way ---------------------------------------------------------------------------------

TEST_F(GroupTest, AMemberWhoseBindingFailsComesBackAsTheGroup) {
  Say("PreBindA", "b", {BERTH_ERROR, {"boom"}});
  Run();
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kErrorBackoff);
  ASSERT_NE(harness_.loop().queue().Find("uid-b"), nullptr);
  EXPECT_NE(harness_.loop().queue().Find("uid-b")->group, nullptr);
  Unsay();
  harness_.Advance(3 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupTest, MembersThatFailOneAfterTheOtherAreOneGroupAgain) {
  Say("PreBindA", "a", {BERTH_ERROR, {"boom"}});
  Say("PreBindA", "c", {BERTH_ERROR, {"boom"}});
  Run();
  EXPECT_EQ(Bound(), "b");
  EXPECT_EQ(harness_.loop().queue().Find("uid-a"), harness_.loop().queue().Find("uid-c"));
  Unsay();
  harness_.Advance(3 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupTest, AMemberThatIsBeingDeletedIsSkipped) {
  Start();
  SayOfAll("PreEnqueueA", {BERTH_UNSCHEDULABLE, {"not yet"}});
  AddGroup();
  harness_.Run();
  EXPECT_EQ(harness_.PlaceOf("b"), QueuePlace::kGated);
  const PodRef pod = harness_.cluster().FindPod("default", "b");
  TestPod going = Member("b");
  going.meta = R"("resourceVersion":"1000","deletionTimestamp":"2026-01-10T08:00:00Z")";
  Unsay();
  harness_.line().Tell({WatchType::kModified, harness_.objects().Pod(going), pod, false});
  harness_.Run();
  EXPECT_EQ(Bound(), "ac");
  EXPECT_EQ(harness_.loop().queue().Find("uid-b"), nullptr);
}

TEST_F(GroupTest, AGroupWaitsAtTheGateUntilAllMayPass) {
  Say("PreEnqueueA", "b", {BERTH_UNSCHEDULABLE, {"not yet"}});
  Run();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kGated);
  EXPECT_EQ(Failures("a"), 0U);
  Unsay();
  harness_.AddPod(Member("d"));
  harness_.Run();
  EXPECT_EQ(Bound(), "abc");
}

}  // namespace
}  // namespace berth::host
