#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>
#include <berth/topology_index.h>

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
  const PodSpec self = PodSpec(affine).Label("app", "web");
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
    std::vector<NodeSpec> after;
    uint32_t want;
  } cases[] = {
      {"affinity: added with the key", affine, {}, {zone_a}, kQueue},
      {"affinity: added without the key", affine, {}, {rack}, kSkip},
      {"affinity: gets the key", affine, {none}, {zone_a}, kQueue},
      {"affinity: gets another value", affine, {zone_a}, {zone_b}, kQueue},
      {"affinity: loses the key", affine, {zone_a}, {none}, kSkip},
      {"affinity: another label", affine, {none}, {rack}, kSkip},
      {"affinity: removed, others may match", affine, {zone_a}, {}, kSkip},
      {"affinity: removed, the pod may be the first", self, {zone_a}, {}, kQueue},
      {"affinity: removed without the key, the pod may be the first", self, {none}, {}, kSkip},
      {"affinity: loses the key, the pod may be the first", self, {zone_a}, {none}, kQueue},
      {"anti-affinity: added with the key", anti, {}, {zone_a}, kQueue},
      {"anti-affinity: added without the key", anti, {}, {none}, kQueue},
      {"anti-affinity: loses the key", anti, {zone_a}, {none}, kQueue},
      {"anti-affinity: gets another value", anti, {zone_a}, {zone_b}, kQueue},
      {"anti-affinity: gets the key", anti, {none}, {zone_a}, kSkip},
      {"anti-affinity: removed with the key", anti, {zone_a}, {}, kQueue},
      {"anti-affinity: removed without the key", anti, {none}, {}, kSkip},
      {"pods on nodes repel the pod: added", plain, {}, {none}, kQueue},
      {"pods on nodes repel the pod: leaves the domain", plain, {rack}, {none}, kQueue},
      {"pods on nodes repel the pod: another key", plain, {zone_a}, {zone_b}, kSkip},
      {"pods on nodes repel the pod: removed from the domain", plain, {rack}, {}, kQueue},
      {"pods on nodes repel the pod: removed without the key", plain, {zone_a}, {}, kSkip},
      {"no term concerns the pod", MakePod("p"), {}, {zone_a}, kSkip},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    PluginUnderTest plugin({.nodes = {repelling}});
    uint32_t action = BERTH_ACTION_UPDATE_NODE_LABEL;
    if (each.before.empty()) action = BERTH_ACTION_ADD;
    if (each.after.empty()) action = BERTH_ACTION_DELETE;
    EXPECT_EQ(plugin.Hint(each.pod, {.resource = BERTH_RESOURCE_NODE,
                                     .action = action,
                                     .old_node = each.before,
                                     .new_node = each.after}),
              each.want);
  }
}

// ---- Namespaces ---------------------------------------------------------------------------------

// A term that means the pods with app=web in the namespaces that `namespaces` selects.
PodTermSpec InNamespaces(Requirements namespaces) {
  return {.topology_key = "zone",
          .selector = SelectorSpec{kWebApp},
          .namespace_selector = SelectorSpec{std::move(namespaces)}};
}

std::vector<ObjectSpec> Labelled(const char* name, const char* team) {
  ObjectSpec ns = MakeObject(kNamespaceKind, "", name);
  if (*team != '\0') ns.labels["team"] = team;
  return {std::move(ns)};
}

uint32_t HintFor(const PodSpec& pod, const std::vector<NodeSpec>& nodes,
                 const std::vector<ObjectSpec>& before, const std::vector<ObjectSpec>& after) {
  // The host has applied the change when it calls the hint.
  PluginUnderTest plugin({.nodes = nodes, .objects = after});
  uint32_t action = BERTH_ACTION_UPDATE;
  if (before.empty()) action = BERTH_ACTION_ADD;
  if (after.empty()) action = BERTH_ACTION_DELETE;
  return plugin.Hint(pod, {.resource = BERTH_RESOURCE_CUSTOM,
                           .action = action,
                           .old_object = before,
                           .new_object = after});
}

