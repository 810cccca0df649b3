// Tests <berth/topology.h> and <berth/domain_counts.h>.
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <berth/domain_counts.h>
#include <berth/topology.h>

namespace berth {
namespace {

TEST(TopologyTest, ReusesTheNumberOfADomainWithoutNodes) {
  Topology topology(1);
  topology.Set(5, 10);
  topology.Set(6, 11);
  topology.Set(7, 10);
  EXPECT_EQ(topology.DomainOf(5), topology.DomainOf(7));
  EXPECT_EQ(topology.DomainOf(4), Topology::kNone);
  EXPECT_EQ(topology.DomainOf(100), Topology::kNone);
  const uint32_t first = topology.Find(10);
  std::vector<uint32_t> rows;
  topology.ForEachRow(first, [&](uint32_t row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<uint32_t>{5, 7}));
  topology.Set(5, 0);
  topology.Set(7, 11);
  EXPECT_EQ(topology.Find(10), Topology::kNone);
  EXPECT_EQ(topology.Nodes(first), 0U);
  EXPECT_EQ(topology.size(), 1U);
  topology.Set(1, 12);
  EXPECT_EQ(topology.Find(12), first);
  EXPECT_EQ(topology.limit(), 2U);
  EXPECT_EQ(topology.nodes(), 3U);
}

TEST(DomainCountsTest, KeepsFewAndManyCounts) {
  DomainCounts counts;
  std::map<uint32_t, uint32_t> expected;
  const auto check = [&] {
    std::map<uint32_t, uint32_t> found;
    uint64_t total = 0;
    counts.ForEach([&](uint32_t index, uint32_t count) {
      found[index] = count;
      total += count;
    });
    EXPECT_EQ(found, expected);
    EXPECT_EQ(counts.total(), total);
    EXPECT_EQ(counts.size(), expected.size());
  };
  for (uint32_t i = 0; i < 3000; ++i) {
    const uint32_t index = i * 7 % 3001;
    counts.Add(index, 1 + i % 3);
    expected[index] = 1 + i % 3;
    if (i % 500 == 0 || (i > 1020 && i < 1030)) check();
  }
  EXPECT_EQ(counts.At(7), expected[7]);
  EXPECT_EQ(counts.At(5000), 0U);
  for (uint32_t i = 0; i < 3000; ++i) {
    const uint32_t index = i * 7 % 3001;
    counts.Add(index, -static_cast<int64_t>(1 + i % 3));
    expected.erase(index);
    if (i % 500 == 0 || (i > 2740 && i < 2750)) check();
  }
  EXPECT_TRUE(counts.empty());
  EXPECT_EQ(counts.bytes(), 0U);
}

TEST(CountChangesTest, AddsUp) {
  CountChanges changes;
  EXPECT_TRUE(changes.empty());
  changes.Add(3, 1);
  changes.Add(4, -2);
  changes.Add(3, 1);
  EXPECT_EQ(changes.At(3), 2);
  EXPECT_EQ(changes.At(4), -2);
  EXPECT_EQ(changes.At(5), 0);
  EXPECT_EQ(changes.total(), 0);
  changes.Clear();
  EXPECT_TRUE(changes.empty());
}

}  // namespace
}  // namespace berth
