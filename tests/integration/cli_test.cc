// The commands as a user calls them, with the plugins of this build. Only the clock is fake.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// ---- Help ---------------------------------------------------------------------------------------

TEST_F(CliTest, HelpHasExamples) {
  const Outcome help = Run({"--help"});
  EXPECT_EQ(help.exit_status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("simulate"), HasSubstr("explain"), HasSubstr("plugin"),
                              HasSubstr("Examples:"), HasSubstr("Exit status")));
  for (const char* command : {"run", "replay", "shadow", "simulate", "explain"}) {
    const Outcome one = Run({command, "--help"});
    EXPECT_EQ(one.exit_status, 0);
    EXPECT_THAT(one.out, AllOf(HasSubstr("Examples"), HasSubstr("Exit status"), HasSubstr("--seed"),
                               HasSubstr("equal seeds give equal results")));
    EXPECT_THAT(one.out, HasSubstr(std::string("  berth ") + command + " --"));
  }
  for (const char* command : {"replay", "simulate", "explain"}) {
    EXPECT_THAT(Run({command, "--help"}).out, HasSubstr("--cluster")) << command;
  }
  EXPECT_THAT(Run({"plugin", "describe", "--help"}).out, HasSubstr("LIB|NAME"));
}

TEST_F(CliTest, PrintsItsVersion) {
  const Outcome version = Run({"--version"});
  EXPECT_EQ(version.exit_status, 0);
  EXPECT_THAT(version.out, AllOf(StartsWith("berth "), HasSubstr("plugin ABI 1.")));
}

TEST_F(CliTest, RefusesUnknownCommandsAndFlags) {
  EXPECT_EQ(Run({}).exit_status, 2);
  const Outcome command = Run({"simulte"});
  EXPECT_EQ(command.exit_status, 2);
  EXPECT_THAT(command.err,
              HasSubstr("no command \"simulte\" (see berth --help); did you mean simulate?"));
  const Outcome nested = Run({"plugin", "lst"});
  EXPECT_EQ(nested.exit_status, 2);
  EXPECT_THAT(nested.err, HasSubstr("did you mean list?"));
  const Outcome required = Run({"simulate"});
  EXPECT_EQ(required.exit_status, 2);
  EXPECT_THAT(required.err, HasSubstr("expected --cluster FILE or --kubeconfig FILE"));
  EXPECT_EQ(Run({"simulate", "--cluster", kSmall, "--output", "xml"}).exit_status, 2);
  EXPECT_EQ(Run({"simulate", "--cluster", kSmall, "--seed", "many"}).exit_status, 2);
}

// ---- simulate -----------------------------------------------------------------------------------

