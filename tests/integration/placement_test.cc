// Whole runs: no node is overcommitted, placements depend on the seed only, plugins built by two
// compilers agree, and QueueSort orders the queue.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/default_profile.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// The requests and the allocatable amounts of a test, counted independently of the host.
struct Amounts {
  int64_t milli_cpu = 0;
  int64_t mebibytes = 0;
  int64_t pods = 0;

  bool Within(const Amounts& limit) const {
    return milli_cpu <= limit.milli_cpu && mebibytes <= limit.mebibytes && pods <= limit.pods;
  }
  Amounts operator+(const Amounts& other) const {
    return {milli_cpu + other.milli_cpu, mebibytes + other.mebibytes, pods + other.pods};
  }
};

class RandomCluster {
 public:
  explicit RandomCluster(uint32_t seed) : random_(seed) {}

  TestNode NextNode() {
    const std::string name = "node-" + std::to_string(limits.size());
    const Amounts limit{2000 + Below(7) * 1000, 2048 + Below(7) * 1024, 4 + Below(20)};
    limits[name] = limit;
    return {.name = name,
            .allocatable = Requests(limit) + ",\"pods\":\"" + std::to_string(limit.pods) + '"',
            .labels = "\"zone\":\"z" + std::to_string(Below(3)) + '"'};
  }
  void AddNodes(Harness& harness, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) harness.AddNode(NextNode());
  }
  TestPod NextPod() {
    const std::string name = "pod-" + std::to_string(pods_++);
    wanted["default/" + name] = {Below(12) * 125, Below(10) * 128, 1};
    return {.name = name, .requests = Requests(wanted["default/" + name])};
  }
  int64_t Below(uint32_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }

  std::map<std::string, Amounts> limits;  // Keyed by node.
  std::map<std::string, Amounts> wanted;  // Keyed by pod.

 private:
  static std::string Requests(const Amounts& amounts) {
    return "\"cpu\":\"" + std::to_string(amounts.milli_cpu) + "m\",\"memory\":\"" +
           std::to_string(amounts.mebibytes) + "Mi\"";
  }

  std::mt19937 random_;
  uint32_t pods_ = 0;
};

// Returns the node of each pod in the cluster.
std::map<std::string, std::string> Placements(const EmbeddedCluster& cluster) {
  std::map<std::string, std::string> placements;
  for (const AnyObject& object : cluster.List(kPodKind)) {
    const Pod& pod = *std::get<PodRef>(object);
    placements[pod.Key()] = std::string(pod.node_name());
  }
  return placements;
}

class PlacementTest : public ::testing::Test {
 protected:
  // Schedules `pods` pods on `nodes` nodes. Returns the node of each pod.
  static std::map<std::string, std::string> Run(const PlanSpec& spec, uint32_t cluster_seed,
                                                uint64_t seed, uint32_t nodes, uint32_t pods) {
    Harness harness;
    RandomCluster cluster(cluster_seed);
    cluster.AddNodes(harness, nodes);
    EXPECT_TRUE(harness.Start(spec, seed).ok());
    for (uint32_t i = 0; i < pods; ++i) harness.Schedule(cluster.NextPod());
    return Placements(harness.cluster());
  }
};

// --- capacity -----------------------------------------------------------------------------------

TEST_F(PlacementTest, NoNodeExceedsItsAllocatableAmounts) {
  const PlanSpec spec = DefaultPlanSpec(TestCatalog());
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Harness harness;
    RandomCluster cluster(seed);
    cluster.AddNodes(harness, 12);
    ASSERT_TRUE(harness.Start(spec, seed).ok());
    std::map<std::string, Amounts> used;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 300; ++i) {
      const TestPod pod = cluster.NextPod();
      const Amounts wanted = cluster.wanted["default/" + pod.name];
      const AttemptResult result = harness.Schedule(pod);
      if (!result.node.empty()) {
        used[result.node] = used[result.node] + wanted;
        ASSERT_TRUE(used[result.node].Within(cluster.limits[result.node])) << result.node;
        continue;
      }
      ++refused;
      ASSERT_EQ(result.failure.code, BERTH_UNSCHEDULABLE) << result.failure.message;
      for (const auto& [node, limit] : cluster.limits) {
        ASSERT_FALSE((used[node] + wanted).Within(limit)) << pod.name << " fits on " << node;
      }
    }
    EXPECT_GT(refused, 10U);
    EXPECT_LT(refused, 290U);
    for (const auto& [node, amounts] : used) {
      EXPECT_EQ(harness.Column("req.cpu", node), amounts.milli_cpu);
      EXPECT_EQ(harness.Column("pods.count", node), amounts.pods);
    }
  }
}

