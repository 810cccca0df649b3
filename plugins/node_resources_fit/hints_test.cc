#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;

uint32_t PodHint(const PodSpec& pod, uint32_t action, std::vector<PodSpec> before,
                 std::vector<PodSpec> after) {
  PluginUnderTest plugin({.nodes = {}});
  return plugin.Hint(pod, {.resource = BERTH_RESOURCE_POD_ANY,
                           .action = action,
                           .old_pod = std::move(before),
                           .new_pod = std::move(after)});
}

TEST(NodeResourcesFitHints, DeletedPods) {
  const PodSpec pod = MakePod("p").CpuMilli(100);
  const auto hint = [&](const PodSpec& gone) {
    return PodHint(pod, BERTH_ACTION_DELETE, {gone}, {});
  };
  EXPECT_EQ(hint(MakePod("q").NodeName("a")), kQueue)
      << "it was on a node, though it requested nothing";
  EXPECT_EQ(hint(MakePod("q").Nominated("a")), kQueue) << "it was nominated to a node";
  EXPECT_EQ(hint(MakePod("q").CpuMilli(100)), kSkip) << "it was pending";
}

TEST(NodeResourcesFitHints, ShrunkPods) {
  const PodSpec pod = MakePod("p").CpuMilli(100).Request("example.com/gpu", "1");
  const auto hint = [&](const PodSpec& before, const PodSpec& after) {
    return PodHint(pod, BERTH_ACTION_UPDATE_POD_SCALE_DOWN, {before}, {after});
  };
  const PodSpec other = MakePod("q").NodeName("a").CpuMilli(500).Memory("2Gi");
  EXPECT_EQ(hint(other, MakePod("q").NodeName("a").CpuMilli(400).Memory("2Gi")), kQueue);
  EXPECT_EQ(hint(other, MakePod("q").NodeName("a").CpuMilli(500).Memory("1Gi")), kSkip)
      << "a resource that the pod does not request";
  EXPECT_EQ(hint(other, other), kSkip) << "nothing shrank";
  EXPECT_EQ(hint(other, MakePod("q").CpuMilli(400).Memory("2Gi")), kSkip) << "not on a node";
  EXPECT_EQ(
      hint(MakePod("q").Nominated("a").CpuMilli(500), MakePod("q").Nominated("a").CpuMilli(400)),
      kQueue)
      << "nominated to a node";
  EXPECT_EQ(hint(pod, MakePod("p").CpuMilli(50)), kQueue) << "the pod itself";
  EXPECT_EQ(hint(MakePod("q").NodeName("a").Request("example.com/gpu", "2"),
                 MakePod("q").NodeName("a").Request("example.com/gpu", "1")),
            kQueue);
}

TEST(NodeResourcesFitHints, Nodes) {
  const NodeSpec small = MakeNode("a").CpuMilli(1000).Memory("1Gi");
  const NodeSpec large = MakeNode("a").CpuMilli(2000).Memory("1Gi");
  const NodeSpec more_memory = MakeNode("a").CpuMilli(2000).Memory("2Gi");
  const NodeSpec more_pods = MakeNode("a").CpuMilli(2000).Memory("1Gi").Pods(111);
  const NodeSpec no_pods = MakeNode("a").CpuMilli(2000).Memory("1Gi").Pods(0);
  const PodSpec pod = MakePod("p").CpuMilli(2000);
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<NodeSpec> before;
    NodeSpec after;
    uint32_t want;
  } cases[] = {
      {"a new node that is large enough", pod, {}, large, kQueue},
      {"a new node that is too small", pod, {}, small, kSkip},
      {"a new node that allows no pods", MakePod("p"), {}, no_pods, kSkip},
      {"a new node without the device",
       MakePod("p").Request("example.com/gpu", "1"),
       {},
       large,
       kSkip},
      {"pods on the node do not count",
       pod,
       {},
       MakeNode("a").CpuMilli(2000).UsedCpuMilli(2000),
       kQueue},
      {"the node grew in a resource that the pod requests", pod, {small}, large, kQueue},
      {"the node grew in another resource", pod, {large}, more_memory, kSkip},
      {"the node takes more pods", pod, {large}, more_pods, kQueue},
      {"more cpu does not help a pod that requests nothing", MakePod("p"), {small}, large, kSkip},
      {"the node did not change", pod, {large}, large, kSkip},
      {"the node shrank", pod, {more_memory}, large, kSkip},
      {"the node got the device",
       MakePod("p").Request("example.com/gpu", "1"),
       {large},
       MakeNode("a").CpuMilli(2000).Memory("1Gi").Allocatable("example.com/gpu", "1"),
       kQueue},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PluginUnderTest plugin({.nodes = {}});
    const uint32_t action =
        c.before.empty() ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE_NODE_ALLOCATABLE;
    EXPECT_EQ(plugin.Hint(c.pod, {.resource = BERTH_RESOURCE_NODE,
                                  .action = action,
                                  .old_node = c.before,
                                  .new_node = {c.after}}),
              c.want);
  }
}

TEST(NodeResourcesFitHints, ANewNodeNeedNotHaveIgnoredResources) {
  PluginUnderTest plugin({.args = R"({"ignoredResources": ["example.com/gpu"]})"});
  EXPECT_EQ(
      plugin.Hint(MakePod("p").Request("example.com/gpu", "1"), {.resource = BERTH_RESOURCE_NODE,
                                                                 .action = BERTH_ACTION_ADD,
                                                                 .new_node = {MakeNode("a")}}),
      kQueue);
}

}  // namespace
}  // namespace berth::testing
