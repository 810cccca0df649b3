#include "host/process/run/cluster_serving.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

WatchState Synced(std::string kind) {
  WatchState watch;
  watch.kind = std::move(kind);
  watch.state = Reflector::State::kWatching;
  watch.is_synced = true;
  return watch;
}

class ClusterServingTest : public ::testing::Test {
 protected:
  // A state of a process that leads, without a finding.
  ServedState Healthy() {
    ServedState state;
    state.watches = [this] { return watches_; };
    state.leadership = [this] { return view_; };
    state.bindings_forbidden_ns = [this] { return forbidden_ns_; };
    state.slow_pods = [this] { return slow_pods_; };
    state.quarantined = [this] { return quarantined_; };
    state.plugin_faults = [this] { return plugin_faults_; };
    state.has_stuck_call = [this] { return has_stuck_call_; };
    state.last_progress_ns = [this] { return progress_ns_; };
    state.is_stopping = [this] { return is_stopping_; };
    state.plugin_metrics = [] { return std::string("acme_racks 7\n"); };
    state.refresh_metrics = [this] { ++refreshes_; };
    state.set_log_level = [this](std::string_view level) {
      level_ = level;
      return level == "bad" ? Status::InvalidArgument("expected a level") : Status();
    };
    return state;
  }
  ServedResponse Get(const std::string& path) const {
    return serving_.Answer({.method = "GET", .path = path, .query = "verbose", .body = ""});
  }
  // Expects that only this check of the path fails, with this reason.
  void ExpectFailure(const std::string& path, const std::string& check, const std::string& why,
                     uint32_t status = 500) {
    const ServedResponse response = Get(path);
    EXPECT_EQ(response.status, status);
    EXPECT_THAT(response.body, HasSubstr("[-]" + check + " failed: " + why));
    for (const std::string other : {"/livez", "/readyz", "/healthz"}) {
      if (other == path) continue;
      EXPECT_THAT(Get(other).body, Not(HasSubstr("[-]" + check))) << other;
    }
  }

  // Expects that every path passes, and that a check of /readyz has this note.
  void ExpectNote(const std::string& check, const std::string& note) {
    EXPECT_THAT(Get("/readyz").body, HasSubstr("[+]" + check + " ok\n   note: " + note + "\n"));
    for (const char* path : {"/livez", "/readyz", "/healthz"}) {
      EXPECT_EQ(Get(path).status, 200U) << path;
    }
  }

  int64_t boot_ns_ = 1'000 * kSecond;
  std::vector<WatchState> watches_ = {Synced("v1/Node"), Synced("v1/Pod")};
  Leadership::View view_{.leads = true, .holder = "me", .renewed_ns = boot_ns_};
  int64_t forbidden_ns_ = 0;
  Sample slow_pods_;
  std::vector<PluginFaults::Quarantined> quarantined_;
  std::vector<PluginFaults::Count> plugin_faults_;
  bool has_stuck_call_ = false;
  int64_t progress_ns_ = boot_ns_;
  bool is_stopping_ = false;
  int refreshes_ = 0;
  std::string level_;
  MetricTable metrics_;
  ClusterServing serving_{metrics_,
                          {.lease_ns = 15 * kSecond,
                           .stall_limit_ns = 120 * kSecond,
                           .steady_ns = [] { return int64_t{0}; },
                           .boot_ns = [this] { return boot_ns_; }}};
};

TEST_F(ClusterServingTest, IsAliveButNotReadyBeforeTheStart) {
  EXPECT_EQ(Get("/livez").status, 200U);
  EXPECT_EQ(Get("/healthz").status, 200U);
  EXPECT_THAT(Get("/readyz").body,
              HasSubstr("[-]sched-handler-sync failed: the scheduler has not started"));
  EXPECT_EQ(Get("/readyz").status, 500U);
}

TEST_F(ClusterServingTest, TellsWhyTheStartTakesLong) {
  serving_.SetStartProblem(Status::Unavailable("cannot get the credentials: login: status 1"));
  EXPECT_THAT(Get("/readyz").body,
              HasSubstr("[-]sched-handler-sync failed: the scheduler has not started: cannot get "
                        "the credentials: login: status 1"));
  EXPECT_EQ(Get("/livez").status, 200U);
  serving_.SetStartProblem({});
  EXPECT_THAT(Get("/readyz").body, Not(HasSubstr("cannot get the credentials")));
  EXPECT_EQ(Get("/readyz").status, 500U);
}

TEST_F(ClusterServingTest, IsReadyWithoutAFinding) {
  serving_.SetState(Healthy());
  for (const char* path : {"/livez", "/readyz", "/healthz"}) {
    EXPECT_EQ(Get(path).status, 200U) << path << Get(path).body;
  }
}

