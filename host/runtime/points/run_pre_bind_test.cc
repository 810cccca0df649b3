// PreBindPreFlight, and PreBindRun with groups of parallel plugins.
#include "host/runtime/points/run_pre_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- pre-flight ----------------------------------------------------------------------------------

struct Flight {
  const char* description;
  ScriptedAnswer given;
  const char* status;
  const char* fault;  // Empty: no fault.
};

constexpr const char* kUnsupported =
    "Error: PreBindPreFlight puppet.A returned \"%s\", which is unsupported. It is supposed to "
    "return Success, Skip, or Error status";

TEST(RunPreBindPreFlightTest, EveryAnswer) {
  const Flight kTable[] = {
      {"success", {BERTH_SUCCESS}, "Success", ""},
      {"skip", {BERTH_SKIP}, "Skip", ""},
      {"failed",
       {BERTH_ERROR, {"boom", "bang"}},
       "Error: running PreBindPreFlight \"puppet.A\": boom, bang",
       ""},
      {"error without a reason",
       {BERTH_ERROR},
       "Error: running PreBindPreFlight \"puppet.A\": plugin returned Error",
       ""},
      {"unschedulable", {BERTH_UNSCHEDULABLE}, "Unschedulable", "puppet.A PreBind bad code"},
      {"unresolvable",
       {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE},
       "UnschedulableAndUnresolvable",
       "puppet.A PreBind bad code"},
      {"wait", {BERTH_WAIT}, "Wait", "puppet.A PreBind bad code"},
      {"pending", {BERTH_PENDING}, "Pending", "puppet.A PreBind bad code"},
      {"cancelled",
       {BERTH_CANCELLED},
       "Error: running PreBindPreFlight \"puppet.A\": plugin returned Cancelled",
       ""},
      {"threw",
       {BERTH_BUG, {"a bug"}},
       "Error: running PreBindPreFlight \"puppet.A\": a bug",
       "puppet.A PreBind exception"},
      {"unknown code",
       {12},
       "Error: running PreBindPreFlight \"puppet.A\": plugin returned Unknown",
       "puppet.A PreBind bad code"},
      {"a negative code",
       {-1},
       "Error: running PreBindPreFlight \"puppet.A\": plugin returned Unknown",
       "puppet.A PreBind bad code"},
  };
  for (const Flight& row : kTable) {
    SCOPED_TRACE(row.description);
    Stage stage;
    stage.Add("puppet.A", {Point::kPreBind}).pre_flight =
        [&row](const berth_binding&, berth_status* status) { return Report(row.given, status); };
    stage.Build();
    const auto binding = stage.MakeBinding();
    const PreFlightResult result = RunPreBindPreFlight(*binding);
    const bool unsupported = row.given.code > BERTH_ERROR && row.given.code <= BERTH_PENDING &&
                             row.given.code != BERTH_SKIP;
    std::string expected = row.status;
    if (unsupported) {
      expected = kUnsupported;
      expected.replace(expected.find("%s"), 2, row.status);
    }
    EXPECT_EQ(TextOf(result.status), expected);
    EXPECT_EQ(result.skipped.size(), row.given.code == BERTH_SKIP ? 1U : 0U);
    EXPECT_EQ(Join(stage.Faults(), ", "), row.fault);
  }
}

TEST(RunPreBindPreFlightTest, SkipsOnlyIfAllPluginsSkip) {
  struct Row {
    const char* description;
    berth_code a, b;  // Wait: the plugin has no pre-flight.
    berth_code status;
    std::vector<uint32_t> skipped;
  };
  const Row kTable[] = {
      {"both plugins succeed", BERTH_SUCCESS, BERTH_SUCCESS, BERTH_SUCCESS, {}},
      {"only the second plugin succeeds", BERTH_SKIP, BERTH_SUCCESS, BERTH_SUCCESS, {0}},
      {"only the first plugin succeeds", BERTH_SUCCESS, BERTH_SKIP, BERTH_SUCCESS, {1}},
      {"both plugins skip", BERTH_SKIP, BERTH_SKIP, BERTH_SKIP, {0, 1}},
      {"a plugin without pre-flight counts as success", BERTH_SKIP, BERTH_WAIT, BERTH_SUCCESS, {0}},
      {"after an error no plugin is skipped", BERTH_SKIP, BERTH_ERROR, BERTH_ERROR, {}},
  };
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.description);
    Stage stage;
    for (const auto& [name, code] : {std::pair("puppet.A", row.a), std::pair("puppet.B", row.b)}) {
      Puppet& puppet = stage.Add(name, {Point::kPreBind});
      if (code == BERTH_WAIT) continue;
      puppet.pre_flight = [code = code](const berth_binding&, berth_status*) { return code; };
    }
    stage.Build();
    const PreFlightResult result = RunPreBindPreFlight(*stage.MakeBinding());
    EXPECT_EQ(result.status.code, row.status);
    EXPECT_EQ(result.skipped, row.skipped);
  }
}

