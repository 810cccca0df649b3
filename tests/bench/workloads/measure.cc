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

#include "host/api/assert.h"
#include "host/cli/embedded_scheduler.h"
#include "host/cli/virtual_clock.h"
#include "tests/bench/workloads/allocations.h"

namespace berth::bench {
namespace {

using host::Failure;
using host::PodRef;
using host::Result;
using host::Status;

constexpr int64_t kStartNs = 1'767'225'600'000'000'000;  // 2026-01-01T00:00:00Z

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double CpuSeconds() {
  timespec time{};
  BERTH_ASSERT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double SecondsSince(int64_t start_ns) { return static_cast<double>(SteadyNs() - start_ns) / 1e9; }

// Looks at the clock when a decision is made, and at what was allocated until then.
class DecisionMeter final : public host::DecisionSink {
 public:
  // Forgets what was before; has room for so many decisions.
  void Reset(size_t decisions) {
    took_ns_.clear();
    took_ns_.reserve(decisions);
    allocated_ = {};
    bound_ = refused_ = 0;
  }
  // The queue is about to be popped.
  void Begin() {
    before_ = AllocationsOfThread();
    begin_ns_ = SteadyNs();
  }

  void OnAssumed(const PodRef&, std::string_view) override { End(); }
  void OnBound(const PodRef&, std::string_view) override { ++bound_; }
  void OnFailed(const PodRef&, std::string_view node, const Failure&) override {
    if (node.empty()) End();
    ++refused_;
  }

  std::vector<int64_t>& took_ns() { return took_ns_; }
  const Allocations& allocated() const { return allocated_; }
  uint64_t bound() const { return bound_; }
  uint64_t refused() const { return refused_; }

 private:
  void End() {
    took_ns_.push_back(SteadyNs() - begin_ns_);
    const Allocations now = AllocationsOfThread();
    allocated_.count += now.count - before_.count;
    allocated_.bytes += now.bytes - before_.bytes;
  }

  std::vector<int64_t> took_ns_;
  Allocations before_;
  Allocations allocated_;
  int64_t begin_ns_ = 0;
  uint64_t bound_ = 0;
  uint64_t refused_ = 0;
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
  void RunToRest() {
    while (!scheduler_->AtRest()) {
      scheduler_->cluster().Deliver();
      while (scheduler_->loop().Settle()) scheduler_->cluster().Deliver();
      meter_.Begin();
      if (scheduler_->Step()) continue;
      const std::optional<int64_t> next = scheduler_->NextStepNs();
      if (!next.has_value()) return;
      clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
    }
  }
  DecisionMeter& meter() { return meter_; }

 private:
  Status Add(std::string_view what, std::string json) {
    return scheduler_->AddText(what, std::move(json));
  }

  const Workload& workload_;
  host::VirtualClock clock_{kStartNs};
  DecisionMeter meter_;
  std::unique_ptr<host::EmbeddedScheduler> scheduler_;  // Goes before what it uses.
};

void Note(DecisionMeter& meter, Measurement& found) {
  found.decisions = meter.took_ns().size();
  found.bound = meter.bound();
  found.refused = meter.refused();
  found.pods_per_second = static_cast<double>(found.bound) / found.seconds;
  const auto decisions = static_cast<double>(found.decisions);
  found.decisions_per_second = decisions / found.seconds;
  found.decision_p50_ns = Percentile(meter.took_ns(), 50);
  found.decision_p99_ns = Percentile(meter.took_ns(), 99);
  found.decision_max_ns = Percentile(meter.took_ns(), 100);
  if (found.decisions > 0) found.cpu_us_per_decision = found.cpu_seconds * 1e6 / decisions;
  if (!CountsAllocations() || found.decisions == 0) return;
  found.allocations_per_decision = static_cast<double>(meter.allocated().count) / decisions;
  found.allocated_bytes_per_decision = static_cast<double>(meter.allocated().bytes) / decisions;
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
  stage.meter().Reset(all_pods);

  const int64_t load_ns = SteadyNs();
  if (Status status = stage.Start(); !status.ok()) return status;
  if (Status status = stage.AddPods(0, first_measured); !status.ok()) return status;
  found.load_seconds = SecondsSince(load_ns);
  stage.RunToRest();
  if (stage.meter().bound() != first_measured) {
    return Status::Internal(std::string(workload.name) + ": " +
                            std::to_string(stage.meter().bound()) + " of " +
                            std::to_string(first_measured) + " first pods found a node");
  }
  const int64_t more_ns = SteadyNs();
  if (Status status = stage.AddPods(first_measured, all_pods); !status.ok()) return status;
  found.load_seconds += SecondsSince(more_ns);

  stage.meter().Reset(all_pods - first_measured);
  const double start_cpu = CpuSeconds();
  const int64_t start_ns = SteadyNs();
  stage.RunToRest();
  found.seconds = SecondsSince(start_ns);
  found.cpu_seconds = CpuSeconds() - start_cpu;
  Note(stage.meter(), found);
  return found;
}

}  // namespace berth::bench