TEST_F(CliTest, PlacesPendingPods) {
  const std::string cluster = File("c.yaml", kNodes + PodOf("large", "4") + PodOf("web", "1"));
  const Outcome run = Run({"simulate", "--cluster", cluster, "--output", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const Json report = run.json();
  ASSERT_EQ(report["placements"].size(), 2u);
  EXPECT_EQ(report["placements"][0],
            (Json{{"namespace", "default"}, {"name", "large"}, {"node", "b"}}));
  EXPECT_EQ(report["placements"][1]["name"], "web");
  const Json& summary = report["summary"];
  EXPECT_EQ(summary["placed"], 2);
  EXPECT_EQ(summary["refused"], 0);
  EXPECT_EQ(summary["nodes"], 2);
  EXPECT_EQ(summary["seed"], 1);
}

TEST_F(CliTest, ReportsWhyAPodHasNoNode) {
  const Outcome run = Run({"simulate", "--cluster", "-", "--output", "json"},
                          kNodes + PodOf("huge", "16") + PodOf("web", "1"));
  EXPECT_EQ(run.exit_status, 1) << run.err;
  EXPECT_EQ(run.json()["placements"][0],
            (Json{{"namespace", "default"},
                  {"name", "huge"},
                  {"code", "Unschedulable"},
                  {"message", "0/2 nodes are available: 2 Insufficient cpu."}}));
}

TEST_F(CliTest, PrintsATable) {
  const Outcome run =
      Run({"simulate", "--cluster", "-"}, kNodes + PodOf("huge", "16") + PodOf("large", "4"));
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out,
              StartsWith("NAMESPACE   POD     NODE     REASON\n"
                         "default     huge    <none>   0/2 nodes are available: 2 Insufficient "
                         "cpu.\n"
                         "default     large   b\n"
                         "\n"
                         "Placed 1 of 2 pods, 1 could not be placed; 2 nodes.\n"));
  EXPECT_THAT(run.out, HasSubstr("seed 1"));
}

TEST_F(CliTest, WrapsMessagesToTheTerminal) {
  width_ = 60;
  const Outcome run = Run({"simulate", "--cluster", "-"}, kNodes + PodOf("huge", "16"));
  EXPECT_THAT(run.out, HasSubstr("0/2 nodes are available: 2\n"));
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
}

TEST_F(CliTest, QuietPrintsOnlyPodsThatWereNotPlaced) {
  const Outcome run = Run({"simulate", "--quiet", "--cluster", "-"},
                          kNodes + PodOf("huge", "16") + PodOf("large", "4"));
  EXPECT_THAT(run.out, AllOf(HasSubstr("huge"), Not(HasSubstr("large")), HasSubstr("Placed 1")));
}

TEST_F(CliTest, SchedulesThePodFilesAfterTheCluster) {
  const std::string cluster = File("c.yaml", kNodes + PodOf("z-first", "7"));
  const std::string pods = File("p.yaml", PodOf("a-second", "7"));
  const Outcome run = Run({"simulate", "--cluster", cluster, "--pods", pods, "--output", "json"});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  const Json placements = run.json()["placements"];
  ASSERT_EQ(placements.size(), 2u);
  EXPECT_EQ(placements[0]["node"], "b");
  EXPECT_EQ(placements[1]["name"], "a-second");
  EXPECT_FALSE(placements[1].contains("node"));
}

TEST_F(CliTest, PrintsNoRateIfNothingWasDecided) {
  const std::string gated = PodOf("gated", "1", "  schedulingGates: [{name: hold}]\n");
  const struct {
    const char* name;
    std::string cluster;
    bool has_rate;
  } cases[] = {
      {"no pod", kNodes, false},
      {"a gated pod", kNodes + gated, false},
      {"a pod that is placed", kNodes + PodOf("web", "1"), true},
      {"a pod that is refused", kNodes + PodOf("huge", "16"), true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string cluster = File("c.yaml", c.cluster);
    EXPECT_EQ(Run({"simulate", "--cluster", cluster}).out.find("decisions/s") != std::string::npos,
              c.has_rate);
    const Json json = Run({"simulate", "--cluster", cluster, "--output", "json"}).json();
    EXPECT_EQ(json["summary"].contains("decisionsPerSecond"), c.has_rate);
  }
}

TEST_F(CliTest, ReadsSeveralFiles) {
  const std::string nodes = File("n.yaml", kNodes);
  const std::string pods = File(
      "p.json", R"({"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"web"}}]})");
  const Outcome run = Run({"simulate", "--cluster", nodes, pods, "--output", "yaml"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const YAML::Node report = YAML::Load(run.out);
  EXPECT_EQ(report["placements"][0]["name"].as<std::string>(), "web");
  EXPECT_EQ(report["summary"]["placed"].as<int>(), 1);
}

TEST_F(CliTest, IgnoresPodsOfOtherSchedulers) {
  const Outcome run = Run({"simulate", "--cluster", "-", "--output", "json"},
                          kNodes + PodOf("theirs", "1", "  schedulerName: other\n"));
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_TRUE(run.json()["placements"].empty());
  EXPECT_EQ(run.json()["summary"]["others"], 1);
}

TEST_F(CliTest, DoesNotSchedulePodsThatAreBeingDeleted) {
  const Outcome run = Run({"simulate", "--cluster", "-", "--output", "json"},
                          std::string(kNodes) +
                              "---\napiVersion: v1\nkind: Pod\nmetadata: {name: going, "
                              "deletionTimestamp: \"2026-01-01T00:00:00Z\"}\n");
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.json()["placements"][0]["code"], "Skipped");
  EXPECT_EQ(run.json()["summary"]["skipped"], 1);
}

