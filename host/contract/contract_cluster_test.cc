#include "host/contract/contract_cluster.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

// Returns the values of a numeric column, or the ids of a label column, over all nodes.
std::multiset<int64_t> ValuesOf(const std::string& column, const ContractCluster& cluster) {
  testing::Ids ids;
  testing::Table table;
  table.ids = &ids;
  for (const testing::NodeSpec& node : cluster.nodes) table.Add(node);
  const testing::CellWriter writer(column, table);
  std::multiset<int64_t> values;
  for (const testing::Row& row : table.rows) {
    int64_t value = 0;
    writer.Write(row, &value);
    values.insert(value);
  }
  return values;
}

TEST(ContractClusterTest, TheValuesOfColumnsDiffer) {
  for (const std::string column :
       {"alloc.cpu", "req.cpu", "label:test.example/rack", "label:topology.kubernetes.io/zone",
        "label:kubernetes.io/hostname", "label:app", "req:test.example/gpu", "hostport:TCP/8080",
        "hostport:UDP/53/10.0.0.1"}) {
    SCOPED_TRACE(column);
    const ContractCluster cluster = MakeContractCluster(std::vector<testing::ColumnName>{{column}});
    const std::multiset<int64_t> values = ValuesOf(column, cluster);
    EXPECT_GT(std::set<int64_t>(values.begin(), values.end()).size(), 1u);
  }
}

TEST(ContractClusterTest, LabelSharedByNodesAndMissingOnOne) {
  const ContractCluster cluster =
      MakeContractCluster(std::vector<testing::ColumnName>{{"label:test.example/rack"}});
  const std::multiset<int64_t> values = ValuesOf("label:test.example/rack", cluster);
  EXPECT_EQ(values.count(0), 1u);
  EXPECT_TRUE(std::ranges::any_of(values, [&](int64_t v) { return values.count(v) == 2; }));
}

TEST(ContractClusterTest, PodsCarryTheLabelsOfColumns) {
  const ContractCluster cluster =
      MakeContractCluster(std::vector<testing::ColumnName>{{"label:test.example/rack"}});
  std::set<std::string> labels;
  std::set<std::string> annotations;
  for (const testing::PodSpec& pod : cluster.pods) {
    const auto label = pod.labels.find("test.example/rack");
    labels.insert(label == pod.labels.end() ? "" : label->second);
    const auto note = std::ranges::find(pod.annotations, "test.example/rack",
                                        &std::pair<std::string, std::string>::first);
    annotations.insert(note == pod.annotations.end() ? "" : note->second);
  }
  EXPECT_EQ(labels, (std::set<std::string>{"", "20", "r1"}));
  EXPECT_EQ(annotations, labels);
}

TEST(ContractClusterTest, IgnoresHostPortsThatAreNoPorts) {
  for (const std::string column : {"hostport:TCP", "hostport:TCP/", "hostport:TCP/x"}) {
    SCOPED_TRACE(column);
    const ContractCluster cluster = MakeContractCluster(std::vector<testing::ColumnName>{{column}});
    EXPECT_EQ(cluster.nodes.size(), MakeContractCluster({}).nodes.size());
  }
}

// Returns the events for the hints about the pod as "resource action", with the numbers of abi.h.
std::multiset<std::pair<uint32_t, uint32_t>> EventsFor(const testing::PodSpec& pod,
                                                       const ContractCluster& cluster) {
  std::multiset<std::pair<uint32_t, uint32_t>> events;
  for (const testing::EventSpec& event : MakeContractEvents(cluster, pod)) {
    const testing::EventSpec seen = testing::HintCaller::SeenFrom(pod, event);
    EXPECT_EQ(event.old_pod.empty() && event.old_node.empty(), event.action == BERTH_ACTION_ADD);
    EXPECT_EQ(event.new_pod.empty() && event.new_node.empty(), event.action == BERTH_ACTION_DELETE);
    events.emplace(seen.resource, seen.action);
  }
  return events;
}

TEST(ContractClusterTest, HintsGetEventsOfNodesAndPods) {
  const std::multiset<std::pair<uint32_t, uint32_t>> all = {
      {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD},
      {BERTH_RESOURCE_NODE, BERTH_ACTION_UPDATE_NODE_LABEL},
      {BERTH_RESOURCE_NODE, BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
      {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_ADD},
      {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_UPDATE_POD_LABEL},
      {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
      {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE},
      {BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_LABEL},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_SCALE_DOWN},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_TOLERATION},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED}};
  const testing::PodSpec pod = testing::MakePod("p").TolerateKey("team");
  EXPECT_EQ(EventsFor(pod, MakeContractCluster({})), all);
  // A cluster that was read may have no pod on a node.
  ContractCluster bare;
  bare.nodes = {testing::MakeNode("a"), testing::MakeNode("b")};
  bare.pods = {pod};
  EXPECT_EQ(EventsFor(pod, bare), all);
  auto gated = all;
  gated.erase({BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED});
  EXPECT_EQ(EventsFor(testing::PodSpec(pod).Gate("g"), bare), gated);
}

}  // namespace
}  // namespace berth::host
