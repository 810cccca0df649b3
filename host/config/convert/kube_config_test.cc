#include "host/config/convert/kube_config.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

const std::string kConfigHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

struct ReadOutcome {
  std::optional<KubeSchedulerConfig> config;
  std::string errors;
  std::string warnings;
};

ReadOutcome ReadConfig(const std::string& text) {
  ConfigErrors errors;
  ConfigErrors warnings;
  ReadOutcome outcome;
  outcome.config = ReadKubeConfig(text, "k.yaml", errors, warnings);
  outcome.errors = errors.ToStatus().message();
  outcome.warnings = warnings.ToStatus().message();
  return outcome;
}

std::string KubeConfigErrors(const std::string& body) {
  return ReadConfig(kConfigHead + body).errors;
}
std::string WarningsOf(const std::string& body) {
  const ReadOutcome outcome = ReadConfig(kConfigHead + body);
  EXPECT_EQ(outcome.errors, "");
  return outcome.warnings;
}

TEST(ReadKubeConfig, WithoutProfilesThereIsADefaultProfile) {
  for (const char* body : {"", "profiles: []\n", "profiles:\n", "profiles: [{}]\n",
                           "profiles: [{schedulerName: null}]\n"}) {
    const ReadOutcome outcome = ReadConfig(kConfigHead + body);
    EXPECT_EQ(outcome.errors + outcome.warnings, "") << body;
    ASSERT_EQ(outcome.config->profiles.size(), 1U);
    EXPECT_EQ(outcome.config->profiles[0].scheduler_name.value, "default-scheduler");
  }
}

TEST(ReadKubeConfig, ReadsYamlAndJson) {
  const std::string yaml =
      kConfigHead +
      "profiles:\n"
      "- schedulerName: a\n"
      "  plugins:\n"
      "    multiPoint: {enabled: [{name: X, weight: 3}], disabled: [{name: '*'}]}\n"
      "    preFilter:\n"
      "      enabled:\n"
      "      - name: Z\n"
      "  pluginConfig:\n"
      "  - name: Z\n"
      "    args: {limit: 5, unset: null}\n";
  const std::string json =
      "{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n"
      "\"kind\": \"KubeSchedulerConfiguration\", \"profiles\": [\n"
      "{\"schedulerName\": \"a\",\n"
      " \"plugins\": {\n"
      "\t\"multiPoint\": {\"enabled\": [{\"name\": \"X\", \"weight\": 3}],\n"
      "   \"disabled\": [{\"name\": \"*\"}]},\n"
      "  \"preFilter\": {\"enabled\": [\n"
      "     {\"name\": \"Z\"}]}},\n"
      " \"pluginConfig\": [{\"name\": \"Z\",\n"
      "  \"args\": {\"limit\":\n5,\n\"unset\": null}}]}]}";
  for (const auto& [text, line] : {std::pair(yaml, 9U), std::pair(json, 8U)}) {
    const ReadOutcome outcome = ReadConfig(text);
    EXPECT_EQ(outcome.errors + outcome.warnings, "");
    const KubeSchedulerProfile& profile = outcome.config->profiles.at(0);
    EXPECT_EQ(profile.scheduler_name.value, "a");
    EXPECT_EQ(profile.multi_point.enabled.at(0).name.value, "X");
    EXPECT_EQ(profile.multi_point.enabled.at(0).weight->value, 3);
    EXPECT_TRUE(profile.multi_point.Disables("*"));
    const KubePluginEntry& entry = profile.At("PreFilter").enabled.at(0);
    EXPECT_EQ(entry.name.value, "Z");
    EXPECT_EQ(entry.name.place.ToString(), "k.yaml:" + std::to_string(line));
    EXPECT_EQ(entry.path, "profiles[0].plugins.preFilter.enabled[0]");
    EXPECT_EQ(profile.FindArgs("Z")->args.value, nlohmann::json({{"limit", 5}}));
  }
}

