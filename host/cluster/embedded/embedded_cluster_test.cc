#include "host/cluster/embedded/embedded_cluster.h"

#include "host/base/time_units.h"
#include "tests/harness/embedded_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using EmbeddedClusterTest = EmbeddedTest;

TEST_F(EmbeddedClusterTest, SetsUidTheCreationTimeAndTheVersion) {
  const PodRef pod = AddPod("a");
  EXPECT_EQ(pod->uid(), "00000000-0000-4000-8000-000000000001");
  EXPECT_EQ(pod->meta().created_ns, NowNs());
  EXPECT_EQ(pod->resource_version(), "1");
  EXPECT_EQ(pod->meta().deleted_ns, 0);
  EXPECT_EQ(AddPod("b")->uid(), "00000000-0000-4000-8000-000000000002");
}

TEST_F(EmbeddedClusterTest, KeepsUidAndCreationTimeButNotVersion) {
  const PodRef pod = AddPod("a", "",
                            R"(,"uid":"mine","resourceVersion":"77",)"
                            R"("creationTimestamp":"2025-01-01T00:00:00Z")");
  EXPECT_EQ(pod->uid(), "mine");
  EXPECT_EQ(pod->meta().created_ns, 1'735'689'600 * kSecond);
  EXPECT_EQ(pod->resource_version(), "1");
}

TEST_F(EmbeddedClusterTest, SetsTheMetadataOfNodesAndOtherKinds) {
  ASSERT_TRUE(cluster_.Load(MakeNode("n1")).ok());
  const std::string json =
      R"({"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"n1"}})";
  ASSERT_TRUE(cluster_.Load(Decode(json)).ok());
  const NodeRef node = cluster_.FindNode("n1");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->uid(), "00000000-0000-4000-8000-000000000001");
  EXPECT_EQ(node->view().meta->created_ns, NowNs());
  const auto csi_node = cluster_.Find("storage.k8s.io/v1/CSINode", "", "n1");
  ASSERT_TRUE(csi_node.has_value());
  EXPECT_EQ(Base(*csi_node).uid(), "00000000-0000-4000-8000-000000000002");
  EXPECT_EQ(Base(*csi_node).resource_version(), "2");
}

TEST_F(EmbeddedClusterTest, CountsVersionsAcrossKinds) {
  EXPECT_EQ(AddPod("a")->resource_version(), "1");
  EXPECT_EQ(Base(*cluster_.Create(MakeNode("n1"))).resource_version(), "2");
  EXPECT_EQ(AddPod("b")->resource_version(), "3");
  EXPECT_EQ(cluster_.resource_version(), 3u);
}

TEST_F(EmbeddedClusterTest, RejectsTheUidOfAnotherPod) {
  const PodRef pod = AddPod("a", "", R"(,"uid":"u1")");
  EXPECT_EQ(cluster_.Load(MakePod("b", "", R"(,"uid":"u1")")).ToString(),
            R"(InvalidArgument: Pod "b" is invalid: metadata.uid: Duplicate value: "u1": )"
            "pod default/a has this uid");
  EXPECT_EQ(cluster_.FindPod("default", "b"), nullptr);
  EXPECT_TRUE(cluster_.Create(MakePod("b", "", R"(,"uid":"u2")")).ok());
  // After the deletion of its pod, the uid may be used again.
  EXPECT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  EXPECT_TRUE(cluster_.Create(MakePod("c", "", R"(,"uid":"u1")")).ok());
}

TEST_F(EmbeddedClusterTest, DoesNotAssignUidThatAPodHas) {
  AddPod("a", "", R"(,"uid":"00000000-0000-4000-8000-000000000001")");
  EXPECT_EQ(AddPod("b")->uid(), "00000000-0000-4000-8000-000000000002");
}

TEST_F(EmbeddedClusterTest, RejectsTheCreationOfAnExistingObject) {
  AddPod("a");
  EXPECT_EQ(cluster_.Create(MakePod("a")).status().ToString(),
            R"(AlreadyExists: pods "a" already exists)");
  // The same name in another namespace, or of another kind, is another object.
  EXPECT_TRUE(cluster_.Create(MakePod("a", "", R"(,"namespace":"other")")).ok());
  EXPECT_TRUE(cluster_.Create(MakeNode("a")).ok());
  EXPECT_EQ(cluster_.resource_version(), 3u);
}

TEST_F(EmbeddedClusterTest, LoadNamesADuplicateObject) {
  EXPECT_TRUE(cluster_.Load(MakePod("a")).ok());
  EXPECT_EQ(cluster_.Load(MakePod("a")).ToString(), "AlreadyExists: duplicate v1/Pod default/a");
  EXPECT_TRUE(cluster_.Load(MakeNode("n1")).ok());
  EXPECT_EQ(cluster_.Load(MakeNode("n1")).ToString(), "AlreadyExists: duplicate v1/Node n1");
}

