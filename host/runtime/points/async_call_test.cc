// AsyncCall: every answer of PreBind and Bind, returned or completed later, in time or late.
#include "host/runtime/points/async_call.h"

#include <deque>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/plan/instance_host.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A stage with one plugin at one point, and a call of it.
class Scene {
 public:
  explicit Scene(Point point, const char* plugin = "puppet.A", int64_t deadline_ns = 0)
      : point_(point) {
    Puppet& puppet = stage.Add(plugin, {point});
    puppet.has_slot = true;
    stage.SetDeadline(plugin, deadline_ns);
    const auto play = [this](const berth_binding& given_binding, berth_done given,
                             berth_status* status) {
      shown = &given_binding;
      done = given;
      const berth_code code = Report(returns, status);
      if (during) during();
      return code;
    };
    (point == Point::kBind ? puppet.bind : puppet.pre_bind) = play;
    stage.Build();
    binding = stage.MakeBinding();
  }

  void Start() {
    call = std::make_unique<AsyncCall>(*binding, stage.calls(), 0, point_, [this](PluginStatus s) {
      answers.push_back(TextOf(s));
      call.reset();  // Owners may destroy the call in its callback.
    });
    call->Start();
  }
  std::string Running(const char* why) const {
    return "Error: running " + std::string(InfoOf(point_).name) + " plugin \"puppet.A\": " + why;
  }
  std::string Fault(const char* kind) const {
    return "puppet.A " + std::string(InfoOf(point_).name) + " " + kind;
  }
  size_t open() const { return stage.HostOf("puppet.A").promises()->open_count(); }

  Stage stage;
  ScriptedAnswer returns;
  std::function<void()> during;  // Runs inside the plugin's function.
  const berth_binding* shown = nullptr;
  berth_done done = {};
  std::unique_ptr<Binding> binding;
  std::unique_ptr<AsyncCall> call;
  std::vector<std::string> answers;

 private:
  const Point point_;
};

class AsyncCallTest : public ::testing::TestWithParam<Point> {};

INSTANTIATE_TEST_SUITE_P(Points, AsyncCallTest, ::testing::Values(Point::kPreBind, Point::kBind),
                         [](const auto& test) { return std::string(InfoOf(test.param).name); });

struct AnswerCase {
  const char* name;
  ScriptedAnswer given;
  const char* answer;  // If it begins with a colon, the text after "running ...: ".
  const char* fault;   // Null: no fault.
};

const std::vector<AnswerCase>& Answers() {
  static const std::vector<AnswerCase> kTable = {
      {"done", {BERTH_SUCCESS}, "Success", nullptr},
      {"rejected", {BERTH_UNSCHEDULABLE, {"no"}}, "Unschedulable: no", nullptr},
      {"rejected as unresolvable",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {"no"}},
       "UnschedulableAndUnresolvable: no",
       nullptr},
      {"rejected for two reasons",
       {BERTH_UNSCHEDULABLE, {"no", "not at all"}},
       "Unschedulable: no, not at all",
       nullptr},
      {"failed", {BERTH_ERROR, {"boom"}}, ":boom", nullptr},
      {"failed for two reasons", {BERTH_ERROR, {"boom", "bang"}}, ":boom, bang", nullptr},
      {"failed without a reason", {BERTH_ERROR}, ":plugin returned Error", nullptr},
      {"cancelled", {BERTH_CANCELLED}, ":plugin returned Cancelled", nullptr},
      {"code of a service", {BERTH_CONFLICT, {"changed"}}, ":changed", nullptr},
      {"unsupported", {BERTH_UNSUPPORTED}, ":plugin returned Unsupported", nullptr},
      {"threw", {BERTH_BUG, {"a bug"}}, ":a bug", "exception"},
      {"code of Permit", {BERTH_WAIT}, ":plugin returned Wait", "bad code"},
      {"unknown code", {99}, ":plugin returned Unknown", "bad code"},
      {"negative code", {-5, {"?"}}, ":?", "bad code"},
  };
  return kTable;
}

