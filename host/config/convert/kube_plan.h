// Upstream's rules: from what a KubeSchedulerProfile says to what runs where.
#ifndef BERTH_HOST_CONFIG_CONVERT_KUBE_PLAN_H_
#define BERTH_HOST_CONFIG_CONVERT_KUBE_PLAN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/config/config_errors.h"
#include "host/config/convert/kube_config.h"

namespace berth::host {

// What is known of a plugin that is here.
struct KnownPlugin {
  std::vector<std::string> points;  // At which it can run, by name, as a profile may: "Filter".
  nlohmann::json args_schema;       // Null: nothing is known of its arguments.
};
using KnownPlugins = std::map<std::string, KnownPlugin, std::less<>>;

struct KubePlan {
  struct Use {
    std::string plugin;
    int64_t weight = 1;  // Of its score.

    friend bool operator==(const Use&, const Use&) = default;
  };

  // multiPoint with the defaults in it. The path of a default that the file does not name is empty.
  std::vector<KubePluginEntry> multi_point;
  // What runs at each of kKubePoints, in order.
  std::map<std::string, std::vector<Use>, std::less<>> points;

  const std::vector<Use>& At(std::string_view point) const { return points.find(point)->second; }
};

// Merges the profile with upstream's defaults, and says what upstream runs at each point.
// A plugin of upstream runs at its points there, another that is in `known` at those; one that is
// neither runs at the points that name it: what it has through multiPoint alone nobody can tell.
// Errors: plugins that are enabled at a point that they do not implement.
// Rules: pkg/scheduler/apis/config/v1/default_plugins.go (mergePluginSet) and
// pkg/scheduler/framework/runtime/framework.go (expandMultiPointPlugins, getScoreWeights).
KubePlan MakeKubePlan(const KubeSchedulerProfile& profile, const KnownPlugins& known,
                      ConfigErrors& errors);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_KUBE_PLAN_H_
