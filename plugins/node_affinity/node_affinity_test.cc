#include <map>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kSelection = "node(s) didn't match Pod's node affinity/selector";
constexpr const char* kEnforced = "node(s) didn't match scheduler-enforced node affinity";
constexpr uint32_t kQueue = BERTH_HINT_QUEUE;
constexpr uint32_t kSkip = BERTH_HINT_SKIP;

NodeTermSpec Named(const std::string& node) { return {.fields = {In("metadata.name", {node})}}; }
PodSpec Needs(Requirements expressions) {
  return MakePod("p").NodeAffinity(std::move(expressions));
}
std::vector<NodeSpec> ThreeNodes() {
  return {MakeNode("a").Label("zone", "z1").Label("cores", "8"),
          MakeNode("b").Label("zone", "z2").Label("cores", "many").Label("empty", ""),
          MakeNode("c").Label("disk", "ssd").Label("cores", "16")};
}

TEST(NodeAffinity, Filter) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  const struct {
    const char* name;
    PodSpec pod;
    bool a;
    bool b;
    bool c;
  } cases[] = {
      {"nodeSelector: label and value must match", MakePod("p").NodeSelector("zone", "z1"), true,
       false, false},
      {"nodeSelector: all labels must match",
       MakePod("p").NodeSelector("zone", "z1").NodeSelector("cores", "8"), true, false, false},
      {"nodeSelector: one of two labels is not enough",
       MakePod("p").NodeSelector("zone", "z1").NodeSelector("cores", "16"), false, false, false},
      {"nodeSelector: an empty value is a value", MakePod("p").NodeSelector("empty", ""), false,
       true, false},
      {"nodeSelector: a key that no node has", MakePod("p").NodeSelector("x", "y"), false, false,
       false},
      {"nodeSelector: a key that is not a valid label key", MakePod("p").NodeSelector("", "y"),
       false, false, false},
      {"In: one of several values", Needs({In("zone", {"z1", "z2", "z3"})}), true, true, false},
      {"In: no value matches", Needs({In("zone", {"z3"})}), false, false, false},
      {"NotIn is met by a node without the label", Needs({NotIn("zone", {"z1"})}), false, true,
       true},
      {"Exists: an empty value is enough", Needs({Exists("empty")}), false, true, false},
      {"DoesNotExist", Needs({DoesNotExist("zone")}), false, false, true},
      {"Gt: a value that is not an integer never matches", Needs({Gt("cores", 8)}), false, false,
       true},
      {"Gt: the value above the bound matches", Needs({Gt("cores", 7)}), true, false, true},
      {"Lt", Needs({Lt("cores", 16)}), true, false, false},
      {"Lt: the value below the bound matches", Needs({Lt("cores", 17)}), true, false, true},
      {"Gt: a node without the label never matches", Needs({Gt("x", -1)}), false, false, false},
      {"all requirements of a term must be met", Needs({Exists("zone"), NotIn("zone", {"z2"})}),
       true, false, false},
      {"one matching term is enough", Needs({In("zone", {"z1"})}).NodeAffinity({Exists("disk")}),
       true, false, true},
      {"an empty term matches nothing", Needs({}), false, false, false},
      {"an empty term does not affect another term", Needs({}).NodeAffinity({Exists("disk")}),
       false, false, true},
      {"a term that does not parse does not affect another term",
       MakePod("p")
           .NodeAffinity(NodeTermSpec{{Exists("zone")}, {}, 0, true})
           .NodeAffinity({Exists("disk")}),
       false, false, true},
      {"a term that does not parse matches nothing",
       MakePod("p").NodeAffinity(NodeTermSpec{{Exists("zone")}, {}, 0, true}), false, false, false},
      {"nodeSelector and affinity must both match",
       Needs({Exists("zone")}).NodeSelector("cores", "8"), true, false, false},
      {"a node name can be excluded",
       MakePod("p").NodeAffinity(NodeTermSpec{{}, {NotIn("metadata.name", {"b"})}}), true, false,
       true},
      {"labels and an excluded node name in one term",
       MakePod("p").NodeAffinity(NodeTermSpec{{Exists("zone")}, {NotIn("metadata.name", {"b"})}}),
       true, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.pre_filter, Success());
    const auto want = [](bool yes) { return yes ? Success() : Unresolvable(kSelection); };
    EXPECT_EQ(result.On("a"), want(c.a));
    EXPECT_EQ(result.On("b"), want(c.b));
    EXPECT_EQ(result.On("c"), want(c.c));
    EXPECT_EQ(result.only_nodes, std::nullopt);
  }
}