TEST(RunPreBindPreFlightTest, WithoutPluginsItSkips) {
  Stage stage;
  stage.Build();
  EXPECT_EQ(RunPreBindPreFlight(*stage.MakeBinding()).status.code, BERTH_SKIP);
}

// It also has to keep PreBind from being called without it, should the quarantine end before.
TEST(RunPreBindPreFlightTest, AQuarantinedPluginIsNotCalled) {
  Stage stage;
  stage.Add("puppet.A", {Point::kPreBind}).pre_flight = [](const berth_binding&, berth_status*) {
    return BERTH_SKIP;
  };
  stage.Build();
  stage.Quarantine("puppet.A");
  const PreFlightResult result = RunPreBindPreFlight(*stage.MakeBinding());
  EXPECT_EQ(result.status.code, BERTH_ERROR);
  EXPECT_THAT(result.status.Message(), HasSubstr("\"puppet.A\": in quarantine: "));
}

// --- groups --------------------------------------------------------------------------------------

// puppet.A to puppet.C; a call of puppet.A logs "A", and the test completes it.
class PreBindRunTest : public ::testing::Test {
 protected:
  // Upper case: a parallel plugin; lower case: one that runs alone. "Ab": A, then b.
  void Cast(std::string_view letters) {
    for (const char letter : letters) {
      const char name = static_cast<char>(std::toupper(letter));
      Puppet& puppet = stage_.Add(std::string("puppet.") + name, {Point::kPreBind});
      puppet.is_parallel = letter == name;
      puppet.pre_bind = [this, name](const berth_binding& binding, berth_done done,
                                     berth_status* status) {
        stage_.log.emplace_back(1, name);
        done_[name] = done;
        shown_[name] = &binding;
        const auto given = immediate_answers_.find(name);
        return given == immediate_answers_.end() ? BERTH_PENDING : Report(given->second, status);
      };
    }
    stage_.Build();
    binding_ = stage_.MakeBinding();
  }
  void Start(std::vector<uint32_t> skipped = {}) {
    run_ = std::make_unique<PreBindRun>(
        *binding_, stage_.calls(), std::move(skipped), [this](const PluginStatus& status) {
          stage_.log.push_back(TextOf(status));
          run_.reset();  // Owners may destroy the run in its callback.
        });
    run_->Start();
  }
  void Answer(char name, const ScriptedAnswer& given = {}) {
    Stage::Complete(done_[name], given);
    stage_.Drain();
  }
  std::vector<std::string> TakeLog() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  std::map<char, ScriptedAnswer> immediate_answers_;  // By plugin; the others are pending.
  std::map<char, berth_done> done_;
  std::map<char, const berth_binding*> shown_;
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<PreBindRun> run_;
};

TEST_F(PreBindRunTest, WithoutPluginsItSucceeds) {
  Cast("");
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("Success"));
}

TEST_F(PreBindRunTest, RunsPluginsInSequence) {
  Cast("ab");
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("B"));
  Answer('B');
  EXPECT_THAT(TakeLog(), ElementsAre("Success"));
}

TEST_F(PreBindRunTest, RunsParallelPluginsTogether) {
  Cast("ABC");
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "C"));
  Answer('C');
  Answer('A');
  EXPECT_THAT(TakeLog(), IsEmpty());
  Answer('B');
  EXPECT_THAT(TakeLog(), ElementsAre("Success"));
}

TEST_F(PreBindRunTest, AnswersMayComeWithinTheCall) {
  Cast("aBC");
  immediate_answers_ = {{'A', {}}, {'B', {}}, {'C', {}}};
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "C", "Success"));
}

