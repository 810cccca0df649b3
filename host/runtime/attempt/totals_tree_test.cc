#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/attempt/evaluation.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kNone = TotalsTree::kNone;

std::vector<Row> BestRows(const TotalsTree& tree) {
  std::vector<Row> rows;
  for (uint32_t k = 0; k < tree.best_count(); ++k) rows.push_back(tree.BestRow(k));
  return rows;
}

std::vector<Row> BestOf(const std::vector<int64_t>& totals) {
  std::vector<Row> rows;
  const int64_t best = totals.empty() ? kNone : *std::ranges::max_element(totals);
  for (Row row = 0; row < totals.size(); ++row) {
    if (best != kNone && totals[row] == best) rows.push_back(row);
  }
  return rows;
}

TEST(TotalsTreeTest, AnEmptyTreeHasNoBestRow) {
  TotalsTree tree;
  EXPECT_EQ(tree.best(), kNone);
  EXPECT_EQ(tree.best_count(), 0U);
  tree.Assign(std::vector<int64_t>{kNone, kNone});
  EXPECT_EQ(tree.best(), kNone);
  EXPECT_EQ(tree.best_count(), 0U);
}

TEST(TotalsTreeTest, ReturnsTheBestRowsInRowOrder) {
  TotalsTree tree;
  tree.Assign(std::vector<int64_t>{3, kNone, 5, 5, -1, 5});
  EXPECT_EQ(tree.best(), 5);
  EXPECT_THAT(BestRows(tree), ElementsAre(2, 3, 5));
  tree.Set(3, 4);
  EXPECT_THAT(BestRows(tree), ElementsAre(2, 5));
  tree.Set(1, 9);
  EXPECT_THAT(BestRows(tree), ElementsAre(1));
  tree.Set(1, kNone);
  EXPECT_THAT(BestRows(tree), ElementsAre(2, 5));
}

TEST(TotalsTreeTest, NegativeTotalsAreTotals) {
  TotalsTree tree;
  tree.Assign(std::vector<int64_t>{kNone, -7, kNone + 1});
  EXPECT_EQ(tree.best(), -7);
  tree.Set(1, kNone);
  EXPECT_EQ(tree.best(), kNone + 1);
  EXPECT_THAT(BestRows(tree), ElementsAre(2));
}

TEST(TotalsTreeTest, RowsThatAreAddedHaveNoTotal) {
  TotalsTree tree;
  tree.Assign(std::vector<int64_t>{1});
  tree.Grow(65);
  EXPECT_THAT(BestRows(tree), ElementsAre(0));
  tree.Set(64, 1);
  EXPECT_THAT(BestRows(tree), ElementsAre(0, 64));
}

// Sizes on both sides of where the tree gets one more node, or one more level.
TEST(TotalsTreeTest, EqualsASearchOfAllTotals) {
  std::mt19937 random(1);
  for (const uint32_t rows : {1U, 63U, 64U, 65U, 128U, 4095U, 4096U, 4097U, 9000U}) {
    SCOPED_TRACE(rows);
    std::vector<int64_t> totals(rows);
    const auto draw = [&]() -> int64_t {
      const auto value = static_cast<int64_t>(random() % 6);
      return value == 0 ? kNone : value;
    };
    for (int64_t& total : totals) total = draw();
    TotalsTree tree;
    tree.Assign(totals);
    for (int step = 0; step < 200; ++step) {
      ASSERT_EQ(BestRows(tree), BestOf(totals));
      const auto row = static_cast<Row>(random() % rows);
      totals[row] = draw();
      tree.Set(row, totals[row]);
    }
  }
}

TEST(TotalsTreeTest, RowThatWasOnlyBestOneLeavesTree) {
  TotalsTree tree;
  tree.Assign(std::vector<int64_t>{5});
  tree.Set(0, kNone);
  EXPECT_THAT(BestRows(tree), IsEmpty());
}

}  // namespace
}  // namespace berth::host
