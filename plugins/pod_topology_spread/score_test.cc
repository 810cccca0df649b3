// Tests PreScore, Score and the normalisation of PodTopologySpread.
#include <map>
#include <string>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

using Scores = std::map<std::string, int64_t>;

const std::string kZone = "topology.kubernetes.io/zone";
const std::string kHost = "kubernetes.io/hostname";

PodSpec Web(const std::string& name) { return MakePod(name).Label("app", "web"); }
PodSpec Soft(int32_t max_skew, const std::string& key) {
  return Web("p").Spread(max_skew, key, {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY);
}
NodeSpec NodeIn(const std::string& zone, const std::string& name, int count) {
  NodeSpec node = MakeNode(name).Label(kHost, name);
  if (!zone.empty()) node.Label(kZone, zone);
  for (int i = 0; i < count; ++i) node.Pod(Web(name + "-" + std::to_string(i)));
  return node;
}
std::vector<NodeSpec> TwoZones() {
  return {NodeIn("a", "a1", 2), NodeIn("a", "a2", 1), NodeIn("b", "b1", 1)};
}

TEST(PodTopologySpreadScore, Score) {
  const struct {
    const char* name;
    PodSpec pod;
    Scores raw;
    Scores normalized;
  } cases[] = {
      // Weight ln(4): 3 pods give 4.16, 1 pod gives 1.39.
      {"zones",
       Soft(1, kZone),
       {{"a1", 4}, {"a2", 4}, {"b1", 1}},
       {{"a1", 25}, {"a2", 25}, {"b1", 100}}},
      {"maxSkew makes differences smaller",
       Soft(5, kZone),
       {{"a1", 8}, {"a2", 8}, {"b1", 5}},
       {{"a1", 62}, {"a2", 62}, {"b1", 100}}},
      // Weight ln(5): 2 pods give 3.22, 1 pod gives 1.61.
      {"hosts",
       Soft(1, kHost),
       {{"a1", 3}, {"a2", 2}, {"b1", 2}},
       {{"a1", 66}, {"a2", 100}, {"b1", 100}}},
      // The sums are 7.38, 5.77 and 3.0.
      {"the sum is rounded, not its parts",
       Soft(1, kZone).Spread(1, kHost, {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY),
       {{"a1", 7}, {"a2", 6}, {"b1", 3}},
       {{"a1", 42}, {"a2", 57}, {"b1", 100}}},
      {"no matching pod",
       MakePod("p").Spread(1, kZone, {In("app", {"db"})}, BERTH_SCHEDULE_ANYWAY),
       {{"a1", 0}, {"a2", 0}, {"b1", 0}},
       {{"a1", 100}, {"a2", 100}, {"b1", 100}}},
      {"an empty selector counts no pod",
       MakePod("p").Spread(1, kZone, {}, BERTH_SCHEDULE_ANYWAY),
       {{"a1", 0}, {"a2", 0}, {"b1", 0}},
       {{"a1", 100}, {"a2", 100}, {"b1", 100}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PluginUnderTest plugin({.nodes = TwoZones()});
    const ScoreResult result = plugin.Score(c.pod);
    EXPECT_EQ(result.raw, c.raw);
    EXPECT_EQ(result.normalized, c.normalized);
  }
}

TEST(PodTopologySpreadScore, NodesWithoutAllKeysGetNoScore) {
  std::vector<NodeSpec> nodes = TwoZones();
  nodes.push_back(NodeIn("", "nowhere", 5));
  PluginUnderTest plugin({.nodes = nodes});
  EXPECT_EQ(plugin.Score(Soft(1, kZone)).normalized,
            (Scores{{"a1", 25}, {"a2", 25}, {"b1", 100}, {"nowhere", 0}}));
  // Three nodes have both keys: the weight of hosts is ln(5), not ln(6).
  const PodSpec both = Soft(1, kHost).Spread(1, kZone, {In("app", {"web"})}, BERTH_SCHEDULE_ANYWAY);
  EXPECT_EQ(plugin.Score(both).raw, (Scores{{"a1", 7}, {"a2", 6}, {"b1", 3}, {"nowhere", -1}}));
}

TEST(PodTopologySpreadScore, PoliciesLimitWhichPodsCount) {
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 2), NodeIn("a", "a2", 1).Label("pool", "x"),
                                    NodeIn("b", "b1", 1).Label("pool", "x")}});
  const PodSpec selective = Soft(1, kZone).NodeSelector("pool", "x");
  EXPECT_EQ(plugin.Score(selective).raw, (Scores{{"a1", 1}, {"a2", 1}, {"b1", 1}}));
  // The score of a host counts its own pods, whether or not the policy includes it.
  EXPECT_EQ(plugin.Score(Soft(1, kHost).NodeSelector("pool", "x")).raw,
            (Scores{{"a1", 3}, {"a2", 2}, {"b1", 2}}));
  PluginUnderTest tainted(
      {.nodes = {NodeIn("a", "a1", 2).Taint("t"), NodeIn("a", "a2", 1), NodeIn("b", "b1", 1)}});
  const PodSpec honoring = Web("p").Spread({.topology_key = kZone,
                                            .selector = SelectorSpec{{In("app", {"web"})}},
                                            .when_unsatisfiable = BERTH_SCHEDULE_ANYWAY,
                                            .node_taints_policy = BERTH_POLICY_HONOR});
  EXPECT_EQ(tainted.Score(honoring).raw, (Scores{{"a1", 1}, {"a2", 1}, {"b1", 1}}));
}

