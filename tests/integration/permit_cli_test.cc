// Tests of what simulate, run and explain report about pods that wait on Permit. acme.Waiter makes
// every pod wait for a minute.
#include <signal.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PermitCliTest : public CliTest {
 protected:
  std::string Cluster() {
    return File("cluster.yaml", kNodes + PodOf("web", "1") + PodOf("db", "1"));
  }
  std::string Profile() {
    return File("waiter.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"acme.Waiter\"\n"
                "library = \"" BERTH_WAITER "\"\n");
  }
};

// The timeout of each pod requeues the other one, so that there is always a pod to be tried.
TEST_F(PermitCliTest, SimulateEndsWithoutProgress) {
  const Outcome json =
      Run({"simulate", "--cluster", Cluster(), "--profile", Profile(), "--output", "json"});
  EXPECT_EQ(json.exit_status, 1) << json.err;
  EXPECT_EQ(json.json()["summary"]["end"], "NoProgress");
  EXPECT_EQ(json.json()["placements"].size(), 2U);
  const Outcome table = Run({"simulate", "--cluster", Cluster(), "--profile", Profile()});
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("\nEnded without progress: "), HasSubstr("\nPlaced 0 of 2 pods"),
                    HasSubstr("\nOne cause is the plugin acme.Waiter without EventsToRegister: ")));
}

TEST_F(PermitCliTest, SimulateEndsWhenNoPodCanBeRetried) {
  const Outcome run = Run({"simulate", "--cluster", Cluster(), "--output", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.json()["summary"]["end"], "AtRest");
  EXPECT_EQ(run.json()["summary"]["placed"], 2);
}

// A request to stop that comes before the first attempt.
class StopAtOnce final : public ProcessRequests {
 public:
  void OnStop(std::function<void(int signal)> stop) override { stop(SIGINT); }
};

TEST_F(PermitCliTest, AStopEndsSimulate) {
  requests_source_ = [](const std::function<void()>& reload) {
    EXPECT_FALSE(reload) << "simulate reads its files once";
    return std::make_unique<StopAtOnce>();
  };
  const Outcome run = Run({"simulate", "--cluster", Cluster(), "--output", "json"});
  EXPECT_EQ(run.exit_status, 130) << run.err;
  EXPECT_EQ(run.json()["summary"]["end"], "Stopped");
  EXPECT_EQ(run.json()["summary"]["undecided"], 2);
  EXPECT_EQ(run.json()["placements"][0]["code"], "Undecided");
  const Outcome table = Run({"simulate", "--cluster", Cluster()});
  EXPECT_THAT(table.out, AllOf(HasSubstr("\nStopped before the end.\n"),
                               HasSubstr("\nPlaced 0 of 2 pods, 2 not decided")));
}

TEST_F(PermitCliTest, RunInVirtualTimeEndsWithoutProgress) {
  const Outcome run =
      Run({"replay", "--time", "virtual", "--cluster", Cluster(), "--profile", Profile()});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.err, AllOf(StartsWith("Ended without progress: "), HasSubstr("2 pending"),
                             HasSubstr("\nOne cause is the plugin acme.Waiter without ")));
}

TEST_F(PermitCliTest, ExplainTriesPermit) {
  const std::vector<std::string> args = {"explain", "--cluster", Cluster(), "--profile",
                                         Profile(), "--pod",     "web"};
  std::vector<std::string> as_json = args;
  as_json.insert(as_json.end(), {"--output", "json"});
  const Outcome json = Run(as_json);
  EXPECT_EQ(json.exit_status, 1) << json.err;
  EXPECT_EQ(json.json()["code"], "Wait");
  EXPECT_EQ(json.json()["waits"], (Json{{"acme.Waiter", "1m0s"}}));
  EXPECT_THAT(json.json()["feasible"], ElementsAre("a", "b"));
  EXPECT_THAT(Run(args).out, StartsWith("default/web gets a place on b, and waits on Permit for "
                                        "acme.Waiter (up to 1m0s) before it is bound.\n"));
}

}  // namespace
}  // namespace berth::host
