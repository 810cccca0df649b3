// The fields of a pod's spec that installed plugins handle, and the ids under which the host itself
// rejects pods.
//
// If a field that no installed plugin handles were ignored silently, the pod could be placed where
// its owner forbade it. Such a pod is rejected instead, with the name of the field. A field whose
// plugin is installed but not part of the profile is ignored, as kube-scheduler does.
#ifndef BERTH_HOST_CYCLE_HANDLED_FIELDS_H_
#define BERTH_HOST_CYCLE_HANDLED_FIELDS_H_

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

#include "host/plan/instance_context.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// Threading: any, after its construction.
class HandledFields {
 public:
  // `pod_fields`: the JSON pointers of the fields that installed plugins handle. A pointer covers
  // everything below it.
  explicit HandledFields(std::set<std::string> pod_fields) : fields_(std::move(pod_fields)) {}

  // Returns the JSON pointers of the fields that the pod uses and no plugin handles, sorted.
  std::vector<std::string_view> Unhandled(const berth_pod& pod) const;

  // Returns the message for such fields: "pod uses spec.nodeSelector, which no installed plugin
  // handles".
  static std::string Message(const std::vector<std::string_view>& unhandled);

 private:
  bool Handles(std::string_view field) const;

  std::set<std::string> fields_;
};

// Rejects a pod that uses a field which no plugin handles. An update of the pod requeues it.
inline constexpr std::string_view kUnhandledField = "berth.UnhandledField";
// Rejects every pod while the cluster has no node. A new node requeues the pods. (kube-scheduler
// instead retries such a pod after every backoff.)
inline constexpr std::string_view kNoNodes = "berth.NoNodes";

// The ids of these rejectors. They belong to no profile.
struct HostRejectors {
  explicit HostRejectors(PluginIds& ids)
      : unhandled_field(ids.IdOf("", kUnhandledField)), no_nodes(ids.IdOf("", kNoNodes)) {}

  // Returns the events that requeue the pods which these rejectors have rejected.
  std::array<Interest, 2> interests() const {
    return {
        Interest{.plugin = no_nodes, .resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD},
        Interest{.plugin = unhandled_field,
                 .resource = BERTH_RESOURCE_TARGET_POD,
                 .actions = BERTH_ACTION_UPDATE}};
  }

  PluginId unhandled_field;
  PluginId no_nodes;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_HANDLED_FIELDS_H_
