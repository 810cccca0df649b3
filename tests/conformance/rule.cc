#include "tests/conformance/rule.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/cycle/handled_fields.h"
#include "host/cycle/schedule_one.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

using nlohmann::json;

const PodRef* AsPod(const AnyObject& object) { return std::get_if<PodRef>(&object); }

bool HasPlugin(const PluginCatalog& catalog, const std::string& plugin) {
  return catalog.plugins().contains(plugin);
}

void AddIfMissing(const PluginCatalog& catalog, const std::string& plugin,
                  std::set<std::string>& missing) {
  if (!plugin.empty() && !HasPlugin(catalog, plugin)) missing.insert(plugin);
}

// Returns whether the score of the plugin changes nothing.
bool MayBeLeftOut(const std::string& plugin, const json& expect) {
  if (plugin != "DynamicResources" && plugin != "VolumeBinding") return false;
  return std::ranges::all_of(expect["scores"], [&plugin](const json& node) {
    return node["plugins"].value(plugin, 0) == 0;
  });
}

// Returns the plugin that all cases of the topic are about; empty if there is none.
std::string PluginOfTopic(const std::string& topic) {
  static const std::map<std::string, std::string> kPlugins = {
      {"devices", "DynamicResources"},
      {"podgroup", "GangScheduling"},
      {"podgroup-topology", "TopologyPlacementGenerator"},
      {"storage-scoring", "VolumeBinding"}};
  const auto found = kPlugins.find(topic);
  return found != kPlugins.end() ? found->second : "";
}

void CheckExpectation(const json& expect, const PluginCatalog& catalog,
                      std::set<std::string>& missing) {
  for (const char* point : {"preEnqueue", "preFilter"}) {
    if (expect.contains(point)) AddIfMissing(catalog, expect[point]["plugin"], missing);
  }
  const json nodes = expect.value("nodes", json::object());
  for (const auto& [node, verdict] : nodes.items()) {
    AddIfMissing(catalog, verdict["plugin"], missing);
  }
  const json rejectors = expect.value("rejectors", json::array());
  for (const auto& plugin : rejectors) {
    AddIfMissing(catalog, plugin, missing);
  }
  const json weights = expect.value("weights", json::object());
  for (const auto& [plugin, weight] : weights.items()) {
    if (!MayBeLeftOut(plugin, expect)) AddIfMissing(catalog, plugin, missing);
  }
}

// Returns the keys of the pods to schedule.
std::set<std::string> Targets(const json& a_case) {
  if (a_case.contains("pods")) return a_case["pods"].get<std::set<std::string>>();
  return {a_case["pod"].get<std::string>()};
}

void CheckPods(const json& a_case, std::span<const AnyObject> objects, const PluginCatalog& catalog,
               std::set<std::string>& missing) {
  std::set<std::string> handled = HandledPodFields(catalog);
  handled.insert(std::string(kVolumes));
  const HandledFields fields(std::move(handled));
  const std::set<std::string> targets = Targets(a_case);
  for (const AnyObject& object : objects) {
    const PodRef* pod = AsPod(object);
    if (pod == nullptr) continue;
    const berth_pod& view = (*pod)->view();
    if (view.scheduling_gates.count != 0 && view.nominated_node != kNoId) {
      // Whether other pods count the nomination depends on whether the pod is gated.
      AddIfMissing(catalog, "SchedulingGates", missing);
    }
    const bool is_target = targets.contains((*pod)->Key());
    for (const std::string_view field : fields.Unhandled(view)) {
      const bool acts_on_others = field.find("/podA") != std::string_view::npos;
      if (is_target || acts_on_others) missing.insert(std::string(field));
    }
  }
}

bool HasKind(std::span<const AnyObject> objects, std::string_view suffix) {
  return std::ranges::any_of(objects, [suffix](const AnyObject& object) {
    const auto* other = std::get_if<ObjectRef>(&object);
    return other != nullptr && (*other)->kind().ends_with(suffix);
  });
}

void CheckArguments(const KubeProfile& profile, std::span<const AnyObject> objects,
                    const PluginCatalog& catalog, std::set<std::string>& missing) {
  const auto args_of = [&profile](const char* plugin) {
    const auto found = profile.args.find(plugin);
    return found != profile.args.end() ? found->second : json::object();
  };
  if (args_of("NodeAffinity").contains("addedAffinity")) {
    AddIfMissing(catalog, "NodeAffinity", missing);
  }
  const json spread = args_of("PodTopologySpread");
  const bool list = !spread.value("defaultConstraints", json::array()).empty();
  const bool owners = HasKind(objects, "/Service") || HasKind(objects, "/ReplicaSet") ||
                      HasKind(objects, "/StatefulSet") ||
                      HasKind(objects, "/ReplicationController");
  if (owners && (list || spread.value("defaultingType", "System") == "System")) {
    AddIfMissing(catalog, "PodTopologySpread", missing);
  }
}

}  // namespace

std::set<std::string> MissingFor(const json& a_case, const json& expect, const KubeProfile& profile,
                                 std::span<const AnyObject> objects, const PluginCatalog& catalog) {
  std::set<std::string> missing;
  AddIfMissing(catalog, PluginOfTopic(a_case["topic"]), missing);
  if (!missing.empty()) return missing;
  if (expect.is_null()) return {"an outcome that is the same in each run"};
  const json steps = expect.value("steps", json::array());
  for (const json& step : steps) {
    if (step.contains("preemption")) AddIfMissing(catalog, "DefaultPreemption", missing);
  }
  CheckExpectation(expect, catalog, missing);
  CheckPods(a_case, objects, catalog, missing);
  CheckArguments(profile, objects, catalog, missing);
  return missing;
}

}  // namespace berth::host
