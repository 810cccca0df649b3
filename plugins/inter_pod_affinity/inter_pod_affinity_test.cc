// Tests Filter and Score with their preparations. The kit also changes pods, nodes and namespaces
// around every case, and compares AddPod, RemovePod and FilterChanged with a whole attempt.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

const Requirements kWeb = {In("app", {"web"})};
const Requirements kDb = {In("app", {"db"})};

PodSpec Web(const std::string& name = "web") { return MakePod(name).Label("app", "web"); }
PodSpec Db(const std::string& name = "db") { return MakePod(name).Label("app", "db"); }

// Returns two nodes in zone a, one in zone b, and one without a zone.
std::vector<NodeSpec> Nodes() {
  return {MakeNode("a1").Label("zone", "a").Label("host", "a1"),
          MakeNode("a2").Label("zone", "a").Label("host", "a2"),
          MakeNode("b1").Label("zone", "b").Label("host", "b1"),
          MakeNode("c1").Label("host", "c1")};
}

const Answer kAffinity = Unresolvable("node(s) didn't match pod affinity rules");
const Answer kAntiAffinity = Unschedulable("node(s) didn't match pod anti-affinity rules");
const Answer kExisting = Unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
FilterResult FilterOf(std::vector<NodeSpec> nodes, const PodSpec& pod,
                      std::vector<ObjectSpec> namespaces = {}) {
  PluginUnderTest plugin({.nodes = std::move(nodes), .objects = std::move(namespaces)});
  return plugin.Filter(pod);
}

ObjectSpec Namespace(const std::string& name, const std::string& team) {
  ObjectSpec spec = MakeObject("v1/Namespace", "", name);
  spec.labels["team"] = team;
  return spec;
}

PodTermSpec Term(const Requirements& selector, std::vector<std::string> namespaces,
                 std::optional<Requirements> of_namespaces = std::nullopt) {
  PodTermSpec term{.topology_key = "zone",
                   .selector = SelectorSpec{.requirements = selector},
                   .namespaces = std::move(namespaces)};
  if (of_namespaces.has_value()) {
    term.namespace_selector = SelectorSpec{.requirements = *of_namespaces};
  }
  return term;
}

// ---- Affinity -----------------------------------------------------------------------------------

TEST(InterPodAffinity, SkipsAPodThatNoTermConcerns) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PodAntiAffinity("zone", kDb).PodAffinity("zone", kWeb));
  EXPECT_EQ(FilterOf(nodes, Web()).pre_filter, Skip());
  EXPECT_EQ(FilterOf({}, Web()).pre_filter, Skip());
  // The node of the pod with the term has no label for the term's key.
  nodes = Nodes();
  nodes[3].Pod(Db().PodAntiAffinity("zone", kWeb));
  EXPECT_EQ(FilterOf(nodes, Web()).pre_filter, Skip());
}

TEST(InterPodAffinity, AffinityRequiresAPodInTheDomain) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web());
  const FilterResult result = FilterOf(nodes, MakePod("p").PodAffinity("zone", kWeb));
  EXPECT_EQ(result.pre_filter, Success());
  EXPECT_EQ(result.Fitting(), (std::vector<std::string>{"a1", "a2"}));
  EXPECT_EQ(result.On("b1"), kAffinity);
  EXPECT_EQ(result.On("c1"), kAffinity);
}

TEST(InterPodAffinity, PodsOnNodesWithoutKeyDoNotCount) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[3].Pod(Web());
  EXPECT_TRUE(FilterOf(nodes, MakePod("p").PodAffinity("zone", kWeb)).Fitting().empty());
}

TEST(InterPodAffinity, OnePodMustMatchAllTerms) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web("w").Label("tier", "1"));
  nodes[2].Pod(Web("x")).Pod(MakePod("y").Label("tier", "1"));
  const PodSpec pod =
      MakePod("p").PodAffinity("zone", kWeb).PodAffinity("host", {In("tier", {"1"})});
  const FilterResult result = FilterOf(nodes, pod);
  EXPECT_EQ(result.On("a1"), Success());
  EXPECT_EQ(result.On("a2"), kAffinity) << "the zone matches, the host does not";
  EXPECT_EQ(result.On("b1"), kAffinity) << "two pods match one term each";
}

