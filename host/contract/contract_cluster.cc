#include "host/contract/contract_cluster.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth::host {
namespace {

using testing::EventSpec;
using testing::MakeNode;
using testing::MakePod;
using testing::NodeSpec;
using testing::PodSpec;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr size_t kNodes = 6;
constexpr const char* kChangedKey = "example.com/changed";

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
      .Label("app", i < 4 ? "node" : "edge");
  if (i == 1) node.Taint("team", "database");
  if (i == 2) node.Taint("spot", "", BERTH_EFFECT_PREFER_NO_SCHEDULE);
  if (i == 3) node.Unschedulable();
  if (i == 4) node.Image("registry.example.com/web:1", int64_t{300} << 20).Feature("Feature");
  return node;
}

// The values of a label on the nodes: numbers, words that two nodes share, and no value at all,
// because a plugin may expect any of them.
constexpr std::array<std::string_view, kNodes> kValues = {"10", "r1", "20", "r1", "", "r2"};

// Adds the labels that the node does not have.
void AddLabels(const std::vector<std::string>& keys, size_t i, NodeSpec& node) {
  for (const std::string& key : keys) {
    if (!kValues[i].empty()) node.labels.emplace(key, kValues[i]);
  }
}

// Gives a pod the labels of node `i`, also as annotations, because a plugin may compare them with
// those of nodes.
void AddLabels(const std::vector<std::string>& keys, size_t i, PodSpec& pod) {
  for (const std::string& key : keys) {
    if (kValues[i].empty()) continue;
    pod.labels.emplace(key, kValues[i]);
    pod.Annotation(key, std::string(kValues[i]));
  }
}

// Adds the host ports of columns: "TCP/80", or "TCP/80/10.0.0.1".
void AddPorts(const std::vector<std::string>& names, PodSpec& pod) {
  for (const std::string& name : names) {
    const size_t number = name.find('/') + 1;
    const size_t ip = name.find('/', number);
    const uint32_t protocol = name.starts_with("UDP")    ? uint32_t{BERTH_PROTOCOL_UDP}
                              : name.starts_with("SCTP") ? uint32_t{BERTH_PROTOCOL_SCTP}
                                                         : uint32_t{BERTH_PROTOCOL_TCP};
    int32_t port = 0;
    const char* const end = name.data() + std::min(ip, name.size());
    if (number == 0 || std::from_chars(name.data() + number, end, port).ec != std::errc()) continue;
    pod.HostPort(port, protocol, ip == std::string::npos ? "" : name.substr(ip + 1));
  }
}

PodSpec Running(size_t i, const std::vector<std::string>& resources) {
  PodSpec pod = MakePod("running-" + std::to_string(i)).Label("app", i % 2 == 0 ? "web" : "db");
  pod.Image("registry.example.com/web:1").CpuMilli(500).Memory(int64_t{1} << 30);
  for (const std::string& resource : resources) pod.Request(resource, static_cast<int64_t>(i));
  if (i % 2 == 0) pod.HostPort(80);
  if (i % 2 == 1) pod.Volume({"disk", BERTH_VOLUME_GCE_DISK, "disk-1"});
  return pod.Priority(static_cast<int32_t>(i));
}

// A pod with a disk that running pods use, and with a claim for a volume in one zone.
PodSpec Stateful() {
  PodSpec pod = MakePod("stateful").CpuMilli(100).PersistentClaim("data", "claim");
  return pod.Volume({"disk", BERTH_VOLUME_GCE_DISK, "disk-1"});
}

// Returns the claim and the volume of Stateful(), and the limits of the volume's driver: 0 to 2
// volumes for each node.
std::vector<testing::ObjectSpec> StorageObjects() {
  std::vector<testing::ObjectSpec> objects = {
      testing::MakeObject("v1/PersistentVolumeClaim", "default", "claim",
                          R"({"spec": {"volumeName": "volume"}})"),
      testing::MakeObject("v1/PersistentVolume", "", "volume",
                          R"({"spec": {"accessModes": ["ReadWriteOnce"], "csi":
                              {"driver": "csi.example.com", "volumeHandle": "handle"}}})")
          .Label(std::string(kZone), "z1")};
  for (size_t i = 0; i < kNodes; ++i) {
    objects.push_back(testing::MakeObject(
        "storage.k8s.io/v1/CSINode", "", "node-" + std::to_string(i),
        R"({"spec": {"drivers": [{"name": "csi.example.com", "nodeID": "id", "allocatable":
            {"count": )" +
            std::to_string(i % 3) + "}}]}}"));
  }
  return objects;
}

