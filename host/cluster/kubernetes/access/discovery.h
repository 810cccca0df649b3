// Finds out which kinds a server serves, and under which paths.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_DISCOVERY_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_DISCOVERY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/http/pacing.h"
#include "host/http/transport.h"

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

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_DISCOVERY_H_
