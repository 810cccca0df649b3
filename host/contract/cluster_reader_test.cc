#include "host/contract/cluster_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

Result<ContractCluster> Read(const std::string& text, const ClusterParts& parts = {}) {
  const std::vector<ClusterManifest> manifests = {{"cluster.json", text}};
  return ReadContractCluster(manifests, parts);
}

std::string Nodes(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += TestObjects::Json(TestNode{.name = "n" + std::to_string(i)}) + "\n";
  }
  return text;
}

std::string Pods(size_t count, const std::string& prefix, const std::string& node) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += TestObjects::Json(TestPod{.name = prefix + std::to_string(i), .node = node}) + "\n";
  }
  return text;
}

// A pod that is being deleted.
std::string Deleted(const std::string& name, const std::string& node) {
  return TestObjects::Json(
      TestPod{.name = name, .node = node, .meta = R"("deletionTimestamp":"2024-01-01T00:00:00Z")"});
}

// Of two containers, only the second requests memory; its resize to less memory is in progress.
std::string Resized(const std::string& node) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"r","namespace":"default"},)"
         R"("spec":{"nodeName":")" +
         node +
         R"(","containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},)"
         R"({"name":"b","resources":{"requests":{"memory":"1Gi"}}}]},)"
         R"("status":{"phase":"Running","containerStatuses":[{"name":"b",)"
         R"("resources":{"requests":{"memory":"3Gi"}},"allocatedResources":{"memory":"3Gi"}}]}})";
}

TEST(ClusterReaderTest, SelectsNodesAndPods) {
  const struct {
    const char* name;
    std::string text;
    size_t nodes;
    size_t pods;
    size_t pods_on_first;
  } cases[] = {
      {"the smallest cluster", Nodes(1) + Pods(1, "w", ""), 1, 1, 0},
      {"only a pod on a node, which is copied", Nodes(1) + Pods(1, "r", "n0"), 1, 1, 1},
      {"all nodes", Nodes(kMaxClusterNodes) + Pods(1, "w", ""), kMaxClusterNodes, 1, 0},
      {"more nodes", Nodes(kMaxClusterNodes + 1) + Pods(1, "w", ""), kMaxClusterNodes, 1, 0},
      {"all pods", Nodes(1) + Pods(kMaxClusterPods, "w", ""), 1, kMaxClusterPods, 0},
      {"more pods", Nodes(1) + Pods(kMaxClusterPods + 1, "w", ""), 1, kMaxClusterPods, 0},
      {"pods with and without a node", Nodes(1) + Pods(1, "w", "") + Pods(2, "r", "n0"), 1, 3, 2},
      {"more pods on a node", Nodes(1) + Pods(kMaxPodsOnNode + 5, "r", "n0"), 1, kMaxPodsOnNode,
       kMaxPodsOnNode},
      {"a pod without a node that is being deleted", Nodes(1) + Pods(1, "w", "") + Deleted("d", ""),
       1, 1, 0},
      {"a pod on a node that is being deleted", Nodes(1) + Deleted("d", "n0"), 1, 1, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto cluster = Read(c.text);
    ASSERT_TRUE(cluster.ok()) << cluster.status().message();
    EXPECT_EQ(cluster->nodes.size(), c.nodes);
    EXPECT_EQ(cluster->pods.size(), c.pods);
    EXPECT_EQ(cluster->nodes.front().pods.size(), c.pods_on_first);
    for (const testing::PodSpec& pod : cluster->pods) {
      EXPECT_EQ(pod.node_name, "");
      EXPECT_EQ(pod.deleted_ns, 0);
    }
  }
  const auto larger = Read(Nodes(kMaxClusterNodes + 1) + Pods(1, "w", ""));
  EXPECT_EQ(larger->nodes_of, static_cast<int>(kMaxClusterNodes) + 1);
  EXPECT_EQ(larger->nodes.back().name, "n" + std::to_string(kMaxClusterNodes));
}

TEST(ClusterReaderTest, CopyOfPodHasNoResizeInProgress) {
  const auto cluster = Read(Nodes(1) + Resized("n0"));
  ASSERT_TRUE(cluster.ok()) << cluster.status().message();
  EXPECT_FALSE(cluster->nodes.front().pods.at(0).containers.at(1).allocated.empty());
  for (const testing::ContainerSpec& container : cluster->pods.at(0).containers) {
    EXPECT_TRUE(container.allocated.empty());
  }
}

TEST(ClusterReaderTest, RejectsClustersThatCannotBeUsed) {
  const struct {
    const char* name;
    std::string text;
    const char* error;
  } cases[] = {
      {"no node", Pods(1, "w", ""), "expected at least one node and one pod, found 0 nodes"},
      {"no pod", Nodes(2), "found 2 nodes and 0 pods"},
      {"only a finished pod",
       Nodes(1) + TestObjects::Json(TestPod{.name = "w", .status = R"("phase":"Succeeded")"}),
       "found 1 nodes and 0 pods"},
      {"a node twice", Nodes(1) + Nodes(1), "duplicate v1/Node n0"},
      {"an invalid pod",
       Nodes(1) + TestObjects::Json(TestPod{.name = "w", .spec = R"("priority":"high")"}),
       "cluster.json:2: Pod default/w: /spec/priority: expected"},
      {"no objects", "", "cluster.json"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto cluster = Read(c.text);
    ASSERT_FALSE(cluster.ok());
    EXPECT_NE(cluster.status().message().find(c.error), std::string::npos)
        << cluster.status().message();
  }
}

TEST(ClusterReaderTest, KeepsFieldsAndKindsThatThePluginReads) {
  const std::string text =
      Nodes(1) + TestObjects::Json(TestPod{.name = "w", .spec = R"("hostIPC":true)"}) +
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},"spec":{"x":["\u00e9"]}})"
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"}})";
  const auto cluster = Read(text, {.fields = {"Pod:/spec/hostIPC"}, .kinds = {"v1/Namespace"}});
  ASSERT_TRUE(cluster.ok()) << cluster.status().message();
  ASSERT_EQ(cluster->objects.size(), 1u);
  EXPECT_EQ(cluster->objects[0].name, "a");
  const testing::ValueSpec whole = testing::internal::WholeObject(cluster->objects[0]);
  EXPECT_EQ(whole.Find("spec")->Find("x")->items[0].text, "\u00e9");
  ASSERT_EQ(cluster->pods[0].fields.size(), 1u);
  EXPECT_EQ(cluster->pods[0].fields[0].first, "/spec/hostIPC");
  EXPECT_EQ(cluster->pods[0].fields[0].second, "true");
  const auto without = Read(text);
  EXPECT_TRUE(without->objects.empty());
  EXPECT_TRUE(without->pods[0].fields.empty());
}

