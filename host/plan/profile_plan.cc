#include "host/plan/profile_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/config/args_schema.h"
#include "host/config/config_value.h"
#include "host/guard/point.h"

namespace berth::host {
namespace {

using PointSet = std::array<bool, kPointCount>;

constexpr size_t IndexOf(Point point) { return static_cast<size_t>(point); }

const PointInfo* FindPointByName(std::string_view name) {
  const auto found = std::ranges::find(kPoints, name, &PointInfo::name);
  return found == kPoints.end() ? nullptr : &*found;
}

// Loads the library that one plugin names.
void LoadLibrary(const ProfilePlugin& plugin, PluginCatalog& catalog, ConfigErrors& errors) {
  const std::string& name = plugin.name.value;
  const std::string context = PluginContext(name);
  LoadOptions options;
  // An error of the profile, which is reported already: no library has this digest.
  if (plugin.sha256.has_value() && !IsSha256(plugin.sha256->value)) return;
  if (plugin.sha256.has_value()) options.sha256 = plugin.sha256->value;
  const auto library = catalog.AddLibrary(plugin.library->value, options);
  if (!library.ok()) {
    if (!plugin.is_enabled()) return;
    const bool is_pin = library.error().code == LoadErrorCode::kPinMismatch;
    errors.Add(is_pin ? plugin.sha256->place : plugin.library->place,
               context + (is_pin ? "sha256" : "library"), library.error().ToString());
    return;
  }
  if ((*library)->Find(name) != nullptr) return;
  std::vector<std::string> names;
  for (const PluginInfo& info : (*library)->infos()) names.push_back(info.name);
  errors.Expected(plugin.library->place, context + "library", "a library with this plugin",
                  (*library)->path() + " with " + Join(names, ", "));
}

// Expands one profile.
class Expander {
 public:
  Expander(const Profile& profile, const PluginCatalog& catalog,
           std::span<const std::string> searched, ConfigErrors& errors)
      : profile_(profile),
        catalog_(catalog),
        searched_(searched),
        errors_(errors),
        is_complete_(profile.is_complete) {}

  PlanSpec Expand() {
    spec_.scheduler_name = profile_.scheduler_name.value;
    for (const ProfilePlugin& plugin : profile_.plugins) AddPlugin(plugin);
    for (const ProfileOrder& order : profile_.order) CheckOrder(order);
    for (const PointInfo& info : kPoints) AddUses(info);
    if (is_complete_) CheckCounts();
    return std::move(spec_);
  }

 private:
  // A plugin that is enabled and in the catalog.
  struct Enabled {
    const ProfilePlugin* plugin;
    PointSet implements{};
    PointSet runs{};
  };

  void AddPlugin(const ProfilePlugin& plugin) {
    const auto found = catalog_.plugins().find(plugin.name.value);
    if (found == catalog_.plugins().end()) {
      if (!plugin.is_enabled() && plugin.library.has_value())
        return;  // LoadLibraries() could not load it.
      is_complete_ = false;
      if (!plugin.library.has_value()) ReportUnknownPlugin(plugin);
      return;
    }
    if (!plugin.is_enabled()) return;
    const PluginInfo& info = *found->second.info;
    Enabled enabled{&plugin};
    for (const std::string& id : info.points) {
      const PointInfo* point = FindPoint(id);
      if (point != nullptr) enabled.implements[IndexOf(point->point)] = true;
    }
    enabled.runs = RunsAt(plugin, enabled.implements);
    CheckWeight(plugin, enabled);
    CheckArguments(plugin, info);
    spec_.plugins.push_back(MakePluginSpec(plugin));
    enabled_.push_back(enabled);
  }

