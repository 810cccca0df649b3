// What one pod costs each plugin grows with the size of the pod, and not with its square.
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <berth/abi.h>
#include <berth/testing/args.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/gtest.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/spec.h>

#include "tests/work/linear.h"
#include "tests/work/steps.h"

namespace berth::testing {
namespace {

// A part of a pod that has any number of elements, and the plugin and step that read it.
struct Field {
  const char* name;
  const char* plugin;
  Step step;
  PodSpec (*pod)(int size);
  const char* args = nullptr;
};

void PrintTo(const Field& field, std::ostream* out) { *out << field.name; }

std::string Key(int i) { return "example.com/k" + std::to_string(i); }
std::string Text(int i) { return "v" + std::to_string(i); }

std::vector<std::string> Texts(int size) {
  std::vector<std::string> texts;
  for (int i = 0; i < size; ++i) texts.push_back(Text(i));
  return texts;
}

// Returns a pod to which `add(pod, i)` added `size` elements.
template <class F>
PodSpec With(int size, F&& add) {
  PodSpec pod = MakePod("large").Container("c").Label("app", "x");
  for (int i = 0; i < size; ++i) add(pod, i);
  return pod;
}

// Returns requirements that a pod with the labels meets.
Requirements Many(int size) {
  Requirements requirements;
  for (int i = 0; i < size; ++i) requirements.push_back(Exists(Key(i)));
  return requirements;
}

PodSpec AntiKeys(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.PodAntiAffinity(Key(i), {In("app", {"x"})}); });
}
PodSpec AntiSelectors(int size) {
  return With(size,
              [](PodSpec& pod, int i) { pod.PodAntiAffinity("zone", {In("app", {Text(i)})}); });
}
PodSpec AntiBoth(int size) {
  return With(size,
              [](PodSpec& pod, int i) { pod.PodAntiAffinity(Key(i), {NotIn("app", {Text(i)})}); });
}
PodSpec AffinityKeys(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.PodAffinity(Key(i), {In("app", {"x"})}); });
}
PodSpec AffinitySelectors(int size) {
  return With(size,
              [](PodSpec& pod, int i) { pod.PodAffinity("zone", {NotIn("app", {Text(i)})}); });
}
PodSpec TermValues(int size) {
  return With(1,
              [size](PodSpec& pod, int) { pod.PodAntiAffinity("zone", {In("app", Texts(size))}); });
}
PodSpec TermRequirements(int size) {
  return With(1, [size](PodSpec& pod, int) { pod.PodAntiAffinity("zone", Many(size)); });
}
PodSpec TermNamespaces(int size) {
  PodSpec pod = AntiKeys(1);
  pod.required_pod_anti_terms[0].namespaces = Texts(size);
  return pod;
}
PodSpec Labels(int size) {
  PodSpec pod = With(size, [](PodSpec& each, int i) { each.Label(Key(i), "v"); });
  return pod.PodAntiAffinity("zone", Many(size)).Spread(1, "zone", Many(size));
}
PodSpec PreferredKeys(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.PreferredPodAffinity(1, Key(i), {}); });
}
PodSpec PreferredSelectors(int size) {
  return With(size, [](PodSpec& pod, int i) {
    pod.PreferredPodAntiAffinity(1, "zone", {NotIn("app", {Text(i)})});
  });
}
PodSpec PreferredBoth(int size) {
  return With(size, [](PodSpec& pod, int i) {
    pod.PreferredPodAffinity(1, Key(i), {NotIn("app", {Text(i)})});
  });
}

PodSpec HardKeys(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.Spread(1, Key(i), {In("app", {"x"})}); });
}
PodSpec HardSelectors(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.Spread(1, "zone", {NotIn("app", {Text(i)})}); });
}
PodSpec SoftKeys(int size) {
  return With(size, [](PodSpec& pod, int i) {
    pod.Spread(1, Key(i), {In("app", {"x"})}, BERTH_SCHEDULE_ANYWAY);
  });
}
PodSpec SoftSelectors(int size) {
  return With(size, [](PodSpec& pod, int i) {
    pod.Spread(1, "zone", {NotIn("app", {Text(i)})}, BERTH_SCHEDULE_ANYWAY);
  });
}

