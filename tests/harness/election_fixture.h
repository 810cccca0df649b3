// Fixture of the tests of leader elections: processes, a server and a network in virtual time.
#ifndef BERTH_TESTS_HARNESS_ELECTION_FIXTURE_H_
#define BERTH_TESTS_HARNESS_ELECTION_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/stored_objects.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

inline constexpr int64_t kElectionStart = 1'768'032'000 * kSecond;

// A wall clock with an error that a test changes.
class SteppedClock final : public Clock {
 public:
  explicit SteppedClock(const Clock& clock) : clock_(clock) {}
  int64_t NowNs() const override { return clock_.NowNs() + step_ns; }
  int64_t step_ns = 0;

 private:
  const Clock& clock_;
};

// The delays and losses of one request for a lease.
struct LeaseFault {
  int64_t to_server_ns = kMillisecond;  // The server executes the request after this time.
  int64_t to_client_ns = kMillisecond;
  bool loses_request = false;
  bool loses_answer = false;
};

// The lease of one cluster, and the network between it and one process. A request without an answer
// fails at its time limit. The server may execute it later nevertheless.
class NetworkedLease final : public LeaseStore {
 public:
  NetworkedLease(StoredLeases& leases, Executor& server, Executor& client)
      : leases_(leases), server_(server), client_(client) {}

  void Get(int64_t timeout_ns, LeaseCallback answer) override {
    requests.emplace_back("get");
    Send(
        timeout_ns, [this] { return leases_.Get("kube-system", "kube-scheduler"); },
        std::move(answer));
  }
  void Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override {
    requests.emplace_back("create");
    Send(
        timeout_ns, [this, lease] { return leases_.Create(lease); }, std::move(answer));
  }
  void Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override {
    requests.push_back(lease.holder_identity.empty() ? "release" : "update");
    Send(
        timeout_ns, [this, lease] { return leases_.Update(lease); }, std::move(answer));
  }

  // Returns the fault of the next request.
  std::function<LeaseFault()> fault = [] { return LeaseFault(); };
  std::vector<std::string> requests;
  std::vector<int64_t> timeouts;

 private:
  void Send(int64_t timeout_ns, std::function<Result<Lease>()> execute, LeaseCallback answer) {
    timeouts.push_back(timeout_ns);
    const LeaseFault fate = fault();
    // The first of answer and time-out takes the callback.
    auto open = std::make_shared<LeaseCallback>(std::move(answer));
    const auto finish = [open](Result<Lease> result) {
      if (*open) std::exchange(*open, nullptr)(std::move(result));
    };
    client_.StartTimer(client_.NowNs() + timeout_ns, [finish] {
      finish(Status::Unavailable("the server did not answer in time"));
    });
    if (fate.loses_request) return;
    server_.StartTimer(server_.NowNs() + fate.to_server_ns, [this, fate, finish,
                                                             execute = std::move(execute)] {
      const Result<Lease> result = execute();
      if (fate.loses_answer) return;
      client_.StartTimer(client_.NowNs() + fate.to_client_ns, [finish, result] { finish(result); });
    });
  }

  StoredLeases& leases_;
  Executor& server_;
  Executor& client_;
};

inline ElectionOptions ElectionOptionsOf(const std::string& identity, uint64_t seed) {
  ElectionOptions options;
  options.identity = identity;
  options.seed = seed;
  return options;
}

// A process that takes part in an election. Its boot clock has another start than the other clocks.
struct ElectionCandidate {
  ElectionCandidate(const std::string& name, uint64_t seed, StoredLeases& leases, Executor& server,
                    const VirtualClock& clock, int64_t boot_start_ns)
      : identity(name),
        executor(clock),
        wall(clock),
        boot_ns([&clock, boot_start_ns] { return clock.NowNs() - kElectionStart + boot_start_ns; }),
        fence(boot_ns),
        store(leases, server, executor),
        elector(store, executor, wall, fence, ElectionOptionsOf(name, seed),
                {.on_started =
                     [this](int64_t ns) {
                       EXPECT_TRUE(fence.is_open());
                       started.push_back(ns);
                     },
                 .on_lost =
                     [this](std::string_view why) {
                       EXPECT_FALSE(fence.is_open());
                       lost.emplace_back(why);
                     },
                 .on_new_leader = [this](std::string_view id) { leaders.emplace_back(id); },
                 .last_progress_ns = [this] { return is_stalled ? stalled_at_ns : boot_ns(); },
                 .on_slow_path = [this] { ++slow_paths; }},
                {}) {}

