#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/test_log.h"
#include "tests/harness/election_fixture.h"

namespace berth::host {
namespace {

// An elector without a candidate, on an executor of its own.
class LoneElectorTest : public LeaderElectorTest {
 protected:
  std::unique_ptr<LeaderElector> MakeElector(LeaderElector::Callbacks callbacks = {},
                                             const Log& log = {}) {
    return std::make_unique<LeaderElector>(store_, executor_, clock_, fence_,
                                           ElectionOptionsOf("a", 1), std::move(callbacks), log);
  }

  VirtualExecutor executor_{clock_};
  BindFence fence_{[this] { return clock_.NowNs(); }};
  NetworkedLease store_{leases_, executor_, executor_};
};

// ---- One elector --------------------------------------------------------------------------------

TEST_F(LeaderElectorTest, CreatesTheLeaseAndLeads) {
  ElectionCandidate& a = Start("a");
  EXPECT_FALSE(a.elector.leads());
  EXPECT_EQ(a.elector.SinceRenewalNs(), std::nullopt);
  RunFor(10 * kMillisecond);
  EXPECT_TRUE(a.elector.leads());
  EXPECT_EQ(a.started, (std::vector<int64_t>{0}));
  EXPECT_EQ(a.store.requests, (std::vector<std::string>{"get", "create"}));
  EXPECT_EQ(a.store.timeouts, (std::vector<int64_t>{5 * kSecond, 5 * kSecond}));
  const Lease lease = Stored();
  EXPECT_EQ(lease.holder_identity, "a");
  EXPECT_EQ(lease.duration_seconds, 15);
  EXPECT_EQ(lease.transitions, 0);
  // The get takes 2 ms; then the lease is written.
  EXPECT_EQ(lease.acquire_ns, kElectionStart + 2 * kMillisecond);
  EXPECT_EQ(lease.renew_ns, kElectionStart + 2 * kMillisecond);
  EXPECT_EQ(a.elector.SinceRenewalNs(), 8 * kMillisecond);
}

TEST_F(LeaderElectorTest, RenewsWithoutReading) {
  ElectionCandidate& a = Start("a");
  RunFor(60 * kSecond);
  EXPECT_EQ(std::ranges::count(a.store.requests, "get"), 1);
  EXPECT_EQ(std::ranges::count(a.store.requests, "update"), 29);
  EXPECT_EQ(a.slow_paths, 0) << "the lease is read to acquire it, not to renew it";
  EXPECT_EQ(Stored().transitions, 0);
  EXPECT_EQ(Stored().acquire_ns, kElectionStart + 2 * kMillisecond);
  EXPECT_GT(Stored().renew_ns, clock_.NowNs() - 3 * kSecond);
  EXPECT_EQ(a.started.size(), 1U);
  EXPECT_TRUE(a.lost.empty());
}

TEST_F(LeaderElectorTest, OpensTheFenceFromTheTimeOfSending) {
  ElectionCandidate& a = Add("a");
  a.store.fault = [] { return LeaseFault{.to_server_ns = kSecond, .to_client_ns = 2 * kSecond}; };
  a.elector.Start();
  RunFor(6 * kSecond + kMillisecond);
  ASSERT_TRUE(a.elector.leads());
  a.store.fault = [] { return LeaseFault{.loses_request = true}; };
  // The lease was written at 3 s and answered at 6 s. The fence closes at 13 s.
  RunUntil(kElectionStart + 13 * kSecond - 1);
  EXPECT_TRUE(a.fence.is_open());
  RunFor(1);
  EXPECT_FALSE(a.fence.is_open());
  EXPECT_EQ(a.lost,
            (std::vector<std::string>{
                "the lease was not renewed within 10s: no answer came in time, or this process "
                "or its machine was stopped meanwhile"}));
  EXPECT_FALSE(a.elector.leads());
}

TEST_F(LeaderElectorTest, DoesNotLeadWithATooLateAnswer) {
  // The time limit of a request is half of the deadline, so that only a process that was stopped
  // sees such an answer.
  ElectionCandidate& a = Start("a");
  RunFor(3 * kMillisecond);
  ASSERT_EQ(a.store.requests.back(), "create");
  Pause(a, 10 * kSecond);
  RunFor(10 * kSecond + 10 * kMillisecond);
  EXPECT_FALSE(a.elector.leads());
  EXPECT_FALSE(a.fence.is_open());
  EXPECT_EQ(Stored().holder_identity, "a");
  RunFor(5 * kSecond);
  EXPECT_TRUE(a.elector.leads());
  EXPECT_EQ(Stored().transitions, 0);
}

TEST_F(LeaderElectorTest, FindsItsOwnRecordAfterALostAnswer) {
  ElectionCandidate& a = Add("a");
  int request = 0;
  a.store.fault = [&request] { return LeaseFault{.loses_answer = ++request == 2}; };
  a.elector.Start();
  RunFor(5 * kSecond + 10 * kMillisecond);
  EXPECT_EQ(Stored().holder_identity, "a");
  EXPECT_FALSE(a.elector.leads());
  RunFor(5 * kSecond);
  EXPECT_TRUE(a.elector.leads());
  EXPECT_EQ(a.store.requests[2], "get");
  EXPECT_EQ(a.store.requests[3], "update");
}

TEST_F(LeaderElectorTest, ReadsTheLeaseAfterAConflict) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  // Another client changes the lease, but not its holder.
  Lease changed = Stored();
  ASSERT_TRUE(leases_.Update(changed).ok());
  const size_t before = a.store.requests.size();
  RunFor(6 * kSecond);
  EXPECT_TRUE(a.elector.leads());
  ASSERT_GE(a.store.requests.size(), before + 3);
  EXPECT_EQ(a.store.requests[before], "update");
  EXPECT_EQ(a.store.requests[before + 1], "get");
  EXPECT_EQ(a.store.requests[before + 2], "update");
  EXPECT_EQ(a.slow_paths, 1);
}

TEST_F(LeaderElectorTest, LosesWhenItReadsAnotherHolder) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  Lease stolen = Stored();
  stolen.holder_identity = "thief";
  ASSERT_TRUE(leases_.Update(stolen).ok());
  RunFor(6 * kSecond);
  EXPECT_EQ(a.lost, (std::vector<std::string>{R"(another process holds the lease: "thief")"}));
  EXPECT_EQ(a.leaders, (std::vector<std::string>{"thief"}));
}