TEST(InterPodAffinity, FirstPodMayRunWhereverTheKeyIs) {
  const PodSpec pod = Web("p").PodAffinity("zone", kWeb);
  EXPECT_EQ(FilterOf(Nodes(), pod).Fitting(), (std::vector<std::string>{"a1", "a2", "b1"}));
  EXPECT_EQ(FilterOf(Nodes(), pod).On("c1"), kAffinity);
  // It is not the first one.
  std::vector<NodeSpec> nodes = Nodes();
  nodes[2].Pod(Web());
  EXPECT_EQ(FilterOf(nodes, pod).Fitting(), std::vector<std::string>{"b1"});
  // A pod on a node without the key does not count.
  nodes = Nodes();
  nodes[3].Pod(Web());
  EXPECT_EQ(FilterOf(nodes, pod).Fitting(), (std::vector<std::string>{"a1", "a2", "b1"}));
  // It does not match all of its own terms.
  EXPECT_TRUE(FilterOf(Nodes(), Web("p").PodAffinity("zone", kWeb).PodAffinity("zone", kDb))
                  .Fitting()
                  .empty());
  // A pod in another namespace is not meant.
  nodes = Nodes();
  nodes[2].Pod(Web().Namespace("other"));
  EXPECT_EQ(FilterOf(nodes, pod).Fitting(), (std::vector<std::string>{"a1", "a2", "b1"}));
}

TEST(InterPodAffinity, TerminatingPodsCount) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[2].Pod(Web().DeletedNs(1));
  EXPECT_EQ(FilterOf(nodes, MakePod("p").PodAffinity("zone", kWeb)).Fitting(),
            std::vector<std::string>{"b1"});
  EXPECT_EQ(FilterOf(nodes, MakePod("p").PodAntiAffinity("zone", kWeb)).On("b1"), kAntiAffinity);
  nodes[0].Pod(Db().PodAntiAffinity("zone", kWeb).DeletedNs(1));
  EXPECT_EQ(FilterOf(nodes, Web("p")).On("a2"), kExisting);
}

// ---- Anti-affinity ------------------------------------------------------------------------------

TEST(InterPodAffinity, AntiAffinityRejectsDomainsWithAPod) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web());
  nodes[3].Pod(Web("w"));
  const FilterResult zone = FilterOf(nodes, MakePod("p").PodAntiAffinity("zone", kWeb));
  EXPECT_EQ(zone.Fitting(), (std::vector<std::string>{"b1", "c1"}));
  EXPECT_EQ(zone.On("a2"), kAntiAffinity);
  const FilterResult host = FilterOf(nodes, MakePod("p").PodAntiAffinity("host", kWeb));
  EXPECT_EQ(host.Fitting(), (std::vector<std::string>{"a2", "b1"}));
}

TEST(InterPodAffinity, OneAntiAffinityTermIsEnough) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web());
  nodes[2].Pod(Db());
  const PodSpec pod = MakePod("p").PodAntiAffinity("host", kWeb).PodAntiAffinity("zone", kDb);
  EXPECT_EQ(FilterOf(nodes, pod).Fitting(), (std::vector<std::string>{"a2", "c1"}));
}

TEST(InterPodAffinity, TermsOfPodsOnNodesRejectOtherPods) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PodAntiAffinity("zone", kWeb).SchedulerName("another"));
  const FilterResult result = FilterOf(nodes, Web("p"));
  EXPECT_EQ(result.pre_filter, Success());
  EXPECT_EQ(result.On("a1"), kExisting);
  EXPECT_EQ(result.On("a2"), kExisting);
  EXPECT_EQ(result.On("b1"), Success());
  EXPECT_EQ(result.On("c1"), Success());
  EXPECT_EQ(FilterOf(nodes, Web("p").Namespace("other")).pre_filter, Skip());
}

