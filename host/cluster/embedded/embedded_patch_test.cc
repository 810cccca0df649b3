// Requests for the whole JSON of pods and nodes, whose texts the decoder keeps here.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cluster/json_body.h"
#include "tests/harness/embedded_api_fixture.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kPodStatus = "/api/v1/namespaces/default/pods/p/status";
constexpr const char* kNode = "/api/v1/nodes/n";
constexpr const char* kNodeStatus = "/api/v1/nodes/n/status";

class EmbeddedPatchTest : public EmbeddedApiTest {
 protected:
  EmbeddedPatchTest() : EmbeddedApiTest(KeepTexts()) {
    AddPod("p", R"(,"spec":{"containers":[{"name":"c","image":"i:1"}]})",
           R"(,"uid":"uid-p","labels":{"app":"web"},"annotations":{"a":"1"})");
    AddNode("n");
    cluster_.Deliver();
  }

  Json Object(const char* path) { return Json::parse(Send("GET", path)); }
  // Returns the annotations of the pod's view, as "a=1 b=2".
  std::string Annotations() {
    std::string text;
    for (const auto& pair :
         Elements<berth_str_pair>(cluster_.FindPod("default", "p")->meta().annotations)) {
      text.append(text.empty() ? "" : " ")
          .append(Text(pair.key))
          .append("=")
          .append(Text(pair.value));
    }
    return text;
  }
};

TEST_F(EmbeddedPatchTest, ReadsPodsAndNodes) {
  EXPECT_EQ(Send("GET", kPod),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"uid-p",)"
            R"("labels":{"app":"web"},"annotations":{"a":"1"},"namespace":"default",)"
            R"("resourceVersion":"1","creationTimestamp":"2026-01-01T00:00:00Z"},)"
            R"("spec":{"containers":[{"name":"c","image":"i:1"}]}})");
  EXPECT_EQ(Send("GET", kPodStatus), Send("GET", kPod));
  EXPECT_EQ(Object(kNodeStatus)["metadata"]["name"], "n");
  EXPECT_EQ(Send("GET", "/api/v1/namespaces/default/pods/q"), "404 NotFound: pods \"q\" not found");
  EXPECT_EQ(Send("GET", "/api/v1/nodes/q"), "404 NotFound: nodes \"q\" not found");
}

TEST_F(EmbeddedPatchTest, PatchesMetadataInThreeForms) {
  const std::pair<std::string_view, const char*> kTable[] = {
      {"", R"({"metadata":{"annotations":{"a":null,"b":"2"}}})"},
      {kMergePatch, R"({"metadata":{"annotations":{"b":"3"}}})"},
      {kStrategicMergePatch, R"({"metadata":{"annotations":{"b":"4"}}})"},
      {kJsonPatch, R"([{"op":"test","path":"/metadata/annotations/b","value":"4"},)"
                   R"({"op":"replace","path":"/metadata/annotations/b","value":"5"}])"},
  };
  std::vector<std::string> annotations;
  for (const auto& [type, body] : kTable) {
    EXPECT_THAT(Send("PATCH", kPod, body, type), StartsWith(R"({"kind":"Pod")")) << body;
    annotations.push_back(Annotations());
  }
  EXPECT_THAT(annotations, ElementsAre("b=2", "b=3", "b=4", "b=5"));
  EXPECT_EQ(Object(kPod)["metadata"]["resourceVersion"], "6");
  EXPECT_EQ(Object(kPod)["metadata"]["annotations"], Json({{"b", "5"}}));
}

TEST_F(EmbeddedPatchTest, PatchesNodesAndTheirStatus) {
  Send("PATCH", kNode, R"({"metadata":{"labels":{"gpu":"a100"}},"spec":{"unschedulable":true}})");
  Send("PATCH", kNodeStatus,
       R"({"status":{"capacity":{"cpu":"2"},"conditions":[{"type":"Gpu","status":"True"}]}})",
       kStrategicMergePatch);
  const NodeRef node = cluster_.FindNode("n");
  EXPECT_EQ(node->view().unschedulable, 1U);
  EXPECT_EQ(node->view().allocatable->milli_cpu, 2000);
  ASSERT_EQ(node->view().conditions.count, 1U);
  EXPECT_EQ(Object(kNode)["metadata"]["labels"]["gpu"], "a100");
}

