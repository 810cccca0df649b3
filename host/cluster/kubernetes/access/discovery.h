// Finds out which kinds a server serves, and under which paths.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_DISCOVERY_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_DISCOVERY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/http/pacing.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

// The REST resource of a kind.
struct Resource {
  std::string kind;           // "storage.k8s.io/v1/CSINode"
  std::string group;          // "storage.k8s.io"; "" for the core group.
  std::string group_version;  // "storage.k8s.io/v1", "v1"
  std::string plural;         // "csinodes"
  bool is_namespaced = false;
  std::vector<std::string> verbs;

  // "/apis/storage.k8s.io/v1/csinodes", "/api/v1/pods"
  std::string CollectionPath() const;
  // "/api/v1/namespaces/default/pods/web-0"; `ns` is ignored for a kind without namespaces.
  std::string ObjectPath(std::string_view ns, std::string_view name) const;
  bool CanWatch() const;

  friend bool operator==(const Resource&, const Resource&) = default;
};

// Asks for /api/v1 and /apis/<group>/<version>, once per group and version, and again from time to
// time: every kRefreshNs, or every kRefreshMissingNs for one with a kind that is not served and
// that a watch waits for. A watch that gets 404 asks for an immediate refresh.
//
// Only an answer of the server decides that a kind is not served: 404 for the group and version, or
// a list without the kind. While the server cannot be asked, nothing is decided.
//
// Threading: the executor's thread.
// Lifetime:  transport and executor must outlive it.
class Discovery {
 public:
  static constexpr int64_t kRefreshNs = 300'000'000'000;
  static constexpr int64_t kRefreshMissingNs = 30'000'000'000;

  // Called when it is known whether the kind is served, and again when that changes: with the
  // resource, or with null if it is not served.
  using Listener = std::function<void(const Resource* resource)>;
  using ListenerId = uint64_t;

  Discovery(Transport& transport, Executor& executor, uint64_t seed, Log log);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Never calls the listener within the call.
  // REQUIRES: `kind` has one version.
  ListenerId Follow(std::string_view kind, Listener listener);
  void Unfollow(ListenerId listener);
  // A request for the resource of the kind was answered with 404.
  void OnNotFound(std::string_view kind);
  // Returns the error of the last request for the group and version of the kind; ok if it was
  // answered.
  Status LastError(std::string_view kind) const;

 private:
  // One group and version, and who follows its kinds.
  struct GroupVersion;
  struct Follower;

  GroupVersion& At(std::string_view kind);
  void Ask(GroupVersion& group_version);
  void OnAnswer(const std::string& name, const HttpResponse& response);
  // Calls the listeners whose resource has changed since their last call.
  void Tell(GroupVersion& group_version);
  void AskLater(GroupVersion& group_version, int64_t delay_ns);

  Transport& transport_;
  Executor& executor_;
  const uint64_t seed_;
  const Log log_;
  // The elements are never removed.
  std::map<std::string, std::unique_ptr<GroupVersion>, std::less<>> group_versions_;
  ListenerId last_ = 0;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For callbacks of requests.
};

// Returns the group and version of a kind: "storage.k8s.io/v1", "v1".
std::string_view GroupVersionOf(std::string_view kind);
// Returns the path of the list of the resources of a group and version: "/apis/storage.k8s.io/v1",
// "/api/v1".
std::string GroupVersionPath(std::string_view group_version);

// Reads an APIResourceList. Leaves out subresources such as "pods/status".
// Errors: kInvalidArgument for what is none.
Result<std::vector<Resource>> ReadResourceList(std::string_view body);
// Returns the resources that the answer to a request for GroupVersionPath() names; none for 404.
// Errors: those of StatusOf() and of ReadResourceList().
Result<std::vector<Resource>> ResourcesIn(const HttpResponse& response);

// --- access review -------------------------------------------------------------------------------
//
// Asks an API server what this client may do.

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

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_DISCOVERY_H_
