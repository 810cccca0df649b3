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
#include "host/base/virtual_clock.h"
#include "host/event/inbox.h"
#include "host/guard/call_monitor.h"
#include "host/process/embedded_scheduler.h"
#include "tests/bench/workloads/allocations.h"

namespace berth::bench {
namespace {

using host::Failure;
using host::PodRef;
using host::Result;
using host::Status;

// As the loop itself has it: what plugins ask for may have no end.
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

// What attempts of one kind took.
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
  Taken ToTaken() {
    Taken taken{.count = wall_ns_.size(),
                .p50_ns = Percentile(wall_ns_, 50),
                .p99_ns = Percentile(wall_ns_, 99),
                .max_ns = Percentile(wall_ns_, 100),
                .cpu_p50_ns = Percentile(cpu_ns_, 50),
                .cpu_p99_ns = Percentile(cpu_ns_, 99)};
    if (!CountsAllocations() || taken.count == 0) return taken;
    const auto count = static_cast<double>(taken.count);
    taken.allocations = static_cast<double>(allocated_.count) / count;
    taken.allocated_bytes = static_cast<double>(allocated_.bytes) / count;
    return taken;
  }

 private:
  std::vector<int64_t> wall_ns_;
  std::vector<int64_t> cpu_ns_;
  Allocations allocated_;
};

// Looks at the clocks when an attempt ends, and at what was allocated until then. A group is one
// attempt, which ends with the first of its members.
class DecisionMeter final : public host::DecisionSink {
 public:
  // Forgets what was before; has room for so many attempts.
  void Reset(size_t attempts) {
    placed_.Reset(attempts);
    refused_.Reset(attempts);
    bound_ = 0;
    is_open_ = false;
  }
  // The queue is about to be popped.
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
  // The attempt has ended, unless it had before, as that of a pod whose binding fails.
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

// A scheduler with the cluster of a workload.
class Stage {
 public:
  Stage(const Workload& workload, const host::ProfileSet& set) : workload_(workload) {
    host::EmbeddedScheduler::Options options;
    options.plugins = set.plugins;
    options.profiles = set.specs;
    options.clock = &clock_;
    options.sink = &meter_;
    options.waker = &waker_;
    options.bind_deadline_ns = host::CallDeadlines().bind_ns;
    scheduler_ = host::EmbeddedScheduler::Create(std::move(options));
  }

  Status Start() {
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
  // Until nobody is ready and nobody is on the way to a node.
  // Errors: Internal where that does not come.
  Status RunToRest() {
    while (!scheduler_->AtRest()) {
      if (Step() || scheduler_->WaitForThreads(waker_)) continue;
      const std::optional<int64_t> next = scheduler_->NextStepNs();
      if (!next.has_value()) {
        return Status::Internal(std::to_string(scheduler_->loop().in_flight()) +
                                " pods are on their way to a node, and nothing happens any more");
      }
      clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
    }
    return {};
  }
  DecisionMeter& meter() { return meter_; }

 private:
  // Settles first what has come in, so that what the meter sees is the attempt.
  bool Step() {
    bool did = scheduler_->cluster().Deliver() > 0;
    for (int i = 0; i < kMaxRounds && scheduler_->loop().Settle(); ++i) {
      did = true;
      scheduler_->cluster().Deliver();
    }
    meter_.Begin();
    did |= scheduler_->Step();
    return did;
  }
  Status Add(std::string_view what, std::string json) {
    return scheduler_->AddText(what, std::move(json));
  }

  const Workload& workload_;
  host::VirtualClock clock_{kStartNs};
  host::ThreadWaker waker_;
  DecisionMeter meter_;
  std::unique_ptr<host::EmbeddedScheduler> scheduler_;  // Goes before what it uses.
};

void Note(DecisionMeter& meter, Measurement& found) {
  found.bound = meter.bound();
  found.placed = meter.placed().ToTaken();
  found.refused = meter.refused().ToTaken();
  const auto attempts = static_cast<double>(found.placed.count + found.refused.count);
  found.pods_per_second = static_cast<double>(found.bound) / found.seconds;
  found.decisions_per_second = attempts / found.seconds;
  if (attempts > 0) found.cpu_us_per_decision = found.cpu_seconds * 1e6 / attempts;
}

// The first pods, which are there before anything is measured.
Status AddInitPods(const Workload& workload, uint32_t count, Stage& stage, int64_t& load_ns) {
  const int64_t start_ns = SteadyNs();
  if (Status status = stage.Start(); !status.ok()) return status;
  if (Status status = stage.AddPods(0, count); !status.ok()) return status;
  load_ns += SteadyNs() - start_ns;
  if (Status status = stage.RunToRest(); !status.ok()) return status;
  if (stage.meter().bound() == count) return {};
  return Status::Internal(std::to_string(stage.meter().bound()) + " of the " +
                          std::to_string(count) + " pods that are there before found one of the " +
                          std::to_string(workload.nodes) +
                          " nodes: it takes more nodes, or fewer such pods");
}

}  // namespace

Result<Measurement> Measure(const Workload& workload, const host::ProfileSet& set) {
  Measurement found{.workload = std::string(workload.name),
                    .test_case = std::string(workload.test_case),
                    .nodes = workload.nodes,
                    .init_pods = workload.init_pods,
                    .pods = workload.pods};
  const uint32_t all_pods = workload.init_pods + workload.pods;
  const uint32_t first_measured = workload.measures_init ? 0 : workload.init_pods;
  Stage stage(workload, set);
  int64_t load_ns = 0;
  Status status = AddInitPods(workload, first_measured, stage, load_ns);
  if (!status.ok()) return status;
  const int64_t more_ns = SteadyNs();
  if (status = stage.AddPods(first_measured, all_pods); !status.ok()) return status;
  found.load_seconds = Seconds(load_ns + SteadyNs() - more_ns);

  stage.meter().Reset(all_pods - first_measured);
  const int64_t start_cpu_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  const int64_t start_ns = SteadyNs();
  if (status = stage.RunToRest(); !status.ok()) return status;
  found.seconds = Seconds(SteadyNs() - start_ns);
  found.cpu_seconds = Seconds(ClockNs(CLOCK_PROCESS_CPUTIME_ID) - start_cpu_ns);
  Note(stage.meter(), found);
  return found;
}

}  // namespace berth::bench
