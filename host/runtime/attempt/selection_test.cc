#include "host/runtime/attempt/selection.h"

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/split_mix.h"

namespace berth::host {
namespace {

class SelectionTest : public ::testing::Test {
 protected:
  void MakeNodes(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      table_.SetNode(objects_.Node({.name = "n" + std::to_string(i), .allocatable = ""}));
    }
  }
  void Remove(Row row) { table_.RemoveNode("n" + std::to_string(row)); }

  static std::vector<Row> RowsOf(const Selection& selection) {
    std::vector<Row> rows;
    for (const Selection::Block& block : selection.blocks()) {
      EXPECT_EQ(block.first_row % kBlockRows, 0U);
      EXPECT_LE(block.count, kBlockRows);
      EXPECT_GT(block.n_selected, 0U);
      for (const uint32_t index : selection.SelectedOf(block)) {
        EXPECT_LT(index, block.count);
        rows.push_back(block.first_row + index);
      }
    }
    return rows;
  }
  // Checks that At(), Contains() and size() agree with the blocks.
  void ExpectRows(const Selection& selection, const std::vector<Row>& rows) {
    EXPECT_EQ(RowsOf(selection), rows);
    ASSERT_EQ(selection.size(), rows.size());
    const std::set<Row> set(rows.begin(), rows.end());
    for (uint32_t k = 0; k < rows.size(); ++k) ASSERT_EQ(selection.At(k), rows[k]) << k;
    for (Row row = 0; row < table_.row_count() + kBlockRows; ++row) {
      ASSERT_EQ(selection.Contains(row), set.contains(row)) << row;
    }
  }

  TestObjects objects_;
  NodeTable table_{objects_.interner()};
  Selection selection_;
};

TEST_F(SelectionTest, IsEmptyForAnEmptyTable) {
  selection_.AssignLive(table_);
  ExpectRows(selection_, {});
  selection_.AssignRows(table_, {});
  ExpectRows(selection_, {});
}

TEST_F(SelectionTest, LiveRowsAcrossBlocks) {
  for (const uint32_t count : {1U, kBlockRows - 1, kBlockRows, kBlockRows + 1, 3 * kBlockRows}) {
    MakeNodes(count);
    std::vector<Row> all(count);
    std::iota(all.begin(), all.end(), 0U);
    selection_.AssignLive(table_);
    ExpectRows(selection_, all);
  }
}

TEST_F(SelectionTest, LeavesOutDeadRowsAndEmptyBlocks) {
  MakeNodes(4 * kBlockRows);
  std::vector<Row> rows;
  for (Row row = 0; row < 4 * kBlockRows; ++row) {
    const bool gone = row / kBlockRows == 2 || row % 3 == 0 || row == kBlockRows - 1;
    if (gone) {
      Remove(row);
    } else {
      rows.push_back(row);
    }
  }
  table_.RowForPodsOf("ghost");
  selection_.AssignLive(table_);
  ExpectRows(selection_, rows);
  EXPECT_EQ(selection_.blocks().size(), 3U);
}

TEST_F(SelectionTest, AssignsGivenRows) {
  MakeNodes(3 * kBlockRows);
  for (const std::vector<Row>& rows : {std::vector<Row>{0},
                                       {kBlockRows},
                                       {3 * kBlockRows - 1},
                                       {0, 1, kBlockRows - 1, kBlockRows, 2 * kBlockRows + 5}}) {
    selection_.AssignRows(table_, rows);
    ExpectRows(selection_, rows);
  }
}

TEST_F(SelectionTest, AppendLeavesEmptyBlocksOut) {
  MakeNodes(2 * kBlockRows);
  const uint32_t indices[] = {0, 7};
  selection_.Append(0, kBlockRows, {});
  selection_.Append(kBlockRows, kBlockRows, indices);
  ExpectRows(selection_, {kBlockRows, kBlockRows + 7});
  selection_.Clear();
  ExpectRows(selection_, {});
}

TEST_F(SelectionTest, InsertsAndErasesRowsInAnyOrder) {
  const uint32_t rows = 2 * kBlockRows + 3;
  MakeNodes(rows);
  selection_.Insert(kBlockRows, rows);
  selection_.Insert(rows - 1, rows);
  selection_.Insert(0, rows);
  selection_.Insert(kBlockRows - 1, rows);
  selection_.Insert(kBlockRows, rows);  // Is selected already.
  ExpectRows(selection_, {0, kBlockRows - 1, kBlockRows, rows - 1});
  EXPECT_EQ(selection_.blocks().back().count, 3U);
  selection_.Erase(kBlockRows);  // The only row of its block.
  selection_.Erase(kBlockRows);
  selection_.Erase(5);
  ExpectRows(selection_, {0, kBlockRows - 1, rows - 1});
  selection_.Insert(2, rows);
  for (const Row row : {kBlockRows - 1, Row{0}, rows - 1}) selection_.Erase(row);
  ExpectRows(selection_, {2});
  selection_.Erase(2);
  ExpectRows(selection_, {});
}

// Blocks become whole, and are no longer whole, at the beginning, in the middle and at the end.
TEST_F(SelectionTest, AgreesWithASetAfterEveryChange) {
  const uint32_t rows = 3 * kBlockRows + 5;
  MakeNodes(rows);
  selection_.AssignLive(table_);
  std::set<Row> expected;
  for (Row row = 0; row < rows; ++row) expected.insert(expected.end(), row);
  SplitMix64 random(1);
  for (int step = 0; step < 20000; ++step) {
    // Mostly a few rows, so that blocks become whole again; at times the half of all rows.
    const Row limit = step / 2000 % 2 == 0 ? 4 : kBlockRows;
    const Row row = static_cast<Row>(random.Next() % 4 * kBlockRows + random.Next() % limit) % rows;
    if (random.Next() % 2 == 0) {
      selection_.Insert(row, rows);
      expected.insert(row);
    } else {
      selection_.Erase(row);
      expected.erase(row);
    }
    ASSERT_EQ(selection_.size(), expected.size()) << step;
    if (step % 400 == 0 || step < 40) ExpectRows(selection_, {expected.begin(), expected.end()});
  }
}

TEST_F(SelectionTest, WholeBlocksNeedNoIndices) {
  MakeNodes(8 * kBlockRows);
  selection_.AssignLive(table_);
  EXPECT_LT(selection_.bytes(), 8 * kBlockRows);
  selection_.Erase(kBlockRows + 3);
  EXPECT_LT(selection_.bytes(), 8 * kBlockRows);
  selection_.Insert(kBlockRows + 3, 8 * kBlockRows);
  EXPECT_EQ(selection_.size(), 8 * kBlockRows);
  EXPECT_TRUE(selection_.blocks()[1].is_whole());
}

// A block at the end of the table has more rows after the table has grown.
TEST_F(SelectionTest, InsertsARowAddedToTheTable) {
  MakeNodes(3);
  selection_.AssignLive(table_);
  MakeNodes(5);
  selection_.Insert(4, 5);
  ExpectRows(selection_, {0, 1, 2, 4});
}

}  // namespace
}  // namespace berth::host
