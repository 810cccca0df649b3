#include "tests/harness/api_server/api_model.h"

#include <string>
#include <vector>

#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "tests/harness/api_server/api_model_fixture.h"

namespace berth::host {
namespace {

using ::testing::HasSubstr;

// ---- Objects ------------------------------------------------------------------------------------

TEST_F(ApiModelTest, AddsWhatTheClusterDeterminesToAPod) {
  Start();
  CreatePod("a");
  ASSERT_EQ(Outcome("POST", std::string(kPods) + "/a/binding", BindingText("a", "u-a", "n1")),
            "201");
  const auto pod = ParseJson(Send("GET", std::string(kPods) + "/a").body);
  EXPECT_EQ(pod["kind"], "Pod");
  EXPECT_EQ(pod["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(pod["metadata"]["resourceVersion"], "2");
  EXPECT_EQ(pod["spec"]["nodeName"], "n1");
  EXPECT_EQ(pod["spec"]["containers"][0]["name"], "c");
  EXPECT_EQ(pod["status"]["conditions"][0]["type"], "PodScheduled");
  EXPECT_EQ(pod["status"]["conditions"][0]["status"], "True");
}

TEST_F(ApiModelTest, BindsAPodOnce) {
  Start();
  CreatePod("a");
  const std::string path = std::string(kPods) + "/a/binding";
  EXPECT_THAT(Outcome("POST", path, BindingText("a", "other", "n1")), HasSubstr("409 Conflict"));
  EXPECT_EQ(Outcome("POST", path, BindingText("a", "u-a", "n1")), "201");
  EXPECT_THAT(Outcome("POST", path, BindingText("a", "u-a", "n1")),
              HasSubstr("409 Conflict: Operation cannot be fulfilled on pods/binding \"a\": pod a "
                        "is already assigned to node \"n1\""));
  EXPECT_THAT(Outcome("POST", std::string(kPods) + "/b/binding", BindingText("b", "", "n1")),
              HasSubstr("404 NotFound"));
}

TEST_F(ApiModelTest, PatchesAStatusWithItsMessage) {
  Start();
  CreatePod("a");
  PodStatusPatch patch;
  patch.nominated_node = "n7";
  patch.pod_scheduled = PodStatusPatch::Condition{BERTH_CONDITION_FALSE, "Unschedulable",
                                                  "0/1 nodes", clock_.NowNs()};
  const PodName name = {"default", "a", "u-a"};
  const std::string path = PodPath(name, "status");
  ASSERT_EQ(Outcome("PATCH", path, StatusPatchBody(name, patch), kStrategicMergePatch), "200");
  const auto status = ParseJson(Send("GET", PodPath(name)).body)["status"];
  EXPECT_EQ(status["nominatedNodeName"], "n7");
  EXPECT_EQ(status["conditions"][0]["message"], "0/1 nodes");
  EXPECT_EQ(status["conditions"][0]["reason"], "Unschedulable");
  const PodName other = {"default", "a", "other"};
  EXPECT_THAT(Outcome("PATCH", path, StatusPatchBody(other, patch), kStrategicMergePatch),
              HasSubstr("409 Conflict"));
}

TEST_F(ApiModelTest, DeletesAPodWithItsPrecondition) {
  Start();
  CreatePod("a");
  const std::string path = std::string(kPods) + "/a";
  EXPECT_THAT(Outcome("DELETE", path, DeleteBody({"default", "a", "other"}, {})),
              HasSubstr("409 Conflict"));
  EXPECT_EQ(Outcome("DELETE", path, DeleteBody({"default", "a", "u-a"}, {})), "200");
  EXPECT_THAT(Outcome("GET", path), HasSubstr("404 NotFound"));
}

TEST_F(ApiModelTest, ShowsWhatATestChangesInTheCluster) {
  Start();
  const std::string text = PodText("a");
  model_->Note(ParseOrderedJson(text));
  ASSERT_TRUE(cluster_.Create(*decoder_.Decode(text)).ok());
  model_->Sync();
  EXPECT_EQ(Names(Send("GET", kActive)), "a@1 ");
  cluster_.Bind({"default", "a", {}}, "n1", nullptr);
  EXPECT_EQ(Names(Send("GET", kActive)), "a@2 ");
}

// ---- Lists --------------------------------------------------------------------------------------

TEST_F(ApiModelTest, ListsInPagesOfOneRevision) {
  Start();
  for (const char* name : {"c", "a", "b"}) CreateNode(name);
  EXPECT_EQ(Names(Send("GET", "/api/v1/nodes?limit=2")), "a@2 b@3 +");
  EXPECT_EQ(version_, "3");
  CreateNode("bb");
  ASSERT_EQ(Outcome("DELETE", "/api/v1/nodes/c"), "200");
  EXPECT_EQ(Names(Send("GET", "/api/v1/nodes?limit=2&continue=" + continue_)), "c@1 ");
  EXPECT_EQ(version_, "3");
  EXPECT_EQ(Names(Send("GET", "/api/v1/nodes")), "a@2 b@3 bb@4 ");
}

TEST_F(ApiModelTest, RefusesATokenThatExpired) {
  Start();
  for (const char* name : {"a", "b"}) CreateNode(name);
  EXPECT_EQ(Names(Send("GET", "/api/v1/nodes?limit=1")), "a@1 +");
  CreateNode("c");
  model_->Compact();
  EXPECT_THAT(Outcome("GET", "/api/v1/nodes?limit=1&continue=" + continue_),
              HasSubstr("410 Expired"));
}

TEST_F(ApiModelTest, LeavesOutFinalPhasesOnlyWithTheSelector) {
  Start();
  CreatePod("a");
  CreatePod("b");
  const std::string done = PodText("b", R"(,"status":{"phase":"Succeeded"})");
  model_->Note(ParseOrderedJson(done));
  ASSERT_TRUE(cluster_.Update(*decoder_.Decode(done)).ok());
  EXPECT_EQ(Names(Send("GET", kActive)), "a@1 ");
  EXPECT_EQ(Names(Send("GET", "/api/v1/pods?limit=1")), "a@1 b@3 ");
  EXPECT_EQ(version_, "3");
}

TEST_F(ApiModelTest, ServesAnOlderViewExceptForConsistentReads) {
  Start();
  CreateNode("a");
  CreateNode("b");
  const uint64_t behind = 1;
  EXPECT_EQ(Names(model_->Serve(Get("/api/v1/nodes?resourceVersion=0"), behind)), "a@1 ");
  EXPECT_EQ(Names(model_->Serve(Get("/api/v1/nodes"), behind)), "a@1 b@2 ");
  const HttpResponse newer = model_->Serve(
      Get("/api/v1/nodes?resourceVersion=2&resourceVersionMatch=NotOlderThan"), behind);
  EXPECT_EQ(newer.head.http_status, 504u);
  EXPECT_THAT(newer.body, HasSubstr("ResourceVersionTooLarge"));
}

// ---- Events and leases --------------------------------------------------------------------------

TEST_F(ApiModelTest, StoresAnEventOnceAndItsSeries) {
  Start();
  Event event;
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = "text";
  event.regarding.ns = "default";
  event.regarding.name = "a";
  event.reporting_controller = "c";
  event.reporting_instance = "i";
  event.time_ns = clock_.NowNs();
  const std::string path = EventPath(event);
  EXPECT_THAT(Outcome("PATCH", EventPath(event, "e"), EventSeriesBody({2, 5}), kMergePatch),
              HasSubstr("404 NotFound"));
  EXPECT_EQ(Outcome("POST", path, EventBody(event, "e")), "201");
  EXPECT_THAT(Outcome("POST", path, EventBody(event, "e")), HasSubstr("409 AlreadyExists"));
  EXPECT_EQ(Outcome("PATCH", EventPath(event, "e"), EventSeriesBody({2, 5}), kMergePatch), "200");
  EXPECT_EQ(model_->events().texts().at("default/e")["series"]["count"], 2);
  ASSERT_EQ(cluster_.events().size(), 1u);
  EXPECT_EQ(cluster_.events()[0].note, "text");
  event.action.clear();
  EXPECT_THAT(Outcome("POST", path, EventBody(event, "f")), HasSubstr("422 Invalid"));
}

TEST_F(ApiModelTest, UpdatesALeaseOnlyFromItsLastVersion) {
  Start();
  Lease lease;
  lease.ns = "kube-system";
  lease.name = "l";
  lease.holder_identity = "a";
  lease.duration_seconds = 15;
  const std::string path = LeasePath(lease.ns, lease.name);
  EXPECT_THAT(Outcome("GET", path), HasSubstr("404 NotFound"));
  const std::string labelled = R"({"metadata":{"labels":{"x":"y"}}})";
  ASSERT_EQ(Outcome("POST", LeasePath(lease.ns), LeaseBody(lease, labelled)), "201");
  EXPECT_THAT(Outcome("POST", LeasePath(lease.ns), LeaseBody(lease)),
              HasSubstr("409 AlreadyExists"));
  const HttpResponse read = Send("GET", path);
  Lease stored = *ReadLease(read.body);
  EXPECT_EQ(stored.holder_identity, "a");
  stored.holder_identity = "b";
  ASSERT_EQ(Outcome("PUT", path, LeaseBody(stored, read.body)), "200");
  EXPECT_THAT(Outcome("PUT", path, LeaseBody(stored, read.body)), HasSubstr("409 Conflict"));
  stored.resource_version.clear();
  EXPECT_THAT(Outcome("PUT", path, LeaseBody(stored)), HasSubstr("422 Invalid"));
  EXPECT_THAT(Send("GET", path).body, HasSubstr(R"("x":"y")"));
}

// ---- Discovery and access -----------------------------------------------------------------------

TEST_F(ApiModelTest, ListsTheResourcesThatItServes) {
  Start({.kinds = {{"v1/Pod", true}, {"storage.k8s.io/v1/CSINode", false}}});
  const auto core = ReadResourceList(Send("GET", "/api/v1").body);
  ASSERT_TRUE(core.ok());
  ASSERT_EQ(core->size(), 1u);
  EXPECT_TRUE((*core)[0].CanWatch());
  EXPECT_EQ((*core)[0].CollectionPath(), "/api/v1/pods");
  EXPECT_EQ(Outcome("GET", "/apis/storage.k8s.io/v1"), "200");
  EXPECT_THAT(Outcome("GET", "/apis/acme.io/v1"), HasSubstr("404 NotFound"));
  EXPECT_THAT(Outcome("GET", "/api/v1/nodes"), HasSubstr("404 NotFound"));
  cluster_.SetServed("storage.k8s.io/v1/CSINode", false);
  EXPECT_THAT(Outcome("GET", "/apis/storage.k8s.io/v1"), HasSubstr("404 NotFound"));
  EXPECT_THAT(Outcome("GET", "/apis/storage.k8s.io/v1/csinodes"), HasSubstr("404 NotFound"));
}

TEST_F(ApiModelTest, DeniesWhatTheRulesDoNotAllow) {
  ApiModel::Options options;
  options.user = "u";
  options.allows = [](const AccessAttributes& wanted) {
    return wanted.verb != "list" && wanted.resource != "pods/binding";
  };
  Start(std::move(options));
  EXPECT_EQ(Outcome("GET", "/api/v1/nodes"),
            "403 Forbidden: nodes is forbidden: User \"u\" cannot list resource \"nodes\" in API "
            "group \"\" at the cluster scope");
  EXPECT_THAT(Outcome("POST", std::string(kPods) + "/a/binding", BindingText("a", "", "n")),
              HasSubstr("403 Forbidden: pods/binding \"a\" is forbidden"));
  const auto review = [this](const char* verb) {
    const HttpResponse answer =
        Send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
             std::string(R"({"spec":{"resourceAttributes":{"resource":"nodes","verb":")") + verb +
                 "\"}}}");
    return ParseJson(answer.body)["status"].value("allowed", false);
  };
  EXPECT_FALSE(review("list"));
  EXPECT_TRUE(review("watch"));
}

}  // namespace
}  // namespace berth::host
