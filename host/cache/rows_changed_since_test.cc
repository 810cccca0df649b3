// NodeTable::RowsChangedSince().
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/cache/node_table.h"

namespace berth::host {
namespace {

class RowsChangedSinceTest : public ::testing::Test {
 protected:
  void Set(const std::string& name) { table_.SetNode(objects_.Node({.name = name})); }
  void Put(Row row, const std::string& pod) {
    table_.AddPod(row, objects_.Pod({.name = pod, .node = "n"}));
  }

  TestObjects objects_;
  NodeTable table_{objects_.interner()};
};

TEST_F(RowsChangedSinceTest, ListsTheRowsThatChangedSinceAGeneration) {
  std::vector<Row> rows;
  table_.RowsChangedSince(0, rows);
  EXPECT_THAT(rows, ::testing::IsEmpty());
  for (const char* name : {"a", "b", "c"}) Set(name);
  table_.RowsChangedSince(0, rows);
  EXPECT_THAT(rows, ::testing::ElementsAre(0, 1, 2));
  const uint64_t before = table_.generation();
  table_.RowsChangedSince(before, rows);
  EXPECT_THAT(rows, ::testing::IsEmpty());
  Put(2, "p");
  Put(0, "q");
  Put(2, "r");
  table_.RemoveNode("b");
  table_.RowsChangedSince(before, rows);
  EXPECT_THAT(rows, ::testing::ElementsAre(0, 1, 2)) << "also the row that is not live any more";
}

TEST_F(RowsChangedSinceTest, FindsChangedRowsBeyondTheJournal) {
  NodeTable table(objects_.interner(), nullptr, /*journal_changes=*/3);
  const auto set = [&](const char* name) { table.SetNode(objects_.Node({.name = name})); };
  for (const char* name : {"a", "b", "c"}) set(name);
  const uint64_t before = table.generation();
  std::vector<Row> rows;
  for (int i = 0; i < 3; ++i) set("b");
  table.RowsChangedSince(before, rows);
  EXPECT_THAT(rows, ::testing::ElementsAre(1)) << "as many changes as the journal keeps";
  set("c");
  table.RowsChangedSince(before, rows);
  EXPECT_THAT(rows, ::testing::ElementsAre(1, 2)) << "one change more";
}

// On both sides of the number of changes from which all rows are searched.
TEST_F(RowsChangedSinceTest, FindsFewAndManyChanges) {
  for (const char* name : {"a", "b", "c"}) Set(name);
  for (const int changes : {1, 63, 64, 65, 200}) {
    SCOPED_TRACE(changes);
    const uint64_t before = table_.generation();
    for (int i = 0; i < changes; ++i) Set(i % 2 == 0 ? "c" : "a");
    std::vector<Row> rows;
    table_.RowsChangedSince(before, rows);
    EXPECT_THAT(rows, changes == 1 ? ::testing::ElementsAreArray<Row>({2})
                                   : ::testing::ElementsAreArray<Row>({0, 2}));
  }
}

TEST_F(RowsChangedSinceTest, FindsManyChangedRows) {
  for (int i = 0; i < 300; ++i) Set("n" + std::to_string(i));
  const uint64_t before = table_.generation();
  std::vector<Row> expected;
  for (Row row = 0; row < 300; row += 2) {
    Set("n" + std::to_string(row));
    expected.push_back(row);
  }
  std::vector<Row> rows;
  table_.RowsChangedSince(before, rows);
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace berth::host