TEST(ReadKubeConfig, RejectsOtherKindsAndVersions) {
  EXPECT_EQ(ReadConfig("").errors, "k.yaml: expected one document, found none");
  EXPECT_EQ(ReadConfig("[]").errors, "k.yaml: expected an object, found something else");
  EXPECT_EQ(ReadConfig("a: b").errors,
            "k.yaml:1: kind: expected KubeSchedulerConfiguration, found none");
  EXPECT_EQ(ReadConfig("\nkind: ConfigMap").errors,
            "k.yaml:2: kind: expected KubeSchedulerConfiguration, found \"ConfigMap\"");
  EXPECT_EQ(ReadConfig("kind: KubeSchedulerConfiguration\napiVersion: v1").errors,
            "k.yaml:2: apiVersion: expected kubescheduler.config.k8s.io/v1, found \"v1\"");
  EXPECT_EQ(ReadConfig("kind: KubeSchedulerConfiguration\n"
                       "apiVersion: kubescheduler.config.k8s.io/v1beta3\nprofiles: 5")
                .errors,
            "k.yaml:2: apiVersion: expected kubescheduler.config.k8s.io/v1, found "
            "\"kubescheduler.config.k8s.io/v1beta3\", which kube-scheduler no longer supports: "
            "convert the file to v1 first, and note that its defaults differ");
  EXPECT_EQ(ReadConfig(kConfigHead + "---\n" + kConfigHead).errors,
            "k.yaml:4: expected one document, found several");
}

TEST(ReadKubeConfig, ReportsTheLineOfASyntaxError) {
  EXPECT_EQ(KubeConfigErrors("profiles: []\nprofiles: []\n").substr(0, 18), "k.yaml:4: not YAML");
  EXPECT_EQ(ReadConfig("{\"a\": 1,\n\"b\" 2}").errors.substr(0, 18), "k.yaml:2: not JSON");
  EXPECT_EQ(ReadConfig("{\"a\": 1,\n\"x\": {\"a\": 2,\n\"a\": 3}}").errors,
            "k.yaml:3: expected each key once, found \"a\" twice in one object");
  std::string deep = "{\"a\":0}";
  for (int i = 0; i < 24; ++i) deep = "{\"a\":" + deep + "}";
  EXPECT_EQ(ReadConfig(deep).errors,
            "k.yaml: expected at most 24 nested arrays and objects, found more");
  EXPECT_EQ(ReadConfig("a: 18446744073709551615").errors,
            "k.yaml:1: a: expected a whole number of 64 bits, found 18446744073709551615");
  EXPECT_EQ(ReadConfig("a: [1, null]").errors,
            "k.yaml:1: a[1]: expected a value, found null within an array");
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string last(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += (i == 0 ? "*" : ", *") + last;
    bomb += "]\n";
  }
  EXPECT_EQ(ReadConfig(bomb).errors.substr(0, 7), "k.yaml:");
  EXPECT_EQ(ReadConfig(std::string((1U << 20U) + 1, ' ')).errors,
            "k.yaml: expected a file of at most 1048576 bytes, found more");
}

