// Compares the decisions of one instance in a changing random cluster with those of a new instance,
// whose index is built from nothing, and with those of a scan over all pods.
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>

#include "naive_test_model.h"

namespace berth::testing {
namespace {

#ifdef NDEBUG
constexpr int kSteps = 10'000;
#else
constexpr int kSteps = 600;
#endif
const std::vector<std::string> kKeys = {"zone", "rack", "host"};
const std::vector<std::string> kNamespaces = {"n0", "n1", "n2"};
constexpr int32_t kRequiredWeight = 7;

class ChangingCluster {
 public:
  explicit ChangingCluster(uint32_t seed)
      : random_(seed), plugin_({.args = TestArgs(), .without = NoChecks()}) {}

  void Step() {
    switch (Below(12)) {
      case 0: RelabelNamespace(); break;
      case 1: PutNode(); break;
      case 2: RemoveNode(); break;
      case 3:
      case 4:
      case 5: RemovePod(); break;
      case 6: ChangePod(); break;
      default: AddPod(); break;
    }
  }
  void Compare() {
    const PodSpec pod = RandomPod("incoming");
    const FilterResult filter = plugin_.Filter(pod);
    const ScoreResult score = plugin_.Score(pod);
    PluginUnderTest fresh(
        {.nodes = Nodes(), .args = TestArgs(), .objects = Namespaces(), .without = NoChecks()});
    EXPECT_EQ(filter, fresh.Filter(pod));
    EXPECT_EQ(score, fresh.Score(pod));
    ASSERT_EQ(filter.pre_filter, model_.Concerns(pod) ? Success() : Skip());
    for (const auto& [name, node] : model_.nodes) {
      if (!filter.pre_filter.ok()) break;
      EXPECT_EQ(Reason(filter.On(name)), model_.Reject(pod, node)) << name;
      rejected_ += !filter.On(name).ok();
    }
    const auto raw = model_.Score(pod, kRequiredWeight);
    ASSERT_EQ(!score.skipped, raw.has_value());
    if (!raw.has_value()) return;
    EXPECT_EQ(score.raw, *raw);
    ++scored_;
  }
  int rejected() const { return rejected_; }
  int scored() const { return scored_; }

 private:
  static Args TestArgs() { return {{"hardPodAffinityWeight", kRequiredWeight}}; }
  static std::vector<Check> NoChecks() {
    return {Check::kBlocks, Check::kConcurrency, Check::kRepeat,
            Check::kWhatIf, Check::kDependence,  Check::kLeaks};
  }
  static std::string Reason(const Answer& answer) {
    return answer.reasons.empty() ? std::string() : answer.reasons.front();
  }

  size_t Below(size_t n) { return random_() % n; }
  const std::string& Pick(const std::vector<std::string>& all) { return all[Below(all.size())]; }
  std::string Number(size_t n) { return std::to_string(Below(n)); }

  SelectorSpec RandomSelector(const std::vector<std::string>& keys) {
    SelectorSpec selector;
    for (size_t i = Below(3); i != 0; --i) {
      const std::string& key = Pick(keys);
      switch (Below(5)) {
        case 0: selector.requirements.push_back(Exists(key)); break;
        case 1: selector.requirements.push_back(DoesNotExist(key)); break;
        case 2: selector.requirements.push_back(NotIn(key, {Number(3)})); break;
        default: selector.requirements.push_back(In(key, {Number(3)})); break;
      }
    }
    return selector;
  }
  std::vector<PodTermSpec> RandomTerms(bool weighted, size_t one_in) {
    std::vector<PodTermSpec> terms;
    if (Below(one_in) != 0) return terms;
    for (size_t i = 0; i <= Below(2); ++i) {
      PodTermSpec term{.topology_key = Pick(kKeys), .selector = RandomSelector({"app", "tier"})};
      if (Below(4) == 0) term.namespaces = {Pick(kNamespaces)};
      if (Below(4) == 0) term.namespace_selector = RandomSelector({"team"});
      if (weighted) term.weight = static_cast<int32_t>(1 + Below(100));
      terms.push_back(term);
    }
    return terms;
  }
  PodSpec RandomPod(const std::string& name) {
    PodSpec pod = MakePod(name).Namespace(Pick(kNamespaces));
    if (Below(4) != 0) pod.Label("app", Number(3));
    if (Below(2) == 0) pod.Label("tier", Number(3));
    pod.required_pod_terms = RandomTerms(false, 3);
    pod.required_pod_anti_terms = RandomTerms(false, 6);
    pod.preferred_pod_terms = RandomTerms(true, 4);
    pod.preferred_pod_anti_terms = RandomTerms(true, 4);
    if (Below(8) == 0) pod.DeletedNs(1);
    return pod;
  }

