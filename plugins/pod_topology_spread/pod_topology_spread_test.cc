#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

const std::string kZone = "topology.kubernetes.io/zone";
const std::string kHost = "kubernetes.io/hostname";
const Answer kNoLabel =
    Unresolvable("node(s) didn't match pod topology spread constraints (missing required label)");
const Answer kSkew = Unschedulable("node(s) didn't match pod topology spread constraints");

SelectorSpec Select(const std::string& app) { return {{In("app", {app})}}; }
PodSpec Web(const std::string& name) { return MakePod(name).Label("app", "web"); }
// Returns a pod that matches the selector of its own constraint.
PodSpec Spreading(int32_t max_skew, const std::string& key = kZone) {
  return Web("p").Spread(max_skew, key, {In("app", {"web"})});
}
PodSpec With(SpreadSpec spread) {
  if (!spread.selector.has_value()) spread.selector = Select("web");
  return Web("p").Spread(std::move(spread));
}

// Returns a node with the label of its hostname and `count` pods that match Spreading().
NodeSpec NodeIn(const std::string& zone, const std::string& name, int count) {
  NodeSpec node = MakeNode(name).Label(kHost, name);
  if (!zone.empty()) node.Label(kZone, zone);
  for (int i = 0; i < count; ++i) node.Pod(Web(name + "-" + std::to_string(i)));
  return node;
}
// Three zones with 2, 1 and 0 matching pods.
std::vector<NodeSpec> ThreeZones() {
  return {NodeIn("a", "a1", 1), NodeIn("a", "a2", 1), NodeIn("b", "b1", 1), NodeIn("c", "c1", 0)};
}

using Names = std::vector<std::string>;

TEST(PodTopologySpread, Filter) {
  const struct {
    const char* name;
    PodSpec pod;
    Names fitting;
  } cases[] = {
      {"the pod itself counts", Spreading(1), {"c1"}},
      {"one more than the smallest count is allowed", Spreading(2), {"b1", "c1"}},
      {"the difference may be as large as maxSkew", Spreading(3), {"a1", "a2", "b1", "c1"}},
      {"a pod that does not match its own selector does not count",
       Spreading(1).Label("app", "db"),
       {"b1", "c1"}},
      {"hosts", Spreading(1, kHost), {"c1"}},
      {"a selector that matches nothing",
       With({.topology_key = kZone, .selector = Select("db")}),
       {"a1", "a2", "b1", "c1"}},
      {"with fewer domains than minDomains, the smallest count is 0",
       With({.topology_key = kZone, .selector = Select("web"), .max_skew = 2, .min_domains = 4}),
       {"b1", "c1"}},
      {"all constraints must hold", Spreading(3).Spread(1, kHost, {In("app", {"web"})}), {"c1"}},
      {"constraints with ScheduleAnyway reject no node",
       Spreading(3).Spread(1, kHost, {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY),
       {"a1", "a2", "b1", "c1"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PluginUnderTest plugin({.nodes = ThreeZones()});
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.pre_filter, Success());
    EXPECT_EQ(result.Fitting(), c.fitting);
  }
}

TEST(PodTopologySpread, ReasonsOfVerdicts) {
  std::vector<NodeSpec> nodes = ThreeZones();
  nodes.push_back(NodeIn("", "nowhere", 0));
  PluginUnderTest plugin({.nodes = nodes});
  const FilterResult result = plugin.Filter(Spreading(1));
  EXPECT_EQ(result.On("a1"), kSkew);
  EXPECT_EQ(result.On("c1"), Success());
  EXPECT_EQ(result.On("nowhere"), kNoLabel);
  const PodSpec two = Spreading(1, kHost).Spread(9, kZone, {In("app", {"web"})});
  EXPECT_EQ(plugin.Filter(two).On("nowhere"), kNoLabel);
  EXPECT_EQ(plugin.Filter(two).On("a1"), kSkew) << "the first constraint decides";
}

TEST(PodTopologySpread, EnoughDomainsRaiseTheSmallestCount) {
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 3), NodeIn("b", "b1", 2)}});
  const auto fitting = [&plugin](int32_t min_domains) {
    return plugin.Filter(With({.topology_key = kZone, .max_skew = 1, .min_domains = min_domains}))
        .Fitting();
  };
  EXPECT_EQ(fitting(1), (Names{"b1"}));
  EXPECT_EQ(fitting(2), (Names{"b1"}));
  EXPECT_EQ(fitting(3), (Names{})) << "the smallest count is 0 now";
}

