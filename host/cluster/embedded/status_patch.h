// The patch of a pod's status that the embedded cluster applies if it does not keep the pod's text.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Must not: be moved or copied, because patch() points into this object.
class StatusPatch {
 public:
  // `now_ns` is the time of conditions without a lastTransitionTime. A merge patch, which is not
  // strategic, cannot change single conditions, so they are unsupported in it.
  StatusPatch(bool is_strategic, int64_t now_ns) : is_strategic_(is_strategic), now_ns_(now_ns) {}
  StatusPatch(const StatusPatch&) = delete;
  StatusPatch& operator=(const StatusPatch&) = delete;

  // Decodes a patch, which is an object.
  // Errors: InvalidArgument for a malformed patch; Unsupported for fields that the cluster does not
  //         store: in the status, all except nominatedNodeName and the conditions PodScheduled and
  //         DisruptionTarget.
  Status Read(const nlohmann::ordered_json& json);

  const PodStatusPatch& patch() const { return patch_; }
  // Returns the uid that the pod must have; empty if any uid is accepted.
  const std::string& uid() const { return uid_; }

 private:
  Status ReadStatus(const nlohmann::ordered_json& status);
  Status ReadCondition(const nlohmann::ordered_json& json);
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  const bool is_strategic_;
  const int64_t now_ns_;
  PodStatusPatch patch_{};
  std::string uid_;
  std::deque<std::string> texts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_
