// The columns of objects in the node table.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/cache/node_table.h"
#include "host/cache/object_store.h"

namespace berth::host {
namespace {

class ObjectColumnTest : public ::testing::Test {
 protected:
  static constexpr const char* kColumn = "object:storage.k8s.io/v1/CSINode";

  ObjectRef CsiNode(const std::string& name, const std::string& ns = "") {
    return objects_.ObjectFrom(
        R"({"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":")" + name +
        (ns.empty() ? "" : R"(","namespace":")" + ns) + "\"}}");
  }
  Row Set(const std::string& name) { return table_.SetNode(objects_.Node({.name = name})); }
  const berth_object* At(Row row, const char* name = kColumn) {
    const auto column = table_.ColumnFor(name);
    EXPECT_TRUE(column.ok());
    return static_cast<const berth_object* const*>(table_.column_data(*column))[row];
  }

  TestObjects objects_;
  ObjectStore store_;
  NodeTable table_{objects_.interner(), &store_};
};

TEST_F(ObjectColumnTest, HasTheObjectOfTheNodesName) {
  const ObjectRef before = CsiNode("a");
  store_.Set(before);
  const Row a = Set("a");
  const Row b = Set("b");
  EXPECT_EQ(At(a), &before->view());
  EXPECT_EQ(At(b), nullptr);
  const ObjectRef later = CsiNode("b");
  store_.Set(later);
  EXPECT_EQ(At(b), &later->view());
  const ObjectRef changed = CsiNode("a");
  store_.Set(changed);
  EXPECT_EQ(At(a), &changed->view());
  store_.Remove("storage.k8s.io/v1/CSINode", "", "a");
  EXPECT_EQ(At(a), nullptr);
}

TEST_F(ObjectColumnTest, ANodeAddedAfterItsObjectHasIt) {
  At(Set("other"));
  const ObjectRef object = CsiNode("a");
  store_.Set(object);
  const Row a = Set("a");
  EXPECT_EQ(At(a), &object->view());
  table_.RemoveNode("a");
  EXPECT_EQ(Set("a"), a);
  EXPECT_EQ(At(a), &object->view());
}

TEST_F(ObjectColumnTest, ObjectChangeIsAChangeOfItsRow) {
  const Row a = Set("a");
  const Row b = Set("b");
  At(a);
  const auto changes = [&](const auto& change) {
    const uint64_t before_a = table_.Generation(a);
    const uint64_t before_b = table_.Generation(b);
    change();
    EXPECT_EQ(table_.Generation(b), before_b);
    return table_.Generation(a) != before_a;
  };
  EXPECT_TRUE(changes([&] { store_.Set(CsiNode("a")); }));
  EXPECT_TRUE(changes([&] { store_.Set(CsiNode("a")); }));
  EXPECT_TRUE(changes([&] { store_.Remove("storage.k8s.io/v1/CSINode", "", "a"); }));
  EXPECT_FALSE(changes([&] { store_.Set(CsiNode("c")); })) << "there is no such node";
  EXPECT_FALSE(changes([&] { store_.Set(CsiNode("a", "default")); })) << "it has a namespace";
  EXPECT_EQ(At(a), nullptr);
}

TEST_F(ObjectColumnTest, ChangeWithoutSuchAColumnChangesNoRow) {
  const Row a = Set("a");
  const uint64_t before = table_.Generation(a);
  store_.Set(CsiNode("a"));
  EXPECT_EQ(table_.Generation(a), before);
  At(a);
  table_.DropIdleColumns(0);
  store_.Set(CsiNode("a"));
  EXPECT_EQ(table_.Generation(a), before) << "the column was dropped";
}

TEST_F(ObjectColumnTest, RebuildingAColumnChangesTheLiveRows) {
  store_.Set(CsiNode("gone"));
  const Row kept = Set("kept");
  const Row gone = Set("gone");
  const Row pods_only = table_.RowForPodsOf("pods");
  table_.AddPod(pods_only, objects_.Pod({.name = "p", .node = "pods"}));
  At(kept);
  table_.DropIdleColumns(0);
  store_.Remove("storage.k8s.io/v1/CSINode", "", "gone");
  store_.Set(CsiNode("kept"));
  const auto generations = [&] {
    return std::vector{table_.Generation(kept), table_.Generation(gone),
                       table_.Generation(pods_only)};
  };
  const std::vector<uint64_t> before = generations();
  EXPECT_NE(At(kept), nullptr);
  const std::vector<uint64_t> built = generations();
  EXPECT_GT(built[0], before[0]);
  EXPECT_GT(built[1], before[1]);
  EXPECT_EQ(built[2], before[2]);
  // Neither a column that exists nor another column is built again.
  At(kept);
  ASSERT_TRUE(table_.ColumnFor("alloc.cpu").ok());
  table_.DropIdleColumns(0);
  ASSERT_TRUE(table_.ColumnFor("alloc.cpu").ok());
  EXPECT_EQ(generations(), built);
}

// The first objects of a kind that the server begins to serve arrive before that is recorded.
TEST_F(ObjectColumnTest, NodeAddedWithItsKindHasItsObject) {
  store_.SetServed("storage.k8s.io/v1/CSINode", false);
  At(Set("other"));
  const ObjectRef object = CsiNode("a");
  store_.Set(object, true);
  const Row a = Set("a");
  EXPECT_EQ(At(a), &object->view());
  store_.SetServed("storage.k8s.io/v1/CSINode", true);
  EXPECT_EQ(At(a), &object->view());
}

TEST_F(ObjectColumnTest, ARowWithoutANodeHasNoObject) {
  At(Set("other"));
  const Row a = table_.RowForPodsOf("a");
  const PodRef pod = objects_.Pod({.name = "p", .node = "a"});
  table_.AddPod(a, pod);
  store_.Set(CsiNode("a"));
  EXPECT_EQ(At(a), nullptr);
  Set("a");
  EXPECT_NE(At(a), nullptr);
  table_.RemoveNode("a");
  EXPECT_EQ(At(a), nullptr);
}

TEST_F(ObjectColumnTest, FollowsTheVersionThatIsServed) {
  const char* const column = "object:storage.k8s.io/v2|v1/CSINode";
  const Row a = Set("a");
  store_.Set(CsiNode("a"));
  EXPECT_EQ(At(a, column), nullptr);
  store_.SetServed("storage.k8s.io/v2/CSINode", false);
  EXPECT_NE(At(a, column), nullptr);
  store_.SetServed("storage.k8s.io/v2/CSINode", true);
  EXPECT_EQ(At(a, column), nullptr);
}

TEST_F(ObjectColumnTest, TableWithoutObjectsHasTheColumnWithoutValues) {
  NodeTable table(objects_.interner());
  const Row a = table.SetNode(objects_.Node({.name = "a"}));
  const auto column = table.ColumnFor(kColumn);
  ASSERT_TRUE(column.ok());
  EXPECT_EQ(static_cast<const berth_object* const*>(table.column_data(*column))[a], nullptr);
}

}  // namespace
}  // namespace berth::host