TEST_F(LeaderElectorTest, LosesWhenTheSchedulingLoopStandsStill) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  a.is_stalled = true;
  a.stalled_at_ns = a.boot_ns();
  RunFor(119 * kSecond);
  EXPECT_TRUE(a.elector.leads());
  RunFor(4 * kSecond);
  ASSERT_EQ(a.lost.size(), 1U);
  EXPECT_TRUE(a.lost[0].starts_with("the scheduling loop has made no progress for 2m"))
      << a.lost[0];
}

TEST_F(LeaderElectorTest, DoesNotAcquireWhileSchedulingLoopStandsStill) {
  ElectionCandidate& a = Add("a");
  a.is_stalled = true;
  a.stalled_at_ns = a.boot_ns() - 200 * kSecond;
  a.elector.Start();
  RunFor(60 * kSecond);
  EXPECT_TRUE(a.store.requests.empty());
  a.is_stalled = false;
  RunFor(6 * kSecond);
  EXPECT_TRUE(a.elector.leads());
}

TEST_F(LoneElectorTest, LogsOnceThatTheSchedulingLoopStandsStill) {
  TestLog log;
  LeaderElector::Callbacks callbacks;
  callbacks.last_progress_ns = [start_ns = clock_.NowNs()] { return start_ns - 200 * kSecond; };
  const auto elector = MakeElector(std::move(callbacks), Log(log, "leaderElection"));
  elector->Start();
  for (int tries = 0; tries < 10; ++tries) {
    clock_.AdvanceTo(*executor_.NextNs());
    ASSERT_TRUE(executor_.RunOne());
  }
  EXPECT_EQ(log.lines(), (std::vector<std::string>{
                             "leaderElection: Cannot acquire the lease: the scheduling loop has "
                             "made no progress for more than 2m0s lease=kube-system/"
                             "kube-scheduler"}));
}