TEST_F(CliTest, GivesTheSameResultForTheSameSeed) {
  std::string cluster;
  for (int i = 0; i < 20; ++i) {
    cluster += "---\napiVersion: v1\nkind: Node\nmetadata: {name: n" + std::to_string(i) +
               "}\nstatus: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}\n";
  }
  for (int i = 0; i < 30; ++i) cluster += PodOf("p" + std::to_string(i), "1");
  const auto placements = [&](const char* seed) {
    return Run({"simulate", "--cluster", "-", "--seed", seed, "--output", "json"}, cluster)
        .json()["placements"]
        .dump();
  };
  EXPECT_EQ(placements("7"), placements("7"));
  EXPECT_NE(placements("7"), placements("8"));
}

TEST_F(CliTest, SchedulesTheExampleCluster) {
  const Outcome run = Run({"simulate", "--cluster", kSmall, "--output", "json"});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  std::map<std::string, Json> by_name;
  const Json report = run.json();
  for (const Json& placement : report["placements"]) by_name[placement["name"]] = placement;
  EXPECT_EQ(report["placements"].size(), 8u);
  EXPECT_EQ(report["placements"][0]["name"], "ingress") << "ingress has the highest priority";
  EXPECT_EQ(by_name["database"]["node"], "node-d");
  EXPECT_EQ(by_name["training-0"]["node"], "node-e");
  EXPECT_EQ(by_name["training-1"]["node"], "node-e");
  EXPECT_EQ(by_name["batch-import"]["code"], "Unschedulable");
  EXPECT_EQ(report["summary"]["placed"], 7);
}

// ---- Bad input ----------------------------------------------------------------------------------

TEST_F(CliTest, ReportsThePositionOfInvalidInput) {
  struct Case {
    const char* file;
    const char* text;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"priority.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\n"
       "metadata: {name: p}\nspec: {priority: high}\n",
       "priority.yaml:8: Pod default/p: /spec/priority: "},
      {"syntax.yaml", "kind: Pod\nmetadata: {name: p\n", "syntax.yaml:"},
      {"list.json", R"({"apiVersion":"v1","kind":"List","items":[{"kind":"Node","apiVersion":"v1",
        "metadata":{"name":"a"},"spec":{"taints":[{"key":"k","effect":"Foo"}]}}]})",
       "list.json:2: Node a: /items/0/spec/taints/0/effect: "},
      {"two.yaml", "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Node\nmetadata: 7\n",
       "two.yaml:1: Pod: /metadata/name: expected a name, found nothing\nberth: "},
      {"two.yaml", "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Node\nmetadata: 7\n",
       "two.yaml:6: Node: /metadata: expected an object, found 7\n"},
      {"empty.json", "", "empty.json: "},
      {"page.json", "<html></html>",
       "page.json: this looks like an HTML page; expected Kubernetes"},
  };
  for (const Case& c : cases) {
    const Outcome run = Run({"simulate", "--cluster", File(c.file, c.text)});
    EXPECT_EQ(run.exit_status, 2) << c.file;
    EXPECT_EQ(run.out, "") << c.file;
    EXPECT_THAT(run.err, AllOf(StartsWith("berth: "), HasSubstr(c.message))) << c.file;
  }
}

TEST_F(CliTest, ReportsAMissingFile) {
  const Outcome run = Run({"simulate", "--cluster", "no-such-file.yaml"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.err, "berth: no-such-file.yaml: No such file or directory\n");
}

TEST_F(CliTest, ReportsWhereItSearchedForPlugins) {
  executable_ = folder_ + "/bin/berth";
  const Outcome run = Run({"simulate", "--cluster", kSmall});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr(folder_ + "/bin/plugins"), HasSubstr("/berth/plugins"),
                             HasSubstr("--plugin-dir")));
  const Outcome named = Run({"simulate", "--cluster", kSmall, "--plugin-dir", folder_ + "/none"});
  EXPECT_EQ(named.exit_status, 2);
  EXPECT_THAT(named.err, HasSubstr(folder_ + "/none"));
}