TEST(NodeAffinity, APodThatMayRunAnywhereIsSkipped) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  EXPECT_EQ(plugin.Filter(MakePod("p")).pre_filter, Answer{BERTH_SKIP});
  EXPECT_EQ(plugin.Filter(MakePod("p").PreferredNodeAffinity(1, {Exists("zone")})).pre_filter,
            Answer{BERTH_SKIP});
}

TEST(NodeAffinity, RequiredAffinityWithoutTermsMatchesNoNode) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  PodSpec pod = MakePod("p");
  pod.required_node_terms.emplace();
  EXPECT_EQ(plugin.Filter(pod).pre_filter, Success());
  EXPECT_EQ(plugin.Filter(pod).On("a"), Unresolvable(kSelection));
}

TEST(NodeAffinity, TermsThatSelectNodesByNameLimitAttempt) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  using Names = std::vector<std::string>;
  const NodeTermSpec zone_of_a{{In("zone", {"z1"})}, {In("metadata.name", {"a"})}};
  const NodeTermSpec zone_of_b{{In("zone", {"z1"})}, {In("metadata.name", {"b"})}};
  const NodeTermSpec unreadable{{}, {In("metadata.name", {"a", "b"})}, 0, true};
  const struct {
    const char* name;
    PodSpec pod;
    std::optional<Names> names;
  } cases[] = {
      {"one node", MakePod("p").NodeAffinity(Named("a")), Names{"a"}},
      {"one node from each term", MakePod("p").NodeAffinity(Named("b")).NodeAffinity(Named("a")),
       Names{"a", "b"}},
      {"the same node in two terms", MakePod("p").NodeAffinity(Named("a")).NodeAffinity(Named("a")),
       Names{"a"}},
      {"a node that does not exist", MakePod("p").NodeAffinity(Named("x")), Names{"x"}},
      {"a node name and labels in one term", MakePod("p").NodeAffinity(zone_of_a), Names{"a"}},
      {"a term without a name makes every node a candidate",
       MakePod("p").NodeAffinity(Named("a")).NodeAffinity({Exists("zone")}), std::nullopt},
      {"a term that only excludes a name makes every node a candidate",
       MakePod("p")
           .NodeAffinity(Named("a"))
           .NodeAffinity(NodeTermSpec{{}, {NotIn("metadata.name", {"b"})}}),
       std::nullopt},
      {"a term that requires two names selects no node",
       MakePod("p")
           .NodeAffinity(NodeTermSpec{{}, {In("metadata.name", {"a"}), In("metadata.name", {"b"})}})
           .NodeAffinity(Named("c")),
       Names{"c"}},
      {"a field other than metadata.name does not limit the nodes",
       MakePod("p").NodeAffinity(NodeTermSpec{{}, {In("metadata.uid", {"a"})}, 0, true}),
       std::nullopt},
      {"the node names of a term that does not parse count", MakePod("p").NodeAffinity(unreadable),
       Names{"a", "b"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.pre_filter, Success());
    EXPECT_EQ(result.only_nodes, c.names);
  }
  EXPECT_EQ(plugin.Filter(MakePod("p").NodeAffinity(zone_of_a)).On("a"), Success());
  EXPECT_EQ(plugin.Filter(MakePod("p").NodeAffinity(zone_of_b)).On("b"), Unresolvable(kSelection));
  EXPECT_EQ(plugin.Filter(MakePod("p").NodeAffinity(unreadable)).On("a"), Unresolvable(kSelection));
}