// ---- Events -------------------------------------------------------------------------------------

void AddNodeEvents(const ContractCluster& cluster, std::vector<EventSpec>& events) {
  const NodeSpec& node = cluster.nodes.front();
  const NodeSpec& other = cluster.nodes.back();
  events.push_back(
      {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD, .new_node = {node}});
  for (const uint32_t action :
       {BERTH_ACTION_UPDATE_NODE_LABEL, BERTH_ACTION_UPDATE_NODE_ALLOCATABLE}) {
    events.push_back({.resource = BERTH_RESOURCE_NODE,
                      .action = action,
                      .old_node = {other},
                      .new_node = {node}});
  }
}

void AddUpdate(uint32_t action, const PodSpec& before, const PodSpec& after,
               std::vector<EventSpec>& events) {
  events.push_back({.resource = BERTH_RESOURCE_POD_ANY,
                    .action = action,
                    .old_pod = {before},
                    .new_pod = {after}});
}

// Returns a pod that runs; if the cluster has none, a pod like `parked` on the first node.
PodSpec FindRunning(const ContractCluster& cluster, const PodSpec& parked) {
  for (const NodeSpec& node : cluster.nodes) {
    if (!node.pods.empty()) return node.pods.front();
  }
  PodSpec pod = parked;
  pod.name += "-running";
  pod.uid += "-running";
  return pod.NodeName(cluster.nodes.front().name).Phase(BERTH_PHASE_RUNNING);
}

// Returns the pod with a higher request for cpu.
PodSpec Larger(PodSpec pod) {
  const auto more = static_cast<int64_t>(pod.containers.size()) + 1;
  return pod.Container("more").CpuMilli(1000 * more);
}

// Adds the events of pods that run or that are new, as the queue sends them.
void AddEventsOfOthers(const ContractCluster& cluster, const PodSpec& parked,
                       std::vector<EventSpec>& events) {
  const PodSpec running = FindRunning(cluster, parked);
  events.push_back(
      {.resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_ADD, .new_pod = {running}});
  AddUpdate(BERTH_ACTION_UPDATE_POD_LABEL, running, PodSpec(running).Label(kChangedKey, "1"),
            events);
  AddUpdate(BERTH_ACTION_UPDATE_POD_SCALE_DOWN, Larger(running), running, events);
  events.push_back(
      {.resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_DELETE, .old_pod = {running}});
  PodSpec late = parked;
  late.name += "-late";
  late.uid += "-late";
  late.NodeName("").Nominated("");
  events.push_back(
      {.resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_ADD, .new_pod = {late}});
}

// Adds the events of changes after which the parked pod is as it is.
void AddEventsOfParked(const PodSpec& parked, std::vector<EventSpec>& events) {
  AddUpdate(BERTH_ACTION_UPDATE_POD_LABEL, PodSpec(parked).Label(kChangedKey, "1"), parked, events);
  AddUpdate(BERTH_ACTION_UPDATE_POD_SCALE_DOWN, Larger(parked), parked, events);
  AddUpdate(BERTH_ACTION_UPDATE, PodSpec(parked).Annotation(kChangedKey, "1"), parked, events);
  if (!parked.tolerations.empty()) {
    PodSpec before = parked;
    before.tolerations.pop_back();
    AddUpdate(BERTH_ACTION_UPDATE_POD_TOLERATION, before, parked, events);
  }
  if (parked.gates.empty()) {
    AddUpdate(BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
              PodSpec(parked).Gate("example.com/gate"), parked, events);
  }
}

}  // namespace