TEST_F(CliTest, FindsInstalledPlugins) {
  const std::string plugins = folder_ + "/" BERTH_LIBDIR "/berth/plugins";
  std::filesystem::create_directories(folder_ + "/bin");
  std::filesystem::create_directories(plugins);
  std::filesystem::copy(BERTH_BINARY_DIR "/plugins", plugins);
  const std::string profiles = folder_ + "/" BERTH_DATADIR "/berth/profiles";
  std::filesystem::create_directories(profiles);
  std::filesystem::copy(BERTH_SOURCE_DIR "/profiles", profiles);
  executable_ = folder_ + "/bin/berth";
  const Outcome run = Run({"simulate", "--cluster", "-"}, kNodes + PodOf("web", "1"));
  EXPECT_EQ(run.exit_status, 0) << run.err;
}

TEST_F(CliTest, TerminatingPodsOfADumpKeepTheirNodes) {
  const std::string old = PodOf("old", "7", "  nodeName: b\n");
  const std::string name = "{name: old}";
  for (const char* time :
       {"2023-11-14T22:13:19Z", "2023-11-14T22:13:20Z", "2023-11-14T22:13:30Z"}) {
    std::string going = old;
    going.replace(going.find(name), name.size(),
                  std::string("{name: old, deletionTimestamp: \"") + time + "\"}");
    const Outcome run = Run({"simulate", "--cluster", "-", "--output", "json"},
                            kNodes + going + PodOf("large", "4"));
    EXPECT_EQ(run.exit_status, 1) << time;
    EXPECT_EQ(run.json()["summary"]["refused"], 1) << time;
  }
}

// ---- explain ------------------------------------------------------------------------------------

TEST_F(CliTest, ExplainsWhyAPodGetsItsNode) {
  const Outcome run = Run({"explain", "--cluster", "-", "--pod", "web", "--output", "json"},
                          kNodes + PodOf("web", "1") + PodOf("other", "1"));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const Json report = run.json();
  EXPECT_EQ(report["code"], "Success");
  EXPECT_FALSE(report.contains("message"));
  EXPECT_FALSE(report.contains("nodes"));
  EXPECT_THAT(report["feasible"], ElementsAre("a", "b"));
  for (const char* node : {"a", "b"}) {
    const Json& score = report["scores"][node];
    int64_t total = 0;
    for (const auto& [plugin, value] : score["plugins"].items()) {
      total += value.get<int64_t>() * report["weights"][plugin].get<int64_t>();
      EXPECT_TRUE(report["raw"][node].contains(plugin));
    }
    EXPECT_EQ(score["total"], total);
  }
  EXPECT_THAT(report["selected"], ElementsAre("b"));
  EXPECT_EQ(report["chosen"], "b");
}

TEST_F(CliTest, ExplainsWhyAPodHasNoNode) {
  const std::string cluster = File("c.yaml", kNodes + PodOf("huge", "16"));
  const Outcome run =
      Run({"explain", "--cluster", cluster, "--pod", "default/huge", "--output", "json"});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  const Json report = run.json();
  EXPECT_EQ(report["code"], "Unschedulable");
  EXPECT_EQ(report["message"], "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(report["nodes"]["a"], (Json{{"plugin", "NodeResourcesFit"},
                                        {"code", "UnschedulableAndUnresolvable"},
                                        {"reasons", {"Insufficient cpu"}}}));
  EXPECT_THAT(report["rejectors"], ElementsAre("NodeResourcesFit"));
  for (const char* absent : {"feasible", "scores", "selected", "chosen", "preFilter"}) {
    EXPECT_FALSE(report.contains(absent)) << absent;
  }
  const Outcome table = Run({"explain", "--cluster", cluster, "--pod", "huge"});
  EXPECT_EQ(table.exit_status, 1);
  EXPECT_THAT(table.out,
              AllOf(StartsWith("default/huge cannot be scheduled: 0/2 nodes are available"),
                    HasSubstr("Insufficient cpu\n     a, b\n")));
}