// Returns the raw scores when only some nodes are feasible.
Scores ScoreOf(PluginUnderTest& plugin, const PodSpec& spec,
               const std::vector<uint32_t>& feasible) {
  const PodHandle pod(spec, plugin.ids());
  Instance& instance = plugin.instance();
  Cycle cycle(&instance, &plugin.table(), pod);
  cycle.PreFilter();
  Nodes some(&instance, plugin.table(), cycle.binder(), feasible, Cycle::kBlockSize);
  Nodes all(&instance, plugin.table(), cycle.binder(), cycle.AllRows(), Cycle::kBlockSize);
  berth_pre_score_out out{sizeof(out), 0, nullptr};
  EXPECT_EQ(cycle.Invoke("PreScore", Word::kCycle,
                         [&](berth_status* status) {
                           return instance.pre_score->pre_score(
                               instance.self(), cycle.abi(), some.abi(), all.abi(), &out, status);
                         }),
            Success());
  const BlockAnswer answer = EvaluateTable(cycle, Step::kScore);
  Scores scores;
  for (const uint32_t row : feasible) {
    scores[plugin.table().rows[row].node.name()] = answer.rows[row].score;
  }
  return scores;
}

TEST(PodTopologySpreadScore, OnlyFeasibleNodesMakeDomains) {
  PluginUnderTest plugin({.nodes = {NodeIn("a", "a1", 10), NodeIn("a", "a2", 10),
                                    NodeIn("b", "b1", 10), NodeIn("c", "c1", 10)}});
  // The pods on a1 count although it is not feasible. The weight is that of two zones.
  EXPECT_EQ(ScoreOf(plugin, Soft(1, kZone), {1, 2}), (Scores{{"a2", 28}, {"b1", 14}}));
  EXPECT_EQ(ScoreOf(plugin, Soft(1, kZone), {0, 1, 2, 3}),
            (Scores{{"a1", 32}, {"a2", 32}, {"b1", 16}, {"c1", 16}}));
  EXPECT_EQ(ScoreOf(plugin, Soft(1, kHost), {1, 2}), (Scores{{"a2", 14}, {"b1", 14}}));
  EXPECT_EQ(ScoreOf(plugin, Soft(1, kHost), {1, 2, 3}),
            (Scores{{"a2", 16}, {"b1", 16}, {"c1", 16}}));
}

ObjectSpec Service() {
  return MakeObject("v1/Service", "default", "web", R"({"spec": {"selector": {"app": "web"}}})");
}

// With System defaults, a node without the label of the zone gets the score of its hostname, and
// such nodes form a domain, together with nodes that have an empty label.
TEST(PodTopologySpreadScore, SystemDefaultsDoNotRequireLabels) {
  std::vector<NodeSpec> nodes = {NodeIn("a", "a1", 10), NodeIn("b", "b1", 0), NodeIn("", "x", 10)};
  {
    PluginUnderTest plugin({.nodes = nodes, .objects = {Service()}});
    // Hosts: 10 * ln(5) + 2, zones: 10 * ln(5) + 4, with three zones.
    EXPECT_EQ(plugin.Score(Web("p")).raw, (Scores{{"a1", 38}, {"b1", 6}, {"x", 18}}));
  }
  nodes.push_back(MakeNode("y").Label(kHost, "y").Label(kZone, ""));
  PluginUnderTest plugin({.nodes = nodes, .objects = {Service()}});
  // Hosts: 10 * ln(6) + 2, zones: 10 * ln(5) + 4. The pods on x count in the zone of y.
  EXPECT_EQ(plugin.Score(Web("p")).raw, (Scores{{"a1", 40}, {"b1", 6}, {"x", 20}, {"y", 22}}));
}

TEST(PodTopologySpreadScore, FollowsTheCluster) {
  PluginUnderTest plugin({.nodes = TwoZones()});
  plugin.AddPod(Web("new"), "b1", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(plugin.Score(Soft(1, kZone)).raw, (Scores{{"a1", 4}, {"a2", 4}, {"b1", 3}}));
  plugin.RemoveNode("a1");
  EXPECT_EQ(plugin.Score(Soft(1, kZone)).raw, (Scores{{"a2", 1}, {"b1", 3}}));
  plugin.ChangeNode(MakeNode("a2").Label(kZone, "b"));
  EXPECT_EQ(plugin.Score(Soft(1, kZone)).raw, (Scores{{"a2", 3}, {"b1", 3}}))
      << "one zone with three pods has the weight ln(3)";
}

}  // namespace
}  // namespace berth::testing
