#include "host/cache/node_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/saturating.h"

namespace berth::host {
namespace {

class NodeTableTest : public ::testing::Test {
 protected:
  Row Set(const std::string& name, const std::string& cpu = "4") {
    return table_.SetNode(
        objects_.Node({.name = name, .allocatable = "\"cpu\":\"" + cpu + "\",\"pods\":\"10\""}));
  }
  PodRef MakePod(const std::string& name, const std::string& cpu = "1") {
    return objects_.Pod({.name = name, .node = "n", .requests = "\"cpu\":\"" + cpu + '"'});
  }
  PodRef Put(Row row, const std::string& name, const std::string& cpu = "1") {
    PodRef pod = MakePod(name, cpu);
    table_.AddPod(row, pod);
    return pod;
  }
  ColumnIndex Index(std::string_view name) {
    const auto column = table_.ColumnFor(name);
    BERTH_ASSERT_MSG(column.ok(), "%s", column.status().ToString().c_str());
    return *column;
  }
  template <class T = int64_t>
  T At(std::string_view name, Row row) {
    return static_cast<const T*>(table_.column_data(Index(name)))[row];
  }

  TestObjects objects_;
  NodeTable table_{objects_.interner()};
};

// --- rows ---------------------------------------------------------------------------------------

TEST_F(NodeTableTest, StableRowsAndLowestFreeRowIsReused) {
  EXPECT_EQ(Set("a"), 0U);
  EXPECT_EQ(Set("b"), 1U);
  EXPECT_EQ(Set("c"), 2U);
  EXPECT_EQ(Set("d"), 3U);
  EXPECT_EQ(Set("b", "8"), 1U);  // Another object of the same node.

  EXPECT_EQ(table_.RemoveNode("c"), 2U);
  EXPECT_EQ(table_.RemoveNode("a"), 0U);
  EXPECT_EQ(table_.RemoveNode("a"), kNoRow);
  EXPECT_EQ(table_.FindNode("d"), 3U);
  EXPECT_EQ(table_.row_count(), 4U);
  EXPECT_EQ(table_.node_count(), 2U);

  EXPECT_EQ(Set("e"), 0U);
  EXPECT_EQ(Set("f"), 2U);
  EXPECT_EQ(Set("g"), 4U);
}

TEST_F(NodeTableTest, VersionsFollowTheObjectsOfNodes) {
  const Row row = Set("a");
  const uint64_t first = table_.arrays().versions[row];
  EXPECT_NE(first, 0U);
  const PodRef pod = Put(row, "p");
  EXPECT_EQ(table_.arrays().versions[row], first) << "a pod on the node is no change of the node";
  const Row other = Set("b");
  EXPECT_EQ(table_.arrays().versions[row], first);
  EXPECT_NE(table_.arrays().versions[other], first);
  Set("a", "8");
  const uint64_t second = table_.arrays().versions[row];
  EXPECT_NE(second, first);
  table_.RemoveNode("a");
  EXPECT_EQ(table_.arrays().versions[row], 0U);
  Set("a");
  EXPECT_NE(table_.arrays().versions[row], first);
  EXPECT_NE(table_.arrays().versions[row], second);
}

TEST_F(NodeTableTest, BlockArraysShowTheRow) {
  const Row row = Set("a");
  const PodRef pod = Put(row, "p");
  EXPECT_EQ(table_.arrays().nodes[row], &table_.node(row)->view());
  ASSERT_EQ(table_.arrays().pods[row].count, 1U);
  EXPECT_EQ(table_.arrays().pods[row].data[0], &pod->view());
  Set("b");
  EXPECT_THAT(table_.arrays().rows, ::testing::ElementsAre(0, 1));

  table_.RemoveNode("a");
  EXPECT_EQ(table_.arrays().nodes[row], nullptr);
  EXPECT_EQ(table_.node(row), nullptr);
  table_.RemovePod(row, &pod->view());
  EXPECT_EQ(table_.arrays().pods[row].count, 0U);
}

TEST_F(NodeTableTest, AReusedRowStartsEmpty) {
  const Row row = table_.SetNode(
      objects_.Node({.name = "a", .labels = "\"zone\":\"z\"", .spec = "\"unschedulable\":true"}));
  EXPECT_NE(At<berth_id>("label:zone", row), kNoId);
  EXPECT_EQ(At<uint8_t>("unschedulable", row), 1);
  table_.RemoveNode("a");
  EXPECT_EQ(At<berth_id>("label:zone", row), kNoId);
  EXPECT_EQ(At<berth_id>("name", row), kNoId);
  ASSERT_EQ(Set("b"), row);
  EXPECT_EQ(At<berth_id>("label:zone", row), kNoId);
  EXPECT_EQ(At<uint8_t>("unschedulable", row), 0);
}

// --- generations and shape ----------------------------------------------------------------------

TEST_F(NodeTableTest, EveryChangeIncreasesGenerationOfItsRowOnly) {
  const Row a = Set("a");
  const Row b = Set("b");
  const uint64_t of_b = table_.Generation(b);
  PodRef pod;
  const std::pair<const char*, std::function<void()>> kChanges[] = {
      {"a new node object", [&] { Set("a", "8"); }},
      {"a pod is added", [&] { pod = Put(a, "p"); }},
      {"the node is removed", [&] { table_.RemoveNode("a"); }},
      {"the node is added again", [&] { Set("a"); }},
      {"the pod is removed", [&] { table_.RemovePod(a, &pod->view()); }},
  };
  for (const auto& [what, change] : kChanges) {
    SCOPED_TRACE(what);
    const uint64_t before = table_.generation();
    change();
    EXPECT_GT(table_.Generation(a), before);
    EXPECT_GE(table_.generation(), table_.Generation(a));
    EXPECT_EQ(table_.Generation(b), of_b);
  }
}

TEST_F(NodeTableTest, AReusedRowHasANewGeneration) {
  const Row row = Set("a");
  const uint64_t before = table_.Generation(row);
  table_.RemoveNode("a");
  ASSERT_EQ(Set("b"), row);
  EXPECT_GT(table_.Generation(row), before);
}

TEST_F(NodeTableTest, NodeSetGenerationFollowsTheLiveRows) {
  const Row a = Set("a");
  uint64_t generation = table_.node_set_generation();
  Set("a", "8");
  const PodRef pod = Put(a, "p");
  table_.RowForPodsOf("ghost");
  EXPECT_EQ(table_.node_set_generation(), generation);

  Set("ghost");
  EXPECT_GT(table_.node_set_generation(), generation);
  generation = table_.node_set_generation();
  table_.RemoveNode("a");  // The row stays, without a node.
  EXPECT_GT(table_.node_set_generation(), generation);
  generation = table_.node_set_generation();
  table_.RemovePod(a, &pod->view());  // Releases the row.
  EXPECT_EQ(table_.node_set_generation(), generation);
}

// --- columns ------------------------------------------------------------------------------------

TEST_F(NodeTableTest, PodSumsAreUpdatedWithThePods) {
  const Row row = Set("a");
  EXPECT_EQ(At("req.cpu", row), 0);
  const PodRef p = Put(row, "p", "1500m");
  const PodRef q = Put(row, "q", "500m");
  EXPECT_EQ(At("req.cpu", row), 2000);
  EXPECT_EQ(At("pods.count", row), 2);
  table_.RemovePod(row, &p->view());
  EXPECT_EQ(At("req.cpu", row), 500);
  table_.RemovePod(row, &q->view());
  EXPECT_EQ(At("req.cpu", row), 0);
  EXPECT_EQ(At("pods.count", row), 0);
}

TEST_F(NodeTableTest, SumsAreLimitedAndRecover) {
  const Row row = Set("a");
  EXPECT_EQ(At("req.cpu", row), 0);
  EXPECT_EQ(At("nonzero.cpu", row), 0);
  const PodRef p = Put(row, "p", "1E");
  const PodRef q = Put(row, "q", "1E");
  EXPECT_EQ(At("req.cpu", row), kMaxAmount);
  EXPECT_EQ(At("nonzero.cpu", row), kMaxAmount);
  const PodRef r = Put(row, "r", "500m");
  table_.RemovePod(row, &p->view());
  EXPECT_EQ(At("req.cpu", row), kMaxAmount);
  table_.RemovePod(row, &q->view());
  EXPECT_EQ(At("req.cpu", row), 500);
  EXPECT_EQ(At("nonzero.cpu", row), 500);
  EXPECT_EQ(At("pods.count", row), 1);
}

TEST_F(NodeTableTest, ASumAtTheLimitIsExact) {
  const Row row = Set("a");
  const auto pod = [&](const char* name, int64_t amount) {
    return objects_.Pod({.name = name,
                         .node = "a",
                         .requests = "\"example.com/x\":\"" + std::to_string(amount) + '"'});
  };
  EXPECT_EQ(At("req:example.com/x", row), 0);
  const PodRef most = pod("most", kMaxAmount - 5);
  const PodRef rest = pod("rest", 5);
  const PodRef one = pod("one", 1);
  table_.AddPod(row, most);
  table_.AddPod(row, rest);
  EXPECT_EQ(At("req:example.com/x", row), kMaxAmount);
  table_.RemovePod(row, &rest->view());
  EXPECT_EQ(At("req:example.com/x", row), kMaxAmount - 5);
  table_.AddPod(row, rest);
  table_.AddPod(row, one);
  EXPECT_EQ(At("req:example.com/x", row), kMaxAmount);
  table_.RemovePod(row, &most->view());
  EXPECT_EQ(At("req:example.com/x", row), 6);
}

TEST_F(NodeTableTest, ColumnThatIsBuiltLaterIsLimitedToo) {
  const Row row = Set("a");
  const PodRef p = Put(row, "p", "1E");
  const PodRef q = Put(row, "q", "1E");
  EXPECT_EQ(At("req.cpu", row), kMaxAmount);
  table_.RemovePod(row, &p->view());
  table_.RemovePod(row, &q->view());
  EXPECT_EQ(At("req.cpu", row), 0);
}

TEST_F(NodeTableTest, DifferentSpellingsNameOneColumn) {
  const ColumnIndex column = Index("alloc.cpu");
  EXPECT_EQ(Index("alloc:cpu"), column);
  EXPECT_EQ(Index("alloc.cpu"), column);
  EXPECT_NE(Index("req.cpu"), column);
  EXPECT_EQ(table_.column_count(), 2U);
  EXPECT_EQ(table_.column_spec(column).name(), "alloc.cpu");
}

TEST_F(NodeTableTest, AnUnknownColumnIsNotFound) {
  EXPECT_EQ(table_.ColumnFor("alloc.tea").status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(table_.column_count(), 0U);
}

TEST_F(NodeTableTest, ColumnOfEmptyTableIncludesTheFirstNode) {
  const ColumnIndex column = Index("alloc.cpu");
  EXPECT_NE(table_.column_data(column), nullptr);
  const Row row = Set("a", "4");
  EXPECT_EQ(static_cast<const int64_t*>(table_.column_data(column))[row], 4000);
}

TEST_F(NodeTableTest, DropsTheLeastRecentlyUsedIdleColumnsFirst) {
  Set("a");
  Index("alloc.cpu");
  Index("alloc.memory");
  Index("alloc.pods");
  Index("alloc.cpu");  // Now alloc.memory is the least recently used.
  const size_t one = 64 * sizeof(int64_t);

  table_.DropIdleColumns(3 * one);
  EXPECT_EQ(table_.column_count(), 3U);
  table_.DropIdleColumns(3 * one - 1);
  EXPECT_EQ(table_.column_count(), 2U);
  table_.DropIdleColumns(one);
  EXPECT_EQ(table_.column_count(), 1U);
  // alloc.cpu is the column that is left: using it builds no other.
  Index("alloc.cpu");
  EXPECT_EQ(table_.column_count(), 1U);
  table_.DropIdleColumns(0);
  EXPECT_EQ(table_.column_count(), 0U);
}

TEST_F(NodeTableTest, ForEachColumnVisitsEveryColumn) {
  const auto names_of_columns = [this] {
    std::vector<std::string> names;
    table_.ForEachColumn([&](ColumnIndex column, const ColumnSpec& spec) {
      EXPECT_EQ(&table_.column_spec(column), &spec);
      names.push_back(spec.name());
    });
    return names;
  };
  EXPECT_THAT(names_of_columns(), ::testing::IsEmpty());
  table_.PinColumn(Index("alloc.cpu"));
  Index("req.cpu");
  table_.PinColumn(Index("taints"));
  EXPECT_THAT(names_of_columns(), ::testing::ElementsAre("alloc.cpu", "req.cpu", "taints"));
  table_.DropIdleColumns(0);
  EXPECT_THAT(names_of_columns(), ::testing::ElementsAre("alloc.cpu", "taints"));
}

TEST_F(NodeTableTest, DropsIdleColumnsBeyondTheCount) {
  Set("a");
  Index("alloc.cpu");
  Index("alloc.memory");
  Index("alloc.pods");
  table_.DropIdleColumns(SIZE_MAX, 3);
  EXPECT_EQ(table_.column_count(), 3U);
  table_.DropIdleColumns(SIZE_MAX, 2);
  EXPECT_EQ(table_.column_count(), 2U);
  const ColumnIndex pinned = Index("alloc.memory");
  table_.PinColumn(pinned);
  table_.DropIdleColumns(SIZE_MAX, 1);
  EXPECT_EQ(table_.column_count(), 2U);
  table_.DropIdleColumns(SIZE_MAX, 0);
  EXPECT_EQ(table_.column_count(), 1U);
  table_.UnpinColumn(pinned);
}

// The size of a column grows with the table.
TEST_F(NodeTableTest, BytesOfIdleColumnsGrowWithTheTable) {
  Set("a");
  Index("alloc.cpu");
  table_.DropIdleColumns(64 * sizeof(int64_t));
  EXPECT_EQ(table_.column_count(), 1U);
  for (int i = 0; i < 64; ++i) Set("b" + std::to_string(i));
  table_.DropIdleColumns(64 * sizeof(int64_t));
  EXPECT_EQ(table_.column_count(), 0U);
}

TEST_F(NodeTableTest, PinnedColumnsAreKeptAndNeverIdle) {
  Set("a");
  const ColumnIndex pinned = Index("alloc.cpu");
  table_.PinColumn(pinned);
  table_.PinColumn(pinned);
  Index("alloc.memory");
  table_.DropIdleColumns(64 * sizeof(int64_t));  // Enough for the one idle column.
  EXPECT_EQ(table_.column_count(), 2U);
  table_.DropIdleColumns(0);
  EXPECT_EQ(table_.column_count(), 1U);
  table_.UnpinColumn(pinned);
  table_.DropIdleColumns(0);
  EXPECT_EQ(Index("alloc.cpu"), pinned);
  table_.UnpinColumn(pinned);
  table_.DropIdleColumns(0);
  EXPECT_EQ(table_.column_count(), 0U);
}

// A pod may ask for thousands of resources that nothing has.
TEST_F(NodeTableTest, ColumnsWithoutAmountsTakeNoMemory) {
  const Row row = Set("a");
  const ColumnIndex alloc = Index("alloc:example.com/gpu");
  const ColumnIndex req = Index("req:example.com/gpu");
  const auto idle_columns_fit = [this](size_t bytes) {
    const size_t before = table_.column_count();
    table_.DropIdleColumns(bytes);
    return table_.column_count() == before;
  };
  EXPECT_TRUE(idle_columns_fit(0));
  EXPECT_EQ(table_.column_data(alloc), table_.column_data(req));
  for (int i = 0; i < 100; ++i) Set("b" + std::to_string(i));
  EXPECT_TRUE(idle_columns_fit(0));
  EXPECT_EQ(At("alloc:example.com/gpu", 100), 0);

  const PodRef pod =
      objects_.Pod({.name = "p", .node = "a", .requests = R"("cpu":"1","example.com/gpu":"3")"});
  table_.AddPod(row, pod);
  EXPECT_EQ(At("req:example.com/gpu", row), 3);
  EXPECT_EQ(At("req:example.com/gpu", 100), 0);
  table_.SetNode(objects_.Node({.name = "a", .allocatable = R"("example.com/gpu":"8")"}));
  EXPECT_EQ(At("alloc:example.com/gpu", row), 8);
  EXPECT_EQ(At("alloc:example.com/gpu", 100), 0);
  EXPECT_TRUE(idle_columns_fit(2 * 128 * sizeof(int64_t)));
  EXPECT_FALSE(idle_columns_fit(2 * 101 * sizeof(int64_t) - 1));
}

TEST_F(NodeTableTest, ANodeMayListAnAmountOfZero) {
  const auto set = [this](const std::string& name, const std::string& amount) {
    return table_.SetNode(
        objects_.Node({.name = name, .allocatable = "\"example.com/gpu\":\"" + amount + '"'}));
  };
  const Row a = set("a", "0");
  const Row b = set("b", "0");
  EXPECT_EQ(At("alloc:example.com/gpu", a), 0);
  set("b", "2");
  EXPECT_EQ(At("alloc:example.com/gpu", b), 2);
  table_.RemoveNode("a");
  set("b", "0");
  EXPECT_EQ(At("alloc:example.com/gpu", b), 0);
}

TEST_F(NodeTableTest, PinnedColumnGetsItsMemoryLater) {
  const Row row = Set("a");
  const ColumnIndex column = Index("req:example.com/gpu");
  table_.PinColumn(column);
  table_.AddPod(row,
                objects_.Pod({.name = "p", .node = "a", .requests = R"("example.com/gpu":"3")"}));
  EXPECT_EQ(At("req:example.com/gpu", row), 3);
  table_.UnpinColumn(column);
  table_.DropIdleColumns(0);
  EXPECT_EQ(table_.column_count(), 0U);
}

TEST_F(NodeTableTest, ADroppedColumnIsRebuiltWithCurrentValues) {
  const Row row = Set("a");
  EXPECT_EQ(At("req.cpu", row), 0);
  table_.DropIdleColumns(0);
  Put(row, "p", "3");
  Set("a", "16");
  EXPECT_EQ(At("req.cpu", row), 3000);
  EXPECT_EQ(At("alloc.cpu", row), 16000);
}

// --- comparison with a naive recomputation ------------------------------------------------------

struct ModelPod {
  PodRef pod;
  int64_t cpu = 0;
  int64_t gpu = 0;
  int64_t nic = 0;
};
struct ModelNode {
  bool live = false;
  int64_t cpu = 0;
  int64_t nic = 0;
  std::string zone;
  bool tainted = false;
  Row row = kNoRow;
  std::vector<ModelPod> pods;

  bool known() const { return live || !pods.empty(); }
};

class RandomTableTest : public NodeTableTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }
  std::string RandomName() { return "n" + std::to_string(Below(12)); }