PodSpec Resources(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.Request(Key(i), int64_t{1}); });
}
PodSpec Tolerations(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.Tolerate(Key(i), "v"); });
}
PodSpec NodeTerms(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.NodeAffinity({In(Key(i), {"v"})}); });
}
PodSpec NodeTermsOfOneKey(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.NodeAffinity({In("zone", {Text(i)})}); });
}
PodSpec NodeExpressions(int size) {
  return With(1, [size](PodSpec& pod, int) { pod.NodeAffinity(Many(size)); });
}
PodSpec NodeValues(int size) {
  return With(1, [size](PodSpec& pod, int) { pod.NodeAffinity({In("zone", Texts(size))}); });
}
PodSpec NodeSelector(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.NodeSelector(Key(i), "v"); });
}
PodSpec NodePreferences(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.PreferredNodeAffinity(1, {In(Key(i), {"v"})}); });
}
PodSpec NamedNodes(int size) {
  return With(size, [](PodSpec& pod, int i) {
    pod.NodeAffinity(NodeTermSpec{.fields = {In("metadata.name", {Text(i)})}});
  });
}
PodSpec HostPorts(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.HostPort(i + 1); });
}
PodSpec Images(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.Container(Text(i)).Image(Text(i) + ":1"); });
}
PodSpec Claims(int size) {
  return With(size, [](PodSpec& pod, int i) { pod.PersistentClaim(Text(i), Text(i)); });
}
PodSpec Disks(int size) {
  return With(size, [](PodSpec& pod, int i) {
    pod.Volume({.name = Text(i), .kind = BERTH_VOLUME_AWS_DISK, .source = Text(i)});
  });
}
constexpr Step kFilter = Step::kFilter;
constexpr Step kScore = Step::kScore;

const Field kFields[] = {
    {"AntiKeys", "inter_pod_affinity", kFilter, AntiKeys},
    {"AntiSelectors", "inter_pod_affinity", kFilter, AntiSelectors},
    {"AntiBoth", "inter_pod_affinity", kFilter, AntiBoth},
    {"AffinityKeys", "inter_pod_affinity", kFilter, AffinityKeys},
    {"AffinitySelectors", "inter_pod_affinity", kFilter, AffinitySelectors},
    {"TermValues", "inter_pod_affinity", kFilter, TermValues},
    {"TermRequirements", "inter_pod_affinity", kFilter, TermRequirements},
    {"TermNamespaces", "inter_pod_affinity", kFilter, TermNamespaces},
    {"AffinityLabels", "inter_pod_affinity", kFilter, Labels},
    {"PreferredKeys", "inter_pod_affinity", kScore, PreferredKeys},
    {"PreferredSelectors", "inter_pod_affinity", kScore, PreferredSelectors},
    {"PreferredBoth", "inter_pod_affinity", kScore, PreferredBoth},
    {"HardKeys", "pod_topology_spread", kFilter, HardKeys},
    {"HardSelectors", "pod_topology_spread", kFilter, HardSelectors},
    {"SoftKeys", "pod_topology_spread", kScore, SoftKeys},
    {"SoftSelectors", "pod_topology_spread", kScore, SoftSelectors},
    {"SpreadLabels", "pod_topology_spread", kFilter, Labels},
    {"FitResources", "node_resources_fit", kFilter, Resources},
    {"FitScoredResources", "node_resources_fit", kScore, Resources,
     R"({"scoringStrategy": {"type": "LeastAllocated",
                             "resources": [{"name": "example.com/k9"}]}})"},
    {"BalancedResources", "node_resources_balanced_allocation", kScore, Resources,
     R"({"resources": [{"name": "cpu"}, {"name": "example.com/k9"}]})"},
    {"Tolerations", "taint_toleration", kFilter, Tolerations},
    {"SoftTolerations", "taint_toleration", kScore, Tolerations},
    {"NodeTerms", "node_affinity", kFilter, NodeTerms},
    {"NodeTermsOfOneKey", "node_affinity", kFilter, NodeTermsOfOneKey},
    {"NodeExpressions", "node_affinity", kFilter, NodeExpressions},
    {"NodeValues", "node_affinity", kFilter, NodeValues},
    {"NodeSelector", "node_affinity", kFilter, NodeSelector},
    {"NodePreferences", "node_affinity", kScore, NodePreferences},
    {"NamedNodes", "node_affinity", kFilter, NamedNodes},
    {"HostPorts", "node_ports", kFilter, HostPorts},
    {"Images", "image_locality", kScore, Images},
    {"Containers", "node_declared_features", kFilter, Images},
    {"ZoneClaims", "volume_zone", kFilter, Claims},
    {"LimitClaims", "node_volume_limits", kFilter, Claims},
    {"LimitDisks", "node_volume_limits", kFilter, Disks},
    {"RestrictedClaims", "volume_restrictions", kFilter, Claims},
    {"RestrictedDisks", "volume_restrictions", kFilter, Disks},
};

