#include "host/cluster/embedded/embedded_api_test.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kNodes = EmbeddedApiTest::kNodes;
constexpr const char* kClaims = EmbeddedApiTest::kClaims;

// ---- Paths --------------------------------------------------------------------------------------

std::string PathText(std::string_view text) {
  const Result<ApiPath> path = ApiPath::Parse(text);
  if (!path.ok()) return path.status().ToString();
  return path->group_version + " " + path->ns + " " + path->resource + " " + path->name + " " +
         path->subresource + " " + path->query;
}

TEST(ApiPath, Parse) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {"/api/v1/nodes", "v1  nodes   "},
      {"/api/v1/nodes/n1", "v1  nodes n1  "},
      {"/api/v1/nodes/n1/status", "v1  nodes n1 status "},
      {"/api/v1/namespaces", "v1  namespaces   "},
      {"/api/v1/namespaces/a", "v1  namespaces a  "},
      {"/api/v1/namespaces/a/status", "v1  namespaces a status "},
      {"/api/v1/namespaces/a/finalize", "v1  namespaces a finalize "},
      {"/api/v1/namespaces/a/pods", "v1 a pods   "},
      {"/api/v1/namespaces/a/pods/p/status", "v1 a pods p status "},
      {"/apis/storage.k8s.io/v1/csinodes/a?x=y/z", "storage.k8s.io/v1  csinodes a  x=y/z"},
  };
  for (const auto& [text, expected] : kTable) EXPECT_EQ(PathText(text), expected) << text;
  for (const char* text : {"/", "/api", "/api/v1", "/apis/g/v1", "/version", "/api/v1//p",
                           "/api/v1/nodes/", "/api/v1/namespaces/a/pods/p/status/x"}) {
    EXPECT_THAT(PathText(text), StartsWith("NotFound: the server could not find")) << text;
  }
}

TEST(ApiPath, LeadsToAKind) {
  EXPECT_TRUE(ApiPath::Parse("/api/v1/pods")->Leads("v1/Pod"));
  EXPECT_FALSE(ApiPath::Parse("/api/v1/nodes")->Leads("v1/Pod"));
  EXPECT_TRUE(ApiPath::Parse(kNodes)->Leads("storage.k8s.io/v1/CSINode"));
  EXPECT_FALSE(ApiPath::Parse(kNodes)->Leads("storage.k8s.io/v1beta1/CSINode"));
  EXPECT_FALSE(ApiPath::Parse(kNodes)->Leads("v1/CSINode"));
}

// ---- Requests -----------------------------------------------------------------------------------

TEST_F(EmbeddedApiTest, AnObjectIsCreatedReadReplacedAndDeleted) {
  const std::string path = std::string(kNodes) + "/a";
  const std::string spec = R"(,"spec":{"drivers":[{"name":"d","n":1.5,"ok":true}]})";
  EXPECT_EQ(Ask("POST", kNodes, CsiNode("a", spec)), CsiNodeAt("a", "1", spec));
  EXPECT_EQ(Ask("GET", path), CsiNodeAt("a", "1", spec));
  EXPECT_EQ(Ask("PUT", path, CsiNode("a", R"(,"spec":{})")), CsiNodeAt("a", "2", R"(,"spec":{})"));
  EXPECT_EQ(Ask("GET", path), CsiNodeAt("a", "2", R"(,"spec":{})"));
  EXPECT_THAT(Ask("DELETE", path), HasSubstr(R"("kind":"PartialObjectMetadata")"));
  EXPECT_EQ(Ask("GET", path), "404 NotFound: csinodes.storage.k8s.io \"a\" not found");
  EXPECT_EQ(Ask("DELETE", path), "404 NotFound: csinodes.storage.k8s.io \"a\" not found");
}