TEST_F(EmbeddedPatchTest, APatchIsOneChangeForWatches) {
  RecordingSink pods;
  RecordingSink nodes;
  const auto watch_pods = cluster_.StartWatch(kPodKind, pods);
  const auto watch_nodes = cluster_.StartWatch(kNodeKind, nodes);
  cluster_.Deliver();
  pods.seen.clear();
  nodes.seen.clear();
  Send("PATCH", kPod, R"({"metadata":{"annotations":{"a":"2"}}})");
  Send("PATCH", kNode, R"({"metadata":{"annotations":{"a":"2"}}})");
  EXPECT_THAT(pods.seen, IsEmpty()) << "before the delivery";
  cluster_.Deliver();
  EXPECT_THAT(pods.seen, ElementsAre("~default/p@3(1)"));
  EXPECT_THAT(nodes.seen, ElementsAre("~n@4(2)"));
}

TEST_F(EmbeddedPatchTest, APatchThatChangesNothingIsNoChange) {
  for (const auto& [type, body] :
       {std::pair(kMergePatch, R"({"metadata":{"labels":{"app":"web"}}})"),
        std::pair(kStrategicMergePatch, "{}"), std::pair(kJsonPatch, "[]")}) {
    EXPECT_EQ(Send("PATCH", kPod, body, type), Send("GET", kPod)) << body;
  }
  EXPECT_EQ(cluster_.waiting(), 0U);
  EXPECT_EQ(cluster_.resource_version(), 2U);
}

TEST_F(EmbeddedPatchTest, StatusHasConditionsOfItsOwn) {
  Send("PATCH", kPodStatus,
       R"({"status":{"conditions":[{"type":"acme.io/Gpu","status":"True","message":"gpu 3"}]}})",
       kStrategicMergePatch);
  PodStatusPatch patch;
  patch.pod_scheduled = {.status = BERTH_CONDITION_FALSE, .reason = "R", .message = "why"};
  ASSERT_TRUE(cluster_.PatchStatus({"default", "p", ""}, patch).ok());
  Send("PATCH", kPodStatus,
       R"({"status":{"conditions":[{"type":"acme.io/Gpu","status":"False"}]}})",
       kStrategicMergePatch);
  EXPECT_EQ(Object(kPod)["status"]["conditions"].dump(),
            R"([{"type":"acme.io/Gpu","status":"False","message":"gpu 3"},)"
            R"({"type":"PodScheduled","status":"False","reason":"R","message":"why"}])");
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "p"), "why");
  Send("PATCH", kPodStatus,
       R"({"status":{"conditions":[{"type":"PodScheduled","status":"False","message":"new"}]}})",
       kStrategicMergePatch);
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "p"), "new");
}

TEST_F(EmbeddedPatchTest, APatchAfterTheBindingKeepsTheNode) {
  cluster_.Bind({"default", "p", ""}, "n", nullptr);
  Send("PATCH", kPod, R"({"metadata":{"annotations":{"a":"2"}}})");
  EXPECT_EQ(cluster_.FindPod("default", "p")->node_name(), "n");
  EXPECT_EQ(Annotations(), "a=2");
  EXPECT_THAT(Send("PATCH", kPod, R"({"spec":{"nodeName":"m"}})"),
              StartsWith("422 Invalid: Pod \"p\" is invalid: spec: Forbidden: "));
}

TEST_F(EmbeddedPatchTest, PreconditionsAreChecked) {
  EXPECT_THAT(Send("PATCH", kPod, R"({"metadata":{"resourceVersion":"7","labels":{"a":"b"}}})"),
              StartsWith("409 Conflict: Operation cannot be fulfilled on pods \"p\": the object "
                         "has been modified; "));
  EXPECT_THAT(Send("PATCH", kPod, R"({"metadata":{"uid":"other"}})"),
              StartsWith("422 Invalid: Pod \"p\" is invalid: metadata.uid: "));
  EXPECT_THAT(Send("PATCH", kPod, R"({"metadata":{"resourceVersion":"1","labels":{"a":"b"}}})"),
              HasSubstr(R"("a":"b")"));
  EXPECT_EQ(Send("PATCH", "/api/v1/namespaces/default/pods/q", "{}"),
            "404 NotFound: pods \"q\" not found");
  EXPECT_EQ(Send("PATCH", "/api/v1/nodes/q/status", "{}"), "404 NotFound: nodes \"q\" not found");
}