void ExpectAnswer(const Scene& scene, const AnswerCase& row) {
  const std::string expected =
      row.answer[0] == ':' ? scene.Running(row.answer + 1) : std::string(row.answer);
  EXPECT_THAT(scene.answers, ElementsAre(expected));
  if (row.fault == nullptr) {
    EXPECT_THAT(scene.stage.Faults(), IsEmpty());
  } else {
    EXPECT_THAT(scene.stage.Faults(), ElementsAre(scene.Fault(row.fault)));
  }
  EXPECT_EQ(scene.open(), 0U);
}

TEST_P(AsyncCallTest, ReturnedAnswers) {
  for (const AnswerCase& row : Answers()) {
    SCOPED_TRACE(row.name);
    Scene scene(GetParam());
    scene.returns = row.given;
    scene.Start();  // The answer comes within this call.
    ExpectAnswer(scene, row);
    EXPECT_EQ(scene.stage.inbox().size(), 0U);
    EXPECT_EQ(scene.stage.timers().size(), 0U);
    EXPECT_NE(scene.binding->TakeState(), nullptr);
  }
}

TEST_P(AsyncCallTest, AnswersThatAreCompletedLater) {
  for (const AnswerCase& row : Answers()) {
    SCOPED_TRACE(row.name);
    Scene scene(GetParam());
    scene.returns = {BERTH_PENDING, {"not yet"}};
    scene.Start();
    scene.stage.Drain();
    EXPECT_THAT(scene.answers, IsEmpty());
    EXPECT_EQ(scene.open(), 1U);
    Stage::Complete(scene.done, row.given);
    EXPECT_THAT(scene.answers, IsEmpty());  // Never within the plugin's call.
    scene.stage.Drain();
    ExpectAnswer(scene, row);
    EXPECT_NE(scene.binding->TakeState(), nullptr);
  }
}

TEST_P(AsyncCallTest, AnswersThatAreCompletedWithinTheCall) {
  for (const berth_code returned : {BERTH_PENDING, BERTH_SUCCESS, BERTH_ERROR}) {
    for (const AnswerCase& row : Answers()) {
      SCOPED_TRACE(row.name);
      Scene scene(GetParam());
      scene.returns = {returned, {"ignored"}};
      scene.during = [&] { Stage::Complete(scene.done, row.given); };
      scene.Start();
      scene.stage.Drain();
      ExpectAnswer(scene, row);
    }
  }
}

TEST_P(AsyncCallTest, PendingIsNoAnswerToComplete) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  Stage::Complete(scene.done, {BERTH_PENDING, {"still"}});
  scene.stage.Drain();
  EXPECT_THAT(scene.answers, ElementsAre(scene.Running("still")));
  EXPECT_THAT(scene.stage.Faults(), ElementsAre(scene.Fault("bad code")));
}

TEST_P(AsyncCallTest, OnlyBindMaySkip) {
  for (const bool later : {false, true}) {
    Scene scene(GetParam());
    scene.returns = {later ? BERTH_PENDING : BERTH_SKIP, {"not mine"}};
    scene.Start();
    Stage::Complete(scene.done, {BERTH_SKIP, {"not mine"}});
    scene.stage.Drain();
    if (GetParam() == Point::kBind) {
      EXPECT_THAT(scene.answers, ElementsAre("Skip: not mine"));
      EXPECT_THAT(scene.stage.Faults(), IsEmpty());
    } else {
      EXPECT_THAT(scene.answers, ElementsAre(scene.Running("not mine")));
      EXPECT_THAT(scene.stage.Faults(), ElementsAre(scene.Fault("bad code")));
    }
  }
}

TEST_P(AsyncCallTest, KeepsSeveralReasons) {
  Scene scene(GetParam());
  scene.returns = {BERTH_UNSCHEDULABLE, {"a", "b"}};
  scene.Start();
  EXPECT_THAT(scene.answers, ElementsAre("Unschedulable: a, b"));
}

