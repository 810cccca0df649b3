#include "host/process/replay/local_cluster.h"

#include <cstdio>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/assert.h"
#include "host/base/clock.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kWebPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: web-0, resourceVersion: "7", uid: u}
spec: {nodeName: a, priority: 1}
)";

// Records the names of the objects that a watch delivers.
class NameSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.has_object()) names.emplace_back(Base(event.object).name());
    }
  }
  std::vector<std::string> names;
};

class LocalClusterTest : public ::testing::Test {
 protected:
  // Returns an ADDED event of pod web-0.
  StreamEvent PodEvent(const char* version, int priority) {
    Result<AnyObject> pod = cluster_.decoder().Decode(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default",)"
        R"("uid":"u","resourceVersion":")" +
        std::string(version) + R"("},"spec":{"nodeName":"a","priority":)" +
        std::to_string(priority) + "}}");
    BERTH_ASSERT_MSG(pod.ok(), "%s", pod.status().ToString().c_str());
    return {StreamType::kAdded, 0, *std::move(pod), ""};
  }
  int Priority() const { return cluster_.objects().FindPod("default", "web-0")->view().priority; }

  Interner interner_;
  VirtualClock clock_{kSecond};
  LocalCluster cluster_{interner_, DecodeOptions(), clock_, /*follows_stream=*/true};
};

TEST_F(LocalClusterTest, HasTheKindsOfItsInput) {
  constexpr const char* kQuota = "acme.example.com/v1|v1beta1/Quota";
  EXPECT_FALSE(cluster_.HasKind(kQuota));
  EXPECT_FALSE(cluster_.HasKind("v1/Namespace"));
  ASSERT_TRUE(cluster_
                  .AddManifest("f",
                               "apiVersion: acme.example.com/v1beta1\nkind: Quota\n"
                               "metadata: {name: q}\n")
                  .ok());
  EXPECT_TRUE(cluster_.HasKind(kQuota)) << "any of the versions";
  EXPECT_FALSE(cluster_.HasKind("acme.example.com/v1/Quota"));
  ASSERT_TRUE(cluster_.AddManifest("f", "{apiVersion: v1, kind: NamespaceList, items: []}").ok());
  EXPECT_TRUE(cluster_.HasKind("v1/Namespace"));
  ASSERT_TRUE(cluster_.AddManifest("f", "{apiVersion: v1, kind: List, items: []}").ok());
  EXPECT_FALSE(cluster_.HasKind("v1/Service"));
  auto service = cluster_.decoder().Decode(
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"default"}})");
  ASSERT_TRUE(service.ok());
  ASSERT_TRUE(cluster_.Apply({StreamType::kAdded, 0, *std::move(service), ""}).ok());
  EXPECT_TRUE(cluster_.HasKind("v1/Service"));
  ASSERT_TRUE(cluster_.Apply({StreamType::kBookmark, 0, {}, ""}).ok());
}

TEST_F(LocalClusterTest, DeliversADecodedObjectToItsWatches) {
  NameSink pods;
  const auto watch = cluster_.client().source.StartWatch(kPodKind, pods);
  ASSERT_TRUE(cluster_.Add(PodEvent("7", 1).object).ok());
  EXPECT_THAT(pods.names, ElementsAre("web-0"));
  EXPECT_EQ(cluster_.Add(PodEvent("7", 1).object).message(), "duplicate v1/Pod default/web-0");
  // The stream that follows repeats the version, which changes nothing.
  const Result<bool> changed = cluster_.Apply(PodEvent("7", 2));
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(*changed);
  EXPECT_EQ(Priority(), 1);
}

TEST_F(LocalClusterTest, LoadsEveryObjectOfAManifest) {
  const Status status =
      cluster_.AddManifest("a.yaml",
                           "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
                           "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\n");
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(cluster_.objects().FindNode("a"), nullptr);
  EXPECT_NE(cluster_.objects().FindPod("default", "web-0"), nullptr);
}

TEST_F(LocalClusterTest, ReportsThePositionOfAnInvalidObject) {
  const Status status = cluster_.AddManifest(
      "a.yaml",
      "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\nspec: {priority: high}\n");
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.message().starts_with("a.yaml:8: Pod default/web-0: /spec/priority: "))
      << status.message();
}