constexpr std::string_view kRichPod = R"({
  "kind": "Pod", "apiVersion": "v1",
  "metadata": {"name": "rich", "namespace": "team", "uid": "u1", "resourceVersion": "7",
    "labels": {"app": "web"}, "annotations": {"note": "1"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u2",
                         "controller": true}]},
  "spec": {
    "schedulerName": "acme", "priority": 7, "priorityClassName": "high", "hostNetwork": false,
    "nodeSelector": {"disk": "ssd"}, "overhead": {"cpu": "10m"},
    "resources": {"requests": {"cpu": "2"}},
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions":
          [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}},
      "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5,
        "podAffinityTerm": {"topologyKey": "zone",
                            "labelSelector": {"matchLabels": {"app": "web"}}}}]}},
    "tolerations": [{"key": "team", "operator": "Exists", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone",
      "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "web"}}}],
    "initContainers": [{"name": "side", "image": "proxy:1", "restartPolicy": "Always",
      "resources": {"requests": {"cpu": "100m"}}}],
    "containers": [{"name": "c", "image": "web", "ports": [{"containerPort": 80, "hostPort": 8080}],
      "resources": {"requests": {"cpu": "500m", "memory": "1Gi", "example.com/gpu": "2"},
                    "limits": {"memory": "2Gi", "example.com/gpu": "2"}}}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}],
    "schedulingGates": [{"name": "gate"}]
  },
  "status": {"phase": "Pending"}
})";

