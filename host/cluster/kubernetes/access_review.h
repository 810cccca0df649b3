// Asks an API server what this client may do.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_REVIEW_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_REVIEW_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/kubernetes/discovery.h"
#include "host/cluster/kubernetes/transport.h"

namespace berth::host {

// One permission that a scheduler needs.
struct Permission {
  std::string group;
  std::string resource;  // "pods", "pods/binding"
  std::string verb;
  std::string ns;         // Empty: all namespaces, or a resource without namespaces.
  std::string name;       // Empty: any.
  std::string needed_by;  // "the host", "DefaultPreemption", "leader election"
  bool is_optional =
      false;  // Without it something less important does not work; `needed_by` tells.
};

// Returns what a scheduler with these kinds needs. Shadow mode and live simulations need only get,
// list and watch.
struct PermissionsRequest {
  std::vector<Resource> resources;  // The resources of all watched kinds.
  std::vector<std::pair<std::string, std::string>> needed_by;  // Kind, plugin.
  bool writes = true;
  bool evicts = true;    // A plugin deletes pods.
  std::string lease_ns;  // Empty: no leader election.
  std::string lease_name;
};
std::vector<Permission> RequiredPermissions(const PermissionsRequest& request);

// The answer to a SelfSubjectAccessReview.
struct AccessAnswer {
  bool is_allowed = false;
  std::string reason;
};
using Send = std::function<HttpResponse(HttpRequest request)>;
// Errors: those of StatusOf(), if the server does not answer the review.
Result<AccessAnswer> ReviewAccess(const Permission& permission, const Send& send);

// Returns RBAC objects in YAML that grant the permissions: a ClusterRole with the rules that apply
// to all namespaces, and a Role for those of one namespace. Rules with equal verbs are joined. It
// is what doctor prints, ready for `kubectl apply -f -`.
std::string RolesYaml(std::span<const Permission> missing, std::string_view role_name,
                      std::string_view subject);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_REVIEW_H_