// jq prints the first of the paths that is not null.
TEST_F(CliTest, JqExampleOfExplainWorksForEveryPod) {
  const std::string help = Run({"explain", "--help"}).out;
  constexpr std::string_view kBegin = "| jq '";
  ASSERT_NE(help.find(kBegin), std::string::npos);
  const size_t begin = help.find(kBegin) + kBegin.size();
  std::istringstream paths(help.substr(begin, help.find('\'', begin) - begin));
  std::vector<std::string> fields;
  for (std::string path; paths >> path;) {
    if (path != "//") fields.push_back(path.substr(1));
  }
  ASSERT_FALSE(fields.empty());
  const std::string gated = PodOf("gated", "1", "  schedulingGates: [{name: hold}]\n");
  const std::string cluster =
      File("c.yaml", kNodes + PodOf("fits", "1") + PodOf("huge", "16") + gated);
  const std::string thrower = File("thrower.toml",
                                   "extends = \"default\"\n[[plugins]]\nname = \"test.Thrower\"\n"
                                   "points = [\"Permit\"]\nlibrary = \"" BERTH_TEST_PLUGIN_DIR
                                   "/libtest_thrower.so\"\nargs = {at = \"Permit\"}\n");
  const struct {
    const char* pod;
    std::string profile;
    std::string printed;
  } cases[] = {
      {"fits", "default", "b"},
      {"huge", "default", "0/2 nodes are available: 2 Insufficient cpu."},
      {"gated", "default", "hold"},
      {"fits", thrower, "thrown at Permit"},
  };
  for (const auto& c : cases) {
    const Json report = Run({"explain", "--cluster", cluster, "--pod", c.pod, "--profile",
                             c.profile, "--output", "json"})
                            .json();
    const auto printed = std::ranges::find_if(
        fields, [&](const std::string& field) { return report.contains(field); });
    ASSERT_NE(printed, fields.end()) << c.pod;
    EXPECT_THAT(report[*printed].get<std::string>(), HasSubstr(c.printed)) << c.pod;
  }
}

TEST_F(CliTest, ExplainCountsRunningPodsAndPlacesOnePod) {
  const std::string running = PodOf("running", "7", "  nodeName: b\n");
  const std::string cluster =
      File("c.yaml", kNodes + running + PodOf("aaa", "2") + PodOf("web", "2"));
  const Outcome run = Run({"explain", "--cluster", cluster, "--pod", "web", "--output", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.json()["feasible"], ElementsAre("a"))
      << "pod aaa, which is first in the queue, was not placed";
  EXPECT_FALSE(run.json().contains("scores"));
}

TEST_F(CliTest, ExplainsAPodThatIsBeingDeleted) {
  const Outcome run = Run({"explain", "--cluster", "-", "--pod", "going", "--output", "json"},
                          std::string(kNodes) +
                              "---\napiVersion: v1\nkind: Pod\nmetadata: {name: going, "
                              "deletionTimestamp: \"2026-01-01T00:00:00Z\"}\n");
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.json()["code"], "Skipped");
}

TEST_F(CliTest, ExplainsACordonedNode) {
  const Outcome run =
      Run({"explain", "--cluster", kSmall, "--pod", "batch-import", "--output", "json"});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  EXPECT_EQ(run.json()["nodes"]["node-c"]["plugin"], "NodeUnschedulable");
  EXPECT_EQ(run.json()["nodes"]["node-d"]["plugin"], "TaintToleration");
  EXPECT_EQ(run.json()["nodes"].size(), 5u);
}

TEST_F(CliTest, ExplainSuggestsSimilarPods) {
  struct Case {
    const char* pod;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"web-9",
       "found no pod default/web-9 in the input; did you mean default/web-1 or default/web-2?"},
      {"prod/web-1", "found no pod prod/web-1 in the input; did you mean default/web-1?"},
      {"web-0", "pod default/web-0 is on node node-a: expected a pod without a node"},
      {"a/b/c", "expected NAMESPACE/NAME or NAME, found \"a/b/c\""},
      {"/web-1", "expected NAMESPACE/NAME or NAME"},
  };
  for (const Case& c : cases) {
    const Outcome run = Run({"explain", "--cluster", kSmall, "--pod", c.pod});
    EXPECT_EQ(run.exit_status, 2) << c.pod;
    EXPECT_THAT(run.err, HasSubstr(c.message)) << c.pod;
  }
}