// The requests of the two pods are more than a sum can express.
TEST_F(PlacementTest, NodeIsFullWhenItsSumOverflows) {
  Harness harness;
  harness.AddNodes({"n"});
  harness.AddPod({.name = "a", .node = "n", .requests = "\"cpu\":\"1E\""});
  harness.AddPod({.name = "b", .node = "n", .requests = "\"cpu\":\"1E\""});
  ASSERT_TRUE(harness.Start(DefaultPlanSpec(TestCatalog())).ok());
  const auto try_next = [&](const std::string& name) {
    return Harness::Outcome(harness.Schedule({.name = name, .requests = "\"cpu\":\"1m\""}));
  };
  EXPECT_EQ(try_next("p"), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
  harness.cluster().DeletePod({"default", "a", {}}, 0, nullptr);
  harness.Settle();
  EXPECT_EQ(try_next("q"), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
  harness.cluster().DeletePod({"default", "b", {}}, 0, nullptr);
  harness.Settle();
  EXPECT_EQ(harness.Column("req.cpu", "n"), 0);
  EXPECT_EQ(try_next("r"), "Success");
  EXPECT_EQ(harness.Column("req.cpu", "n"), 1);
}

// --- reproducibility ----------------------------------------------------------------------------

TEST_F(PlacementTest, EqualSeedsGiveEqualPlacements) {
  const PlanSpec spec = DefaultPlanSpec(TestCatalog());
  const auto first = Run(spec, 5, 42, 20, 120);
  EXPECT_EQ(Run(spec, 5, 42, 20, 120), first);
  // Without scores, only the seed determines the placement.
  const PlanSpec bare = TestProfile().Use("cpp.PerNode", {Point::kFilter}).Spec();
  EXPECT_EQ(Run(bare, 5, 1, 20, 60), Run(bare, 5, 1, 20, 60));
  EXPECT_NE(Run(bare, 5, 1, 20, 60), Run(bare, 5, 2, 20, 60));
}

// A table with free rows in several blocks and a table without free rows have the nodes in the same
// order, so the selected nodes must be the same.
TEST_F(PlacementTest, FreeRowsDoNotChangePlacements) {
  constexpr uint32_t kNodes = 90;
  const PlanSpec spec = TestProfile().Use("cpp.PerNode", {Point::kFilter, Point::kScore}).Spec();
  Harness without;
  // Starts before the nodes are added, so that rows are in the order of creation.
  ASSERT_TRUE(without.Start(spec, 3).ok());
  RandomCluster dense(9);
  dense.AddNodes(without, kNodes);
  for (uint32_t i = 0; i < 150; ++i) without.Schedule(dense.NextPod());

  Harness harness;
  ASSERT_TRUE(harness.Start(spec, 3).ok());
  std::vector<std::string> fillers;
  const auto fill = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      fillers.push_back("filler-" + std::to_string(fillers.size()));
      harness.AddNode({.name = fillers.back(), .allocatable = "\"cpu\":\"1000\""});
    }
  };
  // Nodes that are removed afterwards are added between the nodes that stay.
  RandomCluster cluster(9);
  for (uint32_t i = 0; i < kNodes; ++i) {
    fill(i % 17 == 5 ? 150 : i % 3);
    harness.AddNode(cluster.NextNode());
  }
  for (const std::string& name : fillers) harness.RemoveNode(name);
  ASSERT_GT(harness.loop().cache().table().row_count(), 3 * kBlockRows);
  for (uint32_t i = 0; i < 150; ++i) harness.Schedule(cluster.NextPod());
  EXPECT_EQ(Placements(harness.cluster()), Placements(without.cluster()));
}

// --- kinds of plugins ---------------------------------------------------------------------------

std::vector<std::string> Prefixes() {
  std::vector<std::string> prefixes{"cpp"};
  if (TestCatalog().Find("libcxx.PerNode").ok()) prefixes.emplace_back("libcxx");
  return prefixes;
}

TEST_F(PlacementTest, NodeAndBlockPluginsOfEveryCompilerAgree) {
#ifdef BERTH_HAVE_LIBCXX
  ASSERT_EQ(Prefixes().size(), 2U);
#endif
  std::vector<std::map<std::string, std::string>> runs;
  for (const std::string& prefix : Prefixes()) {
    for (const char* shape : {".PerNode", ".PerBlock"}) {
      const PlanSpec spec = TestProfile()
                                .Use(prefix + shape, {Point::kFilter, Point::kScore})
                                .Use(prefix + ".ByKey", {Point::kQueueSort})
                                .Use(prefix + ".ApiBinder", {Point::kBind})
                                .Spec();
      runs.push_back(Run(spec, 11, 7, 15, 100));
    }
  }
  for (const auto& run : runs) EXPECT_EQ(run, runs.front());
  const auto placed =
      std::ranges::count_if(runs.front(), [](const auto& p) { return !p.second.empty(); });
  EXPECT_GT(placed, 30);
}

