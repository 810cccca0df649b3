// Measures berth.whatif/1 as a preemption uses it: 500 nodes, two victims removed from each, and
// the Filters of the default profile run on all of them. The cluster has 1,000 nodes with 30 pods
// each. The calls go through the C ABI, from within PostFilter, to a scheduler over the embedded
// cluster. BM_Preemptor runs whole attempts with test.Preemptor, a plugin in a shared object, in a
// cluster of 500 such nodes, and reports the time that the plugin measures around its one question:
//   whatif_bench --benchmark_filter=BM_Preemptor --benchmark_format=json
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "host/plan/instance_host.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/services/services.h"
#include "tests/harness/default_profile.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

constexpr uint32_t kNodes = 1000;
constexpr uint32_t kRows = 500;
constexpr uint32_t kVictims = 2;
constexpr uint32_t kPodsPerNode = 30;

// Every node is full, so that the pod fits only without the two victims.
void AddFullNode(Harness& harness, const std::string& name) {
  harness.AddNode({.name = name,
                   .allocatable = R"("cpu":"30","memory":"64Gi","pods":"110")",
                   .labels = R"("zone":"a")"});
  for (uint32_t i = 0; i < kPodsPerNode; ++i) {
    harness.AddPod({.name = name + "-" + std::to_string(i),
                    .node = name,
                    .requests = R"("cpu":"1","memory":"100Mi")"});
  }
}

// A scheduler in the middle of an attempt: PreFilter has run, and a plugin is in PostFilter.
class InPostFilter {
 public:
  // `volume`: a claim of the pod that only one pod may use; a plugin tracks its users in its state.
  explicit InPostFilter(bool volume) {
    harness_.AddObject(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{
        "name":"claim","namespace":"default"},
        "spec":{"accessModes":["ReadWriteOncePod"],"volumeName":"pv"}})");
    harness_.AddObject(R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},
        "spec":{"hostPath":{"path":"/data"}}})");
    for (uint32_t i = 0; i < kNodes; ++i) AddFullNode(harness_, "n" + std::to_string(i));
    if (!harness_.Start(DefaultPlanSpec(TestCatalog())).ok()) std::abort();
    Attempt& attempt = harness_.loop().cycle().attempt();
    TestPod pod{.name = "p", .requests = R"("cpu":"2","memory":"1Gi")", .spec = R"("priority":9)"};
    if (volume) {
      pod.spec += R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"claim"}}])";
    }
    attempt.Begin(harness_.objects().Pod(pod), 1);
    if (!RunPreFilter(attempt).status.ok()) std::abort();
    const PlannedPlugin& plugin = attempt.plan().plugins()[0];
    cycle_ = attempt.cycle(0).abi();
    host_ = plugin.host->abi();
    const void* functions = nullptr;
    if (plugin.host->FindService(BERTH_SERVICE_WHATIF, &functions) != BERTH_SUCCESS) std::abort();
    service_ = static_cast<const berth_whatif*>(functions);
    call_ = std::make_unique<PluginCall>(
        *plugin.host, CalledFunction{.point = Point::kPostFilter, .cycle = cycle_});
  }

  // Asks about `count` rows from `first` on in one question. Returns how many of them pass.
  uint32_t Ask(uint32_t first, uint32_t count, uint32_t mode) const {
    std::array<uint32_t, kRows> rows;
    std::array<uint8_t, kRows> codes;
    std::iota(rows.begin(), rows.begin() + count, first);
    uint64_t question = 0;
    service_->begin(host_, cycle_, rows.data(), count, mode, &question);
    const NodeTable& table = harness_.loop().cache().table();
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t v = 0; v < kVictims; ++v) {
        service_->remove_pod(host_, question, i, &table.pods(rows[i])[v]->view(), nullptr);
      }
    }
    const berth_whatif_run run = {sizeof run, 0, nullptr, 0, codes.data()};
    service_->run_filters(host_, question, &run, nullptr);
    service_->end(host_, question);
    return static_cast<uint32_t>(std::count(codes.begin(), codes.begin() + count, BERTH_SUCCESS));
  }

 private:
  mutable Harness harness_;
  const berth_host* host_ = nullptr;
  const berth_cycle* cycle_ = nullptr;
  const berth_whatif* service_ = nullptr;
  std::unique_ptr<PluginCall> call_;
};

void ReportTimePerRow(benchmark::State& state) {
  const double rows = static_cast<double>(state.iterations()) * kRows;
  state.counters["per_row"] =
      benchmark::Counter(rows, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_OneQuestion(benchmark::State& state, uint32_t mode, bool volume) {
  const InPostFilter asking(volume);
  for (auto _ : state) {
    if (asking.Ask(0, kRows, mode) != kRows) state.SkipWithError("a row is rejected");
  }
  ReportTimePerRow(state);
}

// Asks about every row in a question of its own, for comparison.
void BM_OneQuestionPerRow(benchmark::State& state, bool volume) {
  const InPostFilter asking(volume);
  for (auto _ : state) {
    for (uint32_t row = 0; row < kRows; ++row) {
      if (asking.Ask(row, 1, BERTH_WHATIF_APART) != 1) state.SkipWithError("a row is rejected");
    }
  }
  ReportTimePerRow(state);
}

void BM_Preemptor(benchmark::State& state) {
  Harness harness;
  for (uint32_t i = 0; i < kRows; ++i) AddFullNode(harness, "n" + std::to_string(i));
  PlanSpec spec = DefaultPlanSpec(TestCatalog());
  spec.plugins.push_back({.name = "test.Preemptor",
                          .args = std::make_shared<const nlohmann::json>(
                              nlohmann::json{{"victims", kVictims}, {"measures", true}}),
                          .where = "whatif_bench"});
  spec.points[static_cast<size_t>(Point::kPostFilter)] = {{.plugin = "test.Preemptor"}};
  if (!harness.Start(spec).ok()) std::abort();
  const std::string measured = "test.Preemptor: measured begins=1 runs=1 ns=";
  int64_t pods = 0;
  for (auto _ : state) {
    const std::string name = "p" + std::to_string(pods++);
    harness.lines().clear();
    harness.Schedule(
        {.name = name, .requests = R"("cpu":"2","memory":"1Gi")", .spec = R"("priority":9)"});
    const auto line = std::ranges::find_if(
        harness.lines(), [&](const std::string& text) { return text.starts_with(measured); });
    if (line == harness.lines().end()) std::abort();
    state.SetIterationTime(std::stod(line->substr(measured.size())) / 1e9);
    // Its nomination would take room on a node.
    harness.cluster().DeletePod({"default", name, ""}, 0, nullptr);
    harness.Settle();
  }
  ReportTimePerRow(state);
}

BENCHMARK(BM_Preemptor)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneQuestion, Apart, BERTH_WHATIF_APART, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneQuestion, Together, BERTH_WHATIF_TOGETHER, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneQuestion, ApartWithState, BERTH_WHATIF_APART, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneQuestionPerRow, Stateless, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_OneQuestionPerRow, WithState, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::host
