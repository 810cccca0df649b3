#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

const Requirements kWebApp = {In("app", {"web"})};

constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;
const Requirements kTier = {In("tier", {"1"})};

PodSpec OnNode(PodSpec pod) { return pod.NodeName("n"); }
PodSpec Placed() { return OnNode(MakePod("q").Label("app", "web")); }
PodSpec PlacedTier() { return Placed().Label("tier", "1"); }
PodSpec Other() { return OnNode(MakePod("q").Label("app", "other")); }

struct PodCase {
  const char* name;
  PodSpec pod;
  std::vector<PodSpec> before;
  std::vector<PodSpec> after;
  uint32_t want;
};

uint32_t ActionOf(const PodCase& each) {
  if (each.before.empty()) return BERTH_ACTION_ADD;
  return each.after.empty() ? BERTH_ACTION_DELETE : BERTH_ACTION_UPDATE_POD_LABEL;
}

TEST(InterPodAffinityHints, Pods) {
  const PodSpec affine = MakePod("p").PodAffinity("zone", kWebApp).PodAffinity("zone", kTier);
  const PodSpec self = MakePod("p").Label("app", "web").PodAffinity("zone", kWebApp);
  const PodSpec anti = MakePod("p").PodAntiAffinity("zone", kWebApp).PodAntiAffinity("zone", kTier);
  const PodSpec plain = MakePod("p").Label("app", "web");
  const PodSpec repels = OnNode(MakePod("q").PodAntiAffinity("zone", kWebApp));
  const PodCase cases[] = {
      {"added, matches all affinity terms", affine, {}, {PlacedTier()}, kQueue},
      {"added, matches one affinity term", affine, {}, {Placed()}, kSkip},
      {"added in another namespace", affine, {}, {PlacedTier().Namespace("x")}, kSkip},
      {"added, the pod has no affinity", anti, {}, {PlacedTier()}, kSkip},
      {"added without a node", affine, {}, {PlacedTier().NodeName("")}, kSkip},
      {"relabelled, matches now", affine, {Placed()}, {PlacedTier()}, kQueue},
      {"relabelled, matched before", affine, {PlacedTier()}, {PlacedTier().Label("x", "y")}, kSkip},
      {"relabelled, matches no more, others may match", affine, {PlacedTier()}, {Placed()}, kSkip},
      {"relabelled, matches no more, the pod may be the first",
       self,
       {Placed()},
       {Other()},
       kQueue},
      {"relabelled, one anti-affinity term stopped to match",
       anti,
       {PlacedTier()},
       {Placed()},
       kQueue},
      {"relabelled, no anti-affinity term stopped to match",
       anti,
       {Placed()},
       {PlacedTier()},
       kSkip},
      {"deleted, matched one anti-affinity term", anti, {Placed()}, {}, kQueue},
      {"deleted, matched both anti-affinity terms", anti, {PlacedTier()}, {}, kQueue},
      {"deleted, matched no anti-affinity term", anti, {Other()}, {}, kSkip},
      {"deleted, the pod may be the first", self, {Placed()}, {}, kQueue},
      {"deleted, the pod matches not its own affinity", affine, {PlacedTier()}, {}, kSkip},
      {"deleted, had a term that means the pod", plain, {repels}, {}, kQueue},
      {"deleted, had a term that means other pods",
       MakePod("p").Label("app", "other"),
       {repels},
       {},
       kSkip},
      {"added, has a term that means the pod", plain, {}, {repels}, kSkip},
  };
  for (const PodCase& each : cases) {
    SCOPED_TRACE(each.name);
    PluginUnderTest plugin({.nodes = {MakeNode("n")}});
    EXPECT_EQ(plugin.Hint(each.pod, {.resource = BERTH_RESOURCE_POD_ANY,
                                     .action = ActionOf(each),
                                     .old_pod = each.before,
                                     .new_pod = each.after}),
              each.want);
  }
}

