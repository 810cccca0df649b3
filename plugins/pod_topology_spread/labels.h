// Node labels that kube-scheduler's default constraints use.
#ifndef BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_LABELS_H_
#define BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_LABELS_H_

#include <string_view>

namespace spread {

inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";

}  // namespace spread

#endif  // BERTH_PLUGINS_POD_TOPOLOGY_SPREAD_LABELS_H_
