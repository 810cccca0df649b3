#include "host/cluster/kubernetes/access/access_review.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/json_text.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Resource MakeResource(const std::string& group, const std::string& kind,
                      const std::string& plural) {
  Resource resource;
  resource.group = group;
  resource.group_version = group.empty() ? "v1" : group + "/v1";
  resource.kind = resource.group_version + "/" + kind;
  resource.plural = plural;
  return resource;
}

// Returns "list storage.k8s.io/csinodes (VolumeZone)", with "in <namespace>", "named <name>" and
// "optional".
std::string Describe(const Permission& permission) {
  std::string text = permission.verb + " " + permission.group + "/" + permission.resource;
  if (!permission.ns.empty()) text += " in " + permission.ns;
  if (!permission.name.empty()) text += " named " + permission.name;
  return text + " (" + permission.needed_by + ")" + (permission.is_optional ? " optional" : "");
}

std::vector<std::string> Describe(const PermissionsRequest& request) {
  std::vector<std::string> texts;
  for (const Permission& permission : RequiredPermissions(request)) {
    texts.push_back(Describe(permission));
  }
  return texts;
}

PermissionsRequest RequestForPodsAndNodes() {
  PermissionsRequest request;
  request.resources = {MakeResource("", "Node", "nodes"), MakeResource("", "Pod", "pods")};
  return request;
}

// ---- RequiredPermissions ------------------------------------------------------------------------

TEST(RequiredPermissionsTest, SchedulerReadsItsKindsAndWritesItsDecisions) {
  PermissionsRequest request = RequestForPodsAndNodes();
  request.lease_ns = "kube-system";
  request.lease_name = "berth";
  EXPECT_THAT(Describe(request),
              ElementsAre("list /nodes (the host)", "watch /nodes (the host)",
                          "list /pods (the host)", "watch /pods (the host)", "get /pods (the host)",
                          "create /pods/binding (the host)", "patch /pods/status (the host)",
                          "delete /pods (plugins that evict pods)",
                          "create events.k8s.io/events (events of pods) optional",
                          "patch events.k8s.io/events (events of pods) optional",
                          "create coordination.k8s.io/leases in kube-system (leader election)",
                          "get coordination.k8s.io/leases in kube-system named berth (leader "
                          "election)",
                          "update coordination.k8s.io/leases in kube-system named berth (leader "
                          "election)"));
}

TEST(RequiredPermissionsTest, ShadowModeOnlyReads) {
  PermissionsRequest request = RequestForPodsAndNodes();
  request.writes = false;
  EXPECT_THAT(Describe(request), ElementsAre("list /nodes (the host)", "watch /nodes (the host)",
                                             "list /pods (the host)", "watch /pods (the host)"));
}

TEST(RequiredPermissionsTest, NoPodIsDeletedIfNoPluginEvicts) {
  PermissionsRequest request = RequestForPodsAndNodes();
  request.evicts = false;
  EXPECT_THAT(Describe(request), ::testing::Not(::testing::Contains(HasSubstr("delete"))));
}

TEST(RequiredPermissionsTest, NamesThePluginsThatNeedAKind) {
  PermissionsRequest request;
  request.writes = false;
  request.resources = {MakeResource("storage.k8s.io", "CSINode", "csinodes"),
                       MakeResource("", "Node", "nodes"),
                       MakeResource("", "Namespace", "namespaces")};
  request.needed_by = {{"storage.k8s.io/v1/CSINode", "NodeVolumeLimits"},
                       {"v1/Node", "NodeName"},
                       {"storage.k8s.io/v1/CSINode", "VolumeZone"}};
  EXPECT_THAT(Describe(request),
              ElementsAre("list storage.k8s.io/csinodes (NodeVolumeLimits, VolumeZone)",
                          "watch storage.k8s.io/csinodes (NodeVolumeLimits, VolumeZone)",
                          "list /nodes (the host)", "watch /nodes (the host)",
                          "list /namespaces (the host)", "watch /namespaces (the host)"));
}

// ---- ReviewAccess -------------------------------------------------------------------------------

