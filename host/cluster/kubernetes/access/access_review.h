// Asks an API server what this client may do.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_ACCESS_REVIEW_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_ACCESS_REVIEW_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/http/transport.h"

namespace berth::host {

// One permission that a scheduler needs.
struct Permission {
  std::string group;     // "" for the core group.
  std::string resource;  // "pods", "pods/binding"
  std::string verb;
  std::string ns = {};         // Empty: all namespaces, or a resource without namespaces.
  std::string name = {};       // Empty: any.
  std::string needed_by = {};  // "the host", "NodeVolumeLimits, VolumeZone", "leader election"
  // Without it something less important does not work; `needed_by` names it.
  bool is_optional = false;

  friend bool operator==(const Permission&, const Permission&) = default;
};

struct PermissionsRequest {
  std::vector<Resource> resources;  // The resources of all watched kinds that are served.
  std::vector<std::pair<std::string, std::string>> needed_by = {};  // Kind, plugin.
  bool writes = true;         // Shadow mode and live simulations write nothing.
  bool evicts = true;         // A plugin deletes pods.
  std::string lease_ns = {};  // Empty: no leader election.
  std::string lease_name = {};
};
// Returns what a scheduler with these kinds needs:
//   list, watch           of every watched kind
//   get pods              to find out whether a binding was executed whose answer was lost
//   create pods/binding, patch pods/status
//   delete pods           if a plugin evicts pods
//   create, patch events  of events.k8s.io; optional
//   create leases         in the namespace of the lease; a rule for creations cannot name an object
//   get, update leases    with the name of the lease
// (kube-scheduler: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go)
std::vector<Permission> RequiredPermissions(const PermissionsRequest& request);

// The answer to a SelfSubjectAccessReview.
struct AccessAnswer {
  bool is_allowed = false;
  std::string reason = {};  // That of the server, and its error if it could not decide. May be "".
};
// Sends a request and returns its answer, such as KubernetesConnection::SendAndWait().
using Send = std::function<HttpResponse(HttpRequest request)>;
// Every user may send a SelfSubjectAccessReview (the ClusterRole system:basic-user), and it changes
// nothing.
// Errors: those of StatusOf(), if the server does not answer the review; kInternal for an answer
//         that is no review.
Result<AccessAnswer> ReviewAccess(const Permission& permission, const Send& send);

// Returns RBAC objects in YAML that grant the permissions: a ClusterRole with the rules that apply
// to all namespaces, a Role for each other namespace, and their bindings to the subject. Rules of
// one API group with equal verbs are joined. It is what doctor prints, ready for
// `kubectl apply -f -`. Empty if no permission is missing.
// `subject`: the name of a user; "system:serviceaccount:<namespace>:<name>" is a ServiceAccount.
std::string RolesYaml(std::span<const Permission> missing, std::string_view role_name,
                      std::string_view subject);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_ACCESS_REVIEW_H_