TEST_F(EmbeddedApiTest, AListIsOfANamespaceOrOfAll) {
  Ask("POST", kClaims, Claim("a"));
  Ask("POST", "/api/v1/namespaces/other/persistentvolumeclaims", Claim("b"));
  const auto names = [&](const std::string& path) {
    std::vector<std::string> found;
    const auto list = nlohmann::json::parse(Ask("GET", path));
    EXPECT_EQ(list["kind"], "PersistentVolumeClaimList");
    EXPECT_EQ(list["apiVersion"], "v1");
    EXPECT_EQ(list["metadata"]["resourceVersion"], "2");
    for (const auto& item : list["items"]) found.push_back(item["metadata"]["name"]);
    return found;
  };
  EXPECT_THAT(names(kClaims), ElementsAre("a"));
  EXPECT_THAT(names("/api/v1/persistentvolumeclaims"), ElementsAre("a", "b"));
}

TEST_F(EmbeddedApiTest, AMergePatchChangesWhatItNames) {
  Ask("POST", kNodes, CsiNode("a", R"(,"spec":{"x":1,"y":2})"));
  const std::string path = std::string(kNodes) + "/a";
  EXPECT_EQ(Ask("PATCH", path, R"({"spec":{"x":null,"z":3}})"),
            CsiNodeAt("a", "2", R"(,"spec":{"y":2,"z":3})"));
  EXPECT_THAT(Ask("PATCH", path, R"({"metadata":{"resourceVersion":"1"}})"),
              StartsWith("409 Conflict: Operation cannot be fulfilled"));
  EXPECT_THAT(Ask("PATCH", path, R"({"metadata":{"name":"b"}})"),
              StartsWith("400 BadRequest: the name of the object (b)"));
  EXPECT_THAT(Ask("PATCH", path, R"({"spec":{}})", PatchKind::kStrategicMerge),
              StartsWith("405 MethodNotAllowed: "));
  EXPECT_THAT(Ask("PATCH", std::string(kNodes) + "/b", "{}"), StartsWith("404 NotFound: "));
}

TEST_F(EmbeddedApiTest, WatchersAreTold) {
  RecordingSink sink;
  const auto watch = cluster_.StartWatch("storage.k8s.io/v1/CSINode", sink);
  Ask("POST", kNodes, CsiNode("a"));
  Ask("PATCH", std::string(kNodes) + "/a", "{}");
  Ask("DELETE", std::string(kNodes) + "/a");
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("synced", "+a@1", "~a@2(1)", "-a@3(2)"));
}

TEST_F(EmbeddedApiTest, ABodyBelongsAtItsPath) {
  const std::pair<std::string, const char*> kTable[] = {
      {"", "400 BadRequest: the body is no JSON object"},
      {"[]", "400 BadRequest: the body is no JSON object"},
      {"{}", "400 BadRequest: the body is a /, the path is one of v1 persistentvolumeclaims"},
      {CsiNode("a"), "400 BadRequest: the body is a storage.k8s.io/v1/CSINode, the path"},
      {Claim("a", "other"), "400 BadRequest: the namespace of the object (other) does not match"},
      {Claim(""), "400 BadRequest: "},
  };
  for (const auto& [body, error] : kTable) {
    EXPECT_THAT(Ask("POST", kClaims, body), StartsWith(error)) << body;
  }
  EXPECT_THAT(Ask("POST", std::string(kClaims) + "/a", Claim("a")),
              StartsWith("405 MethodNotAllowed: "));
  Ask("POST", kClaims, Claim("a"));
  EXPECT_THAT(Ask("POST", kClaims, Claim("a")), StartsWith("409 AlreadyExists: "));
  EXPECT_THAT(Ask("PUT", std::string(kClaims) + "/b", Claim("a")),
              StartsWith("400 BadRequest: the name of the object (a)"));
  EXPECT_THAT(Ask("PUT", std::string(kClaims) + "/b", Claim("b")), StartsWith("404 NotFound: "));
}

