#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cache/node_table.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> Since(const RowJournal& journal, uint64_t number) {
  std::vector<uint32_t> rows;
  journal.ForEachSince(number, [&rows](uint32_t row) { rows.push_back(row); });
  return rows;
}

TEST(RowJournalTest, ReturnsTheChangesAfterANumber) {
  RowJournal journal(4);
  EXPECT_EQ(journal.last(), 0U);
  EXPECT_TRUE(journal.Covers(0));
  EXPECT_THAT(Since(journal, 0), IsEmpty());
  for (const uint32_t row : {7U, 8U, 7U}) journal.Add(row);
  EXPECT_EQ(journal.last(), 3U);
  EXPECT_THAT(Since(journal, 0), ElementsAre(7, 8, 7));
  EXPECT_THAT(Since(journal, 2), ElementsAre(7));
  EXPECT_THAT(Since(journal, 3), IsEmpty());
}

TEST(RowJournalTest, KeepsTheLastChangesOnly) {
  RowJournal journal(3);
  for (uint32_t row = 1; row <= 3; ++row) journal.Add(row);
  EXPECT_TRUE(journal.Covers(0)) << "exactly full";
  journal.Add(4);
  EXPECT_FALSE(journal.Covers(0)) << "one more";
  EXPECT_TRUE(journal.Covers(1));
  EXPECT_THAT(Since(journal, 1), ElementsAre(2, 3, 4));
  for (uint32_t row = 5; row <= 20; ++row) journal.Add(row);
  EXPECT_FALSE(journal.Covers(16));
  EXPECT_TRUE(journal.Covers(17));
  EXPECT_THAT(Since(journal, 17), ElementsAre(18, 19, 20));
}

}  // namespace
}  // namespace berth::host
