// Groups of pods: tried in one cycle, given back whole, and told of one by one.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/harness.h"
#include "tests/runtime/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int64_t kSecond = TestClock::kSecond;

std::string_view NameOf(const berth_pod& pod) { return Text(pod.meta->name); }

// Pods a, b and c, of group "g", in this order; on the nodes n1 and n2.
class GroupTest : public ::testing::Test {
 protected:
  GroupTest()
      : a_(stage_.Add("puppet.A",
                      {Point::kPreEnqueue, Point::kEnqueueExtensions, Point::kFilter,
                       Point::kPostFilter, Point::kReserve, Point::kPermit, Point::kPreBind})),
        b_(stage_.Add("puppet.B", {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit})),
        c_(stage_.Add("puppet.C", {Point::kBind})) {
    c_.bind = [this](const berth_binding& binding, berth_done* done, berth_status*) {
      const berth_code code = c_.api->bind(c_.host, &binding, done);
      return code == BERTH_SUCCESS ? BERTH_PENDING : code;
    };
    a_.has_slot = true;
    a_.reasons = {{"no claim", 8}};
    const auto always = [](uint32_t resource, uint32_t action) {
      return berth_event_interest{.resource = resource,
                                  .actions = action,
                                  .kind = nullptr,
                                  .has_hint = 0,
                                  .reserved = 0,
                                  .pod_parts = 0};
    };
    a_.interests = {always(BERTH_RESOURCE_NODE, BERTH_ACTION_ADD),
                    always(BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE)};
    b_.interests = a_.interests;
    a_.filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                       berth_status* status) {
      const Said said = SaidAt("Filter", *cycle.pod);
      const bool only_first = SaidAt("Filter but n1", *cycle.pod).code != BERTH_SUCCESS;
      for (uint32_t i = 0; i < block.count; ++i) {
        const bool errs = said.code == BERTH_ERROR;
        out.codes[i] = static_cast<uint8_t>(errs ? BERTH_SUCCESS : said.code);
        out.reasons[i] = errs ? 0 : 1;
        if (only_first && Text(block.nodes[i]->meta->name) != "n1") {
          out.codes[i] = BERTH_UNSCHEDULABLE;
        }
      }
      return said.code == BERTH_ERROR ? Give(said, status) : BERTH_SUCCESS;
    };
    Play("A", a_);
    Play("B", b_);
  }

  // What the plugin answers for the pod at the point; otherwise Success.
  void Say(const std::string& point, const std::string& pod, const Said& said) {
    said_[point + " " + pod] = said;
  }
  void SayOfAll(const std::string& point, const Said& said) {
    for (const char* pod : {"a", "b", "c"}) Say(point, pod, said);
  }
  void Unsay() { said_.clear(); }

  void Start() {
    harness_.AddNodes({"n1", "n2"});
    stage_.Write();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  TestPod Member(const std::string& name, const std::string& group = "g") const {
    return {.name = name,
            .requests = "\"cpu\":\"1\"",
            .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name +
                    R"(","schedulingGroup":{"podGroupName":")" + group + "\"}"};
  }
  void AddGroup() {
    for (const char* pod : {"a", "b", "c"}) harness_.AddPod(Member(pod));
  }
  void Run() {
    Start();
    AddGroup();
    harness_.Run();
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(harness_.cluster().FindPod("default", pod)->node_name());
  }
  std::string Bound() {
    std::string bound;
    for (const char* pod : {"a", "b", "c"}) bound += NodeOf(pod).empty() ? "" : pod;
    return bound;
  }
  std::string Message(const std::string& pod) {
    return std::string(harness_.cluster().PodScheduledMessage("default", pod));
  }
  int64_t CpuInUse() { return harness_.Column("req.cpu", "n1") + harness_.Column("req.cpu", "n2"); }
  // By A, as one of its calls.
  void RejectWaiting(std::string_view uid) const {
    const std::string_view why = "no more";
    EXPECT_EQ(a_.waiting->reject(a_.host, {uid.data(), uid.size()}, {why.data(), why.size()}),
              BERTH_SUCCESS);
  }
  // Of all attempts so far, how many found the pod without a node.
  size_t Failures(const std::string& pod) {
    return static_cast<size_t>(
        std::ranges::count_if(harness_.cluster().events(), [&pod](const Event& event) {
          return event.regarding.name == pod && event.reason == "FailedScheduling";
        }));
  }

  // PostFilter names these, one after the other.
  void Nominating(std::vector<std::string> nodes) {
    a_.post_filter = [this, nodes](const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                                   berth_post_filter_out& out, berth_status*) {
      const std::string& node = nodes[nominations_++ % nodes.size()];
      out.nominate(&out, {node.data(), node.size()});
      return BERTH_SUCCESS;
    };
  }

  Stage stage_;
  Puppet& a_;
  Puppet& b_;
  Puppet& c_;
  std::vector<std::string> calls_;  // "reserve A a"
  std::map<std::string, Said, std::less<>> said_;
  size_t nominations_ = 0;
  Harness harness_;  // Goes first: it calls the plugins.

 private:
  Said SaidAt(const std::string& point, const berth_pod& pod) const {
    const auto found = said_.find(point + " " + std::string(NameOf(pod)));
    return found != said_.end() ? found->second : Said();
  }
  void Play(const std::string& name, Puppet& puppet) {
    puppet.reserve = [this, name](const berth_cycle& cycle, const berth_target&,
                                  berth_status* status) {
      calls_.push_back("reserve " + name + " " + std::string(NameOf(*cycle.pod)));
      return Give(SaidAt("Reserve" + name, *cycle.pod), status);
    };
    puppet.unreserve = [this, name](const berth_binding& binding) {
      calls_.push_back("unreserve " + name + " " + std::string(NameOf(*binding.pod)));
    };
    puppet.permit = [this, name](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                                 berth_status* status) {
      *timeout_ns = kSecond;
      return Give(SaidAt("Permit" + name, *cycle.pod), status);
    };
    puppet.pre_bind = [this, name](const berth_binding& binding, berth_done*,
                                   berth_status* status) {
      return Give(SaidAt("PreBind" + name, *binding.pod), status);
    };
    puppet.pre_enqueue = [this, name](const berth_pod& pod, berth_status* status) {
      return Give(SaidAt("PreEnqueue" + name, pod), status);
    };
  }
};

// --- whole, or not at all -----------------------------------------------------------------------

TEST_F(GroupTest, AllAreBoundInOneAttempt) {
  Run();
  EXPECT_EQ(Bound(), "abc");
  EXPECT_THAT(calls_, ElementsAre("reserve A a", "reserve B a", "reserve A b", "reserve B b",
                                  "reserve A c", "reserve B c"));
  EXPECT_EQ(harness_.loop().queue().size(), 0U);
}

struct Refusal {
  const char* point;
  Said said;
  std::string message;
};

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
  Start();
  int round = 0;
  for (const Refusal& refusal : refusals) {
    for (const std::string member : {"a", "b", "c"}) {
      SCOPED_TRACE(std::string(refusal.point) + " of " + member);
      const std::string suffix = std::to_string(++round);
      Unsay();
      Say(refusal.point, member + suffix, refusal.said);
      for (const char* pod : {"a", "b", "c"}) {
        harness_.AddPod(Member(pod + suffix, "g" + suffix));
      }
      harness_.Run();
      for (const std::string pod : {"a", "b", "c"}) {
        EXPECT_EQ(NodeOf(pod + suffix).empty(), pod == member) << pod;
        if (pod == member) {
          EXPECT_EQ(harness_.PlaceOf(pod + suffix), QueuePlace::kUnschedulable);
          EXPECT_EQ(Failures(pod + suffix), 1U);
          EXPECT_EQ(Message(pod + suffix), refusal.message);
        }
        harness_.cluster().DeletePod({"default", pod + suffix, ""}, 0, nullptr);
      }
      harness_.Run();
      EXPECT_EQ(CpuInUse(), 0);
      EXPECT_EQ(harness_.loop().queue().size(), 0U);
    }
  }
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
  Start();
  int round = 0;
  for (const Refusal& refusal : refusals) {
    for (const std::string member : {"a", "b", "c"}) {
      SCOPED_TRACE(std::string(refusal.point) + " of " + member);
      const std::string suffix = std::to_string(++round);
      Unsay();
      calls_.clear();
      Say(refusal.point, member + suffix, refusal.said);
      for (const char* pod : {"a", "b", "c"}) {
        harness_.AddPod(Member(pod + suffix, "g" + suffix));
      }
      harness_.Run();
      EXPECT_EQ(CpuInUse(), 0);
      EXPECT_EQ(harness_.loop().in_flight(), 0U);
      for (const std::string pod : {"a", "b", "c"}) {
        EXPECT_EQ(NodeOf(pod + suffix), "") << pod;
        EXPECT_EQ(harness_.PlaceOf(pod + suffix), QueuePlace::kErrorBackoff) << pod;
        EXPECT_EQ(Message(pod + suffix),
                  pod == member
                      ? refusal.message
                      : "failed to schedule other pod from a pod group: " + refusal.message)
            << pod;
      }
      // What was reserved is unreserved, each plugin after those behind it, each pod too.
      std::vector<std::string> reserved;
      for (const std::string& call : calls_) {
        if (call.starts_with("reserve ")) reserved.push_back("un" + call);
      }
      std::vector<std::string> expected(reserved.rbegin(), reserved.rend());
      std::vector<std::string> given_back;
      for (const std::string& call : calls_) {
        if (call.starts_with("unreserve ")) given_back.push_back(call);
      }
      if (std::string_view(refusal.point) == "ReserveA") {
        // Upstream calls every plugin's Unreserve, those that were not reached too.
        expected.insert(expected.begin(), "unreserve B " + member + suffix);
      }
      EXPECT_EQ(given_back, expected);
      for (const std::string pod : {"a", "b", "c"}) {
        harness_.cluster().DeletePod({"default", pod + suffix, ""}, 0, nullptr);
      }
      harness_.Run();
      EXPECT_EQ(harness_.loop().queue().size(), 0U);
    }
  }
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

// --- what plugins do meanwhile ------------------------------------------------------------------

TEST_F(GroupTest, AMemberThatTheNextPermitRejectsStaysBehind) {
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

TEST_F(GroupTest, AMemberThatAnothersUnreserveRejectsStaysBehind) {
  Say("PermitA", "a", {BERTH_WAIT, {"quorum"}});
  Say("PermitB", "b", {BERTH_UNSCHEDULABLE, {"no claim"}});
  a_.unreserve = [this](const berth_binding& binding) {
    if (NameOf(*binding.pod) == "b") RejectWaiting("uid-a");
  };
  Run();
  EXPECT_EQ(Bound(), "c");
  EXPECT_EQ(CpuInUse(), 1000);
  EXPECT_EQ(harness_.PlaceOf("a"), QueuePlace::kUnschedulable);
  EXPECT_EQ(harness_.loop().queue().Find("uid-a"), harness_.loop().queue().Find("uid-b"));
}

TEST_F(GroupTest, ToActivateTheMembersThatAreTriedIsNothing) {
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

TEST_F(GroupTest, AMemberThatWasOnlyTriedIsNotDeletedForAnother) {
  Say("Filter", "c", {BERTH_UNSCHEDULABLE, {}});
  SayOfAll("PermitA", {BERTH_WAIT, {"quorum"}});
  int answers = 0;
  a_.post_filter = [&](const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                       berth_post_filter_out&, berth_status*) {
    const PodRef victim = harness_.loop().cache().PodOf("uid-a");
    EXPECT_NE(victim, nullptr);
    const auto answer = [](void* to, berth_code code, berth_str) {
      EXPECT_EQ(code, BERTH_SUCCESS);
      ++*static_cast<int*>(to);
    };
    const std::string_view why = "room";
    a_.api->evict(a_.host, &victim->view(), {why.data(), why.size()}, answer, &answers);
    return BERTH_UNSCHEDULABLE;
  };
  Run();
  EXPECT_EQ(answers, 1);
  EXPECT_NE(harness_.cluster().FindPod("default", "a"), nullptr);
  EXPECT_EQ(Bound(), "");
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

// --- nominations --------------------------------------------------------------------------------

TEST_F(GroupTest, ANominationIsGivenBackWithThePlace) {
  // It is in our memory alone: the status is not written.
  harness_.line().on_patch = [](const PodName&, const PodStatusPatch&) {
    return Status(ErrorCode::kUnavailable, "not now");
  };
  Say("Filter", "a", {BERTH_UNSCHEDULABLE, {}});
  Nominating({"n2"});
  Run();
  const Nominator& nominator = harness_.loop().queue().nominator();
  ASSERT_EQ(nominator.NodeOf("uid-a"), "n2");
  ASSERT_EQ(harness_.cluster().FindPod("default", "a")->nominated_node(), "");
  Unsay();
  SayOfAll("PermitA", {BERTH_WAIT, {"quorum"}});
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(nominator.NodeOf("uid-a"), "n2");
  Unsay();
  harness_.AddNode({.name = "n4"});
  harness_.Advance(4 * kSecond);
  EXPECT_EQ(Bound(), "abc");
  EXPECT_TRUE(nominator.empty());
}

TEST_F(GroupTest, WhoIsNominatedMakesTheGroupWaitForTheRoom) {
  Say("Filter", "b", {BERTH_UNSCHEDULABLE, {}});
  Nominating({"n1"});
  Run();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(CpuInUse(), 0);
  EXPECT_EQ(harness_.loop().queue().nominator().NodeOf("uid-b"), "n1");
  EXPECT_EQ(Message("a"), "pod group is waiting for preemption to complete");
  EXPECT_THAT(Message("b"), StartsWith("0/2 nodes are available:"));
  EXPECT_EQ(Failures("a"), 1U);
  Unsay();
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(Bound(), "abc");
}

TEST_F(GroupTest, ANominationThatMovesIsNoReasonToTryAgain) {
  Say("Filter", "b", {BERTH_UNSCHEDULABLE, {}});
  Nominating({"n1", "n2"});
  Run();
  EXPECT_EQ(nominations_, 1U);
  harness_.AddNode({.name = "n3"});
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(nominations_, 2U);
  EXPECT_EQ(harness_.loop().queue().nominator().NodeOf("uid-b"), "n2");
}

TEST_F(GroupTest, ARoomThatAMemberDoesNotNeedIsToldToOthers) {
  Start();
  TestPod nominated = Member("a");
  nominated.status = R"("nominatedNodeName":"n2")";
  Say("Filter", "other", {BERTH_UNSCHEDULABLE, {}});
  TestPod other{.name = "other",
                .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"'};
  harness_.AddPod(other);
  harness_.Run();
  ASSERT_EQ(harness_.PlaceOf("other"), QueuePlace::kUnschedulable);
  // Whoever waits for an assigned pod to go is tried when a goes to n1 and not to n2.
  Say("Filter but n1", "a", {BERTH_UNSCHEDULABLE, {}});
  harness_.AddPod(nominated);
  harness_.Advance(2 * kSecond);
  EXPECT_EQ(NodeOf("a"), "n1");
  EXPECT_EQ(Failures("other"), 2U);
}

}  // namespace
}  // namespace berth::host