TEST(InterPodAffinityHints, NamespacesOfOwnTerms) {
  const auto pod = [](std::vector<PodTermSpec> affinity, std::vector<PodTermSpec> anti = {}) {
    PodSpec made = MakePod("p");
    made.required_pod_terms = std::move(affinity);
    made.required_pod_anti_terms = std::move(anti);
    return made;
  };
  const PodTermSpec in_x = InNamespaces({In("team", {"x"})});
  const PodTermSpec not_x = InNamespaces({NotIn("team", {"x"})});
  const PodTermSpec in_all = InNamespaces({});
  PodTermSpec named = in_x;
  named.namespaces = {"other"};
  const PodTermSpec own{.topology_key = "zone", .selector = SelectorSpec{kWebApp}};
  const auto none = std::vector<ObjectSpec>();
  const auto plain = Labelled("other", "");
  const auto x = Labelled("other", "x");
  const auto y = Labelled("other", "y");
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<ObjectSpec> before;
    std::vector<ObjectSpec> after;
    uint32_t want;
  } cases[] = {
      {"affinity: relabelled, matches now", pod({in_x}), plain, x, kQueue},
      {"affinity: added, matches", pod({in_x}), none, x, kQueue},
      {"affinity: added, matches not", pod({in_x}), none, y, kSkip},
      {"affinity: relabelled, matches not", pod({in_x}), plain, y, kSkip},
      {"affinity: updated, matched before", pod({in_x}), x, x, kSkip},
      {"affinity: matches no more, others may match", pod({in_x}), x, y, kSkip},
      {"affinity: deleted, others may match", pod({in_x}), x, none, kSkip},
      {"affinity: one of two terms matches now", pod({in_x, not_x}), plain, x, kSkip},
      {"affinity: both terms match now", pod({in_x, in_all}), plain, x, kQueue},
      {"affinity: added, NotIn matches", pod({not_x}), none, plain, kQueue},
      {"affinity: relabelled, NotIn matches now", pod({not_x}), x, y, kQueue},
      {"affinity: all namespaces", pod({in_all}), none, x, kSkip},
      {"affinity: the namespace is named", pod({named}), plain, x, kSkip},
      {"affinity: no namespaceSelector", pod({own}), plain, x, kSkip},
      {"anti-affinity: relabelled, matches no more", pod({}, {in_x}), x, plain, kQueue},
      {"anti-affinity: deleted, matched", pod({}, {in_x}), x, none, kQueue},
      {"anti-affinity: deleted, matched not", pod({}, {in_x}), y, none, kSkip},
      {"anti-affinity: relabelled, matches now", pod({}, {in_x}), plain, x, kSkip},
      {"anti-affinity: added, matches", pod({}, {in_x}), none, x, kSkip},
      {"anti-affinity: one of two terms stops to match", pod({}, {in_x, in_all}), x, y, kQueue},
      {"anti-affinity: the namespace is named", pod({}, {named}), x, plain, kSkip},
      {"anti-affinity: relabelled, NotIn matches no more", pod({}, {not_x}), y, x, kQueue},
      {"no terms", pod({}), plain, x, kSkip},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(HintFor(each.pod, {MakeNode("n")}, each.before, each.after), each.want);
  }
}

// The pod matches its own term through its own namespace.
TEST(InterPodAffinityHints, NamespaceLeavesFirstPodOfSet) {
  PodSpec pod = MakePod("p").Label("app", "web").Namespace("own");
  PodTermSpec term = InNamespaces({In("team", {"x"})});
  term.namespaces = {"own"};
  pod.required_pod_terms = {term};
  const auto x = Labelled("other", "x");
  const auto y = Labelled("other", "y");
  EXPECT_EQ(HintFor(pod, {MakeNode("n")}, x, y), kQueue);
  EXPECT_EQ(HintFor(pod, {MakeNode("n")}, x, {}), kQueue);
  EXPECT_EQ(HintFor(pod.Label("app", "db"), {MakeNode("n")}, x, y), kSkip);
}

TEST(InterPodAffinityHints, NamespaceOfThePod) {
  const auto repelling = [](Requirements namespaces) {
    PodSpec pod = OnNode(MakePod("q"));
    pod.required_pod_anti_terms = {InNamespaces(std::move(namespaces))};
    return std::vector<NodeSpec>{MakeNode("n").Label("zone", "a").Pod(std::move(pod))};
  };
  const auto in_x = repelling({In("team", {"x"})});
  const auto not_x = repelling({NotIn("team", {"x"})});
  const auto plain = Labelled("other", "");
  const auto x = Labelled("other", "x");
  const auto none = std::vector<ObjectSpec>();
  const PodSpec web = MakePod("p").Label("app", "web").Namespace("other");
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<NodeSpec> nodes;
    std::vector<ObjectSpec> before;
    std::vector<ObjectSpec> after;
    uint32_t want;
  } cases[] = {
      {"relabelled, a term means the pod no more", web, in_x, x, plain, kQueue},
      {"deleted, a term means the pod no more", web, in_x, x, none, kQueue},
      {"relabelled, a term means the pod now", web, in_x, plain, x, kSkip},
      {"added, NotIn means the pod no more", web, not_x, none, x, kQueue},
      {"added, NotIn means the pod as before", web, not_x, none, plain, kSkip},
      {"deleted, NotIn means the pod now", web, not_x, x, none, kSkip},
      {"another pod", MakePod("p").Label("app", "db").Namespace("other"), in_x, x, plain, kSkip},
      {"another namespace", MakePod("p").Label("app", "web"), in_x, x, plain, kSkip},
      {"no pod on a node has terms", web, {MakeNode("n")}, x, plain, kSkip},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(HintFor(each.pod, each.nodes, each.before, each.after), each.want);
  }
}

}  // namespace
}  // namespace berth::testing
