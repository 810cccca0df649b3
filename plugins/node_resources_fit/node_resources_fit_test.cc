#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kPods = "Too many pods";
constexpr const char* kCpu = "Insufficient cpu";
constexpr const char* kMemory = "Insufficient memory";
constexpr const char* kStorage = "Insufficient ephemeral-storage";
constexpr const char* kGpu = "Insufficient example.com/gpu";

// Returns a node with 4 cores (3 used), 8 GiB of memory (4 used), 10 GiB of ephemeral storage (9
// used) and 8 devices (7 used).
NodeSpec HalfFull() {
  return MakeNode("a")
      .CpuMilli(4000)
      .Memory("8Gi")
      .Allocatable("ephemeral-storage", "10Gi")
      .Allocatable("example.com/gpu", "8")
      .Pod(MakePod("old")
               .CpuMilli(3000)
               .Memory("4Gi")
               .Request("ephemeral-storage", "9Gi")
               .Request("example.com/gpu", "7"));
}

TEST(NodeResourcesFit, Filter) {
  PluginUnderTest plugin({.nodes = {HalfFull()}});
  const struct {
    const char* name;
    PodSpec pod;
    Answer want;
  } cases[] = {
      {"exactly the free cpu", MakePod("p").CpuMilli(1000), Success()},
      {"1m more than the free cpu", MakePod("p").CpuMilli(1001), Unschedulable(kCpu)},
      {"exactly the cpu of the whole node", MakePod("p").CpuMilli(4000), Unschedulable(kCpu)},
      {"more than the cpu of the whole node", MakePod("p").CpuMilli(4001), Unresolvable(kCpu)},
      {"exactly the free memory", MakePod("p").Memory("4Gi"), Success()},
      {"one byte more than the free memory", MakePod("p").Memory((int64_t{4} << 30) + 1),
       Unschedulable(kMemory)},
      {"more than the memory of the whole node", MakePod("p").Memory((int64_t{8} << 30) + 1),
       Unresolvable(kMemory)},
      {"exactly the free storage", MakePod("p").Request("ephemeral-storage", "1Gi"), Success()},
      {"one byte more than the free storage",
       MakePod("p").Request("ephemeral-storage", (int64_t{1} << 30) + 1), Unschedulable(kStorage)},
      {"more than the storage of the whole node", MakePod("p").Request("ephemeral-storage", "11Gi"),
       Unresolvable(kStorage)},
      {"two reasons at once", MakePod("p").CpuMilli(1001).Memory("5Gi"),
       Unschedulable(kCpu, kMemory)},
      {"one unresolvable reason of two is enough", MakePod("p").CpuMilli(1001).Memory("9Gi"),
       Unresolvable(kCpu, kMemory)},
      {"the last free device", MakePod("p").Request("example.com/gpu", "1"), Success()},
      {"one more than the free devices", MakePod("p").Request("example.com/gpu", "2"),
       Unschedulable(kGpu)},
      {"all devices of the node", MakePod("p").Request("example.com/gpu", "8"),
       Unschedulable(kGpu)},
      {"more than the devices of the node", MakePod("p").Request("example.com/gpu", "9"),
       Unresolvable(kGpu)},
      {"a device that the node does not have", MakePod("p").Request("example.com/fpga", "1"),
       Unresolvable("Insufficient example.com/fpga")},
      {"a request of 0 for a device that the node does not have",
       MakePod("p").Request("example.com/fpga", "0"), Success()},
      {"huge pages", MakePod("p").Request("hugepages-2Mi", "2Mi"),
       Unresolvable("Insufficient hugepages-2Mi")},
      {"devices and cpu", MakePod("p").CpuMilli(1001).Request("example.com/gpu", "9"),
       Unresolvable(kCpu, kGpu)},
      {"the overhead of the runtime class counts",
       MakePod("p").CpuMilli(1000).Overhead("cpu", "1m"), Unschedulable(kCpu)},
      {"pod-level requests count", MakePod("p").CpuMilli(100).PodLevelRequest("cpu", "1001m"),
       Unschedulable(kCpu)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(c.pod).On("a"), c.want);
  }
}

TEST(NodeResourcesFit, OvercommittedResourceIsIgnoredWithoutRequestForIt) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("a").CpuMilli(1000).Memory("1Gi").UsedCpuMilli(2000)}});
  EXPECT_EQ(plugin.Filter(MakePod("best-effort")).On("a"), Success());
  EXPECT_EQ(plugin.Filter(MakePod("memory-only").Memory("1Gi")).On("a"), Success());
  EXPECT_EQ(plugin.Filter(MakePod("one-milli").CpuMilli(1)).On("a"), Unschedulable(kCpu));
}

