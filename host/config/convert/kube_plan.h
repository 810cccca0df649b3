// kube-scheduler's plugins, and its rules for which plugins of a KubeSchedulerProfile run at which
// points.
#ifndef BERTH_HOST_CONFIG_CONVERT_KUBE_PLAN_H_
#define BERTH_HOST_CONFIG_CONVERT_KUBE_PLAN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/kube_version.h>

#include "host/config/config_errors.h"
#include "host/config/convert/kube_config.h"

namespace berth::host {

// A plugin of one version of kube-scheduler.
struct UpstreamPlugin {
  std::string_view name;
  // The points of kKubePoints at which it runs, separated by spaces: "PreFilter Filter".
  std::string_view points;
  int64_t weight = 0;      // The weight in the default profile; 0 if none is set there.
  bool is_default = true;  // False for a plugin behind a feature gate that is off by default.

  bool RunsAt(std::string_view point) const;
  std::vector<std::string> Points() const;
};

// Returns the plugins of the version's default profile in its order, then the other plugins.
std::span<const UpstreamPlugin> UpstreamPlugins(KubeVersion version);

// Returns the plugin of this name; nullptr if there is none.
const UpstreamPlugin* FindUpstreamPlugin(std::string_view name, KubeVersion version);

// An available plugin.
struct KnownPlugin {
  std::vector<std::string> points;  // The points at which it can run: "Filter".
  nlohmann::json args_schema;       // Null if the schema of its arguments is unknown.
};
using KnownPlugins = std::map<std::string, KnownPlugin, std::less<>>;

struct KubePlan {
  struct Use {
    std::string plugin;
    int64_t weight = 1;  // The weight of its score.

    friend bool operator==(const Use&, const Use&) = default;
  };

  // multiPoint with the defaults merged in. The path of a default that the file does not name is
  // empty.
  std::vector<KubePluginEntry> multi_point;
  // The plugins that run at each of kKubePoints, in order.
  std::map<std::string, std::vector<Use>, std::less<>> points;

  const std::vector<Use>& At(std::string_view point) const { return points.find(point)->second; }
};

// Merges the profile with the defaults of this version of kube-scheduler, and returns what it runs
// at each point. A plugin of kube-scheduler runs at its points there; another plugin in `known`
// runs at its known points; any other plugin runs only at the points that name it, because the
// points that it would get from multiPoint are unknown.
// Errors: plugins that are enabled at a point that they do not implement.
// Rules: pkg/scheduler/apis/config/v1/default_plugins.go (mergePluginSet) and
// pkg/scheduler/framework/runtime/framework.go (expandMultiPointPlugins, getScoreWeights).
KubePlan MakeKubePlan(const KubeSchedulerProfile& profile, const KnownPlugins& known,
                      KubeVersion version, ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_KUBE_PLAN_H_