TEST_F(LocalClusterTest, ReportsEveryErrorOfADump) {
  NameSink pods;
  const auto watch = cluster_.client().source.StartWatch(kPodKind, pods);
  const Status status = cluster_.AddManifest("dump.json",
                                             R"({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "web"},
         "spec": {"containers": [{"resources": {"requests": {
           "cpu": "lots"}}}]}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}]})");
  EXPECT_EQ(status.message(),
            "dump.json:5: Pod web/a: /items/1/spec/containers/0/resources/requests/cpu: quantity "
            "\"lots\": expected a number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6\n"
            "dump.json:6: Node n: /items/2: duplicate v1/Node n");
  EXPECT_NE(cluster_.objects().FindNode("n"), nullptr);
  EXPECT_THAT(pods.names, ElementsAre("b"));
}

TEST_F(LocalClusterTest, ReportsThePositionOfADuplicateObject) {
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n";
  const Status status = cluster_.AddManifest("a.yaml", node + "---\n" + node);
  EXPECT_EQ(status.code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "a.yaml:5: Node a: duplicate v1/Node a");
}

TEST_F(LocalClusterTest, DeliversObjectsOfAManifestToItsWatches) {
  NameSink pods;
  const auto watch = cluster_.client().source.StartWatch(kPodKind, pods);
  ASSERT_TRUE(cluster_.AddManifest("m", kWebPod).ok());
  EXPECT_THAT(pods.names, ElementsAre("web-0"));
  EXPECT_TRUE(cluster_.AtRest());
}

TEST_F(LocalClusterTest, NamesTheInputInErrors) {
  std::istringstream in("kind: Nothing");
  const auto error = [&](const std::string& path) {
    return std::string(cluster_.AddFiles({.paths = {&path, 1}, .in = in}).message());
  };
  EXPECT_THAT(error("-"), StartsWith("standard input:"));
  EXPECT_THAT(error("no/such.yaml"), StartsWith("no/such.yaml: "));
}

// ---- Objects that no API server has seen --------------------------------------------------------

constexpr const char* kGoldClass = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 9000
)";

TEST_F(LocalClusterTest, AdmitsPodsWithoutAUid) {
  cluster_.SetAdmission(true);
  // The class follows the pods.
  const std::string text = std::string(R"(
apiVersion: v1
kind: Pod
metadata: {name: web-0}
spec: {priorityClassName: gold}
---
apiVersion: v1
kind: Pod
metadata: {name: dumped, uid: u-1}
spec: {priorityClassName: silver, priority: 2}
---
)") + kGoldClass;
  ASSERT_TRUE(cluster_.AddManifest("m", text).ok());
  EXPECT_EQ(Priority(), 9000);
  EXPECT_EQ(cluster_.objects().FindPod("default", "dumped")->view().priority, 2);
  EXPECT_EQ(cluster_.objects().FindPod("default", "dumped")->view().tolerations.count, 0U);
  EXPECT_THAT(
      cluster_.TakeNotes(),
      ElementsAre("1 pod without metadata.uid got what an API server adds to new pods: the "
                  "priority of a PriorityClass (1), tolerations of nodes that are not ready "
                  "(1); --no-admission takes them as they are"));
  EXPECT_THAT(cluster_.TakeNotes(), IsEmpty());
}

TEST_F(LocalClusterTest, NotesTolerationsThatMatter) {
  cluster_.SetAdmission(true);
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\nspec: {}\n";
  ASSERT_TRUE(cluster_.AddManifest("m", pod).ok());
  EXPECT_THAT(cluster_.TakeNotes(), IsEmpty());
  const std::string node =
      "---\napiVersion: v1\nkind: Node\nmetadata: {name: w-1}\n"
      "spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}\n";
  ASSERT_TRUE(cluster_.AddManifest("m", pod + node).ok());
  EXPECT_THAT(cluster_.TakeNotes(),
              ElementsAre("1 pod without metadata.uid got what an API server adds to new pods: "
                          "tolerations of nodes that are not ready (1); --no-admission takes them "
                          "as they are"));
}

