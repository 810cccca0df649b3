#include "host/cluster/control_plane/workload.h"

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "host/cluster/control_plane/control_plane_testing.h"
#include "host/cluster/control_plane/json_members.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kTemplate =
    "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}";

constexpr const char* kJobTemplate =
    "template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, containers: [{name: "
    "c}]}}";

class WorkloadTest : public ControlPlaneTest {
 protected:
  // The result, with the pods.
  struct Expanded : WorkloadPods {
    std::vector<Json> pods;
  };

  Result<Expanded> ExpandJson(const Json& workload) {
    Expanded expanded;
    const ControlledPods pods(cluster_);
    const Result<WorkloadPods> result =
        ExpandWorkload(workload, {cluster_, pods, decoder_,
                                  [this](const Json& object) {
                                    created_.push_back(object);
                                    return Result<std::string>(Add(object));
                                  },
                                  [&expanded](const Json& pod) {
                                    expanded.pods.push_back(pod);
                                    return Status();
                                  }});
    if (!result.ok()) return result.status();
    static_cast<WorkloadPods&>(expanded) = *result;
    EXPECT_EQ(expanded.created, expanded.pods.size());
    return expanded;
  }
  // Adds the workload to the cluster and expands it.
  Result<Expanded> Expand(const std::string& api_version, const std::string& kind,
                          const std::string& spec, const std::string& more = "") {
    Json workload =
        Yaml("{apiVersion: " + api_version + ", kind: " + kind +
             ", metadata: {name: web, namespace: shop}, spec: {" + spec + "}" + more + "}");
    workload["metadata"]["uid"] = Add(workload);
    return ExpandJson(workload);
  }
  Expanded PodsOf(const std::string& api_version, const std::string& kind, const std::string& spec,
                  const std::string& more = "") {
    Result<Expanded> pods = Expand(api_version, kind, spec, more);
    EXPECT_TRUE(pods.ok()) << pods.status().message();
    return pods.ok() ? *std::move(pods) : Expanded();
  }
  std::string ErrorOf(const std::string& api_version, const std::string& kind,
                      const std::string& spec) {
    const Result<Expanded> pods = Expand(api_version, kind, spec);
    return pods.ok() ? "expanded" : std::string(pods.status().message());
  }
  void AddNode(const std::string& name, const std::string& more = "") {
    Add(Yaml("{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {n: " + name +
             "}}" + more + "}"));
  }
  // Adds the pods to the cluster as they are.
  void AddAll(const Expanded& pods) {
    for (const Json& pod : pods.pods) Add(pod);
  }
  static std::string OwnerOf(const Json& pod) {
    return TextAt(pod, "/metadata/ownerReferences/0/apiVersion") + " " +
           TextAt(pod, "/metadata/ownerReferences/0/kind") + " " +
           TextAt(pod, "/metadata/ownerReferences/0/name");
  }

  std::vector<Json> created_;
};

const std::string kSelector = "selector: {matchLabels: {app: web}}, ";

TEST_F(WorkloadTest, CreatesReplicas) {
  struct Case {
    const char* api_version;
    const char* kind;
    const char* selector;
  };
  for (const Case& c :
       {Case{"apps/v1", "ReplicaSet", "selector: {matchLabels: {app: web}}, "},
        Case{"v1", "ReplicationController", "selector: {app: web}, "},
        Case{"v1", "ReplicationController", ""},
        Case{"v1", "ReplicationController", "selector: {matchLabels: {app: web}}, "}}) {
    Remove(std::string(c.api_version) + "/" + c.kind, "shop", "web");
    const Expanded found =
        PodsOf(c.api_version, c.kind, std::string(c.selector) + "replicas: 3, " + kTemplate);
    ASSERT_EQ(found.pods.size(), 3U) << c.kind;
    const Json& pod = found.pods[2];
    EXPECT_EQ(pod["metadata"]["generateName"], "web-");
    EXPECT_EQ(pod["metadata"]["namespace"], "shop");
    EXPECT_EQ(pod["metadata"]["labels"].dump(), R"({"app":"web"})");
    EXPECT_EQ(pod["spec"].dump(), R"({"containers":[{"name":"c"}]})");
    EXPECT_EQ(OwnerOf(pod), std::string(c.api_version) + " " + c.kind + " web");
    EXPECT_NE(TextAt(pod, "/metadata/ownerReferences/0/uid"), "");
  }
  EXPECT_THAT(created_, IsEmpty());
}

