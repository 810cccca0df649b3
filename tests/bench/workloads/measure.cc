#include "tests/bench/workloads/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/event/inbox.h"
#include "host/guard/call_monitor.h"
#include "host/process/replay/embedded_scheduler.h"
#include "tests/bench/workloads/allocations.h"

namespace berth::bench {
namespace {

using host::Failure;
using host::PodRef;
using host::Result;
using host::Status;

// A limit, as in the scheduling loop: plugins may cause new work in every round.
constexpr int kMaxRounds = 32;

constexpr int64_t kStartNs = 1'767'225'600'000'000'000;  // 2026-01-01T00:00:00Z

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t ClockNs(clockid_t clock) {
  timespec time{};
  BERTH_ASSERT(clock_gettime(clock, &time) == 0);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// The measured costs of attempts with the same outcome.
class Samples {
 public:
  void Reset(size_t room) {
    wall_ns_.clear();
    cpu_ns_.clear();
    wall_ns_.reserve(room);
    cpu_ns_.reserve(room);
    allocated_ = {};
  }
  void Add(int64_t wall_ns, int64_t cpu_ns, const Allocations& allocated) {
    wall_ns_.push_back(wall_ns);
    cpu_ns_.push_back(cpu_ns);
    allocated_.count += allocated.count;
    allocated_.bytes += allocated.bytes;
  }
  AttemptCosts ToAttemptCosts() {
    AttemptCosts costs{.count = wall_ns_.size(),
                       .p50_ns = Percentile(wall_ns_, 50),
                       .p99_ns = Percentile(wall_ns_, 99),
                       .max_ns = Percentile(wall_ns_, 100),
                       .cpu_p50_ns = Percentile(cpu_ns_, 50),
                       .cpu_p99_ns = Percentile(cpu_ns_, 99)};
    if (!CountsAllocations() || costs.count == 0) return costs;
    const auto count = static_cast<double>(costs.count);
    costs.allocations = static_cast<double>(allocated_.count) / count;
    costs.allocated_bytes = static_cast<double>(allocated_.bytes) / count;
    return costs;
  }

 private:
  std::vector<int64_t> wall_ns_;
  std::vector<int64_t> cpu_ns_;
  Allocations allocated_;
};

// Measures the time and the allocations of each attempt. The attempt of a group is measured until
// the first of its members is decided.
class DecisionMeter final : public host::DecisionSink {
 public:
  // Discards all measurements and reserves memory for `attempts` attempts.
  void Reset(size_t attempts) {
    placed_.Reset(attempts);
    refused_.Reset(attempts);
    bound_ = 0;
    is_open_ = false;
  }
  // Starts to measure an attempt. Called before the queue is popped.
  void Begin() {
    is_open_ = true;
    allocated_ = AllocationsOfThread();
    cpu_ns_ = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    wall_ns_ = SteadyNs();
  }

  void OnAssumed(const PodRef&, std::string_view) override { End(placed_); }
  void OnBound(const PodRef&, std::string_view) override { ++bound_; }
  void OnFailed(const PodRef&, std::string_view, const Failure&) override { End(refused_); }

  Samples& placed() { return placed_; }
  Samples& refused() { return refused_; }
  uint64_t bound() const { return bound_; }

 private:
  // Ends the measurement of the attempt. Does nothing if it has ended before, which is the case for
  // a pod whose binding fails.
  void End(Samples& samples) {
    if (!std::exchange(is_open_, false)) return;
    const int64_t wall_ns = SteadyNs() - wall_ns_;
    const int64_t cpu_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns_;
    const Allocations now = AllocationsOfThread();
    samples.Add(wall_ns, cpu_ns, {now.count - allocated_.count, now.bytes - allocated_.bytes});
  }

  Samples placed_;
  Samples refused_;
  uint64_t bound_ = 0;
  bool is_open_ = false;
  Allocations allocated_;
  int64_t wall_ns_ = 0;
  int64_t cpu_ns_ = 0;
};

// A scheduler on an embedded cluster with the nodes and pods of a workload.
class WorkloadScheduler {
 public:
  WorkloadScheduler(const Workload& workload, const host::ProfileSet& set) : workload_(workload) {
    host::SchedulerOptions options;
    options.plugins = set.plugins;
    options.profiles = set.specs;
    options.loop.seed = host::kDefaultSeed;
    options.loop.clock = &clock_;
    options.loop.sink = &meter_;
    options.loop.waker = &waker_;
    options.loop.bind_deadline_ns = host::CallDeadlines().bind_ns;
    scheduler_ = std::make_unique<host::EmbeddedScheduler>(std::move(options));
  }

  Status Start() {
    for (std::string& json : NamespacesJson(workload_)) {
      if (Status status = Add("namespace", std::move(json)); !status.ok()) return status;
    }
    for (uint32_t i = 0; i < workload_.nodes; ++i) {
      if (Status status = Add("node", NodeJson(workload_, i)); !status.ok()) return status;
    }
    return scheduler_->Start();
  }
  Status AddPods(uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
      if (Status status = Add("pod", PodJson(workload_, i)); !status.ok()) return status;
    }
    return {};
  }
  // Runs until no pod is active or in backoff and no pod is in flight or being bound.
  // Errors: Internal if pods are in flight and nothing can happen any more.
  Status RunToRest() {
    while (!scheduler_->AtRest()) {
      if (Step() || scheduler_->WaitForThreads(waker_)) continue;
      const std::optional<int64_t> next = scheduler_->NextStepNs();
      if (!next.has_value()) {
        return Status::Internal(std::to_string(scheduler_->loop().binding_count()) +
                                " pods are in flight, and no event or timer can complete them");
      }
      clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
    }
    return {};
  }
  DecisionMeter& meter() { return meter_; }

 private:
  // Runs one step of the scheduler. Handles pending events first, so that the meter measures only
  // the attempt. Returns whether anything was done.
  bool Step() {
    bool did = scheduler_->cluster().Deliver();
    for (int i = 0; i < kMaxRounds && scheduler_->loop().Settle(); ++i) {
      did = true;
      scheduler_->cluster().Deliver();
    }
    meter_.Begin();
    did |= scheduler_->Step();
    return did;
  }
  Status Add(std::string_view what, std::string json) {
    return scheduler_->cluster().AddManifest(what, std::move(json));
  }

  const Workload& workload_;
  host::VirtualClock clock_{kStartNs};
  host::ThreadWaker waker_;
  DecisionMeter meter_;
  std::unique_ptr<host::EmbeddedScheduler>
      scheduler_;  // The last member: destroyed before what it uses.
};

void StoreCosts(DecisionMeter& meter, Measurement& found) {
  found.bound = meter.bound();
  found.placed = meter.placed().ToAttemptCosts();
  found.refused = meter.refused().ToAttemptCosts();
  const auto attempts = static_cast<double>(found.placed.count + found.refused.count);
  found.pods_per_second = static_cast<double>(found.bound) / found.seconds;
  found.decisions_per_second = attempts / found.seconds;
  if (attempts > 0) found.cpu_us_per_decision = found.cpu_seconds * 1e6 / attempts;
}

// Starts the scheduler, adds the initial pods and schedules them, before anything is measured.
Status AddInitPods(const Workload& workload, uint32_t count, WorkloadScheduler& scheduler,
                   int64_t& load_ns) {
  const int64_t start_ns = SteadyNs();
  if (Status status = scheduler.Start(); !status.ok()) return status;
  if (Status status = scheduler.AddPods(0, count); !status.ok()) return status;
  load_ns += SteadyNs() - start_ns;
  if (Status status = scheduler.RunToRest(); !status.ok()) return status;
  if (scheduler.meter().bound() == count) return {};
  return Status::Internal(std::to_string(scheduler.meter().bound()) + " of the " +
                          std::to_string(count) + " initial pods fit on the " +
                          std::to_string(workload.nodes) +
                          " nodes: use more nodes or fewer initial pods");
}

}  // namespace

Result<Measurement> Measure(const Workload& workload, const host::ProfileSet& set) {
  Measurement found{.workload = std::string(workload.name),
                    .test_case = std::string(workload.test_case),
                    .nodes = workload.nodes,
                    .images = workload.images,
                    .init_pods = workload.init_pods,
                    .pods = workload.pods};
  const uint32_t all_pods = workload.init_pods + workload.pods;
  const uint32_t first_measured = workload.measures_init ? 0 : workload.init_pods;
  WorkloadScheduler scheduler(workload, set);
  int64_t load_ns = 0;
  Status status = AddInitPods(workload, first_measured, scheduler, load_ns);
  if (!status.ok()) return status;
  const int64_t more_ns = SteadyNs();
  if (status = scheduler.AddPods(first_measured, all_pods); !status.ok()) return status;
  found.load_seconds = Seconds(load_ns + SteadyNs() - more_ns);

  scheduler.meter().Reset(all_pods - first_measured);
  const int64_t start_cpu_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  const int64_t start_ns = SteadyNs();
  if (status = scheduler.RunToRest(); !status.ok()) return status;
  found.seconds = Seconds(SteadyNs() - start_ns);
  found.cpu_seconds = Seconds(ClockNs(CLOCK_PROCESS_CPUTIME_ID) - start_cpu_ns);
  StoreCosts(scheduler.meter(), found);
  return found;
}

}  // namespace berth::bench