TEST_F(LocalClusterTest, NotesLimitRangesThatADumpLacks) {
  struct Case {
    const char* name;
    std::string text;
    bool is_complete;
    size_t notes;
  };
  const std::string dumped = "---\n{apiVersion: v1, kind: Node, metadata: {name: w-1, uid: u}}\n";
  const std::string written = "---\n{apiVersion: v1, kind: Node, metadata: {name: w-1}}\n";
  const std::string limits = "---\n{apiVersion: v1, kind: LimitRangeList, items: []}\n";
  const auto pod = [](const std::string& resources) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, "
           "resources: {" +
           resources + "}}]}}\n";
  };
  const Case cases[] = {
      {"dump", pod("") + dumped, false, 1},
      {"one request", pod("requests: {cpu: 1}") + dumped, false, 1},
      {"all requests", pod("requests: {cpu: 1}, limits: {memory: 1}") + dumped, false, 0},
      {"complete", pod("") + dumped, true, 0},
      {"an empty list", pod("") + dumped + limits, false, 0},
      {"no dump", pod("") + written, false, 0},
  };
  for (const Case& c : cases) {
    LocalCluster cluster(interner_, DecodeOptions(), clock_, /*follows_stream=*/false);
    cluster.SetAdmission(true, c.is_complete);
    ASSERT_TRUE(cluster.AddManifest("m", c.text).ok()) << c.name;
    EXPECT_EQ(cluster.TakeNotes().size(), c.notes) << c.name;
  }
}

TEST_F(LocalClusterTest, TakesPodsAsTheyAreWithoutAdmission) {
  const std::string text =
      std::string(
          "{apiVersion: v1, kind: Pod, metadata: {name: web-0}, spec: {priorityClassName: "
          "gold}}\n---\n") +
      kGoldClass;
  ASSERT_TRUE(cluster_.AddManifest("m", text).ok());
  EXPECT_EQ(Priority(), 0);
  EXPECT_THAT(cluster_.TakeNotes(), IsEmpty());
}

TEST_F(LocalClusterTest, NamesPodsThatAdmissionRefuses) {
  cluster_.SetAdmission(true);
  const std::string text =
      "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priorityClassName: gold}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {runtimeClassName: r}}\n";
  EXPECT_EQ(cluster_.AddManifest("m", text).message(),
            "m: Pod default/a: /spec/priorityClassName: expected a PriorityClass of the cluster, "
            "found \"gold\"\n"
            "m: Pod default/c: /spec/runtimeClassName: expected a RuntimeClass of the cluster, "
            "found \"r\"\n"
            "Add the classes of the cluster to the files (kubectl get pc,limits,runtimeclasses -A "
            "-o json), or use --no-admission");
  EXPECT_NE(cluster_.objects().FindPod("default", "b"), nullptr);
}

TEST_F(LocalClusterTest, ReportsDuplicatesOfPodsThatWait) {
  cluster_.SetAdmission(true);
  const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}\n---\n";
  EXPECT_EQ(cluster_.AddManifest("m", pod + pod).message(),
            "m:3: Pod default/a: duplicate v1/Pod default/a");
  ASSERT_TRUE(cluster_.AddManifest("m", pod).ok());
  EXPECT_EQ(cluster_.AddManifest("m", pod).message(),
            "m:1: Pod default/a: duplicate v1/Pod default/a");
}

TEST_F(LocalClusterTest, AdmitsPodsOfAStream) {
  cluster_.SetAdmission(true);
  ASSERT_TRUE(cluster_.AddManifest("m", kGoldClass).ok());
  const auto apply = [&](const std::string& json) {
    Result<AnyObject> object = cluster_.decoder().Decode(json);
    EXPECT_TRUE(object.ok()) << object.status().message();
    return cluster_.Apply({StreamType::kAdded, 0, *std::move(object), json});
  };
  ASSERT_TRUE(apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0"},)"
                    R"("spec":{"priorityClassName":"gold"}})")
                  .ok());
  EXPECT_EQ(Priority(), 9000);
  // A class of the stream counts for the pods after it.
  const std::string silver = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"s"},)"
                             R"("spec":{"priorityClassName":"silver"}})";
  EXPECT_EQ(apply(silver).status().message(),
            "/spec/priorityClassName: expected a PriorityClass of the cluster, found \"silver\"");
  ASSERT_TRUE(apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",)"
                    R"("metadata":{"name":"silver"},"value":3})")
                  .ok());
  ASSERT_TRUE(apply(silver).ok());
  // An update keeps the priority, also if the class has gone or changed.
  ASSERT_TRUE(apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",)"
                    R"("metadata":{"name":"silver"},"value":4})")
                  .ok());
  ASSERT_TRUE(apply(silver).ok());
  EXPECT_EQ(cluster_.objects().FindPod("default", "s")->view().priority, 3);
  EXPECT_EQ(cluster_.TakeNotes().size(), 1U);
}

constexpr const char* kWorkload = R"(
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web%s}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {priorityClassName: gold, priority: 9000}}
)";

std::string Workload(const std::string& more) {
  std::string text = kWorkload;
  return text.replace(text.find("%s"), 2, more);
}

