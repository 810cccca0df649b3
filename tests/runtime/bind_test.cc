// Bind, plugin by plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/run_bind.h"
#include "tests/runtime/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// puppet.A to puppet.C: each is asked when "A" is in the log.
class BindRunTest : public ::testing::Test {
 protected:
  // What each answers; one that is pending is completed by the test.
  void Cast(std::initializer_list<Said> answers) {
    char name = 'A';
    for (const Said& said : answers) {
      stage_.Add(std::string("puppet.") + name, {Point::kBind}).bind =
          [this, name, said](const berth_binding&, berth_done* done, berth_status* status) {
            stage_.log.emplace_back(1, name);
            done_ = done;
            return Give(said, status);
          };
      ++name;
    }
    stage_.Build();
    binding_ = stage_.MakeBinding();
  }
  void Start() {
    run_ = std::make_unique<BindRun>(*binding_, stage_.calls(), [this](const PluginStatus& status) {
      stage_.log.push_back(TextOf(status) + " by " + status.plugin);
      run_.reset();  // As an owner may do.
    });
    run_->Start();
  }
  void Answer(const Said& said = {}) {
    Stage::Complete(done_, said);
    stage_.Drain();
  }
  std::vector<std::string> TakeLog() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  berth_done* done_ = nullptr;
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<BindRun> run_;
};

TEST_F(BindRunTest, TheFirstThatDoesNotSkipCounts) {
  Cast({{BERTH_SKIP}, {BERTH_SUCCESS}, {BERTH_ERROR}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "Success by puppet.B"));
}

TEST_F(BindRunTest, AFailureEndsIt) {
  Cast({{BERTH_ERROR, {"boom"}}, {BERTH_SUCCESS}});
  Start();
  EXPECT_THAT(TakeLog(),
              ElementsAre("A", "Error: running Bind plugin \"puppet.A\": boom by puppet.A"));
}

TEST_F(BindRunTest, ARefusalEndsIt) {
  Cast({{BERTH_UNSCHEDULABLE, {"a", "b"}}, {BERTH_SUCCESS}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "Unschedulable: a, b by puppet.A"));
}

TEST_F(BindRunTest, SkippedLater) {
  Cast({{BERTH_PENDING}, {BERTH_PENDING}});
  Start();
  Answer({BERTH_SKIP});
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B"));
  Answer({BERTH_SUCCESS});
  EXPECT_THAT(TakeLog(), ElementsAre("Success by puppet.B"));
}

TEST_F(BindRunTest, WhoSkippedIsNotHeardAnyMore) {
  Cast({{BERTH_PENDING}, {BERTH_PENDING}});
  Start();
  berth_done* first = done_;
  Answer({BERTH_SKIP});
  Stage::Complete(first, {BERTH_SUCCESS});
  stage_.Drain();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B"));
  Answer({BERTH_ERROR, {"boom"}});
  EXPECT_THAT(TakeLog(), ElementsAre("Error: running Bind plugin \"puppet.B\": boom by puppet.B"));
}

TEST_F(BindRunTest, AllSkip) {
  Cast({{BERTH_SKIP, {"not a"}}, {BERTH_SKIP}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "Error: all Bind plugins skipped the pod by "));
}

TEST_F(BindRunTest, AllSkipAndTheLastSaysWhy) {
  Cast({{BERTH_SKIP, {"not a"}}, {BERTH_SKIP, {"not b", "never"}}});
  Start();
  EXPECT_THAT(TakeLog(), ElementsAre("A", "B", "Error: not b, never by "));
}

TEST_F(BindRunTest, AQuarantinedPluginEndsIt) {
  Cast({{BERTH_SKIP}, {BERTH_SUCCESS}, {BERTH_SUCCESS}});
  stage_.Quarantine("puppet.B");
  Start();
  ASSERT_EQ(stage_.log.size(), 2U);
  EXPECT_THAT(stage_.log[1],
              ::testing::StartsWith("Error: running Bind plugin \"puppet.B\": in quarantine"));
}

TEST_F(BindRunTest, DroppedItCallsNobodyAnyMore) {
  Cast({{BERTH_PENDING}, {BERTH_SUCCESS}});
  Start();
  run_.reset();
  Answer({BERTH_SKIP});
  EXPECT_THAT(TakeLog(), ElementsAre("A"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

// Bindings are on their way while others begin.
TEST_F(BindRunTest, SeveralAtATime) {
  Cast({{BERTH_PENDING}});
  std::vector<std::unique_ptr<Binding>> bindings;
  std::vector<std::unique_ptr<BindRun>> runs;
  std::vector<berth_done*> dones;
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
  EXPECT_EQ(log[0], "99 Unschedulable");
  EXPECT_EQ(log[99], "0 Success");
}

}  // namespace
}  // namespace berth::host