TEST(NodeAffinity, TermsThatSelectNoNodeByNameConflict) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  const NodeTermSpec conflict{{}, {In("metadata.name", {"a"}), In("metadata.name", {"b"})}};
  EXPECT_EQ(plugin.Filter(MakePod("p").NodeAffinity(conflict).NodeAffinity(conflict)).pre_filter,
            Unresolvable("pod affinity terms conflict"));
}

constexpr const char* kAdded = R"({"addedAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1", "z2"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["d"]}]}]},
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "preference": {"matchExpressions": [
            {"key": "cores", "operator": "Gt", "values": ["4"]}]}},
        {"weight": 5, "preference": {"matchFields": [
            {"key": "metadata.name", "operator": "NotIn", "values": ["a"]}]}}]}})";

TEST(NodeAffinity, AddedAffinity) {
  std::vector<NodeSpec> nodes = ThreeNodes();
  nodes.push_back(MakeNode("d"));
  PluginUnderTest plugin({.nodes = nodes, .args = kAdded});
  const Answer enforced = Unresolvable(kEnforced);
  const Answer selection = Unresolvable(kSelection);
  const struct {
    const char* name;
    PodSpec pod;
    std::vector<Answer> want;  // of a, b, c, d
  } cases[] = {
      {"added affinity applies to a pod without affinity",
       MakePod("p"),
       {Success(), Success(), enforced, Success()}},
      {"added affinity and the pod's own affinity must both match",
       Needs({Exists("cores")}),
       {Success(), Success(), enforced, selection}},
      {"added affinity is the reason if both reject the node",
       MakePod("p").NodeSelector("zone", "z1"),
       {Success(), selection, enforced, selection}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.only_nodes, std::nullopt) << "only the pod's own terms can limit the nodes";
    EXPECT_EQ(result.On("a"), c.want[0]);
    EXPECT_EQ(result.On("b"), c.want[1]);
    EXPECT_EQ(result.On("c"), c.want[2]);
    EXPECT_EQ(result.On("d"), c.want[3]);
  }
  const std::map<std::string, int64_t> alone = {{"a", 10}, {"b", 5}, {"c", 15}, {"d", 5}};
  EXPECT_EQ(plugin.Score(MakePod("p")).raw, alone);
  const std::map<std::string, int64_t> both = {{"a", 13}, {"b", 8}, {"c", 15}, {"d", 5}};
  EXPECT_EQ(plugin.Score(MakePod("p").PreferredNodeAffinity(3, {Exists("zone")})).raw, both);
}