  void SetRandomNode() {
    const std::string name = RandomName();
    ModelNode& node = model_[name];
    node.live = true;
    node.cpu = 1 + Below(64);
    node.nic = Below(12) == 0 ? 2 : 0;
    node.zone = Below(3) == 0 ? "" : "z" + std::to_string(Below(3));
    node.tainted = Below(2) == 0;
    std::string allocatable = "\"cpu\":\"" + std::to_string(node.cpu) + '"';
    if (node.nic > 0) allocatable += R"(,"example.com/nic":"2")";
    Check(node.row,
          table_.SetNode(objects_.Node(
              {.name = name,
               .allocatable = allocatable,
               .labels = node.zone.empty() ? "" : "\"zone\":\"" + node.zone + '"',
               .spec = node.tainted ? R"("taints":[{"key":"k","effect":"NoSchedule"}])" : ""})));
  }
  void RemoveRandomNode() {
    const std::string name = RandomName();
    const bool live = model_[name].live;
    EXPECT_EQ(table_.RemoveNode(name), live ? model_[name].row : kNoRow);
    model_[name].live = false;
    if (!model_[name].known()) model_[name].row = kNoRow;
  }
  void AddRandomPod() {
    const std::string name = RandomName();
    ModelPod pod{.pod = nullptr,
                 .cpu = Below(9) * int64_t{250},
                 .gpu = Below(3),
                 .nic = Below(25) == 0 ? 1 : 0};
    if (Below(4) == 0) pod.gpu = kMaxAmount - static_cast<int64_t>(Below(3));
    std::string requests = "\"cpu\":\"" + std::to_string(pod.cpu) + "m\"";
    if (pod.gpu > 0) requests += ",\"example.com/gpu\":\"" + std::to_string(pod.gpu) + '"';
    // Rare, so that the columns of this resource often have no amount.
    if (pod.nic > 0) requests += R"(,"example.com/nic":"1")";
    pod.pod =
        objects_.Pod({.name = "p" + std::to_string(pods_++), .node = name, .requests = requests});
    ModelNode& node = model_[name];
    Check(node.row, table_.RowForPodsOf(name));
    table_.AddPod(node.row, pod.pod);
    node.pods.push_back(std::move(pod));
  }
  void RemoveRandomPod() {
    ModelNode& node = model_[RandomName()];
    if (node.pods.empty()) return;
    const uint32_t victim = Below(static_cast<uint32_t>(node.pods.size()));
    table_.RemovePod(node.row, &node.pods[victim].pod->view());
    node.pods.erase(node.pods.begin() + victim);
    if (!node.known()) node.row = kNoRow;
  }
  // A node keeps its row while the node or one of its pods is known.
  static void Check(Row& known, Row now) {
    if (known != kNoRow) {
      EXPECT_EQ(now, known);
    }
    known = now;
  }

