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

}  // namespace
}  // namespace berth::host