TEST_P(AsyncCallTest, TheFirstCompletionCounts) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  Stage::Complete(scene.done, {BERTH_ERROR, {"first"}});
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.stage.Drain();
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.stage.Drain();
  EXPECT_THAT(scene.answers, ElementsAre(scene.Running("first")));
}

// A promise that is completed long after its call was answered has no effect on later calls either.
TEST_P(AsyncCallTest, LateCompletionsHaveNoEffect) {
  Scene scene(GetParam());
  std::deque<berth_done> old;
  for (int i = 0; i < 1000; ++i) {
    scene.returns = {BERTH_SUCCESS};
    scene.Start();
    old.push_back(scene.done);
    scene.returns = {BERTH_PENDING};
    scene.Start();
    for (berth_done done : old) Stage::Complete(done, {BERTH_ERROR, {"late"}});
    if (old.size() > 100) old.pop_front();
    Stage::Complete(scene.done, {BERTH_SUCCESS});
    scene.stage.Drain();
  }
  EXPECT_EQ(scene.answers.size(), 2000U);
  EXPECT_THAT(scene.answers, ::testing::Each("Success"));
}

TEST_P(AsyncCallTest, AQuarantinedPluginIsNotCalled) {
  Scene scene(GetParam());
  scene.stage.Quarantine("puppet.A");
  scene.Start();
  ASSERT_EQ(scene.answers.size(), 1U);
  EXPECT_THAT(scene.answers[0], HasSubstr(scene.Running("in quarantine")));
  EXPECT_EQ(scene.shown, nullptr);
}

TEST_P(AsyncCallTest, PassesTheBindingToThePlugin) {
  Scene scene(GetParam());
  scene.stage.calls().deadline_ns = 5 * kSecond;
  scene.Start();
  EXPECT_EQ(scene.shown,
            scene.binding->AbiFor(
                0, GetParam() == Point::kBind ? BindingCall::kBind : BindingCall::kPreBind));
  EXPECT_EQ(Text(scene.shown->pod->meta->name), "p");
  EXPECT_EQ(*static_cast<int64_t*>(scene.shown->slots[0]), 7);
  EXPECT_EQ(scene.shown->call_deadline_ns, scene.stage.clock().NowNs() + 5 * kSecond);
  EXPECT_EQ(scene.shown->completion_deadline_ns, scene.stage.clock().NowNs() + 5 * kSecond);
}

TEST_P(AsyncCallTest, AnswerCountsEvenIfPluginIsQuarantinedMeanwhile) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  scene.stage.Quarantine("puppet.A");
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.stage.Drain();
  EXPECT_THAT(scene.answers, ElementsAre("Success"));
}

// --- deadlines -----------------------------------------------------------------------------------

TEST_P(AsyncCallTest, ALateCallIsCancelledAndThenFails) {
  Scene scene(GetParam());
  scene.stage.calls().deadline_ns = 10 * kSecond;
  scene.returns = {BERTH_PENDING};
  scene.Start();
  scene.stage.AdvanceTime(10 * kSecond - 1);
  EXPECT_FALSE(BERTH_IS_CANCELLED(scene.shown));
  scene.stage.AdvanceTime(1);
  EXPECT_TRUE(BERTH_IS_CANCELLED(scene.shown));
  EXPECT_FALSE(scene.binding->cancelled());
  scene.stage.AdvanceTime(10 * kSecond - 1);
  EXPECT_THAT(scene.answers, IsEmpty());
  EXPECT_THAT(scene.stage.Faults(), IsEmpty());
  scene.stage.AdvanceTime(1);
  EXPECT_THAT(scene.answers, ElementsAre(scene.Running("no answer within 20s")));
  EXPECT_THAT(scene.stage.Faults(), ElementsAre(scene.Fault("deadline")));
  EXPECT_EQ(scene.stage.timers().size(), 0U);
}