TEST(NodeAffinity, Score) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  using Scores = std::map<std::string, int64_t>;
  const auto prefers = [](int32_t weight, Requirements expressions) {
    return MakePod("p").PreferredNodeAffinity(weight, std::move(expressions));
  };
  const struct {
    const char* name;
    PodSpec pod;
    Scores raw;
    Scores normalized;
  } cases[] = {
      {"the weight of the matching term",
       prefers(7, {Exists("zone")}),
       {{"a", 7}, {"b", 7}, {"c", 0}},
       {{"a", 100}, {"b", 100}, {"c", 0}}},
      {"weights add up, and normalised scores are truncated",
       prefers(20, {Exists("zone")}).PreferredNodeAffinity(9, {Gt("cores", 7)}),
       {{"a", 29}, {"b", 20}, {"c", 9}},
       {{"a", 100}, {"b", 68}, {"c", 31}}},
      {"all requirements of a preferred term must be met",
       prefers(1, {Exists("zone"), Lt("cores", 9)}),
       {{"a", 1}, {"b", 0}, {"c", 0}},
       {{"a", 100}, {"b", 0}, {"c", 0}}},
      {"all nodes score 0 if no term matches",
       prefers(50, {Exists("x")}),
       {{"a", 0}, {"b", 0}, {"c", 0}},
       {{"a", 0}, {"b", 0}, {"c", 0}}},
      {"an empty term matches nothing",
       prefers(50, {}),
       {{"a", 0}, {"b", 0}, {"c", 0}},
       {{"a", 0}, {"b", 0}, {"c", 0}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const ScoreResult result = plugin.Score(c.pod);
    EXPECT_FALSE(result.skipped);
    EXPECT_EQ(result.raw, c.raw);
    EXPECT_EQ(result.normalized, c.normalized);
  }
  EXPECT_TRUE(plugin.Score(MakePod("p").NodeSelector("zone", "z1")).skipped);
}

TEST(NodeAffinity, PreferredTermThatDoesNotParseIsError) {
  PluginUnderTest plugin({.nodes = ThreeNodes()});
  const RequirementSpec right = Exists("zone");
  const std::string long_value(64, 'x');
  const std::string whole_number = "for 'Gt', 'Lt' operators, the value must be an integer";
  const std::string label_value =
      "the value must be a valid label value: empty, or at most 63 letters, digits, '-', '_' and "
      "'.' between a letter or digit at each end";
  const struct {
    const char* name;
    NodeTermSpec term;
    std::string why;
  } cases[] = {
      {"no values",
       {{In("zone", {})}},
       ".matchExpressions[0].values: Invalid value: []string{}: for 'in', 'notin' operators, "
       "values set can't be empty (key \"zone\")"},
      {"the second requirement is wrong",
       {{right, NotIn("disk", {})}},
       ".matchExpressions[1].values: Invalid value: []string{}: for 'in', 'notin' operators, "
       "values set can't be empty (key \"disk\")"},
      {"values that must not be there",
       {{{"zone", BERTH_OP_EXISTS, {"a", "b"}}}},
       ".matchExpressions[0].values: Invalid value: []string{\"a\", \"b\"}: values set must be "
       "empty for exists and does not exist (key \"zone\")"},
      {"two numbers",
       {{{"cores", BERTH_OP_GT, {"1", "2"}}}},
       ".matchExpressions[0].values: Invalid value: []string{\"1\", \"2\"}: for 'Gt', 'Lt' "
       "operators, exactly one value is required (key \"cores\")"},
      {"no integer",
       {{{"cores", BERTH_OP_LT, {"1.5"}}}},
       ".matchExpressions[0].values[0]: Invalid value: \"1.5\": " + whole_number +
           " (key \"cores\")"},
      {"a key that is no label key",
       {{In("a key", {"x"})}},
       ".matchExpressions[0].key: Invalid value: \"a key\": the key must be a qualified name, "
       "such as example.com/a (key \"a key\")"},
      {"a value that is no label value",
       {{In("zone", {std::string(63, 'x'), long_value})}},
       ".matchExpressions[0].values[1]: Invalid value: \"" + long_value + "\": " + label_value +
           " (key \"zone\")"},
      {"a field with two values",
       {{right}, {In("metadata.name", {"a", "b"})}},
       ".matchFields[0].values: Invalid value: []string{\"a\", \"b\"}: must have one element "
       "(key \"metadata.name\")"},
      {"an operator that fields do not have",
       {{}, {Exists("metadata.name")}},
       ".matchFields[0].operator: Unsupported value: \"Exists\": supported values: \"In\", "
       "\"NotIn\" (key \"metadata.name\")"},
      {"another field",
       {{}, {In("metadata.uid", {"a"})}},
       ".matchFields[0].key: Unsupported value: \"metadata.uid\": supported values: "
       "\"metadata.name\" (key \"metadata.uid\")"},
      {"a requirement that was left out", {{right}}, ": a requirement could not be decoded"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    PodSpec pod = MakePod("p").PreferredNodeAffinity(1, {right});
    pod.preferred_node_terms.push_back(c.term);
    pod.preferred_node_terms.back().invalid = true;
    EXPECT_EQ(plugin.Score(pod).pre_score, Success()) << "a term with weight 0 is ignored";
    pod.preferred_node_terms.back().weight = 1;
    EXPECT_EQ(
        plugin.Score(pod).pre_score,
        Error("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]" +
              c.why));
  }
}

// A profile may disable the plugin at PreFilter or PreScore only.
TEST(NodeAffinity, ResultsAreTheSameWithoutPreFilterAndPreScore) {
  PluginUnderTest plugin({.nodes = ThreeNodes(), .args = kAdded});
  const PodHandle pod(Needs({Exists("cores")})
                          .NodeSelector("zone", "z1")
                          .PreferredNodeAffinity(3, {Exists("zone")}),
                      plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  const BlockAnswer filter = EvaluateTable(cycle, Step::kFilter);
  EXPECT_EQ(filter.rows[0].answer, Success());
  EXPECT_EQ(filter.rows[1].answer, Unresolvable(kSelection));
  EXPECT_EQ(filter.rows[2].answer, Unresolvable(kEnforced));
  const BlockAnswer score = EvaluateTable(cycle, Step::kScore);
  EXPECT_EQ(score.rows[0].score, 13);
  EXPECT_EQ(score.rows[1].score, 8);
  EXPECT_EQ(score.rows[2].score, 15);
}

uint32_t NodeHint(PluginUnderTest& plugin, const PodSpec& pod, std::vector<NodeSpec> before,
                  const NodeSpec& after) {
  const uint32_t action = before.empty() ? BERTH_ACTION_ADD : BERTH_ACTION_UPDATE_NODE_LABEL;
  return plugin.Hint(pod, {.resource = BERTH_RESOURCE_NODE,
                           .action = action,
                           .old_node = std::move(before),
                           .new_node = {after}});
}

TEST(NodeAffinity, NodeEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const NodeSpec plain = MakeNode("a");
  const NodeSpec zone = MakeNode("a").Label("zone", "z1");
  const NodeSpec other = MakeNode("a").Label("zone", "z2");
  const PodSpec pod = MakePod("p").NodeSelector("zone", "z1");
  EXPECT_EQ(NodeHint(plugin, pod, {}, zone), kQueue) << "a new node that matches";
  EXPECT_EQ(NodeHint(plugin, pod, {}, plain), kSkip) << "a new node that does not match";
  EXPECT_EQ(NodeHint(plugin, pod, {plain}, zone), kQueue) << "the label was added";
  EXPECT_EQ(NodeHint(plugin, pod, {other}, zone), kQueue) << "the label got the value";
  EXPECT_EQ(NodeHint(plugin, pod, {zone}, other), kSkip) << "the label lost the value";
  EXPECT_EQ(NodeHint(plugin, pod, {zone}, zone), kSkip) << "the node matched before";
  const PodSpec named = MakePod("p").NodeAffinity(Named("a"));
  EXPECT_EQ(NodeHint(plugin, named, {}, plain), kQueue) << "the named node";
  EXPECT_EQ(NodeHint(plugin, named, {}, MakeNode("b")), kSkip) << "another node";
}

TEST(NodeAffinity, NodeEventsWithAddedAffinity) {
  PluginUnderTest plugin({.nodes = {}, .args = kAdded});
  const NodeSpec plain = MakeNode("a").Label("disk", "ssd");
  const NodeSpec zone = MakeNode("a").Label("disk", "ssd").Label("zone", "z1");
  const PodSpec pod = MakePod("p").NodeSelector("disk", "ssd");
  EXPECT_EQ(NodeHint(plugin, pod, {}, plain), kSkip) << "the added affinity does not match";
  EXPECT_EQ(NodeHint(plugin, pod, {}, zone), kQueue);
  EXPECT_EQ(NodeHint(plugin, pod, {plain}, zone), kQueue) << "the added affinity matches now";
  EXPECT_EQ(NodeHint(plugin, pod, {zone}, plain), kSkip);
}

}  // namespace
}  // namespace berth::testing