TEST_F(PreBindRunTest, APluginThatRunsAloneEndsAGroup) {
  Cast("AbC");
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("B"));
  Answer('B');
  EXPECT_THAT(TakeLog(), ElementsAre("C"));
  Answer('C');
  EXPECT_THAT(TakeLog(), ElementsAre("Success"));
}

TEST_F(PreBindRunTest, SkippedPluginThatRunsAloneEndsAGroup) {
  Cast("AbC");
  Start({1});
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("C"));
  Answer('C');
  EXPECT_THAT(TakeLog(), ElementsAre("Success"));
}

TEST_F(PreBindRunTest, SkippedParallelPluginDoesNotSplitItsGroup) {
  Cast("ABC");
  Start({1});
  EXPECT_THAT(TakeLog(), ElementsAre("A", "C"));
}

TEST_F(PreBindRunTest, IfAllAreSkippedItSucceeds) {
  Cast("aBc");
  Start({0, 1, 2});
  EXPECT_THAT(TakeLog(), ElementsAre("Success"));
}

TEST_F(PreBindRunTest, AFailureEndsTheRun) {
  Cast("ab");
  Start();
  Answer('A', {BERTH_ERROR, {"boom"}});
  EXPECT_THAT(TakeLog(), ElementsAre("A", "Error: running PreBind plugin \"puppet.A\": boom"));
}

TEST_F(PreBindRunTest, ARejectionEndsTheRun) {
  Cast("ab");
  immediate_answers_['A'] = {BERTH_UNSCHEDULABLE, {"no"}};
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "Unschedulable: no"));
}

TEST_F(PreBindRunTest, ImmediateFailureStartsNoFurtherPluginOfGroup) {
  Cast("ABC");
  immediate_answers_['B'] = {BERTH_ERROR, {"boom"}};
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B"));
  EXPECT_TRUE(BERTH_IS_CANCELLED(shown_['A']));
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("Error: running PreBind plugin \"puppet.B\": boom"));
}

TEST_F(PreBindRunTest, FailureCancelsTheGroupAndWaitsForIt) {
  Cast("ABCd");
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "C"));
  Answer('A');
  Answer('C', {BERTH_ERROR, {"boom"}});
  EXPECT_THAT(TakeLog(), IsEmpty());
  EXPECT_FALSE(BERTH_IS_CANCELLED(shown_['A']));
  EXPECT_TRUE(BERTH_IS_CANCELLED(shown_['B']));
  Answer('B');
  EXPECT_THAT(TakeLog(), ElementsAre("Error: running PreBind plugin \"puppet.C\": boom"));
}

TEST_F(PreBindRunTest, ReportsFirstOfSeveralFailuresInProfileOrder) {
  Cast("AB");
  Start();
  TakeLog();
  Answer('B', {BERTH_ERROR, {"later in the profile"}});
  Answer('A', {BERTH_UNSCHEDULABLE, {"earlier"}});
  EXPECT_THAT(TakeLog(), ElementsAre("Unschedulable: earlier"));
}

TEST_F(PreBindRunTest, ACancelledBindingStartsNoFurtherGroup) {
  Cast("ab");
  Start();
  binding_->Cancel();
  EXPECT_TRUE(BERTH_IS_CANCELLED(shown_['A']));
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("Error: the binding was cancelled"));
}

TEST_F(PreBindRunTest, LateCancellationLeavesTheResultToTheAnswers) {
  Cast("a");
  Start();
  binding_->Cancel();
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("A", "Success"));
}

TEST_F(PreBindRunTest, EveryPluginHasItsOwnDeadline) {
  stage_.calls().deadline_ns = kSecond;
  Cast("ABc");
  Start();
  stage_.AdvanceTime(kSecond);
  EXPECT_TRUE(BERTH_IS_CANCELLED(shown_['A']) && BERTH_IS_CANCELLED(shown_['B']));
  Answer('A');
  Answer('B');
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "C"));
  EXPECT_FALSE(BERTH_IS_CANCELLED(shown_['C']));
  stage_.AdvanceTime(2 * kSecond);
  EXPECT_THAT(TakeLog(),
              ElementsAre("Error: running PreBind plugin \"puppet.C\": no answer within 2s"));
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.C PreBind deadline"));
  Answer('C');
}

TEST_F(PreBindRunTest, ADroppedRunCallsNoFurtherPlugin) {
  Cast("Ab");
  Start();
  run_.reset();
  binding_.reset();
  Answer('A');
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
}

}  // namespace
}  // namespace berth::host
