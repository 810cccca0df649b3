#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/cache/node_table.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// One column of every type and rule.
constexpr std::string_view kColumns[] = {
    "name",           "unschedulable", "alloc.cpu",           "alloc:example.com/gpu",
    "req.cpu",        "req.memory",    "req:example.com/gpu", "nonzero.cpu",
    "nonzero.memory", "pods.count",    "hostport:TCP/80",     "taints",
    "taints.hard",    "taints.soft",   "label:zone",          "images",
    "features"};

class PrivateRowsTest : public ::testing::Test {
 protected:
  PrivateRowsTest() {
    for (const char* name : {"a", "b", "c"}) {
      const NodeRef node =
          objects_.Node({.name = name,
                         .labels = std::string("\"zone\":\"z-") + name + '"',
                         .spec = R"("taints":[{"key":"k","effect":"NoSchedule"}])"});
      table_.SetNode(node);
      reference_.SetNode(node);
    }
    table_.RemoveNode("b");  // Leaves a gap in the rows.
    reference_.RemoveNode("b");
    for (const auto& [row, name] : {std::pair{0, "p"}, {0, "q"}, {2, "r"}}) {
      const PodRef pod = MakePod(name);
      pods_.push_back(pod);
      table_.AddPod(static_cast<Row>(row), pod);
      reference_.AddPod(static_cast<Row>(row), pod);
    }
  }
  PodRef MakePod(const std::string& name, const std::string& cpu = "500m") {
    return objects_.Pod(
        {.name = name,
         .node = "a",
         .requests = "\"cpu\":\"" + cpu + "\",\"memory\":\"1Gi\",\"example.com/gpu\":\"1\"",
         .spec = R"("initContainers":[{"name":"s","restartPolicy":"Always",
                                      "ports":[{"containerPort":8080,"hostPort":80}]}])"});
  }

  std::vector<std::byte> Value(const NodeTable& table, ColumnIndex column, Row row) {
    const uint32_t width = table.column_spec(column).width();
    const auto* data = static_cast<const std::byte*>(table.column_data(column));
    return {data + size_t{row} * width, data + size_t{row + 1} * width};
  }
  // Expects equal values in row `index` of `rows` and in row `row` of a table that really has the
  // pods.
  void ExpectSame(PrivateRows& rows, uint32_t index, Row row) {
    EXPECT_EQ(rows.arrays().nodes[index], reference_.arrays().nodes[row]);
    EXPECT_EQ(rows.arrays().versions[index], table_.arrays().versions[row]);
    const auto& list = rows.arrays().pods[index];
    EXPECT_THAT(std::vector(list.data, list.data + list.count),
                ::testing::UnorderedElementsAreArray(reference_.arrays().pods[row].data,
                                                     reference_.arrays().pods[row].count));
    for (const std::string_view name : kColumns) {
      SCOPED_TRACE(name);
      const ColumnIndex column = *table_.ColumnFor(name);
      const uint32_t width = table_.column_spec(column).width();
      const auto* data = static_cast<const std::byte*>(rows.ColumnData(column)) + index * width;
      EXPECT_EQ(std::vector(data, data + width),
                Value(reference_, *reference_.ColumnFor(name), row));
    }
  }

  TestObjects objects_;
  NodeTable table_{objects_.interner()};
  NodeTable reference_{objects_.interner()};  // A table that really has the pods.
  std::vector<PodRef> pods_;
};

TEST_F(PrivateRowsTest, ACopyHasTheValuesOfTheTable) {
  PrivateRows rows(table_);
  EXPECT_EQ(rows.Add(2), 0U);
  EXPECT_EQ(rows.Add(0), 1U);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows.arrays().rows, ElementsAre(2, 0));
  ExpectSame(rows, 0, 2);
  ExpectSame(rows, 1, 0);
}