void ExpectEqual(const berth_resources& a, const berth_resources& b) {
  EXPECT_EQ(a.milli_cpu, b.milli_cpu);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.ephemeral_storage, b.ephemeral_storage);
  EXPECT_EQ(a.scalars.count, b.scalars.count);
}

TEST(ObjectSpecsTest, ViewOfAPodHasTheSameContent) {
  TestObjects objects;
  const PodRef pod = objects.PodFrom(std::string(kRichPod));
  const testing::PodSpec spec = SpecOf(*pod);
  testing::Ids ids;
  const testing::PodHandle handle(spec, ids);
  const berth_pod& want = pod->view();
  const berth_pod& got = *handle;
  EXPECT_EQ(got.flags, want.flags);
  EXPECT_EQ(got.priority, want.priority);
  EXPECT_EQ(got.phase, want.phase);
  EXPECT_EQ(got.nonzero_milli_cpu, want.nonzero_milli_cpu);
  EXPECT_EQ(got.nonzero_memory, want.nonzero_memory);
  ExpectEqual(*got.request, *want.request);
  ExpectEqual(*got.request_of_containers, *want.request_of_containers);
  ExpectEqual(*got.accounted, *want.accounted);
  ExpectEqual(*got.overhead, *want.overhead);
  for (const auto member :
       {&berth_pod::node_selector, &berth_pod::tolerations, &berth_pod::spreads,
        &berth_pod::containers, &berth_pod::init_containers, &berth_pod::volumes,
        &berth_pod::scheduling_gates, &berth_pod::host_ports}) {
    EXPECT_EQ((got.*member).count, (want.*member).count);
    EXPECT_EQ((got.*member).count, 1u);
  }
  EXPECT_EQ(got.affinity->required_node_terms.count, 1u);
  EXPECT_EQ(got.affinity->preferred_pod_anti_terms.count, 1u);
  EXPECT_EQ(spec.ns, "team");
  EXPECT_EQ(spec.scheduler_name, "acme");
  EXPECT_EQ(spec.labels.at("app"), "web");
  EXPECT_EQ(spec.owners.at(0).name, "rs");
  EXPECT_EQ(spec.required_node_terms->at(0).expressions.at(0).values,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(spec.volumes.at(0).source, "claim");
  EXPECT_TRUE(spec.init_containers.at(0).sidecar);
}

TEST(ObjectSpecsTest, ResizeBelongsToContainerThatRequestsTheResource) {
  TestObjects objects;
  const PodRef pod = objects.PodFrom(Resized("n0"));
  const testing::PodSpec spec = SpecOf(*pod);
  EXPECT_EQ(spec.containers.at(0).requests, (testing::Amounts{{"cpu", 1000}}));
  EXPECT_TRUE(spec.containers.at(0).allocated.empty());
  EXPECT_EQ(spec.containers.at(1).allocated, (testing::Amounts{{"memory", int64_t{3} << 30}}));
  testing::Ids ids;
  ExpectEqual(*testing::PodHandle(spec, ids)->accounted, *pod->view().accounted);
}

TEST(ObjectSpecsTest, ViewOfANodeHasTheSameContent) {
  TestObjects objects;
  const NodeRef node = objects.NodeFrom(
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n","labels":{"zone":"a"}},)"
      R"("spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}]},)"
      R"("status":{"allocatable":{"cpu":"3","pods":"20","example.com/gpu":"1"},)"
      R"("capacity":{"cpu":"4"},"images":[{"names":["web:1"],"sizeBytes":5}]}})");
  const testing::NodeSpec spec = SpecOf(*node);
  EXPECT_EQ(spec.uid, "uid-n");
  EXPECT_EQ(spec.labels.at("zone"), "a");
  EXPECT_TRUE(spec.unschedulable);
  EXPECT_EQ(spec.taints.at(0).effect, uint32_t{BERTH_EFFECT_NO_EXECUTE});
  EXPECT_EQ(spec.allocatable,
            (testing::Amounts{{"cpu", 3000}, {"pods", 20}, {"example.com/gpu", 1}}));
  EXPECT_EQ(spec.capacity.at("cpu"), 4000);
  EXPECT_EQ(spec.images.at(0).size, 5);
}

}  // namespace
}  // namespace berth::host
