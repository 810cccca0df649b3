// Files that no API server has seen: workloads, classes, limits, and kinds that do not exist.
#include <string>

#include "tests/integration/cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FilesCliTest : public CliTest {
 protected:
  // Returns "pod node" for each pod that `berth simulate` places, and "pod -" for each other one.
  std::vector<std::string> PlacementsOf(const std::string& cluster,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"simulate", "--cluster", File("c.yaml", cluster), "--output",
                                     "json"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome run = Run(args);
    EXPECT_NE(run.exit_status, 2) << run.err;
    err_ = run.err;
    std::vector<std::string> placements;
    if (run.exit_status == 2) return placements;
    const Json document = run.json();
    for (const Json& one : document["placements"]) {
      const std::string node = one.contains("node") ? one["node"] : "-";
      placements.push_back(std::string(one["name"]) + " " + node);
    }
    return placements;
  }

  std::string err_;
};

constexpr const char* kNode = R"(
apiVersion: v1
kind: Node
metadata: {name: w-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
)";

TEST_F(FilesCliTest, TriesThePodsOfAWorkload) {
  const std::string controller = R"(---
apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec:
  replicas: 30
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: "reg.example/a:1", resources: {requests: {cpu: 8}}}]
)";
  const Outcome run = Run({"simulate", "--cluster", File("n.yaml", kNode), "--pods",
                           File("w.yaml", controller), "--quiet"});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("Placed 0 of 30 pods, 30 could not be placed; 1 node."));
  EXPECT_EQ(PlacementsOf(kNode + controller).size(), 30U);
  EXPECT_THAT(err_, HasSubstr("berth: ReplicationController default/web: 30 pods\n"));
}

TEST_F(FilesCliTest, TriesPodsInTheOrderOfTheirClasses) {
  const std::string cluster = std::string(kNode) + R"(---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 9000
)" + PodOf("a-plain", "3") + PodOf("b-gold", "3", "  priorityClassName: gold\n");
  EXPECT_THAT(PlacementsOf(cluster), ElementsAre("b-gold w-1", "a-plain -"));
  EXPECT_THAT(err_,
              HasSubstr("berth: 2 pods without metadata.uid got what an API server adds to new "
                        "pods: the priority of a PriorityClass (1), "));
  EXPECT_THAT(PlacementsOf(cluster, {"--no-admission"}), ElementsAre("a-plain w-1", "b-gold -"));
  EXPECT_EQ(err_, "");
}

TEST_F(FilesCliTest, CountsTheRequestsOfALimitRange) {
  const std::string cluster = R"(
apiVersion: v1
kind: Node
metadata: {name: w-1}
status: {allocatable: {cpu: "1", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: lr}
spec: {limits: [{type: Container, defaultRequest: {cpu: 600m}, default: {cpu: 800m}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, image: a}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: c, image: a}]}
)";
  EXPECT_THAT(PlacementsOf(cluster), ElementsAre("a w-1", "b -"));
  EXPECT_THAT(PlacementsOf(cluster, {"--no-admission"}), ElementsAre("a w-1", "b w-1"));
}

TEST_F(FilesCliTest, ExplainAndReplayAdmitPods) {
  const std::string cluster =
      File("c.yaml", std::string(kNode) + PodOf("web", "1", "  priorityClassName: gold\n"));
  const std::string expected = cluster +
                               ": Pod default/web: /spec/priorityClassName: expected a "
                               "PriorityClass of the cluster, found \"gold\"\nberth: Add the "
                               "classes of the cluster to the files (kubectl get "
                               "pc,limits,runtimeclasses -A -o json), or use --no-admission\n";
  const std::vector<std::vector<std::string>> commands = {
      {"explain", "--cluster", cluster, "--pod", "web"},
      {"replay", "--cluster", cluster, "--time", "virtual"},
      {"simulate", "--cluster", cluster}};
  for (std::vector<std::string> command : commands) {
    const Outcome refused = Run(command);
    EXPECT_EQ(refused.exit_status, 2) << command[0];
    EXPECT_EQ(refused.err, "berth: " + expected) << command[0];
    command.emplace_back("--no-admission");
    EXPECT_EQ(Run(command).exit_status, 0) << command[0];
  }
}

TEST_F(FilesCliTest, ReplayAdmitsThePodsOfItsStream) {
  const std::string events =
      R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod",)"
      R"("metadata":{"generateName":"x-"},)"
      R"("spec":{"priorityClassName":"system-node-critical","containers":[{"name":"c"}]}}})";
  const Outcome run = Run({"replay", "--cluster", File("c.yaml", kNode), "--events",
                           File("e.jsonl", events), "--time", "virtual"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("default/x-"));
  EXPECT_THAT(run.err, HasSubstr("the priority of a PriorityClass (1)"));
}

TEST_F(FilesCliTest, LeavesNoWorkloadOutInSilence) {
  const std::string job = R"(---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec: {suspend: true, jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}
)";
  EXPECT_THAT(PlacementsOf(kNode + job), ElementsAre());
  EXPECT_EQ(err_, "berth: CronJob default/nightly: no pods: it is suspended\n");
  for (const char* kind : {"v1\nkind: Pods", "v1\nkind: Deployment", "apps/v1\nkind: Pod",
                           "argoproj.io/v1alpha1\nkind: Rollout"}) {
    const std::string text = std::string("apiVersion: ") + kind +
                             "\nmetadata: {name: a}\n"
                             "spec: {template: {spec: {containers: [{name: c}]}}}\n";
    const Outcome run = Run({"simulate", "--cluster", File("n.yaml", kNode), "--pods", "-"}, text);
    EXPECT_EQ(run.exit_status, 2) << kind;
    EXPECT_THAT(run.err, HasSubstr("expected ")) << kind;
    EXPECT_THAT(run.out, Not(HasSubstr("No pod is pending"))) << kind;
  }
}

}  // namespace
}  // namespace berth::host