TEST_F(EmbeddedApiTest, ADeletionMayNameWhatIsMeant) {
  Ask("POST", kNodes, CsiNode("a"));
  const std::string path = std::string(kNodes) + "/a";
  const std::string conflict =
      R"(409 Conflict: Operation cannot be fulfilled on csinodes.storage.k8s.io "a": )"
      "Precondition failed: ";
  const std::string no_uid = conflict + "UID in precondition: other, UID in object meta: uid-a";
  const std::string no_version =
      conflict + "ResourceVersion in precondition: 2, ResourceVersion in object meta: 1";
  const std::pair<const char*, std::string> kTable[] = {
      {R"({"preconditions":{"uid":"other"}})", no_uid},
      {R"({"preconditions":{"resourceVersion":"2"}})", no_version},
      {R"({"preconditions":{"uid":"other","resourceVersion":"1"}})", no_uid},
      {R"({"preconditions":{"uid":"uid-a","resourceVersion":"2"}})", no_version},
      {R"({"preconditions":1})", "400 BadRequest: /preconditions: expected an object"},
      {R"({"preconditions":{"uid":1}})", "400 BadRequest: /preconditions/uid: expected a string"},
      {R"({"preconditions":{"resourceVersion":1}})",
       "400 BadRequest: /preconditions/resourceVersion: expected a string"},
      {R"({"preconditions":{"generation":"1"}})",
       "405 MethodNotAllowed: the embedded cluster does not serve DELETE " + path +
           ": it does not know the precondition generation"},
      {R"({"propagationPolicy":"Foreground"})",
       "405 MethodNotAllowed: the embedded cluster does not serve DELETE " + path +
           ": it does not know the option propagationPolicy"},
      {R"({"gracePeriodSeconds":"0"})",
       "400 BadRequest: /gracePeriodSeconds: expected a whole number"},
      {"[]", "400 BadRequest: the body is no JSON object"},
  };
  for (const auto& [options, answer] : kTable) EXPECT_EQ(Ask("DELETE", path, options), answer);
  for (const char* options :  // The second one meets the third version, the third the fifth.
       {R"({"preconditions":{"resourceVersion":"1"}})",
        R"({"preconditions":{"uid":"uid-a","resourceVersion":"3"}})",
        R"({"preconditions":{"uid":"uid-a"}})",
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":null})",
        R"({"preconditions":{"uid":null,"resourceVersion":null}})"}) {
    EXPECT_THAT(Ask("DELETE", path, options), StartsWith("{")) << options;
    EXPECT_THAT(Ask("GET", path), StartsWith("404 NotFound: ")) << options;
    Ask("POST", kNodes, CsiNode("a"));
  }
}

TEST_F(EmbeddedApiTest, APodGoesByTheGraceOfItsDeletion) {
  const auto remove = [&](const std::string& options) -> std::string {
    cluster_.Remove(kPodKind, "default", "p").ok();
    AddPod("p", R"(,"spec":{"nodeName":"n"})");
    const std::string answer = Ask("DELETE", "/api/v1/namespaces/default/pods/p", options);
    EXPECT_THAT(answer, HasSubstr(R"("kind":"PartialObjectMetadata")")) << options;
    const PodRef pod = cluster_.FindPod("default", "p");
    if (pod == nullptr) return "gone";
    EXPECT_THAT(answer, HasSubstr("deletionTimestamp")) << options;
    return std::to_string((pod->meta().deleted_ns - now_ns_) / kSecondNs);
  };
  EXPECT_EQ(remove(""), "30");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":null})"), "30");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":5})"), "5");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":0})"), "gone");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":-1})"), "1");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":18446744073709551615})"), "2147483648");
}