TEST_F(EmbeddedClusterTest, SetsApiServersConditionOfAGatedPod) {
  const PodRef pod = AddPod("a", R"(,"spec":{"schedulingGates":[{"name":"g"}]})");
  const auto conditions = Elements<berth_condition>(pod->view().conditions);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(pod->Name(conditions[0].type), "PodScheduled");
  EXPECT_EQ(conditions[0].status, uint32_t{BERTH_CONDITION_FALSE});
  EXPECT_EQ(pod->Name(conditions[0].reason), "SchedulingGated");
  EXPECT_EQ(conditions[0].transition_ns, NowNs());
  EXPECT_EQ(pod->resource_version(), "1");
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "a"),
            "Scheduling is blocked due to non-empty scheduling gates");
  EXPECT_EQ(AddPod("b")->view().conditions.count, 0u);
}

TEST_F(EmbeddedClusterTest, ListsByNamespaceAndName) {
  AddPod("b");
  AddPod("a");
  AddPod("c", "", R"(,"namespace":"a-first")");
  AddPod("done", R"(,"status":{"phase":"Succeeded"})");
  std::vector<std::string> keys;
  for (const AnyObject& pod : cluster_.List(kPodKind)) keys.push_back(Base(pod).Key());
  EXPECT_THAT(keys, ElementsAre("a-first/c", "default/a", "default/b", "default/done"));
  EXPECT_THAT(cluster_.List(kNodeKind), IsEmpty());
}

TEST_F(EmbeddedClusterTest, FindReturnsNothingForMissingObjects) {
  EXPECT_FALSE(cluster_.Find(kPodKind, "default", "a").has_value());
  EXPECT_EQ(cluster_.FindPod("default", "a"), nullptr);
  EXPECT_EQ(cluster_.FindNode("a"), nullptr);
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "a"), "");
}

// ---- Update -------------------------------------------------------------------------------------

TEST_F(EmbeddedClusterTest, UpdatesWithTheCurrentVersionOrWithoutOne) {
  const PodRef before = AddPod("a");
  Advance(kSecond);
  Result<AnyObject> after = cluster_.Update(MakePod("a", "", R"(,"labels":{"k":"v"})"));
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  EXPECT_EQ(Base(*after).resource_version(), "2");
  EXPECT_EQ(Base(*after).uid(), before->uid());
  EXPECT_EQ(Base(*after).meta().created_ns, before->meta().created_ns);
  EXPECT_EQ(Base(*after).meta().labels.count, 1u);

  after = cluster_.Update(MakePod("a", "", R"(,"resourceVersion":"2")"));
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  EXPECT_EQ(Base(*after).resource_version(), "3");
  EXPECT_EQ(cluster_.FindPod("default", "a")->meta().labels.count, 0u);
}

TEST_F(EmbeddedClusterTest, RejectsAStaleUpdate) {
  AddPod("a");
  ASSERT_TRUE(cluster_.Update(MakePod("a")).ok());
  for (const char* version : {"1", "3"}) {
    const std::string meta = std::string(R"(,"resourceVersion":")") + version + '"';
    EXPECT_EQ(cluster_.Update(MakePod("a", "", meta)).status().ToString(),
              R"(Conflict: Operation cannot be fulfilled on pods "a": the object has been )"
              "modified; please apply your changes to the latest version and try again");
  }
  EXPECT_EQ(cluster_.FindPod("default", "a")->resource_version(), "2");
}

TEST_F(EmbeddedClusterTest, RejectsUpdateOfMissingObjectOrAnotherUid) {
  EXPECT_EQ(cluster_.Update(MakePod("a")).status().ToString(), R"(NotFound: pods "a" not found)");
  AddPod("a", "", R"(,"uid":"u1")");
  EXPECT_EQ(cluster_.Update(MakePod("a", "", R"(,"uid":"u2")")).status().code(),
            ErrorCode::kConflict);
}