TEST_F(LocalClusterTest, CreatesThePodsOfWorkloads) {
  cluster_.SetAdmission(true);
  ASSERT_TRUE(cluster_.AddManifest("m", Workload("") + "---" + kGoldClass).ok());
  const std::vector<AnyObject> pods = cluster_.objects().List(kPodKind);
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_THAT(std::string(Base(pods[0]).name()), StartsWith("web-"));
  EXPECT_EQ(std::get<PodRef>(pods[0])->view().priority, 9000);
  const std::vector<std::string> notes = cluster_.TakeNotes();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0], "ReplicaSet default/web: 2 pods");
  EXPECT_THAT(notes[1], StartsWith("2 pods without metadata.uid"));
}

TEST_F(LocalClusterTest, ExpandsWorkloadsOfADumpOnRequest) {
  const std::string path = testing::TempDir() + "/berth_workload.yaml";
  std::ofstream(path) << Workload(", uid: u-1");
  std::istringstream in;
  LocalCluster::Files files = {.paths = {&path, 1}, .in = in};
  ASSERT_TRUE(cluster_.AddFiles(files).ok());
  EXPECT_EQ(cluster_.objects().List(kPodKind).size(), 0U);
  std::ofstream(path) << Workload("-2, uid: u-2");
  files.workloads = LocalCluster::Workloads::kAll;
  ASSERT_TRUE(cluster_.AddFiles(files).ok());
  EXPECT_EQ(cluster_.objects().List(kPodKind).size(), 2U);
  std::remove(path.c_str());
}

TEST_F(LocalClusterTest, AnEditedWorkloadReplacesThatOfTheDump) {
  ASSERT_TRUE(cluster_.AddManifest("dump", Workload(", uid: u-1")).ok());
  std::string edited = Workload(", uid: u-1");
  edited.replace(edited.find("replicas: 2"), 11, "replicas: 5");
  const std::string path = testing::TempDir() + "/berth_edited.yaml";
  std::ofstream(path) << edited;
  std::istringstream in;
  const LocalCluster::Files files = {
      .paths = {&path, 1}, .in = in, .workloads = LocalCluster::Workloads::kAll};
  const Status status = cluster_.AddFiles(files);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(cluster_.objects().List(kPodKind).size(), 5U);
  EXPECT_THAT(cluster_.TakeNotes(), ElementsAre("ReplicaSet default/web: 5 pods"));
  std::ofstream(path) << edited << "---" << edited;
  EXPECT_THAT(cluster_.AddFiles(files).message(),
              testing::HasSubstr("duplicate apps/v1/ReplicaSet default/web"));
  std::remove(path.c_str());
}

// The pods of a ReplicaSet of a Deployment are those of the Deployment, whichever comes first.
TEST_F(LocalClusterTest, AWorkloadOfAWorkloadAddsNothing) {
  const std::string deployment =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 3, selector: "
      "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {}}}}\n---\n";
  const std::string set =
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: d-1, ownerReferences: "
      "[{apiVersion: "
      "apps/v1, kind: Deployment, name: d, uid: u, controller: true}]}, spec: {replicas: 3, "
      "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "
      "{}}}}\n---\n";
  for (const std::string& text : {deployment + set, set + deployment}) {
    LocalCluster cluster(interner_, DecodeOptions(), clock_, /*follows_stream=*/false);
    ASSERT_TRUE(cluster.AddManifest("m", text).ok());
    EXPECT_EQ(cluster.objects().List(kPodKind).size(), 3U);
    EXPECT_THAT(cluster.TakeNotes(),
                testing::Contains("ReplicaSet default/d-1: no pods: Deployment d decides about "
                                  "them"));
  }
}

TEST_F(LocalClusterTest, AWorkloadCountsPodsInAnyOrder) {
  const std::string set = Workload("") + "---\n";
  std::string plain = set;
  plain.replace(plain.find("{priorityClassName: gold, priority: 9000}"), 41, "{}");
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: web}}, spec: {}}\n---\n";
  for (const std::string& text : {plain + pod, pod + plain}) {
    LocalCluster cluster(interner_, DecodeOptions(), clock_, /*follows_stream=*/false);
    cluster.SetAdmission(true);
    ASSERT_TRUE(cluster.AddManifest("m", text).ok());
    EXPECT_EQ(cluster.objects().List(kPodKind).size(), 2U);
  }
}

