#include "host/config/convert/convert_profile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "host/base/emulated_version.h"
#include "host/base/text.h"
#include "host/config/args_schema.h"
#include "host/config/config_value.h"

namespace berth::host {
namespace {

using Names = std::vector<std::string>;

// Plugins whose Filter needs PreFilter in Berth, but not in kube-scheduler.
constexpr std::array<std::string_view, 2> kNeedPreFilter = {"NodeVolumeLimits", "VolumeZone"};

// Plugins of kube-scheduler whose PreFilter does nothing unless a feature gate is on that Berth
// does not have. (InPlacePodVerticalScalingSchedulerPreemption: node_unschedulable.go,
// taint_toleration.go)
constexpr std::array<std::string_view, 2> kIdlePreFilter = {"NodeUnschedulable", "TaintToleration"};

bool Has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void AddNew(Names& names, const std::string& name) {
  if (!Has(names, name)) names.push_back(name);
}

class ProfileConverter {
 public:
  ProfileConverter(const KubeSchedulerProfile& source, const KnownPlugins& known,
                   KubeVersion version, ConfigErrors& errors, ConfigErrors& warnings)
      : source_(source), known_(known), version_(version), errors_(errors), warnings_(warnings) {}

  ConvertedProfile Convert() {
    plan_ = MakeKubePlan(source_, known_, version_, errors_);
    CheckCounts();
    for (const std::string_view point : kKubePoints) {
      for (const KubePlan::Use& use : plan_.At(point))
        plugins_at_[std::string(point)].push_back(use.plugin);
    }
    AddRequiredPoints();
    DropUnimplemented();
    MakeNames();
    converted_.profile.scheduler_name = source_.scheduler_name;
    for (const std::string& name : names_) converted_.profile.plugins.push_back(MakePlugin(name));
    for (const auto& [point, names] : plugins_at_) AddOrder(point, names);
    CheckArguments();
    WarnOfUnavailable();
    WarnOfUnknownDisabled();
    return std::move(converted_);
  }

 private:
  // Returns the available plugin, or nullptr if there is none.
  const KnownPlugin* Available(std::string_view name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? nullptr : &found->second;
  }
  bool IsAvailable(std::string_view name) const { return Available(name) != nullptr; }

  // Returns whether the plugin is neither available nor one of kube-scheduler's, so that its points
  // are unknown.
  bool IsUnknown(std::string_view name) const {
    return !IsAvailable(name) && FindUpstreamPlugin(name, version_) == nullptr;
  }

  // Returns the entry that enables the plugin in this profile, or nullptr if there is none.
  // Searches multiPoint first, and then the extension points in the order of kKubePoints.
  const KubePluginEntry* EntryOf(std::string_view name) const {
    const KubePluginEntry* entry = FindEntry(source_.multi_point.enabled, name);
    for (const std::string_view point : kKubePoints) {
      if (entry == nullptr) entry = FindEntry(source_.At(point).enabled, name);
    }
    return entry;
  }

  // Checks the number of plugins at QueueSort and Bind as kube-scheduler does. An unknown plugin in
  // multiPoint may run at any point.
  void CheckCounts() {
    const bool may_be_more = std::ranges::any_of(
        plan_.multi_point,
        [this](const KubePluginEntry& entry) { return IsUnknown(entry.name.value); });
    Names sorts;
    for (const KubePlan::Use& use : plan_.At("QueueSort")) sorts.push_back(use.plugin);
    if (sorts.size() > 1 || (sorts.empty() && !may_be_more)) {
      errors_.Expected(source_.place, source_.path + ".plugins",
                       "exactly one plugin that sorts the queue",
                       sorts.empty() ? "none with queueSort" : Join(sorts, ", "));
    }
    if (plan_.At("Bind").empty() && !may_be_more) {
      errors_.Expected(source_.place, source_.path + ".plugins",
                       "at least one plugin that binds pods", "none with bind");
    }
  }