// ---- plugin -------------------------------------------------------------------------------------

TEST_F(CliTest, ListsPlugins) {
  const Outcome run = Run({"plugin", "list", "--output", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const Json report = run.json();
  EXPECT_EQ(report["directory"], BERTH_BINARY_DIR "/plugins");
  EXPECT_TRUE(report["broken"].empty());
  std::map<std::string, Json> by_name;
  for (const Json& plugin : report["plugins"]) by_name[plugin["name"]] = plugin;
  ASSERT_TRUE(by_name.contains("NodeName"));
  EXPECT_THAT(by_name["NodeName"]["points"], ::testing::Contains("Filter"));
  EXPECT_THAT(by_name["NodeName"]["library"].get<std::string>(),
              ::testing::EndsWith("/libnode_name.so"));
  const Outcome table = Run({"plugin", "list"});
  EXPECT_THAT(table.out, AllOf(StartsWith("NAME"), HasSubstr("libnode_name.so")));
}

TEST_F(CliTest, ListsBrokenLibrariesWithTheirError) {
  const std::string plugins = folder_ + "/plugins";
  std::filesystem::create_directories(plugins);
  std::filesystem::copy_file(BERTH_BINARY_DIR "/plugins/libnode_name.so",
                             plugins + "/libnode_name.so");
  std::filesystem::copy_file(BERTH_BINARY_DIR "/plugins/libnode_name.so", plugins + "/libcut.so");
  std::filesystem::resize_file(plugins + "/libcut.so", 1000);
  const Outcome run = Run({"plugin", "list", "--plugin-dir", plugins, "--output", "json"});
  EXPECT_EQ(run.exit_status, 2);
  const Json report = run.json();
  EXPECT_EQ(report["plugins"].size(), 1u);
  ASSERT_EQ(report["broken"].size(), 1u);
  EXPECT_EQ(report["broken"][0]["code"], "bad-elf");
  EXPECT_THAT(report["broken"][0]["message"].get<std::string>(), HasSubstr("libcut.so"));
  EXPECT_THAT(Run({"plugin", "list", "--plugin-dir", plugins}).out, HasSubstr("Not loaded:"));

  const Outcome simulate = Run({"simulate", "--cluster", kSmall, "--plugin-dir", plugins});
  EXPECT_EQ(simulate.exit_status, 2) << "a scheduler must not run with some of its plugins missing";
  EXPECT_THAT(simulate.err, HasSubstr("libcut.so"));
}

TEST_F(CliTest, DescribesAPluginByNameAndByLibrary) {
  const Outcome by_name = Run({"plugin", "describe", "NodeName", "--output", "json"});
  EXPECT_EQ(by_name.exit_status, 0) << by_name.err;
  const Json library = by_name.json();
  EXPECT_EQ(library["sha256"].get<std::string>().size(), 64u);
  ASSERT_EQ(library["plugins"].size(), 1u);
  const Json& plugin = library["plugins"][0];
  EXPECT_EQ(plugin["name"], "NodeName");
  EXPECT_NE(plugin["about"], "");
  bool filters = false;
  for (const Json& point : plugin["points"]) {
    filters |= point == Json{{"name", "Filter"}, {"id", "berth.filter/1"}, {"served", true}};
  }
  EXPECT_TRUE(filters) << plugin["points"];
  const std::string path = library["library"];
  EXPECT_EQ(Run({"plugin", "describe", path, "--output", "json"}).out, by_name.out);
  EXPECT_THAT(Run({"plugin", "describe", "NodeName"}).out,
              AllOf(StartsWith("Library"), HasSubstr("SHA-256"), HasSubstr("Filter")));
}

TEST_F(CliTest, DescribeSuggestsSimilarPlugins) {
  const Outcome run = Run({"plugin", "describe", "NodeNam"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("found no plugin NodeNam"), HasSubstr("NodeName")));
  EXPECT_EQ(Run({"plugin", "describe", folder_ + "/libnone.so"}).exit_status, 2);
}

}  // namespace
}  // namespace berth::host
