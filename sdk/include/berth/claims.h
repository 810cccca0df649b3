// Claims: what Kubernetes reads from a persistent volume claim, for plugins that look at volumes.
#ifndef BERTH_CLAIMS_H_
#define BERTH_CLAIMS_H_

#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/value.h>

namespace berth {

// The name of the claim's storage class: the annotation of old, where it has one, else
// spec.storageClassName; empty for none.
// k8s.io/component-helpers/storage/volume: GetPersistentVolumeClaimClass
inline std::string_view ClaimClass(const Value& claim) {
  const Value annotation =
      claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
  return annotation.absent() ? claim["spec"]["storageClassName"].AsString() : annotation.AsString();
}

// The uid of the object that manages `meta`'s; empty for none.
inline std::string_view ControllerUid(const berth_meta& meta) {
  for (const berth_owner& owner : Span<const berth_owner>(meta.owners)) {
    if (owner.controller != 0) return Str(owner.uid);
  }
  return {};
}

// Whether the claim was made for an ephemeral volume of this pod, as which it counts no other's.
// k8s.io/component-helpers/storage/ephemeral: VolumeIsForPod
inline bool ClaimIsForPod(const berth_object& claim, const Pod& pod) {
  return claim.meta->ns == pod.ns() && ControllerUid(*claim.meta) == pod.uid();
}

// `persistentvolumeclaim "data" not found`: what kube-scheduler says of an object that is not
// there. `resource` is the kind in small letters, with the group where it has one:
// "storageclass.storage.k8s.io".
inline std::string NotFoundText(std::string_view resource, std::string_view name) {
  return std::string(resource).append(" \"").append(name).append("\" not found");
}

}  // namespace berth

#endif  // BERTH_CLAIMS_H_