TEST_F(EmbeddedApiTest, WhatItDoesNotServeItNames) {
  AddPod("p");
  AddNode("n");
  Ask("POST", kNodes, CsiNode("a"));
  constexpr std::pair<std::pair<const char*, const char*>, const char*> kTable[] = {
      {{"GET", "/api/v1/pods"}, "it keeps no text of pods and nodes"},
      {{"GET", "/api/v1/namespaces/default/pods/p"}, "it keeps no text of pods and nodes"},
      {{"GET", "/api/v1/namespaces/default/pods/p/status"}, "it keeps no text of pods and nodes"},
      {{"PATCH", "/api/v1/namespaces/default/pods/p"}, "it keeps no text of pods and nodes"},
      {{"GET", "/api/v1/nodes/n"}, "it keeps no text of pods and nodes"},
      {{"PATCH", "/api/v1/nodes/n"}, "it keeps no text of pods and nodes"},
      {{"POST", "/api/v1/pods"}, "pods are created in their namespace"},
      {{"GET", "/apis/storage.k8s.io/v1/csinodes?labelSelector=a"},
       "it does not read the query parameter labelSelector"},
      {{"GET", "/apis/storage.k8s.io/v1/csinodes?limit=1&watch=1"},
       "it does not read the query parameter watch"},
      {{"PATCH", "/apis/storage.k8s.io/v1/csinodes"}, "it names no object"},
      {{"DELETE", "/apis/storage.k8s.io/v1/csinodes"}, "it names no object"},
      {{"HEAD", "/apis/storage.k8s.io/v1/csinodes/a"}, "it does not know the verb"},
  };
  for (const auto& [request, why] : kTable) {
    EXPECT_EQ(Ask(request.first, request.second),
              std::string("405 MethodNotAllowed: the embedded cluster does not serve ") +
                  request.first + " " + request.second + ": " + why);
  }
  for (const char* path : {"/apis/storage.k8s.io/v1/csinodes/a/status",
                           "/api/v1/namespaces/default/pods/p/binding", "/api/v1/nodes/n/status"}) {
    EXPECT_THAT(Ask("GET", path), StartsWith("404 NotFound: the embedded cluster does not serve "));
  }
  for (const char* path :
       {"/api/v1/secrets", "/version", "", "/", "/api/v1", "/api/v1/namespaces/default/nodes/n"}) {
    for (const char* verb : {"GET", "PUT", "PATCH", "DELETE"}) {
      EXPECT_EQ(Ask(verb, path), "404 NotFound: the server could not find the requested resource");
    }
  }
}

TEST_F(EmbeddedApiTest, ParametersThatChangeNoAnswerArePassedOver) {
  Ask("POST", std::string(kNodes) + "?fieldManager=acme&pretty=true", CsiNode("a"));
  const std::string list = Ask("GET", kNodes);
  EXPECT_THAT(list, HasSubstr("uid-a"));
  EXPECT_EQ(Ask("GET", std::string(kNodes) + "?limit=500&timeout=5s&pretty"), list);
}

TEST_F(EmbeddedApiTest, ARefusalIsAStatusObject) {
  Ask("POST", kNodes, CsiNode("a"));
  const Result<std::string> answer =
      api_.Serve({.verb = "GET", .path = std::string(kNodes) + "/b", .body = ""});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(answer.status().message(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"csinodes.storage.k8s.io \"b\" not found","reason":"NotFound",)"
            R"("details":{"name":"b","group":"storage.k8s.io","kind":"csinodes"},"code":404})");
}

// ---- Pods and nodes -----------------------------------------------------------------------------

TEST_F(EmbeddedApiTest, PodsAndNodesAreWrittenAndDeleted) {
  const std::string pods = "/api/v1/namespaces/a/pods";
  const std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u",)"
                          R"("creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"priority":7}})";
  EXPECT_EQ(Ask("POST", pods, pod),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u",)"
            R"("creationTimestamp":"2026-01-01T00:00:00Z","namespace":"a","resourceVersion":"1"},)"
            R"("spec":{"priority":7}})");
  EXPECT_EQ(cluster_.FindPod("a", "p")->view().priority, 7);
  EXPECT_THAT(
      Ask("POST", "/api/v1/nodes", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})"),
      HasSubstr(R"("resourceVersion":"2")"));
  EXPECT_NE(cluster_.FindNode("n"), nullptr);
  EXPECT_THAT(Ask("DELETE", pods + "/p"), HasSubstr(R"("name":"p")"));
  EXPECT_EQ(cluster_.FindPod("a", "p"), nullptr);
}

class StatusPatchTest : public EmbeddedApiTest {
 protected:
  StatusPatchTest() { AddPod("p", "", R"(,"uid":"u")"); }

