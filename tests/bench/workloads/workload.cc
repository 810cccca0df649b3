#include "tests/bench/workloads/workload.h"

#include <algorithm>
#include <array>

namespace berth::bench {
namespace {

constexpr std::array<Workload, 13> kWorkloads = {{
    {.name = "W1", .test_case = "SchedulingBasic", .nodes = 5000, .init_pods = 1000, .pods = 10000},
    {.name = "W2",
     .test_case = "SchedulingBasic, percentageOfNodesToScore 100",
     .nodes = 5000,
     .init_pods = 1000,
     .pods = 2000},
    {.name = "W4/2",
     .test_case = "AlternatingSignatures, 2 classes",
     .nodes = 5000,
     .pods = 10000,
     .pod_template = PodTemplate::kManyRequests,
     .classes = 2},
    {.name = "W4/16",
     .test_case = "AlternatingSignatures, 16 classes",
     .nodes = 5000,
     .pods = 10000,
     .pod_template = PodTemplate::kManyRequests,
     .classes = 16},
    {.name = "W4/64",
     .test_case = "AlternatingSignatures, 64 classes",
     .nodes = 5000,
     .pods = 10000,
     .pod_template = PodTemplate::kManyRequests,
     .classes = 64},
    {.name = "W4/512",
     .test_case = "AlternatingSignatures, 512 classes",
     .nodes = 5000,
     .pods = 10000,
     .pod_template = PodTemplate::kManyRequests,
     .classes = 512},
    {.name = "W5",
     .test_case = "SchedulingNodeAffinity",
     .nodes = 5000,
     .init_pods = 5000,
     .pods = 10000,
     .init_template = PodTemplate::kNodeAffinity,
     .pod_template = PodTemplate::kNodeAffinity,
     .one_zone = true},
    {.name = "W6/hard",
     .test_case = "TopologySpreading",
     .nodes = 5000,
     .init_pods = 5000,
     .pods = 5000,
     .pod_template = PodTemplate::kHardSpread},
    {.name = "W6/soft",
     .test_case = "PreferredTopologySpreading",
     .nodes = 5000,
     .init_pods = 5000,
     .pods = 5000,
     .pod_template = PodTemplate::kSoftSpread},
    {.name = "W7",
     .test_case = "SchedulingPodAntiAffinity",
     .nodes = 5000,
     .init_pods = 1000,
     .pods = 2000,
     .init_template = PodTemplate::kHostAntiAffinity,
     .pod_template = PodTemplate::kHostAntiAffinity,
     .namespaces = Namespaces::kTwo},
    {.name = "W8",
     .test_case = "SchedulingPodAffinity",
     .nodes = 5000,
     .init_pods = 5000,
     .pods = 1000,
     .init_template = PodTemplate::kZoneAffinity,
     .pod_template = PodTemplate::kZoneAffinity,
     .one_zone = true,
     .namespaces = Namespaces::kTwo},
    {.name = "W9",
     .test_case = "SchedulingRequiredPodAntiAffinityWithNSSelector",
     .nodes = 6000,
     .init_pods = 4000,
     .pods = 2000,
     .init_template = PodTemplate::kNamespaceAntiAffinity,
     .pod_template = PodTemplate::kNamespaceAntiAffinity,
     .namespaces = Namespaces::kMany},
    // scheduler_perf does not wait for the initial pods of this test case either.
    {.name = "W11",
     .test_case = "Unschedulable",
     .nodes = 5000,
     .init_pods = 20000,
     .pods = 10000,
     .init_template = PodTemplate::kTooLarge,
     .measures_init = true},
}};

std::string_view FamilyOf(std::string_view name) { return name.substr(0, name.find('/')); }

constexpr uint32_t kInitNamespaces = 100;

std::string NamespaceOf(const Workload& workload, uint32_t pod) {
  const bool is_init = pod < workload.init_pods;
  switch (workload.namespaces) {
    case Namespaces::kTwo: return is_init ? "sched-0" : "sched-1";
    case Namespaces::kMany:
      return is_init ? "init-ns-" + std::to_string(pod % kInitNamespaces) : "measure-ns-0";
    default: return "default";
  }
}

std::string NodeAffinity() {
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
         R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone",)"
         R"("operator":"In","values":["zone1","zone2"]}]}]}}},)";
}

std::string Spread(std::string_view when_unsatisfiable) {
  return R"("topologySpreadConstraints":[{"maxSkew":5,"topologyKey":"topology.kubernetes.io/zone",)"
         R"("whenUnsatisfiable":")" +
         std::string(when_unsatisfiable) +
         R"(","labelSelector":{"matchLabels":{"color":"blue"}}}],)";
}

// Returns required pod affinity (`kind`: podAffinity) or anti-affinity (podAntiAffinity).
std::string PodAffinity(std::string_view kind, std::string_view key, std::string_view namespaces) {
  std::string json = R"("affinity":{")";
  json.append(kind).append(R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{)");
  json.append(R"("labelSelector":{"matchLabels":{"color":"green"}},"topologyKey":")").append(key);
  return json.append(R"(",)").append(namespaces).append("}]}},");
}