TEST_F(ClusterServingTest, IsNotReadyAfterTheEnd) {
  serving_.SetState(Healthy());
  serving_.ClearState();
  EXPECT_EQ(Get("/readyz").status, 500U);
  EXPECT_EQ(Get("/livez").status, 200U);
}

TEST_F(ClusterServingTest, NamesTheWatchesThatAreNotSynced) {
  serving_.SetState(Healthy());
  watches_[1].is_synced = false;
  watches_[1].state = Reflector::State::kListing;
  watches_[1].objects = 500;
  watches_[0].error = Status::PermissionDenied("nodes is forbidden");
  const ServedResponse response = Get("/readyz");
  EXPECT_EQ(response.status, 500U);
  EXPECT_THAT(response.body, HasSubstr("v1/Node: nodes is forbidden"));
  EXPECT_THAT(response.body, HasSubstr("v1/Pod: the first list is under way (500 objects so far)"));
}

TEST_F(ClusterServingTest, CountsFaultsAndQuarantines) {
  serving_.SetState(Healthy());
  plugin_faults_ = {{"p", "test.A", Point::kFilter, FaultKind::kDeadline, 3}};
  quarantined_ = {{.profile = "p", .plugin = "test.A", .why = "", .pause_ns = 0}};
  const auto is_counted = [](int faults) {
    return HasSubstr(
        "berth_plugin_faults_total{kind=\"deadline\",plugin=\"test.A\",point=\"Filter\","
        "profile=\"p\"} " +
        std::to_string(faults) + "\n");
  };
  const std::string in_quarantine = "berth_plugin_quarantined{plugin=\"test.A\",profile=\"p\"} ";
  EXPECT_THAT(Get("/metrics").body, AllOf(is_counted(3), HasSubstr(in_quarantine + "1\n")));
  quarantined_.clear();
  plugin_faults_[0].count = 5;
  EXPECT_THAT(Get("/metrics").body, AllOf(is_counted(5), HasSubstr(in_quarantine + "0\n")));
}

TEST_F(ClusterServingTest, ALeaderThatDoesNotRenewIsUnhealthy) {
  serving_.SetState(Healthy());
  boot_ns_ += 35 * kSecond;
  progress_ns_ = boot_ns_;
  EXPECT_EQ(Get("/healthz").status, 200U);
  boot_ns_ += 1;
  EXPECT_THAT(Get("/healthz").body,
              HasSubstr("[-]leaderElection failed: this process leads, but has not renewed its "
                        "lease for 35s"));
  view_.leads = false;
  EXPECT_EQ(Get("/healthz").status, 200U) << "a standby is healthy";
}

TEST_F(ClusterServingTest, StandbyThatCannotAcquireLeaseIsNotReady) {
  serving_.SetState(Healthy());
  view_.leads = false;
  view_.error = Status::PermissionDenied("leases is forbidden");
  ExpectFailure("/readyz", "lease", "cannot acquire the lease: leases is forbidden");
  view_.leads = true;
  EXPECT_EQ(Get("/readyz").status, 200U);
  view_.leads = false;
  view_.error = {};
  EXPECT_EQ(Get("/readyz").status, 200U) << "a standby is ready";
}

TEST_F(ClusterServingTest, ALoopWithoutProgressIsNotAlive) {
  serving_.SetState(Healthy());
  boot_ns_ += 120 * kSecond;
  view_.renewed_ns = boot_ns_;
  EXPECT_EQ(Get("/livez").status, 200U);
  boot_ns_ += 1;
  view_.renewed_ns = boot_ns_;
  ExpectFailure("/livez", "schedulingLoop", "the scheduling loop has made no progress for 2m0s");
}

TEST_F(ClusterServingTest, APluginInQuarantineIsANote) {
  serving_.SetState(Healthy());
  quarantined_.push_back({.profile = "acme",
                          .plugin = "acme.RackPower",
                          .why = "10 faults within 1m0s",
                          .pause_ns = 30 * kSecond});
  ExpectNote("plugins",
             "acme.RackPower of the profile acme is in quarantine for 30s: 10 faults within 1m0s");
}

TEST_F(ClusterServingTest, CallThatDoesNotEndIsANote) {
  serving_.SetState(Healthy());
  has_stuck_call_ = true;
  ExpectNote("plugins",
             "a call has not ended, although it was cancelled; the log names its plugin");
  has_stuck_call_ = false;
  EXPECT_THAT(Get("/readyz").body, Not(HasSubstr("note")));
}