TEST(InterPodAffinity, ReportsOneReasonInOrderOfTheRules) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web().PodAntiAffinity("zone", {In("app", {"db"})}));
  const PodSpec pod = Db("p").PodAntiAffinity("zone", kWeb);
  EXPECT_EQ(FilterOf(nodes, pod).On("a1"), kAntiAffinity);
  EXPECT_EQ(FilterOf(nodes, PodSpec(pod).PodAffinity("zone", {In("app", {"x"})})).On("a1"),
            kAffinity);
  EXPECT_EQ(FilterOf(nodes, Db("p")).On("a1"), kExisting);
}

// ---- Namespaces ---------------------------------------------------------------------------------

TEST(InterPodAffinity, TermsNameOrSelectNamespaces) {
  const std::vector<ObjectSpec> namespaces = {Namespace("default", "x"), Namespace("n1", "x"),
                                              Namespace("n2", "y")};
  const struct {
    const char* name;
    PodTermSpec term;
    std::vector<std::string> meant;
  } cases[] = {
      {"own namespace", Term(kWeb, {}), {"default"}},
      {"named", Term(kWeb, {"n1", "n2"}), {"n1", "n2"}},
      {"selected", Term(kWeb, {}, Requirements{In("team", {"x"})}), {"default", "n1"}},
      {"named or selected",
       Term(kWeb, {"n2"}, Requirements{In("team", {"x"})}),
       {"default", "n1", "n2"}},
      {"all", Term(kWeb, {}, Requirements{}), {"default", "n1", "n2", "unknown"}},
      {"selected by the absence of a label",
       Term(kWeb, {}, Requirements{NotIn("team", {"y"})}),
       {"default", "n1"}},
  };
  for (const auto& each : cases) {
    for (const std::string ns : {"default", "n1", "n2", "unknown"}) {
      SCOPED_TRACE(std::string(each.name) + ", " + ns);
      const bool meant = std::find(each.meant.begin(), each.meant.end(), ns) != each.meant.end();
      // The term of the pod to schedule.
      std::vector<NodeSpec> nodes = Nodes();
      nodes[0].Pod(Web().Namespace(ns));
      PodSpec pod = MakePod("p");
      pod.required_pod_anti_terms = {each.term};
      EXPECT_EQ(FilterOf(nodes, pod, namespaces).On("a2"), meant ? kAntiAffinity : Success());
      // The term of a pod on a node sees a namespace that does not exist without labels.
      nodes = Nodes();
      nodes[0].Pod(pod);
      const bool by_absence = ns == "unknown" && each.term.namespace_selector.has_value() &&
                              each.name == std::string("selected by the absence of a label");
      EXPECT_EQ(FilterOf(nodes, Web("q").Namespace(ns), namespaces).On("a2"),
                meant || by_absence ? kExisting : Success());
    }
  }
}

// In kube-scheduler 1.36.2 such a term means the pods of every namespace.
TEST(InterPodAffinity, NegativeNamespaceSelectorsExcludeNamespaces) {
  ObjectSpec blue = MakeObject("v1/Namespace", "", "blue");
  blue.labels["name"] = "blue";
  ObjectSpec green = MakeObject("v1/Namespace", "", "green");
  green.labels["name"] = "green";
  green.labels["shared"] = "yes";
  const struct {
    const char* name;
    Requirements selector;
    bool means_blue;
    bool means_green;
  } cases[] = {
      {"NotIn the namespace of the pod", {NotIn("name", {"blue"})}, false, true},
      {"NotIn the other namespace", {NotIn("name", {"green"})}, true, false},
      {"NotIn both", {NotIn("name", {"blue", "green"})}, false, false},
      {"NotIn neither", {NotIn("name", {"red"})}, true, true},
      {"DoesNotExist", {DoesNotExist("shared")}, true, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::string ns : {"blue", "green"}) {
      SCOPED_TRACE(ns);
      const bool means = ns == "blue" ? c.means_blue : c.means_green;
      std::vector<NodeSpec> nodes = Nodes();
      nodes[0].Pod(Web("old").Namespace(ns));
      PodSpec pod = Web("new").Namespace("blue");
      pod.required_pod_anti_terms = {Term({Exists("app")}, {}, c.selector)};
      EXPECT_EQ(FilterOf(nodes, pod, {blue, green}).On("a1"), means ? kAntiAffinity : Success());
    }
  }
}