  template <class Map>
  const auto& RandomEntry(const Map& map) {
    auto at = map.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(Below(map.size())));
    return *at;
  }
  void AddPod() {
    constexpr size_t kMostPods = 12;
    if (model_.nodes.empty()) return;
    if (model_.pods.size() >= kMostPods) return RemovePod();
    const PodSpec pod = RandomPod("p" + std::to_string(++last_pod_));
    const std::string node = RandomEntry(model_.nodes).first;
    plugin_.AddPod(pod, node, Below(2) == 0 ? BERTH_CHANGE_FLAG_ASSUMED : 0);
    model_.pods[pod.name] = {pod, node};
  }
  void RemovePod() {
    if (model_.pods.empty()) return;
    const auto [name, placed] = RandomEntry(model_.pods);
    plugin_.RemovePod(name, placed.second, Below(2) == 0 ? BERTH_CHANGE_FLAG_FORGOTTEN : 0);
    model_.pods.erase(name);
  }
  void ChangePod() {
    if (model_.pods.empty()) return;
    auto [pod, node] = RandomEntry(model_.pods).second;
    if (Below(2) == 0) {
      pod.Label("app", Number(3));
    } else {
      pod.DeletedNs(2);
    }
    plugin_.ChangePod(pod, node);
    model_.pods[pod.name] = {pod, node};
  }
  void PutNode() {
    NodeSpec node = MakeNode("node" + Number(6));
    if (Below(8) != 0) node.Label("zone", Number(3));
    if (Below(3) != 0) node.Label("rack", Number(3));
    if (Below(8) != 0) node.Label("host", node.name);
    if (model_.nodes.contains(node.name)) {
      plugin_.ChangeNode(node);
    } else {
      plugin_.AddNode(node);
    }
    model_.nodes[node.name] = node;
  }
  void RemoveNode() {
    if (model_.nodes.empty()) return;
    const std::string name = RandomEntry(model_.nodes).first;
    plugin_.RemoveNode(name);
    model_.nodes.erase(name);
    std::erase_if(model_.pods, [&](const auto& entry) { return entry.second.second == name; });
  }
  void RelabelNamespace() {
    const std::string& name = Pick(kNamespaces);
    ObjectSpec object = MakeObject("v1/Namespace", "", name);
    if (Below(4) == 0) {
      if (model_.namespaces.erase(name) != 0) plugin_.RemoveObject(object);
      return;
    }
    if (Below(3) != 0) object.labels["team"] = Number(3);
    plugin_.PutObject(object);
    model_.namespaces[name] = object.labels;
  }

  std::vector<NodeSpec> Nodes() const {
    std::vector<NodeSpec> nodes;
    for (const auto& [name, node] : model_.nodes) {
      nodes.push_back(node);
      for (const auto& [pod_name, placed] : model_.pods) {
        if (placed.second == name) nodes.back().Pod(placed.first);
      }
    }
    return nodes;
  }
  std::vector<ObjectSpec> Namespaces() const {
    std::vector<ObjectSpec> objects;
    for (const auto& [name, labels] : model_.namespaces) {
      objects.push_back(MakeObject("v1/Namespace", "", name));
      objects.back().labels = labels;
    }
    return objects;
  }

  std::mt19937 random_;
  PluginUnderTest plugin_;
  affinity::NaiveModel model_;
  uint64_t last_pod_ = 0;
  int rejected_ = 0;
  int scored_ = 0;
};

TEST(InterPodAffinityDecisions, EqualThoseOfANewIndexAndOfAScan) {
  ChangingCluster cluster(1);
  for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    cluster.Step();
    cluster.Compare();
  }
  // Otherwise the test compared little.
  EXPECT_GT(cluster.rejected(), kSteps / 4);
  EXPECT_GT(cluster.scored(), kSteps / 4);
}

}  // namespace
}  // namespace berth::testing
