#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kKey = "node.kubernetes.io/unschedulable";
constexpr const char* kReason = "node(s) were unschedulable";

TEST(NodeUnschedulable, Filter) {
  PluginUnderTest plugin({.nodes = {MakeNode("open"), MakeNode("cordoned").Unschedulable()}});
  const Answer no = Unresolvable(kReason);
  const struct {
    const char* name;
    PodSpec pod;
    Answer on_cordoned;
  } cases[] = {
      {"a pod without tolerations is rejected", MakePod("p"), no},
      {"a toleration of the taint's key", MakePod("p").TolerateKey(kKey), Success()},
      {"a toleration of the key and the effect NoSchedule",
       MakePod("p").TolerateKey(kKey, BERTH_EFFECT_NO_SCHEDULE), Success()},
      {"a toleration of the taint's value, which is empty", MakePod("p").Tolerate(kKey, ""),
       Success()},
      {"a toleration of all taints", MakePod("p").TolerateKey(""), Success()},
      {"a toleration of another value does not match", MakePod("p").Tolerate(kKey, "true"), no},
      {"a toleration of another key does not match",
       MakePod("p").TolerateKey("node.kubernetes.io/not-ready"), no},
      {"a toleration of another effect does not match",
       MakePod("p").TolerateKey(kKey, BERTH_EFFECT_NO_EXECUTE), no},
      {"the second toleration of the pod matches", MakePod("p").TolerateKey("x").TolerateKey(kKey),
       Success()},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.On("open"), Success());
    EXPECT_EQ(result.On("cordoned"), c.on_cordoned);
  }
}

// Only spec.unschedulable counts. TaintToleration evaluates the taint.
TEST(NodeUnschedulable, TheTaintAloneIsIgnored) {
  PluginUnderTest plugin({.nodes = {MakeNode("a").Taint(kKey)}});
  EXPECT_EQ(plugin.Filter(MakePod("p")).On("a"), Success());
}

TEST(NodeUnschedulable, NodeEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const NodeSpec open = MakeNode("a");
  const NodeSpec cordoned = MakeNode("a").Unschedulable();
  const auto hint = [&](std::vector<NodeSpec> before, const NodeSpec& after) {
    const uint32_t action = before.empty() ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE_NODE_TAINT;
    return plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_NODE,
                                      .action = action,
                                      .old_node = std::move(before),
                                      .new_node = {after}});
  };
  EXPECT_EQ(hint({}, open), uint32_t{BERTH_HINT_QUEUE}) << "a new node";
  EXPECT_EQ(hint({}, cordoned), uint32_t{BERTH_HINT_SKIP}) << "a new node, cordoned";
  EXPECT_EQ(hint({cordoned}, open), uint32_t{BERTH_HINT_QUEUE}) << "uncordoned";
  EXPECT_EQ(hint({open}, cordoned), uint32_t{BERTH_HINT_SKIP}) << "cordoned";
  EXPECT_EQ(hint({open}, open), uint32_t{BERTH_HINT_SKIP}) << "still schedulable";
  EXPECT_EQ(hint({cordoned}, cordoned), uint32_t{BERTH_HINT_SKIP}) << "still cordoned";
}

TEST(NodeUnschedulable, TolerationEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const auto hint = [&](const PodSpec& changed) {
    return plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_POD_ANY,
                                      .action = BERTH_ACTION_UPDATE_POD_TOLERATION,
                                      .old_pod = {MakePod(changed.name)},
                                      .new_pod = {changed}});
  };
  EXPECT_EQ(hint(MakePod("p").TolerateKey(kKey)), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(MakePod("p").TolerateKey("x")), uint32_t{BERTH_HINT_SKIP}) << "another taint";
  EXPECT_EQ(hint(MakePod("q").TolerateKey(kKey)), uint32_t{BERTH_HINT_SKIP}) << "another pod";
}

}  // namespace
}  // namespace berth::testing
