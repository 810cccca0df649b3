// Decodes the patches of a pod's status that the embedded cluster supports.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

enum class PatchKind : uint8_t { kMerge, kStrategicMerge };

// Must not: be moved or copied, because patch() points into this object.
class StatusPatch {
 public:
  StatusPatch() = default;
  StatusPatch(const StatusPatch&) = delete;
  StatusPatch& operator=(const StatusPatch&) = delete;

  // Decodes a patch. `now_ns` is the time of conditions without a lastTransitionTime.
  // Errors: InvalidArgument for a malformed patch; Unsupported for fields that the cluster does not
  //         store: in the status, all except nominatedNodeName and the conditions PodScheduled and
  //         DisruptionTarget. A merge patch cannot change single conditions, so they are
  //         unsupported in it as well.
  Status Read(const nlohmann::ordered_json& json, PatchKind kind, int64_t now_ns);

  const PodStatusPatch& patch() const { return patch_; }
  // Returns the uid that the pod must have; empty if any uid is accepted.
  const std::string& uid() const { return uid_; }

 private:
  Status ReadStatus(const nlohmann::ordered_json& status, PatchKind kind, int64_t now_ns);
  Status ReadCondition(const nlohmann::ordered_json& json, int64_t now_ns);
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  PodStatusPatch patch_{};
  std::string uid_;
  std::deque<std::string> texts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_