// ---- Changes of the cluster ---------------------------------------------------------------------

TEST(InterPodAffinity, FollowsPodsNodesAndNamespaces) {
  PluginUnderTest plugin({.nodes = Nodes(), .objects = {Namespace("n1", "x")}});
  PodSpec pod = MakePod("p");
  pod.required_pod_anti_terms = {Term(kWeb, {}, Requirements{In("team", {"x"})})};
  plugin.AddPod(Web().Namespace("n1"), "a1", BERTH_CHANGE_FLAG_ASSUMED);
  EXPECT_EQ(plugin.Filter(pod).On("a2"), kAntiAffinity);
  plugin.PutObject(Namespace("n1", "y"));
  EXPECT_EQ(plugin.Filter(pod).On("a2"), Success());
  plugin.PutObject(Namespace("n1", "x"));
  EXPECT_EQ(plugin.Filter(pod).On("a2"), kAntiAffinity);
  plugin.ChangeNode(MakeNode("a1").Label("zone", "b").Label("host", "a1"));
  EXPECT_EQ(plugin.Filter(pod).On("a2"), Success());
  EXPECT_EQ(plugin.Filter(pod).On("b1"), kAntiAffinity);
  plugin.RemovePod("web", "a1", BERTH_CHANGE_FLAG_FORGOTTEN);
  EXPECT_EQ(plugin.Filter(pod).On("b1"), Success());
  plugin.AddPod(Db().PodAntiAffinity("host", kWeb), "c1");
  EXPECT_EQ(plugin.Filter(Web("q")).On("c1"), kExisting);
  plugin.RemoveNode("c1");
  EXPECT_EQ(plugin.Filter(Web("q")).pre_filter, Skip());
}

// ---- Terms that cannot be parsed ----------------------------------------------------------------

TEST(InterPodAffinity, ReportsTermsThatCannotBeParsed) {
  const auto with = [](const RequirementSpec& requirement) {
    PodTermSpec term{.topology_key = "zone"};
    term.selector = SelectorSpec{.requirements = {requirement}, .invalid = true};
    return term;
  };
  const auto prefixed = [](const std::string& text) {
    return Unresolvable("parsing pod: " + text);
  };
  const std::string no_values =
      "values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty";
  PodSpec pod = MakePod("p");
  pod.required_pod_terms = {with(In("app", {}))};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter, prefixed("requiredAffinityTerms: " + no_values));
  pod = MakePod("p");
  pod.required_pod_anti_terms = {with({"app", BERTH_OP_EXISTS, {"a", "b"}})};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter,
            prefixed("requiredAntiAffinityTerms: values: Invalid value: []string{\"a\", \"b\"}: "
                     "values set must be empty for exists and does not exist"));
  pod.required_pod_anti_terms = {};
  pod.preferred_pod_terms = {with({"app", BERTH_OP_GT, {"1"}})};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter,
            prefixed("preferredAffinityTerms: \"Gt\" is not a valid label selector operator"));
  pod.preferred_pod_anti_terms = {with(In("app", {}))};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter,
            prefixed("[preferredAffinityTerms: \"Gt\" is not a valid label selector operator, "
                     "preferredAntiAffinityTerms: " +
                     no_values + "]"));
  pod.preferred_pod_terms = {with({"app", BERTH_OP_LT, {"1"}})};
  pod.preferred_pod_anti_terms = {};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter,
            prefixed("preferredAffinityTerms: \"Lt\" is not a valid label selector operator"));
  pod.preferred_pod_terms = {with({"app", 0, {}})};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter,
            prefixed("preferredAffinityTerms: the operator for key \"app\" is not a valid label "
                     "selector operator"));
  pod.preferred_pod_terms = {with(In("a b", {"c"}))};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter,
            prefixed("preferredAffinityTerms: a key or value of the label selector is not valid"));
  pod.preferred_pod_terms[0].selector->invalid = false;
  pod.preferred_pod_terms[0].namespace_selector =
      SelectorSpec{.requirements = {In("team", {})}, .invalid = true};
  EXPECT_EQ(FilterOf(Nodes(), pod).pre_filter, prefixed("preferredAffinityTerms: " + no_values));
}