class ReviewAccessTest : public ::testing::Test {
 protected:
  Result<AccessAnswer> Review(const Permission& permission, uint32_t http_status,
                              const std::string& body) {
    return ReviewAccess(permission, [&](HttpRequest request) {
      request_ = std::move(request);
      HttpResponse response;
      response.delivery = Delivery::kAnswered;
      response.head.http_status = http_status;
      response.body = body;
      return response;
    });
  }
  nlohmann::json Attributes() { return ParseJson(request_.body)["spec"]["resourceAttributes"]; }

  HttpRequest request_;
};

TEST_F(ReviewAccessTest, SendsOneReview) {
  const Permission permission = {
      .group = "", .resource = "pods/binding", .verb = "create", .needed_by = "the host"};
  const auto answer = Review(permission, 201, R"({"status":{"allowed":true,"reason":"RBAC: x"}})");
  EXPECT_EQ(request_.verb, "POST");
  EXPECT_EQ(request_.target, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  EXPECT_EQ(request_.content_type, "application/json");
  const nlohmann::json body = ParseJson(request_.body);
  EXPECT_EQ(body["apiVersion"], "authorization.k8s.io/v1");
  EXPECT_EQ(body["kind"], "SelfSubjectAccessReview");
  EXPECT_EQ(Attributes(), ParseJson(R"({"verb":"create","group":"","resource":"pods",)"
                                    R"("subresource":"binding"})"));
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->is_allowed);
  EXPECT_EQ(answer->reason, "RBAC: x");
}

TEST_F(ReviewAccessTest, NamesTheNamespaceAndTheObject) {
  const Permission permission = {.group = "coordination.k8s.io",
                                 .resource = "leases",
                                 .verb = "update",
                                 .ns = "kube-system",
                                 .name = "berth"};
  ASSERT_TRUE(Review(permission, 201, R"({"status":{"allowed":false}})").ok());
  EXPECT_EQ(Attributes(),
            ParseJson(R"({"verb":"update","group":"coordination.k8s.io","resource":"leases",)"
                      R"("namespace":"kube-system","name":"berth"})"));
}

TEST_F(ReviewAccessTest, ReadsTheAnswer) {
  struct Case {
    const char* name;
    uint32_t http_status;
    const char* body;
    const char* expected;
  };
  const Case cases[] = {
      {"allowed", 201, R"({"status":{"allowed":true}})", "allowed: "},
      {"not allowed", 201, R"({"status":{"allowed":false,"reason":"no rule"}})", "denied: no rule"},
      {"an error of the authorizer", 201,
       R"({"status":{"allowed":false,"reason":"no rule","evaluationError":"no role x"}})",
       "denied: no rule: no role x"},
      {"only an error of the authorizer", 201,
       R"({"status":{"allowed":false,"evaluationError":"no role x"}})", "denied: no role x"},
      {"a refusal of the review", 403,
       R"({"kind":"Status","message":"may not ask","reason":"Forbidden"})",
       "PermissionDenied: may not ask"},
      {"no JSON", 201, "<html>",
       "Internal: the answer of the server is no SelfSubjectAccessReview"},
      {"no status", 201, "{}", "Internal: the answer of the server is no SelfSubjectAccessReview"},
      {"a status that is a text", 201, R"({"status":"allowed"})",
       "Internal: the answer of the server is no SelfSubjectAccessReview"},
      {"no decision", 201, R"({"status":{"reason":"x"}})",
       "Internal: the answer of the server is no SelfSubjectAccessReview"},
      {"a decision that is no boolean", 201, R"({"status":{"allowed":"true"}})",
       "Internal: the answer of the server is no SelfSubjectAccessReview"},
  };
  for (const Case& c : cases) {
    const auto answer =
        Review({.group = "", .resource = "pods", .verb = "get"}, c.http_status, c.body);
    const std::string found = answer.ok()
                                  ? (answer->is_allowed ? "allowed: " : "denied: ") + answer->reason
                                  : answer.status().ToString();
    EXPECT_EQ(found, c.expected) << c.name;
  }
}

TEST_F(ReviewAccessTest, ReturnsErrorOfARequestWithoutAnAnswer) {
  const auto answer =
      ReviewAccess({.group = "", .resource = "pods", .verb = "get"}, [](const HttpRequest&) {
        HttpResponse response;
        response.status = Status::Unavailable("connection refused");
        return response;
      });
  EXPECT_EQ(answer.status(), Status::Unavailable("connection refused"));
}