TEST_F(EmbeddedClusterTest, RejectsAnUpdateThatChangesTheNode) {
  AddPod("a", R"(,"spec":{"nodeName":"n1"})");
  AddPod("b");
  for (const auto& [name, spec] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a", ""},
           {"a", R"(,"spec":{"nodeName":"n2"})"},
           {"b", R"(,"spec":{"nodeName":"n1"})"}}) {
    EXPECT_EQ(cluster_.Update(MakePod(name, spec)).status().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(cluster_.Update(MakePod("a", R"(,"spec":{"nodeName":"n1"})")).ok());
}

// ---- Delete -------------------------------------------------------------------------------------

TEST_F(EmbeddedClusterTest, DeletesOtherKindsImmediately) {
  ASSERT_TRUE(cluster_.Load(MakeNode("n1")).ok());
  EXPECT_TRUE(cluster_.Delete(kNodeKind, "", "n1").ok());
  EXPECT_EQ(cluster_.FindNode("n1"), nullptr);
  EXPECT_EQ(cluster_.Delete(kNodeKind, "", "n1").ToString(), R"(NotFound: nodes "n1" not found)");
}

TEST_F(EmbeddedClusterTest, DeletesPodOnANodeInTwoSteps) {
  AddPod("a", R"(,"spec":{"nodeName":"n1"})");
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  const PodRef dying = cluster_.FindPod("default", "a");
  ASSERT_NE(dying, nullptr);
  EXPECT_TRUE(dying->terminating());
  EXPECT_EQ(dying->meta().deleted_ns, NowNs() + 30 * kSecond);
  EXPECT_EQ(dying->node_name(), "n1");

  EXPECT_EQ(cluster_.FinishDeletion({"default", "a", "another"}).code(), ErrorCode::kConflict);
  EXPECT_TRUE(cluster_.FinishDeletion({"default", "a", dying->uid()}).ok());
  EXPECT_EQ(cluster_.FindPod("default", "a"), nullptr);
  EXPECT_EQ(cluster_.FinishDeletion({"default", "a", {}}).code(), ErrorCode::kNotFound);
}

TEST_F(EmbeddedClusterTest, FinishesOnlyTheDeletionOfADeletedPod) {
  AddPod("a", R"(,"spec":{"nodeName":"n1"})");
  EXPECT_EQ(cluster_.FinishDeletion({"default", "a", {}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(cluster_.FindPod("default", "a"), nullptr);
}

TEST_F(EmbeddedClusterTest, RecreatesAPodWithAnotherUid) {
  const PodRef first = AddPod("a");
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  const PodRef second = AddPod("a");
  EXPECT_NE(first->uid(), second->uid());
  EXPECT_EQ(second->resource_version(), "3");
}

TEST_F(EmbeddedClusterTest, KeepsADeletionInAnUpdate) {
  AddPod("a", R"(,"spec":{"nodeName":"n1"})");
  ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  ASSERT_TRUE(cluster_.Update(MakePod("a", R"(,"spec":{"nodeName":"n1"})")).ok());
  EXPECT_TRUE(cluster_.FindPod("default", "a")->terminating());
}

TEST_F(EmbeddedClusterTest, ListsKindOnceObjectIsStoredOrWatched) {
  EXPECT_THAT(cluster_.Kinds(), IsEmpty());
  EXPECT_FALSE(cluster_.Update(MakeNode("n1")).ok());
  EXPECT_FALSE(cluster_.Remove(kPodKind, "default", "a").ok());
  cluster_.Bind({"default", "a", {}}, "n1", nullptr);
  EXPECT_THAT(cluster_.Kinds(), IsEmpty());
  ASSERT_TRUE(cluster_.Load(MakeNode("n1")).ok());
  RecordingSink sink;
  const std::unique_ptr<Watch> watch = cluster_.StartWatch("v1/Namespace", sink);
  EXPECT_THAT(cluster_.Kinds(), ElementsAre("v1/Namespace", "v1/Node"));
  ASSERT_TRUE(cluster_.Delete(kNodeKind, "", "n1").ok());
  EXPECT_THAT(cluster_.Kinds(), ElementsAre("v1/Namespace", "v1/Node"));
}

TEST_F(EmbeddedClusterTest, LeasesShareItsResourceVersions) {
  Lease lease;
  lease.ns = "kube-system";
  lease.name = "berth";
  EXPECT_EQ(cluster_.leases().Create(lease)->resource_version, "1");
  ASSERT_TRUE(cluster_.Load(MakeNode("n1")).ok());
  lease.resource_version = "1";
  EXPECT_EQ(cluster_.leases().Update(lease)->resource_version, "3");
  EXPECT_EQ(cluster_.leases().Get("kube-system", "berth")->resource_version, "3");
}

TEST_F(EmbeddedClusterTest, AnswersRequestsForEventsLater) {
  cluster_.CreateEvent({}, Note());
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(Answers(), ElementsAre(::testing::StartsWith("InvalidArgument: ")));
}

TEST_F(EmbeddedClusterTest, PassesOtherRequestsToTheServeOption) {
  std::vector<std::string> answers;
  const ResponseCallback note = [&answers](const ApiResponse& answer) {
    answers.push_back(answer.status.ok() ? answer.body : answer.status.ToString());
  };
  cluster_.Request({"GET", "/version", "", 0}, note);
  cluster_.Deliver();
  EXPECT_THAT(answers,
              ElementsAre("Unsupported: the embedded cluster does not serve GET /version"));

  EmbeddedCluster served({.clock = clock_, .max_events = 1, .serve = [](const ApiRequest& request) {
                            return ApiResponse{.http_status = 200,
                                               .body = request.verb + " " + request.path};
                          }});
  answers.clear();
  served.Request({"GET", "/version", "", 0}, note);
  EXPECT_THAT(answers, IsEmpty());
  served.Deliver();
  EXPECT_THAT(answers, ElementsAre("GET /version"));
}

}  // namespace
}  // namespace berth::host
