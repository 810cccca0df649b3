// A KubeSchedulerProfile (kubescheduler.config.k8s.io/v1) as the cases carry it, merged with the
// defaults as kube-scheduler merges them.
#ifndef BERTH_TESTS_CONFORMANCE_KUBE_PROFILE_H_
#define BERTH_TESTS_CONFORMANCE_KUBE_PROFILE_H_

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/loader/plugin_catalog.h"
#include "host/runtime/plan.h"

namespace berth::host {

struct KubePlugin {
  std::string name;
  int64_t weight = 0;  // 0: not given.
};

// What the profile comes to, with upstream's names, plugins that are not built included.
struct KubeProfile {
  std::string scheduler_name = "default-scheduler";
  std::vector<KubePlugin> multi_point;
  std::map<std::string, std::vector<KubePlugin>> enabled;    // By point: "score".
  std::map<std::string, std::vector<std::string>> disabled;  // By point; may hold "*".
  std::map<std::string, nlohmann::json> args;                // By plugin.
};

// `profile` is null for the default profile.
KubeProfile ReadKubeProfile(const nlohmann::json& profile);

// Whether upstream's plugin, or else that of the catalogue, runs at the point "preFilter".
bool KubePluginRunsAt(const PluginCatalog& catalog, const std::string& plugin,
                      const std::string& key);

// The plan of what is built: instances and uses of plugins that the catalogue lacks are left out.
// A plugin of upstream that scores has its PreScore: Berth's do there what upstream's do at Score.
// VolumeZone and NodeVolumeLimits have their PreFilter where they filter, for the same reason.
// Rules: pkg/scheduler/apis/config/v1/default_plugins.go (mergePlugins) and
// pkg/scheduler/framework/runtime/framework.go (expandMultiPointPlugins).
PlanSpec ToPlanSpec(const KubeProfile& profile, const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_KUBE_PROFILE_H_