TEST_F(WorkloadTest, CountsPodsThatExist) {
  const std::string spec = kSelector + "replicas: 3, " + kTemplate;
  AddAll(PodsOf("apps/v1", "ReplicaSet", spec));
  // The set counts none of these three pods.
  Add(Yaml("{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: shop}, spec: {}}"));
  Add(
      Yaml("{apiVersion: v1, kind: Pod, metadata: {name: ended, namespace: shop, labels: {app: "
           "web}}, spec: {}, status: {phase: Succeeded}}"));
  Add(
      Yaml("{apiVersion: v1, kind: Pod, metadata: {name: foreign, namespace: shop, labels: {app: "
           "web}, ownerReferences: [{apiVersion: x.io/v1, kind: ReplicaSet, name: web, uid: z, "
           "controller: true}]}, spec: {}}"));
  // The set adopts this one.
  Add(
      Yaml("{apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: shop, labels: {app: "
           "web}}, spec: {}}"));
  Remove("apps/v1/ReplicaSet", "shop", "web");
  const Expanded found = PodsOf("apps/v1", "ReplicaSet", kSelector + "replicas: 6, " + kTemplate);
  EXPECT_EQ(found.existing, 4U);
  EXPECT_EQ(found.pods.size(), 2U);
}

TEST_F(WorkloadTest, CreatesTheReplicaSetOfADeployment) {
  const Expanded found = PodsOf("apps/v1", "Deployment", kSelector + "replicas: 2, " + kTemplate);
  ASSERT_EQ(found.pods.size(), 2U);
  ASSERT_EQ(created_.size(), 1U);
  const std::string set = TextAt(created_[0], "/metadata/name");
  EXPECT_THAT(set, testing::MatchesRegex("web-[a-z0-9]{10}"));
  EXPECT_EQ(OwnerOf(created_[0]), "apps/v1 Deployment web");
  EXPECT_EQ(OwnerOf(found.pods[0]), "apps/v1 ReplicaSet " + set);
  EXPECT_EQ(found.pods[0]["metadata"]["generateName"], set + "-");
  const std::string hash = set.substr(4);
  EXPECT_EQ(found.pods[0]["metadata"]["labels"]["pod-template-hash"], hash);
  EXPECT_EQ(created_[0]["spec"]["selector"]["matchLabels"]["pod-template-hash"], hash);
}

TEST_F(WorkloadTest, ScalesADeploymentThatRuns) {
  const std::string spec = kSelector + kTemplate + ", replicas: ";
  AddAll(PodsOf("apps/v1", "Deployment", spec + "2"));
  Remove("apps/v1/Deployment", "shop", "web");
  created_.clear();
  // A pod of an older ReplicaSet counts, too.
  Add(
      Yaml("{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: shop, creationTimestamp: "
           "'1970-01-01T08:00:00Z', labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, "
           "kind: ReplicaSet, name: web-a, uid: u, controller: true}]}, spec: {}}"));
  const Expanded found = PodsOf("apps/v1", "Deployment", spec + "6");
  EXPECT_EQ(found.existing, 3U);
  ASSERT_EQ(found.pods.size(), 3U);
  EXPECT_THAT(created_, IsEmpty());
  EXPECT_THAT(OwnerOf(found.pods[0]), StartsWith("apps/v1 ReplicaSet web-"));
  EXPECT_NE(OwnerOf(found.pods[0]), "apps/v1 ReplicaSet web-a");
  EXPECT_NE(TextAt(found.pods[0], "/metadata/labels/pod-template-hash"), "");
}