TEST(InterPodAffinity, IgnoresUnparsableTermsOfPodsOnNodes) {
  PodSpec pod = Db().PodAntiAffinity("zone", kWeb);
  PodTermSpec wrong{.topology_key = "zone"};
  wrong.selector = SelectorSpec{.requirements = {In("app", {})}, .invalid = true};
  pod.required_pod_anti_terms.push_back(wrong);
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(pod);
  EXPECT_EQ(FilterOf(nodes, Web("p")).pre_filter, Skip());
}

TEST(InterPodAffinity, FilterNeedsPreFilter) {
  PluginUnderTest plugin({.nodes = Nodes(), .points = {{BERTH_POINT_FILTER}}});
  plugin.Without(Check::kWhatIf);
  const FilterResult result = plugin.Filter(MakePod("p").PodAffinity("zone", kWeb));
  EXPECT_EQ(result.filter.code, BERTH_ERROR);
}

// ---- Score --------------------------------------------------------------------------------------

using Scores = std::map<std::string, int64_t>;

ScoreResult ScoreOf(std::vector<NodeSpec> nodes, const PodSpec& pod, const Args& args = {}) {
  PluginUnderTest plugin({.nodes = std::move(nodes), .args = args});
  return plugin.Score(pod);
}

TEST(InterPodAffinityScore, SkipsAPodThatNoTermConcerns) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(3, "zone", kDb));
  nodes[3].Pod(Db("db2").PreferredPodAffinity(3, "zone", kWeb));  // The node has no zone.
  EXPECT_TRUE(ScoreOf(nodes, Web("p")).skipped);
  EXPECT_TRUE(ScoreOf(Nodes(), MakePod("p").PreferredPodAffinity(3, "zone", kWeb)).skipped)
      << "the term means no pod";
}

TEST(InterPodAffinityScore, SumsUpTheTermsOfThePod) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web()).Pod(Web("web2"));
  nodes[2].Pod(Web("web3")).Pod(Db());
  const PodSpec pod = MakePod("p")
                          .PreferredPodAffinity(10, "zone", kWeb)
                          .PreferredPodAffinity(2, "host", kWeb)
                          .PreferredPodAntiAffinity(5, "zone", kDb);
  const ScoreResult result = ScoreOf(nodes, pod);
  EXPECT_EQ(result.raw, (Scores{{"a1", 24}, {"a2", 20}, {"b1", 7}, {"c1", 0}}));
  EXPECT_EQ(result.normalized, (Scores{{"a1", 100}, {"a2", 83}, {"b1", 29}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, SumsUpTheTermsOfPodsOnNodes) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(10, "zone", kWeb).PodAffinity("host", kWeb));
  nodes[2].Pod(Db("db2").PreferredPodAntiAffinity(7, "zone", kWeb));
  nodes[3].Pod(Db("db3").PodAntiAffinity("host", kWeb));  // Does not count.
  const PodSpec pod = Web("p");
  EXPECT_EQ(ScoreOf(nodes, pod).raw, (Scores{{"a1", 11}, {"a2", 10}, {"b1", -7}, {"c1", 0}}));
  EXPECT_EQ(ScoreOf(nodes, pod, {{"hardPodAffinityWeight", 50}}).raw,
            (Scores{{"a1", 60}, {"a2", 10}, {"b1", -7}, {"c1", 0}}));
  EXPECT_EQ(ScoreOf(nodes, pod, {{"hardPodAffinityWeight", 0}}).raw,
            (Scores{{"a1", 10}, {"a2", 10}, {"b1", -7}, {"c1", 0}}));
  EXPECT_EQ(ScoreOf(nodes, pod).normalized,
            (Scores{{"a1", 100}, {"a2", 94}, {"b1", 0}, {"c1", 38}}));
}