  void ReportUnknownPlugin(const ProfilePlugin& plugin) {
    std::vector<std::string> names;
    for (const auto& [name, known] : catalog_.plugins()) names.push_back(name);
    std::string expected = "a plugin of " + Join(searched_, ", ");
    if (searched_.empty()) expected = "a plugin that is loaded";
    expected += ", or a `library` that contains it";
    errors_.Expected(plugin.name.place, PluginContext(plugin.name.value) + "name", expected,
                     "no plugin of this name" + DidYouMean(plugin.name.value, names));
  }

  PointSet RunsAt(const ProfilePlugin& plugin, const PointSet& implements) {
    if (!plugin.points.has_value()) return implements;
    PointSet runs{};
    for (const PointInfo& info : kPoints) {
      if (!IsNamed(info.point)) runs[IndexOf(info.point)] = implements[IndexOf(info.point)];
    }
    for (const Placed<std::string>& name : *plugin.points) {
      const std::string key = PluginContext(plugin.name.value) + "points";
      const PointInfo* info = FindNamed(name, key);
      if (info == nullptr || !implements[IndexOf(info->point)]) is_complete_ = false;
      if (info == nullptr) continue;
      runs[IndexOf(info->point)] = implements[IndexOf(info->point)];
      if (implements[IndexOf(info->point)]) continue;
      errors_.Expected(name.place, key, "one of " + NamesOf(implements), Quoted(name.value));
    }
    return runs;
  }

  const PointInfo* FindNamed(const Placed<std::string>& name, const std::string& key) {
    const PointInfo* info = FindPointByName(name.value);
    if (info != nullptr && IsNamed(info->point)) return info;
    std::string found = Quoted(name.value);
    if (info != nullptr) {
      found += ", which cannot be selected: it runs for every plugin that implements it";
    } else {
      found += DidYouMean(name.value, ProfilePoints());
    }
    errors_.Expected(name.place, key, "an extension point", found);
    return nullptr;
  }

  // "Filter, Score"
  static std::string NamesOf(const PointSet& points) {
    std::vector<std::string> names;
    for (const PointInfo& info : kPoints) {
      if (IsNamed(info.point) && points[IndexOf(info.point)]) names.emplace_back(info.name);
    }
    return Join(names, ", ");
  }

  // Returns whether the plugin implements none of its `points`, which has been reported.
  static bool HasNoPoint(const Enabled& enabled) {
    return enabled.plugin->points.has_value() && NamesOf(enabled.runs).empty();
  }

  // A weight from another file than `points` may have been written for more points.
  void CheckWeight(const ProfilePlugin& plugin, const Enabled& enabled) {
    if (!plugin.weight.has_value() || enabled.runs[IndexOf(Point::kScore)]) return;
    const bool implements = enabled.implements[IndexOf(Point::kScore)];
    const bool together = plugin.points.has_value() && !plugin.points->empty() &&
                          plugin.points->front().place.file == plugin.weight->place.file;
    if (implements && !together) return;
    if (HasNoPoint(enabled)) return;
    errors_.Expected(plugin.weight->place, PluginContext(plugin.name.value) + "weight",
                     "a plugin that runs at Score",
                     "a plugin that runs only at " + NamesOf(enabled.runs));
  }

  void CheckArguments(const ProfilePlugin& plugin, const PluginInfo& info) {
    const nlohmann::json schema = ParseJson(info.args_schema);
    CheckArgs(schema, plugin.args, PluginContext(plugin.name.value), plugin.name.place, errors_);
  }

  void CheckOrder(const ProfileOrder& order) {
    const std::string key = "order." + order.point.value;
    const PointInfo* info = FindNamed(order.point, key);
    if (info == nullptr) return;
    for (const Placed<std::string>& name : order.plugins) {
      const Enabled* enabled = Find(name.value);
      if (enabled == nullptr || enabled->runs[IndexOf(info->point)]) continue;
      if (name.place.file != profile_.file || HasNoPoint(*enabled)) continue;
      errors_.Expected(name.place, key, "a plugin that runs at " + order.point.value,
                       Quoted(name.value) + ", which runs at " + NamesOf(enabled->runs));
    }
  }