TEST(NodeResourcesFit, SumsAreLimited) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  PluginUnderTest plugin({.nodes = {MakeNode("a")
                                        .CpuMilli(1000)
                                        .Memory(kMax)
                                        .Allocatable("example.com/gpu", 1)
                                        .UsedCpuMilli(kMax)
                                        .UsedCpuMilli(kMax)
                                        .UsedMemory(kMax - 1)
                                        .Pod(MakePod("x").Request("example.com/gpu", kMax))
                                        .Pod(MakePod("y").Request("example.com/gpu", kMax))}});
  const struct {
    const char* name;
    PodSpec pod;
    Answer want;
  } cases[] = {
      {"used cpu beyond the limit", MakePod("p").CpuMilli(1), Unschedulable(kCpu)},
      {"used devices beyond the limit", MakePod("p").Request("example.com/gpu", "1"),
       Unschedulable(kGpu)},
      {"the largest request", MakePod("p").CpuMilli(kMax), Unresolvable(kCpu)},
      {"the last free byte", MakePod("p").Memory(1), Success()},
      {"one byte more", MakePod("p").Memory(2), Unschedulable(kMemory)},
      {"no request", MakePod("p"), Success()},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(plugin.Filter(c.pod).On("a"), c.want);
  }
}

TEST(NodeResourcesFit, TooManyPodsIsNeverUnresolvable) {
  PluginUnderTest plugin({.nodes = {MakeNode("room").Pods(2).CpuMilli(1000).Pod(MakePod("old")),
                                    MakeNode("full").Pods(1).CpuMilli(1000).Pod(MakePod("old")),
                                    MakeNode("never").Pods(0).CpuMilli(1000)}});
  const FilterResult best_effort = plugin.Filter(MakePod("best-effort"));
  EXPECT_EQ(best_effort.On("room"), Success());
  EXPECT_EQ(best_effort.On("full"), Unschedulable(kPods));
  EXPECT_EQ(best_effort.On("never"), Unschedulable(kPods)) << "even on a node that allows no pods";
  const FilterResult large = plugin.Filter(MakePod("large").CpuMilli(1001));
  EXPECT_EQ(large.On("room"), Unresolvable(kCpu));
  EXPECT_EQ(large.On("full"), Unresolvable(kPods, kCpu));
}

TEST(NodeResourcesFit, IgnoredResources) {
  PluginUnderTest plugin({.nodes = {MakeNode("a").CpuMilli(1000)},
                          .args = R"({"ignoredResources": ["example.com/gpu", "hugepages-2Mi"],
                                      "ignoredResourceGroups": ["other.io", "kubernetes.io"]})"});
  const struct {
    const char* resource;
    Answer want;
  } cases[] = {
      {"example.com/gpu", Success()},
      {"example.com/fpga", Unresolvable("Insufficient example.com/fpga")},
      {"other.io/a", Success()},
      {"sub.other.io/a", Unresolvable("Insufficient sub.other.io/a")},
      {"hugepages-2Mi", Unresolvable("Insufficient hugepages-2Mi")},
      {"kubernetes.io/batteries", Unresolvable("Insufficient kubernetes.io/batteries")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.resource);
    EXPECT_EQ(plugin.Filter(MakePod("p").Request(c.resource, "1")).On("a"), c.want);
  }
  EXPECT_EQ(plugin.Filter(MakePod("p").CpuMilli(1001).Request("example.com/gpu", "1")).On("a"),
            Unresolvable(kCpu));
}

// Verdicts are reused for pods with equal requests, which may have the resources in any order.
TEST(NodeResourcesFit, ReasonsAreSortedByResource) {
  for (const char* first : {"example.com/a", "example.com/b"}) {
    SCOPED_TRACE(first);
    PluginUnderTest plugin({.nodes = {MakeNode("n").CpuMilli(1000)}});
    plugin.ids().Intern(first);  // Resources are sorted by id.
    const PodSpec pod = MakePod("p").Request("example.com/a", "1").Request("example.com/b", "1");
    EXPECT_EQ(plugin.Filter(pod).On("n"),
              Unresolvable("Insufficient example.com/a", "Insufficient example.com/b"));
    // An answer sorts its reasons; the cycle has them in the order in which they were added.
    Cycle cycle(&plugin.instance(), &plugin.table(), PodHandle(pod, plugin.ids()));
    ASSERT_EQ(cycle.PreFilter(), Success());
    std::vector<std::string> added = cycle.reasons();
    std::erase_if(added,
                  [](const std::string& text) { return text.find("example.com") == text.npos; });
    EXPECT_EQ(added, (std::vector<std::string>{"Insufficient example.com/a",
                                               "Insufficient example.com/b"}));
  }
}