  std::string Zone(Row row) {
    return std::string(objects_.interner().Text(At<berth_id>("label:zone", row)));
  }
  static int64_t Sum(const ModelNode& node, int64_t ModelPod::*member) {
    int64_t sum = 0;
    for (const ModelPod& pod : node.pods) sum = AddAmounts(sum, pod.*member);
    return sum;
  }

  static constexpr uint32_t kColumns = 9;
  void CheckColumn(uint32_t which, const ModelNode& node) {
    switch (which) {
      case 0: EXPECT_EQ(At("req.cpu", node.row), Sum(node, &ModelPod::cpu)); break;
      case 1: EXPECT_EQ(At("req:example.com/gpu", node.row), Sum(node, &ModelPod::gpu)); break;
      case 2: EXPECT_EQ(At("pods.count", node.row), std::ssize(node.pods)); break;
      case 3: EXPECT_EQ(At("alloc.cpu", node.row), node.cpu * 1000); break;
      case 4: EXPECT_EQ(Zone(node.row), node.zone); break;
      case 5: EXPECT_EQ(At("alloc:example.com/nic", node.row), node.nic); break;
      case 6: EXPECT_EQ(At("req:example.com/nic", node.row), Sum(node, &ModelPod::nic)); break;
      case 7: EXPECT_EQ(At<uint32_t>("taints.hard", node.row), node.tainted ? 1U : 0U); break;
      default: EXPECT_EQ(At<berth_array>("taints", node.row).count, node.tainted ? 1U : 0U); break;
    }
  }
  void CheckTable(uint32_t column) {
    uint32_t live = 0;
    std::vector<uint64_t> generations;
    for (const auto& [name, node] : model_) {
      EXPECT_EQ(table_.FindNode(name), node.live ? node.row : kNoRow) << name;
      if (!node.known()) continue;
      generations.push_back(table_.Generation(node.row));
      EXPECT_EQ(table_.pods(node.row).size(), node.pods.size());
      for (const ModelPod& pod : node.pods) {
        EXPECT_EQ(std::ranges::count(table_.pods(node.row), pod.pod), 1);
      }
      if (!node.live) continue;
      ++live;
      CheckColumn(column, node);
    }
    EXPECT_EQ(table_.node_count(), live);
    std::ranges::sort(generations);
    EXPECT_EQ(std::ranges::adjacent_find(generations), generations.end());
  }

  std::mt19937 random_{GetParam()};
  std::map<std::string, ModelNode> model_;
  uint32_t pods_ = 0;
};

// Compares columns that are maintained from the start and columns that are built later. Which
// columns are used and when they are dropped is random.
TEST_P(RandomTableTest, AgreesWithNaiveRecomputation) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (uint32_t step = 0; step < 1500; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    switch (Below(12)) {
      case 0:
      case 1:
      case 2: SetRandomNode(); break;
      case 3: RemoveRandomNode(); break;
      case 4:
      case 5:
      case 6:
      case 7: AddRandomPod(); break;
      case 8:
      case 9:
      case 10: RemoveRandomPod(); break;
      default: table_.DropIdleColumns(Below(4) * 512, Below(6)); break;
    }
    CheckTable(Below(kColumns));
    if (HasFailure()) return;
  }
  for (uint32_t column = 0; column < kColumns; ++column) CheckTable(column);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomTableTest, ::testing::Range(1U, 6U));

}  // namespace
}  // namespace berth::host
