// Reads a KubeSchedulerProfile (kubescheduler.config.k8s.io/v1) of a case and merges it with the
// defaults by kube-scheduler's rules.
#ifndef BERTH_TESTS_CONFORMANCE_KUBE_PROFILE_H_
#define BERTH_TESTS_CONFORMANCE_KUBE_PROFILE_H_

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/kube_version.h>

#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

struct KubePlugin {
  std::string name;
  int64_t weight = 0;  // 0 if the profile gives no weight.
};

// A merged profile, with kube-scheduler's names. It includes plugins that Berth does not have.
struct KubeProfile {
  KubeVersion version;
  std::string scheduler_name = "default-scheduler";
  std::vector<KubePlugin> multi_point;
  std::map<std::string, std::vector<KubePlugin>> enabled;    // Keyed by point, such as "score".
  std::map<std::string, std::vector<std::string>> disabled;  // Keyed by point. May contain "*".
  std::map<std::string, nlohmann::json> args;                // Keyed by plugin.
};

// Reads `profile` as this version of kube-scheduler does. An empty object gives its default
// profile.
KubeProfile ReadKubeProfile(const nlohmann::json& profile, KubeVersion version);

// Returns whether the plugin runs at the point `key`, such as "preFilter": kube-scheduler's plugin
// of this name, or else the catalogue's.
bool KubePluginRunsAt(const PluginCatalog& catalog, const std::string& plugin,
                      const std::string& key, KubeVersion version);

// Returns the plan for `profile`. Plugins that the catalogue does not have are left out.
// A plugin of kube-scheduler that runs at Score also gets PreScore, because Berth's plugin does
// there a part of what kube-scheduler's plugin does at Score. For the same reason VolumeZone and
// NodeVolumeLimits get PreFilter if they run at Filter.
// kube-scheduler: pkg/scheduler/apis/config/v1/default_plugins.go (mergePlugins) and
// pkg/scheduler/framework/runtime/framework.go (expandMultiPointPlugins).
PlanSpec ToPlanSpec(const KubeProfile& profile, const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_TESTS_CONFORMANCE_KUBE_PROFILE_H_