// ---- RolesYaml ----------------------------------------------------------------------------------

TEST(RolesYamlTest, IsEmptyIfNothingIsMissing) { EXPECT_EQ(RolesYaml({}, "berth", "user"), ""); }

TEST(RolesYamlTest, JoinsEqualVerbsAndBindsAServiceAccount) {
  const std::vector<Permission> missing = {
      {.group = "", .resource = "pods", .verb = "watch"},
      {.group = "", .resource = "nodes", .verb = "list"},
      {.group = "", .resource = "pods", .verb = "list"},
      {.group = "", .resource = "nodes", .verb = "watch"},
      {.group = "", .resource = "pods/binding", .verb = "create"},
      {.group = "storage.k8s.io", .resource = "csinodes", .verb = "list"},
  };
  EXPECT_EQ(RolesYaml(missing, "berth", "system:serviceaccount:kube-system:berth-a"),
            R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "berth"
rules:
- apiGroups: [""]
  resources: ["pods/binding"]
  verbs: ["create"]
- apiGroups: [""]
  resources: ["nodes", "pods"]
  verbs: ["list", "watch"]
- apiGroups: ["storage.k8s.io"]
  resources: ["csinodes"]
  verbs: ["list"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: "berth"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: "berth"
subjects:
- kind: ServiceAccount
  namespace: "kube-system"
  name: "berth-a"
)");
}

TEST(RolesYamlTest, NamespacedPermissionsBecomeARoleWithObjectNames) {
  const std::vector<Permission> missing = {
      {.group = "coordination.k8s.io", .resource = "leases", .verb = "create", .ns = "kube-system"},
      {.group = "coordination.k8s.io",
       .resource = "leases",
       .verb = "get",
       .ns = "kube-system",
       .name = "berth"},
      {.group = "coordination.k8s.io",
       .resource = "leases",
       .verb = "update",
       .ns = "kube-system",
       .name = "berth"},
  };
  EXPECT_EQ(RolesYaml(missing, "berth", "jane"), R"(apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  namespace: "kube-system"
  name: "berth"
rules:
- apiGroups: ["coordination.k8s.io"]
  resources: ["leases"]
  verbs: ["create"]
- apiGroups: ["coordination.k8s.io"]
  resources: ["leases"]
  resourceNames: ["berth"]
  verbs: ["get", "update"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  namespace: "kube-system"
  name: "berth"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: "berth"
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: "jane"
)");
}

TEST(RolesYamlTest, SeparatesTheObjectsOfSeveralNamespaces) {
  const std::vector<Permission> missing = {
      {.group = "", .resource = "pods", .verb = "get"},
      {.group = "coordination.k8s.io", .resource = "leases", .verb = "get", .ns = "a"},
      {.group = "coordination.k8s.io", .resource = "leases", .verb = "get", .ns = "b"},
  };
  std::string yaml = RolesYaml(missing, "berth", "jane");
  std::vector<std::string> kinds;
  for (size_t at = yaml.find("kind: "); at != yaml.npos; at = yaml.find("\nkind: ", at + 1)) {
    const size_t begin = yaml.find(": ", at) + 2;
    kinds.push_back(yaml.substr(begin, yaml.find('\n', begin) - begin));
  }
  EXPECT_THAT(kinds, ElementsAre("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Role",
                                 "RoleBinding"));
}

TEST(RolesYamlTest, NamesCannotAddYaml) {
  const std::vector<Permission> missing = {
      {.group = "", .resource = "leases", .verb = "get", .ns = "a\"\nb: c", .name = "x\n- y"}};
  const std::string yaml = RolesYaml(missing, "berth", "system:serviceaccount:no-name\n- z");
  EXPECT_THAT(yaml, HasSubstr(R"(namespace: "a\"\nb: c")"));
  EXPECT_THAT(yaml, HasSubstr(R"(resourceNames: ["x\n- y"])"));
  EXPECT_THAT(yaml, HasSubstr(R"(name: "system:serviceaccount:no-name\n- z")"));
}

}  // namespace
}  // namespace berth::host