  std::string Patch(const std::string& body, PatchKind kind = PatchKind::kStrategicMerge) {
    return Ask("PATCH", "/api/v1/namespaces/default/pods/p/status", body, kind);
  }
  PodRef pod() const { return cluster_.FindPod("default", "p"); }
  // "PodScheduled=2 Unschedulable"
  std::vector<std::string> Conditions() const {
    std::vector<std::string> conditions;
    for (const auto& condition : Elements<berth_condition>(pod()->view().conditions)) {
      conditions.push_back(std::string(pod()->Name(condition.type)) + "=" +
                           std::to_string(condition.status) + " " +
                           std::string(pod()->Name(condition.reason)));
    }
    return conditions;
  }
};

TEST_F(StatusPatchTest, Nomination) {
  for (const PatchKind kind : {PatchKind::kMerge, PatchKind::kStrategicMerge}) {
    EXPECT_THAT(Patch(R"({"metadata":{"uid":"u"},"status":{"nominatedNodeName":"n1"}})", kind),
                HasSubstr(R"("kind":"PartialObjectMetadata")"));
    EXPECT_EQ(pod()->nominated_node(), "n1");
    Patch(R"({"status":{"nominatedNodeName":null}})", kind);
    EXPECT_EQ(pod()->nominated_node(), "");
  }
}

TEST_F(StatusPatchTest, ConditionsAreMergedByTheirType) {
  Patch(R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[
            {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room",
             "lastProbeTime":null,"observedGeneration":1}]}})");
  EXPECT_THAT(Conditions(), ElementsAre("PodScheduled=2 Unschedulable"));
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "p"), "no room");
  Patch(R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"R",
            "lastTransitionTime":"2026-01-01T00:00:05Z"}]}})");
  EXPECT_THAT(Conditions(), ElementsAre("PodScheduled=2 Unschedulable", "DisruptionTarget=1 R"));
}

TEST_F(StatusPatchTest, AnotherPodOfTheNameIsAConflict) {
  EXPECT_THAT(Patch(R"({"metadata":{"uid":"other"},"status":{"nominatedNodeName":"n1"}})"),
              StartsWith("409 Conflict: "));
  EXPECT_EQ(pod()->nominated_node(), "");
}

TEST_F(StatusPatchTest, WhatItDoesNotKeepIsRefusedByName) {
  constexpr std::pair<const char*, const char*> kTable[] = {
      {R"({"status":{"phase":"Running"}})", "/status/phase"},
      {R"({"spec":{}})", "/spec"},
      {R"({"metadata":{"labels":{}}})", "/metadata/labels"},
      {R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})",
       "/status/conditions of type \"Ready\""},
      {R"({"status":{"conditions":[{"type":"PodScheduled","status":"True","x":1}]}})",
       "/status/conditions/x"},
      {R"({"status":{"conditions":[{"$patch":"delete","type":"PodScheduled"}]}})",
       "/status/conditions/$patch"},
  };
  for (const auto& [body, field] : kTable) {
    EXPECT_EQ(Patch(body),
              std::string("405 MethodNotAllowed: the embedded cluster does not patch ") + field);
  }
  EXPECT_EQ(Patch(R"({"status":{"conditions":[]}})", PatchKind::kMerge),
            "405 MethodNotAllowed: the embedded cluster does not patch /status/conditions");
}

TEST_F(StatusPatchTest, WhatIsWrongIsSaid) {
  for (const char* body :
       {"", "[]", R"({"status":1})", R"({"metadata":1})", R"({"metadata":{"uid":1}})",
        R"({"status":{"nominatedNodeName":1}})", R"({"status":{"conditions":[1]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled"}]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled","status":"true"}]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled","status":"True",)"
        R"("lastTransitionTime":"x"}]}})"}) {
    EXPECT_THAT(Patch(body), StartsWith("400 BadRequest: ")) << body;
  }
  EXPECT_THAT(Ask("PATCH", "/api/v1/namespaces/default/pods/q/status", "{}"),
              StartsWith("404 NotFound: "));
}

}  // namespace
}  // namespace berth::host
