#include "host/config/convert/kube_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "host/base/text.h"
#include "host/config/config_value.h"

namespace berth::host {
namespace {

constexpr KubeVersion k1_37{.major = 1, .minor = 37};

// The plugins of 1.37.
constexpr std::array<UpstreamPlugin, 24> kPlugins = {{
    {"SchedulingGates", "PreEnqueue"},
    {"PrioritySort", "QueueSort"},
    {"NodeName", "PreFilter Filter"},
    {"NodeUnschedulable", "PreFilter Filter"},
    {"TaintToleration", "PreFilter Filter PreScore Score", 3},
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
    {"DeferredPodScheduling", "PreFilter Filter Permit", 0, false},
}};

// Up to 1.36, NodeUnschedulable came before NodeName, neither they nor TaintToleration had a
// PreFilter, and there was no DeferredPodScheduling.
// (kube-scheduler: pkg/scheduler/apis/config/v1/default_plugins.go, framework/plugins/registry.go)
constexpr std::array<UpstreamPlugin, kPlugins.size() - 1> OlderPlugins() {
  std::array<UpstreamPlugin, kPlugins.size() - 1> plugins;
  std::ranges::copy_if(kPlugins, plugins.begin(), [](const UpstreamPlugin& plugin) {
    return plugin.name != "DeferredPodScheduling";
  });
  const auto find = [&plugins](std::string_view name) {
    return std::ranges::find(plugins, name, &UpstreamPlugin::name);
  };
  std::iter_swap(find("NodeName"), find("NodeUnschedulable"));
  find("NodeName")->points = "Filter";
  find("NodeUnschedulable")->points = "Filter";
  find("TaintToleration")->points = "Filter PreScore Score";
  return plugins;
}
constexpr auto kOlderPlugins = OlderPlugins();

using Entries = std::vector<KubePluginEntry>;

KubePluginEntry DefaultEntry(const UpstreamPlugin& plugin) {
  KubePluginEntry entry;
  entry.name.value = plugin.name;
  if (plugin.weight != 0) entry.weight = Placed<int64_t>{plugin.weight, {}};
  return entry;
}

// A default plugin that the file also enables keeps its position, unless it is disabled too.
Entries MergeMultiPoint(const KubePluginSet& set, KubeVersion version) {
  Entries merged;
  Entries left = set.enabled;
  if (!set.Disables("*")) {
    for (const UpstreamPlugin& plugin : UpstreamPlugins(version)) {
      if (!plugin.is_default || set.Disables(plugin.name)) continue;
      const KubePluginEntry* own = FindEntry(set.enabled, plugin.name);
      merged.push_back(own != nullptr ? *own : DefaultEntry(plugin));
      std::erase_if(left, [&](const KubePluginEntry& e) { return e.name.value == plugin.name; });
    }
  }
  merged.insert(merged.end(), left.begin(), left.end());
  return merged;
}

class Planner {
 public:
  Planner(const KubeSchedulerProfile& profile, const KnownPlugins& known, KubeVersion version,
          ConfigErrors& errors)
      : profile_(profile), known_(known), version_(version), errors_(errors) {}

  KubePlan Make() {
    plan_.multi_point = MergeMultiPoint(profile_.multi_point, version_);
    for (const std::string_view point : kKubePoints) {
      CheckImplemented(point);
      std::vector<KubePlan::Use>& uses = plan_.points[std::string(point)];
      for (const std::string& name : NamesAt(point)) {
        uses.push_back({name, point == "Score" ? WeightOf(name) : 1});
      }
    }
    return std::move(plan_);
  }

 private:
  // Returns the plugin's points; nothing for an unknown plugin.
  std::optional<std::vector<std::string>> PointsOf(std::string_view name) const {
    if (const UpstreamPlugin* plugin = FindUpstreamPlugin(name, version_)) return plugin->Points();
    const auto found = known_.find(name);
    if (found == known_.end()) return std::nullopt;
    return found->second.points;
  }

  bool Implements(std::string_view name, std::string_view point, bool if_unknown) const {
    const auto points = PointsOf(name);
    if (!points.has_value()) return if_unknown;
    return std::ranges::find(*points, point) != points->end();
  }

  void CheckImplemented(std::string_view point) {
    for (const KubePluginEntry& entry : profile_.At(point).enabled) {
      if (Implements(entry.name.value, point, /*if_unknown=*/true)) continue;
      const std::string points = Join(*PointsOf(entry.name.value), ", ");
      errors_.Expected(entry.name.place, entry.path + ".name",
                       "a plugin that runs at " + std::string(point),
                       Quoted(entry.name.value) + ", which runs at " +
                           (points.empty() ? "no extension point of Berth" : points));
    }
  }

  // Returns the plugins at the point in three parts: those of multiPoint that the point enables,
  // the other ones of multiPoint, and those that only the point enables. A plugin that the point
  // disables is in neither of the first two parts, even if the point also enables it.
  std::vector<std::string> NamesAt(std::string_view point) const {
    const KubePluginSet& set = profile_.At(point);
    std::vector<std::string> first;
    std::vector<std::string> rest;
    std::vector<std::string> last;
    const auto is_of_multi_point = [&](std::string_view name) {
      return !set.Disables("*") && !set.Disables(name) &&
             FindEntry(plan_.multi_point, name) != nullptr;
    };
    for (const KubePluginEntry& entry : set.enabled) {
      const std::string& name = entry.name.value;
      if (!Implements(name, point, /*if_unknown=*/true)) continue;
      (is_of_multi_point(name) ? first : last).push_back(name);
    }
    for (const KubePluginEntry& entry : plan_.multi_point) {
      const std::string& name = entry.name.value;
      if (!is_of_multi_point(name) || set.Enables(name)) continue;
      if (Implements(name, point, /*if_unknown=*/false)) rest.push_back(name);
    }
    first.insert(first.end(), rest.begin(), rest.end());
    first.insert(first.end(), last.begin(), last.end());
    return first;
  }

  // The entry at the point determines the weight, even if it has none. 0 and no weight mean 1.
  int64_t WeightOf(std::string_view name) const {
    const KubePluginEntry* entry = FindEntry(profile_.At("Score").enabled, name);
    if (entry == nullptr) entry = FindEntry(plan_.multi_point, name);
    if (entry == nullptr || !entry->weight.has_value()) return 1;
    return std::max<int64_t>(entry->weight->value, 1);
  }

  const KubeSchedulerProfile& profile_;
  const KnownPlugins& known_;
  const KubeVersion version_;
  ConfigErrors& errors_;
  KubePlan plan_;
};

}  // namespace

std::vector<std::string> UpstreamPlugin::Points() const {
  std::istringstream words{std::string(points)};
  return {std::istream_iterator<std::string>(words), {}};
}

bool UpstreamPlugin::RunsAt(std::string_view point) const {
  const std::vector<std::string> names = Points();
  return std::ranges::find(names, point) != names.end();
}

std::span<const UpstreamPlugin> UpstreamPlugins(KubeVersion version) {
  if (version < k1_37) return kOlderPlugins;
  return kPlugins;
}

const UpstreamPlugin* FindUpstreamPlugin(std::string_view name, KubeVersion version) {
  const std::span<const UpstreamPlugin> plugins = UpstreamPlugins(version);
  const auto found = std::ranges::find(plugins, name, &UpstreamPlugin::name);
  return found == plugins.end() ? nullptr : &*found;
}

KubePlan MakeKubePlan(const KubeSchedulerProfile& profile, const KnownPlugins& known,
                      KubeVersion version, ConfigErrors& errors) {
  return Planner(profile, known, version, errors).Make();
}

}  // namespace berth::host