TEST_P(AsyncCallTest, AnAnswerAfterTheFirstDeadlineCounts) {
  for (const berth_code code : {BERTH_SUCCESS, BERTH_CANCELLED}) {
    Scene scene(GetParam());
    scene.stage.calls().deadline_ns = 10 * kSecond;
    scene.returns = {BERTH_PENDING};
    scene.Start();
    scene.stage.AdvanceTime(15 * kSecond);
    Stage::Complete(scene.done, {code});
    scene.stage.AdvanceTime(60 * kSecond);
    EXPECT_THAT(scene.answers,
                ElementsAre(code == BERTH_SUCCESS ? "Success"
                                                  : scene.Running("plugin returned Cancelled")));
    EXPECT_THAT(scene.stage.Faults(), IsEmpty());
  }
}

TEST_P(AsyncCallTest, PluginsOwnDeadlineReplacesThatOfTheProcess) {
  // No deadline, a later one and an earlier one of the process.
  for (const int64_t process_ns : {int64_t{0}, 100 * kSecond, kSecond}) {
    SCOPED_TRACE(process_ns);
    Scene scene(GetParam(), "puppet.A", 10 * kSecond);
    scene.stage.calls().deadline_ns = process_ns;
    scene.returns = {BERTH_PENDING};
    scene.Start();
    EXPECT_EQ(scene.shown->completion_deadline_ns, scene.stage.clock().NowNs() + 10 * kSecond);
    scene.stage.AdvanceTime(10 * kSecond - 1);
    EXPECT_FALSE(BERTH_IS_CANCELLED(scene.shown));
    scene.stage.AdvanceTime(1);
    EXPECT_TRUE(BERTH_IS_CANCELLED(scene.shown));
    scene.stage.AdvanceTime(10 * kSecond);
    EXPECT_THAT(scene.answers, ElementsAre(scene.Running("no answer within 20s")));
    EXPECT_THAT(scene.stage.Faults(), ElementsAre(scene.Fault("deadline")));
  }
}

TEST_P(AsyncCallTest, WithoutDeadlineTheCallMayTakeForEver) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  scene.stage.AdvanceTime(1'000'000 * kSecond);
  EXPECT_FALSE(BERTH_IS_CANCELLED(scene.shown));
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.stage.Drain();
  EXPECT_THAT(scene.answers, ElementsAre("Success"));
}

// The contract promises pod, node and state until the plugin has answered.
TEST_P(AsyncCallTest, FailedCallKeepsItsBindingUntilPluginAnswers) {
  Scene scene(GetParam());
  scene.stage.calls().deadline_ns = kSecond;
  scene.returns = {BERTH_PENDING};
  scene.Start();
  scene.stage.AdvanceTime(3 * kSecond);
  EXPECT_EQ(scene.answers.size(), 1U);
  EXPECT_EQ(scene.binding->TakeState(), nullptr);
  scene.binding.reset();
  EXPECT_EQ(Stage::slots(), 1);
  EXPECT_EQ(*static_cast<int64_t*>(scene.shown->slots[0]), 7);
  EXPECT_EQ(Text(scene.shown->pod->meta->name), "p");
  EXPECT_EQ(Text(scene.shown->node_name), "n1");
  EXPECT_TRUE(BERTH_IS_CANCELLED(scene.shown));
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  EXPECT_EQ(Stage::slots(), 1);  // Only the scheduling thread may destroy it.
  scene.stage.Drain();
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_EQ(scene.answers.size(), 1U);
  Stage::Complete(scene.done, {BERTH_SUCCESS});
}

TEST_P(AsyncCallTest, UnansweredCallKeepsItsBindingWithThePlan) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  scene.call.reset();
  scene.binding.reset();
  EXPECT_EQ(Stage::slots(), 1);
  scene.stage.DestroyPlan();
  EXPECT_EQ(Stage::slots(), 0);
  EXPECT_THAT(scene.answers, IsEmpty());
}

