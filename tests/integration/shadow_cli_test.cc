// `berth shadow`: the errors that end it before it connects.
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

class ShadowCliTest : public CliTest {
 protected:
  Outcome RunWith(std::vector<std::string> more) {
    more.insert(more.begin(), "shadow");
    return Run(more);
  }
};

TEST_F(ShadowCliTest, RefusesInvalidValues) {
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--duration", "10"}, "--duration"},
      {{"--duration", "0s"}, "--duration: expected a duration above 0, found 0s"},
      {{"--window=-1s"}, "--window: expected a duration above 0, found -1s"},
      {{"--percentage-of-nodes-to-score", "101"},
       "--percentage-of-nodes-to-score: expected a whole number from 0 to 100 in decimal digits, "
       "found \"101\""},
      {{"--percentage-of-nodes-to-score=-1"},
       "--percentage-of-nodes-to-score: expected a whole number from 0 to 100 in decimal digits, "
       "found \"-1\""},
  };
  for (const Case& each : cases) {
    const Outcome run = RunWith(each.args);
    EXPECT_EQ(run.exit_status, 2) << each.message;
    EXPECT_THAT(run.err, HasSubstr(each.message));
  }
}

TEST_F(ShadowCliTest, RefusesAMissingKubeconfig) {
  const Outcome run = RunWith({"--kubeconfig", "/nowhere/kubeconfig"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("/nowhere/kubeconfig"));
}

}  // namespace
}  // namespace berth::host