// Returns two nodes with an element of every kind that the pods name, and one without. The second
// one runs the pod `guest`.
std::vector<NodeSpec> NodesFor(int size, const PodSpec& guest) {
  NodeSpec a = MakeNode("a").CpuMilli(1000).Label("zone", "z1").Taint("dedicated", "batch");
  NodeSpec b = MakeNode("b").CpuMilli(1000).Label("zone", "z2");
  for (int i = 0; i < size; ++i) {
    b.Label(Key(i), "v").Allocatable(Key(i), int64_t{5});
    b.Image(Text(i) + ":1", int64_t{1} << 30);
  }
  return {a.Taint("slow", "", BERTH_EFFECT_PREFER_NO_SCHEDULE), b.Pod(guest), MakeNode("c")};
}

// Returns what the claims of the field's pod name: claims for one pod at a time, and the volumes
// that they are bound to.
std::vector<ObjectSpec> ObjectsFor(const Field& field, int size) {
  std::vector<ObjectSpec> objects;
  if (field.pod != Claims) return objects;
  for (int i = 0; i < size; ++i) {
    const std::string name = Text(i);
    objects.push_back(MakeObject(
        "v1/PersistentVolumeClaim", "default", name,
        R"({"spec":{"volumeName":")" + name + R"(","accessModes":["ReadWriteOncePod"]}})"));
    objects.push_back(MakeObject("v1/PersistentVolume", "", name,
                                 R"({"spec":{"csi":{"driver":"d","volumeHandle":")" + name +
                                     R"("}},"metadata":{"labels":)"
                                     R"({"topology.kubernetes.io/zone":"v2"}}})"));
  }
  return objects;
}

class PodWorkTest : public ::testing::TestWithParam<Field> {
 protected:
  // Returns the steps for a pod of this size on nodes of this size, one of which runs `guest`, from
  // the creation of the plugin to its end.
  static uint64_t StepsOf(int size, const PodSpec& guest) {
    const Field& field = GetParam();
    Scenario scenario{.nodes = NodesFor(size, guest), .objects = ObjectsFor(field, size)};
    if (field.args != nullptr) scenario.args = Args(field.args);
    const uint64_t before = Steps();
    CountedPlugin(field.plugin, std::move(scenario)).Try(field.pod(size), field.step);
    return Steps() - before;
  }
};

TEST_P(PodWorkTest, IsLinearInThePod) {
  // The kit itself takes long for many claims.
  const int most = GetParam().pod == Claims ? 3'000 : 10'000;
  ExpectLinear(most, [](int size) { return StepsOf(size, MakePod("guest").Label("app", "x")); });
}

TEST_P(PodWorkTest, IsLinearBesideAnEqualPod) {
  ExpectLinear(3'000, [](int size) { return StepsOf(size, GetParam().pod(size)); });
}

INSTANTIATE_TEST_SUITE_P(Fields, PodWorkTest, ::testing::ValuesIn(kFields),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace berth::testing
