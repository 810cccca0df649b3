#include "host/process/run/cluster_driver.h"

#include <signal.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/assert.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/assemble/scheduler_host.h"
#include "tests/harness/paths.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;

constexpr int64_t kSettleLimitNs = 20 * kSecond;

// The actions of a test in the rounds of a driver. Functions may be empty, except `deliver`.
struct DriverHooks {
  std::function<size_t()> deliver;
  std::function<void(std::function<void()> done)> refresh;
  std::function<bool()> has_room;
  std::function<void()> before_step;
  std::function<void()> after_step;
  std::function<void(int64_t took_ns)> on_scheduling;
};

// How a run of a driver ended.
struct DriverEnd {
  int signal = 0;
  std::string lost_lease;
  bool output_failed = false;
  size_t unsettled = 0;  // Bindings that had not ended.
};

class HookedDriver final : public ClusterDriver {
 public:
  // `hooks` may change until Run().
  HookedDriver(Options options, const DriverHooks& hooks)
      : ClusterDriver(std::move(options)), hooks_(hooks) {}

  DriverEnd Run(SchedulingLoop& loop, const Clock& clock) {
    ClusterDriver::Run(loop, clock);
    return {.signal = signal(),
            .lost_lease = lost_lease(),
            .output_failed = output_failed(),
            .unsettled = loop.binding_count()};
  }

 private:
  size_t Deliver() override { return hooks_.deliver(); }
  void Refresh(std::function<void()> done) override {
    if (hooks_.refresh) return hooks_.refresh(std::move(done));
    done();
  }
  bool HasRoom() const override { return !hooks_.has_room || hooks_.has_room(); }
  int64_t GatherNs() const override { return kMillisecond; }
  void BeforeStep() override {
    if (hooks_.before_step) hooks_.before_step();
  }
  void AfterStep() override {
    if (hooks_.after_step) hooks_.after_step();
  }
  void OnScheduling(int64_t took_ns) override { hooks_.on_scheduling(took_ns); }

  const DriverHooks& hooks_;
};

// A scheduler over an embedded cluster with the node "n1" and the pod "p", which puppet.A binds. In
// each idle moment of the driver, the next action of the test runs.
class ClusterDriverTest : public ::testing::Test {
 protected:
  ClusterDriverTest() : a_(stage_.Add("puppet.A", {Point::kBind})) {
    a_.create = [this] { host_ = a_.host; };
    a_.bind = [this](const berth_binding& binding, berth_done done, berth_status*) {
      ++binds_;
      if (holds_bindings_) {
        held_.push_back(done);
        return static_cast<berth_code>(BERTH_PENDING);
      }
      const berth_code code = a_.api->bind(host_, &binding, done);
      return code == BERTH_SUCCESS ? static_cast<berth_code>(BERTH_PENDING) : code;
    };
    stage_.CompleteProfile();
    auto plugins = std::make_shared<PluginSet>(::testing::TempDir(), [] { return int64_t{0}; });
    const auto added = plugins->AddLibrary(PuppetLibrary());
    BERTH_ASSERT_MSG(added.ok(), "%s", added.error().ToString().c_str());
    SchedulerOptions options;
    options.plugins = std::move(plugins);
    options.profiles = {stage_.spec()};
    options.loop.clock = &clock_;
    options.loop.waker = &driver_.waker();
    Load(objects_.Node({.name = "n1"}));
    Load(objects_.Pod(
        {.name = "p", .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"'}));
    scheduler_ = std::make_unique<SchedulerHost>(objects_.interner(), cluster_, std::move(options));
    const Status status = scheduler_->Start();
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    hooks_.deliver = [this] { return cluster_.Deliver(); };
    hooks_.on_scheduling = [this](int64_t took_ns) { scheduling_.push_back(took_ns); };
  }

  // Promises that are never kept would stay in memory.
  ~ClusterDriverTest() override {
    for (const berth_done& done : std::exchange(held_, {})) Stage::Complete(done, {});
  }

  void Load(AnyObject object) {
    const Status status = cluster_.Load(std::move(object));
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
  }
  bool Flush() {
    if (idle_.empty()) return true;
    const std::function<void()> action = std::move(idle_.front());
    idle_.pop_front();
    action();
    driver_.waker().Wake();
    return !output_fails_;
  }
  DriverEnd Run() { return driver_.Run(scheduler_->loop(), clock_); }
  // Adds an action for an idle moment of the driver.
  void WhenIdle(std::function<void()> action) { idle_.push_back(std::move(action)); }
  void StopWhenIdle() {
    WhenIdle([this] { driver_.RequestStop(SIGTERM); });
  }
  std::string NodeOfPod() const {
    return std::string(cluster_.FindPod("default", "p")->node_name());
  }

  Stage stage_;
  Puppet& a_;
  const berth_host* host_ = nullptr;
  bool holds_bindings_ = false;
  std::vector<berth_done> held_;  // Bindings that the test completes.
  int binds_ = 0;
  TestClock clock_;
  int64_t boot_ns_ = 1'000 * kSecond;
  DriverHooks hooks_;
  HookedDriver driver_{{.flush = [this] { return Flush(); },
                        .boot_ns = [this] { return boot_ns_; },
                        .settle_limit_ns = kSettleLimitNs},
                       hooks_};
  TestObjects objects_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = nullptr}};
  std::unique_ptr<SchedulerHost> scheduler_;
  std::deque<std::function<void()>> idle_;
  std::vector<int64_t> scheduling_;
  bool output_fails_ = false;
};

// ---- Leading ------------------------------------------------------------------------------------

TEST_F(ClusterDriverTest, TriesNoPodBeforeItLeads) {
  WhenIdle([this] { EXPECT_FALSE(driver_.schedules()); });
  StopWhenIdle();
  Run();
  EXPECT_EQ(binds_, 0);
  EXPECT_EQ(scheduler_->loop().queue().size(), 1U);
  EXPECT_THAT(scheduling_, IsEmpty());
}

TEST_F(ClusterDriverTest, SchedulesWhenItLeads) {
  driver_.OnLeading();
  StopWhenIdle();
  const DriverEnd end = Run();
  EXPECT_EQ(NodeOfPod(), "n1");
  EXPECT_THAT(scheduling_, ElementsAre(0));
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.lost_lease, "");
  EXPECT_FALSE(end.output_failed);
  EXPECT_EQ(end.unsettled, 0U);
}

