// Tests the journal of the index over pods and domains, and <berth/topology_deltas.h>.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <berth/topology_deltas.h>
#include <berth/topology_index.h>

#include "tests/sdk/topology_fixture.h"

namespace berth {
namespace {

using testing::In;
using testing::MakePod;
using testing::PodHandle;
using testing::TopologyCluster;
using TopologyJournalTest = TopologyIndexTest;

TEST_F(TopologyJournalTest, TheJournalNamesRowsAndDeltas) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutNode(1, Node("b"));
  cluster_.PutPod(0, Asks({In("app", {"web"})}));
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const uint32_t counter = Count(pod).counter->id();
  std::vector<const TermGroup*> groups;
  cluster_.index().FindTerms(*cluster_.Pod(Web("x")), 15, groups);
  ASSERT_EQ(groups.size(), 1U);
  const uint32_t group = groups[0]->id();
  const auto changes_after = [&](auto change) {
    const uint64_t token = cluster_.index().token();
    change();
    std::vector<std::vector<int64_t>> found;
    for (const TopologyChange& each : ChangesSince(token)) {
      found.push_back({each.kind, each.id, each.row, each.delta});
    }
    return found;
  };
  using Found = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(changes_after([&] { cluster_.PutPod(1, Web("p")); }),
            (Found{{TopologyChange::kCount, counter, 1, 1}}));
  EXPECT_EQ(changes_after([&] { cluster_.PutPod(1, Web("p").Annotation("a", "b")); }), Found{});
  EXPECT_EQ(
      changes_after([&] { cluster_.PutPod(1, Asks({In("app", {"web"})}).Namespace("y")); }).size(),
      1U);
  EXPECT_EQ(changes_after([&] { cluster_.PutPod(1, MakePod("db")); }), Found{});
  EXPECT_EQ(changes_after([&] { cluster_.PutNode(1, Node("b")); }), Found{});
  EXPECT_EQ(changes_after([&] { cluster_.PutNode(1, Node("b").Taint("t")); }),
            (Found{{TopologyChange::kNodeChanged, 0, 1, 0}}));
  EXPECT_EQ(changes_after([&] { cluster_.RemovePod("asks"); }),
            (Found{{TopologyChange::kTerm, group, 0, -1}}));
  const Found moved = changes_after([&] { cluster_.PutNode(1, Node("c")); });
  ASSERT_FALSE(moved.empty());
  EXPECT_EQ(moved[0][0], TopologyChange::kCounterMoved);
  EXPECT_EQ(moved[0][1], counter);
  EXPECT_EQ(moved.back(), (std::vector<int64_t>{TopologyChange::kNodeChanged, 0, 1, 1}));
}

TEST_F(TopologyJournalTest, SumsUpTheDeltasOfDomains) {
  for (uint32_t row = 0; row < 3; ++row) cluster_.PutNode(row, Node(row < 2 ? "a" : "b"));
  cluster_.PutPod(0, Web("p0"));
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const CountedDomains counted = Count(pod);
  const uint64_t created = counted.counter->since();
  const uint64_t token = cluster_.index().token();
  cluster_.PutPod(0, Web("p1"));
  cluster_.PutPod(1, Web("p2"));
  cluster_.PutPod(2, Web("p3"));
  cluster_.RemovePod("p3");
  cluster_.RemovePod("p0");
  TopologyDeltas deltas;
  ASSERT_TRUE(deltas.Read(*counted.counter).Since(token, cluster_.index(), 0));
  std::vector<std::vector<int64_t>> rows;
  deltas.ForEach(*counted.counter, [&](uint32_t row, int64_t delta) {
    rows.push_back({row, delta});
  });
  EXPECT_EQ(rows, (std::vector<std::vector<int64_t>>{{1, 1}}));
  std::vector<std::vector<int64_t>> domains;
  deltas.ForEachDomain(*counted.counter, *counted.topology,
                       [&](uint32_t domain, int64_t delta, uint32_t row) {
                         domains.push_back({domain, delta, row});
                       });
  const int64_t a = counted.topology->Find(cluster_.Id("a"));
  EXPECT_EQ(domains, (std::vector<std::vector<int64_t>>{{a, 1, 1}}));
  EXPECT_FALSE(TopologyDeltas().Read(*counted.counter).Since(created - 1, cluster_.index(), 0));
  EXPECT_FALSE(TopologyDeltas().Since(cluster_.index().token() + 1, cluster_.index(), 0));
}

// The journal has no change of a pod that nothing counted.
TEST_F(TopologyJournalTest, DeltasAreNotKnownWhenCounterWasDropped) {
  TopologyCluster cluster({.counter_bytes = 0});
  cluster.PutNode(0, Node("a"));
  const PodHandle pod = cluster.Pod(Asks({In("app", {"web"})}));
  const PodHandle other = cluster.Pod(Asks({In("app", {"db"})}));
  const berth_id zone = cluster.ids().Intern("zone");
  const auto count = [&](const PodHandle& asks, uint64_t cycle) {
    return cluster.index().Count(Query(asks), zone, cycle);
  };
  EXPECT_EQ(count(pod, 1).counts->total(), 0U);
  count(other, 2);
  const uint64_t token = cluster.index().token();
  cluster.PutPod(0, Web("p"));
  EXPECT_EQ(cluster.index().token(), token);
  const CountedDomains again = count(pod, 3);
  EXPECT_EQ(again.counts->total(), 1U);
  EXPECT_FALSE(TopologyDeltas().Read(*again.counter).Since(token, cluster.index(), 0));
  EXPECT_TRUE(
      TopologyDeltas().Read(*again.counter).Since(cluster.index().token(), cluster.index(), 0));
}

// The pod was counted in the former domain of the row.
TEST_F(TopologyJournalTest, DeltasAreUnknownWhenTheDomainChanged) {
  cluster_.PutNode(0, Node("a"));
  cluster_.PutPod(0, Web("p0"));
  const PodHandle pod = cluster_.Pod(Asks({In("app", {"web"})}));
  const CountedDomains counted = Count(pod);
  const auto known_since = [&](uint64_t token) {
    return TopologyDeltas().Read(*counted.counter).Since(token, cluster_.index(), 0);
  };
  const uint64_t with_pod = cluster_.index().token();
  cluster_.RemovePod("p0");
  const uint64_t without_pod = cluster_.index().token();
  EXPECT_TRUE(known_since(with_pod));
  cluster_.PutNode(0, Node("b"));
  EXPECT_FALSE(known_since(with_pod));
  EXPECT_TRUE(known_since(without_pod));
  cluster_.PutPod(0, Web("p1"));
  EXPECT_TRUE(known_since(without_pod));
  cluster_.PutNode(0, Node("a"));
  EXPECT_FALSE(known_since(without_pod));
}

TEST_F(TopologyJournalTest, ExchangesATokenForTheChangesSinceIt) {
  cluster_.PutNode(0, Node("a"));
  const TopologyIndex& index = cluster_.index();
  uint64_t token = 0;
  const auto none = [](const TopologyChange&) { FAIL() << "no state has the token 0"; };
  EXPECT_FALSE(index.ExchangeToken(token).ForEach(none));
  EXPECT_EQ(token, index.token());
  const uint64_t before = token;
  cluster_.PutNode(1, Node("b"));
  const TopologyHistory history = index.ExchangeToken(token);
  EXPECT_EQ(history.since(), before);
  EXPECT_EQ(token, index.token());
  std::vector<uint32_t> rows;
  EXPECT_TRUE(history.ForEach([&](const TopologyChange& each) { rows.push_back(each.row); }));
  EXPECT_EQ(rows, std::vector<uint32_t>{1});
  EXPECT_TRUE(index.ExchangeToken(token).ForEach(none)) << "nothing has changed since";
}

TEST_F(TopologyJournalTest, DomainSinkReportsWhetherItReceivedADomain) {
  for (uint32_t row = 0; row < 3; ++row) cluster_.PutNode(row, Node(row < 2 ? "a" : "b"));
  const Topology& zones = *Count(cluster_.Pod(Asks({In("app", {"web"})}))).topology;
  std::vector<uint32_t> put;
  RowSink rows(
      [](void* to, const uint32_t* from, uint64_t count) noexcept {
        static_cast<std::vector<uint32_t>*>(to)->insert(
            static_cast<std::vector<uint32_t>*>(to)->end(), from, from + count);
      },
      &put);
  DomainSink sink(rows);
  EXPECT_EQ(sink.stale(), Stale::kNone);
  for (int i = 0; i < 2; ++i) sink.Put(zones, zones.Find(cluster_.Id("a")), 1);
  EXPECT_EQ(sink.stale(), Stale::kRows);
  EXPECT_EQ(put, (std::vector<uint32_t>{0, 1})) << "each domain is reported once";
}

TEST_F(TopologyJournalTest, TheJournalIsBounded) {
  TopologyCluster cluster({.journal = 4});
  cluster.PutNode(0, Node("a"));
  const uint64_t first = cluster.index().token();
  const auto reaches = [&](uint64_t token) {
    return cluster.index().ForEachChangeSince(token, [](const TopologyChange&) {});
  };
  EXPECT_TRUE(reaches(first));
  EXPECT_FALSE(reaches(0));
  EXPECT_FALSE(reaches(first + 1));
  for (const std::string zone : {"b", "c", "d", "e"}) cluster.PutNode(0, Node(zone));
  EXPECT_TRUE(reaches(first));
  cluster.PutNode(0, Node("f"));
  EXPECT_FALSE(reaches(first));
  EXPECT_TRUE(reaches(first + 1));
}

}  // namespace
}  // namespace berth
