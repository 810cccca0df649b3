#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/cluster/embedded/api_protocol.h"
#include "tests/harness/embedded_api_fixture.h"

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

TEST(ApiPath, ParsesPaths) {
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

TEST(ApiPath, BelongsToAKind) {
  EXPECT_TRUE(ApiPath::Parse("/api/v1/pods")->IsPathOf("v1/Pod"));
  EXPECT_FALSE(ApiPath::Parse("/api/v1/nodes")->IsPathOf("v1/Pod"));
  EXPECT_TRUE(ApiPath::Parse(kNodes)->IsPathOf("storage.k8s.io/v1/CSINode"));
  EXPECT_FALSE(ApiPath::Parse(kNodes)->IsPathOf("storage.k8s.io/v1beta1/CSINode"));
  EXPECT_FALSE(ApiPath::Parse(kNodes)->IsPathOf("v1/CSINode"));
}

// ---- Requests -----------------------------------------------------------------------------------

TEST_F(EmbeddedApiTest, CreatesReadsReplacesAndDeletesAnObject) {
  const std::string path = std::string(kNodes) + "/a";
  const std::string spec = R"(,"spec":{"drivers":[{"name":"d","n":1.5,"ok":true}]})";
  EXPECT_EQ(Send("POST", kNodes, CsiNode("a", spec)), CsiNodeAt("a", "1", spec));
  EXPECT_EQ(Send("GET", path), CsiNodeAt("a", "1", spec));
  EXPECT_EQ(Send("PUT", path, CsiNode("a", R"(,"spec":{})")), CsiNodeAt("a", "2", R"(,"spec":{})"));
  EXPECT_EQ(Send("GET", path), CsiNodeAt("a", "2", R"(,"spec":{})"));
  EXPECT_THAT(Send("DELETE", path), HasSubstr(R"("kind":"PartialObjectMetadata")"));
  EXPECT_EQ(Send("GET", path), "404 NotFound: csinodes.storage.k8s.io \"a\" not found");
  EXPECT_EQ(Send("DELETE", path), "404 NotFound: csinodes.storage.k8s.io \"a\" not found");
}

TEST_F(EmbeddedApiTest, ListsOneNamespaceOrAllNamespaces) {
  Send("POST", kClaims, Claim("a"));
  Send("POST", "/api/v1/namespaces/other/persistentvolumeclaims", Claim("b"));
  const auto names = [&](const std::string& path) {
    std::vector<std::string> found;
    const auto list = nlohmann::json::parse(Send("GET", path));
    EXPECT_EQ(list["kind"], "PersistentVolumeClaimList");
    EXPECT_EQ(list["apiVersion"], "v1");
    EXPECT_EQ(list["metadata"]["resourceVersion"], "2");
    for (const auto& item : list["items"]) found.push_back(item["metadata"]["name"]);
    return found;
  };
  EXPECT_THAT(names(kClaims), ElementsAre("a"));
  EXPECT_THAT(names("/api/v1/persistentvolumeclaims"), ElementsAre("a", "b"));
}

TEST_F(EmbeddedApiTest, AMergePatchChangesOnlyItsFields) {
  Send("POST", kNodes, CsiNode("a", R"(,"spec":{"x":1,"y":2})"));
  const std::string path = std::string(kNodes) + "/a";
  EXPECT_EQ(Send("PATCH", path, R"({"spec":{"x":null,"z":3}})"),
            CsiNodeAt("a", "2", R"(,"spec":{"y":2,"z":3})"));
  EXPECT_THAT(Send("PATCH", path, R"({"metadata":{"resourceVersion":"1"}})"),
              StartsWith("409 Conflict: Operation cannot be fulfilled"));
  EXPECT_THAT(Send("PATCH", path, R"({"metadata":{"name":"b"}})"),
              StartsWith("400 BadRequest: the name of the object (b)"));
  EXPECT_THAT(Send("PATCH", std::string(kNodes) + "/b", "{}"), StartsWith("404 NotFound: "));
}

TEST_F(EmbeddedApiTest, NotifiesWatches) {
  RecordingSink sink;
  const auto watch = cluster_.StartWatch("storage.k8s.io/v1/CSINode", sink);
  Send("POST", kNodes, CsiNode("a"));
  Send("PATCH", std::string(kNodes) + "/a", "{}");
  Send("DELETE", std::string(kNodes) + "/a");
  cluster_.Deliver();
  EXPECT_THAT(sink.seen, ElementsAre("synced", "+a@1", "~a@2(1)", "-a@3(2)"));
}

TEST_F(EmbeddedApiTest, RejectsBodyThatDoesNotMatchThePath) {
  const std::pair<std::string, const char*> kTable[] = {
      {"", "400 BadRequest: the body is not a JSON object"},
      {"[]", "400 BadRequest: the body is not a JSON object"},
      {"{}",
       "400 BadRequest: the kind of the body (/) does not match the path (v1 "
       "persistentvolumeclaims)"},
      {CsiNode("a"), "400 BadRequest: the kind of the body (storage.k8s.io/v1/CSINode) does not"},
      {Claim("a", "other"), "400 BadRequest: the namespace of the object (other) does not match"},
      {Claim(""), "400 BadRequest: "},
  };
  for (const auto& [body, error] : kTable) {
    EXPECT_THAT(Send("POST", kClaims, body), StartsWith(error)) << body;
  }
  EXPECT_THAT(Send("POST", std::string(kClaims) + "/a", Claim("a")),
              StartsWith("405 MethodNotAllowed: "));
  Send("POST", kClaims, Claim("a"));
  EXPECT_THAT(Send("POST", kClaims, Claim("a")), StartsWith("409 AlreadyExists: "));
  EXPECT_THAT(Send("PUT", std::string(kClaims) + "/b", Claim("a")),
              StartsWith("400 BadRequest: the name of the object (a)"));
  EXPECT_THAT(Send("PUT", std::string(kClaims) + "/b", Claim("b")), StartsWith("404 NotFound: "));
}

TEST_F(EmbeddedApiTest, ChecksThePreconditionsOfADeletion) {
  Send("POST", kNodes, CsiNode("a"));
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
      {R"({"preconditions":1})", "400 BadRequest: /preconditions: expected an object, found 1"},
      {R"({"preconditions":{"uid":1}})",
       "400 BadRequest: /preconditions/uid: expected a string, found 1"},
      {R"({"preconditions":{"resourceVersion":1}})",
       "400 BadRequest: /preconditions/resourceVersion: expected a string, found 1"},
      {R"({"preconditions":{"generation":"1"}})",
       "405 MethodNotAllowed: the embedded cluster does not serve DELETE " + path +
           ": the precondition generation is not supported"},
      {R"({"propagationPolicy":"Foreground"})",
       "405 MethodNotAllowed: the embedded cluster does not serve DELETE " + path +
           ": the option propagationPolicy is not supported"},
      {R"({"gracePeriodSeconds":"0"})",
       "400 BadRequest: /gracePeriodSeconds: expected a whole number, found \"0\""},
      {"[]", "400 BadRequest: the body is not a JSON object"},
  };
  for (const auto& [options, answer] : kTable) EXPECT_EQ(Send("DELETE", path, options), answer);
  // Each deletion and creation raises the resourceVersion: the second request meets version 3.
  for (const char* options :
       {R"({"preconditions":{"resourceVersion":"1"}})",
        R"({"preconditions":{"uid":"uid-a","resourceVersion":"3"}})",
        R"({"preconditions":{"uid":"uid-a"}})",
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":null})",
        R"({"preconditions":{"uid":null,"resourceVersion":null}})"}) {
    EXPECT_THAT(Send("DELETE", path, options), StartsWith("{")) << options;
    EXPECT_THAT(Send("GET", path), StartsWith("404 NotFound: ")) << options;
    Send("POST", kNodes, CsiNode("a"));
  }
}

