#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <berth/args_table.h>
#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

#include "args.h"

namespace berth::testing {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr const char* kThree = R"({"resources": [{"name": "cpu"}, {"name": "memory"},
                                                 {"name": "ephemeral-storage"}]})";
constexpr const char* kDevice = R"({"resources": [{"name": "cpu", "weight": 1},
                                                  {"name": "example.com/a", "weight": 0}]})";

// Returns the score of the only node, or -1 if the plugin skips the pod.
int64_t ScoreOf(const NodeSpec& node, const PodSpec& pod, const Args& args) {
  PluginUnderTest plugin({.nodes = {node}, .args = args});
  const ScoreResult result = plugin.Score(pod);
  EXPECT_EQ(result.score, Success());
  return result.skipped ? -1 : result.normalized.at(node.name);
}

struct Case {
  const char* name;
  NodeSpec node;
  PodSpec pod;
  int64_t want;
};

void Expect(const std::vector<Case>& cases, const Args& args = {}) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ScoreOf(c.node, c.pod, args), c.want);
  }
}

NodeSpec Node() { return MakeNode("a").CpuMilli(4000).Memory("8Gi"); }
PodSpec CpuPod() { return MakePod("p").CpuMilli(1000).Memory("4Gi"); }

TEST(NodeResourcesBalancedAllocation, CpuAndMemory) {
  Expect({
      {"balanced before and after: neutral", Node(), MakePod("p").CpuMilli(2000).Memory("4Gi"), 75},
      {"from balanced to the largest deviation", Node(), MakePod("p").CpuMilli(4000), 50},
      {"from the largest deviation to balanced", Node().UsedCpuMilli(4000),
       MakePod("p").Memory("8Gi"), 100},
      /* Balance before: 100. After: |0.25 - 0.5| / 2 = 0.125, so 87. Score: 50 + (50 - 13) / 2. */
      {"the balance and the half of its change are truncated", Node(), CpuPod(), 68},
      /* Balance before: |0.5 - 0| / 2, so 75. After: |0.75 - 0.5| / 2, so 87. */
      {"the requests of pods on the node count", Node().UsedCpuMilli(2000), CpuPod(), 81},
      {"an overcommitted resource counts as full", Node().UsedCpuMilli(9000),
       MakePod("p").Memory("8Gi"), 100},
      {"a sum beyond the limit counts as full", Node().UsedCpuMilli(kMax),
       MakePod("p").CpuMilli(kMax).Memory("8Gi"), 100},
      {"a missing request counts as 0", Node().Pod(MakePod("old").Container("c")),
       MakePod("p").CpuMilli(2000).Memory("4Gi").Container("d"), 75},
      {"pod-level requests count", Node(), MakePod("p").CpuMilli(100).PodLevelRequest("cpu", "4"),
       50},
      {"a node with one of the resources is neutral", MakeNode("a").CpuMilli(4000), CpuPod(), 75},
      {"a node with none of the resources is neutral", MakeNode("a"), CpuPod(), 75},
  });
}

// The pod would count with these sizes on the node.
TEST(NodeResourcesBalancedAllocation, SizesInTheStatusOfThePodCount) {
  const auto sized = [](std::string_view cpu) { return CpuPod().Allocated("cpu", cpu); };
  const PodSpec none = MakePod("p").Container("c");
  Expect({
      {"less than the request", Node(), sized("500m"), 68},
      {"as much as the request", Node(), sized("1"), 68},
      /* After: cpu and memory are both half used, as evenly as before. */
      {"more than the request", Node(), sized("2"), 75},
      {"no request, but a size", Node(), PodSpec(none).Allocated("cpu", "4"), 50},
      {"no request, and a size of 0", Node(), PodSpec(none).Allocated("cpu", "0"), -1},
  });
  Expect({{"a list of other resources", Node().Allocatable("ephemeral-storage", "8Gi"),
           sized("2").Request("ephemeral-storage", "4Gi"), 75}},
         kThree);
}