// Returns the part of the spec that distinguishes the template; empty, or with a comma at its end.
std::string ConstraintsOf(PodTemplate kind) {
  constexpr std::string_view kHost = "kubernetes.io/hostname";
  constexpr std::string_view kTwoNamespaces = R"("namespaces":["sched-0","sched-1"])";
  switch (kind) {
    case PodTemplate::kNodeAffinity: return NodeAffinity();
    case PodTemplate::kHardSpread: return Spread("DoNotSchedule");
    case PodTemplate::kSoftSpread: return Spread("ScheduleAnyway");
    case PodTemplate::kHostAntiAffinity:
      return PodAffinity("podAntiAffinity", kHost, kTwoNamespaces);
    case PodTemplate::kZoneAffinity:
      return PodAffinity("podAffinity", "topology.kubernetes.io/zone", kTwoNamespaces);
    case PodTemplate::kNamespaceAntiAffinity:
      return PodAffinity("podAntiAffinity", kHost,
                         R"("namespaceSelector":{"matchLabels":{"team":"devops"}})");
    default: return "";
  }
}

// Returns the label that the template's own selector matches; empty for a template without one.
std::string_view ColorOf(PodTemplate kind) {
  if (kind == PodTemplate::kHardSpread || kind == PodTemplate::kSoftSpread) return "blue";
  const bool is_affine = kind == PodTemplate::kHostAntiAffinity ||
                         kind == PodTemplate::kZoneAffinity ||
                         kind == PodTemplate::kNamespaceAntiAffinity;
  return is_affine ? "green" : "";
}

// There are ten times as many images as a node holds.
constexpr uint32_t kImageShare = 10;

std::string ImageName(uint32_t image) {
  return "registry.example.com/team-" + std::to_string(image % 7) + "/app-" + std::to_string(image);
}

// Returns the images of a node as kubelets report them: each with a digest and a tag.
std::string ImagesJson(const Workload& workload, uint32_t node) {
  constexpr uint64_t kLargest = 1'000'000'000;  // Bytes.
  std::string json;
  for (uint32_t i = 0; i < workload.images; ++i) {
    const uint32_t image = i * kImageShare + (node + i) % kImageShare;
    const std::string name = ImageName(image);
    const std::string number = std::to_string(image);
    json += (i == 0 ? R"({"names":[")" : R"(,{"names":[")") + name +
            "@sha256:" + std::string(64 - number.size(), 'd') + number + R"(",")" + name +
            R"(:1.0"],"sizeBytes":)" + std::to_string(kLargest / (1 + i)) + "}";
  }
  return json;
}

}  // namespace

std::span<const Workload> Workloads() { return kWorkloads; }

std::span<const Workload> WorkloadsNamed(std::string_view name) {
  const auto matches = [&](const Workload& workload) {
    return workload.name == name || FamilyOf(workload.name) == name;
  };
  const auto first = std::ranges::find_if(kWorkloads, matches);
  return {first, std::find_if_not(first, kWorkloads.end(), matches)};
}

std::string NodeJson(const Workload& workload, uint32_t index) {
  const std::string name = "node-" + std::to_string(index);
  const std::string zone = "zone" + std::to_string(workload.one_zone ? 1 : index % 3 + 1);
  const std::string resources = R"({"cpu":"4","memory":"32Gi","pods":"110"})";
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
         R"(","labels":{"kubernetes.io/hostname":")" + name +
         R"(","topology.kubernetes.io/zone":")" + zone + R"("}},"status":{"capacity":)" +
         resources + R"(,"allocatable":)" + resources +
         R"(,"conditions":[{"type":"Ready","status":"True"}],"images":[)" +
         ImagesJson(workload, index) + "]}}";
}

std::vector<std::string> NamespacesJson(const Workload& workload) {
  std::vector<std::string> names;
  if (workload.namespaces == Namespaces::kTwo) names = {"sched-0", "sched-1"};
  if (workload.namespaces == Namespaces::kMany) {
    for (uint32_t i = 0; i < kInitNamespaces; ++i) names.push_back("init-ns-" + std::to_string(i));
    names.emplace_back("measure-ns-0");
  }
  for (std::string& name : names) {
    name = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name +
           R"(","uid":"uid-)" + name + R"(","labels":{"team":"devops"}}})";
  }
  return names;
}

std::string PodJson(const Workload& workload, uint32_t index) {
  const bool is_init = index < workload.init_pods;
  const PodTemplate kind = is_init ? workload.init_template : workload.pod_template;
  const uint32_t milli_cpu = kind == PodTemplate::kTooLarge ? 9000
                             : kind == PodTemplate::kManyRequests
                                 ? 100 + (index - workload.init_pods) % workload.classes
                                 : 100;
  const std::string name = (is_init ? "init-" : "pod-") + std::to_string(index);
  std::string labels(ColorOf(kind));
  if (!labels.empty()) labels = R"("labels":{"color":")" + labels + R"("},)";
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(",)" + labels +
         R"("namespace":")" + NamespaceOf(workload, index) + R"(","uid":"uid-)" + name +
         R"("},"spec":{)" + ConstraintsOf(kind) +
         R"("schedulerName":"default-scheduler","containers":[{"name":"app","image":")" +
         ImageName(0) + R"(:1.0","ports":[{"containerPort":80}],)" +
         R"("resources":{"requests":{"cpu":")" + std::to_string(milli_cpu) +
         R"(m","memory":"500Mi"}}}]}})";
}

}  // namespace berth::bench