TEST_F(EmbeddedPatchTest, AResultThatCannotBeDecodedIsInvalid) {
  EXPECT_EQ(Send("PATCH", kPod, R"({"metadata":{"labels":{"a":1}}})"),
            "422 Invalid: Pod \"p\" is invalid: patch: Invalid value: /metadata/labels/a: expected "
            "a string, found 1");
  EXPECT_THAT(Send("PATCH", kNodeStatus, R"({"status":{"allocatable":{"cpu":"x"}}})"),
              StartsWith("422 Invalid: Node \"n\" is invalid: patch: Invalid value: "
                         "/status/allocatable/cpu: quantity \"x\": expected "));
}

TEST_F(EmbeddedPatchTest, MalformedRequestsChangeNothing) {
  const std::string before = Send("GET", kPod) + Send("GET", kNode);
  const std::string deep = std::string(101, '[') + std::string(101, ']');
  const std::string bomb = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::string large =
      R"({"metadata":{"annotations":{"x":")" + std::string(size_t{20} << 20, 'x') + R"("}}})";
  const std::pair<std::string, const char*> kTable[] = {
      {"", "400 "},
      {"{", "400 "},
      {"nope", "400 "},
      {"1", "400 "},
      {"null", "400 "},
      {"{\"metadata\":\"\xff\"}", "400 "},
      {R"({"metadata":)" + deep + "}", "400 "},
      {R"({"metadata":)" + bomb + "}", "400 "},
      {deep, "400 "},
      {bomb, "400 "},
      {large, "413 "},
      {"[" + large + "]", "413 "},
      {R"({"metadata":5})", "4"},
      {R"({"metadata":{"annotations":5}})", "4"},
      {R"({"metadata":{"annotations":{"a":{}}}})", "4"},
      {R"({"metadata":{"labels":[]}})", "4"},
      {R"([{"op":"add","path":"/metadata/labels","value":7}])", "4"},
      {R"([{"op":"remove","path":"/metadata"}])", "4"},
      {R"([{"op":"test","path":"/kind","value":"x"}])", "4"},
  };
  for (const char* path : {kPod, kPodStatus, kNode, kNodeStatus}) {
    for (const std::string_view type : {kMergePatch, kStrategicMergePatch, kJsonPatch}) {
      for (const auto& [body, error] : kTable) {
        EXPECT_THAT(Send("PATCH", path, body, type), StartsWith(error))
            << path << type << body.substr(0, 60);
      }
    }
    for (const char* type : {"application/apply-patch+yaml", "application/json", "text/plain"}) {
      EXPECT_EQ(Send("PATCH", path, "{}", type),
                "415 UnsupportedMediaType: the body of the request was in an unknown format - "
                "accepted media types include: application/json-patch+json, "
                "application/merge-patch+json, application/strategic-merge-patch+json");
    }
  }
  EXPECT_EQ(Send("GET", kPod) + Send("GET", kNode), before);
  EXPECT_EQ(cluster_.waiting(), 0U);
}

TEST_F(EmbeddedPatchTest, AnErrorIsAStatusObject) {
  const ApiResponse answer = api_.Serve({.verb = "PATCH",
                                         .path = kPod,
                                         .body = R"({"spec":{"nodeName":"m"}})",
                                         .content_type = std::string(kMergePatch)});
  EXPECT_EQ(answer.http_status, 422U);
  EXPECT_EQ(answer.status.code(), ErrorCode::kInvalidArgument);
  const Json json = Json::parse(answer.body);
  EXPECT_EQ(json["kind"], "Status");
  EXPECT_EQ(json["apiVersion"], "v1");
  EXPECT_EQ(json["status"], "Failure");
  EXPECT_EQ(json["reason"], "Invalid");
  EXPECT_EQ(json["code"], 422);
  EXPECT_EQ(json["message"], answer.status.message());
}

TEST_F(EmbeddedPatchTest, OtherKindsHaveTwoForms) {
  Send("POST", kClaims, Claim("c"));
  const std::string path = std::string(kClaims) + "/c";
  EXPECT_THAT(Send("PATCH", path, R"([{"op":"add","path":"/spec","value":{"x":1}}])", kJsonPatch),
              HasSubstr(R"("spec":{"x":1})"));
  EXPECT_THAT(Send("PATCH", path, R"([{"op":"remove","path":"/y"}])", kJsonPatch),
              StartsWith("422 Invalid: the server rejected our request"));
  EXPECT_THAT(Send("PATCH", path, "{}", kStrategicMergePatch),
              StartsWith("415 UnsupportedMediaType: "));
}

