// Measures the time of Filter and Score per node, for the plugins that are listed at the end of
// this file. The cluster has 5,000 nodes, in blocks of 256. Like the host, the benchmark calls a
// plugin through its shared library, which is in the directory PLUGIN_DIR.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <berth/testing/fake_host.h>

namespace berth::testing {
namespace {

constexpr uint32_t kNodes = 5000;
constexpr uint32_t kBlock = 256;

// Returns nodes with labels and 31 pods each. One node in ten has a NoSchedule taint, one in ten a
// PreferNoSchedule taint, one in five has devices, one in 100 is cordoned. Host port 9100 is in use
// on every node, port 8080 on one node in ten.
std::vector<NodeSpec> MakeNodes() {
  std::vector<NodeSpec> nodes;
  for (uint32_t i = 0; i < kNodes; ++i) {
    NodeSpec node = MakeNode("node-" + std::to_string(i)).CpuMilli(32000 + i % 7 * 8000);
    node.Memory((int64_t{64} + i % 5 * 32) << 30).Allocatable("ephemeral-storage", "100Gi");
    if (i % 10 == 0) node.Taint("dedicated", "batch");
    if (i % 10 == 5) node.Taint("slow", "", BERTH_EFFECT_PREFER_NO_SCHEDULE);
    if (i % 5 == 0) node.Allocatable("example.com/gpu", int64_t{8});
    if (i % 100 == 0) node.Unschedulable();
    node.Label("zone", "z" + std::to_string(i % 3)).Label("cores", std::to_string(32 + i % 7 * 8));
    node.Label("kubernetes.io/hostname", node.name).Feature("ExtendWebSocketsToKubelet");
    if (i % 2 == 0) node.Feature("RestartAllContainersOnContainerExits");
    node.Pod(MakePod("a").CpuMilli(i % 29 * 1000).Memory((int64_t{i} % 31) << 30));
    node.Pod(MakePod("exporter").HostPort(9100, BERTH_PROTOCOL_TCP, "10.0.0.1"));
    if (i % 10 == 3) node.Pod(MakePod("ingress").HostPort(8080).Label("app", "ingress"));
    while (node.pods.size() < 30) node.Pod(MakePod("b" + std::to_string(node.pods.size())));
    nodes.push_back(node.Pod(MakePod("b").CpuMilli(250).Memory("512Mi").Label("app", "b")));
  }
  return nodes;
}

PodSpec MakeIncoming() {
  return MakePod("incoming")
      .CpuMilli(1500)
      .Memory("3Gi")
      .TolerateKey("node.kubernetes.io/not-ready", BERTH_EFFECT_NO_EXECUTE)
      .TolerateKey("node.kubernetes.io/unreachable", BERTH_EFFECT_NO_EXECUTE);
}

// A cycle of one plugin after PreFilter and PreScore, and all nodes in blocks.
class Prepared {
 public:
  Prepared(const std::string& plugin, const std::string& args, const PodSpec& pod)
      : plugin_(Library::Open(PLUGIN_DIR "/lib" + plugin + ".so").entry(),
                {.nodes = MakeNodes(), .args = args.empty() ? Args() : Args(args)}),
        cycle_(&plugin_.instance(), &plugin_.table(), PodHandle(pod, plugin_.ids())) {
    static_cast<void>(cycle_.PreFilter());
    static_cast<void>(cycle_.PreScore());
    const std::vector<uint32_t> rows = cycle_.AllRows();
    for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto count = std::min<std::ptrdiff_t>(kBlock, rows.end() - first);
      blocks_.push_back(std::make_unique<Block>(plugin_.table(), cycle_.columns(),
                                                std::vector<uint32_t>(first, first + count),
                                                nullptr, Layout{}));
    }
  }

  Instance& instance() { return plugin_.instance(); }
  const berth_cycle* cycle() const { return cycle_.abi(); }
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }

