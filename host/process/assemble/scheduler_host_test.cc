#include "host/process/assemble/scheduler_host.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/assert.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/paths.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// puppet.A binds pods to the node "n1" and records the calls of create() and destroy().
class SchedulerHostTest : public ::testing::Test {
 protected:
  SchedulerHostTest() : a_(stage_.Add("puppet.A", {Point::kBind})) {
    a_.create = [this] {
      calls_.emplace_back("create");
      if (first_host_ == nullptr) first_host_ = a_.host;
    };
    a_.destroy = [this] { calls_.emplace_back("destroy"); };
    a_.bind = [this](const berth_binding& binding, berth_done done, berth_status*) {
      const berth_code code = a_.api->bind(first_host_, &binding, done);
      return code == BERTH_SUCCESS ? static_cast<berth_code>(BERTH_PENDING) : code;
    };
    stage_.CompleteProfile();
    auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
    const auto added = plugins->AddLibrary(PuppetLibrary());
    BERTH_ASSERT_MSG(added.ok(), "%s", added.error().ToString().c_str());
    options_.plugins = std::move(plugins);
    options_.profiles = {stage_.spec()};
    options_.loop.clock = &clock_;
    options_.report_crashes = [this](const CallMonitor* monitor) {
      calls_.emplace_back(monitor != nullptr ? "report crashes" : "stop reporting crashes");
    };
  }

  void Add(AnyObject object) {
    const Status status = cluster_.Load(std::move(object));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  TestPod PodOf(const std::string& scheduler_name) const {
    return {.name = "p", .spec = "\"schedulerName\":\"" + scheduler_name + '"'};
  }
  void Run(SchedulerHost& scheduler) {
    while (cluster_.Deliver() > 0 || scheduler.loop().Step()) {
    }
  }
  std::string NodeOfPod() const {
    return std::string(cluster_.FindPod("default", "p")->node_name());
  }

  Stage stage_;
  Puppet& a_;
  const berth_host* first_host_ = nullptr;  // The host of the instance that was created first.
  std::vector<std::string> calls_;
  TestClock clock_;
  TestObjects objects_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = nullptr}};
  SchedulerOptions options_;
};

TEST_F(SchedulerHostTest, SchedulesThePodsOfTheClient) {
  Add(objects_.Node({.name = "n1"}));
  Add(objects_.Pod(PodOf(stage_.spec().scheduler_name)));
  SchedulerHost scheduler(objects_.interner(), cluster_, options_);
  ASSERT_TRUE(scheduler.Start().ok());
  Run(scheduler);
  EXPECT_EQ(NodeOfPod(), "n1");
}

TEST_F(SchedulerHostTest, RunsABlockingPluginOnTheBindPool) {
  Stage stage;
  std::atomic<std::thread::id> bind_thread;
  stage.Add("puppet.Slow", {Point::kBind}).bind = [&](const berth_binding&, berth_done,
                                                      berth_status*) {
    bind_thread = std::this_thread::get_id();
    return BERTH_SUCCESS;
  };
  stage.CompleteProfile();
  options_.profiles = {stage.spec()};
  options_.bind_threads = 1;
  Add(objects_.Node({.name = "n1"}));
  Add(objects_.Pod(PodOf(stage.spec().scheduler_name)));
  SchedulerHost scheduler(objects_.interner(), cluster_, options_);
  ASSERT_TRUE(scheduler.Start().ok());
  Run(scheduler);
  while (bind_thread.load() == std::thread::id()) std::this_thread::yield();
  EXPECT_NE(bind_thread.load(), std::this_thread::get_id());
}

TEST_F(SchedulerHostTest, KnowsThatACallDoesNotEnd) {
  Add(objects_.Node({.name = "n1"}));
  Add(objects_.Pod(PodOf(stage_.spec().scheduler_name)));
  SchedulerHost scheduler(objects_.interner(), cluster_, options_);
  ASSERT_TRUE(scheduler.Start().ok());
  const auto now_ns = [] {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  };
  bool was_stuck = false;
  a_.bind = [&](const berth_binding&, berth_done, berth_status*) {
    const int64_t end_ns = now_ns() + 30 * kSecond;
    while (!was_stuck && now_ns() < end_ns) was_stuck = scheduler.HasStuckCall();
    return BERTH_SUCCESS;
  };
  EXPECT_FALSE(scheduler.HasStuckCall()) << "there is no watchdog";
  scheduler.StartWatchdog({.call_ns = kMillisecond}, now_ns);
  EXPECT_FALSE(scheduler.HasStuckCall());
  Run(scheduler);
  EXPECT_TRUE(was_stuck);
  scheduler.StopWatchdog();
  EXPECT_FALSE(scheduler.HasStuckCall());
}

TEST_F(SchedulerHostTest, ReportsAPluginThatIsMissing) {
  options_.profiles[0].plugins.push_back({"acme.Missing", nullptr, ""});
  SchedulerHost scheduler(objects_.interner(), cluster_, options_);
  EXPECT_THAT(scheduler.Start().message(), HasSubstr("acme.Missing"));
}

TEST_F(SchedulerHostTest, KeepsItsPluginsAfterAReloadThatFails) {
  Add(objects_.Node({.name = "n1"}));
  SchedulerHost scheduler(objects_.interner(), cluster_, options_);
  ASSERT_TRUE(scheduler.Start().ok());
  PlanSpec broken = stage_.spec();
  broken.plugins.push_back({"acme.Missing", nullptr, ""});
  const Status status = scheduler.Reload(options_.plugins, std::span(&broken, 1));
  EXPECT_THAT(status.message(), HasSubstr("acme.Missing"));
  Add(objects_.Pod(PodOf(stage_.spec().scheduler_name)));
  Run(scheduler);
  EXPECT_EQ(NodeOfPod(), "n1");
}

TEST_F(SchedulerHostTest, ReportsCrashesBeforeAndAfterAllPlugins) {
  {
    SchedulerHost scheduler(objects_.interner(), cluster_, options_);
    ASSERT_TRUE(scheduler.Start().ok());
  }
  EXPECT_THAT(calls_, ElementsAre("report crashes", "create", "destroy", "stop reporting crashes"));
}

}  // namespace
}  // namespace berth::host