TEST_F(EmbeddedApiTest, DeletesPodWithGracePeriodOfTheOptions) {
  const auto remove = [&](const std::string& options) -> std::string {
    cluster_.Remove(kPodKind, "default", "p").ok();
    AddPod("p", R"(,"spec":{"nodeName":"n"})");
    const std::string answer = Send("DELETE", "/api/v1/namespaces/default/pods/p", options);
    EXPECT_THAT(answer, HasSubstr(R"("kind":"PartialObjectMetadata")")) << options;
    const PodRef pod = cluster_.FindPod("default", "p");
    if (pod == nullptr) return "gone";
    EXPECT_THAT(answer, HasSubstr("deletionTimestamp")) << options;
    return std::to_string((pod->meta().deleted_ns - NowNs()) / kSecond);
  };
  EXPECT_EQ(remove(""), "30");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":null})"), "30");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":5})"), "5");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":0})"), "gone");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":-1})"), "1");
  EXPECT_EQ(remove(R"({"gracePeriodSeconds":18446744073709551615})"), "2147483648");
}

TEST_F(EmbeddedApiTest, NamesWhatIsNotSupported) {
  constexpr const char* kNoPodText =
      "the cluster keeps the text of a pod only if a plugin lists \"Pod:\" in its fields";
  constexpr const char* kNoNodeText =
      "the cluster keeps the text of a node only if a plugin lists \"Node:\" in its fields";
  AddPod("p");
  AddNode("n");
  Send("POST", kNodes, CsiNode("a"));
  constexpr std::pair<std::pair<const char*, const char*>, const char*> kTable[] = {
      {{"GET", "/api/v1/pods"}, kNoPodText},
      {{"GET", "/api/v1/namespaces/default/pods/p"}, kNoPodText},
      {{"GET", "/api/v1/namespaces/default/pods/p/status"}, kNoPodText},
      {{"PATCH", "/api/v1/namespaces/default/pods/p"}, kNoPodText},
      {{"GET", "/api/v1/nodes/n"}, kNoNodeText},
      {{"GET", "/api/v1/nodes/n/status"}, kNoNodeText},
      {{"PATCH", "/api/v1/nodes/n"}, kNoNodeText},
      {{"PUT", "/api/v1/nodes/n/status"}, "the verb is not supported"},
      {{"POST", "/api/v1/pods"}, "a pod is created with the path of its namespace"},
      {{"GET", "/apis/storage.k8s.io/v1/csinodes/a?labelSelector=a"},
       "the query parameter labelSelector is not supported"},
      {{"GET", "/apis/storage.k8s.io/v1/csinodes?limit=1&watch=1"},
       "the query parameter watch is not supported"},
      {{"PATCH", "/apis/storage.k8s.io/v1/csinodes"}, "the path has no object name"},
      {{"DELETE", "/apis/storage.k8s.io/v1/csinodes"}, "the path has no object name"},
      {{"HEAD", "/apis/storage.k8s.io/v1/csinodes/a"}, "the verb is not supported"},
  };
  for (const auto& [request, why] : kTable) {
    EXPECT_EQ(Send(request.first, request.second),
              std::string("405 MethodNotAllowed: the embedded cluster does not serve ") +
                  request.first + " " + request.second + ": " + why);
  }
  for (const char* path : {"/apis/storage.k8s.io/v1/csinodes/a/status",
                           "/api/v1/namespaces/default/pods/p/binding", "/api/v1/nodes/n/proxy"}) {
    EXPECT_THAT(Send("GET", path),
                StartsWith("404 NotFound: the embedded cluster does not serve "));
  }
  for (const char* path :
       {"/api/v1/secrets", "/version", "", "/", "/api/v1", "/api/v1/namespaces/default/nodes/n"}) {
    for (const char* verb : {"GET", "PUT", "PATCH", "DELETE"}) {
      EXPECT_EQ(Send(verb, path), "404 NotFound: the server could not find the requested resource");
    }
  }
}