TEST(ReadKubeConfig, ReportsAllErrors) {
  EXPECT_EQ(
      KubeConfigErrors(
          "paralelism: 16\n"
          "parallelism: 0\n"
          "percentageOfNodesToScore: 101\n"
          "podInitialBackoffSeconds: 20\n"
          "profiles:\n"
          "- plugins:\n"
          "    score:\n"
          "      enabled: [{name: A}, {name: A}, {weight: 1}, {name: B, weight: -1}, C]\n"
          "      enable: []\n"
          "    filter: {enabled: [{name: '*'}, {name: EBSLimits}]}\n"
          "    filters: {}\n"
          "- schedulerName: 5\n"
          "  pluginConfig:\n"
          "  - name: NodeAffinity\n"
          "    args: {kind: FitArgs, apiVersion: kubescheduler.config.k8s.io/v1beta3}\n"
          "  - name: NodeAffinity\n"
          "  - args: []\n"
          "- schedulerName: x\n"
          "- schedulerName: x\n"
          "- 7\n"),
      "k.yaml:3: paralelism: expected a known key, found \"paralelism\"; did you mean "
      "parallelism?\n"
      "k.yaml:4: parallelism: expected a whole number from 1 to 2147483647, found 0\n"
      "k.yaml:5: percentageOfNodesToScore: expected a whole number from 0 to 100, found 101\n"
      "k.yaml:6: podInitialBackoffSeconds: expected at most podMaxBackoffSeconds, 10 by default, "
      "found 20\n"
      "k.yaml:8: profiles[0].schedulerName: expected a name, because there are several profiles, "
      "found none\n"
      "k.yaml:10: profiles[0].plugins.score.enabled[1].name: expected unique plugin names, found "
      "\"A\" twice\n"
      "k.yaml:10: profiles[0].plugins.score.enabled[2].name: expected the name of a plugin, found "
      "none\n"
      "k.yaml:10: profiles[0].plugins.score.enabled[3].weight: expected a whole number from 0 to "
      "2147483647, found -1\n"
      "k.yaml:10: profiles[0].plugins.score.enabled[4]: expected a plugin, as {name: NodeName}, "
      "found \"C\"\n"
      "k.yaml:11: profiles[0].plugins.score.enable: expected a known key, found \"enable\"; did "
      "you mean enabled?\n"
      "k.yaml:12: profiles[0].plugins.filter.enabled[0].name: expected the name of a plugin, found "
      "\"*\", which only `disabled` accepts\n"
      "k.yaml:12: profiles[0].plugins.filter.enabled[1].name: expected a plugin of this version, "
      "found \"EBSLimits\", which NodeVolumeLimits replaces\n"
      "k.yaml:13: profiles[0].plugins.filters: expected a known key, found \"filters\"; did you "
      "mean filter?\n"
      "k.yaml:14: profiles[1].schedulerName: expected the name of a scheduler, found 5\n"
      "k.yaml:17: profiles[1].pluginConfig[0].args.apiVersion: expected "
      "\"kubescheduler.config.k8s.io/v1\", found \"kubescheduler.config.k8s.io/v1beta3\"\n"
      "k.yaml:17: profiles[1].pluginConfig[0].args.kind: expected \"NodeAffinityArgs\", found "
      "\"FitArgs\"\n"
      "k.yaml:18: profiles[1].pluginConfig[1].name: expected unique plugin names, found "
      "\"NodeAffinity\" twice\n"
      "k.yaml:19: profiles[1].pluginConfig[2].args: expected a table, found an empty array\n"
      "k.yaml:19: profiles[1].pluginConfig[2].name: expected the name of a plugin, found none\n"
      "k.yaml:21: profiles[3].schedulerName: expected a unique name for each profile, found \"x\" "
      "as in profiles[2]\n"
      "k.yaml:22: profiles[4]: expected a profile, found 7");
}

TEST(ReadKubeConfig, RejectsKeysOfOlderVersions) {
  for (const std::string key : {"metricsBindAddress", "healthzBindAddress"}) {
    const std::string errors = KubeConfigErrors(key + ": ':10251'\n");
    EXPECT_EQ(errors.find("k.yaml:3: " + key + ": expected one of apiVersion, "), 0U) << errors;
  }
}

TEST(ReadKubeConfig, ErrorsNameTheElementsOfArrays) {
  EXPECT_EQ(KubeConfigErrors("profiles: {}\nextenders: {}\n"),
            "k.yaml:3: profiles: expected an array of profiles, found a table\n"
            "k.yaml:4: extenders: expected an array of extenders, found a table");
  EXPECT_EQ(KubeConfigErrors("profiles:\n"
                             "- pluginConfig: {}\n"
                             "  plugins: {filter: {enabled: {}}}\n"),
            "k.yaml:4: profiles[0].pluginConfig: expected an array of arguments of plugins, found "
            "a table\n"
            "k.yaml:5: profiles[0].plugins.filter.enabled: expected an array of plugins, found a "
            "table");
}

TEST(ReadKubeConfig, ComparesValidBackoffs) {
  EXPECT_EQ(KubeConfigErrors("podInitialBackoffSeconds: 20\npodMaxBackoffSeconds: x\n"),
            "k.yaml:4: podMaxBackoffSeconds: expected a whole number from 1 to 31536000, found "
            "\"x\"");
  EXPECT_EQ(KubeConfigErrors("podInitialBackoffSeconds: 11\n"),
            "k.yaml:3: podInitialBackoffSeconds: expected at most podMaxBackoffSeconds, 10 by "
            "default, found 11");
  EXPECT_EQ(KubeConfigErrors("podInitialBackoffSeconds: 10\n"), "");
}