// A server that denies the requests of a verb.
class DeniedLease final : public LeaseStore {
 public:
  DeniedLease(LeaseStore& store, Executor& executor) : store_(store), executor_(executor) {}

  void Get(int64_t timeout_ns, LeaseCallback answer) override {
    if (denied == "get") return Deny(std::move(answer));
    store_.Get(timeout_ns, std::move(answer));
  }
  void Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override {
    if (denied == "create") return Deny(std::move(answer));
    store_.Create(lease, timeout_ns, std::move(answer));
  }
  void Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override {
    store_.Update(lease, timeout_ns, std::move(answer));
  }

  std::string denied;

 private:
  void Deny(LeaseCallback answer) {
    executor_.Post([this, answer = std::move(answer)] {
      answer(Status::PermissionDenied("leases is forbidden: User \"eve\" cannot " + denied));
    });
  }

  LeaseStore& store_;
  Executor& executor_;
};

TEST_F(LoneElectorTest, NamesTheRulesThatItLacks) {
  TestLog log;
  DeniedLease denied(store_, executor_);
  LeaderElector elector(denied, executor_, clock_, fence_, ElectionOptionsOf("a", 1), {},
                        Log(log, "leaderElection"));
  const auto run = [this] {
    for (int tries = 0; tries < 40; ++tries) {
      if (!executor_.RunOne()) clock_.AdvanceTo(*executor_.NextNs());
    }
  };
  EXPECT_TRUE(elector.error().ok()) << "there was no try yet";
  denied.denied = "get";
  elector.Start();
  for (const char* verb : {"get", "create"}) {
    denied.denied = verb;
    run();
    EXPECT_FALSE(elector.leads());
    const std::string expected =
        std::string("leases is forbidden: User \"eve\" cannot ") + verb +
        ". Add these rules to a role of the namespace kube-system: {apiGroups: "
        "[coordination.k8s.io], resources: [leases], verbs: [create]} and {apiGroups: "
        "[coordination.k8s.io], resources: [leases], resourceNames: [kube-scheduler], verbs: [get, "
        "update]}";
    EXPECT_EQ(elector.error().message(), expected);
    EXPECT_EQ(log.lines().back(), "leaderElection: Cannot acquire the lease: " + expected +
                                      " lease=kube-system/kube-scheduler");
  }
  denied.denied = "";
  run();
  EXPECT_TRUE(elector.leads());
  EXPECT_TRUE(elector.error().ok());
}

TEST_F(LeaderElectorTest, AStandbyHasNoError) {
  Start("a");
  RunFor(kSecond);
  ElectionCandidate& b = Add("b");
  b.store.fault = [] { return LeaseFault{.loses_request = true}; };
  b.elector.Start();
  RunFor(6 * kSecond);
  EXPECT_EQ(b.elector.error().message(), "the server did not answer in time");
  b.store.fault = [] { return LeaseFault(); };
  RunFor(12 * kSecond);
  EXPECT_FALSE(b.elector.leads());
  EXPECT_TRUE(b.elector.error().ok()) << b.elector.error().ToString();
}

TEST_F(LoneElectorTest, NeedsNoCallbacks) {
  const auto elector = MakeElector();
  elector->Start();
  for (int i = 0; i < 100 && !elector->leads(); ++i) {
    if (!executor_.RunOne()) clock_.AdvanceTo(*executor_.NextNs());
  }
  EXPECT_TRUE(elector->leads());
  EXPECT_TRUE(fence_.is_open());
}

// ---- Two electors -------------------------------------------------------------------------------

