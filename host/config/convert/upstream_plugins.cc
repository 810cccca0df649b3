#include "host/config/convert/upstream_plugins.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth::host {
namespace {

constexpr std::array<UpstreamPlugin, 23> kPlugins = {{
    {"SchedulingGates", "PreEnqueue"},
    {"PrioritySort", "QueueSort"},
    {"NodeUnschedulable", "Filter"},
    {"NodeName", "Filter"},
    {"TaintToleration", "Filter PreScore Score", 3},
    {"NodeAffinity", "PreFilter Filter PreScore Score", 2},
    {"NodePorts", "PreFilter Filter"},
    {"NodeResourcesFit", "PreFilter Filter PreScore Score", 1},
    {"VolumeRestrictions", "PreFilter Filter"},
    {"NodeVolumeLimits", "PreFilter Filter"},
    {"VolumeBinding", "PreFilter Filter PreScore Score Reserve PreBind"},
    {"VolumeZone", "PreFilter Filter"},
    {"PodTopologySpread", "PreFilter Filter PreScore Score", 2},
    {"InterPodAffinity", "PreFilter Filter PreScore Score", 2},
    {"DynamicResources", "PreEnqueue PreFilter Filter PostFilter Score Reserve PreBind", 2},
    {"DefaultPreemption", "PreEnqueue PostFilter"},
    {"NodeResourcesBalancedAllocation", "PreScore Score", 1},
    {"ImageLocality", "Score", 1},
    {"DefaultBinder", "Bind"},
    {"NodeDeclaredFeatures", "PreFilter Filter"},
    {"GangScheduling", "PreEnqueue Permit", 0, false},
    {"TopologyPlacementGenerator", "", 0, false},  // PlacementGenerate
    {"PodGroupPodsCount", "", 1, false},           // PlacementScore
}};

}  // namespace

std::vector<std::string> UpstreamPlugin::Points() const {
  std::vector<std::string> names;
  std::string_view rest = points;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

bool UpstreamPlugin::RunsAt(std::string_view point) const {
  const std::vector<std::string> names = Points();
  return std::ranges::find(names, point) != names.end();
}

std::span<const UpstreamPlugin> UpstreamPlugins() { return kPlugins; }

const UpstreamPlugin* FindUpstreamPlugin(std::string_view name) {
  const auto found = std::ranges::find(kPlugins, name, &UpstreamPlugin::name);
  return found == kPlugins.end() ? nullptr : &*found;
}

}  // namespace berth::host
