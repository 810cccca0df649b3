#include "host/contract/contract_cluster.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace berth::host {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeSpec;
using testing::PodSpec;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr size_t kNodes = 6;

// Returns the names of the columns that start with `prefix`, without the prefix and without
// duplicates.
std::vector<std::string> Named(std::span<const testing::ColumnName> columns,
                               std::string_view prefix) {
  std::vector<std::string> names;
  for (const testing::ColumnName& column : columns) {
    if (!column.name.starts_with(prefix)) continue;
    std::string name = column.name.substr(prefix.size());
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

// Returns extended resources: those that the plugin reads, and one more.
std::vector<std::string> Resources(std::span<const testing::ColumnName> columns) {
  std::vector<std::string> names = Named(columns, "req:");
  for (std::string& name : Named(columns, "alloc:")) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (std::ranges::find(names, "example.com/gpu") == names.end()) {
    names.emplace_back("example.com/gpu");
  }
  return names;
}

NodeSpec BareNode(size_t i) {
  NodeSpec node = MakeNode("node-" + std::to_string(i));
  const auto n = static_cast<int64_t>(i);
  node.CpuMilli(2000 * (n + 1))
      .Memory((int64_t{4} << 30) * (n + 1))
      .Allocatable("ephemeral-storage", int64_t{50} << 30);
  node.Label("kubernetes.io/hostname", node.name)
      .Label(std::string(kZone), i % 2 == 0 ? "z1" : "z2")
      .Label("app", "node");
  if (i == 1) node.Taint("team", "database");
  if (i == 2) node.Taint("spot", "", BERTH_EFFECT_PREFER_NO_SCHEDULE);
  if (i == 3) node.Unschedulable();
  if (i == 4) node.Image("registry.example.com/web:1", int64_t{300} << 20).Feature("Feature");
  return node;
}

// Gives the labels numbers, words, and no value at all, because a plugin may expect any of them.
void AddLabels(const std::vector<std::string>& keys, size_t i, NodeSpec& node) {
  constexpr std::array<std::string_view, kNodes> kValues = {"10", "r1", "20", "r1", "", "r2"};
  for (const std::string& key : keys) {
    if (!kValues[i].empty()) node.Label(key, std::string(kValues[i]));
  }
}

PodSpec Running(size_t i, const std::vector<std::string>& resources) {
  PodSpec pod = MakePod("running-" + std::to_string(i)).Label("app", i % 2 == 0 ? "web" : "db");
  pod.Image("registry.example.com/web:1").CpuMilli(500).Memory(int64_t{1} << 30);
  for (const std::string& resource : resources) pod.Request(resource, static_cast<int64_t>(i));
  if (i % 2 == 0) pod.HostPort(80);
  return pod.Priority(static_cast<int32_t>(i));
}

}  // namespace

ContractCluster MakeContractCluster(std::span<const testing::ColumnName> columns) {
  const std::vector<std::string> labels = Named(columns, "label:");
  const std::vector<std::string> resources = Resources(columns);
  ContractCluster world;
  for (size_t i = 0; i < kNodes; ++i) {
    NodeSpec node = BareNode(i);
    AddLabels(labels, i, node);
    for (const std::string& resource : resources) node.Allocatable(resource, int64_t{8});
    if (i != 4) node.Pod(Running(i, resources));
    if (i == 5) node.Pod(Running(i + 1, resources));
    world.nodes.push_back(std::move(node));
  }

  PodSpec rich = MakePod("rich").Priority(1000).CpuMilli(1500).Memory("2Gi");
  rich.Label("app", "web").Annotation("example.com/note", "1").HostPort(80);
  rich.Image("registry.example.com/web:1").TolerateKey("team").NodeSelector("app", "node");
  rich.PreferredNodeAffinity(10, {testing::Exists(std::string(kZone))});
  rich.PodAntiAffinity("kubernetes.io/hostname", {testing::In("app", {"db"})});
  rich.Spread(1, std::string(kZone), {testing::In("app", {"web"})});
  PodSpec greedy = MakePod("greedy").CpuMilli(100'000).Memory("1Ti");
  PodSpec extended = MakePod("extended").Namespace("other").CpuMilli(100);
  for (const std::string& resource : resources) {
    greedy.Request(resource, int64_t{1000});
    extended.Request(resource, int64_t{2});
    rich.Request(resource, int64_t{1});
  }
  world.pods = {MakePod("plain"), std::move(rich), std::move(greedy), std::move(extended),
                MakePod("important").Priority(2'000'000'000).CpuMilli(1000)};
  return world;
}

}  // namespace berth::host