TEST_F(LeaderElectorTest, WaitsForWholeLeaseOfLeaderThatDied) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  ElectionCandidate& b = Start("b");
  RunFor(20 * kSecond);
  EXPECT_EQ(Leaders(), "a ");
  EXPECT_EQ(b.leaders, (std::vector<std::string>{"a"}));
  const int64_t last_ns = Stored().renew_ns;
  a.is_dead = true;
  for (int i = 0; i < 600 && !b.elector.leads(); ++i) RunFor(100 * kMillisecond);
  ASSERT_TRUE(b.elector.leads());
  // The renewal was seen some time after it was written; the retry period with jitter is 4.4 s.
  EXPECT_GE(clock_.NowNs(), last_ns + 15 * kSecond);
  EXPECT_LE(clock_.NowNs(), last_ns + 15 * kSecond + 2 * 4400 * kMillisecond + kSecond);
  EXPECT_EQ(Stored().transitions, 1);
  ASSERT_EQ(b.started.size(), 1U);
  EXPECT_GE(b.started[0], 32 * kSecond) << "how long b saw the lease of a";
}

TEST_F(LeaderElectorTest, TakesAReleasedLeaseAtOnce) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  ElectionCandidate& b = Start("b");
  RunFor(20 * kSecond);
  bool is_done = false;
  a.elector.Release(5 * kSecond, [&is_done] { is_done = true; });
  EXPECT_FALSE(a.fence.is_open());
  EXPECT_FALSE(is_done);
  RunFor(10 * kMillisecond);
  EXPECT_TRUE(is_done);
  EXPECT_EQ(Stored().holder_identity, "");
  EXPECT_EQ(Stored().duration_seconds, 1);
  RunFor(4400 * kMillisecond + 10 * kMillisecond);
  EXPECT_TRUE(b.elector.leads());
  EXPECT_EQ(b.started, (std::vector<int64_t>{0}));
  EXPECT_EQ(b.leaders, (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(a.lost.empty());
  EXPECT_EQ(Stored().transitions, 1);
}

TEST_F(LeaderElectorTest, ClosesTheFenceOfALeaderStopped) {
  struct Case {
    double part_of_lease;
    bool stays_leader;
  };
  // Renewals are 2 s old at most, and the deadline is two thirds of the lease.
  for (const Case& c : {Case{0.5, true}, Case{1.0, false}, Case{2.0, false}, Case{3.0, false}}) {
    SCOPED_TRACE(c.part_of_lease);
    RetireAll();
    ElectionCandidate& a = Start("a" + std::to_string(c.part_of_lease));
    RunFor(30 * kSecond);
    ASSERT_TRUE(a.elector.leads());
    ElectionCandidate& b = Start("b" + std::to_string(c.part_of_lease));
    RunFor(10 * kSecond);
    const auto pause_ns = static_cast<int64_t>(c.part_of_lease * 15e9);
    Pause(a, pause_ns);
    RunFor(pause_ns + kSecond);
    EXPECT_EQ(a.elector.leads(), c.stays_leader);
    EXPECT_EQ(a.fence.is_open(), c.stays_leader);
    EXPECT_EQ(a.lost.size(), c.stays_leader ? 0U : 1U);
    RunFor(30 * kSecond);
    EXPECT_EQ(b.elector.leads(), !c.stays_leader);
    // The next case begins with a lease without a holder.
    for (ElectionCandidate* candidate : {&a, &b}) candidate->elector.Release(kSecond, [] {});
    RunFor(2 * kSecond);
  }
}

TEST_F(LeaderElectorTest, IgnoresTheWallClocks) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  ElectionCandidate& b = Start("b");
  const int64_t steps[] = {-kHour, kHour, -24 * kHour, 0, 3 * kSecond, -20 * kSecond};
  for (const int64_t step_ns : steps) {
    a.wall.step_ns = step_ns;
    RunFor(7 * kSecond);
    b.wall.step_ns = -2 * step_ns;
    RunFor(7 * kSecond);
    EXPECT_EQ(Leaders(), "a ");
  }
}