TEST_F(ClusterDriverTest, NewLeaderSchedulesAfterItsCacheWasRefreshed) {
  std::function<void()> refreshed;
  int refreshes = 0;
  hooks_.refresh = [&](std::function<void()> done) {
    ++refreshes;
    refreshed = std::move(done);
  };
  WhenIdle([&] {
    EXPECT_EQ(refreshes, 0);
    driver_.OnLeading();
  });
  WhenIdle([&] {
    EXPECT_EQ(refreshes, 1);
    EXPECT_EQ(binds_, 0);
    boot_ns_ += 240 * kMillisecond;
    refreshed();
  });
  StopWhenIdle();
  Run();
  EXPECT_EQ(refreshes, 1);
  EXPECT_EQ(NodeOfPod(), "n1");
  EXPECT_THAT(scheduling_, ElementsAre(240 * kMillisecond));
}

TEST_F(ClusterDriverTest, TriesNoPodWhileClientHasNoRoom) {
  bool has_room = false;
  hooks_.has_room = [&has_room] { return has_room; };
  driver_.OnLeading();
  WhenIdle([&] {
    EXPECT_TRUE(driver_.schedules());
    EXPECT_EQ(binds_, 0);
    EXPECT_TRUE(scheduler_->loop().queue().has_ready()) << "the pod keeps its place";
    has_room = true;
  });
  WhenIdle([this] { EXPECT_EQ(NodeOfPod(), "n1"); });
  StopWhenIdle();
  Run();
  EXPECT_EQ(binds_, 1);
}

TEST_F(ClusterDriverTest, NoticesRoomThatAppearsWithoutAWakeUp) {
  const auto start = std::chrono::steady_clock::now();
  hooks_.has_room = [start] {
    return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300);
  };
  hooks_.after_step = [this] {
    if (binds_ > 0) driver_.RequestStop(SIGTERM);
  };
  driver_.OnLeading();
  Run();
  EXPECT_EQ(binds_, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::nanoseconds(ClusterDriver::kMaxWaitNs));
}

TEST_F(ClusterDriverTest, AStopBeforeTheRefreshTriesNoPod) {
  std::function<void()> refreshed;
  hooks_.refresh = [&](std::function<void()> done) { refreshed = std::move(done); };
  driver_.OnLeading();
  WhenIdle([&] {
    refreshed();
    driver_.RequestStop(SIGINT);
  });
  EXPECT_EQ(Run().signal, SIGINT);
  EXPECT_EQ(binds_, 0);
  EXPECT_THAT(scheduling_, IsEmpty());
}

