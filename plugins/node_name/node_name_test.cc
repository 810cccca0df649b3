#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kOther = "node(s) didn't match the requested node name";

TEST(NodeName, Filter) {
  PluginUnderTest plugin({.nodes = {MakeNode("a"), MakeNode("b")}});
  const struct {
    const char* name;
    PodSpec pod;
    Answer on_a;
    Answer on_b;
  } cases[] = {
      {"a pod without a node name may run anywhere", MakePod("p"), Success(), Success()},
      {"a pod may run only on the node that it names", MakePod("p").NodeName("a"), Success(),
       Unresolvable(kOther)},
      {"a pod that names a missing node is rejected by all nodes", MakePod("p").NodeName("c"),
       Unresolvable(kOther), Unresolvable(kOther)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.On("a"), c.on_a);
    EXPECT_EQ(result.On("b"), c.on_b);
  }
}

TEST(NodeName, AnAddedNodeRequeuesThePod) {
  PluginUnderTest plugin({.nodes = {}});
  const PodSpec pod = MakePod("p").NodeName("a");
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                              .action = BERTH_ACTION_ADD,
                              .new_node = {MakeNode("b")}}),
            uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                              .action = BERTH_ACTION_UPDATE_NODE_LABEL,
                              .old_node = {MakeNode("a")},
                              .new_node = {MakeNode("a")}}),
            uint32_t{BERTH_HINT_SKIP});
}

}  // namespace
}  // namespace berth::testing
