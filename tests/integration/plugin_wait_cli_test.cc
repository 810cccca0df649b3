// Tests of when `berth simulate` and `berth replay` end with a plugin that has timers and threads.
// acme.Later lets pods pass later, or never.
#include <chrono>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PluginWaitCliTest : public CliTest {
 protected:
  // Returns the arguments of a command over two pods. `args`: a table in TOML, of acme.Later.
  std::vector<std::string> With(std::vector<std::string> command, const std::string& args,
                                const std::string& point = "PreEnqueue") {
    const std::string cluster = File("cluster.yaml", kNodes + PodOf("web", "1") + PodOf("db", "1"));
    const std::string profile = File("later.toml",
                                     "extends = \"default\"\n[[plugins]]\nname = \"acme.Later\"\n"
                                     "library = \"" BERTH_TEST_PLUGIN_DIR
                                     "/libtest_later.so\"\n"
                                     "points = [\"" +
                                         point + "\", \"Score\"]\nargs = " + args + "\n");
    command.insert(command.end(), {"--cluster", cluster, "--profile", profile});
    return command;
  }
  Json Simulate(const std::string& args, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = With({"simulate", "--output", "json"}, args);
    command.insert(command.end(), more.begin(), more.end());
    const Outcome run = Run(command);
    EXPECT_EQ(run.err, "");
    Json summary = run.json()["summary"];
    EXPECT_EQ(run.exit_status, summary["placed"] == 2 ? 0 : 1);
    return summary;
  }
  // Each reading of the clock is a second later.
  void LetTimePassQuickly() {
    steady_ns_ = [now_ns = int64_t{0}]() mutable { return now_ns += 1'000'000'000; };
  }
  void UseRealTime() {
    steady_ns_ = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  }
};

TEST_F(PluginWaitCliTest, SimulateGoesOnForTheTimersOfPlugins) {
  const Json summary = Simulate("{opensMs = 5000}");
  EXPECT_EQ(summary["end"], "AtRest");
  EXPECT_EQ(summary["placed"], 2);
  EXPECT_FALSE(summary.contains("waiting"));
}

TEST_F(PluginWaitCliTest, TimersCountAlsoForUnschedulablePods) {
  const Outcome run =
      Run(With({"simulate", "--output", "json"}, "{opensMs = 3000000}", "PreFilter"));
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.json()["summary"]["placed"], 2);
  EXPECT_EQ(run.json()["summary"]["end"], "AtRest");
}

// A pod that waits for a plugin is pending, so that the plugin's timers and threads count for it.
TEST_F(PluginWaitCliTest, SimulateGoesOnForAwaitingPods) {
  for (const char* point : {"PreFilter", "PreScore"}) {
    for (const char* args :
         {"{awaits = true, opensMs = 3000000}", "{awaits = true, threadMs = 20}"}) {
      SCOPED_TRACE(std::string(point) + " " + args);
      const Outcome run = Run(With({"simulate", "--output", "json"}, args, point));
      EXPECT_EQ(run.exit_status, 0) << run.err;
      EXPECT_EQ(run.json()["summary"]["placed"], 2);
      EXPECT_EQ(run.json()["summary"]["end"], "AtRest");
    }
  }
}

TEST_F(PluginWaitCliTest, SimulateSaysWhichPluginAPodAwaits) {
  const Outcome run = Run(With({"simulate"}, "{awaits = true}", "PreFilter"));
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("pod is waiting for the plugin acme.Later: not yet"));
  EXPECT_THAT(run.out, Not(HasSubstr("EventsToRegister")));
}

TEST_F(PluginWaitCliTest, ExplainSaysWhichPluginAPodAwaits) {
  const Outcome before = Run(With({"explain", "--pod", "web"}, "{awaits = true}", "PreFilter"));
  EXPECT_EQ(before.exit_status, 1);
  EXPECT_THAT(before.out,
              AllOf(HasSubstr("has no node yet: pod is waiting for the plugin acme.Later: not yet"),
                    HasSubstr("\nThe pod is tried again when acme.Later activates it")));
  const Outcome after = Run(With({"explain", "--pod", "web"}, "{}", "PreScore"));
  EXPECT_THAT(after.out, AllOf(HasSubstr("pod is waiting for the plugin acme.Later"),
                               HasSubstr("\nFits on 2 nodes, not scored yet:\n")));
}

TEST_F(PluginWaitCliTest, SimulateEndsAtTheLimitOfPeriodicTimers) {
  const Json summary = Simulate("{everyMs = 10000}");
  EXPECT_EQ(summary["end"], "LimitReached");
  EXPECT_EQ(summary["refused"], 2);
  EXPECT_EQ(summary["waiting"], Json::parse(R"({"timers": {"acme.Later": 1}})"));
  const Outcome table = Run(With({"simulate"}, "{everyMs = 10000}"));
  EXPECT_EQ(table.exit_status, 1);
  EXPECT_THAT(table.out, AllOf(HasSubstr("\nEnded at a limit: "), HasSubstr("--max-timer-wait"),
                               HasSubstr("\nPlaced 0 of 2 pods"),
                               HasSubstr("\nStill waiting: 1 timer of acme.Later.\n")));
}

