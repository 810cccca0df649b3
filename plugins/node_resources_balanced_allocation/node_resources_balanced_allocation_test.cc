#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <berth/args_table.h>
#include <berth/testing/gtest.h>

#include "args.h"

namespace berth::testing {
namespace {

constexpr const char* kThree = R"({"resources": [{"name": "cpu"}, {"name": "memory"},
                                                 {"name": "ephemeral-storage"}]})";
constexpr const char* kDevice = R"({"resources": [{"name": "cpu", "weight": 1},
                                                  {"name": "example.com/a", "weight": 0}]})";

// The score of the only node; -1 where the plugin skips the pod.
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
      {"both alike, before and after: neutral", Node(), MakePod("p").CpuMilli(2000).Memory("4Gi"),
       75},
      {"as unbalanced as can be", Node(), MakePod("p").CpuMilli(4000), 50},
      {"a node that was, and is balanced now", Node().UsedCpuMilli(4000),
       MakePod("p").Memory("8Gi"), 100},
      /* |0.25 - 0.5| / 2 = 0.125: 87 of 100 where it was 100; 50 + 37 / 2 */
      {"both halves are cut", Node(), CpuPod(), 68},
      /* before |0.5 - 0| / 2: 75; after |0.75 - 0.5| / 2: 87 */
      {"what runs there counts", Node().UsedCpuMilli(2000), CpuPod(), 81},
      {"more than there is counts as full", Node().UsedCpuMilli(9000), MakePod("p").Memory("8Gi"),
       100},
      {"a missing request counts for nothing", Node().Pod(MakePod("old").Container("c")),
       MakePod("p").CpuMilli(2000).Memory("4Gi").Container("d"), 75},
      {"resources of the pod as a whole count", Node(),
       MakePod("p").CpuMilli(100).PodLevelRequest("cpu", "4"), 50},
      {"one resource alone is balanced", MakeNode("a").CpuMilli(4000), CpuPod(), 75},
      {"a node without either is neutral", MakeNode("a"), CpuPod(), 75},
  });
}

TEST(NodeResourcesBalancedAllocation, BestEffortPodsAreSkipped) {
  Expect({
      {"no request", Node(), MakePod("p").Container("c"), -1},
      {"no request of these resources", Node(), MakePod("p").Request("example.com/a", "1"), -1},
      {"one milli of one of them is enough", Node(), MakePod("p").CpuMilli(1), 74},
  });
}

TEST(NodeResourcesBalancedAllocation, ThreeResources) {
  const NodeSpec node = Node().Allocatable("ephemeral-storage", "100Gi");
  const PodSpec pod = MakePod("p").CpuMilli(2000).Memory("4Gi");
  Expect(
      {
          /* 0.5, 0.5, 0: deviation sqrt(1 / 18), 76 where it was 100 */
          {"the standard deviation of all", node, pod, 63},
          {"alike", node, PodSpec(pod).Request("ephemeral-storage", "50Gi"), 75},
          {"two on a node without the third", Node(), CpuPod(), 68},
          /* 1, 0, 0: deviation sqrt(2) / 3, 52 where it was 100 */
          {"one of three", node, MakePod("p").CpuMilli(4000), 51},
      },
      kThree);
}

TEST(NodeResourcesBalancedAllocation, OtherResources) {
  const NodeSpec node = MakeNode("a").CpuMilli(4000).Allocatable("example.com/a", "4");
  Expect(
      {
          {"a device that the pod requests", node,
           MakePod("p").CpuMilli(1000).Request("example.com/a", "2"), 68},
          {"is left out where it does not", node, MakePod("p").CpuMilli(1000), 75},
          {"and where the node has none", MakeNode("a").CpuMilli(4000),
           MakePod("p").CpuMilli(1000).Request("example.com/a", "2"), 75},
      },
      kDevice);
  EXPECT_EQ(ScoreOf(Node(), CpuPod(), R"({"resources": []})"), 68) << "none: cpu and memory";
  EXPECT_EQ(ScoreOf(Node(), CpuPod(), R"({"resources": [{"name": "memory"}, {"name": "cpu"}]})"),
            68);
  EXPECT_EQ(ScoreOf(Node(), CpuPod(), R"({"resources": [{"name": "cpu"}]})"), 75);
}

TEST(NodeResourcesBalancedAllocation, ArgumentErrors) {
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

TEST(NodeResourcesBalancedAllocation, NeedsItsPreparation) {
  PluginUnderTest plugin({.nodes = {Node()}});
  const PodHandle pod(CpuPod(), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kScore).call, Error("PreScore has not run: Score needs it"));
}

struct Documented {
  using Args = balance::Args;
  static constexpr auto kArgs = balance::kArgRows;
};

TEST(NodeResourcesBalancedAllocation, TheReadmeHasTheTable) {
  const auto readme = std::filesystem::path(BERTH_PLUGIN_FOLDER) / "README.md";
  std::ifstream file(readme);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find(berth::ArgsTable<Documented>()), std::string::npos)
      << "paste into README.md:\n"
      << berth::ArgsTable<Documented>();
}

}  // namespace
}  // namespace berth::testing
