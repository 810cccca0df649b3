// Measures the TopologyIndex of the SDK: changes of pods, questions, and memory, with 150,000 pods
// on 15,000 nodes in three zones.
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <berth/testing/node_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/topology_index.h>

#include "tests/sdk/topology_cluster.h"

namespace berth::bench {
namespace {

using testing::In;
using testing::MakeNode;
using testing::MakePod;
using testing::NodeHandle;
using testing::PodHandle;
using testing::PodSpec;

constexpr uint32_t kNodes = 15'000;
constexpr uint32_t kPods = 150'000;
constexpr uint32_t kDeployments = 1'000;

size_t UsedBytes() { return mallinfo2().uordblks; }

// A cluster whose pods are those of equal Deployments. `kUnique`: every pod has a label of its own.
template <bool kUnique>
class Cluster {
 public:
  Cluster() {
    for (uint32_t i = 0; i < kNodes; ++i) {
      nodes_.emplace_back(MakeNode("node-" + std::to_string(i))
                              .Label("topology.kubernetes.io/zone", "z" + std::to_string(i % 3))
                              .Label("kubernetes.io/hostname", "node-" + std::to_string(i))
                              .Label("kubernetes.io/os", "linux"),
                          host_.ids());
    }
    const uint32_t shapes = kUnique ? kPods : kDeployments;
    for (uint32_t i = 0; i < shapes; ++i) pods_.emplace_back(MakeSpec(i), host_.ids());
    const size_t before = UsedBytes();
    index_ = std::make_unique<TopologyIndex>(host_.host());
    for (uint32_t i = 0; i < kNodes; ++i) Change(BERTH_CHANGE_NODE_ADDED, i, nullptr);
    for (uint32_t i = 0; i < kPods; ++i) Change(BERTH_CHANGE_POD_ADDED, i % kNodes, &PodAt(i));
    bytes_without_counters_ = UsedBytes() - before;
    // A counter with two keys for as many of the Deployments as the limit permits.
    for (uint32_t i = 0; i < kDeployments; ++i) {
      Count(i, "topology.kubernetes.io/zone");
      Count(i, "kubernetes.io/hostname");
    }
    bytes_ = UsedBytes() - before;
  }

  // The pod number `i`, one of deployment `i % kDeployments`.
  const PodHandle& PodAt(uint32_t i) const { return pods_[i % pods_.size()]; }
  CountedDomains Count(uint32_t deployment, const char* key) {
    const PodHandle& pod = PodAt(deployment);
    const berth_id id = host_.ids().Find(key);
    return index_->Count(QueryOf(*pod), id, ++cycle_);
  }
  static PodQuery QueryOf(const berth_pod& pod) {
    const auto terms = Span<const berth_pod_term>(pod.affinity->required_pod_anti_terms);
    return PodQuery(PodQuery::kWithTerminating).Means(pod.meta->ns, terms[0]);
  }
  void Change(uint32_t kind, uint32_t row, const PodHandle* pod) {
    const berth_change change = {sizeof(change),
                                 kind,
                                 0,
                                 row,
                                 ++sequence_,
                                 pod == nullptr ? nullptr : pod->get(),
                                 nullptr,
                                 nodes_[row].get(),
                                 nullptr};
    index_->OnChange(change);
  }
  TopologyIndex& index() { return *index_; }
  testing::Ids& ids() { return host_.ids(); }
  void Report(benchmark::State& state) const {
    constexpr double kMiB = 1 << 20;
    state.counters["index_mib"] = static_cast<double>(bytes_) / kMiB;
    state.counters["index_mib_without_counters"] =
        static_cast<double>(bytes_without_counters_) / kMiB;
    state.counters["estimated_mib"] = static_cast<double>(index_->bytes()) / kMiB;
  }

 private:
  static PodSpec MakeSpec(uint32_t i) {
    const std::string app = "app-" + std::to_string(i % kDeployments);
    PodSpec pod = MakePod("p")
                      .Namespace("team-" + std::to_string(i % 50))
                      .Label("app", app)
                      .Label("app.kubernetes.io/instance", app)
                      .Label("app.kubernetes.io/managed-by", "Helm")
                      .Label("pod-template-hash", "hash-" + app)
                      .PodAntiAffinity("kubernetes.io/hostname", {In("app", {app})})
                      .PreferredPodAffinity(10, "topology.kubernetes.io/zone", {In("app", {app})});
    if (kUnique) pod.Label("statefulset.kubernetes.io/pod-name", "p-" + std::to_string(i));
    return pod;
  }

  testing::TopologyHost host_;
  std::vector<NodeHandle> nodes_;
  std::vector<PodHandle> pods_;
  std::unique_ptr<TopologyIndex> index_;
  size_t bytes_ = 0;
  size_t bytes_without_counters_ = 0;
  uint64_t sequence_ = 0;
  uint64_t cycle_ = 0;
};

// Each type of cluster is built once.
template <bool kUnique>
Cluster<kUnique>& TheCluster() {
  static auto* const cluster = new Cluster<kUnique>;
  return *cluster;
}

// One iteration is one change: the addition of a pod, or its removal.
template <bool kUnique>
void BM_PodChange(benchmark::State& state) {
  Cluster<kUnique>& cluster = TheCluster<kUnique>();
  uint32_t next = 0;
  bool add = false;
  for (auto _ : state) {
    const uint32_t pod = next * 7919 % kPods;
    cluster.Change(add ? BERTH_CHANGE_POD_ADDED : BERTH_CHANGE_POD_REMOVED, pod % kNodes,
                   &cluster.PodAt(pod));
    if (add) ++next;
    add = !add;
  }
  if (add) {
    const uint32_t pod = next * 7919 % kPods;
    cluster.Change(BERTH_CHANGE_POD_ADDED, pod % kNodes, &cluster.PodAt(pod));
  }
  cluster.Report(state);
}
BENCHMARK(BM_PodChange<false>);
BENCHMARK(BM_PodChange<true>);

void BM_CountKnown(benchmark::State& state) {
  Cluster<false>& cluster = TheCluster<false>();
  for (auto _ : state) {
    benchmark::DoNotOptimize(cluster.Count(kDeployments - 1, "kubernetes.io/hostname"));
  }
}
BENCHMARK(BM_CountKnown);

// A question that was never asked: a scan over all pods.
void BM_CountNew(benchmark::State& state) {
  Cluster<false>& cluster = TheCluster<false>();
  uint32_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::string app = "other-" + std::to_string(++next);
    const PodHandle pod(
        MakePod("p").Namespace("team-1").PodAntiAffinity("zone", {In("app", {app})}),
        cluster.ids());
    state.ResumeTiming();
    benchmark::DoNotOptimize(
        cluster.index().Count(Cluster<false>::QueryOf(*pod), next + 1'000'000));
  }
}
BENCHMARK(BM_CountNew);

void BM_FindTerms(benchmark::State& state) {
  Cluster<false>& cluster = TheCluster<false>();
  std::vector<const TermGroup*> groups;
  for (auto _ : state) {
    groups.clear();
    cluster.index().FindTerms(*cluster.PodAt(17), kRequiredAntiAffinity, groups);
    benchmark::DoNotOptimize(groups.data());
  }
  state.counters["found"] = static_cast<double>(groups.size());
}
BENCHMARK(BM_FindTerms);

}  // namespace
}  // namespace berth::bench