  const Enabled* Find(std::string_view name) const {
    const auto found = std::ranges::find_if(
        enabled_, [name](const Enabled& each) { return each.plugin->name.value == name; });
    return found == enabled_.end() ? nullptr : &*found;
  }

  void AddUses(const PointInfo& info) {
    std::set<const Enabled*> added;
    const auto add = [&](const Enabled* enabled) {
      if (enabled == nullptr || !enabled->runs[IndexOf(info.point)]) return;
      if (!added.insert(enabled).second) return;
      PlanSpec::Use use{enabled->plugin->name.value, 1};
      if (info.point == Point::kScore) use.weight = AddWeight(*enabled->plugin);
      spec_.points[IndexOf(info.point)].push_back(std::move(use));
    };
    for (const ProfileOrder& order : profile_.order) {
      if (order.point.value != info.name) continue;
      for (const Placed<std::string>& name : order.plugins) add(Find(name.value));
    }
    for (const Enabled& enabled : enabled_) add(&enabled);
  }

  int64_t AddWeight(const ProfilePlugin& plugin) {
    if (!plugin.weight.has_value() || plugin.weight->value == 0) {
      weights_left_ = std::max<int64_t>(weights_left_ - 1, 0);
      return 1;
    }
    const int64_t weight = plugin.weight->value;
    if (weight > weights_left_) {
      errors_.Expected(plugin.weight->place, PluginContext(plugin.name.value) + "weight",
                       "weights whose sum is at most " + std::to_string(kMaxWeights),
                       std::to_string(weight) + " in addition to the other weights");
      return 1;
    }
    weights_left_ -= weight;
    return weight;
  }

  void CheckCounts() {
    const auto& sorts = spec_.points[IndexOf(Point::kQueueSort)];
    if (sorts.size() != 1) {
      std::vector<std::string> names;
      for (const PlanSpec::Use& use : sorts) names.push_back(use.plugin);
      errors_.Expected({profile_.file, 0, 0}, "plugins",
                       "exactly one plugin that runs at QueueSort",
                       names.empty() ? "none" : Join(names, ", "));
    }
    const auto& namers = spec_.points[IndexOf(Point::kEntity)];
    if (namers.size() > 1) {
      std::vector<std::string> names;
      for (const PlanSpec::Use& use : namers) names.push_back(use.plugin);
      errors_.Expected({profile_.file, 0, 0}, "plugins",
                       "at most one plugin that implements Entity", Join(names, ", "));
    }
    if (spec_.points[IndexOf(Point::kBind)].empty()) {
      errors_.Expected({profile_.file, 0, 0}, "plugins", "at least one plugin that runs at Bind",
                       "none");
    }
  }

  static constexpr int64_t kMaxWeights = INT64_MAX / BERTH_SCORE_MAX;

