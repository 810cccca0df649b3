// The plugins that kube-scheduler 1.36 is built with.
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
  std::string_view
      points;  // Separated by spaces, of kKubePoints: "PreFilter Filter". Empty: of others alone.
  int64_t weight = 0;      // In the default profile; 0: none is said.
  bool is_default = true;  // False: behind a feature gate that is off.

  bool RunsAt(std::string_view point) const;
  std::vector<std::string> Points() const;
};

// Those of the default profile, in its order; then the others.
std::span<const UpstreamPlugin> UpstreamPlugins();

// nullptr: there is none of this name.
const UpstreamPlugin* FindUpstreamPlugin(std::string_view name);

}  // namespace berth::host

#endif  // BERTH_HOST_CONFIG_CONVERT_UPSTREAM_PLUGINS_H_
