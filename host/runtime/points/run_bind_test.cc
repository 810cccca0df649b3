// BindRun with several plugins.
#include "host/runtime/points/run_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// puppet.A to puppet.C; a call of puppet.A logs "A".
class BindRunTest : public ::testing::Test {
 protected:
  // `answers`: by plugin. The test completes those that are pending.
  void Cast(std::initializer_list<ScriptedAnswer> answers) {
    char name = 'A';
    for (const ScriptedAnswer& given : answers) {
      stage_.Add(std::string("puppet.") + name, {Point::kBind}).bind =
          [this, name, given](const berth_binding&, berth_done done, berth_status* status) {
            stage_.log.emplace_back(1, name);
            done_ = done;
            return Report(given, status);
          };
      ++name;
    }
    stage_.Build();
    binding_ = stage_.MakeBinding();
  }
  void Start() {
    run_ = std::make_unique<BindRun>(*binding_, stage_.calls(), [this](const PluginStatus& status) {
      stage_.log.push_back(TextOf(status) + " by " + stage_.PluginName(status.plugin));
      run_.reset();  // Owners may destroy the run in its callback.
    });
    run_->Start();
  }
  void Answer(const ScriptedAnswer& given = {}) {
    Stage::Complete(done_, given);
    stage_.Drain();
  }
  std::vector<std::string> TakeLog() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  berth_done done_ = {};
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<BindRun> run_;
};

TEST_F(BindRunTest, TheFirstPluginThatDoesNotSkipDecides) {
  Cast({{BERTH_SKIP}, {BERTH_SUCCESS}, {BERTH_ERROR}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "Success by puppet.B"));
}

TEST_F(BindRunTest, AFailureEndsTheRun) {
  Cast({{BERTH_ERROR, {"boom"}}, {BERTH_SUCCESS}});
  Start();
  EXPECT_THAT(TakeLog(),
              ElementsAre("A", "Error: running Bind plugin \"puppet.A\": boom by puppet.A"));
}

TEST_F(BindRunTest, ARejectionEndsTheRun) {
  Cast({{BERTH_UNSCHEDULABLE, {"a", "b"}}, {BERTH_SUCCESS}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "Unschedulable: a, b by puppet.A"));
}

TEST_F(BindRunTest, APendingPluginMaySkipLater) {
  Cast({{BERTH_PENDING}, {BERTH_PENDING}});
  Start();
  Answer({BERTH_SKIP});
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B"));
  Answer({BERTH_SUCCESS});
  EXPECT_THAT(TakeLog(), ElementsAre("Success by puppet.B"));
}

TEST_F(BindRunTest, IgnoresLaterAnswersOfAPluginThatSkipped) {
  Cast({{BERTH_PENDING}, {BERTH_PENDING}});
  Start();
  berth_done first = done_;
  Answer({BERTH_SKIP});
  Stage::Complete(first, {BERTH_SUCCESS});
  stage_.Drain();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B"));
  Answer({BERTH_ERROR, {"boom"}});
  EXPECT_THAT(TakeLog(), ElementsAre("Error: running Bind plugin \"puppet.B\": boom by puppet.B"));
}

TEST_F(BindRunTest, AllPluginsSkip) {
  Cast({{BERTH_SKIP, {"not a"}}, {BERTH_SKIP}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "Error: all Bind plugins skipped the pod by "));
}

TEST_F(BindRunTest, AllPluginsSkipAndLastGivesAReason) {
  Cast({{BERTH_SKIP, {"not a"}}, {BERTH_SKIP, {"not b", "never"}}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "Error: not b, never by "));
}

TEST_F(BindRunTest, AQuarantinedPluginEndsTheRun) {
  Cast({{BERTH_SKIP}, {BERTH_SUCCESS}, {BERTH_SUCCESS}});
  stage_.Quarantine("puppet.B");
  Start();
  ASSERT_EQ(stage_.log.size(), 2U);
  EXPECT_THAT(stage_.log[1],
              ::testing::StartsWith("Error: running Bind plugin \"puppet.B\": in quarantine"));
}

TEST_F(BindRunTest, ADroppedRunCallsNoFurtherPlugin) {
  Cast({{BERTH_PENDING}, {BERTH_SUCCESS}});
  Start();
  run_.reset();
  Answer({BERTH_SKIP});
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

// Runs start while others are in progress.
TEST_F(BindRunTest, SeveralRunsAtATime) {
  Cast({{BERTH_PENDING}});
  std::vector<std::unique_ptr<Binding>> bindings;
  std::vector<std::unique_ptr<BindRun>> runs;
  std::vector<berth_done> dones;
  for (int i = 0; i < 100; ++i) {
    bindings.push_back(stage_.MakeBinding());
    runs.push_back(std::make_unique<BindRun>(
        *bindings.back(), stage_.calls(), [this, i](const PluginStatus& status) {
          stage_.log.push_back(std::to_string(i) + " " + TextOf(status));
        }));
    runs.back()->Start();
    dones.push_back(done_);
  }
  TakeLog();
  for (size_t i = dones.size(); i-- > 0;) {
    Stage::Complete(dones[i], {i % 2 == 0 ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE});
  }
  stage_.Drain();
  const auto log = TakeLog();
  ASSERT_EQ(log.size(), 100U);
  EXPECT_EQ(log[0], "99 Unschedulable: puppet.A gave no reason");
  EXPECT_EQ(log[99], "0 Success");
}

}  // namespace
}  // namespace berth::host
