// PodTopologySpread as a library, with profiles in TOML and manifests in YAML.
#include <map>
#include <string>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Returns six nodes in three zones, where the nodes of zone c have much more room.
std::string ZonesOf(int nodes_per_zone) {
  std::string text;
  for (const char* zone : {"a", "b", "c"}) {
    for (int i = 0; i < nodes_per_zone; ++i) {
      const std::string name = zone + std::to_string(i);
      text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
              ", labels: {kubernetes.io/hostname: " + name +
              ", topology.kubernetes.io/zone: " + zone + "}}\nstatus: {allocatable: {cpu: \"" +
              (*zone == 'c' ? "64" : "8") + "\", memory: 32Gi, pods: \"110\"}}\n";
    }
  }
  return text;
}

// Returns a pending pod with the label app=web. `more`: more of its spec.
std::string Replica(int number, const std::string& more) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-" + std::to_string(number) +
         ", labels: {app: web}}\nspec:\n" + more +
         "  containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n";
}

constexpr const char* kService =
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n";

constexpr const char* kZoneConstraint =
    "  topologySpreadConstraints:\n  - maxSkew: 1\n    topologyKey: topology.kubernetes.io/zone\n"
    "    whenUnsatisfiable: DoNotSchedule\n    labelSelector: {matchLabels: {app: web}}\n";

class SpreadCliTest : public CliTest {
 protected:
  // Schedules the pending pods. Returns the number of pods by zone.
  std::map<std::string, int> PodsByZone(const std::string& cluster, const std::string& profile) {
    const Outcome run = Run({"simulate", "--cluster", File("cluster.yaml", cluster), "--profile",
                             profile, "--output", "json"});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    const Json report = run.json();
    std::map<std::string, int> count;
    for (const Json& pod : report["placements"]) {
      ++count[pod["node"].get<std::string>().substr(0, 1)];
    }
    return count;
  }
  static std::string NineReplicas(const std::string& more) {
    std::string text;
    for (int i = 0; i < 9; ++i) text += Replica(i, more);
    return text;
  }
};

const std::map<std::string, int> kEven = {{"a", 3}, {"b", 3}, {"c", 3}};

TEST_F(SpreadCliTest, HardConstraintsKeepZonesEven) {
  EXPECT_EQ(PodsByZone(ZonesOf(2) + NineReplicas(kZoneConstraint), "default"), kEven);
}

TEST_F(SpreadCliTest, ProfileSpreadSpreadsThePodsOfAService) {
  const std::string cluster = ZonesOf(1) + kService + NineReplicas("  schedulerName: spread\n");
  EXPECT_EQ(PodsByZone(cluster, "spread"), kEven);
  const std::string without = File("without.toml",
                                   "extends = \"spread\"\n[[plugins]]\n"
                                   "name = \"PodTopologySpread\"\nenabled = false\n");
  EXPECT_GT(PodsByZone(cluster, without)["c"], 3) << "the largest node is the emptiest one";
}

TEST_F(SpreadCliTest, ArgumentsComeFromTheProfile) {
  const std::string list =
      File("list.toml",
           "extends = \"default\"\n[[plugins]]\nname = \"PodTopologySpread\"\n[plugins.args]\n"
           "defaultingType = \"List\"\ndefaultConstraints = [{maxSkew = 1, topologyKey = "
           "\"topology.kubernetes.io/zone\", whenUnsatisfiable = \"DoNotSchedule\"}]\n");
  EXPECT_EQ(PodsByZone(ZonesOf(2) + kService + NineReplicas(""), list), kEven);
  const std::string wrong =
      File("wrong.toml",
           "extends = \"default\"\n[[plugins]]\nname = \"PodTopologySpread\"\n[plugins.args]\n"
           "defaultConstraints = [{maxSkew = 0, topologyKey = \"zone\", whenUnsatisfiable = "
           "\"DoNotSchedule\"}]\n");
  const Outcome check = Run({"profile", "check", wrong});
  EXPECT_EQ(check.exit_status, 2);
  EXPECT_THAT(check.err, AllOf(HasSubstr("wrong.toml:5"), HasSubstr("maxSkew"),
                               HasSubstr("expected a whole number from 1 to 2147483647, found 0")));
}

TEST_F(SpreadCliTest, ExplainNamesTheReasonOfEachNode) {
  const std::string cluster =
      ZonesOf(1) + "---\napiVersion: v1\nkind: Node\nmetadata: {name: nowhere}\n" +
      "status: {allocatable: {cpu: \"8\", memory: 32Gi, pods: \"110\"}}\n" +
      Replica(0, std::string("  nodeName: a0\n") + kZoneConstraint) + Replica(1, kZoneConstraint);
  const Outcome run = Run({"explain", "--cluster", File("cluster.yaml", cluster), "--pod",
                           "default/web-1", "--output", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const Json report = run.json();
  EXPECT_EQ(report["feasible"].dump(), R"(["b0","c0"])");
  EXPECT_EQ(report["nodes"]["a0"]["plugin"], "PodTopologySpread");
  EXPECT_EQ(report["nodes"]["a0"]["reasons"][0],
            "node(s) didn't match pod topology spread constraints");
  EXPECT_EQ(report["nodes"]["nowhere"]["code"], "UnschedulableAndUnresolvable");
  EXPECT_EQ(report["nodes"]["nowhere"]["reasons"][0],
            "node(s) didn't match pod topology spread constraints (missing required label)");
}

}  // namespace
}  // namespace berth::host