// The table has no memory for the requests of a resource that no pod on a row has.
TEST_F(PrivateRowsTest, APodMayRequestWhatNothingHas) {
  const ColumnIndex column = *table_.ColumnFor("req:example.com/nic");
  const PodRef pod = objects_.Pod({.name = "new", .requests = R"("example.com/nic":"7")"});
  for (const bool is_bound_before : {false, true}) {
    PrivateRows rows(table_);
    rows.Add(0);
    rows.Add(2);
    const auto value = [&](uint32_t index) {
      return static_cast<const int64_t*>(rows.ColumnData(column))[index];
    };
    if (is_bound_before) {
      EXPECT_EQ(value(1), 0);
    }
    rows.AddPod(1, pod->view());
    EXPECT_EQ(value(0), 0);
    EXPECT_EQ(value(1), 7);
    EXPECT_TRUE(rows.RemovePod(1, pod->view()));
    EXPECT_EQ(value(1), 0);
  }
}

TEST_F(PrivateRowsTest, PodsChangeTheValuesAsInATable) {
  PrivateRows rows(table_);
  rows.Add(0);
  rows.Add(2);
  const PodRef added = MakePod("added", "2");
  rows.AddPod(0, added->view());
  reference_.AddPod(0, added);
  ExpectSame(rows, 0, 0);
  ExpectSame(rows, 1, 2);

  EXPECT_TRUE(rows.RemovePod(0, pods_[0]->view()));
  reference_.RemovePod(0, &pods_[0]->view());
  ExpectSame(rows, 0, 0);

  // A pod may be added to another row than its own, and removed from it again.
  rows.AddPod(1, pods_[0]->view());
  reference_.AddPod(2, pods_[0]);
  ExpectSame(rows, 1, 2);
  EXPECT_TRUE(rows.RemovePod(1, pods_[0]->view()));
  EXPECT_TRUE(rows.RemovePod(1, pods_[2]->view()));
  reference_.RemovePod(2, &pods_[0]->view());
  reference_.RemovePod(2, &pods_[2]->view());
  ExpectSame(rows, 1, 2);
}

// The values of columns that were built before a change follow it, for the changed row alone.
TEST_F(PrivateRowsTest, ColumnsThatExistFollowEveryChange) {
  PrivateRows rows(table_);
  rows.Add(0);
  rows.Add(2);
  std::vector<const void*> before;
  for (const std::string_view name : kColumns) {
    before.push_back(rows.ColumnData(*table_.ColumnFor(name)));
  }
  const PodRef added = MakePod("added", "2");
  rows.AddPod(0, added->view());
  reference_.AddPod(0, added);
  EXPECT_TRUE(rows.RemovePod(0, pods_[0]->view()));
  reference_.RemovePod(0, &pods_[0]->view());
  EXPECT_TRUE(rows.RemovePod(1, pods_[2]->view()));
  reference_.RemovePod(2, &pods_[2]->view());
  ExpectSame(rows, 0, 0);
  ExpectSame(rows, 1, 2);
  for (size_t i = 0; i < std::size(kColumns); ++i) {
    EXPECT_EQ(rows.ColumnData(*table_.ColumnFor(kColumns[i])), before[i]) << "the data moved";
  }
}

TEST_F(PrivateRowsTest, ASumAtItsLimitFollowsEveryChange) {
  PrivateRows rows(table_);
  rows.Add(0);
  const ColumnIndex cpu = *table_.ColumnFor("req.cpu");
  (void)rows.ColumnData(cpu);
  const PodRef large = MakePod("large", "9E");
  rows.AddPod(0, large->view());
  EXPECT_EQ(*static_cast<const int64_t*>(rows.ColumnData(cpu)), INT64_MAX);
  reference_.AddPod(0, large);
  ExpectSame(rows, 0, 0);
  EXPECT_TRUE(rows.RemovePod(0, large->view()));
  reference_.RemovePod(0, &large->view());
  ExpectSame(rows, 0, 0);
}