ContractCluster MakeContractCluster(std::span<const testing::ColumnName> columns) {
  const std::vector<std::string> labels = Named(columns, "label:");
  const std::vector<std::string> resources = Resources(columns);
  const std::vector<std::string> ports = Named(columns, "hostport:");
  const auto running = [&](size_t i) {
    PodSpec pod = Running(i, resources);
    AddLabels(labels, i % kNodes, pod);
    if (i % 2 == 1) AddPorts(ports, pod);
    return pod;
  };
  ContractCluster world;
  for (size_t i = 0; i < kNodes; ++i) {
    NodeSpec node = BareNode(i);
    AddLabels(labels, i, node);
    for (const std::string& resource : resources) node.Allocatable(resource, int64_t{8});
    if (i != 4) node.Pod(running(i));
    if (i == 5) node.Pod(running(i + 1));
    world.nodes.push_back(std::move(node));
  }

  PodSpec rich = MakePod("rich").Priority(1000).CpuMilli(1500).Memory("2Gi");
  rich.Label("app", "web").Annotation("example.com/note", "1").HostPort(80);
  rich.Image("registry.example.com/web:1").TolerateKey("team").NodeSelector("app", "node");
  rich.PreferredNodeAffinity(10, {testing::In(std::string(kZone), {"z1"})});
  rich.PodAntiAffinity("kubernetes.io/hostname", {testing::In("app", {"db"})});
  rich.Spread(1, std::string(kZone), {testing::In("app", {"web"})});
  PodSpec greedy = MakePod("greedy").CpuMilli(100'000).Memory("1Ti");
  PodSpec extended = MakePod("extended").Namespace("other").CpuMilli(100);
  extended.Gate("example.com/gate").NodeName("node-2");
  for (const std::string& resource : resources) {
    greedy.Request(resource, int64_t{1000});
    extended.Request(resource, int64_t{2});
    rich.Request(resource, int64_t{1});
  }
  AddLabels(labels, 1, rich);
  AddLabels(labels, 2, extended);
  AddPorts(ports, rich);
  world.pods = {MakePod("plain"),
                std::move(rich),
                std::move(greedy),
                std::move(extended),
                MakePod("important").Priority(2'000'000'000).CpuMilli(5000).Memory("10Gi"),
                Stateful()};
  world.objects = StorageObjects();
  return world;
}

std::vector<EventSpec> MakeContractEvents(const ContractCluster& cluster, const PodSpec& parked) {
  std::vector<EventSpec> events;
  AddNodeEvents(cluster, events);
  AddEventsOfOthers(cluster, parked, events);
  AddEventsOfParked(parked, events);
  return events;
}

std::vector<testing::ColumnName> FindColumns(testing::PluginUnderTest& plugin,
                                             std::span<const PodSpec> pods) {
  std::vector<testing::ColumnName> columns = plugin.instance().columns();
  for (const PodSpec& pod : pods) {
    testing::Cycle cycle(&plugin.instance(), &plugin.table(),
                         testing::PodHandle(pod, plugin.ids()));
    const testing::Answer answer = cycle.PreFilter();
    if (answer.ok() || answer.code == BERTH_SKIP) cycle.PreScore();
    for (const testing::ColumnName& column : cycle.columns()) {
      if (std::ranges::find(columns, column.name, &testing::ColumnName::name) != columns.end()) {
        continue;
      }
      columns.push_back(column);
    }
  }
  return columns;
}

std::vector<std::string> FindAbsentColumns(testing::PluginUnderTest& plugin,
                                           std::span<const PodSpec> pods) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"label:", "alloc:", "req:", "hostport:"};
  std::vector<std::string> absent;
  for (const testing::ColumnName& column : FindColumns(plugin, pods)) {
    const bool may_be_absent = std::ranges::any_of(
        kPrefixes, [&](std::string_view prefix) { return column.name.starts_with(prefix); });
    if (!may_be_absent || testing::ColumnType(column.name) == 0) continue;
    const testing::CellWriter writer(column.name, plugin.table());
    const bool has_value = std::ranges::any_of(plugin.table().rows, [&](const testing::Row& row) {
      int64_t value = 0;
      writer.Write(row, &value);
      return value != 0;
    });
    if (!has_value) absent.push_back(column.name);
  }
  return absent;
}

}  // namespace berth::host