TEST_F(PlacementTest, ReasonsOfCppPlugins) {
  for (const std::string& prefix : Prefixes()) {
    for (const char* shape : {".PerNode", ".PerBlock"}) {
      SCOPED_TRACE(prefix + shape);
      Harness harness;
      harness.AddNode({.name = "a", .allocatable = "\"cpu\":\"1\"", .labels = "\"zone\":\"z\""});
      harness.AddNode({.name = "b", .allocatable = "\"cpu\":\"9\""});
      harness.AddNode({.name = "c", .allocatable = "\"cpu\":\"1\""});
      ASSERT_TRUE(harness.Start(TestProfile().Use(prefix + shape, {Point::kFilter})).ok());
      EXPECT_EQ(Harness::Outcome(harness.Schedule({.name = "p", .requests = "\"cpu\":\"2\""})),
                "Unschedulable: 0/3 nodes are available: 2 Insufficient cpu, 2 node(s) had no "
                "zone.");
    }
  }
}

TEST_F(PlacementTest, ColumnsAndReasonsThatDependOnThePod) {
  for (const std::string& prefix : Prefixes()) {
    SCOPED_TRACE(prefix);
    Harness harness;
    harness.AddNode({.name = "a", .allocatable = "\"example.com/gpu\":\"2\""});
    harness.AddNode({.name = "b", .allocatable = "\"example.com/fpga\":\"1\""});
    ASSERT_TRUE(
        harness.Start(TestProfile().Use(prefix + ".Devices", {Point::kPreFilter, Point::kFilter}))
            .ok());
    const auto pod = [](const std::string& name, const std::string& device) {
      return TestPod{.name = name, .requests = "\"example.com/" + device + "\":\"1\""};
    };
    EXPECT_EQ(harness.Schedule(pod("p", "gpu")).node, "a");
    EXPECT_EQ(harness.Schedule(pod("q", "fpga")).node, "b");
    EXPECT_EQ(harness.Schedule(pod("r", "gpu")).node, "a");
    EXPECT_EQ(Harness::Outcome(harness.Schedule(pod("s", "gpu"))),
              "Unschedulable: 0/2 nodes are available: 2 Insufficient example.com/gpu.");
    EXPECT_EQ(Harness::Outcome(harness.Schedule(pod("t", "none"))),
              "Unschedulable: 0/2 nodes are available: 2 Insufficient example.com/none.");
    EXPECT_EQ(Harness::Outcome(harness.Schedule({.name = "u"})),
              "Success");  // PreFilter answers Skip.
  }
}

TEST_F(PlacementTest, QueueSortByKeyAndByComparison) {
  for (const std::string& prefix : Prefixes()) {
    SCOPED_TRACE(prefix);
    const auto order = [&](const std::string& sort) {
      Harness harness;
      harness.AddNodes({"n"});
      EXPECT_TRUE(harness.Start(TestProfile().Use(prefix + sort, {Point::kQueueSort})).ok());
      harness.AddPod({.name = "a", .spec = "\"priority\":-1"});
      harness.AddPod({.name = "c", .spec = "\"priority\":5"});
      harness.AddPod({.name = "b", .spec = "\"priority\":5"});
      harness.AddPod({.name = "d"});
      std::vector<std::string> names;
      while (harness.ready() > 0) names.emplace_back(harness.Next().pod->name());
      return names;
    };
    EXPECT_THAT(order(".ByKey"), ElementsAre("c", "b", "d", "a"));
    EXPECT_THAT(order(".ByLess"), ElementsAre("d", "c", "b", "a"));
  }
}

TEST_F(PlacementTest, PodsOfTwoJobsDoNotInterleave) {
  for (const char* plugin : {"cpp.ByJob", "cpp.ByTeam"}) {
    SCOPED_TRACE(plugin);
    Harness harness;
    harness.AddNode({.name = "n1"});
    ASSERT_TRUE(harness.Start(TestProfile().Use(plugin, {Point::kEntity})).ok());
    for (const std::string name : {"a1", "b1", "a2", "b2", "a3", "b3"}) {
      const std::string job = name.substr(0, 1);
      harness.AddPod({.name = name,
                      .meta = R"("annotations":{"example.com/job":")" + job +
                              R"("},"labels":{"team":")" + job + "\"}"});
    }
    std::vector<std::string> order;
    for (int i = 0; i < 6; ++i) order.emplace_back(harness.Next().pod->name());
    EXPECT_THAT(order, ElementsAre("a1", "a2", "a3", "b1", "b2", "b3"));
  }
}