TEST_F(PluginWaitCliTest, MaxTimerWaitMovesTheLimit) {
  constexpr const char* kInTwoHours = "{opensMs = 7200000}";
  EXPECT_EQ(Simulate(kInTwoHours)["end"], "LimitReached");
  EXPECT_EQ(Simulate(kInTwoHours, {"--max-timer-wait", "2h"})["placed"], 2);
  EXPECT_EQ(Simulate("{opensMs = 5000}", {"--max-timer-wait", "4s"})["placed"], 0);
}

TEST_F(PluginWaitCliTest, EqualRunsGiveEqualOutput) {
  for (const char* args : {"{opensMs = 5000}", "{everyMs = 10000}", "{threadMs = 20}"}) {
    const std::vector<std::string> command = With(
        {"replay", "--time", "virtual", "--max-thread-wait", "100h", "--output", "json"}, args);
    const Outcome first = Run(command);
    const Outcome second = Run(command);
    EXPECT_EQ(first.out, second.out) << args;
    EXPECT_EQ(first.err, second.err) << args;
  }
}

TEST_F(PluginWaitCliTest, SimulateWaitsForAnnouncedThreads) {
  const Json summary = Simulate("{threadMs = 20}");
  EXPECT_EQ(summary["end"], "AtRest");
  EXPECT_EQ(summary["placed"], 2);
  EXPECT_FALSE(summary.contains("waiting"));
}

TEST_F(PluginWaitCliTest, ThreadsThatAnnounceNothingDoNotCount) {
  const Json summary = Simulate("{threadMs = 600000, announces = false}");
  EXPECT_EQ(summary["end"], "AtRest");
  EXPECT_EQ(summary["placed"], 0);
  EXPECT_FALSE(summary.contains("waiting"));
}

TEST_F(PluginWaitCliTest, SimulateGivesUpThreadsThatHang) {
  LetTimePassQuickly();
  const Json summary = Simulate("{hangs = true}", {"--max-thread-wait", "3s"});
  EXPECT_EQ(summary["end"], "LimitReached");
  EXPECT_EQ(summary["waiting"], Json::parse(R"({"threads": {"acme.Later": 1}})"));
}

TEST_F(PluginWaitCliTest, NothingIsAwaitedWithoutPendingPods) {
  const Json summary = Simulate("{everyMs = 10000, hangs = true, rejects = false}");
  EXPECT_EQ(summary["end"], "AtRest");
  EXPECT_EQ(summary["placed"], 2);
  EXPECT_FALSE(summary.contains("waiting"));
}

// Neither a timer without a delay nor a function that posts itself lets a run go on for ever.
TEST_F(PluginWaitCliTest, PluginsThatCallThemselvesEndAtTheLimit) {
  const Json summary = Simulate("{everyMs = 0}", {"--max-timer-wait", "5s"});
  EXPECT_EQ(summary["end"], "LimitReached");
  EXPECT_EQ(summary["waiting"]["timers"]["acme.Later"], 1);
}

TEST_F(PluginWaitCliTest, ReplayInVirtualTimeGoesOnForTimers) {
  const Outcome run = Run(With({"replay", "--time", "virtual"}, "{opensMs = 5000}"));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("2 bound, 0 pending"), HasSubstr(" in 5s"),
                             Not(HasSubstr("Still waiting"))));
}

TEST_F(PluginWaitCliTest, ReplayEndsAtTheLimitOfPeriodicTimers) {
  const Outcome run = Run(With({"replay", "--time", "virtual"}, "{everyMs = 10000}"));
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("Ended at a limit: "), HasSubstr("2 pending"),
                             HasSubstr(" in 1h0m0s"),
                             HasSubstr("\nStill waiting: 1 timer of acme.Later.\n")));
}

TEST_F(PluginWaitCliTest, RealTimeReplayAwaitsTimersAndThreads) {
  UseRealTime();
  for (const char* args : {"{opensMs = 20}", "{threadMs = 20}"}) {
    const Outcome run = Run(With({"replay"}, args));
    EXPECT_EQ(run.exit_status, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("2 bound, 0 pending")) << args;
  }
}

TEST_F(PluginWaitCliTest, ReplayInRealTimeEndsAtItsLimits) {
  UseRealTime();
  const Outcome timers = Run(With({"replay", "--max-timer-wait", "50ms"}, "{everyMs = 20}"));
  EXPECT_EQ(timers.exit_status, 1);
  EXPECT_THAT(timers.err, AllOf(HasSubstr("Ended at a limit: "), HasSubstr("1 timer of acme.")));
  const Outcome threads = Run(With({"replay", "--max-thread-wait", "50ms"}, "{hangs = true}"));
  EXPECT_EQ(threads.exit_status, 1);
  EXPECT_THAT(threads.err, AllOf(HasSubstr("Ended at a limit: "), HasSubstr("1 thread of acme.")));
}

TEST_F(PluginWaitCliTest, LimitsAreDurationsAboveZero) {
  for (const char* option : {"--max-timer-wait", "--max-thread-wait"}) {
    for (const char* command : {"simulate", "replay"}) {
      const Outcome run = Run(With({command, option, "0s"}, "{}"));
      EXPECT_EQ(run.exit_status, 2) << command;
      EXPECT_THAT(run.err, HasSubstr("expected a duration above 0, found 0s")) << command;
    }
  }
}

}  // namespace
}  // namespace berth::host