TEST(PodTopologySpread, NodesWithoutAllKeysAreNotCounted) {
  // The zone c has no node with a rack, so that the smallest count is that of b.
  PluginUnderTest plugin(
      {.nodes = {NodeIn("a", "a1", 2).Label("rack", "1"), NodeIn("b", "b1", 1).Label("rack", "2"),
                 NodeIn("c", "c1", 0), NodeIn("a", "a2", 7)}});
  const PodSpec pod = Spreading(1).Spread(9, "rack", {In("app", {"web"})});
  const FilterResult result = plugin.Filter(pod);
  EXPECT_EQ(result.On("b1"), Success());
  EXPECT_EQ(result.On("a1"), kSkew);
  EXPECT_EQ(result.On("c1"), kNoLabel);
  EXPECT_EQ(plugin.Filter(Spreading(1)).Fitting(), (Names{"c1"}));
}

TEST(PodTopologySpread, OnlySomePodsCount) {
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 0).Pod(Web("elsewhere").Namespace("other")),
                                    NodeIn("b", "b1", 0).Pod(Web("leaving").DeletedNs(1)),
                                    NodeIn("c", "c1", 0).Pod(MakePod("db").Label("app", "db")),
                                    NodeIn("d", "d1", 1)}});
  EXPECT_EQ(plugin.Filter(Spreading(1)).Fitting(), (Names{"a1", "b1", "c1"}));
}

TEST(PodTopologySpread, EmptySelectorsCountNoPod) {
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 3), NodeIn("b", "b1", 0)}});
  EXPECT_EQ(plugin.Filter(With({.topology_key = kZone, .selector = SelectorSpec{}})).Fitting(),
            (Names{"a1", "b1"}));
  // The pod itself counts with an empty selector: 0 + 1 - 0 is more than a maxSkew of 0.
  EXPECT_EQ(plugin.Filter(With({.topology_key = kZone, .selector = SelectorSpec{}, .max_skew = 0}))
                .Fitting(),
            Names{});
  const PodSpec without = Web("p").Spread({.topology_key = kZone, .max_skew = 0});
  EXPECT_EQ(plugin.Filter(without).Fitting(), (Names{"a1", "b1"}));
}

TEST(PodTopologySpread, NodeAffinityPolicy) {
  // Without the zone c, the smallest count is that of b.
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 3).Label("pool", "blue"),
                                    NodeIn("b", "b1", 2).Label("pool", "blue"),
                                    NodeIn("c", "c1", 0).Label("pool", "red")}});
  const auto fitting = [&plugin](uint32_t policy, const PodSpec& pod) {
    PodSpec spreading = pod;
    spreading.Label("app", "web")
        .Spread({.topology_key = kZone, .selector = Select("web"), .node_affinity_policy = policy});
    return plugin.Filter(spreading).Fitting();
  };
  const PodSpec selector = MakePod("p").NodeSelector("pool", "blue");
  const PodSpec affinity = MakePod("p").NodeAffinity({NotIn("pool", {"red"})});
  EXPECT_EQ(fitting(BERTH_POLICY_HONOR, selector), (Names{"b1", "c1"}))
      << "another plugin rejects c1";
  EXPECT_EQ(fitting(BERTH_POLICY_IGNORE, selector), (Names{"c1"}));
  EXPECT_EQ(fitting(BERTH_POLICY_HONOR, affinity), (Names{"b1", "c1"}));
  EXPECT_EQ(fitting(BERTH_POLICY_IGNORE, affinity), (Names{"c1"}));
  EXPECT_EQ(fitting(BERTH_POLICY_HONOR, MakePod("p")), (Names{"c1"}));
}

