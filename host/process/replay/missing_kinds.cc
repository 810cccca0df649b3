#include "host/process/replay/missing_kinds.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "host/base/text.h"
#include "host/cache/column.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

struct Need {
  std::set<std::string> plugins;
  std::string pod;
};
using Needs = std::map<std::string, Need>;

void Add(std::string_view kind, const std::string& plugin, const std::string& pod, Needs& needs) {
  Need& need = needs[std::string(kind)];
  need.plugins.insert(plugin);
  if (need.pod.empty()) need.pod = pod;
}

// Adds the kinds that the plugin may have read without the host's knowledge.
void AddUnseen(const PlannedPlugin& plugin, const ObjectNeeds& needs, Needs& all) {
  if (!plugin.host->has_decided()) return;
  std::set<std::string, std::less<>> columns;
  for (const ColumnRequest& column : plugin.instance->columns()) {
    if (const std::string_view kind = ObjectKindOf(column.name); !kind.empty()) {
      columns.emplace(kind);
    }
  }
  for (const auto& [kind, uses] : needs.uses()) {
    const auto use = uses.find(plugin.name);
    if (use == uses.end()) continue;
    if (use->second.watches && !use->second.looks_up) Add(kind, plugin.name, "", all);
    if (use->second.looks_up) columns.erase(kind);
  }
  for (const std::string& kind : columns) Add(kind, plugin.name, "", all);
}

// The part of a kind that follows its version.
std::string_view NameOf(std::string_view declared) {
  return declared.substr(declared.rfind('/') + 1);
}

// Empty for the core group.
std::string_view GroupOf(std::string_view declared) {
  const size_t first = declared.find('/');
  return first == declared.rfind('/') ? std::string_view() : declared.substr(0, first);
}

bool EndsWithAny(std::string_view text, std::span<const std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [text](std::string_view ending) { return text.ends_with(ending); });
}

}  // namespace

MissingKinds FindMissingKinds(const LocalCluster& cluster, const SchedulingLoop& loop) {
  if (!cluster.is_dump()) return {};
  const ObjectNeeds& needs = cluster.needs();
  Needs all;
  for (const auto& [kind, uses] : needs.uses()) {
    for (const auto& [plugin, use] : uses) {
      if (use.needs) Add(kind, plugin, use.pod, all);
    }
  }
  loop.ForEachPlan([&](const Plan& plan) {
    for (const PlannedPlugin& plugin : plan.plugins()) AddUnseen(plugin, needs, all);
  });
  MissingKinds missing;
  for (const auto& [kind, uses] : needs.uses()) {
    if (cluster.HasKind(kind)) missing.present.push_back(kind);
  }
  for (auto& [kind, need] : all) {
    if (cluster.HasKind(kind)) continue;
    missing.list.push_back({kind, {need.plugins.begin(), need.plugins.end()}, std::move(need.pod)});
  }
  return missing;
}

std::string PluralOf(std::string_view declared) {
  constexpr std::array<std::string_view, 4> kSibilants = {"s", "x", "ch", "sh"};
  constexpr std::array<std::string_view, 4> kVowelsWithY = {"ay", "ey", "oy", "uy"};
  std::string name(NameOf(declared));
  if (EndsWithAny(name, kSibilants)) return name + "es";
  if (!name.ends_with('y') || EndsWithAny(name, kVowelsWithY)) return name + "s";
  name.pop_back();
  return name + "ies";
}

std::string KubectlResource(std::string_view declared) {
  const std::string_view group = GroupOf(declared);
  // Groups of Kubernetes are "apps", or end with k8s.io.
  const bool is_kubernetes =
      group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
  if (is_kubernetes) return ToLower(PluralOf(declared));
  return ToLower(NameOf(declared)) + "." + std::string(group);
}

std::vector<std::string> WarningsAbout(const MissingKinds& missing) {
  std::vector<std::string> lines;
  if (missing.empty()) return lines;
  for (const MissingKind& each : missing.list) {
    std::string line = "the input has no " + PluralOf(each.kind) + ", which " +
                       Join(each.plugins, " and ") +
                       (each.plugins.size() == 1 ? " reads" : " read");
    if (!each.pod.empty()) line += " for pod " + each.pod;
    lines.push_back(line + "; the answer may differ on the cluster");
  }
  std::vector<std::string> resources = {"nodes", "pods"};
  for (const std::string& kind : missing.present) resources.push_back(KubectlResource(kind));
  for (const MissingKind& each : missing.list) resources.push_back(KubectlResource(each.kind));
  lines.push_back("read them too: kubectl get " + Join(resources, ",") +
                  " -A -o json; if the cluster has none, use --complete");
  return lines;
}

}  // namespace berth::host
