#include "host/config/convert/convert_profile.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/config/convert/kube_plan.h"

namespace berth::host {
namespace {

const std::string kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

// All default plugins of kube-scheduler except those that Berth lacks, and one of a third party.
KnownPlugins Here() {
  KnownPlugins known;
  for (const UpstreamPlugin& plugin : UpstreamPlugins(kNewestKubeVersion)) {
    const std::string_view name = plugin.name;
    const bool lacks = name == "VolumeBinding" || name == "PodTopologySpread" ||
                       name == "InterPodAffinity" || name == "DynamicResources" ||
                       name == "DefaultPreemption";
    if (plugin.is_default && !lacks) known[std::string(name)].points = plugin.Points();
  }
  known["ImageLocality"].points = {"PreScore", "Score"};
  known["NodeUnschedulable"].points = {"Filter"};
  known["TaintToleration"].points = {"Filter", "PreScore", "Score"};
  known["acme.Rack"].points = {"Filter", "Score", "PostBind"};
  known["NodeResourcesFit"].args_schema = {
      {"properties", {{"limit", {{"type", "integer"}, {"maximum", 5}}}}}};
  return known;
}

struct ConvertOutcome {
  std::vector<ConvertedProfile> profiles;
  std::string errors;
  std::string warnings;
};

ConvertOutcome Convert(const std::string& body, KubeVersion version = kNewestKubeVersion) {
  ConfigErrors errors;
  ConfigErrors warnings;
  ConvertOutcome outcome;
  const auto config = ReadKubeConfig(kHead + body, "k.yaml", errors, warnings);
  if (config.has_value())
    outcome.profiles = ConvertKubeConfig(*config, Here(), version, errors, warnings);
  outcome.errors = errors.ToStatus().message();
  outcome.warnings = warnings.ToStatus().message();
  return outcome;
}

// Returns what kube-scheduler runs at `point`, as "A B=3"; the weight is given for Score only.
std::string PlanAt(const std::string& plugins, std::string_view point,
                   KubeVersion version = kNewestKubeVersion) {
  ConfigErrors errors;
  ConfigErrors warnings;
  const auto config =
      ReadKubeConfig(kHead + "profiles:\n- plugins: " + plugins + "\n", "k.yaml", errors, warnings);
  std::string text;
  const KubePlan plan = MakeKubePlan(config->profiles.at(0), Here(), version, errors);
  EXPECT_EQ(errors.ToStatus().message(), "") << plugins;
  for (const KubePlan::Use& use : plan.At(point)) {
    text += (text.empty() ? "" : " ") + use.plugin;
    if (point == "Score") text += "=" + std::to_string(use.weight);
  }
  return text;
}

TEST(MakeKubePlan, FollowsTheRulesOfKubeScheduler) {
  const std::string only = "multiPoint: {disabled: [{name: '*'}], enabled: ";
  struct Row {
    std::string plugins;
    const char* point;
    const char* expected;
  };
  const Row rows[] = {
      // The defaults.
      {"{}", "QueueSort", "PrioritySort"},
      {"{}", "Bind", "DefaultBinder"},
      {"{}", "Permit", ""},
      {"{}", "Score",
       "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 "
       "InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1"},
      {"{}", "PostFilter", "DynamicResources DefaultPreemption"},
      // multiPoint: a default keeps its position, with the weight of the entry, or none.
      {"{multiPoint: {disabled: [{name: VolumeBinding}, {name: NodeResourcesFit}], enabled: "
       "[{name: ImageLocality, weight: 9}, {name: TaintToleration}]}}",
       "Score",
       "TaintToleration=1 NodeAffinity=2 PodTopologySpread=2 InterPodAffinity=2 "
       "DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=9"},
      // A default that is disabled and enabled moves to the end.
      {"{multiPoint: {disabled: [{name: NodeName}], enabled: [{name: NodeName}]}}", "Filter",
       "NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
       "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
       "InterPodAffinity DynamicResources NodeDeclaredFeatures NodeName"},
      // Only enabled plugins.
      {"{" + only + "[{name: acme.Rack, weight: 4}, {name: NodeName}]}}", "Filter",
       "acme.Rack NodeName"},
      {"{" + only + "[{name: acme.Rack, weight: 4}, {name: NodeName}]}}", "Score", "acme.Rack=4"},
      // The order at a point: first the plugins that both the point and multiPoint enable, then the
      // other plugins of multiPoint, then the other plugins of the point.
      {"{" + only +
           "[{name: NodeName}, {name: NodePorts}]}, filter: {enabled: [{name: acme.Rack}, "
           "{name: NodePorts}]}}",
       "Filter", "NodePorts NodeName acme.Rack"},
      // Plugins that the point disables.
      {"{" + only +
           "[{name: NodeName}, {name: NodePorts}]}, filter: {disabled: [{name: NodeName}]}}",
       "Filter", "NodePorts"},
      {"{" + only + "[{name: NodeName}]}, filter: {disabled: [{name: '*'}]}}", "Filter", ""},
      {"{" + only +
           "[{name: NodeName}, {name: NodePorts}]}, filter: {disabled: [{name: '*'}], enabled: "
           "[{name: acme.Rack}, {name: NodePorts}]}}",
       "Filter", "acme.Rack NodePorts"},
      // Disabled and enabled at one point: as if only the point enabled the plugin.
      {"{" + only +
           "[{name: NodePorts}, {name: NodeName}]}, filter: {disabled: [{name: NodePorts}], "
           "enabled: [{name: NodePorts}]}}",
       "Filter", "NodeName NodePorts"},
      // The entry at the point determines the weight, even if it sets none.
      {"{" + only +
           "[{name: TaintToleration, weight: 7}, {name: NodeAffinity, weight: 0}]}, score: "
           "{enabled: [{name: TaintToleration}]}}",
       "Score", "TaintToleration=1 NodeAffinity=1"},
      {"{" + only +
           "[{name: TaintToleration, weight: 7}]}, score: {enabled: [{name: TaintToleration, "
           "weight: 13}, {name: ImageLocality, weight: 2147483647}]}}",
       "Score", "TaintToleration=13 ImageLocality=2147483647"},
      // An unknown plugin runs only at the points that name it.
      {"{" + only + "[{name: NodeName}, {name: who.Knows}]}}", "Filter", "NodeName"},
      {"{" + only +
           "[{name: NodeName}, {name: who.Knows}]}, filter: {enabled: [{name: who.Knows}]}}",
       "Filter", "who.Knows NodeName"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(PlanAt(row.plugins, row.point), row.expected) << row.plugins;
  }
}

constexpr const char* kSmall =
    "profiles:\n"
    "- schedulerName: small\n"
    "  plugins:\n"
    "    multiPoint:\n"
    "      disabled: [{name: '*'}]\n"
    "      enabled:\n"
    "      - name: PrioritySort\n"
    "      - name: NodeName\n"
    "      - name: PodTopologySpread\n"
    "      - name: NodeAfinity\n"
    "      - name: ImageLocality\n"
    "        weight: 2\n"
    "      - name: DefaultBinder\n"
    "    filter: {disabled: [{name: NodeName}], enabled: [{name: acme.Rack}, {name: "
    "TaintToleration}]}\n"
    "  pluginConfig:\n"
    "  - name: acme.Rack\n"
    "    args: {racks: [a, b]}\n"
    "  - name: PodTopologySpread\n"
    "    args: {defaultingType: List}\n"
    "  - name: NodeResourcesFit\n"
    "    args: {limit: 5}\n";

TEST(ConvertKubeConfig, WritesCompleteProfileAndWarnsOfUnavailablePlugins) {
  const ConvertOutcome outcome = Convert(kSmall);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(
      outcome.warnings,
      "k.yaml:11: profiles[0].plugins.multiPoint.enabled[2]: plugin \"PodTopologySpread\" is not "
      "available yet: it is written as a comment in the profile\n"
      "k.yaml:12: profiles[0].plugins.multiPoint.enabled[3]: there is no plugin \"NodeAfinity\": "
      "it is written as a comment in the profile; did you mean NodeAffinity?\n"
      "k.yaml:20: profiles[0].pluginConfig[1]: plugin \"PodTopologySpread\" is not available yet: "
      "its arguments are not checked, and are written as a comment in the profile");
  ASSERT_EQ(outcome.profiles.size(), 1U);
  EXPECT_EQ(WriteConverted(outcome.profiles[0], "k.yaml, profiles[0]", kNewestKubeVersion),
            R"(# Converted from k.yaml, profiles[0], with the defaults of kube-scheduler 1.37.
# Plugins that are written as comments are not available: Berth schedules without them.
schedulerName = "small"

[[plugins]]
name = "PrioritySort"

[[plugins]]
name = "NodeName"
points = ["PreFilter"]

# [[plugins]]
# name = "PodTopologySpread"
# weight = 1
# [plugins.args]
# defaultingType = "List"

# [[plugins]]
# name = "NodeAfinity"

[[plugins]]
name = "ImageLocality"
weight = 2

[[plugins]]
name = "DefaultBinder"

[[plugins]]
name = "acme.Rack"
points = ["Filter"]
[plugins.args]
racks = ["a", "b"]

[[plugins]]
name = "TaintToleration"
points = ["Filter"]

[[plugins]]
name = "NodeResourcesFit"
enabled = false
[plugins.args]
limit = 5
)");
}

std::string PointsOf(const ConvertOutcome& outcome, const std::string& name) {
  const ProfilePlugin* plugin = outcome.profiles.at(0).profile.Find(name);
  if (plugin == nullptr) return "none";
  if (!plugin->is_enabled()) return "off";
  if (!plugin->points.has_value()) return "all";
  std::vector<std::string> names;
  for (const auto& point : *plugin->points) names.push_back(point.value);
  return Join(names, " ");
}

TEST(ConvertKubeConfig, PluginsAtScoreAlsoRunAtPreScore) {
  const ConvertOutcome scores = Convert(
      "profiles: [{plugins: {preScore: {disabled: [{name: NodeAffinity}]}, score: {disabled: "
      "[{name: TaintToleration}]}}}]");
  EXPECT_EQ(PointsOf(scores, "ImageLocality"), "all");
  EXPECT_EQ(PointsOf(scores, "NodeAffinity"), "all");
  EXPECT_EQ(PointsOf(scores, "TaintToleration"), "Filter PreScore");
  EXPECT_EQ(scores.warnings.substr(0, scores.warnings.find('\n')),
            "k.yaml:3: profiles[0].plugins.preScore: PreScore of \"NodeAffinity\" is kept: Score "
            "of the plugin requires it in Berth");
  const ConvertOutcome none = Convert("profiles: [{plugins: {score: {disabled: [{name: '*'}]}}}]");
  EXPECT_EQ(PointsOf(none, "ImageLocality"), "off");
  EXPECT_EQ(PointsOf(none, "NodeAffinity"), "PreFilter Filter PreScore");
}

TEST(ConvertKubeConfig, AddsAPreFilterThatFilterRequires) {
  const ConvertOutcome outcome = Convert(
      "profiles: [{plugins: {preFilter: {disabled: [{name: '*'}]}, filter: {disabled: "
      "[{name: VolumeZone}]}}}]");
  EXPECT_EQ(PointsOf(outcome, "NodeVolumeLimits"), "all");
  EXPECT_EQ(PointsOf(outcome, "VolumeZone"), "off");
  EXPECT_EQ(PointsOf(outcome, "NodePorts"), "Filter")
      << "its Filter fails without PreFilter in kube-scheduler too";
  EXPECT_EQ(outcome.warnings.substr(0, outcome.warnings.find('\n')),
            "k.yaml:3: profiles[0].plugins.preFilter: PreFilter of \"NodeVolumeLimits\" is kept: "
            "Filter of the plugin requires it in Berth");
}

TEST(ConvertKubeConfig, OrderListsOnlyMovedPlugins) {
  const ConvertOutcome outcome = Convert(
      "profiles: [{plugins: {filter: {enabled: [{name: NodePorts}, {name: NodeUnschedulable}]}, "
      "score: "
      "{enabled: [{name: ImageLocality}]}}}]");
  EXPECT_EQ(outcome.errors, "");
  const auto& order = outcome.profiles.at(0).profile.order;
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0].point.value, "Filter");
  ASSERT_EQ(order[0].plugins.size(), 2U);
  EXPECT_EQ(order[0].plugins[0].value, "NodePorts");
  EXPECT_EQ(order[0].plugins[1].value, "NodeUnschedulable");
  EXPECT_EQ(order[1].point.value, "Score");
  ASSERT_EQ(order[1].plugins.size(), 1U);
  EXPECT_EQ(order[1].plugins[0].value, "ImageLocality");
  EXPECT_TRUE(Convert("").profiles.at(0).profile.order.empty());
}

TEST(ConvertKubeConfig, ReportsErrorsOfKubeScheduler) {
  struct Row {
    const char* profiles;
    const char* expected;
  };
  const Row rows[] = {
      {"[{plugins: {score: {enabled: [{name: NodeName}]}}}]",
       "k.yaml:3: profiles[0].plugins.score.enabled[0].name: expected a plugin that runs at Score, "
       "found \"NodeName\", which runs at PreFilter, Filter"},
      {"[{plugins: {preScore: {enabled: [{name: ImageLocality}]}}}]",
       "k.yaml:3: profiles[0].plugins.preScore.enabled[0].name: expected a plugin that runs at "
       "PreScore, found \"ImageLocality\", which runs at Score"},
      {"[{plugins: {queueSort: {disabled: [{name: '*'}]}, bind: {disabled: [{name: '*'}]}}}]",
       "k.yaml:3: profiles[0].plugins: expected exactly one plugin that sorts the queue, found "
       "none with queueSort\n"
       "k.yaml:3: profiles[0].plugins: expected at least one plugin that binds pods, found none "
       "with bind"},
      {"[{plugins: {queueSort: {enabled: [{name: who.Sorts}]}}}]",
       "k.yaml:3: profiles[0].plugins: expected exactly one plugin that sorts the queue, found "
       "PrioritySort, who.Sorts"},
      {"[{pluginConfig: [{name: NodeResourcesFit, args: {limit: 6}}]}]",
       "k.yaml:3: profiles[0].pluginConfig[0].args.limit: expected a whole number of at most 5, "
       "found 6"},
      {"[{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {disabled: [{name: '*'}], "
       "enabled: [{name: who.Sorts}]}}}]",
       "k.yaml:3: profiles[1].plugins.queueSort: expected \"PrioritySort\", as in profiles[0], "
       "because all profiles share one queue, found \"who.Sorts\""},
      {"[{schedulerName: a}, {schedulerName: b, pluginConfig: [{name: PrioritySort, args: {x: "
       "1}}]}]",
       "k.yaml:3: profiles[1].pluginConfig: expected the arguments of \"PrioritySort\", as in "
       "profiles[0], because all profiles share one queue, found different arguments"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Convert(std::string("profiles: ") + row.profiles).errors, row.expected);
  }
}

// 1.36 has another order, and no PreFilter of NodeName, NodeUnschedulable and TaintToleration.
TEST(ConvertKubeConfig, DependsOnTheVersion) {
  constexpr KubeVersion k1_36{.major = 1, .minor = 36};
  EXPECT_TRUE(PlanAt("{}", "Filter").starts_with("NodeName NodeUnschedulable TaintToleration "));
  EXPECT_TRUE(
      PlanAt("{}", "Filter", k1_36).starts_with("NodeUnschedulable NodeName TaintToleration "));
  EXPECT_TRUE(PlanAt("{}", "PreFilter").starts_with("NodeName NodeUnschedulable "));
  EXPECT_TRUE(PlanAt("{}", "PreFilter", k1_36).starts_with("NodeAffinity "));

  const std::string no_filter = "profiles: [{plugins: {filter: {disabled: [{name: NodeName}]}}}]";
  EXPECT_EQ(PointsOf(Convert(no_filter), "NodeName"), "PreFilter");
  EXPECT_EQ(PointsOf(Convert(no_filter, k1_36), "NodeName"), "off");
  EXPECT_EQ(PointsOf(Convert("", k1_36), "NodeName"), "Filter");

  const std::string pre_filter =
      "profiles: [{plugins: {preFilter: {enabled: [{name: NodeUnschedulable}]}}}]";
  EXPECT_EQ(Convert(pre_filter).errors, "");
  EXPECT_EQ(Convert(pre_filter, k1_36).errors,
            "k.yaml:3: profiles[0].plugins.preFilter.enabled[0].name: expected a plugin that runs "
            "at PreFilter, found \"NodeUnschedulable\", which runs at Filter");
  EXPECT_TRUE(
      WriteConverted(Convert("", k1_36).profiles[0], "k.yaml", k1_36)
          .starts_with("# Converted from k.yaml, with the defaults of kube-scheduler 1.36.\n"
                       "# Set emulatedVersion = \"1.36\" in the host file.\n"));
  EXPECT_NE(FindUpstreamPlugin("DeferredPodScheduling", kNewestKubeVersion), nullptr);
  EXPECT_EQ(FindUpstreamPlugin("DeferredPodScheduling", k1_36), nullptr);
}

// Plugins of kube-scheduler behind feature gates are known, even if they run at no point of
// Berth.
TEST(ConvertKubeConfig, KnowsPluginsBehindFeatureGates) {
  const ConvertOutcome outcome = Convert(
      "profiles:\n- plugins:\n    multiPoint:\n      disabled: [{name: '*'}]\n      enabled:\n"
      "      - name: PrioritySort\n      - name: DefaultBinder\n      - name: GangScheduling\n"
      "      - name: TopologyPlacementGenerator\n      - name: PodGroupPodsCount\n"
      "      - name: DeferredPodScheduling\n"
      "  pluginConfig: [{name: DynamicResources, args: {}}]\n");
  EXPECT_EQ(outcome.errors, "");
  const std::string at = ": profiles[0].plugins.multiPoint.enabled[";
  const std::string comment = ": it is written as a comment in the profile\n";
  EXPECT_EQ(
      outcome.warnings,
      "k.yaml:10" + at + "2]: plugin \"GangScheduling\" is not available yet" + comment +
          "k.yaml:11" + at + "3]: plugin \"TopologyPlacementGenerator\" is not available yet" +
          comment + "k.yaml:12" + at + "4]: plugin \"PodGroupPodsCount\" is not available yet" +
          comment + "k.yaml:13" + at + "5]: plugin \"DeferredPodScheduling\" is not available yet" +
          comment +
          "k.yaml:14: profiles[0].pluginConfig[0]: plugin \"DynamicResources\" is not available "
          "yet: its arguments are not checked, and are written as a comment in the profile");
  EXPECT_EQ(
      Convert("profiles: [{plugins: {filter: {enabled: [{name: PodGroupPodsCount}]}}}]").errors,
      "k.yaml:3: profiles[0].plugins.filter.enabled[0].name: expected a plugin that runs at "
      "Filter, found \"PodGroupPodsCount\", which runs at no extension point of Berth");
}

TEST(ConvertKubeConfig, WarnsOfUnknownNamesUnderDisabled) {
  const auto warnings = [](const std::string& plugins) {
    const ConvertOutcome outcome = Convert("profiles:\n- plugins:\n" + plugins);
    EXPECT_EQ(outcome.errors, "");
    const size_t defaults = outcome.warnings.find("k.yaml:4: profiles[0].plugins: these default");
    const size_t end =
        defaults == std::string::npos ? defaults : outcome.warnings.find('\n', defaults);
    return end == std::string::npos ? outcome.warnings.substr(0, defaults)
                                    : outcome.warnings.substr(end + 1);
  };
  struct Row {
    const char* what;
    std::string plugins;
    std::string expected;
  };
  const std::string at = "k.yaml:5: profiles[0].plugins.";
  const Row rows[] = {
      {"a mistyped name in multiPoint", "    multiPoint: {disabled: [{name: NodeResourceFit}]}\n",
       at + "multiPoint.disabled[0]: there is no plugin \"NodeResourceFit\": nothing is disabled; "
            "did you mean NodeResourcesFit?"},
      {"at a point, of a plugin that is not available",
       "    score: {disabled: [{name: NodeAffinity}, {name: PodTopologySpred}]}\n",
       at + "score.disabled[1]: there is no plugin \"PodTopologySpred\": nothing is disabled; did "
            "you mean PodTopologySpread?"},
      {"of a plugin of a third party", "    filter: {disabled: [{name: acme.Rak}]}\n",
       at +
           "filter.disabled[0]: there is no plugin \"acme.Rak\": nothing is disabled; did you mean "
           "acme.Rack?"},
      {"a name that is like no other", "    filter: {disabled: [{name: Other}]}\n",
       at + "filter.disabled[0]: there is no plugin \"Other\": nothing is disabled"},
      {"known names and all names",
       "    filter: {disabled: [{name: NodeName}, {name: acme.Rack}, {name: GangScheduling}]}\n"
       "    score: {disabled: [{name: '*'}]}\n",
       ""},
  };
  for (const Row& row : rows) EXPECT_EQ(warnings(row.plugins), row.expected) << row.what;
  EXPECT_EQ(warnings("    multiPoint: {enabled: [{name: who.All}]}\n"
                     "    filter: {disabled: [{name: who.All}]}\n"),
            at +
                "multiPoint.enabled[0]: there is no plugin \"who.All\": it is written as a comment "
                "in the profile")
      << "a plugin that is not installed here";
}

TEST(ConvertKubeConfig, WarnsOfDefaultsAndOfUnusableProfiles) {
  EXPECT_EQ(Convert("").warnings,
            "k.yaml: profiles[0].plugins: these default plugins of kube-scheduler are not "
            "available yet and are written as comments in the profile: VolumeBinding, "
            "PodTopologySpread, InterPodAffinity, DynamicResources, DefaultPreemption");
  const ConvertOutcome outcome = Convert(
      "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: who.All}]}}}]");
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.warnings,
            "k.yaml:3: profiles[0].plugins.multiPoint.enabled[0]: there is no plugin \"who.All\": "
            "it is written as a comment in the profile\n"
            "k.yaml:3: profiles[0].plugins: no available plugin sorts the queue: the profile "
            "cannot be used as it is\n"
            "k.yaml:3: profiles[0].plugins: no available plugin binds pods: the profile cannot be "
            "used as it is");
}

}  // namespace
}  // namespace berth::host
