// A Simulation with a plugin that makes pods wait on Permit.
#include "host/process/replay/simulation.h"

#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/test_log.h"
#include "host/base/time_units.h"
#include "tests/harness/paths.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kNode = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "10"}}
)";

// Returns a pod that waits on Permit until three pods of its kind have a node.
std::string Member(const std::string& name) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", labels: {gang: g, gang-size: \"3\"}}\nspec: {}\n";
}

constexpr int64_t kNow = 1'768'032'000'000'000'000;

class SimulationTest : public ::testing::Test {
 protected:
  SimulationTest() {
    Use("PrioritySort", {Point::kQueueSort});
    Use("DefaultBinder", {Point::kBind});
  }

  void Use(const std::string& name, std::initializer_list<Point> points,
           nlohmann::json args = nullptr) {
    spec_.plugins.push_back({name, std::make_shared<const nlohmann::json>(std::move(args)), ""});
    for (const Point point : points) {
      spec_.points[static_cast<size_t>(point)].push_back({name, 1});
    }
  }
  // Without EventsToRegister, every event requeues the pods that the plugin rejected.
  void UseGangWithoutEvents() {
    Use("acme.Gang", {Point::kReserve, Point::kPermit, Point::kPostBind}, {{"timeoutMs", 60'000}});
  }

  void Open(const std::string& manifest) {
    auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
    for (const std::string& directory : {TestPluginDirectory(), DefaultPluginDirectory()}) {
      ASSERT_TRUE(plugins->AddDirectory(directory).ok()) << directory;
    }
    SchedulerOptions options;
    options.plugins = std::move(plugins);
    options.profiles = {spec_};
    simulation_ = std::make_unique<Simulation>(std::move(options), kNow, [] { return 0; });
    const Status added = simulation_->cluster().AddManifest("cluster", manifest);
    ASSERT_TRUE(added.ok()) << added.ToString();
    ASSERT_TRUE(simulation_->Start().ok());
  }
  Simulation::End Run() { return simulation_->Run(on_progress_, stop_); }

  // Returns "pod: node", or "pod: code message", for each outcome.
  std::vector<std::string> Outcomes() {
    std::vector<std::string> lines;
    for (const PodOutcome& outcome : simulation_->TakeOutcomes()) {
      std::string line(outcome.pod->name());
      line += ": ";
      line += outcome.node.empty() ? std::to_string(outcome.code) + " " + outcome.message
                                   : outcome.node;
      lines.push_back(std::move(line));
    }
    return lines;
  }

  std::function<void()> on_progress_;
  std::atomic<int> stop_ = 0;

 private:
  PlanSpec spec_;
  std::unique_ptr<Simulation> simulation_;
};

TEST_F(SimulationTest, EndsAtRestWhenAGroupIsComplete) {
  UseGangWithoutEvents();
  Open(kNode + Member("a") + Member("b") + Member("c"));
  EXPECT_EQ(Run(), Simulation::End::kAtRest);
  EXPECT_THAT(Outcomes(), ::testing::UnorderedElementsAre("a: n1", "b: n1", "c: n1"));
}

// Each timeout requeues the other pod, so that there is always a pod to be tried.
TEST_F(SimulationTest, EndsWithoutProgressWhenGroupCannotBeCompleted) {
  UseGangWithoutEvents();
  Open(kNode + Member("a") + Member("b"));
  EXPECT_EQ(Run(), Simulation::End::kNoProgress);
  EXPECT_THAT(Outcomes(), ::testing::SizeIs(2));
}

TEST_F(SimulationTest, AStopLeavesPodsUndecided) {
  UseGangWithoutEvents();
  Open(kNode + Member("a") + Member("b") + Member("c"));
  on_progress_ = [this] { stop_ = SIGINT; };
  EXPECT_EQ(Run(), Simulation::End::kStopped);
  const std::string undecided = std::to_string(BERTH_WAIT);
  EXPECT_THAT(Outcomes(), ElementsAre("a: " + undecided + " not bound yet",
                                      "b: " + undecided + " not tried yet",
                                      "c: " + undecided + " not tried yet"));
}

// The plugin waits until it is cancelled. Each reading of the clock is 100 ms later.
TEST(SimulationWatchdogTest, CancelsAndReportsALateCall) {
  Stage stage;
  stage.Add("puppet.A", {Point::kPreFilter}).pre_filter =
      [](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out&, berth_status*) {
        while (!BERTH_IS_CANCELLED(&cycle)) std::this_thread::yield();
        return BERTH_SUCCESS;
      };
  stage.CompleteProfile();
  SchedulerOptions options;
  auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
  ASSERT_TRUE(plugins->AddLibrary(PuppetLibrary()).ok());
  options.plugins = plugins;
  options.profiles = {stage.spec()};
  TestLog log;
  options.loop.log = &log;
  std::atomic<int64_t> now_ns = 0;
  Simulation simulation(std::move(options), kNow,
                        [&now_ns] { return now_ns += 100 * kMillisecond; });
  ASSERT_TRUE(simulation.cluster()
                  .AddManifest("cluster", std::string(kNode) +
                                              "---\napiVersion: v1\nkind: Pod\n"
                                              "metadata: {name: p}\nspec: {schedulerName: " +
                                              stage.spec().scheduler_name + "}\n")
                  .ok());
  ASSERT_TRUE(simulation.Start().ok());
  EXPECT_EQ(simulation.Run(nullptr, std::atomic<int>(0)), Simulation::End::kAtRest);
  EXPECT_THAT(log.lines(),
              ::testing::Contains(
                  AllOf(StartsWith("puppet.A: "), HasSubstr("PreFilter"), HasSubstr("deadline"))));
}

}  // namespace
}  // namespace berth::host
