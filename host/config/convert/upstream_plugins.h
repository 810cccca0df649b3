// The plugins of kube-scheduler 1.36.
#ifndef BERTH_HOST_CONFIG_CONVERT_UPSTREAM_PLUGINS_H_
#define BERTH_HOST_CONFIG_CONVERT_UPSTREAM_PLUGINS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

struct UpstreamPlugin {
  std::string_view name;
  // The points of kKubePoints at which it runs, separated by spaces: "PreFilter Filter".
  std::string_view points;
  int64_t weight = 0;      // The weight in the default profile; 0 if none is set there.
  bool is_default = true;  // False for a plugin behind a feature gate that is off by default.

  bool RunsAt(std::string_view point) const;
  std::vector<std::string> Points() const;
};

// Returns the plugins of the default profile in its order, then the other plugins.
std::span<const UpstreamPlugin> UpstreamPlugins();

// Returns the plugin of this name; nullptr if there is none.
const UpstreamPlugin* FindUpstreamPlugin(std::string_view name);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_UPSTREAM_PLUGINS_H_
