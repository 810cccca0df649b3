#include "tests/conformance/kube_profile.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "host/plan/plan.h"

namespace berth::host {
namespace {

using Names = std::vector<std::string>;

// The first plugins, whose order changed in 1.37.
std::vector<KubePlugin> FirstPlugins(KubeVersion version) {
  if (version == KubeVersion{.major = 1, .minor = 36}) {
    return {{"SchedulingGates", 0}, {"PrioritySort", 0}, {"NodeUnschedulable", 0}, {"NodeName", 0}};
  }
  return {{"SchedulingGates", 0}, {"PrioritySort", 0}, {"NodeName", 0}, {"NodeUnschedulable", 0}};
}

// The other plugins, whose order all versions share.
const std::vector<KubePlugin>& OtherPlugins() {
  static const std::vector<KubePlugin>* const plugins =
      new std::vector<KubePlugin>{{"TaintToleration", 3},
                                  {"NodeAffinity", 2},
                                  {"NodePorts", 0},
                                  {"NodeResourcesFit", 1},
                                  {"VolumeRestrictions", 0},
                                  {"NodeVolumeLimits", 0},
                                  {"VolumeBinding", 0},
                                  {"VolumeZone", 0},
                                  {"PodTopologySpread", 2},
                                  {"InterPodAffinity", 2},
                                  {"DynamicResources", 2},
                                  {"DefaultPreemption", 0},
                                  {"NodeResourcesBalancedAllocation", 1},
                                  {"ImageLocality", 1},
                                  {"DefaultBinder", 0},
                                  {"NodeDeclaredFeatures", 0}};
  return *plugins;
}

// Returns the default multiPoint plugins of kube-scheduler and their weights.
std::vector<KubePlugin> DefaultMultiPoint(KubeVersion version) {
  std::vector<KubePlugin> plugins = FirstPlugins(version);
  plugins.insert(plugins.end(), OtherPlugins().begin(), OtherPlugins().end());
  return plugins;
}

bool Has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<KubePlugin> ReadEnabled(const nlohmann::json& set) {
  std::vector<KubePlugin> plugins;
  if (!set.contains("enabled")) return plugins;
  for (const auto& plugin : set["enabled"]) {
    plugins.push_back({plugin.at("name"), plugin.value("weight", int64_t{0})});
  }
  return plugins;
}

Names ReadDisabled(const nlohmann::json& set) {
  Names names;
  if (!set.contains("disabled")) return names;
  for (const auto& plugin : set["disabled"]) names.push_back(plugin.at("name"));
  return names;
}

// Merges the user's plugins into the defaults. The defaults keep their order, and an entry of the
// user with the name of a default replaces it in place.
std::vector<KubePlugin> MergeMultiPoint(const std::vector<KubePlugin>& user, const Names& disabled,
                                        KubeVersion version) {
  std::vector<KubePlugin> merged;
  std::set<std::string> replaced;
  if (!Has(disabled, "*")) {
    const std::vector<KubePlugin> defaults = DefaultMultiPoint(version);
    for (const KubePlugin& plugin : defaults) {
      if (Has(disabled, plugin.name)) continue;
      const auto custom = std::ranges::find(user, plugin.name, &KubePlugin::name);
      if (custom != user.end()) replaced.insert(plugin.name);
      merged.push_back(custom != user.end() ? *custom : plugin);
    }
  }
  for (const KubePlugin& plugin : user) {
    if (!replaced.contains(plugin.name)) merged.push_back(plugin);
  }
  return merged;
}

// Returns the point's key in a profile: "preFilter" for PreFilter.
std::string PointKey(const PointInfo& point) {
  std::string key(point.name);
  key[0] = static_cast<char>(key[0] - 'A' + 'a');
  return key;
}

// Returns the plugins of kube-scheduler and the points that a profile may name for each, without
// those that are new in 1.37: see KubePluginRunsAt().
const std::map<std::string, std::set<std::string>>& UpstreamPoints() {
  static const auto* const points = new std::map<std::string, std::set<std::string>>{
      {"SchedulingGates", {"preEnqueue"}},
      {"PrioritySort", {"queueSort"}},
      {"NodeUnschedulable", {"filter"}},
      {"NodeName", {"filter"}},
      {"TaintToleration", {"filter", "preScore", "score"}},
      {"NodeAffinity", {"preFilter", "filter", "preScore", "score"}},
      {"NodePorts", {"preFilter", "filter"}},
      {"NodeResourcesFit", {"preFilter", "filter", "preScore", "score"}},
      {"VolumeRestrictions", {"preFilter", "filter"}},
      {"NodeVolumeLimits", {"preFilter", "filter"}},
      {"VolumeBinding", {"preFilter", "filter", "preScore", "score", "reserve", "preBind"}},
      {"VolumeZone", {"preFilter", "filter"}},
      {"PodTopologySpread", {"preFilter", "filter", "preScore", "score"}},
      {"InterPodAffinity", {"preFilter", "filter", "preScore", "score"}},
      {"DynamicResources",
       {"preEnqueue", "preFilter", "filter", "postFilter", "score", "reserve", "preBind"}},
      {"DefaultPreemption", {"preEnqueue", "postFilter"}},
      {"NodeResourcesBalancedAllocation", {"preScore", "score"}},
      {"ImageLocality", {"score"}},
      {"DefaultBinder", {"bind"}},
      {"NodeDeclaredFeatures", {"preFilter", "filter"}}};
  return *points;
}

// Returns whether the catalogue has the plugin and it implements the point.
bool IsBuiltFor(const PluginCatalog& catalog, const std::string& plugin, const PointInfo& point) {
  const auto found = catalog.plugins().find(plugin);
  if (found == catalog.plugins().end()) return false;
  return HasPoint(found->second.info->points, point.point);
}

// Returns whether an enabled plugin always runs at the point, without being named there.
bool IsImplicit(const PointInfo& point) { return !IsNamed(point.point); }

// Returns the plugins that kube-scheduler runs at the point `key`.
std::vector<KubePlugin> Expand(const KubeProfile& profile, const std::string& key,
                               const PluginCatalog& catalog) {
  const auto enabled_here = profile.enabled.find(key);
  const auto disabled_here = profile.disabled.find(key);
  const std::vector<KubePlugin> enabled =
      enabled_here != profile.enabled.end() ? enabled_here->second : std::vector<KubePlugin>{};
  const Names disabled = disabled_here != profile.disabled.end() ? disabled_here->second : Names{};
  if (Has(disabled, "*")) return enabled;

  // Splits the plugins of multiPoint into those that the point enables as well and the others.
  std::set<std::string> overrides;
  std::vector<KubePlugin> others;
  for (const KubePlugin& plugin : profile.multi_point) {
    if (Has(disabled, plugin.name)) continue;
    const auto own = std::ranges::find(enabled, plugin.name, &KubePlugin::name);
    if (own != enabled.end()) {
      overrides.insert(plugin.name);
    } else if (KubePluginRunsAt(catalog, plugin.name, key, profile.version)) {
      others.push_back(plugin);
    }
  }
  std::vector<KubePlugin> plugins;
  for (const KubePlugin& plugin : enabled) {
    if (overrides.contains(plugin.name)) plugins.push_back(plugin);
  }
  plugins.insert(plugins.end(), others.begin(), others.end());
  for (const KubePlugin& plugin : enabled) {
    if (!overrides.contains(plugin.name)) plugins.push_back(plugin);
  }
  return plugins;
}

std::vector<PlanSpec::Use>& UsesAt(PlanSpec& spec, Point point) {
  return spec.points[static_cast<size_t>(point)];
}

// Adds the plugin to `point` if Berth's plugin implements the point and does not run there yet.
void AddRequiredPoint(Point point, const PlanSpec::Use& use, const PluginCatalog& catalog,
                      PlanSpec& spec) {
  auto& uses = UsesAt(spec, point);
  const bool is_there = std::ranges::find(uses, use.plugin, &PlanSpec::Use::plugin) != uses.end();
  if (!is_there && IsBuiltFor(catalog, use.plugin, InfoOf(point))) uses.push_back(use);
}

// Returns the arguments without `apiVersion` and `kind`.
nlohmann::json PlainArgs(nlohmann::json args) {
  args.erase("apiVersion");
  args.erase("kind");
  return args;
}

}  // namespace

KubeProfile ReadKubeProfile(const nlohmann::json& profile, KubeVersion version) {
  KubeProfile read;
  read.version = version;
  const nlohmann::json plugins = profile.value("plugins", nlohmann::json::object());
  for (const auto& [point, set] : plugins.items()) {
    if (point == "multiPoint") continue;
    read.enabled[point] = ReadEnabled(set);
    read.disabled[point] = ReadDisabled(set);
  }
  const nlohmann::json multi_point = plugins.value("multiPoint", nlohmann::json::object());
  read.multi_point = MergeMultiPoint(ReadEnabled(multi_point), ReadDisabled(multi_point), version);
  read.scheduler_name = profile.value("schedulerName", read.scheduler_name);
  const nlohmann::json configs = profile.value("pluginConfig", nlohmann::json::array());
  for (const auto& config : configs) {
    read.args[config.at("name")] = PlainArgs(config.at("args"));
  }
  return read;
}

bool KubePluginRunsAt(const PluginCatalog& catalog, const std::string& plugin,
                      const std::string& key, KubeVersion version) {
  const bool is_new =
      plugin == "NodeName" || plugin == "NodeUnschedulable" || plugin == "TaintToleration";
  if (is_new && key == "preFilter") return version != KubeVersion{.major = 1, .minor = 36};
  const auto upstream = UpstreamPoints().find(plugin);
  if (upstream != UpstreamPoints().end()) return upstream->second.contains(key);
  return std::ranges::any_of(kPoints, [&](const PointInfo& point) {
    return PointKey(point) == key && IsBuiltFor(catalog, plugin, point);
  });
}

PlanSpec ToPlanSpec(const KubeProfile& profile, const PluginCatalog& catalog) {
  PlanSpec spec;
  spec.scheduler_name = profile.scheduler_name;
  std::vector<std::string> used;
  for (const PointInfo& point : kPoints) {
    if (IsImplicit(point)) continue;
    for (const KubePlugin& plugin : Expand(profile, PointKey(point), catalog)) {
      if (!IsBuiltFor(catalog, plugin.name, point)) continue;
      spec.points[static_cast<size_t>(point.point)].push_back({plugin.name, plugin.weight});
      if (!Has(used, plugin.name)) used.push_back(plugin.name);
    }
  }
  for (const PlanSpec::Use& use : UsesAt(spec, Point::kScore)) {
    if (UpstreamPoints().contains(use.plugin))
      AddRequiredPoint(Point::kPreScore, use, catalog, spec);
  }
  for (const PlanSpec::Use& use : UsesAt(spec, Point::kFilter)) {
    const bool needs = use.plugin == "VolumeZone" || use.plugin == "NodeVolumeLimits";
    if (needs) AddRequiredPoint(Point::kPreFilter, use, catalog, spec);
  }
  for (const std::string& name : used) {
    for (const PointInfo& point : kPoints) {
      if (!IsImplicit(point) || !IsBuiltFor(catalog, name, point)) continue;
      spec.points[static_cast<size_t>(point.point)].push_back({name, 1});
    }
    PluginSpec& plugin =
        spec.plugins.emplace_back(PluginSpec{.name = name, .args = {}, .where = "pluginConfig"});
    const auto args = profile.args.find(name);
    if (args != profile.args.end()) {
      plugin.args = std::make_shared<const nlohmann::json>(args->second);
    }
  }
  return spec;
}

}  // namespace berth::host