TEST(InterPodAffinityHints, ThePodItself) {
  PluginUnderTest plugin({.nodes = {MakeNode("n")}});
  const PodSpec pod = MakePod("p").PodAffinity("zone", kWebApp);
  EXPECT_EQ(plugin.Hint(pod, {.resource = BERTH_RESOURCE_POD_ANY,
                              .action = BERTH_ACTION_UPDATE_POD_LABEL,
                              .old_pod = {pod},
                              .new_pod = {PodSpec(pod).Label("a", "b")}}),
            kQueue);
}

TEST(InterPodAffinityHints, NamespacesOfEventsAreLookedUp) {
  ObjectSpec ns = MakeObject("v1/Namespace", "", "other");
  ns.labels["team"] = "x";
  PluginUnderTest plugin({.nodes = {MakeNode("n")}, .objects = {ns}});
  PodSpec pod = MakePod("p");
  pod.required_pod_anti_terms = {{.topology_key = "zone",
                                  .selector = SelectorSpec{kWebApp},
                                  .namespace_selector = SelectorSpec{{In("team", {"x"})}}}};
  const auto hint = [&](const PodSpec& gone) {
    return plugin.Hint(
        pod,
        {.resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_DELETE, .old_pod = {gone}});
  };
  EXPECT_EQ(hint(Placed().Namespace("other")), kQueue);
  EXPECT_EQ(hint(Placed().Namespace("another")), kSkip);
}

TEST(InterPodAffinityHints, Nodes) {
  const PodSpec affine = MakePod("p").PodAffinity("zone", kWebApp);
  const PodSpec anti = MakePod("p").PodAntiAffinity("zone", kWebApp);
  const PodSpec plain = MakePod("p").Label("app", "web");
  const NodeSpec none = MakeNode("a");
  const NodeSpec zone_a = MakeNode("a").Label("zone", "a");
  const NodeSpec zone_b = MakeNode("a").Label("zone", "b");
  const NodeSpec rack = MakeNode("a").Label("rack", "r");
  const NodeSpec repelling =
      MakeNode("n").Label("rack", "s").Pod(MakePod("q").PodAntiAffinity("rack", kWebApp));
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<NodeSpec> before;
    NodeSpec after;
    uint32_t want;
  } cases[] = {
      {"affinity: added with the key", affine, {}, zone_a, kQueue},
      {"affinity: added without the key", affine, {}, rack, kSkip},
      {"affinity: gets the key", affine, {none}, zone_a, kQueue},
      {"affinity: gets another value", affine, {zone_a}, zone_b, kQueue},
      {"affinity: loses the key", affine, {zone_a}, none, kSkip},
      {"affinity: another label", affine, {none}, rack, kSkip},
      {"anti-affinity: added with the key", anti, {}, zone_a, kQueue},
      {"anti-affinity: added without the key", anti, {}, none, kQueue},
      {"anti-affinity: loses the key", anti, {zone_a}, none, kQueue},
      {"anti-affinity: gets another value", anti, {zone_a}, zone_b, kQueue},
      {"anti-affinity: gets the key", anti, {none}, zone_a, kSkip},
      {"pods on nodes repel the pod: added", plain, {}, none, kQueue},
      {"pods on nodes repel the pod: leaves the domain", plain, {rack}, none, kQueue},
      {"pods on nodes repel the pod: another key", plain, {zone_a}, zone_b, kSkip},
      {"no term concerns the pod", MakePod("p"), {}, zone_a, kSkip},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    PluginUnderTest plugin({.nodes = {repelling}});
    const uint32_t action = each.before.empty() ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE_NODE_LABEL;
    EXPECT_EQ(plugin.Hint(each.pod, {.resource = BERTH_RESOURCE_NODE,
                                     .action = action,
                                     .old_node = each.before,
                                     .new_node = {each.after}}),
              each.want);
  }
}

}  // namespace
}  // namespace berth::testing