TEST(ReadKubeConfig, RejectsInvalidSchedulerNames) {
  EXPECT_EQ(KubeConfigErrors("profiles: [{schedulerName: ''}]\n"),
            "k.yaml:3: profiles[0].schedulerName: expected the name of a scheduler, without spaces "
            "and control characters, found \"\"");
  EXPECT_EQ(KubeConfigErrors("profiles: [{schedulerName: my scheduler}]\n"),
            "k.yaml:3: profiles[0].schedulerName: expected the name of a scheduler, without spaces "
            "and control characters, found \"my scheduler\"");
}

TEST(ReadKubeConfig, WarnsOfIgnoredKeys) {
  EXPECT_EQ(WarningsOf("parallelism: 16\n"
                       "percentageOfNodesToScore: 50\n"
                       "podInitialBackoffSeconds: 2\n"
                       "leaderElection: {leaderElect: true}\n"
                       "clientConnection: {qps: 50}\n"
                       "extenders: [{urlPrefix: x}]\n"
                       "delayCacheUntilActive: true\n"
                       "profiles:\n"
                       "- percentageOfNodesToScore: 5\n"
                       "  plugins:\n"
                       "    placementScore: {enabled: [{name: PodGroupPodsCount}]}\n"),
            "k.yaml:3: parallelism: ignored: this version schedules on one thread\n"
            "k.yaml:4: percentageOfNodesToScore: ignored: every node is evaluated\n"
            "k.yaml:5: podInitialBackoffSeconds: not part of a profile: set "
            "podInitialBackoffSeconds = 2 in the host file, berth.toml\n"
            "k.yaml:6: leaderElection: not part of a profile: set its keys in [leaderElection] of "
            "the host file, berth.toml\n"
            "k.yaml:7: clientConnection: not part of a profile: set its keys in [clientConnection] "
            "of the host file, berth.toml\n"
            "k.yaml:8: extenders[0]: ignored: extenders are not supported; use a plugin instead\n"
            "k.yaml:9: delayCacheUntilActive: ignored: the cache is always filled before this "
            "process leads\n"
            "k.yaml:11: profiles[0].percentageOfNodesToScore: ignored: every node is evaluated\n"
            "k.yaml:13: profiles[0].plugins.placementScore: ignored: this version has no such "
            "extension point, and kube-scheduler has it behind a feature gate");
}

