#include "tests/bench/workloads/workload.h"

#include <algorithm>
#include <array>

namespace berth::bench {
namespace {

constexpr std::array<Workload, 8> kWorkloads = {{
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

std::string Affinity() {
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
         R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone",)"
         R"("operator":"In","values":["zone1","zone2"]}]}]}}},)";
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

std::string PodJson(const Workload& workload, uint32_t index) {
  const bool is_init = index < workload.init_pods;
  const PodTemplate kind = is_init ? workload.init_template : workload.pod_template;
  const uint32_t milli_cpu = kind == PodTemplate::kTooLarge ? 9000
                             : kind == PodTemplate::kManyRequests
                                 ? 100 + (index - workload.init_pods) % workload.classes
                                 : 100;
  const std::string name = (is_init ? "init-" : "pod-") + std::to_string(index);
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default","uid":"uid-)" + name + R"("},"spec":{)" +
         (kind == PodTemplate::kNodeAffinity ? Affinity() : "") +
         R"("schedulerName":"default-scheduler","containers":[{"name":"app","image":")" +
         ImageName(0) + R"(:1.0","ports":[{"containerPort":80}],)" +
         R"("resources":{"requests":{"cpu":")" + std::to_string(milli_cpu) +
         R"(m","memory":"500Mi"}}}]}})";
}

}  // namespace berth::bench
