#include "host/cluster/kubernetes/access/access_review.h"

#include <map>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/cluster/client.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/answers/api_error.h"

namespace berth::host {
namespace {

constexpr std::string_view kHost = "the host";
constexpr std::string_view kEviction = "plugins that evict pods";
constexpr std::string_view kEvents = "events of pods";
constexpr std::string_view kElection = "leader election";
constexpr std::string_view kLeaseGroup = "coordination.k8s.io";
constexpr std::string_view kServiceAccountPrefix = "system:serviceaccount:";

// Returns who needs the kind: the host, or the plugins in the order of the request.
std::string UsersOf(const PermissionsRequest& request, const std::string& kind) {
  if (kind == kPodKind || kind == kNodeKind) return std::string(kHost);
  std::string users;
  for (const auto& [its_kind, plugin] : request.needed_by) {
    if (its_kind == kind) users.append(users.empty() ? "" : ", ").append(plugin);
  }
  return users.empty() ? std::string(kHost) : users;
}

// ---- Roles --------------------------------------------------------------------------------------

// A YAML text in double quotes, which JSON's are.
std::string QuotedYaml(std::string_view text) {
  return DumpJson(nlohmann::json(std::string(text)));
}

std::string QuotedYaml(const std::set<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    list.append(list.empty() ? "" : ", ").append(QuotedYaml(text));
  }
  return "[" + list + "]";
}

// The part that the resources of one rule share: they are of one group and have these verbs.
using RuleKey = std::tuple<std::string, std::set<std::string>, std::string>;  // Group, verbs, name.

// Returns the rules of the permissions, with the resources of each.
std::map<RuleKey, std::set<std::string>> RulesOf(std::span<const Permission> permissions,
                                                 const std::string& ns) {
  // By group, resource and name.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> verbs;
  for (const Permission& permission : permissions) {
    if (permission.ns != ns) continue;
    verbs[{permission.group, permission.resource, permission.name}].insert(permission.verb);
  }
  std::map<RuleKey, std::set<std::string>> rules;
  for (const auto& [what, its_verbs] : verbs) {
    const auto& [group, resource, name] = what;
    rules[{group, its_verbs, name}].insert(resource);
  }
  return rules;
}

std::string SubjectYaml(std::string_view subject) {
  if (subject.starts_with(kServiceAccountPrefix)) {
    const std::string_view account = subject.substr(kServiceAccountPrefix.size());
    const size_t colon = account.find(':');
    if (colon != account.npos) {
      return "- kind: ServiceAccount\n  namespace: " + QuotedYaml(account.substr(0, colon)) +
             "\n  name: " + QuotedYaml(account.substr(colon + 1)) + "\n";
    }
  }
  return "- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: " + QuotedYaml(subject) +
         "\n";
}

// Returns the beginning of an object.
std::string HeadYaml(std::string_view kind, std::string_view name, const std::string& ns) {
  std::string yaml = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ";
  yaml.append(kind).append("\nmetadata:\n");
  if (!ns.empty()) yaml.append("  namespace: ").append(QuotedYaml(ns)).append("\n");
  return yaml.append("  name: ").append(QuotedYaml(name)).append("\n");
}

// Returns the role of a namespace, or the one of all namespaces, and its binding.
std::string RoleYaml(std::span<const Permission> missing, const std::string& ns,
                     std::string_view name, std::string_view subject) {
  const std::string kind = ns.empty() ? "ClusterRole" : "Role";
  std::string yaml = HeadYaml(kind, name, ns).append("rules:\n");
  for (const auto& [key, resources] : RulesOf(missing, ns)) {
    const auto& [group, verbs, object] = key;
    yaml.append("- apiGroups: [").append(QuotedYaml(group)).append("]\n");
    yaml.append("  resources: ").append(QuotedYaml(resources)).append("\n");
    if (!object.empty()) yaml.append("  resourceNames: [").append(QuotedYaml(object)).append("]\n");
    yaml.append("  verbs: ").append(QuotedYaml(verbs)).append("\n");
  }
  yaml.append("---\n").append(HeadYaml(kind + "Binding", name, ns));
  yaml.append("roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ").append(kind);
  yaml.append("\n  name: ").append(QuotedYaml(name));
  return yaml.append("\nsubjects:\n").append(SubjectYaml(subject));
}

// ---- Reviews ------------------------------------------------------------------------------------

std::string ReviewBody(const Permission& permission) {
  const size_t slash = permission.resource.find('/');
  nlohmann::ordered_json attributes = {{"verb", permission.verb},
                                       {"group", permission.group},
                                       {"resource", permission.resource.substr(0, slash)}};
  if (slash != std::string::npos) attributes["subresource"] = permission.resource.substr(slash + 1);
  if (!permission.ns.empty()) attributes["namespace"] = permission.ns;
  if (!permission.name.empty()) attributes["name"] = permission.name;
  return DumpJson(
      nlohmann::ordered_json{{"apiVersion", "authorization.k8s.io/v1"},
                             {"kind", "SelfSubjectAccessReview"},
                             {"spec", {{"resourceAttributes", std::move(attributes)}}}});
}

}  // namespace