  // Adds the plugins `names`, which run at `point`, to the point `before`, where their work for
  // `point` starts.
  void AddRequired(const std::string& before, const std::string& point, const Names& names) {
    Names& plugins = plugins_at_[before];
    for (const std::string& name : names) {
      const UpstreamPlugin* upstream = FindUpstreamPlugin(name, version_);
      const KnownPlugin* available = Available(name);
      if (upstream == nullptr || available == nullptr || !Has(available->points, before)) continue;
      if (Has(plugins, name)) continue;
      plugins.push_back(name);
      if (!upstream->RunsAt(before)) continue;
      std::string text = before;
      text.append(" of ").append(Quoted(name)).append(" is kept: ");
      text.append(point).append(" of the plugin requires it in Berth");
      warnings_.Add(source_.place, source_.path + ".plugins." + KubePointKey(before),
                    std::move(text));
    }
  }

  void AddRequiredPoints() {
    Names filters = plugins_at_["Filter"];
    std::erase_if(filters, [](const std::string& name) {
      return std::ranges::find(kNeedPreFilter, name) == kNeedPreFilter.end();
    });
    AddRequired("PreFilter", "Filter", filters);
    AddRequired("PreScore", "Score", plugins_at_["Score"]);
  }

  // Removes plugins from points at which kube-scheduler's plugin runs but the available one does
  // not, with a warning if decisions depend on it.
  void DropUnimplemented() {
    for (auto& each : plugins_at_) {
      const std::string& point = each.first;
      std::erase_if(each.second, [this, &point](const std::string& name) {
        const KnownPlugin* available = Available(name);
        if (available == nullptr || Has(available->points, point)) return false;
        const bool is_idle =
            point == "PreFilter" && std::ranges::find(kIdlePreFilter, name) != kIdlePreFilter.end();
        if (is_idle) return true;
        const KubePluginEntry* entry = EntryOf(name);
        warnings_.Add(entry != nullptr ? entry->name.place : source_.place,
                      entry != nullptr ? entry->path : source_.path + ".plugins",
                      Quoted(name) + " does not run at " + point + " in Berth");
        return true;
      });
    }
  }

  // Sets the profile's order: the plugins of multiPoint, then those of the points.
  void MakeNames() {
    for (const KubePluginEntry& entry : plan_.multi_point) AddNew(names_, entry.name.value);
    for (const std::string_view point : kKubePoints) {
      for (const std::string& name : plugins_at_[std::string(point)]) AddNew(names_, name);
    }
    for (const KubePluginArgs& args : source_.args) AddNew(names_, args.name.value);
  }

  // Returns the points at which the plugin runs, in the order of kKubePoints.
  Names RunsOf(const std::string& name) {
    Names points;
    for (const std::string_view point : kKubePoints) {
      if (Has(plugins_at_[std::string(point)], name)) points.emplace_back(point);
    }
    return points;
  }

  size_t CountPoints(const std::string& name) const {
    if (const KnownPlugin* available = Available(name)) {
      return static_cast<size_t>(std::ranges::count_if(available->points, [](const auto& point) {
        return std::ranges::find(kKubePoints, point) != kKubePoints.end();
      }));
    }
    const UpstreamPlugin* upstream = FindUpstreamPlugin(name, version_);
    return upstream == nullptr ? 0 : upstream->Points().size();
  }

  ProfilePlugin MakePlugin(const std::string& name) {
    ProfilePlugin plugin;
    plugin.name.value = name;
    if (!IsAvailable(name)) converted_.absent.insert(name);
    const Names points = RunsOf(name);
    const bool points_unknown = IsUnknown(name) && FindEntry(plan_.multi_point, name) != nullptr;
    if (points.empty() && !points_unknown) plugin.enabled = Placed<bool>{false, {}};
    if (!points.empty() && !points_unknown && points.size() != CountPoints(name)) {
      plugin.points.emplace();
      for (const std::string& point : points) plugin.points->push_back({point, {}});
    }
    if (Has(points, "Score") || points_unknown) plugin.weight = WeightOf(name);
    if (const KubePluginArgs* args = source_.FindArgs(name)) plugin.args = args->args;
    return plugin;
  }