TEST_F(EmbeddedApiTest, IgnoresParametersThatDoNotChangeTheResponse) {
  Send("POST", std::string(kNodes) + "?fieldManager=acme&pretty=true", CsiNode("a"));
  const std::string list = Send("GET", kNodes);
  EXPECT_THAT(list, HasSubstr("uid-a"));
  EXPECT_EQ(Send("GET", std::string(kNodes) + "?limit=500&timeout=5s&pretty"), list);
}

TEST_F(EmbeddedApiTest, AnErrorIsAStatusObject) {
  Send("POST", kNodes, CsiNode("a"));
  const ApiResponse answer =
      api_.Serve({.verb = "GET", .path = std::string(kNodes) + "/b", .body = ""});
  EXPECT_EQ(answer.status, Status::NotFound("csinodes.storage.k8s.io \"b\" not found"));
  EXPECT_EQ(answer.http_status, 404U);
  EXPECT_EQ(answer.body,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"csinodes.storage.k8s.io \"b\" not found","reason":"NotFound",)"
            R"("details":{"name":"b","group":"storage.k8s.io","kind":"csinodes"},"code":404})");
}

TEST_F(EmbeddedApiTest, RejectsBodiesOfAnotherMediaType) {
  Send("POST", kNodes, CsiNode("a"));
  AddPod("p", "");
  const std::string object = std::string(kNodes) + "/a";
  const std::string status = "/api/v1/namespaces/default/pods/p/status";
  struct Case {
    const char* name;
    const char* verb;
    std::string path;
    std::string_view type;
    bool accepted;
  };
  const Case kTable[] = {
      {"JSON", "PUT", object, "application/json", true},
      {"JSON with a parameter", "PUT", object, "Application/JSON ; charset=utf-8", true},
      {"a patch as an object", "PUT", object, kMergePatch, false},
      {"YAML", "POST", kNodes, "application/yaml", false},
      {"protobuf", "DELETE", object, "application/vnd.kubernetes.protobuf", false},
      {"a merge patch", "PATCH", object, kMergePatch, true},
      {"JSON as a patch", "PATCH", object, kJson, false},
      {"a strategic merge patch of an object", "PATCH", object, kStrategicMergePatch, false},
      {"a strategic merge patch of a status", "PATCH", status, kStrategicMergePatch, true},
      {"an apply patch of a status", "PATCH", status, "application/apply-patch+yaml", false},
  };
  for (const Case& c : kTable) {
    const bool is_patch = std::string_view(c.verb) == "PATCH";
    const std::string answer = Send(c.verb, c.path, is_patch ? "{}" : CsiNode("a"), c.type);
    constexpr const char* kRejected =
        "415 UnsupportedMediaType: the body of the request was in an unknown format - accepted "
        "media types include: application/";
    EXPECT_EQ(answer.starts_with(kRejected), !c.accepted) << c.name << ": " << answer;
    EXPECT_EQ(answer.starts_with("{"), c.accepted) << c.name << ": " << answer;
  }
}