TEST_F(WorkloadTest, NumbersThePodsOfAStatefulSet) {
  Add(Yaml("{apiVersion: v1, kind: Pod, metadata: {name: web-4, namespace: shop}, spec: {}}"));
  const Expanded found = PodsOf(
      "apps/v1", "StatefulSet",
      kSelector + "replicas: 2, ordinals: {start: 3}, " + kTemplate +
          ", volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]");
  EXPECT_EQ(found.existing, 1U);
  ASSERT_EQ(found.pods.size(), 1U);
  const Json& pod = found.pods[0];
  EXPECT_EQ(pod["metadata"]["name"], "web-3");
  EXPECT_FALSE(pod["metadata"].contains("generateName"));
  EXPECT_EQ(pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"], "3");
  EXPECT_EQ(pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"], "web-3");
  EXPECT_EQ(pod["spec"]["volumes"].dump(),
            R"([{"name":"data","persistentVolumeClaim":{"claimName":"data-web-3"}}])");
  ASSERT_EQ(created_.size(), 1U);
  EXPECT_EQ(created_[0]["metadata"].dump(), R"({"name":"data-web-3","namespace":"shop"})");
}

TEST_F(WorkloadTest, CreatesDaemonPodsOnNodesThatAllowThem) {
  AddNode("a");
  AddNode("cordoned",
          ", spec: {taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}");
  AddNode("tainted", ", spec: {taints: [{key: gpu, effect: NoSchedule}]}");
  AddNode("preferred", ", spec: {taints: [{key: gpu, effect: PreferNoSchedule}]}");
  Expanded found = PodsOf("apps/v1", "DaemonSet", kSelector + kTemplate);
  std::vector<std::string> nodes;
  for (const Json& pod : found.pods) {
    nodes.push_back(
        TextAt(pod,
               "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"
               "/nodeSelectorTerms/0/matchFields/0/values/0"));
  }
  EXPECT_THAT(nodes, ElementsAre("a", "cordoned", "preferred"));
  EXPECT_EQ(found.pods[0]["spec"]["tolerations"].size(), 6U);

  // Pods that exist are counted, whether they have a node or not.
  AddAll(found);
  AddNode("b");
  Remove("apps/v1/DaemonSet", "shop", "web");
  found = PodsOf("apps/v1", "DaemonSet", kSelector + kTemplate);
  EXPECT_EQ(found.existing, 3U);
  EXPECT_EQ(found.pods.size(), 1U);
}

TEST_F(WorkloadTest, SelectsTheNodesOfADaemonSet) {
  AddNode("a");
  AddNode("b");
  const std::string spec = kSelector +
                           "template: {metadata: {labels: {app: web}}, spec: {hostNetwork: true, "
                           "containers: [{name: c}], nodeSelector: {n: ";
  EXPECT_EQ(PodsOf("apps/v1", "DaemonSet", spec + "b}}}").pods.size(), 1U);
  Remove("apps/v1/DaemonSet", "shop", "web");
  const Expanded none = PodsOf("apps/v1", "DaemonSet", spec + "c}}}");
  EXPECT_THAT(none.pods, IsEmpty());
  EXPECT_EQ(none.why_none, "no node allows one");
}

TEST_F(WorkloadTest, LimitsThePodsOfAJob) {
  struct Case {
    const char* spec;
    size_t pods;
    const char* why_none;
    const char* more = "";
  };
  const Case cases[] = {
      {"", 1, ""},
      {"parallelism: 3, ", 3, ""},
      {"completions: 5, ", 1, ""},
      {"completions: 5, parallelism: 3, ", 3, ""},
      {"completions: 2, parallelism: 3, ", 2, ""},
      {"completions: 5, parallelism: 3, ", 1, "", ", status: {succeeded: 4}"},
      {"completions: 5, parallelism: 3, ", 0, "it is complete", ", status: {succeeded: 5}"},
      {"parallelism: 0, ", 0, "its parallelism is 0"},
      {"completions: 0, ", 0, "it is complete"},
      {"suspend: true, ", 0, "it is suspended"},
      {"", 0, "it has ended", ", status: {conditions: [{type: Failed, status: 'True'}]}"},
      {"", 0, "it has ended", ", status: {conditions: [{type: Complete, status: 'True'}]}"},
      {"", 1, "", ", status: {conditions: [{type: Failed, status: 'False'}]}"},
      {"parallelism: 3, ", 0, "a pod of it has succeeded", ", status: {succeeded: 1}"},
      {"parallelism: 3, ", 3, "", ", status: {succeeded: 0}"},
  };
  for (const Case& c : cases) {
    Remove("batch/v1/Job", "shop", "web");
    const Expanded found = PodsOf("batch/v1", "Job", std::string(c.spec) + kJobTemplate, c.more);
    EXPECT_EQ(found.pods.size(), c.pods) << c.spec << c.more;
    EXPECT_EQ(found.why_none, c.why_none) << c.spec << c.more;
  }
}

TEST_F(WorkloadTest, CreatesNothingForADeletedWorkload) {
  Json workload = Yaml(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: web, uid: u, "
      "deletionTimestamp: '2026-01-10T08:00:00Z'}, spec: {" +
      std::string(kJobTemplate) + "}}");
  EXPECT_EQ(ExpandJson(workload)->why_none, "it is being deleted");
  workload["metadata"].erase("deletionTimestamp");
  EXPECT_EQ(ExpandJson(workload)->pods.size(), 1U);
}

TEST_F(WorkloadTest, IndexesThePodsOfAJob) {
  const Expanded found = PodsOf(
      "batch/v1", "Job",
      std::string("completions: 4, parallelism: 2, completionMode: Indexed, ") + kJobTemplate);
  ASSERT_EQ(found.pods.size(), 2U);
  const Json& metadata = found.pods[1]["metadata"];
  EXPECT_EQ(metadata["generateName"], "web-1-");
  EXPECT_EQ(metadata["labels"]["batch.kubernetes.io/job-completion-index"], "1");
  EXPECT_EQ(metadata["labels"]["job-name"], "web");
  EXPECT_EQ(metadata["labels"]["batch.kubernetes.io/job-name"], "web");
}

TEST_F(WorkloadTest, RunsACronJobOnce) {
  const std::string spec = std::string(
                               "schedule: '@daily', jobTemplate: {metadata: {labels: {j: x}}, "
                               "spec: {parallelism: 2, ") +
                           kJobTemplate + "}}";
  const Expanded found = PodsOf("batch/v1", "CronJob", spec);
  ASSERT_EQ(found.pods.size(), 2U);
  ASSERT_EQ(created_.size(), 1U);
  EXPECT_EQ(created_[0]["metadata"]["name"], "web-1");
  EXPECT_EQ(created_[0]["metadata"]["labels"]["j"], "x");
  EXPECT_EQ(OwnerOf(created_[0]), "batch/v1 CronJob web");
  EXPECT_EQ(OwnerOf(found.pods[0]), "batch/v1 Job web-1");
  Remove("batch/v1/CronJob", "shop", "web");
  EXPECT_EQ(PodsOf("batch/v1", "CronJob", "suspend: true, " + spec).why_none, "it is suspended");
}

TEST_F(WorkloadTest, NamesWhatAServerRefuses) {
  struct Case {
    const char* api_version;
    const char* kind;
    std::string spec;
    const char* expected;
  };
  const Case cases[] = {
      {"apps/v1", "Deployment", "replicas: 1",
       "/spec/template: expected a pod template, found nothing"},
      {"apps/v1", "Deployment", kTemplate,
       "/spec/selector: expected a label selector, found nothing"},
      {"apps/v1", "Deployment", "selector: {matchLabels: {app: db}}, " + std::string(kTemplate),
       "/spec/selector: expected a selector that the labels of /spec/template match, found "
       "{\"matchLabels\":{\"app\":\"db\"}}"},
      {"apps/v1", "ReplicaSet", kSelector + "replicas: -1, " + kTemplate,
       "/spec/replicas: expected an integer that is not negative, found -1"},
      {"apps/v1", "ReplicaSet", kSelector + "replicas: many, " + kTemplate,
       "/spec/replicas: expected an integer that is not negative, found \"many\""},
      {"apps/v1", "ReplicaSet", kSelector + "replicas: 1000001, " + kTemplate,
       "/spec/replicas: expected at most 1000000 pods, found 1000001"},
      {"apps/v1", "StatefulSet", kSelector + "volumeClaimTemplates: [{spec: {}}], " + kTemplate,
       "/spec/volumeClaimTemplates: expected claims with a name, found {\"spec\":{}}"},
      {"batch/v1", "CronJob", "schedule: x",
       "/spec/jobTemplate: expected a Job template, found nothing"},
      {"batch/v1", "CronJob", "jobTemplate: {spec: {}}",
       "/spec/schedule: expected a schedule such as '0 2 * * *', found nothing"},
      {"batch/v1", "Job", std::string("suspend: 'true', ") + kJobTemplate,
       "/spec/suspend: expected true or false, found \"true\""},
      {"batch/v1", "Job", std::string("completionMode: 7, ") + kJobTemplate,
       "/spec/completionMode: expected Indexed or NonIndexed, found 7"},
      {"batch/v1", "Job", std::string("completionMode: Indexed, ") + kJobTemplate,
       "/spec/completions: expected a number, because the Job is Indexed, found nothing"},
      {"batch/v1", "Job", kTemplate,
       "/spec/template/spec/restartPolicy: expected OnFailure or Never, found nothing"},
      {"apps/v1", "StatefulSet", kSelector + "ordinals: {start: 2147483648}, " + kTemplate,
       "/spec/ordinals/start: expected an integer of 32 bits, found 2147483648"},
      {"batch/v1", "CronJob", "schedule: x, jobTemplate: {spec: {}}",
       "/spec/jobTemplate: /spec/template: expected a pod template, found nothing"},
      {"apps/v1", "StatefulSet",
       kSelector + "template: {metadata: {labels: {app: web}}, spec: {priority: high}}",
       "/spec/template: /spec/priority: expected an integer, found \"high\""},
  };
  for (const Case& c : cases) {
    Remove(std::string(c.api_version) + "/" + c.kind, "shop", "web");
    EXPECT_EQ(ErrorOf(c.api_version, c.kind, c.spec), c.expected) << c.kind << ": " << c.spec;
  }
}

// Only what a decoder refuses is not tried, because it never gets so far.
TEST_F(WorkloadTest, AnswersValuesOfAnyType) {
  AddNode("a");
  const std::string of_pods = kSelector + "replicas: 1, " + kTemplate;
  const std::string workloads[] = {
      "apiVersion: apps/v1, kind: Deployment, spec: {" + of_pods + "}",
      "apiVersion: apps/v1, kind: StatefulSet, spec: {ordinals: {start: 0}, volumeClaimTemplates: "
      "[{metadata: {name: data}, spec: {}}], " +
          of_pods + "}",
      "apiVersion: apps/v1, kind: DaemonSet, spec: {" + of_pods + "}",
      "apiVersion: v1, kind: ReplicationController, spec: {" + of_pods + "}",
      std::string("apiVersion: batch/v1, kind: CronJob, spec: {schedule: x, jobTemplate: "
                  "{metadata: {labels: {a: "
                  "b}}, spec: {completions: 1, parallelism: 1, completionMode: Indexed, ") +
          kJobTemplate + "}}}"};
  size_t count = 0;
  for (const std::string& text : workloads) {
    const Json valid = Yaml("{metadata: {name: web, namespace: shop, uid: u}, " + text + "}");
    ForEachMutation(valid, [&](const Json& workload, const std::string& what) {
      if (!decoder_.Decode(DumpJson(workload)).ok()) return;
      ++count;
      try {
        const ControlledPods existing(cluster_);
        const Result<WorkloadPods> pods = ExpandWorkload(
            workload, {cluster_, existing, decoder_,
                       [](const Json&) { return Result<std::string>(std::string("u")); },
                       [](const Json&) { return Status(); }});
        if (pods.ok()) return;
        EXPECT_THAT(pods.status().message(), HasSubstr("expected ")) << what;
      } catch (const std::exception& error) {
        ADD_FAILURE() << TextAt(valid, "/kind") << ": " << what << ": " << error.what();
      }
    });
  }
  EXPECT_GT(count, 500U);
}

TEST_F(WorkloadTest, KnowsKindsAndTemplates) {
  EXPECT_TRUE(IsWorkload("apps/v1/Deployment"));
  EXPECT_TRUE(IsWorkload("v1/ReplicationController"));
  EXPECT_FALSE(IsWorkload("v1/Pod"));
  EXPECT_FALSE(IsWorkload("example.com/v1/Deployment"));
  EXPECT_TRUE(HasPodTemplate(Yaml("{spec: {template: {spec: {containers: []}}}}")));
  EXPECT_TRUE(HasPodTemplate(Yaml("{spec: {tasks: [{template: {spec: {containers: []}}}]}}")));
  EXPECT_TRUE(
      HasPodTemplate(Yaml("{spec: {replicas: {worker: {template: {spec: {containers: []}}}}}}")));
  EXPECT_FALSE(HasPodTemplate(Yaml("{spec: {template: {spec: {}}}}")));
}

}  // namespace
}  // namespace berth::host