TEST_F(ClusterServingTest, NamesSlowPods) {
  serving_.SetState(Healthy());
  slow_pods_ = {.count = 2, .examples = {"shop/a", "shop/b"}};
  ExpectNote("plugins",
             "2 pods made a plugin miss its deadline at the last attempt (a group counts as one): "
             "shop/a, shop/b");
  EXPECT_THAT(Get("/metrics").body, HasSubstr("berth_slow_pods 2\n"));
  slow_pods_.count = 3;
  ExpectNote("plugins",
             "3 pods made a plugin miss its deadline at the last attempt (a group counts as one): "
             "shop/a, shop/b, ...");
}

TEST_F(ClusterServingTest, NamesObjectsThatCannotBeRead) {
  serving_.SetState(Healthy());
  watches_[1].unreadable = {7, {"a/x: /spec/x: bad", "a/y: /spec/y: bad"}};
  ExpectNote("objects",
             "v1/Pod: 7 objects cannot be read as a whole, such as a/x: /spec/x: bad; a/y: "
             "/spec/y: bad");
}

TEST_F(ClusterServingTest, BindingsForbiddenForAMinuteFail) {
  serving_.SetState(Healthy());
  forbidden_ns_ = kMinute - 1;
  ExpectNote("bindings",
             "the API server has forbidden every binding for 59s; berth doctor names the missing "
             "rule");
  forbidden_ns_ = kMinute;
  ExpectFailure("/readyz", "bindings", "the API server has forbidden every binding for 1m0s", 503);
  forbidden_ns_ = 0;
  EXPECT_EQ(Get("/readyz").status, 200U);
}

TEST_F(ClusterServingTest, AProcessThatEndsIsNotReady) {
  serving_.SetState(Healthy());
  is_stopping_ = true;
  ExpectFailure("/readyz", "shutdown", "the process ends");
}

TEST_F(ClusterServingTest, ServesMetricsOfTheHostAndOfPlugins) {
  EXPECT_THAT(Get("/metrics").body, Not(HasSubstr("acme_racks")));
  Get("/livez");
  serving_.SetState(Healthy());
  const std::string page = Get("/metrics").body;
  EXPECT_THAT(page, HasSubstr("acme_racks 7\n"));
  EXPECT_THAT(page, HasSubstr("kubernetes_healthcheck{"));
  EXPECT_EQ(refreshes_, 1);
}

TEST_F(ClusterServingTest, ShowsTheConfigurationThatWasSetLast) {
  EXPECT_EQ(Get("/configz").body, "{}\n");
  serving_.SetConfig("{\"berth\":{}}\n");
  EXPECT_EQ(Get("/configz").body, "{\"berth\":{}}\n");
}

TEST_F(ClusterServingTest, ChangesTheLogLevel) {
  const auto put = [this](const std::string& level) {
    return serving_.Answer({.method = "PUT", .path = "/debug/flags/v", .query = "", .body = level});
  };
  EXPECT_EQ(put("debug").status, 400U) << "the process has not started";
  serving_.SetState(Healthy());
  EXPECT_EQ(put("debug").status, 200U);
  EXPECT_EQ(level_, "debug");
  EXPECT_EQ(put("bad").status, 400U);
}

TEST(CheckWatchTest, TellsWhyAWatchIsNotSynced) {
  struct Case {
    const char* name;
    Reflector::State state;
    bool is_synced;
    Status error;
    std::string expected;  // Empty: no finding.
  };
  const std::vector<Case> cases = {
      {"discovery", Reflector::State::kDiscovering, false, {}, "has not answered yet"},
      {"not served", Reflector::State::kNotServed, false, {}, ""},
      {"first list", Reflector::State::kListing, false, {}, "the first list is under way"},
      {"failed list", Reflector::State::kWaiting, false, {}, "will be tried again"},
      {"watching", Reflector::State::kWatching, true, {}, ""},
      {"another list", Reflector::State::kListing, true, {}, ""},
      {"error", Reflector::State::kWaiting, true, Status::Unavailable("refused"), "refused"},
      {"error of a kind that is not served", Reflector::State::kNotServed, false,
       Status::Unavailable("refused"), ""},
  };
  for (const Case& c : cases) {
    WatchState watch;
    watch.kind = "v1/Pod";
    watch.state = c.state;
    watch.is_synced = c.is_synced;
    watch.error = c.error;
    const Status status = CheckWatch(watch);
    EXPECT_EQ(status.ok(), c.expected.empty()) << c.name;
    if (!c.expected.empty()) {
      EXPECT_THAT(std::string(status.message()), HasSubstr("v1/Pod: ")) << c.name;
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.expected)) << c.name;
    }
  }
}

}  // namespace
}  // namespace berth::host