// ---- Pods and nodes -----------------------------------------------------------------------------

TEST_F(EmbeddedApiTest, CreatesAndDeletesPodsAndNodes) {
  const std::string pods = "/api/v1/namespaces/a/pods";
  const std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u",)"
                          R"("creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"priority":7}})";
  EXPECT_EQ(Send("POST", pods, pod),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u",)"
            R"("creationTimestamp":"2026-01-01T00:00:00Z","namespace":"a","resourceVersion":"1"},)"
            R"("spec":{"priority":7}})");
  EXPECT_EQ(cluster_.FindPod("a", "p")->view().priority, 7);
  EXPECT_THAT(
      Send("POST", "/api/v1/nodes", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})"),
      HasSubstr(R"("resourceVersion":"2")"));
  EXPECT_NE(cluster_.FindNode("n"), nullptr);
  EXPECT_THAT(Send("DELETE", pods + "/p"), HasSubstr(R"("name":"p")"));
  EXPECT_EQ(cluster_.FindPod("a", "p"), nullptr);
}

class StatusPatchTest : public EmbeddedApiTest {
 protected:
  StatusPatchTest() { AddPod("p", "", R"(,"uid":"u")"); }

  std::string Patch(const std::string& body, std::string_view type = kStrategicMergePatch) {
    return Send("PATCH", "/api/v1/namespaces/default/pods/p/status", body, type);
  }
  PodRef pod() const { return cluster_.FindPod("default", "p"); }
  // Returns the conditions as texts such as "PodScheduled=2 Unschedulable".
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

TEST_F(StatusPatchTest, SetsAndClearsTheNomination) {
  for (const std::string_view type : {kMergePatch, kStrategicMergePatch}) {
    EXPECT_THAT(Patch(R"({"metadata":{"uid":"u"},"status":{"nominatedNodeName":"n1"}})", type),
                HasSubstr(R"("kind":"PartialObjectMetadata")"));
    EXPECT_EQ(pod()->nominated_node(), "n1");
    Patch(R"({"status":{"nominatedNodeName":null}})", type);
    EXPECT_EQ(pod()->nominated_node(), "");
  }
}

TEST_F(StatusPatchTest, MergesConditionsByTheirType) {
  Patch(R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[
            {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room",
             "lastProbeTime":null,"observedGeneration":1}]}})");
  EXPECT_THAT(Conditions(), ElementsAre("PodScheduled=2 Unschedulable"));
  EXPECT_EQ(cluster_.PodScheduledMessage("default", "p"), "no room");
  Patch(R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"R",
            "lastTransitionTime":"2026-01-01T00:00:05Z"}]}})");
  EXPECT_THAT(Conditions(), ElementsAre("PodScheduled=2 Unschedulable", "DisruptionTarget=1 R"));
}

TEST_F(StatusPatchTest, AnotherUidIsAConflict) {
  EXPECT_THAT(Patch(R"({"metadata":{"uid":"other"},"status":{"nominatedNodeName":"n1"}})"),
              StartsWith("409 Conflict: "));
  EXPECT_EQ(pod()->nominated_node(), "");
}

TEST_F(StatusPatchTest, RejectsUnsupportedFieldsByName) {
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
  const std::string begin = "405 MethodNotAllowed: the embedded cluster does not patch ";
  const std::string end =
      ": it keeps the text of a pod only if a plugin lists \"Pod:\" in its fields";
  for (const auto& [body, field] : kTable) EXPECT_EQ(Patch(body), begin + field + end);
  EXPECT_EQ(Patch(R"({"status":{"conditions":[]}})", kMergePatch),
            begin + "/status/conditions" + end);
}

TEST_F(StatusPatchTest, RejectsMalformedPatches) {
  for (const char* body :
       {"", "[]", R"({"status":1})", R"({"metadata":1})", R"({"metadata":{"uid":1}})",
        R"({"status":{"nominatedNodeName":1}})", R"({"status":{"conditions":[1]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled"}]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled","status":"true"}]}})",
        R"({"status":{"conditions":[{"type":"PodScheduled","status":"True",)"
        R"("lastTransitionTime":"x"}]}})"}) {
    EXPECT_THAT(Patch(body), StartsWith("400 BadRequest: ")) << body;
  }
  EXPECT_THAT(Send("PATCH", "/api/v1/namespaces/default/pods/q/status", "{}"),
              StartsWith("404 NotFound: "));
}

}  // namespace
}  // namespace berth::host