TEST_F(LeaderElectorTest, CountsALabelChangeAsNoRenewal) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  ElectionCandidate& b = Start("b");
  RunFor(10 * kSecond);
  a.is_dead = true;
  const int64_t died_ns = clock_.NowNs();
  // Another client writes the same record again and again.
  while (!b.elector.leads() && clock_.NowNs() < died_ns + 60 * kSecond) {
    ASSERT_TRUE(leases_.Update(Stored()).ok());
    RunFor(3 * kSecond);
  }
  EXPECT_TRUE(b.elector.leads());
  EXPECT_LE(clock_.NowNs() - died_ns, 30 * kSecond);
}

TEST_F(LeaderElectorTest, UsesItsOwnDurationForRecordWithoutOne) {
  Lease odd;
  odd.ns = "kube-system";
  odd.name = "kube-scheduler";
  odd.holder_identity = "odd";
  ASSERT_TRUE(leases_.Create(odd).ok());
  ElectionCandidate& a = Start("a");
  RunFor(15 * kSecond);
  EXPECT_FALSE(a.elector.leads());
  RunFor(5 * kSecond);
  EXPECT_TRUE(a.elector.leads());
}

// ---- Release ------------------------------------------------------------------------------------

struct ReleaseCase {
  const char* name;
  LeaseFault fault;    // Of each request after the release was called.
  int64_t before_ns;   // When the release is called.
  const char* holder;  // Afterwards.
  bool ends_at_limit;
};

TEST_F(LeaderElectorTest, EndsEveryRelease) {
  const ReleaseCase cases[] = {
      {"before the first answer", {}, 0, "", false},
      {"while the lease is created", {}, 3 * kMillisecond, "", false},
      {"while it leads", {}, 5 * kSecond, "", false},
      {"while a renewal is under way", {}, 2004 * kMillisecond, "", false},
      {"with lost answers", {.loses_answer = true}, 5 * kSecond, "", true},
      {"with lost requests", {.loses_request = true}, 5 * kSecond, "x", true},
  };
  int number = 0;
  for (const ReleaseCase& c : cases) {
    SCOPED_TRACE(c.name);
    RetireAll();
    RunFor(30 * kSecond);
    const std::string identity = "x" + std::to_string(++number);
    ElectionCandidate& a = Start(identity);
    RunFor(c.before_ns);
    a.store.fault = [&c] { return c.fault; };
    int done = 0;
    const int64_t called_ns = clock_.NowNs();
    int64_t done_ns = 0;
    a.elector.Release(3 * kSecond, [&] {
      ++done;
      done_ns = clock_.NowNs();
    });
    EXPECT_EQ(done, 0);
    RunFor(30 * kSecond);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(done_ns - called_ns == 3 * kSecond, c.ends_at_limit) << done_ns - called_ns;
    EXPECT_EQ(Stored().holder_identity, c.holder[0] == 'x' ? identity : "");
    EXPECT_FALSE(a.fence.is_open());
    EXPECT_TRUE(a.lost.empty());
  }
}

TEST_F(LeaderElectorTest, DoesNotReleaseTheLeaseOfAnotherProcess) {
  ElectionCandidate& a = Start("a");
  RunFor(kSecond);
  ElectionCandidate& b = Start("b");
  RunFor(10 * kSecond);
  bool is_done = false;
  b.elector.Release(kSecond, [&is_done] { is_done = true; });
  RunFor(kSecond);
  EXPECT_TRUE(is_done);
  EXPECT_EQ(std::ranges::count(b.store.requests, "release"), 0);
  EXPECT_EQ(Leaders(), "a ");
  EXPECT_TRUE(a.fence.is_open());
}

TEST_F(LoneElectorTest, IgnoresAnswersAfterItsDestruction) {
  auto elector = MakeElector();
  elector->Start();
  elector.reset();
  clock_.AdvanceTo(clock_.NowNs() + 10 * kSecond);
  executor_.RunAll();
  EXPECT_EQ(store_.requests, (std::vector<std::string>{"get"}));
}

}  // namespace
}  // namespace berth::host