 private:
  PluginUnderTest plugin_;
  Cycle cycle_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

void ReportTimePerNode(benchmark::State& state) {
  const double nodes = static_cast<double>(state.iterations()) * kNodes;
  state.counters["per_node"] =
      benchmark::Counter(nodes, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Filter(benchmark::State& state, const char* plugin, const char* args, const PodSpec& pod) {
  Prepared prepared(plugin, args, pod);
  const berth_filter filter = *prepared.instance().filter;
  uint8_t codes[kBlock];
  uint64_t reasons[kBlock];
  Status status;
  for (auto _ : state) {
    for (const auto& block : prepared.blocks()) {
      berth_filter_out out{sizeof out, 0, codes, reasons};
      const berth_code code = filter.filter(prepared.instance().self(), prepared.cycle(),
                                            &block->view(), &out, status.abi());
      if (code != BERTH_SUCCESS) state.SkipWithError("Filter failed");
      benchmark::ClobberMemory();
    }
  }
  ReportTimePerNode(state);
}

void BM_Score(benchmark::State& state, const char* plugin, const char* args, const PodSpec& pod) {
  Prepared prepared(plugin, args, pod);
  const berth_score score = *prepared.instance().score;
  int64_t scores[kBlock];
  Status status;
  for (auto _ : state) {
    for (const auto& block : prepared.blocks()) {
      berth_score_out out{sizeof out, 0, scores};
      const berth_code code = score.score(prepared.instance().self(), prepared.cycle(),
                                          &block->view(), &out, status.abi());
      if (code != BERTH_SUCCESS) state.SkipWithError("Score failed");
      benchmark::ClobberMemory();
    }
  }
  ReportTimePerNode(state);
}

// Returns a pod with required node affinity: two of three zones, and all but the smallest nodes.
PodSpec MakeSelective() {
  return MakeIncoming().NodeAffinity({In("zone", {"z0", "z1"}), NotIn("cores", {"32"})});
}
PodSpec MakePreferring() {
  return MakeIncoming()
      .PreferredNodeAffinity(10, {In("zone", {"z0", "z1"})})
      .PreferredNodeAffinity(1, {Exists("gpu")});
}

// Returns a pod with affinity to, and anti-affinity from, pods that are on every node, or on none.
PodSpec MakeAffine() { return MakeIncoming().PodAffinity("zone", {In("app", {"b"})}); }
PodSpec MakeRepelled() {
  return MakeIncoming().PodAntiAffinity("kubernetes.io/hostname", {In("app", {"ingress"})});
}
PodSpec MakeAttracted() {
  return MakeIncoming()
      .PreferredPodAffinity(10, "zone", {In("app", {"b"})})
      .PreferredPodAntiAffinity(1, "kubernetes.io/hostname", {In("app", {"ingress"})});
}

constexpr const char* kMost = R"({"scoringStrategy": {"type": "MostAllocated"}})";
constexpr const char* kRatio = R"({"scoringStrategy": {"type": "RequestedToCapacityRatio",
    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0},
                                           {"utilization": 100, "score": 10}]}}})";
constexpr const char* kThree = R"({"resources": [{"name": "cpu"}, {"name": "memory"},
                                                 {"name": "ephemeral-storage"}]})";

BENCHMARK_CAPTURE(BM_Filter, NodeUnschedulable, "node_unschedulable", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Filter, NodeName, "node_name", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Filter, TaintToleration, "taint_toleration", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Filter, NodeSelector, "node_affinity", "",
                  MakeIncoming().NodeSelector("zone", "z1"));
BENCHMARK_CAPTURE(BM_Filter, InterPodAffinity_zone, "inter_pod_affinity", "", MakeAffine());
BENCHMARK_CAPTURE(BM_Filter, InterPodAffinity_host, "inter_pod_affinity", "", MakeRepelled());
BENCHMARK_CAPTURE(BM_Filter, NodeAffinity, "node_affinity", "", MakeSelective());
BENCHMARK_CAPTURE(BM_Filter, NodeAffinityGt, "node_affinity", "",
                  MakeIncoming().NodeAffinity({Gt("cores", 40)}));
BENCHMARK_CAPTURE(BM_Filter, NodePorts, "node_ports", "", MakeIncoming().HostPort(8080));
BENCHMARK_CAPTURE(BM_Filter, NodePortsAtAddress, "node_ports", "",
                  MakeIncoming().HostPort(9100, BERTH_PROTOCOL_TCP, "10.0.0.2"));
BENCHMARK_CAPTURE(BM_Filter, NodeDeclaredFeatures, "node_declared_features", "",
                  MakeIncoming().RestartsAll());
BENCHMARK_CAPTURE(BM_Filter, Fit, "node_resources_fit", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Filter, FitDevices, "node_resources_fit", "",
                  MakeIncoming().Request("example.com/gpu", "1"));
BENCHMARK_CAPTURE(BM_Score, TaintToleration, "taint_toleration", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Score, InterPodAffinity, "inter_pod_affinity", "", MakeAttracted());
BENCHMARK_CAPTURE(BM_Score, NodeAffinity, "node_affinity", "", MakePreferring());
BENCHMARK_CAPTURE(BM_Score, FitLeast, "node_resources_fit", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Score, FitMost, "node_resources_fit", kMost, MakeIncoming());
BENCHMARK_CAPTURE(BM_Score, FitRatio, "node_resources_fit", kRatio, MakeIncoming());
BENCHMARK_CAPTURE(BM_Score, Balanced, "node_resources_balanced_allocation", "", MakeIncoming());
BENCHMARK_CAPTURE(BM_Score, BalancedThree, "node_resources_balanced_allocation", kThree,
                  MakeIncoming());

}  // namespace
}  // namespace berth::testing