  std::optional<Placed<int64_t>> WeightOf(const std::string& name) const {
    for (const KubePlan::Use& use : plan_.At("Score")) {
      if (use.plugin == name) return Placed<int64_t>{use.weight, {}};
    }
    const KubePluginEntry* entry = FindEntry(plan_.multi_point, name);
    return entry == nullptr ? std::nullopt : entry->weight;
  }

  // Adds an [order] entry with as few names as produce the order of `names`.
  void AddOrder(const std::string& point, const Names& names) {
    const auto rank = [this](const std::string& name) {
      return std::ranges::find(names_, name) - names_.begin();
    };
    size_t moved = names.empty() ? 0 : names.size() - 1;
    while (moved > 0 && rank(names[moved - 1]) < rank(names[moved])) --moved;
    if (moved == 0) return;
    ProfileOrder order;
    order.point.value = point;
    for (size_t i = 0; i < moved; ++i) order.plugins.push_back({names[i], {}});
    converted_.profile.order.push_back(std::move(order));
  }

  std::string UnavailableText(const std::string& name) const {
    if (FindUpstreamPlugin(name, version_) == nullptr) return "there is no plugin " + Quoted(name);
    return "plugin " + Quoted(name) + " is not available yet";
  }

  void CheckArguments() {
    for (const KubePluginArgs& args : source_.args) {
      const KnownPlugin* available = Available(args.name.value);
      if (available == nullptr) {
        warnings_.Add(
            args.name.place, args.path,
            UnavailableText(args.name.value) +
                ": its arguments are not checked, and are written as a comment in the profile");
        continue;
      }
      CheckArgs(available->args_schema, args.args, args.path + ".", args.name.place, errors_);
    }
  }

  void WarnOfUnavailable() {
    Names defaults;
    for (const ProfilePlugin& plugin : converted_.profile.plugins) {
      const std::string& name = plugin.name.value;
      const UpstreamPlugin* upstream = FindUpstreamPlugin(name, version_);
      // The plugin runs only at points that this version does not have.
      const bool has_no_point = upstream != nullptr && upstream->points.empty();
      if (IsAvailable(name) || (!plugin.is_enabled() && !has_no_point)) continue;
      const KubePluginEntry* entry = EntryOf(name);
      if (entry == nullptr) {
        if (has_no_point) continue;
        defaults.push_back(name);
      } else {
        WarnOfUnavailable(*entry);
      }
    }
    if (!defaults.empty()) {
      warnings_.Add(source_.place, source_.path + ".plugins",
                    "these default plugins of kube-scheduler are not available yet and are written "
                    "as comments in the profile: " +
                        Join(defaults, ", "));
    }
    WarnIfNoneIsLeft("QueueSort", "sorts the queue");
    WarnIfNoneIsLeft("Bind", "binds pods");
  }

  void WarnOfUnavailable(const KubePluginEntry& entry) {
    const std::string& name = entry.name.value;
    const std::string meant = FindUpstreamPlugin(name, version_) == nullptr ? Similar(name) : "";
    warnings_.Add(entry.name.place, entry.path,
                  UnavailableText(name) + ": it is written as a comment in the profile" + meant);
  }

  // kube-scheduler accepts any name under `disabled` and ignores those that it does not know. A
  // plugin that the profile enables elsewhere may be one of a third party.
  void WarnOfUnknownDisabled() {
    const auto check = [this](const KubePluginSet& set) {
      for (const KubePluginEntry& entry : set.disabled) {
        const std::string& name = entry.name.value;
        if (name == "*" || !IsUnknown(name) || EntryOf(name) != nullptr) continue;
        warnings_.Add(entry.name.place, entry.path,
                      UnavailableText(name) + ": nothing is disabled" + Similar(name));
      }
    };
    check(source_.multi_point);
    for (const std::string_view point : kKubePoints) check(source_.At(point));
  }