TEST_F(PrivateRowsTest, SumsAreLimitedAndRecover) {
  const PodRef there = MakePod("there", "1E");
  table_.AddPod(0, there);
  reference_.AddPod(0, there);
  PrivateRows rows(table_);
  rows.Add(0);
  rows.Add(2);
  const PodRef added = MakePod("added", "1E");
  for (const auto& [index, row] : {std::pair<uint32_t, Row>{0, 0}, {1, 2}}) {
    rows.AddPod(index, added->view());
    reference_.AddPod(row, added);
    ExpectSame(rows, index, row);
  }
  EXPECT_TRUE(rows.RemovePod(0, there->view()));
  reference_.RemovePod(0, &there->view());
  ExpectSame(rows, 0, 0);
  for (const auto& [index, row] : {std::pair<uint32_t, Row>{0, 0}, {1, 2}}) {
    EXPECT_TRUE(rows.RemovePod(index, added->view()));
    reference_.RemovePod(row, &added->view());
    ExpectSame(rows, index, row);
  }
}

TEST_F(PrivateRowsTest, PodsOfOneRowLeaveLaterRowsAlone) {
  PrivateRows rows(table_);
  rows.Add(0);
  const PodRef added = MakePod("added");
  rows.AddPod(0, added->view());
  EXPECT_EQ(rows.Add(0), 1U);
  ExpectSame(rows, 1, 0);
  reference_.AddPod(0, added);
  ExpectSame(rows, 0, 0);
}

TEST_F(PrivateRowsTest, ACopyOfAPrivateRowIsIndependent) {
  PrivateRows first(table_);
  first.Add(2);
  first.Add(0);
  const PodRef added = MakePod("added");
  first.AddPod(1, added->view());
  reference_.AddPod(0, added);
  first.RemovePod(1, pods_[0]->view());
  reference_.RemovePod(0, &pods_[0]->view());

  PrivateRows second(table_);
  EXPECT_EQ(second.AddCopy(first, 1), 0U);
  EXPECT_EQ(second.size(), 1U);
  ExpectSame(second, 0, 0);

  first.AddPod(1, pods_[0]->view());
  ExpectSame(second, 0, 0);
  EXPECT_TRUE(second.RemovePod(0, added->view()));
  reference_.RemovePod(0, &added->view());
  ExpectSame(second, 0, 0);
}

TEST_F(PrivateRowsTest, RemovingAnUnknownPodReturnsFalse) {
  PrivateRows rows(table_);
  rows.Add(0);
  EXPECT_FALSE(rows.RemovePod(0, pods_[2]->view()));
  EXPECT_TRUE(rows.RemovePod(0, pods_[0]->view()));
  EXPECT_FALSE(rows.RemovePod(0, pods_[0]->view()));
  reference_.RemovePod(0, &pods_[0]->view());
  ExpectSame(rows, 0, 0);
}

TEST_F(PrivateRowsTest, DoesNotChangeTheTable) {
  std::vector<std::vector<std::byte>> before;
  for (const std::string_view name : kColumns) {
    before.push_back(Value(table_, *table_.ColumnFor(name), 0));
  }
  const uint64_t generation = table_.generation();
  PrivateRows rows(table_);
  rows.Add(0);
  const PodRef added = MakePod("added");
  rows.AddPod(0, added->view());
  rows.RemovePod(0, pods_[0]->view());
  for (const std::string_view name : kColumns) rows.ColumnData(*table_.ColumnFor(name));

  EXPECT_EQ(table_.generation(), generation);
  EXPECT_THAT(table_.pods(0), UnorderedElementsAre(pods_[0], pods_[1]));
  for (size_t i = 0; i < std::size(kColumns); ++i) {
    EXPECT_EQ(Value(table_, *table_.ColumnFor(kColumns[i]), 0), before[i]) << kColumns[i];
  }
}

}  // namespace
}  // namespace berth::host
