// Functions that read persistent volume claims as Kubernetes does, for plugins that handle volumes.
#ifndef BERTH_CLAIMS_H_
#define BERTH_CLAIMS_H_

#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/value.h>

namespace berth {

// Returns the name of the claim's storage class: the beta annotation if the claim has it, else
// spec.storageClassName; empty if the claim has none.
// k8s.io/component-helpers/storage/volume: GetPersistentVolumeClaimClass
inline std::string_view ClaimClass(const Value& claim) {
  const Value annotation =
      claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
  return annotation.absent() ? claim["spec"]["storageClassName"].AsString() : annotation.AsString();
}

// Returns the uid of the controller of the object with this metadata; empty if it has none.
inline std::string_view ControllerUid(const berth_meta& meta) {
  for (const berth_owner& owner : Span<const berth_owner>(meta.owners)) {
    if (owner.controller != 0) return Str(owner.uid);
  }
  return {};
}

// Returns whether the claim was created for an ephemeral volume of this pod.
// k8s.io/component-helpers/storage/ephemeral: VolumeIsForPod
inline bool ClaimIsForPod(const berth_object& claim, const Pod& pod) {
  return claim.meta->ns == pod.ns() && ControllerUid(*claim.meta) == pod.uid();
}

// Returns kube-scheduler's text for an object that does not exist: `persistentvolumeclaim "data"
// not found`. `resource` is the kind in lower case, followed by the group if it has one:
// "storageclass.storage.k8s.io".
inline std::string NotFoundText(std::string_view resource, std::string_view name) {
  return std::string(resource).append(" \"").append(name).append("\" not found");
}

}  // namespace berth

#endif  // BERTH_CLAIMS_H_
