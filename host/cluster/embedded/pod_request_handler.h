// The requests that an API server serves for single pods: binding, status patch and deletion.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_POD_REQUEST_HANDLER_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_POD_REQUEST_HANDLER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/resource_versions.h"
#include "host/cluster/embedded/stored_objects.h"

namespace berth::host {

// Executes each request within its call. The errors and their texts are those of an API server, as
// Client describes them for the request of the same name. A request that fails changes nothing.
//
// Threading: the thread of the cluster's owner.
// Lifetime:  the arguments of the constructor must outlive this object.
class PodRequestHandler {
 public:
  // The grace period of every pod; spec.terminationGracePeriodSeconds is ignored.
  static constexpr int64_t kDefaultGraceSeconds = 30;

  PodRequestHandler(StoredObjects& objects, ResourceVersions& versions, const Clock& clock)
      : objects_(objects), versions_(versions), clock_(clock) {}
  PodRequestHandler(const PodRequestHandler&) = delete;
  PodRequestHandler& operator=(const PodRequestHandler&) = delete;

  // Binds a pod: see DecisionWriter::Bind. Clears the pod's nomination and sets its condition
  // PodScheduled.
  Status Bind(const PodName& pod, std::string_view node);
  // Patches the status of a pod: see DecisionWriter::PatchPodStatus.
  Status PatchStatus(const PodName& pod, const PodStatusPatch& patch);
  // Deletes a pod: see DecisionWriter::DeletePod. A second deletion may shorten the grace period of
  // the first one, but does not extend it.
  Status Delete(const PodName& pod, std::optional<int64_t> grace_seconds);
  // Removes a pod that is being deleted, as a kubelet does when the containers have ended.
  // Errors: kNotFound; kConflict (another uid); kInvalidArgument if the pod is not being deleted.
  Status FinishDeletion(const PodName& pod);

 private:
  // Returns the pod. Never null on success.
  // Errors: kNotFound; kConflict (another uid), with the name of `resource`.
  Result<StoredObject*> FindPod(const PodName& pod, std::string_view resource);

  StoredObjects& objects_;
  ResourceVersions& versions_;
  const Clock& clock_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_POD_REQUEST_HANDLER_H_