TEST(PodTopologySpread, NodeTaintsPolicy) {
  PluginUnderTest plugin(
      {.nodes = {NodeIn("a", "a1", 3), NodeIn("b", "b1", 2), NodeIn("c", "c1", 0).Taint("t"),
                 NodeIn("d", "d1", 2).Taint("s", "", BERTH_EFFECT_PREFER_NO_SCHEDULE)}});
  const auto fitting = [&plugin](uint32_t policy, bool tolerates) {
    PodSpec pod = With({.topology_key = kZone, .node_taints_policy = policy});
    if (tolerates) pod.TolerateKey("t");
    return plugin.Filter(pod).Fitting();
  };
  EXPECT_EQ(fitting(BERTH_POLICY_IGNORE, false), (Names{"c1"}));
  EXPECT_EQ(fitting(BERTH_POLICY_HONOR, false), (Names{"b1", "c1", "d1"}));
  EXPECT_EQ(fitting(BERTH_POLICY_HONOR, true), (Names{"c1"}));
}

TEST(PodTopologySpread, SkipsPodsWithoutConstraints) {
  PluginUnderTest plugin({.nodes = ThreeZones()});
  EXPECT_EQ(plugin.Filter(Web("p")).pre_filter, Skip());
  EXPECT_TRUE(plugin.Score(Web("p")).skipped);
  const PodSpec soft = Web("p").Spread(1, kZone, {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY);
  EXPECT_EQ(plugin.Filter(soft).pre_filter, Skip());
  EXPECT_FALSE(plugin.Score(soft).skipped);
  EXPECT_TRUE(plugin.Score(Spreading(1)).skipped);
}

TEST(PodTopologySpread, FilterNeedsPreFilter) {
  PluginUnderTest plugin({.nodes = ThreeZones(), .points = {{BERTH_POINT_FILTER}}});
  plugin.Without(Check::kWhatIf);
  EXPECT_EQ(plugin.Filter(Spreading(1)).filter.code, BERTH_ERROR);
}

TEST(PodTopologySpread, SelectorsThatDoNotParseAreErrors) {
  PluginUnderTest plugin({.nodes = ThreeZones()});
  const SelectorSpec invalid{.requirements = {}, .invalid = true};
  EXPECT_EQ(
      plugin.Filter(With({.topology_key = kZone, .selector = invalid})).pre_filter,
      Error("obtaining pod's hard topology spread constraints: a labelSelector is not valid"));
  const PodSpec soft = With(
      {.topology_key = kZone, .selector = invalid, .when_unsatisfiable = BERTH_SCHEDULE_ANYWAY});
  EXPECT_EQ(plugin.Filter(soft).pre_filter, Skip());
  EXPECT_EQ(
      plugin.Score(soft).pre_score,
      Error("obtaining pod's soft topology spread constraints: a labelSelector is not valid"));
}

TEST(PodTopologySpread, FollowsTheCluster) {
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 0), NodeIn("b", "b1", 0)}});
  const auto fitting = [&plugin] { return plugin.Filter(Spreading(1)).Fitting(); };
  EXPECT_EQ(fitting(), (Names{"a1", "b1"}));
  plugin.AddPod(Web("one"), "a1", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(fitting(), (Names{"b1"}));
  plugin.ChangePod(Web("one").DeletedNs(1), "a1");
  EXPECT_EQ(fitting(), (Names{"a1", "b1"}));
  plugin.AddPod(Web("two"), "b1");
  plugin.RemovePod("one", "a1");
  EXPECT_EQ(fitting(), (Names{"a1"}));
  plugin.AddNode(NodeIn("c", "c1", 0));
  plugin.ChangeNode(MakeNode("b1").Label(kZone, "a"));
  EXPECT_EQ(fitting(), (Names{"c1"}));
  plugin.RemoveNode("c1");
  EXPECT_EQ(fitting(), (Names{"a1", "b1"})) << "there is only one zone";
}

// ---- What-if questions --------------------------------------------------------------------------

// An attempt whose pods can be changed, row by row.
class WhatIf {
 public:
  WhatIf(PluginUnderTest& plugin, const PodSpec& pod)
      : plugin_(plugin),
        pod_(pod, plugin.ids()),
        original_(std::make_unique<Cycle>(&plugin.instance(), &plugin.table(), pod_)) {
    EXPECT_EQ(original_->PreFilter(), Success());
    clone_ = original_->CloneForWhatIf();
  }

  void Add(const PodSpec& pod, uint32_t row) { Change(pod, row, true); }
  void Remove(const PodSpec& pod, uint32_t row) { Change(pod, row, false); }
  // Returns the nodes that the pod may be placed on, after the changes.
  Names Fitting() { return FittingOn(*clone_); }
  Names FittingWithoutChanges() { return FittingOn(*original_); }

