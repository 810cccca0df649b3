// A Simulation with a plugin that makes pods wait on Permit.
#include "host/process/replay/simulation.h"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/test_log.h"
#include "host/base/time_units.h"
#include "host/process/assemble/profile_set.h"
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
  // acme.Later lets pods pass later; see its arguments.
  void UseLater(nlohmann::json args, Point point = Point::kPreEnqueue) {
    Use("acme.Later", {point}, std::move(args));
  }
  void UseGangWithEvents() {
    Use("acme.Gang", {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit, Point::kPostBind},
        {{"timeoutMs", 60'000}});
  }
  std::vector<std::string> RejectorsWithoutEvents() {
    return simulation_->RejectorsWithoutEvents();
  }

  Simulation::End Run() { return simulation_->Run(on_progress_, stop_); }
  Simulation& simulation() { return *simulation_; }

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

  PlanSpec spec_;

 private:
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
  EXPECT_THAT(RejectorsWithoutEvents(), ElementsAre("acme.Gang"));
  EXPECT_THAT(Outcomes(), ::testing::SizeIs(2));
}

TEST_F(SimulationTest, PluginsWithEventsCauseNoRetries) {
  UseGangWithEvents();
  Open(kNode + Member("a") + Member("b"));
  EXPECT_EQ(Run(), Simulation::End::kAtRest);
  EXPECT_THAT(RejectorsWithoutEvents(), ::testing::IsEmpty());
  EXPECT_THAT(Outcomes(), ::testing::SizeIs(2));
}

TEST_F(SimulationTest, GoesOnForATimerOfAPlugin) {
  for (const Point point : {Point::kPreEnqueue, Point::kPreFilter}) {
    UseLater({{"opensMs", 3'000'000}}, point);
    Open(kNode + Member("a"));
    EXPECT_EQ(Run(), Simulation::End::kAtRest);
    EXPECT_THAT(Outcomes(), ElementsAre("a: n1"));
    EXPECT_TRUE(simulation().Waiting().empty());
    spec_.plugins.pop_back();
    spec_.points[static_cast<size_t>(point)].pop_back();
  }
}

TEST_F(SimulationTest, EndsAtTheLimitOfPeriodicTimers) {
  UseLater({{"everyMs", 10'000}});
  Open(kNode + Member("a"));
  EXPECT_EQ(Run(), Simulation::End::kLimitReached);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("not yet")));
  EXPECT_THAT(simulation().Waiting().timers, ElementsAre(::testing::Pair("acme.Later", 1U)));
}

// Without the timer of the other pod, the simulation ends when both members have failed five times.
TEST_F(SimulationTest, AStalledSimulationGoesOnForTimers) {
  UseGangWithoutEvents();
  UseLater({{"pod", "c"}, {"opensMs", 3'000'000}});
  Open(kNode + Member("a") + Member("b") + Member("c"));
  EXPECT_EQ(Run(), Simulation::End::kAtRest);
  EXPECT_THAT(Outcomes(), ::testing::UnorderedElementsAre("a: n1", "b: n1", "c: n1"));
}

TEST_F(SimulationTest, AStalledSimulationEndsAtTheLimit) {
  UseGangWithoutEvents();
  UseLater({{"pod", "c"}, {"everyMs", 600'000}});
  Open(kNode + Member("a") + Member("b") + Member("c"));
  EXPECT_EQ(Run(), Simulation::End::kLimitReached);
  EXPECT_THAT(Outcomes(), ::testing::SizeIs(3));
}

// The timer fires more often than the pods fail, so that they never fail five times in between.
TEST_F(SimulationTest, FrequentTimersDoNotHideAStall) {
  UseGangWithoutEvents();
  UseLater({{"pod", "none"}, {"everyMs", 10'000}});
  Open(kNode + Member("a") + Member("b"));
  EXPECT_EQ(Run(), Simulation::End::kLimitReached);
  EXPECT_THAT(Outcomes(), ::testing::SizeIs(2));
}

TEST_F(SimulationTest, WaitsForAnnouncedWorkOfThreads) {
  UseLater({{"threadMs", 20}});
  Open(kNode + Member("a"));
  EXPECT_EQ(Run(), Simulation::End::kAtRest);
  EXPECT_THAT(Outcomes(), ElementsAre("a: n1"));
}

// A timer in a minute must not be reached before a thread that works for milliseconds.
TEST_F(SimulationTest, TimeStandsStillForAnnouncedWork) {
  UseLater({{"threadMs", 20}, {"opensMs", 60'000}});
  Open(kNode + Member("a"));
  EXPECT_EQ(Run(), Simulation::End::kAtRest);
  EXPECT_THAT(Outcomes(), ElementsAre("a: n1"));
  EXPECT_NE(simulation().loop().plugin_work().NextTimerNs(), std::nullopt)
      << "the timer has not fired";
}

TEST_F(SimulationTest, AStopEndsTheWaitForThreads) {
  UseLater({{"hangs", true}});
  Open(kNode + Member("a"));
  std::thread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop_ = SIGINT;
  });
  EXPECT_EQ(Run(), Simulation::End::kStopped);
  stopper.join();
  EXPECT_THAT(simulation().Waiting().threads, ElementsAre(::testing::Pair("acme.Later", 1U)));
}

TEST_F(SimulationTest, EndsWhenPluginsCallThemselvesWithoutEnd) {
  for (const char* what : {"postsOn", "everyMs"}) {
    nlohmann::json args = {{what, 0}};
    if (what == std::string("postsOn")) args[what] = true;
    UseLater(args);
    Open(kNode + Member("a"));
    simulation().SetWaitLimits({.calls = 1'000});
    EXPECT_EQ(Run(), Simulation::End::kLimitReached) << what;
    spec_.plugins.pop_back();
    spec_.points[static_cast<size_t>(Point::kPreEnqueue)].pop_back();
  }
}

// The pod that backs off is tried although a plugin keeps the scheduler busy.
TEST_F(SimulationTest, TimePassesAlthoughAPluginCallsItself) {
  UseGangWithoutEvents();
  UseLater({{"pod", "none"}, {"everyMs", 0}});
  Open(kNode + Member("a") + Member("b") + Member("c"));
  EXPECT_EQ(Run(), Simulation::End::kAtRest);
  EXPECT_THAT(Outcomes(), ::testing::UnorderedElementsAre("a: n1", "b: n1", "c: n1"));
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
void CheckLateCall(const HostConfig& host, const std::string& deadline) {
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
  Simulation simulation(
      std::move(options), kNow, [&now_ns] { return now_ns += 100 * kMillisecond; }, host);
  ASSERT_TRUE(simulation.cluster()
                  .AddManifest("cluster", std::string(kNode) +
                                              "---\napiVersion: v1\nkind: Pod\n"
                                              "metadata: {name: p}\nspec: {schedulerName: " +
                                              stage.spec().scheduler_name + "}\n")
                  .ok());
  ASSERT_TRUE(simulation.Start().ok());
  EXPECT_EQ(simulation.Run(nullptr, std::atomic<int>(0)), Simulation::End::kAtRest);
  EXPECT_THAT(log.lines(),
              ::testing::Contains(AllOf(StartsWith("puppet.A: "), HasSubstr("PreFilter"),
                                        HasSubstr("its deadline is " + deadline))));
}

TEST(SimulationWatchdogTest, CancelsAndReportsALateCall) {
  CheckLateCall({}, "1s");
  HostConfig host;
  host.call_deadline_ns = 2500 * kMillisecond;
  CheckLateCall(host, "2.5s");
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(LiveRequestTest, NamesTheDeclaredKindsAndWhoNeedsThem) {
  PluginSet plugins(::testing::TempDir(), [] { return int64_t{0}; });
  for (const std::string& directory : {DefaultPluginDirectory(), TestPluginDirectory()}) {
    ASSERT_TRUE(plugins.AddDirectory(directory).ok());
  }
  PlanSpec spec;
  spec.plugins = {{"test.Observer", nullptr, ""}, {"VolumeZone", nullptr, ""}};
  const KindUsers users(plugins.catalog(), {&spec, 1});
  const LiveRequest request = LiveRequestFor(users);
  // The versions of a kind stay together, so that the reader uses the first one that is served.
  EXPECT_THAT(request.kinds, Contains("example.com/v2|v1/Rack"));
  EXPECT_THAT(request.kinds, Not(Contains("example.com/v1/Rack")));
  EXPECT_THAT(request.kinds, Contains("storage.k8s.io/v1/StorageClass"));
  EXPECT_EQ(request.needed_by("example.com/v2|v1/Rack"), "the plugin test.Observer");
  EXPECT_EQ(request.needed_by("storage.k8s.io/v1/StorageClass"), "the plugin VolumeZone");
  EXPECT_EQ(request.needed_by("v1/Pod"), "the host");
}

class AddLiveObjectsTest : public ::testing::Test {
 protected:
  AnyObject Decode(const std::string& json) {
    Result<AnyObject> object = cluster_.decoder().Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
    return *std::move(object);
  }
  AnyObject PodWith(const std::string& name, const std::string& uid) {
    return Decode(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":")" + name +
                  R"(","uid":")" + uid +
                  R"(","resourceVersion":"7"},"spec":{"containers":[{"name":"c"}]}})");
  }

  Interner interner_;
  VirtualClock clock_{kSecond};
  LocalCluster cluster_{interner_, DecodeOptions(), clock_, /*follows_stream=*/false};
};

TEST_F(AddLiveObjectsTest, AddsObjectsOfEveryKind) {
  LiveObjects live;
  live.objects.push_back(PodWith("web", "u"));
  live.objects.push_back(Decode(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}})"));
  live.objects.push_back(
      Decode(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"a"}})"));
  EXPECT_THAT(AddLiveObjects(std::move(live), cluster_), IsEmpty());
  ASSERT_NE(cluster_.objects().FindPod("n", "web"), nullptr);
  EXPECT_EQ(cluster_.objects().FindPod("n", "web")->uid(), "u");
  EXPECT_NE(cluster_.objects().FindNode("a"), nullptr);
  EXPECT_TRUE(cluster_.objects().Find("storage.k8s.io/v1/CSINode", "", "a").has_value());
}

TEST_F(AddLiveObjectsTest, RefusedObjectIsWarningAndOthersAreAdded) {
  LiveObjects live;
  live.warnings = {"first"};
  live.objects.push_back(PodWith("a", "same"));
  live.objects.push_back(PodWith("b", "same"));
  live.objects.push_back(PodWith("c", "other"));
  const std::vector<std::string> warnings = AddLiveObjects(std::move(live), cluster_);
  EXPECT_THAT(warnings, ElementsAre("first", HasSubstr("b")));
  EXPECT_NE(cluster_.objects().FindPod("n", "a"), nullptr);
  EXPECT_EQ(cluster_.objects().FindPod("n", "b"), nullptr);
  EXPECT_NE(cluster_.objects().FindPod("n", "c"), nullptr);
}

}  // namespace
}  // namespace berth::host
