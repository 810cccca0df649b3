// The ids under which the host itself rejects pods.
#ifndef BERTH_HOST_CYCLE_HOST_REJECTORS_H_
#define BERTH_HOST_CYCLE_HOST_REJECTORS_H_

#include <array>
#include <string_view>

#include "host/plan/plugin_ids.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

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

#endif  // BERTH_HOST_CYCLE_HOST_REJECTORS_H_