// ---- Lists --------------------------------------------------------------------------------------

class EmbeddedListTest : public EmbeddedPatchTest {
 protected:
  EmbeddedListTest() {
    AddPod("q", R"(,"spec":{"nodeName":"n"},"status":{"phase":"Running"})",
           R"(,"labels":{"app":"db","tier":"1"})");
    AddPod("r", R"(,"spec":{"schedulerName":"other"})", R"(,"namespace":"blue")");
    EXPECT_TRUE(cluster_
                    .Create(Decode(R"({"kind":"Node","apiVersion":"v1","metadata":)"
                                   R"({"name":"m"},"spec":{"unschedulable":true}})"))
                    .ok());
  }

  // Returns the names of the objects in a list, or the error.
  std::string Names(const std::string& path) {
    const std::string answer = Send("GET", path);
    if (!answer.starts_with('{')) return answer;
    std::string names;
    const Json list = Json::parse(answer);
    for (const Json& item : list["items"]) {
      names.append(names.empty() ? "" : " ").append(item["metadata"]["name"]);
    }
    return names;
  }
};

TEST_F(EmbeddedListTest, SelectsByLabelsAndFields) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {"/api/v1/pods", "r p q"},
      {"/api/v1/namespaces/default/pods", "p q"},
      {"/api/v1/nodes", "m n"},
      {"/api/v1/pods?labelSelector=app%3Dweb", "p"},
      {"/api/v1/pods?labelSelector=app+in+(web,db),tier", "q"},
      {"/api/v1/pods?labelSelector=%21app", "r"},
      {"/api/v1/pods?labelSelector=", "r p q"},
      {"/api/v1/pods?fieldSelector=spec.nodeName%3Dn", "q"},
      {"/api/v1/pods?fieldSelector=spec.nodeName=", "r p"},
      {"/api/v1/pods?fieldSelector=spec.nodeName!=n,metadata.namespace==default", "p"},
      {"/api/v1/pods?fieldSelector=status.phase=Pending", "r p"},
      {"/api/v1/pods?fieldSelector=status.phase=Running&labelSelector=app=db", "q"},
      {"/api/v1/pods?fieldSelector=spec.schedulerName=other", "r"},
      {"/api/v1/pods?fieldSelector=metadata.name=p", "p"},
      {"/api/v1/pods?fieldSelector=status.nominatedNodeName=x", ""},
      {"/api/v1/nodes?fieldSelector=spec.unschedulable=true", "m"},
      {"/api/v1/nodes?fieldSelector=metadata.name=n&limit=5", "n"},
  };
  for (const auto& [path, names] : kTable) EXPECT_EQ(Names(path), names) << path;
}

TEST_F(EmbeddedListTest, RefusesOtherSelectors) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {"/api/v1/pods?fieldSelector=spec.priority=1",
       "400 BadRequest: field label not supported: spec.priority"},
      {"/api/v1/nodes?fieldSelector=metadata.namespace=a",
       "400 BadRequest: field label not supported: metadata.namespace"},
      {"/api/v1/nodes?fieldSelector=spec.nodeName=a",
       "400 BadRequest: field label not supported: spec.nodeName"},
      {"/api/v1/pods?fieldSelector=x",
       "400 BadRequest: unable to parse the field selector: expected =, == or != in \"x\""},
      {"/api/v1/pods?labelSelector=a+in", "400 BadRequest: unable to parse the label selector: "},
      {"/api/v1/pods?labelSelector=%zz", "400 BadRequest: the query parameter labelSelector: "},
      {"/api/v1/pods?watch=1", "405 MethodNotAllowed: "},
      {"/api/v1/namespaces/default/pods/p?fieldSelector=a=b", "405 MethodNotAllowed: "},
  };
  for (const auto& [path, error] : kTable) EXPECT_THAT(Names(path), StartsWith(error)) << path;
}

TEST_F(EmbeddedListTest, ContainsWholeObjects) {
  const Json list = Json::parse(Send("GET", "/api/v1/pods?labelSelector=app=web"));
  EXPECT_EQ(list["kind"], "PodList");
  EXPECT_EQ(list["items"][0], Object(kPod));
}

}  // namespace
}  // namespace berth::host