  const std::string identity;
  VirtualExecutor executor;
  SteppedClock wall;
  const std::function<int64_t()> boot_ns;
  BindFence fence;
  NetworkedLease store;
  std::vector<int64_t> started;
  std::vector<std::string> lost;
  std::vector<std::string> leaders;
  int slow_paths = 0;
  bool is_stalled = false;
  int64_t stalled_at_ns = 0;
  int64_t paused_until_ns = 0;  // The process does not run before.
  bool is_dead = false;
  LeaderElector elector;
};

// Processes that elect a leader over one server, in virtual time.
class LeaderElectorTest : public ::testing::Test {
 protected:
  ElectionCandidate& Add(const std::string& name) {
    const uint64_t seed = candidates_.size() + 1;
    candidates_.push_back(std::make_unique<ElectionCandidate>(
        name, seed, leases_, server_, clock_, static_cast<int64_t>(seed) * 1000 * kSecond));
    return *candidates_.back();
  }
  ElectionCandidate& Start(const std::string& name) {
    ElectionCandidate& candidate = Add(name);
    candidate.elector.Start();
    return candidate;
  }
  // Ends all processes. The server executes the requests that they have sent nevertheless.
  void RetireAll() {
    for (auto& candidate : candidates_) {
      candidate->is_dead = true;
      retired_.push_back(std::move(candidate));
    }
    candidates_.clear();
  }
  // Stops the process for a time, as SIGSTOP and SIGCONT do.
  void Pause(ElectionCandidate& candidate, int64_t duration_ns) {
    candidate.paused_until_ns = clock_.NowNs() + duration_ns;
  }

  // Runs everything up to a time from now, and checks the fences after each step.
  void RunFor(int64_t duration_ns) { RunUntil(clock_.NowNs() + duration_ns); }
  void RunUntil(int64_t end_ns) {
    while (true) {
      while (RunOne()) CheckFences();
      std::optional<int64_t> next_ns = server_.NextNs();
      for (const auto& candidate : candidates_) {
        if (candidate->is_dead) continue;
        std::optional<int64_t> at_ns = candidate->paused_until_ns;
        if (*at_ns <= clock_.NowNs()) at_ns = candidate->executor.NextNs();
        if (at_ns && (!next_ns || *at_ns < *next_ns)) next_ns = at_ns;
      }
      if (!next_ns || *next_ns > end_ns) break;
      clock_.AdvanceTo(*next_ns);
    }
    clock_.AdvanceTo(end_ns);
    CheckFences();
  }
  bool RunOne() {
    if (server_.RunOne()) return true;
    for (const auto& candidate : candidates_) {
      const bool runs = !candidate->is_dead && candidate->paused_until_ns <= clock_.NowNs();
      if (runs && candidate->executor.RunOne()) return true;
    }
    return false;
  }
  void CheckFences() {
    const auto is_open = [](const auto& candidate) {
      return !candidate->is_dead && candidate->fence.is_open();
    };
    ASSERT_LE(std::ranges::count_if(candidates_, is_open), 1)
        << "at " << (clock_.NowNs() - kElectionStart) / kMillisecond << " ms";
  }

  // Returns the candidates that lead, with spaces between them.
  std::string Leaders() const {
    std::string names;
    for (const auto& candidate : candidates_) {
      if (!candidate->is_dead && candidate->elector.leads()) names += candidate->identity + " ";
    }
    return names;
  }
  Lease Stored() const {
    const Result<Lease> lease = leases_.Get("kube-system", "kube-scheduler");
    return lease.ok() ? *lease : Lease();
  }

  VirtualClock clock_{kElectionStart};
  VirtualExecutor server_{clock_};
  ResourceVersions versions_;
  StoredLeases leases_{versions_};
  std::vector<std::unique_ptr<ElectionCandidate>> candidates_;
  std::vector<std::unique_ptr<ElectionCandidate>>
      retired_;  // The server still has references to them.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_ELECTION_FIXTURE_H_