std::vector<Permission> RequiredPermissions(const PermissionsRequest& request) {
  std::vector<Permission> result;
  const auto add = [&result](std::string_view group, std::string_view resource,
                             std::string_view verb, std::string_view needed_by) -> Permission& {
    return result.emplace_back(Permission{.group = std::string(group),
                                          .resource = std::string(resource),
                                          .verb = std::string(verb),
                                          .needed_by = std::string(needed_by)});
  };
  for (const Resource& resource : request.resources) {
    const std::string users = UsersOf(request, resource.kind);
    add(resource.group, resource.plural, "list", users);
    add(resource.group, resource.plural, "watch", users);
  }
  if (request.writes) {
    add("", "pods", "get", kHost);
    add("", "pods/binding", "create", kHost);
    add("", "pods/status", "patch", kHost);
    if (request.evicts) add("", "pods", "delete", kEviction);
    add("events.k8s.io", "events", "create", kEvents).is_optional = true;
    add("events.k8s.io", "events", "patch", kEvents).is_optional = true;
  }
  if (request.lease_ns.empty()) return result;
  add(kLeaseGroup, "leases", "create", kElection).ns = request.lease_ns;
  for (const char* verb : {"get", "update"}) {
    Permission& permission = add(kLeaseGroup, "leases", verb, kElection);
    permission.ns = request.lease_ns;
    permission.name = request.lease_name;
  }
  return result;
}

Result<AccessAnswer> ReviewAccess(const Permission& permission, const Send& send) {
  const HttpResponse response =
      send({.verb = "POST",
            .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            .body = ReviewBody(permission),
            .content_type = kJson});
  if (Status status = StatusOf(response); !status.ok()) return status;
  const Result<nlohmann::ordered_json> review = ParseBody(response.body);
  const auto status =
      review.ok() ? review->find("status") : nlohmann::ordered_json::const_iterator();
  const bool has_status = review.ok() && status != review->end() && status->is_object();
  const auto allowed = has_status ? status->find("allowed") : status;
  if (!has_status || allowed == status->end() || !allowed->is_boolean()) {
    return Status::Internal("the answer of the server is no SelfSubjectAccessReview");
  }
  AccessAnswer answer;
  answer.is_allowed = allowed->get<bool>();
  answer.reason = TextMember(*status, "reason");
  const std::string error = TextMember(*status, "evaluationError");
  if (!error.empty()) answer.reason.append(answer.reason.empty() ? "" : ": ").append(error);
  return answer;
}

std::string RolesYaml(std::span<const Permission> missing, std::string_view role_name,
                      std::string_view subject) {
  std::set<std::string> namespaces;  // "" first.
  for (const Permission& permission : missing) namespaces.insert(permission.ns);
  std::string yaml;
  for (const std::string& ns : namespaces) {
    if (!yaml.empty()) yaml.append("---\n");
    yaml.append(RoleYaml(missing, ns, role_name, subject));
  }
  return yaml;
}

}  // namespace berth::host
