#include "tests/simulation/tenant_acts.h"

#include <array>
#include <cstddef>
#include <optional>

#include <nlohmann/json.hpp>

#include "host/api/objects.h"

namespace berth::host {
namespace {

using nlohmann::json;

constexpr const char* kTenant = "tenant";
// A run has few pods, and many seeds: the tests in tests/work have the longest lists.
constexpr size_t kMaxPods = 4;
constexpr size_t kElements = 40;

std::string Numbered(const char* what, size_t i) { return what + std::to_string(i); }

// Selects pods of the tenant only.
json Selector() { return {{"matchLabels", {{"tenant", "yes"}}}}; }

json Term(size_t i) {
  return {{"topologyKey", Numbered("example.com/k", i)},
          {"labelSelector", Selector()},
          {"namespaceSelector", json::object()}};
}

// ---- What a pod has -----------------------------------------------------------------------------

void AddRequiredTerms(json& spec) {
  json& terms =
      spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  for (size_t i = 0; i < kElements; ++i) terms.push_back(Term(i));
}

void AddPreferredTerms(json& spec) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    json& terms = spec["affinity"][kind]["preferredDuringSchedulingIgnoredDuringExecution"];
    for (size_t i = 0; i < kElements; ++i) {
      terms.push_back({{"weight", 1 + i % 100}, {"podAffinityTerm", Term(i)}});
    }
  }
}

void AddSpreads(json& spec) {
  for (size_t i = 0; i < kElements; ++i) {
    spec["topologySpreadConstraints"].push_back(
        {{"topologyKey", Numbered("example.com/k", i)},
         {"maxSkew", i % 2 == 0 ? 1 : INT32_MAX},
         {"whenUnsatisfiable", i % 3 == 0 ? "DoNotSchedule" : "ScheduleAnyway"},
         {"labelSelector", Selector()}});
  }
}

void AddTolerations(json& spec) {
  for (size_t i = 0; i < kElements; ++i) {
    spec["tolerations"].push_back({{"key", Numbered("example.com/t", i)},
                                   {"operator", "Exists"},
                                   {"effect", "NoExecute"},
                                   {"tolerationSeconds", INT64_MAX}});
  }
}

void AddResources(json& spec) {
  json& requests = spec["containers"][0]["resources"]["requests"];
  for (size_t i = 0; i < kElements; ++i) requests[Numbered("example.com/r", i)] = "1";
}

void AddExtremeAmounts(json& spec) {
  json& requests = spec["containers"][0]["resources"]["requests"];
  requests["cpu"] = "9223372036854775807";
  requests["memory"] = "1e30";
  requests["example.com/gpu"] = "9223372036854775807";
  spec["overhead"] = {{"cpu", "9223372036854775807"}, {"memory", "16E"}};
  spec["terminationGracePeriodSeconds"] = 9'000'000'000;
}

void AddNodeTerms(json& spec) {
  json values = json::array();
  for (size_t i = 0; i < kElements; ++i) values.push_back(Numbered("no-such-zone-", i));
  json& terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                    ["nodeSelectorTerms"];
  for (size_t i = 0; i < kElements; ++i) {
    json requirement = {{"key", "zone"}, {"operator", "In"}, {"values", values}};
    terms.push_back({{"matchExpressions", {std::move(requirement)}}});
  }
}

void AddPorts(json& spec) {
  for (size_t i = 0; i < kElements; ++i) {
    spec["containers"][0]["ports"].push_back(
        {{"containerPort", 20'000 + i}, {"hostPort", 20'000 + i}, {"hostIP", "127.0.0.1"}});
  }
}

void AddContainers(json& spec) {
  for (size_t i = 0; i < kElements; ++i) {
    spec["containers"].push_back({{"name", Numbered("c", i)}, {"image", Numbered("i", i)}});
  }
}

using SpecPart = void (*)(json& spec);
constexpr std::array<SpecPart, 9> kSpecParts{AddRequiredTerms, AddPreferredTerms, AddSpreads,
                                             AddTolerations,   AddResources,      AddExtremeAmounts,
                                             AddNodeTerms,     AddPorts,          AddContainers};

}  // namespace

void TenantActs::Create() {
  if (pods_.size() >= kMaxPods) return Delete();
  const std::string name = "t" + std::to_string(++last_pod_);
  json spec = {{"schedulerName", random_.Pick(scenario_.profiles)},
               {"priority", random_.OneIn(2) ? INT32_MIN : -6}};
  spec["containers"].push_back({{"name", "c"}, {"image", "i"}});
  for (size_t count = 1 + random_.Below(3); count > 0; --count) random_.Pick(kSpecParts)(spec);
  json annotations = json::object();
  // The pod makes a plugin fail in its first attempts.
  if (scenario_.has_chaos && random_.OneIn(3)) annotations["a.prefilter"] = "throw 8";
  const json pod = {{"kind", "Pod"},
                    {"apiVersion", "v1"},
                    {"metadata",
                     {{"name", name},
                      {"namespace", kTenant},
                      {"labels", {{"tenant", "yes"}, {"group", "g1"}}},
                      {"annotations", annotations}}},
                    {"spec", std::move(spec)}};
  const std::string text = pod.dump();
  writer_.TraceAct("create pod of the tenant", name, text);
  writer_.Create(text);
  pods_.push_back(name);
}

void TenantActs::Delete() {
  if (pods_.empty()) return;
  const size_t i = random_.Below(pods_.size());
  std::optional<int64_t> grace;
  if (random_.OneIn(2)) grace = 0;
  writer_.TraceAct("delete pod of the tenant", pods_[i], grace ? "immediately" : "");
  writer_.cluster().DeletePod({kTenant, pods_[i], {}}, grace, nullptr);
  pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(i));
}

}  // namespace berth::host