// Returns the score of `pod` on the only node.
int64_t ScoreOf(const NodeSpec& node, const PodSpec& pod, const Args& args = {}) {
  PluginUnderTest plugin({.nodes = {node}, .args = args});
  const ScoreResult result = plugin.Score(pod);
  EXPECT_EQ(result.score, Success());
  return result.normalized.at(node.name);
}

struct ScoreCase {
  const char* name;
  NodeSpec node;
  PodSpec pod;
  int64_t least;
  int64_t most;
};

TEST(NodeResourcesFit, LeastAndMostAllocated) {
  const NodeSpec empty = MakeNode("a").CpuMilli(4000).Memory("8Gi");
  const NodeSpec small = MakeNode("a").CpuMilli(1000).Memory("1000Mi");
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const PodSpec quarter = MakePod("p").CpuMilli(1000).Memory("2Gi");
  const ScoreCase cases[] = {
      {"a quarter of both", empty, quarter, 75, 25},
      {"all of both", empty, MakePod("p").CpuMilli(4000).Memory("8Gi"), 0, 100},
      {"the mean of cpu 0 % and memory 50 %", empty, MakePod("p").CpuMilli(4000).Memory("4Gi"), 25,
       75},
      {"each share is truncated before the mean", MakeNode("a").CpuMilli(3).Memory(int64_t{3}),
       MakePod("p").CpuMilli(1).Memory(int64_t{2}), 49, 49},
      {"more cpu than the node has", empty, MakePod("p").CpuMilli(9000).Memory("2Gi"), 37, 62},
      {"the requests of pods on the node count",
       NodeSpec(empty).UsedCpuMilli(2000).UsedMemory(int64_t{4} << 30), quarter,
       /* Cpu: 1000 + 2000 + 100 of 4000. Memory: 2 GiB + 4 GiB + 200 MiB of 8 GiB. */ 22, 77},
      {"a container without requests counts as 100m and 200Mi",
       NodeSpec(small).Pod(MakePod("old").Container("c")), MakePod("p").Container("c"), 70, 30},
      {"pod-level requests do not count", small,
       MakePod("p").CpuMilli(100).Memory("100Mi").PodLevelRequest("cpu", "1"), 90, 10},
      {"a node without memory is scored by cpu only", MakeNode("a").CpuMilli(1000),
       MakePod("p").CpuMilli(200), 80, 20},
      {"a node with neither resource scores 0", MakeNode("a"), quarter, 0, 0},
      {"more than 64 TiB of memory", MakeNode("a").CpuMilli(1000).Memory("1000Ti"),
       MakePod("p").CpuMilli(500).Memory("499Ti"), 50, 49},
      {"sums beyond the limit count as full",
       MakeNode("a").CpuMilli(1000).Memory(1000).UsedCpuMilli(kMax).UsedMemory(kMax),
       MakePod("p").CpuMilli(kMax).Memory(kMax), 0, 100},
  };
  for (const ScoreCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ScoreOf(c.node, c.pod), c.least);
    EXPECT_EQ(ScoreOf(c.node, c.pod, R"({"scoringStrategy": {"type": "MostAllocated"}})"), c.most);
  }
}