  const Profile& profile_;
  const PluginCatalog& catalog_;
  std::span<const std::string> searched_;
  ConfigErrors& errors_;
  PlanSpec spec_;
  std::vector<Enabled> enabled_;
  bool is_complete_;  // False: a part is missing because of an error.
  int64_t weights_left_ = kMaxWeights;
};

// ---- Across profiles ----------------------------------------------------------------------------

// Returns the place of the schedulerName, or the file if it has none.
ConfigPlace PlaceOfName(const Profile& profile) {
  if (!profile.scheduler_name.place.file.empty()) return profile.scheduler_name.place;
  return {profile.file, 0, 0};
}

void CheckNames(std::span<const Profile> profiles, ConfigErrors& errors) {
  for (size_t i = 1; i < profiles.size(); ++i) {
    const std::string& name = profiles[i].scheduler_name.value;
    const auto earlier = profiles.first(i);
    const auto other = std::ranges::find_if(
        earlier, [&](const Profile& profile) { return profile.scheduler_name.value == name; });
    if (other == earlier.end() || name.empty()) continue;
    errors.Expected({profiles[i].file, 0, 0}, "schedulerName", "a unique name for each profile",
                    Quoted(name) + " (" + PlaceOfName(profiles[i]).ToString() + ") as in " +
                        other->file + " (" + PlaceOfName(*other).ToString() + ")");
  }
}

const PlanSpec::Plugin* QueueSortOf(const PlanSpec& spec) {
  const auto& sorts = spec.points[IndexOf(Point::kQueueSort)];
  if (sorts.size() != 1) return nullptr;
  const auto found = std::ranges::find(spec.plugins, sorts.front().plugin, &PlanSpec::Plugin::name);
  return found == spec.plugins.end() ? nullptr : &*found;
}

// All profiles share one queue.
void CheckQueueSorts(std::span<const Profile> profiles, std::span<const PlanSpec> specs,
                     ConfigErrors& errors) {
  size_t with_one = 0;
  while (with_one < specs.size() && QueueSortOf(specs[with_one]) == nullptr) ++with_one;
  if (with_one == specs.size()) return;
  const PlanSpec::Plugin* first = QueueSortOf(specs[with_one]);
  for (size_t i = with_one + 1; i < specs.size(); ++i) {
    const PlanSpec::Plugin* sort = QueueSortOf(specs[i]);
    if (sort == nullptr) continue;
    const ProfilePlugin* plugin = profiles[i].Find(sort->name);
    const std::string& other = profiles[with_one].file;
    if (sort->name != first->name) {
      errors.Expected(
          plugin->name.place, PluginContext(sort->name) + "QueueSort",
          Quoted(first->name) + ", as in " + other + ", because all profiles share one queue",
          Quoted(sort->name));
    } else if (*sort->args != *first->args) {
      if (sort->args->empty() && first->args->empty()) continue;
      ConfigPlace place = plugin->args.PlaceOf("");
      if (place.file.empty()) place = plugin->name.place;
      errors.Expected(
          place, PluginContext(sort->name) + "args",
          "the same arguments as in " + other + ", because all profiles share one queue",
          "different arguments");
    }
  }
}

}  // namespace

void LoadLibraries(std::span<const Profile> profiles, PluginCatalog& catalog,
                   ConfigErrors& errors) {
  // If two libraries have a plugin of the same name, the enabled one takes precedence.
  for (const bool enabled : {true, false}) {
    for (const Profile& profile : profiles) {
      for (const ProfilePlugin& plugin : profile.plugins) {
        if (plugin.is_enabled() != enabled || !plugin.library.has_value()) continue;
        LoadLibrary(plugin, catalog, errors);
      }
    }
  }
}

std::vector<PlanSpec> MakePlanSpecs(std::span<const Profile> profiles, const PluginCatalog& catalog,
                                    std::span<const std::string> searched, ConfigErrors& errors) {
  const size_t before = errors.size();
  std::vector<PlanSpec> specs;
  for (const Profile& profile : profiles) {
    specs.push_back(Expander(profile, catalog, searched, errors).Expand());
  }
  if (specs.size() > 1) {
    CheckNames(profiles, errors);
    CheckQueueSorts(profiles, specs, errors);
  }
  if (errors.size() != before) specs.clear();
  return specs;
}

PluginSpec MakePluginSpec(const ProfilePlugin& plugin) {
  PluginSpec spec;
  spec.name = plugin.name.value;
  spec.args = std::make_shared<const nlohmann::json>(plugin.args.value);
  spec.where = plugin.name.place.ToString();
  if (plugin.deadline_ns.has_value()) spec.deadline_ns = plugin.deadline_ns->value;
  for (const auto& [pointer, place] : plugin.args.places) spec.places[pointer] = place.ToString();
  return spec;
}

std::vector<std::string> ProfilePoints() {
  std::vector<std::string> names;
  for (const PointInfo& info : kPoints) {
    if (IsNamed(info.point)) names.emplace_back(info.name);
  }
  return names;
}

}  // namespace berth::host