TEST(NodeResourcesBalancedAllocation, BestEffortPodsAreSkipped) {
  Expect({
      {"no request", Node(), MakePod("p").Container("c"), -1},
      {"no request for these resources", Node(), MakePod("p").Request("example.com/a", "1"), -1},
      {"a request of 1m cpu is scored", Node(), MakePod("p").CpuMilli(1), 74},
  });
}

TEST(NodeResourcesBalancedAllocation, ThreeResources) {
  const NodeSpec node = Node().Allocatable("ephemeral-storage", "100Gi");
  const PodSpec pod = MakePod("p").CpuMilli(2000).Memory("4Gi");
  Expect(
      {
          /* Fractions 0.5, 0.5, 0: deviation sqrt(1 / 18). Balance 76, before it was 100. */
          {"the standard deviation of three fractions", node, pod, 63},
          {"equal fractions", node, PodSpec(pod).Request("ephemeral-storage", "50Gi"), 75},
          {"a node without the third resource", Node(), CpuPod(), 68},
          {"a sum beyond the limit counts as full", NodeSpec(node).UsedCpuMilli(kMax),
           MakePod("p").CpuMilli(kMax).Memory("8Gi").Request("ephemeral-storage", "100Gi"), 99},
          /* Fractions 1, 0, 0: deviation sqrt(2) / 3. Balance 52, before it was 100. */
          {"a request for one of three resources", node, MakePod("p").CpuMilli(4000), 51},
      },
      kThree);
}

TEST(NodeResourcesBalancedAllocation, OtherResources) {
  const NodeSpec node = MakeNode("a").CpuMilli(4000).Allocatable("example.com/a", "4");
  Expect(
      {
          {"a device counts if the pod requests it", node,
           MakePod("p").CpuMilli(1000).Request("example.com/a", "2"), 68},
          {"a device is left out if the pod does not request it", node, MakePod("p").CpuMilli(1000),
           75},
          {"a device is left out if the node has none", MakeNode("a").CpuMilli(4000),
           MakePod("p").CpuMilli(1000).Request("example.com/a", "2"), 75},
      },
      kDevice);
  EXPECT_EQ(ScoreOf(Node(), CpuPod(), R"({"resources": []})"), 68)
      << "an empty list means cpu and memory";
  EXPECT_EQ(ScoreOf(Node(), CpuPod(), R"({"resources": [{"name": "memory"}, {"name": "cpu"}]})"),
            68);
  EXPECT_EQ(ScoreOf(Node(), CpuPod(), R"({"resources": [{"name": "cpu"}]})"), 75);
}

TEST(NodeResourcesBalancedAllocation, InvalidArgumentsAreReported) {
  const struct {
    const char* args;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"resources": [{"name": "cpu"}, {"name": "memory", "weight": 2}, {"name": "cpu"}]})",
       {"/resources/1/weight: must be 1, found 2", "/resources/2/name: duplicate \"cpu\""}},
      {R"({"resources": [{"weight": 1}]})", {"/resources/0/name: is required"}},
      {R"({"resources": [{"name": ""}]})", {"/resources/0/name: expected a resource, found \"\""}},
      {R"({"resource": []})", {"/resource: unknown key \"resource\", did you mean \"resources\"?"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.args);
    const Answer answer = PluginUnderTest::Create({.args = c.args});
    EXPECT_EQ(answer.code, BERTH_BAD_ARGUMENT);
    EXPECT_EQ(answer.reasons, c.errors);
  }
}

TEST(NodeResourcesBalancedAllocation, ScoreNeedsPreScore) {
  PluginUnderTest plugin({.nodes = {Node()}});
  const PodHandle pod(CpuPod(), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kScore).call,
            Error("Score requires the State of the plugin, which no method has emplaced in this "
                  "cycle: PreScore was not called (the profile must run the plugin at PreScore, "
                  "and two or more nodes must be feasible), or it did not call Emplace"));
}

struct Documented {
  using Args = balance::Args;
  static constexpr auto kArgs = balance::kArgRows;
};

TEST(NodeResourcesBalancedAllocation, ReadmeContainsTheArgumentTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

}  // namespace
}  // namespace berth::testing
