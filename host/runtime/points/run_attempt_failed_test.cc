#include "host/runtime/points/run_attempt_failed.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

std::string Show(const berth_failed_attempt& attempt) {
  std::string text = std::string(Text(attempt.pod->meta->name)) + " code " +
                     std::to_string(attempt.code) + " node '" + std::string(Text(attempt.node)) +
                     "' flags " + std::to_string(attempt.flags) + ": " +
                     std::string(Text(attempt.message)) + ";";
  for (const berth_str& name : Elements<berth_str>(attempt.plugins)) {
    text += " " + std::string(Text(name));
  }
  return text;
}

// AttemptFailed is called in quarantine too, so that the plugin's own state stays right.
TEST(RunAttemptFailedTest, TellsAllPluginsWhatIsKnown) {
  Stage stage;
  for (const char* name : {"puppet.A", "puppet.B"}) {
    stage.Add(name, {Point::kAttemptFailed}).attempt_failed =
        [&stage, name](const berth_failed_attempt& attempt) {
          stage.log.push_back(std::string(name) + " " + Show(attempt));
        };
  }
  stage.Add("puppet.C", {Point::kFilter});
  stage.Build();
  stage.Quarantine("puppet.B");
  const PodRef pod = stage.objects().Pod({.name = "p"});
  RunAttemptFailed(stage.plan(), {.pod = pod->view(),
                                  .code = BERTH_UNSCHEDULABLE,
                                  .node = "n1",
                                  .message = "no room",
                                  .plugins = {"puppet.C", "puppet.A"},
                                  .is_parked = true,
                                  .is_final = false});
  const std::string told = " p code " + std::to_string(BERTH_UNSCHEDULABLE) +
                           " node 'n1' flags 1: no room; puppet.C puppet.A";
  EXPECT_THAT(stage.log, ElementsAre("puppet.A" + told, "puppet.B" + told));
  stage.log.clear();
  RunAttemptFailed(stage.plan(), {.pod = pod->view(),
                                  .code = BERTH_ERROR,
                                  .node = "",
                                  .message = "boom",
                                  .plugins = {},
                                  .is_parked = false,
                                  .is_final = true});
  const std::string last = " p code 1 node '' flags 2: boom;";
  EXPECT_THAT(stage.log, ElementsAre("puppet.A" + last, "puppet.B" + last));
}

}  // namespace
}  // namespace berth::host