TEST_F(LocalClusterTest, AddedObjectsDoNotCountAsInput) {
  const std::string path = testing::TempDir() + "/berth_added.yaml";
  std::ofstream(path) << Workload("")
                      << "---\n{apiVersion: v1, kind: Service, metadata: {name: s}}";
  std::istringstream in;
  ASSERT_TRUE(
      cluster_.AddFiles({.paths = {&path, 1}, .in = in, .workloads = LocalCluster::Workloads::kAll})
          .ok());
  EXPECT_FALSE(cluster_.HasKind("v1/Service"));
  EXPECT_FALSE(cluster_.HasKind("apps/v1/ReplicaSet"));
  std::remove(path.c_str());
}

TEST_F(LocalClusterTest, SaysWhyAWorkloadHasNoPods) {
  std::string text = Workload("");
  text.replace(text.find("replicas: 2"), 11, "replicas: 0");
  ASSERT_TRUE(cluster_.AddManifest("m", text).ok());
  EXPECT_THAT(cluster_.TakeNotes(),
              ElementsAre("ReplicaSet default/web: no pods: it has 0 replicas"));
}

// The API server of a dump may have served what no newer one does.
TEST_F(LocalClusterTest, AcceptsEveryKindOfADump) {
  for (const char* uid : {"", ", uid: u"}) {
    const std::string text = "{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a" +
                             std::string(uid) + "}}";
    EXPECT_EQ(cluster_.AddManifest("m", text).ok(), *uid != '\0') << uid;
  }
}

TEST_F(LocalClusterTest, RefusesKindsThatWouldBeLeftOut) {
  EXPECT_EQ(
      cluster_.AddManifest("m", "{apiVersion: v1, kind: Pods, metadata: {name: a}}").message(),
      "m:1: Pods a: /kind: expected a kind of Kubernetes, found Pods (apiVersion v1); did you "
      "mean Pod?");
  EXPECT_EQ(cluster_
                .AddManifest("m",
                             "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n"
                             "metadata: {name: a}\nspec: {template: {spec: {containers: []}}}")
                .message(),
            "m:2: Rollout a: /kind: expected a pod or a workload of Kubernetes, found "
            "argoproj.io/v1alpha1/Rollout, whose own controller creates its pods; add the pods "
            "instead");
  EXPECT_TRUE(
      cluster_.AddManifest("m", "{apiVersion: example.com/v1, kind: Rack, metadata: {name: a}}")
          .ok());
}

// A stream may begin with an older state of an object that was loaded from a file.
TEST_F(LocalClusterTest, IgnoresOlderVersionsOfLoadedObjects) {
  ASSERT_TRUE(cluster_.AddManifest("m", kWebPod).ok());
  EXPECT_FALSE(*cluster_.Apply(PodEvent("6", 5)));
  EXPECT_EQ(Priority(), 1);
  EXPECT_TRUE(*cluster_.Apply(PodEvent("8", 5)));
  EXPECT_EQ(Priority(), 5);
}

TEST_F(LocalClusterTest, FinishesDeletionOfPodAfterItsGracePeriod) {
  ASSERT_TRUE(cluster_.AddManifest("m", kWebPod).ok());
  cluster_.client().writer.DeletePod({"default", "web-0", ""}, 5, nullptr);
  cluster_.Deliver();
  EXPECT_EQ(cluster_.NextDeletionNs(), 6 * kSecond);
  EXPECT_FALSE(cluster_.AtRest());
  EXPECT_FALSE(cluster_.FinishDeletions());
  clock_.AdvanceTo(6 * kSecond);
  EXPECT_TRUE(cluster_.FinishDeletions());
  cluster_.Deliver();
  EXPECT_EQ(cluster_.objects().FindPod("default", "web-0"), nullptr);
  EXPECT_TRUE(cluster_.AtRest());
}

TEST_F(LocalClusterTest, ServesTheApiForPlugins) {
  ASSERT_TRUE(
      cluster_.AddManifest("m", "apiVersion: v1\nkind: Namespace\nmetadata: {name: red}").ok());
  std::string answer;
  ApiRequest request;
  request.verb = "GET";
  request.path = "/api/v1/namespaces/red";
  cluster_.client().writer.Request(std::move(request), [&](const ApiResponse& given) {
    answer = given.status.ok() ? given.body : given.status.ToString();
  });
  cluster_.Deliver();
  EXPECT_THAT(answer, ::testing::HasSubstr(R"("kind":"Namespace")"));
}

}  // namespace
}  // namespace berth::host