  // Returns "; did you mean ...?" with the plugins whose names are similar; empty if there is none.
  std::string Similar(const std::string& name) const {
    Names names;
    for (const auto& [known, plugin] : known_) names.push_back(known);
    for (const UpstreamPlugin& plugin : UpstreamPlugins(version_)) {
      AddNew(names, std::string(plugin.name));
    }
    return DidYouMean(name, names);
  }

  void WarnIfNoneIsLeft(const std::string& point, const std::string& what) {
    const Names& names = plugins_at_[point];
    const bool any =
        std::ranges::any_of(names, [this](const auto& name) { return IsAvailable(name); });
    if (any) return;
    converted_.is_usable = false;
    warnings_.Add(source_.place, source_.path + ".plugins",
                  "no available plugin " + what + ": the profile cannot be used as it is");
  }

  const KubeSchedulerProfile& source_;
  const KnownPlugins& known_;
  const KubeVersion version_;
  ConfigErrors& errors_;
  ConfigErrors& warnings_;
  KubePlan plan_;
  std::map<std::string, Names> plugins_at_;  // The plugins at each point, in the order of [order].
  Names names_;                              // In the profile's order.
  ConvertedProfile converted_;
};

// ---- Across profiles ----------------------------------------------------------------------------

const KubePlan::Use* QueueSortOf(const KubePlan& plan) {
  const auto& uses = plan.At("QueueSort");
  return uses.size() == 1 ? &uses.front() : nullptr;
}

// Checks that all profiles have the same QueueSort plugin with equal arguments: there is one queue.
void CheckQueueSorts(const KubeSchedulerConfig& config, const KnownPlugins& known,
                     KubeVersion version, ConfigErrors& errors) {
  const auto args_of = [](const KubeSchedulerProfile& profile, const std::string& plugin) {
    const KubePluginArgs* args = profile.FindArgs(plugin);
    return args == nullptr ? ProfileArgs() : args->args;
  };
  ConfigErrors ignored;
  const KubeSchedulerProfile& first = config.profiles.front();
  const KubePlan first_plan = MakeKubePlan(first, known, version, ignored);
  const KubePlan::Use* expected = QueueSortOf(first_plan);
  for (const KubeSchedulerProfile& profile : std::span(config.profiles).subspan(1)) {
    const KubePlan plan = MakeKubePlan(profile, known, version, ignored);
    const KubePlan::Use* found = QueueSortOf(plan);
    if (found == nullptr || expected == nullptr) continue;
    const std::string as_first = ", as in " + first.path + ", because all profiles share one queue";
    if (found->plugin != expected->plugin) {
      errors.Expected(profile.place, profile.path + ".plugins.queueSort",
                      Quoted(expected->plugin) + as_first, Quoted(found->plugin));
    } else if (args_of(profile, found->plugin) != args_of(first, found->plugin)) {
      errors.Expected(profile.place, profile.path + ".pluginConfig",
                      "the arguments of " + Quoted(found->plugin) + as_first,
                      "different arguments");
    }
  }
}

}  // namespace

std::vector<ConvertedProfile> ConvertKubeConfig(const KubeSchedulerConfig& config,
                                                const KnownPlugins& known, KubeVersion version,
                                                ConfigErrors& errors, ConfigErrors& warnings) {
  std::vector<ConvertedProfile> converted;
  for (const KubeSchedulerProfile& profile : config.profiles) {
    converted.push_back(ProfileConverter(profile, known, version, errors, warnings).Convert());
  }
  CheckQueueSorts(config, known, version, errors);
  return converted;
}

std::string WriteConverted(const ConvertedProfile& converted, const std::string& source,
                           KubeVersion version) {
  std::string heading = "Converted from " + source + ", with the defaults of kube-scheduler " +
                        ToString(version) + ".";
  if (version != kNewestKubeVersion) {
    heading += "\nSet emulatedVersion = " + Quoted(ToString(version)) + " in the host file.";
  }
  if (!converted.absent.empty()) {
    heading +=
        "\n"
        "Plugins that are written as comments are not available: Berth schedules without them.";
  }
  return WriteProfile(converted.profile, heading, converted.absent);
}

}  // namespace berth::host