 private:
  void Change(const PodSpec& spec, uint32_t row, bool add) {
    const PodHandle pod(spec, plugin_.ids());
    const auto block = TableBlock(*clone_);
    const auto& point = *plugin_.instance().pre_filter;
    const Answer answer = clone_->Invoke("AddPod", Word::kCycle, [&](berth_status* status) {
      return (add ? point.add_pod : point.remove_pod)(plugin_.instance().self(), clone_->abi(),
                                                      pod.get(), &block->view(), row, status);
    });
    EXPECT_EQ(answer, Success());
  }
  Names FittingOn(Cycle& cycle) {
    Names names;
    const BlockAnswer answer = EvaluateTable(cycle, Step::kFilter);
    EXPECT_EQ(answer.call, Success());
    for (uint32_t row = 0; row < answer.rows.size(); ++row) {
      if (answer.rows[row].answer.ok()) names.push_back(plugin_.table().rows[row].node.name());
    }
    return names;
  }

  PluginUnderTest& plugin_;
  const PodHandle pod_;
  std::unique_ptr<Cycle> original_;
  std::unique_ptr<Cycle> clone_;
};

TEST(PodTopologySpreadWhatIf, SeveralNodesAtOnce) {
  PluginUnderTest plugin({.nodes = ThreeZones()});  // 2, 1 and 0 pods.
  WhatIf what_if(plugin, Spreading(1));
  EXPECT_EQ(what_if.Fitting(), (Names{"c1"}));
  what_if.Remove(Web("a1-0"), 0);
  EXPECT_EQ(what_if.Fitting(), (Names{"c1"}));  // 1, 1, 0
  what_if.Remove(Web("b1-0"), 2);
  EXPECT_EQ(what_if.Fitting(), (Names{"b1", "c1"}));  // 1, 0, 0
  what_if.Add(Web("new"), 2);
  what_if.Add(Web("new2"), 3);
  EXPECT_EQ(what_if.Fitting(), (Names{"a1", "a2", "b1", "c1"}));  // 1, 1, 1
  what_if.Add(Web("new3"), 3);
  what_if.Add(Web("new4"), 2);
  EXPECT_EQ(what_if.Fitting(), (Names{"a1", "a2"}));  // 1, 2, 2
  EXPECT_EQ(what_if.FittingWithoutChanges(), (Names{"c1"}));
}

TEST(PodTopologySpreadWhatIf, OnlyCountedPodsMatter) {
  PluginUnderTest plugin(
      {.nodes = {NodeIn("a", "a1", 0), NodeIn("b", "b1", 0), NodeIn("", "x", 0)}});
  const struct {
    const char* name;
    PodSpec pod;
    uint32_t row;
  } cases[] = {{"another namespace", Web("q").Namespace("other"), 0},
               {"another label", MakePod("q").Label("app", "db"), 0},
               {"a pod that is being deleted", Web("q").DeletedNs(1), 0},
               {"a node without the key", Web("q"), 2}};
  for (const auto& c : cases) {
    WhatIf what_if(plugin, Spreading(1));
    what_if.Add(c.pod, c.row);
    EXPECT_EQ(what_if.Fitting(), (Names{"a1", "b1"})) << c.name;
    what_if.Remove(c.pod, c.row);
    what_if.Remove(c.pod, c.row);
    EXPECT_EQ(what_if.Fitting(), (Names{"a1", "b1"})) << c.name;
  }
  WhatIf counted(plugin, Spreading(1));
  counted.Add(Web("q"), 0);
  EXPECT_EQ(counted.Fitting(), (Names{"b1"}));
}

TEST(PodTopologySpreadWhatIf, NodesThatAPolicyExcludesDoNotMatter) {
  PluginUnderTest plugin(
      {.nodes = {NodeIn("a", "a1", 1).Label("pool", "blue"),
                 NodeIn("b", "b1", 1).Label("pool", "blue"), NodeIn("a", "a2", 0)}});
  WhatIf what_if(plugin, Spreading(1).NodeSelector("pool", "blue"));
  what_if.Add(Web("q"), 2);
  EXPECT_EQ(what_if.Fitting(), (Names{"a1", "b1", "a2"}));
  what_if.Add(Web("q"), 0);
  EXPECT_EQ(what_if.Fitting(), (Names{"b1"}));
}

}  // namespace
}  // namespace berth::testing
