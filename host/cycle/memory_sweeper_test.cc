#include <string>

#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/cache/node_table.h"
#include "host/cycle/scheduling_loop.h"

namespace berth::host {
namespace {

class MemorySweeperTest : public ::testing::Test {
 protected:
  // Interns this many strings and releases them again.
  void AddUnreferenced(int count) {
    for (int i = 0; i < count; ++i) {
      interner_.Release(interner_.Intern("unreferenced-" + std::to_string(i)));
    }
  }
  // Interns this many strings that stay referenced.
  void AddReferenced(int count) {
    for (int i = 0; i < count; ++i) interner_.Intern("referenced-" + std::to_string(i));
  }

  Interner interner_;
  NodeTable table_{interner_};
};

TEST_F(MemorySweeperTest, DropsIdleColumnsBeyondTheLimit) {
  MemorySweeper sweeper(table_, interner_, {.idle_columns = 2});
  const size_t before = table_.column_count();
  for (const char* column : {"label:a", "label:b", "label:c"}) {
    ASSERT_TRUE(table_.ColumnFor(column).ok());
  }
  EXPECT_EQ(table_.column_count(), before + 3);
  sweeper.Sweep();
  EXPECT_EQ(table_.column_count(), before + 2);
}

TEST_F(MemorySweeperTest, KeepsPinnedColumns) {
  MemorySweeper sweeper(table_, interner_, {.idle_column_bytes = 0, .idle_columns = 0});
  const size_t before = table_.column_count();
  const auto pinned = table_.ColumnFor("label:a");
  ASSERT_TRUE(pinned.ok());
  table_.PinColumn(*pinned);
  ASSERT_TRUE(table_.ColumnFor("label:b").ok());
  sweeper.Sweep();
  EXPECT_EQ(table_.column_count(), before + 1);
  table_.UnpinColumn(*pinned);
}

TEST_F(MemorySweeperTest, SweepsInternerWhenHalfOfItIsUnreferenced) {
  MemorySweeper sweeper(table_, interner_, {});
  AddUnreferenced(5000);
  AddReferenced(4000);
  sweeper.Sweep();
  EXPECT_EQ(interner_.unreferenced(), 0U);
}

TEST_F(MemorySweeperTest, LeavesInternerAloneWhileSweepDoesNotPay) {
  MemorySweeper sweeper(table_, interner_, {});
  AddUnreferenced(4000);  // Few.
  sweeper.Sweep();
  EXPECT_EQ(interner_.unreferenced(), 4000U);
  AddReferenced(10'000);
  AddUnreferenced(5000);  // Less than half.
  sweeper.Sweep();
  EXPECT_EQ(interner_.unreferenced(), 5000U);
}

}  // namespace
}  // namespace berth::host