// ---- Stopping -----------------------------------------------------------------------------------

TEST_F(ClusterDriverTest, AStopWaitsForBindingsUnderWay) {
  holds_bindings_ = true;
  driver_.OnLeading();
  StopWhenIdle();
  WhenIdle([this] {
    EXPECT_TRUE(driver_.is_ending());
    EXPECT_EQ(scheduler_->loop().binding_count(), 1U);
    boot_ns_ += kSettleLimitNs - 1;
    for (const berth_done& done : std::exchange(held_, {})) Stage::Complete(done, {});
  });
  EXPECT_EQ(Run().unsettled, 0U);
  EXPECT_EQ(binds_, 1);
}

TEST_F(ClusterDriverTest, StopEndsAtTheLimitWithUnsettledBindings) {
  holds_bindings_ = true;
  driver_.OnLeading();
  StopWhenIdle();
  WhenIdle([this] { boot_ns_ += kSettleLimitNs; });
  const DriverEnd end = Run();
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.unsettled, 1U);
}

TEST_F(ClusterDriverTest, OnlyTheFirstRequestToStopCounts) {
  driver_.RequestStop(SIGINT);
  driver_.RequestStop(SIGTERM);
  driver_.OnOutputFailed();
  const DriverEnd end = Run();
  EXPECT_EQ(end.signal, SIGINT);
  EXPECT_FALSE(end.output_failed);
}

TEST_F(ClusterDriverTest, OutputThatFailsIsARequestToStop) {
  driver_.OnLeading();
  WhenIdle([this] { output_fails_ = true; });
  const DriverEnd end = Run();
  EXPECT_TRUE(end.output_failed);
  EXPECT_EQ(end.signal, 0);
}

TEST_F(ClusterDriverTest, ALostLeaseEndsItAtOnce) {
  holds_bindings_ = true;
  driver_.OnLeading();
  WhenIdle([this] {
    driver_.OnLeaseLost("the lease was not renewed within 10s");
    driver_.OnLeaseLost("another reason");
    EXPECT_TRUE(driver_.is_ending());
  });
  const DriverEnd end = Run();
  EXPECT_EQ(end.lost_lease, "the lease was not renewed within 10s");
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.unsettled, 1U);
}

TEST_F(ClusterDriverTest, LosingTheLeaseWhileStoppingEndsTheWait) {
  holds_bindings_ = true;
  driver_.OnLeading();
  StopWhenIdle();
  WhenIdle([this] { driver_.OnLeaseLost("another process leads"); });
  const DriverEnd end = Run();
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.lost_lease, "another process leads");
  EXPECT_EQ(end.unsettled, 1U);
}

// ---- Rounds -------------------------------------------------------------------------------------

TEST_F(ClusterDriverTest, ReloadsBeforeStepsUntilItStops) {
  int before = 0;
  int after = 0;
  int before_at_stop = -1;
  hooks_.before_step = [&] { ++before; };
  hooks_.after_step = [&] { ++after; };
  holds_bindings_ = true;
  driver_.OnLeading();
  WhenIdle([&] {
    before_at_stop = before;
    driver_.RequestStop(SIGTERM);
  });
  WhenIdle([&] { boot_ns_ += kSettleLimitNs; });
  Run();
  EXPECT_THAT(before_at_stop, Ge(1));
  EXPECT_EQ(before, before_at_stop);
  EXPECT_GT(after, before);
}

TEST_F(ClusterDriverTest, EveryRoundIsProgress) {
  EXPECT_EQ(driver_.last_progress_ns(), boot_ns_);
  const int64_t start_ns = boot_ns_;
  WhenIdle([&] {
    EXPECT_EQ(driver_.last_progress_ns(), start_ns);
    boot_ns_ += kSecond;
  });
  WhenIdle([&] {
    EXPECT_EQ(driver_.last_progress_ns(), start_ns + kSecond);
    driver_.RequestStop(SIGTERM);
  });
  Run();
}

TEST_F(ClusterDriverTest, ARequestOfAnotherThreadWakesTheDriver) {
  driver_.OnLeading();
  std::thread other([this] {
    // The driver is idle by then, unless the machine is slow, which does no harm.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    driver_.RequestStop(SIGTERM);
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Run().signal, SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::nanoseconds(ClusterDriver::kMaxWaitNs));
  other.join();
}

}  // namespace
}  // namespace berth::host
