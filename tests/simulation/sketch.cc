#include "tests/simulation/sketch.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "host/cluster/kubernetes/write/request_bodies.h"
#include "tests/simulation/volume_sketch.h"

namespace berth::host {
namespace {

using nlohmann::json;

json StatusOf(const Pod& pod) {
  json status = {{"phase", "Pending"}};
  if (!pod.nominated_node().empty()) status["nominatedNodeName"] = pod.nominated_node();
  for (const auto& condition : Elements<berth_condition>(pod.view().conditions)) {
    status["conditions"].push_back({{"type", pod.Name(condition.type)},
                                    {"status", ConditionStatusName(condition.status)},
                                    {"reason", pod.Name(condition.reason)}});
  }
  return status;
}

json SelectorOf(const std::string& color) { return {{"matchLabels", {{"color", color}}}}; }

json SelectorOf(NamespaceSelector selector) {
  if (selector == NamespaceSelector::kAll) return json::object();
  json requirement = {{"key", kTeamLabel},
                      {"operator", selector == NamespaceSelector::kTeamX ? "In" : "NotIn"},
                      {"values", {"x"}}};
  return {{"matchExpressions", json::array({std::move(requirement)})}};
}

json JsonOf(const SpreadSketch& spread) {
  json constraint = {{"topologyKey", spread.key},
                     {"maxSkew", spread.max_skew},
                     {"whenUnsatisfiable", spread.is_hard ? "DoNotSchedule" : "ScheduleAnyway"},
                     {"labelSelector", SelectorOf(spread.color)}};
  if (spread.min_domains > 0) constraint["minDomains"] = spread.min_domains;
  if (spread.honors_taints) constraint["nodeTaintsPolicy"] = "Honor";
  if (spread.ignores_affinity) constraint["nodeAffinityPolicy"] = "Ignore";
  return constraint;
}

void AddTo(json& affinity, const AffinitySketch& sketch) {
  json term = {{"topologyKey", sketch.key}, {"labelSelector", SelectorOf(sketch.color)}};
  if (sketch.namespaces != NamespaceSelector::kNone) {
    term["namespaceSelector"] = SelectorOf(sketch.namespaces);
  }
  json& terms = affinity[sketch.is_anti ? "podAntiAffinity" : "podAffinity"];
  if (sketch.is_required) {
    terms["requiredDuringSchedulingIgnoredDuringExecution"].push_back(std::move(term));
  } else {
    terms["preferredDuringSchedulingIgnoredDuringExecution"].push_back(
        {{"weight", 10}, {"podAffinityTerm", std::move(term)}});
  }
}

}  // namespace

bool IsRejectedByPreEnqueue(const Pod& pod) {
  if (pod.view().scheduling_gates.count > 0) return true;
  const auto labels = Elements<berth_id_pair>(pod.meta().labels);
  return std::ranges::any_of(labels, [&pod](const berth_id_pair& label) {
    return pod.Name(label.key) == "a.preenqueue" || pod.Name(label.key) == "b.preenqueue";
  });
}

std::string PodSketch::Json(const Pod* stored) const {
  json requests = json::object();
  if (milli_cpu > 0) requests["cpu"] = std::to_string(milli_cpu) + "m";
  if (memory_mib > 0) requests["memory"] = std::to_string(memory_mib) + "Mi";
  if (gpus > 0) requests[kGpu] = std::to_string(gpus);
  json container = {{"name", "c"}, {"image", "i"}, {"resources", {{"requests", requests}}}};
  if (host_port > 0) {
    container["ports"].push_back({{"containerPort", host_port}, {"hostPort", host_port}});
  }
  json spec = {{"schedulerName", scheduler}, {"priority", priority}};
  spec["containers"].push_back(std::move(container));
  for (const std::string& key : tolerations) {
    spec["tolerations"].push_back({{"key", key}, {"operator", "Exists"}});
  }
  for (const std::string& gate : gates) spec["schedulingGates"].push_back({{"name", gate}});
  if (!group.empty()) spec["schedulingGroup"]["podGroupName"] = group;
  for (const std::string& claim : claims) {
    spec["volumes"].push_back({{"name", claim}, {"persistentVolumeClaim", {{"claimName", claim}}}});
  }
  for (const std::string& disk : disks) {
    spec["volumes"].push_back({{"name", disk}, {"gcePersistentDisk", {{"pdName", disk}}}});
  }
  if (!node_selector.empty()) spec["nodeSelector"] = node_selector;
  for (const SpreadSketch& spread : spreads) {
    spec["topologySpreadConstraints"].push_back(JsonOf(spread));
  }
  for (const AffinitySketch& affinity : affinities) AddTo(spec["affinity"], affinity);
  json pod = {{"kind", "Pod"},
              {"apiVersion", "v1"},
              {"metadata",
               {{"name", name},
                {"namespace", "default"},
                {"labels", labels},
                {"annotations", annotations}}},
              {"spec", std::move(spec)}};
  if (stored != nullptr) {
    if (!stored->node_name().empty()) pod["spec"]["nodeName"] = stored->node_name();
    pod["status"] = StatusOf(*stored);
  }
  if (has_succeeded) pod["status"]["phase"] = "Succeeded";
  return pod.dump();
}

std::string NodeSketch::Json() const {
  json allocatable = {{"cpu", std::to_string(milli_cpu) + "m"},
                      {"memory", std::to_string(memory_mib) + "Mi"},
                      {"pods", std::to_string(pods)}};
  if (gpus > 0) allocatable[kGpu] = std::to_string(gpus);
  json spec = json::object();
  if (unschedulable) spec["unschedulable"] = true;
  for (const auto& [key, effect] : taints) {
    spec["taints"].push_back({{"key", key}, {"effect", effect}});
  }
  json all_labels = labels;
  all_labels["kubernetes.io/hostname"] = name;
  if (const auto zone = labels.find("zone"); zone != labels.end()) {
    all_labels[kZoneLabel] = zone->second;
  }
  const json node = {
      {"kind", "Node"},
      {"apiVersion", "v1"},
      {"metadata", {{"name", name}, {"labels", all_labels}, {"annotations", annotations}}},
      {"spec", std::move(spec)},
      {"status", {{"allocatable", std::move(allocatable)}}}};
  return node.dump();
}

}  // namespace berth::host
