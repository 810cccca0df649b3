// `berth run --shadow`: the errors that end it before it connects.
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class RunShadowCliTest : public CliTest {
 protected:
  Outcome RunWith(std::vector<std::string> more) {
    more.insert(more.begin(), "run");
    return Run(more);
  }
};

TEST_F(RunShadowCliTest, RefusesFlagsThatDoNotBelongTogether) {
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const std::string unfit =
      ": expected no such flag with --shadow, which observes a real cluster, elects no leader and "
      "serves nothing\n";
  const std::string alone = ": expected --shadow with it, found a run that schedules pods";
  const std::vector<Case> cases = {
      {{"--shadow", "--embedded"}, "--embedded" + unfit},
      {{"--shadow", "--cluster", kSmall}, "--cluster" + unfit},
      {{"--shadow", "--events", "e.jsonl"}, "--events" + unfit},
      {{"--shadow", "--record", "r.jsonl"}, "--record" + unfit},
      {{"--shadow", "--time", "virtual"}, "--time virtual" + unfit},
      {{"--shadow", "--leader-elect=false"}, "--leader-elect" + unfit},
      {{"--shadow", "--http-address", "none"}, "--http-address" + unfit},
      {{"--duration", "1m"}, "--duration" + alone + "\n"},
      {{"--scheduler-name", "acme"},
       "--scheduler-name" + alone +
           "; to schedule the pods that name it, set schedulerName in a profile\n"},
      {{"--window", "1s"}, "--window" + alone + "\n"},
      {{"--percentage-of-nodes-to-score", "5"}, "--percentage-of-nodes-to-score" + alone + "\n"},
      {{"--embedded", "--cluster", kSmall, "--duration", "1m"}, "--duration" + alone + "\n"},
  };
  for (const Case& each : cases) {
    const Outcome run = RunWith(each.args);
    EXPECT_EQ(run.exit_status, 2) << each.message;
    EXPECT_EQ(run.err, "berth: " + each.message);
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(RunShadowCliTest, RefusesInvalidValues) {
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--duration", "10"}, "--duration"},
      {{"--duration", "0s"}, "--duration: expected a duration above 0, found 0s"},
      {{"--window=-1s"}, "--window: expected a duration above 0, found -1s"},
      {{"--percentage-of-nodes-to-score", "101"}, "--percentage-of-nodes-to-score"},
      {{"--percentage-of-nodes-to-score=-1"}, "--percentage-of-nodes-to-score"},
  };
  for (const Case& each : cases) {
    std::vector<std::string> args = {"--shadow"};
    args.insert(args.end(), each.args.begin(), each.args.end());
    const Outcome run = RunWith(args);
    EXPECT_EQ(run.exit_status, 2) << each.message;
    EXPECT_THAT(run.err, HasSubstr(each.message));
  }
}

TEST_F(RunShadowCliTest, RefusesAMissingKubeconfig) {
  const Outcome run = RunWith({"--shadow", "--kubeconfig", "/nowhere/kubeconfig"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("/nowhere/kubeconfig"));
}

}  // namespace
}  // namespace berth::host