// As in kube-scheduler, these resources replace the ignoredResources of the arguments.
TEST(ReadKubeConfig, ResourcesOfExtendersAreIgnored) {
  const std::string extenders =
      "extenders:\n"
      "- urlPrefix: http://a\n"
      "  managedResources:\n"
      "  - {name: a.com/x, ignoredByScheduler: true}\n"
      "  - {name: a.com/seen, ignoredByScheduler: false}\n"
      "  - {name: a.com/seen}\n"
      "- managedResources: [{name: a.com/y, ignoredByScheduler: true}]\n"
      "- managedResources: [{name: a.com/x, ignoredByScheduler: true}]\n";
  const nlohmann::json names = {"a.com/x", "a.com/y"};
  const std::string unsupported = "]: ignored: extenders are not supported; use a plugin instead\n";
  const auto written = [](int line, const std::string& resource, const std::string& name) {
    return "k.yaml:" + std::to_string(line) + ": extenders" + resource +
           ".ignoredByScheduler: written as ignoredResources of NodeResourcesFit: without the "
           "extender, nothing checks requests for \"" +
           name + "\"\n";
  };
  const std::string warnings =
      "k.yaml:4: extenders[0" + unsupported + written(6, "[0].managedResources[0]", "a.com/x") +
      "k.yaml:9: extenders[1" + unsupported + written(9, "[1].managedResources[0]", "a.com/y") +
      "k.yaml:10: extenders[2" + unsupported + written(10, "[2].managedResources[0]", "a.com/x");
  struct Row {
    const char* what;
    std::string profiles;
    nlohmann::json args;
    std::string more_warnings;
  };
  const Row rows[] = {
      {"the default profile", "", {{"ignoredResources", names}}, ""},
      {"no arguments",
       "profiles: [{pluginConfig: [{name: NodeResourcesFit}]}]\n",
       {{"ignoredResources", names}},
       ""},
      {"other arguments",
       "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: "
       "[b]}}]}]\n",
       {{"ignoredResources", names}, {"ignoredResourceGroups", {"b"}}},
       ""},
      {"own resources",
       "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [b]}}]}]\n",
       {{"ignoredResources", names}},
       "k.yaml:11: profiles[0].pluginConfig[0].args.ignoredResources: replaced by the "
       "managedResources of extenders, as kube-scheduler does\n"},
      {"an argument of the wrong type",
       "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: b}}]}]\n",
       {{"ignoredResources", "b"}},
       ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const ReadOutcome outcome = ReadConfig(kConfigHead + extenders + row.profiles);
    EXPECT_EQ(outcome.errors, "");
    EXPECT_EQ(outcome.warnings + "\n", warnings + row.more_warnings);
    const KubePluginArgs* args = outcome.config->profiles.at(0).FindArgs("NodeResourcesFit");
    ASSERT_NE(args, nullptr);
    EXPECT_EQ(args->args.value, row.args);
  }
}

TEST(ReadKubeConfig, IgnoredResourcesKeepTheirPlaces) {
  const std::string extenders =
      "extenders:\n"
      "- managedResources: [{name: a.com/x, ignoredByScheduler: true}]\n"
      "- managedResources: [{name: a.com/y, ignoredByScheduler: true}]\n";
  const ReadOutcome outcome =
      ReadConfig(kConfigHead + extenders + "profiles: [{schedulerName: a}, {schedulerName: b}]\n");
  ASSERT_EQ(outcome.config->profiles.size(), 2U);
  for (const KubeSchedulerProfile& profile : outcome.config->profiles) {
    const KubePluginArgs* args = profile.FindArgs("NodeResourcesFit");
    ASSERT_NE(args, nullptr);
    EXPECT_EQ(args->path, "extenders");
    EXPECT_EQ(args->args.PlaceOf("/ignoredResources/0").ToString(), "k.yaml:4");
    EXPECT_EQ(args->args.PlaceOf("/ignoredResources/1").ToString(), "k.yaml:5");
  }
  EXPECT_EQ(ReadConfig(kConfigHead + "extenders: [{managedResources: [{name: a.com/x}]}]\n")
                .config->profiles.at(0)
                .FindArgs("NodeResourcesFit"),
            nullptr);
}

// Ignored keys are checked too.
TEST(ReadKubeConfig, ReportsErrorsInIgnoredKeys) {
  EXPECT_EQ(
      KubeConfigErrors(
          "leaderElection: {leaderElect: 1, leaseDuration: 15, retryPeriod: 2x, lock: a}\n"
          "clientConnection: {qps: many, burst: 1.5, kubeconfig: 1}\n"
          "enableProfiling: 1\n"
          "extenders:\n"
          "- urlPrefix: http://a\n"
          "  prioritizeVerb: p\n"
          "  bindVerb: b\n"
          "  tlsConfig: {insecure: 1, cert: x}\n"
          "  managedResources: [{name: a/b, ignored: true}, 5]\n"
          "- {prioritizeVerb: p, weight: 0, bindVerb: b, httpTimeout: 5s, filter: f}\n"
          "- {prioritizeVerb: p, weight: 1, bindVerb: '', tlsConfig: []}\n"
          "- 7\n"),
      "k.yaml:3: leaderElection.leaderElect: expected true or false, found 1\n"
      "k.yaml:3: leaderElection.leaseDuration: expected a duration, such as \"15s\", found 15\n"
      "k.yaml:3: leaderElection.retryPeriod: expected a duration, such as \"15s\", found \"2x\"\n"
      "k.yaml:3: leaderElection.lock: expected one of leaderElect, leaseDuration, renewDeadline, "
      "retryPeriod, resourceLock, resourceName, resourceNamespace, found \"lock\"\n"
      "k.yaml:4: clientConnection.kubeconfig: expected a string, found 1\n"
      "k.yaml:4: clientConnection.qps: expected a number, found \"many\"\n"
      "k.yaml:4: clientConnection.burst: expected a whole number, found the number 1.5\n"
      "k.yaml:5: enableProfiling: expected true or false, found 1\n"
      "k.yaml:7: extenders[0].weight: expected a weight above 0, which prioritizeVerb requires, "
      "found none\n"
      "k.yaml:10: extenders[0].tlsConfig.insecure: expected true or false, found 1\n"
      "k.yaml:10: extenders[0].tlsConfig.cert: expected a known key, found \"cert\"; did you mean "
      "certData or certFile?\n"
      "k.yaml:11: extenders[0].managedResources[0].ignored: expected a known key, found "
      "\"ignored\"; did you mean ignoredByScheduler?\n"
      "k.yaml:11: extenders[0].managedResources[1]: expected an object, found 5\n"
      "k.yaml:12: extenders[1].filter: expected a known key, found \"filter\"; did you mean "
      "filterVerb?\n"
      "k.yaml:12: extenders[1].weight: expected a weight above 0, which prioritizeVerb requires, "
      "found 0\n"
      "k.yaml:12: extenders[1].bindVerb: expected at most one extender that binds, found a second "
      "one\n"
      "k.yaml:13: extenders[2].tlsConfig: expected an object, found an empty array\n"
      "k.yaml:14: extenders[3]: expected an object, found 7");
}

TEST(ReadKubeConfig, WarnsOfEveryExtender) {
  EXPECT_EQ(WarningsOf("extenders:\n- {urlPrefix: a, weight: 1, managedResources: [{name: a/b}]}\n"
                       "- {urlPrefix: b, tlsConfig: {insecure: true}}\n"),
            "k.yaml:4: extenders[0]: ignored: extenders are not supported; use a plugin instead\n"
            "k.yaml:5: extenders[1]: ignored: extenders are not supported; use a plugin instead");
}

TEST(ReadKubeConfig, DoesNotWarnOfValuesThatMatchBerth) {
  EXPECT_EQ(WarningsOf("parallelism: 1\n"
                       "percentageOfNodesToScore: 100\n"
                       "leaderElection: {}\n"
                       "clientConnection: {}\n"
                       "enableProfiling: false\n"
                       "enableContentionProfiling: false\n"
                       "delayCacheUntilActive: false\n"
                       "extenders: []\n"
                       "profiles: [{plugins: {placementScore: {}}}]\n"),
            "");
}

// In the arguments of a third party's plugin, these keys may have another meaning.
TEST(ReadKubeConfig, RemovesApiVersionAndKindFromArguments) {
  const ReadOutcome outcome = ReadConfig(
      kConfigHead +
      "profiles:\n- pluginConfig:\n"
      "  - {name: NodeAffinity, args: {kind: NodeAffinityArgs, a: 1}}\n"
      "  - {name: acme.X, args: {kind: acme.XArgs, apiVersion: kubescheduler.config.k8s.io/v1}}\n"
      "  - {name: acme.Y, args: {kind: fast, apiVersion: acme/v1}}\n");
  EXPECT_EQ(outcome.errors, "");
  const KubeSchedulerProfile& profile = outcome.config->profiles.at(0);
  EXPECT_EQ(profile.FindArgs("NodeAffinity")->args.value.dump(), R"({"a":1})");
  EXPECT_EQ(profile.FindArgs("acme.X")->args.value.dump(), "null");
  EXPECT_EQ(profile.FindArgs("acme.Y")->args.value.dump(),
            R"({"apiVersion":"acme/v1","kind":"fast"})");
}

TEST(ReadKubeConfig, ErrorsInAliasesHaveLineOfTheAlias) {
  EXPECT_EQ(
      KubeConfigErrors("profiles:\n- schedulerName: a\n  plugins: &p\n    filter: {bad: 1}\n"
                       "- schedulerName: b\n  plugins: *p\n"),
      "k.yaml:6: profiles[0].plugins.filter.bad: expected one of enabled, disabled, found \"bad\"\n"
      "k.yaml:8: profiles[1].plugins.filter.bad: expected one of enabled, disabled, found \"bad\"");
}

}  // namespace
}  // namespace berth::host