// The example of dominant-resource fairness (Ghodsi et al., 2011, section 4.1): 9 cpus and 18 GiB,
// and namespaces whose pods request 1 cpu and 4 GiB, or 3 cpus and 1 GiB. Three pods of the one and
// two of the other give both a dominant share of 2/3.
TEST_F(PlacementTest, QueueSortWithLanes) {
  for (const std::string& prefix : Prefixes()) {
    SCOPED_TRACE(prefix);
    Harness harness;
    harness.AddNode({.name = "n1", .allocatable = R"("cpu":"5","memory":"8Gi","pods":"110")"});
    harness.AddNode({.name = "n2", .allocatable = R"("cpu":"4","memory":"10Gi","pods":"110")"});
    ASSERT_TRUE(
        harness
            .Start(TestProfile().Use(prefix + ".FairShare", {Point::kQueueSort, Point::kChanges}))
            .ok());
    // All pods of one namespace are older than those of the other.
    for (int i = 0; i < 5; ++i) {
      harness.AddPod({.name = "a" + std::to_string(i),
                      .requests = R"("cpu":"1","memory":"4Gi")",
                      .spec = i == 4 ? "\"priority\":7" : "",
                      .ns = "big-memory"});
    }
    for (int i = 0; i < 5; ++i) {
      harness.AddPod({.name = "b" + std::to_string(i),
                      .requests = R"("cpu":"3","memory":"1Gi")",
                      .ns = "big-cpu"});
    }
    std::vector<std::string> memory_first;
    std::vector<std::string> cpu_first;
    for (int i = 0; i < 5; ++i) {
      const std::string name(harness.Next().pod->name());
      (name[0] == 'a' ? memory_first : cpu_first).push_back(name);
    }
    EXPECT_THAT(memory_first, ElementsAre("a4", "a0", "a1")) << "in the order of the key";
    EXPECT_THAT(cpu_first, ElementsAre("b0", "b1"));
  }
}

// --- other pods ---------------------------------------------------------------------------------

TEST_F(PlacementTest, CountsButDoesNotScheduleOtherSchedulersPods) {
  Harness harness;
  harness.AddNodes({"n"});
  ASSERT_TRUE(harness.Start(TestProfile()).ok());
  harness.AddPod({.name = "a", .spec = "\"schedulerName\":\"other\""});
  harness.AddPod({.name = "b", .spec = "\"schedulerName\":\"other\""});
  EXPECT_EQ(harness.loop().router().other_schedulers_pending(), 2U);
  EXPECT_EQ(harness.ready(), 0U);
  harness.cluster().Bind({"default", "a", ""}, "n", nullptr);
  harness.cluster().Deliver();
  EXPECT_EQ(harness.loop().router().other_schedulers_pending(), 1U);
  EXPECT_EQ(harness.loop().cache().pod_count(), 1U);
  ASSERT_TRUE(harness.cluster().Update(harness.objects().Pod({.name = "b"})).ok());
  harness.cluster().Deliver();
  EXPECT_EQ(harness.loop().router().other_schedulers_pending(), 0U);
  EXPECT_EQ(harness.ready(), 1U);
}

TEST_F(PlacementTest, FreesTheStringsOfDeletedPods) {
  Harness harness;
  harness.AddNodes({"n1"});
  ASSERT_TRUE(harness.Start(TestProfile()).ok());
  size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    const TestPod pod{
        .name = "p",
        .meta = R"("labels":{"a)" + n + R"(":"b)" + n + R"(","c)" + n + R"(":"d)" + n + R"("})"};
    ASSERT_EQ(harness.Schedule(pod).node, "n1");
    harness.cluster().DeletePod({"default", "p", {}}, 0, nullptr);
    harness.cluster().Deliver();
    most = std::max(most, harness.objects().interner().size());
  }
  EXPECT_LT(most, 10'000U);
}

TEST_F(PlacementTest, DoesNotTryPodThatIsBeingDeleted) {
  Harness harness;
  harness.AddNodes({"n"});
  ASSERT_TRUE(harness.Start(TestProfile()).ok());
  const auto result =
      harness.Schedule({.name = "p", .meta = "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""});
  EXPECT_EQ(result.failure.code, BERTH_SKIP);
  EXPECT_EQ(result.failure.message, "skip schedule deleting pod: default/p");
  EXPECT_EQ(result.node, "");
  EXPECT_EQ(harness.Column("pods.count", "n"), 0);
}

}  // namespace
}  // namespace berth::host