TEST(NodeResourcesFit, ResourcesAndWeights) {
  const NodeSpec node = MakeNode("a")
                            .CpuMilli(1000)
                            .Memory("1000Mi")
                            .Allocatable("ephemeral-storage", "100Gi")
                            .Allocatable("example.com/a", "10");
  const auto args = [](const std::string& resources) {
    return Args(R"({"scoringStrategy": {"type": "LeastAllocated", "resources": [)" + resources +
                "]}}");
  };
  const PodSpec pod = MakePod("p").CpuMilli(500).Memory("100Mi").Request("example.com/a", "9");
  const PodSpec plain = MakePod("p").CpuMilli(500).Memory("100Mi");
  const struct {
    const char* name;
    const char* resources;
    PodSpec pod;
    int64_t want;
  } cases[] = {
      {"an empty list means cpu and memory", "", pod, 70},
      {"a single resource", R"({"name": "memory", "weight": 3})", pod, 90},
      {"resources with different weights",
       R"({"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1})", pod, 60},
      {"weight 0 means 1", R"({"name": "cpu", "weight": 0}, {"name": "memory"})", pod, 70},
      {"a resource that is named twice counts twice",
       R"({"name": "cpu"}, {"name": "memory"}, {"name": "cpu"})", pod, 63},
      {"a device counts if the pod requests it",
       R"({"name": "cpu"}, {"name": "example.com/a", "weight": 3})", pod, 20},
      {"a device is left out if the pod does not request it",
       R"({"name": "cpu"}, {"name": "example.com/a", "weight": 3})", plain, 50},
      {"a device is left out if the node does not have it",
       R"({"name": "cpu"}, {"name": "example.com/b"})",
       MakePod("p").CpuMilli(500).Request("example.com/b", "1"), 50},
      {"ephemeral storage counts even without a request",
       R"({"name": "cpu"}, {"name": "ephemeral-storage"})", plain, 75},
      {"the resource pods is left out", R"({"name": "cpu"}, {"name": "pods"})", plain, 50},
      {"the score is 0 if no resource counts", R"({"name": "example.com/a"})", plain, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ScoreOf(node, c.pod, args(c.resources)), c.want);
  }
}

TEST(NodeResourcesFit, RequestedToCapacityRatio) {
  const NodeSpec node = MakeNode("a").CpuMilli(1000).Memory("1000Mi");
  const auto args = [](const std::string& shape) {
    return Args(R"({"scoringStrategy": {"type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {"shape": [)" +
                shape + "]}}}");
  };
  const char* const up = R"({"utilization": 0, "score": 0}, {"utilization": 100, "score": 10})";
  const char* const down = R"({"utilization": 0, "score": 10}, {"utilization": 100, "score": 0})";
  const char* const peak = R"({"utilization": 0, "score": 0}, {"utilization": 50, "score": 10},
                              {"utilization": 100, "score": 2})";
  const char* const step = R"({"utilization": 10, "score": 3}, {"utilization": 11, "score": 10})";
  const auto pod = [](int64_t cpu, const std::string& memory) {
    return MakePod("p").CpuMilli(cpu).Memory(memory);
  };
  const struct {
    const char* name;
    const char* shape;
    PodSpec pod;
    int64_t want;
  } cases[] = {
      {"a straight line", up, pod(300, "500Mi"), 40},
      {"the mean is rounded half up", up, pod(300, "450Mi"), 38},
      {"utilization is truncated to whole percents", up, pod(309, "300Mi"), 30},
      {"a falling line", down, pod(300, "500Mi"), 60},
      {"more than the node has counts as full", up, pod(2000, "500Mi"), 75},
      {"a resource that scores 0 is left out of the mean", down, pod(1000, "500Mi"), 50},
      {"the score is 0 if all resources score 0", down, pod(1000, "1000Mi"), 0},
      {"to the left of the peak", peak, pod(250, "250Mi"), 50},
      {"at the peak", peak, pod(500, "500Mi"), 100},
      {"to the right of the peak, truncated towards zero", peak, pod(510, "510Mi"), 99},
      {"before the first point", step, pod(50, "50Mi"), 30},
      {"at the first point", step, pod(100, "100Mi"), 30},
      {"after the last point", step, pod(990, "990Mi"), 100},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ScoreOf(node, c.pod, args(c.shape)), c.want);
  }
}

// A profile may leave out PreFilter or PreScore. Filter or Score must then fail.
TEST(NodeResourcesFit, FilterNeedsPreFilterAndScoreNeedsPreScore) {
  PluginUnderTest plugin({.nodes = {HalfFull()}});
  const PodHandle pod(MakePod("p").CpuMilli(9000), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kFilter).call,
            Error("Filter requires the State of the plugin, which no method has emplaced in "
                  "this cycle: PreFilter was not called (the profile must run the plugin at "
                  "PreFilter), or it did not call Emplace"));
  EXPECT_EQ(EvaluateTable(cycle, Step::kScore).call,
            Error("Score requires the ScoreState of the plugin, which no method has emplaced in "
                  "this cycle: PreScore was not called (the profile must run the plugin at "
                  "PreScore, and two or more nodes must be feasible), or it did not call "
                  "Emplace"));
}

}  // namespace
}  // namespace berth::testing