TEST(InterPodAffinityScore, MayIgnoreOthersTermsForTermlessPods) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(10, "zone", kWeb));
  const Args ignore = {{"ignorePreferredTermsOfExistingPods", true}};
  EXPECT_TRUE(ScoreOf(nodes, Web("p"), ignore).skipped);
  EXPECT_TRUE(ScoreOf(nodes, Web("p").PodAffinity("zone", kDb), ignore).skipped);
  EXPECT_EQ(ScoreOf(nodes, Web("p").PreferredPodAntiAffinity(4, "host", kDb), ignore).raw,
            (Scores{{"a1", 6}, {"a2", 10}, {"b1", 0}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, EqualScoresNormaliseToZero) {
  std::vector<NodeSpec> nodes = {MakeNode("a1").Label("zone", "a"),
                                 MakeNode("a2").Label("zone", "a")};
  nodes[0].Pod(Web());
  const ScoreResult result = ScoreOf(nodes, MakePod("p").PreferredPodAffinity(3, "zone", kWeb));
  EXPECT_FALSE(result.skipped);
  EXPECT_EQ(result.raw, (Scores{{"a1", 3}, {"a2", 3}}));
  EXPECT_EQ(result.normalized, (Scores{{"a1", 0}, {"a2", 0}}));
}

TEST(InterPodAffinityScore, WeightsThatCancelOutAreNotSkipped) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Web());
  const ScoreResult result = ScoreOf(
      nodes,
      MakePod("p").PreferredPodAffinity(3, "zone", kWeb).PreferredPodAntiAffinity(3, "zone", kWeb));
  EXPECT_FALSE(result.skipped);
  EXPECT_EQ(result.raw, (Scores{{"a1", 0}, {"a2", 0}, {"b1", 0}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, TermThatAPodHasTwiceCountsTwice) {
  std::vector<NodeSpec> nodes = Nodes();
  nodes[0].Pod(Db().PreferredPodAffinity(3, "zone", kWeb).PreferredPodAffinity(3, "zone", kWeb));
  EXPECT_EQ(ScoreOf(nodes, Web("p")).raw, (Scores{{"a1", 6}, {"a2", 6}, {"b1", 0}, {"c1", 0}}));
}

TEST(InterPodAffinityScore, NormalisesInFloatingPoint) {
  // 100 * (29 / 100) is less than 29 in binary floating point.
  std::vector<NodeSpec> nodes = {MakeNode("a").Label("host", "a").Pod(Web("w1")),
                                 MakeNode("b").Label("host", "b").Pod(Web("w2").Label("x", "1")),
                                 MakeNode("c").Label("host", "c")};
  const ScoreResult result = ScoreOf(nodes, MakePod("p")
                                                .PreferredPodAffinity(29, "host", kWeb)
                                                .PreferredPodAffinity(71, "host", {Exists("x")}));
  EXPECT_EQ(result.raw, (Scores{{"a", 29}, {"b", 100}, {"c", 0}}));
  EXPECT_EQ(result.normalized, (Scores{{"a", 28}, {"b", 100}, {"c", 0}}));
}

TEST(InterPodAffinityScore, TermsThatCannotBeParsedFailTheCycle) {
  PodSpec pod = MakePod("p");
  pod.preferred_pod_terms = {
      {.topology_key = "zone", .selector = SelectorSpec{{In("app", {})}, true}, .weight = 1}};
  PluginUnderTest plugin(
      {.nodes = Nodes(), .points = {{BERTH_POINT_PRE_SCORE, BERTH_POINT_SCORE}}});
  EXPECT_EQ(plugin.Score(pod).pre_score,
            Error("failed to parse pod: preferredAffinityTerms: values: Invalid value: "
                  "[]string{}: for 'in', 'notin' operators, values set can't be empty"));
}

}  // namespace
}  // namespace berth::testing
