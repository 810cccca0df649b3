// A patch of a pod's status as the embedded cluster understands it.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_STATUS_PATCH_H_

#include <deque>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cluster/client.h"

namespace berth::host {

// Must not: move or be copied, because patch() points into it.
class StatusPatch {
 public:
  StatusPatch() = default;
  StatusPatch(const StatusPatch&) = delete;
  StatusPatch& operator=(const StatusPatch&) = delete;

  // `now_ns` is the time of conditions that name none.
  // Errors: InvalidArgument for what is no patch; Unsupported for what the cluster does not keep:
  //         any part of the status but nominatedNodeName and the conditions PodScheduled and
  //         DisruptionTarget, which a merge patch cannot single out.
  Status Read(const nlohmann::ordered_json& json, PatchKind kind, int64_t now_ns);

  const PodStatusPatch& patch() const { return patch_; }
  // Of the pod that is meant; empty: any.
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