// quiesce() is the last function in which a plugin may call its host.
TEST(AsyncCall, CompletedInQuiesce) {
  Stage stage;
  berth_done pending = {};
  Puppet& puppet = stage.Add("puppet.A", {Point::kBind});
  puppet.bind = [&](const berth_binding&, berth_done done, berth_status*) {
    pending = done;
    return BERTH_PENDING;
  };
  puppet.quiesce = [&] { Stage::Complete(pending, {BERTH_ERROR, {"stopped"}}); };
  puppet.has_slot = true;
  stage.Build();
  auto binding = stage.MakeBinding();
  {
    AsyncCall call(*binding, stage.calls(), 0, Point::kBind, [](const PluginStatus&) {
      ADD_FAILURE() << "answered after the call was dropped";
    });
    call.Start();
  }
  binding.reset();
  EXPECT_EQ(Stage::slots(), 1);
  stage.DestroyPlan();
  EXPECT_EQ(Stage::slots(), 0);
  stage.Drain();
}

TEST_P(AsyncCallTest, AnswerInInboxWhenThePlanIsDestroyed) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.call.reset();
  scene.binding.reset();
  EXPECT_EQ(Stage::slots(), 1);
  scene.stage.DestroyPlan();
  EXPECT_EQ(Stage::slots(), 0);
  scene.stage.Drain();
  EXPECT_THAT(scene.answers, IsEmpty());
}

TEST_P(AsyncCallTest, ACallDroppedBeforeItsAnswerNotifiesNobody) {
  Scene scene(GetParam());
  scene.stage.calls().deadline_ns = kSecond;
  scene.returns = {BERTH_PENDING};
  scene.Start();
  scene.call.reset();
  EXPECT_EQ(scene.stage.timers().size(), 0U);
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.stage.AdvanceTime(10 * kSecond);
  EXPECT_THAT(scene.answers, IsEmpty());
  EXPECT_THAT(scene.stage.Faults(), IsEmpty());
}

TEST_P(AsyncCallTest, CallDroppedWhileItsAnswerIsInInbox) {
  Scene scene(GetParam());
  scene.returns = {BERTH_PENDING};
  scene.Start();
  Stage::Complete(scene.done, {BERTH_SUCCESS});
  scene.call.reset();
  scene.stage.Drain();
  EXPECT_THAT(scene.answers, IsEmpty());
  EXPECT_EQ(scene.open(), 0U);
}

// The pod may have been assigned to another node meanwhile.
TEST(AsyncCall, AFailedCallMayNotBind) {
  for (const bool is_dropped : {false, true}) {
    TestClock clock;
    EmbeddedCluster cluster({.clock = clock, .max_events = 0, .serve = nullptr});
    Stage stage;
    stage.services().client = &cluster;
    stage.services().inbox = &stage.inbox();
    stage.calls().deadline_ns = kSecond;
    const berth_binding* shown = nullptr;
    berth_done promise = {};
    Puppet& puppet = stage.Add("puppet.A", {Point::kBind});
    puppet.bind = [&](const berth_binding& binding, berth_done done, berth_status*) {
      shown = &binding;
      promise = done;
      return BERTH_PENDING;
    };
    stage.Build();
    auto binding = stage.MakeBinding();
    auto call = std::make_unique<AsyncCall>(*binding, stage.calls(), 0, Point::kBind,
                                            [](const PluginStatus&) {});
    call->Start();
    berth_code early = BERTH_BUG;
    std::thread([&] { early = puppet.api->bind(puppet.host, shown, promise); }).join();
    EXPECT_EQ(early, BERTH_PENDING);  // The request waits in the inbox.
    if (is_dropped) {
      call.reset();
    } else {
      stage.clock().Advance(kSecond);
      stage.timers().RunDue(stage.clock().NowNs());
      stage.clock().Advance(kSecond);
      stage.timers().RunDue(stage.clock().NowNs());
    }
    EXPECT_EQ(puppet.api->bind(puppet.host, shown, promise), BERTH_CONFLICT);
    stage.Drain();
    EXPECT_EQ(cluster.waiting(), 0U);  // No request reached the cluster.
    EXPECT_EQ(stage.HostOf("puppet.A").promises()->open_count(), 0U);
  }
}

}  // namespace
}  // namespace berth::host
