// Compares the decisions of one instance in a changing random cluster with those of a new instance,
// whose index is built from nothing, and with those of a scan over all pods.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

// The steps of one seed. There are four, so that they can run side by side.
#ifdef NDEBUG
constexpr int kSteps = 8'000;
#else
constexpr int kSteps = 200;
#endif
const std::vector<std::string> kKeys = {"zone", "rack", "host"};
const std::vector<std::string> kNamespaces = {"n0", "n1", "n2"};
constexpr int32_t kRequiredWeight = 7;

// The decisions by a scan over all pods, as kube-scheduler makes them, on the texts of the specs.
class NaiveModel {
 public:
  using Labels = std::map<std::string, std::string>;
  using Terms = std::vector<PodTermSpec>;

  std::map<std::string, NodeSpec> nodes;                        // By name.
  std::map<std::string, std::pair<PodSpec, std::string>> pods;  // By name: the pod and its node.
  std::map<std::string, Labels> namespaces;

  // Returns whether the pod has a required term or is repelled somewhere.
  bool Concerns(const PodSpec& pod) const {
    return !pod.required_pod_terms.empty() || !pod.required_pod_anti_terms.empty() ||
           !RepelledPairs(pod).empty();
  }
  // Returns the reason why the node is rejected, or an empty text.
  std::string Reject(const PodSpec& pod, const NodeSpec& node) const {
    if (!HasAffinePods(pod, node)) return "node(s) didn't match pod affinity rules";
    for (const auto& term : pod.required_pod_anti_terms) {
      if (InDomain(node, term.topology_key,
                   [&](const PodSpec& other) { return Means(pod, term, other, true); })) {
        return "node(s) didn't match pod anti-affinity rules";
      }
    }
    for (const auto& [key, value] : RepelledPairs(pod)) {
      const auto label = node.labels.find(key);
      if (label == node.labels.end() || label->second != value) continue;
      return "node(s) didn't satisfy existing pods anti-affinity rules";
    }
    return {};
  }
  // Returns the raw scores of all nodes; nothing: no term has an effect.
  std::optional<std::map<std::string, int64_t>> Score(const PodSpec& pod,
                                                      int32_t required_weight) const {
    std::map<std::pair<std::string, std::string>, int64_t> sums;
    for (const auto& [name, placed] : pods) {
      const PodSpec& other = placed.first;
      const Labels& labels = nodes.at(placed.second).labels;
      const auto add = [&](const Terms& terms, const PodSpec& owner, const PodSpec& meant,
                           int64_t sign, int32_t weight) {
        for (const auto& term : terms) {
          const auto label = labels.find(term.topology_key);
          if (label == labels.end() || !Means(owner, term, meant, &owner == &pod)) continue;
          sums[*label] += sign * (weight != 0 ? weight : term.weight);
        }
      };
      add(pod.preferred_pod_terms, pod, other, 1, 0);
      add(pod.preferred_pod_anti_terms, pod, other, -1, 0);
      add(other.preferred_pod_terms, other, pod, 1, 0);
      add(other.preferred_pod_anti_terms, other, pod, -1, 0);
      if (required_weight > 0) add(other.required_pod_terms, other, pod, 1, required_weight);
    }
    if (sums.empty()) return std::nullopt;
    std::map<std::string, int64_t> scores;
    for (const auto& [name, node] : nodes) {
      int64_t& score = scores[name];
      for (const auto& [pair, sum] : sums) {
        const auto label = node.labels.find(pair.first);
        if (label != node.labels.end() && label->second == pair.second) score += sum;
      }
    }
    return scores;
  }

 private:
  static bool Matches(const SelectorSpec& selector, const Labels& labels) {
    return std::all_of(
        selector.requirements.begin(), selector.requirements.end(), [&labels](const auto& each) {
          const auto label = labels.find(each.key);
          const bool has = label != labels.end();
          const bool in = has && std::find(each.values.begin(), each.values.end(), label->second) !=
                                     each.values.end();
          if (each.op == BERTH_OP_IN) return in;
          if (each.op == BERTH_OP_NOT_IN) return !in;
          return has == (each.op == BERTH_OP_EXISTS);
        });
  }
  bool Means(const PodSpec& owner, const PodTermSpec& term, const PodSpec& pod,
             bool must_exist) const {
    if (!term.selector.has_value() || !Matches(*term.selector, pod.labels)) return false;
    if (term.namespaces.empty() && !term.namespace_selector.has_value()) return owner.ns == pod.ns;
    if (std::find(term.namespaces.begin(), term.namespaces.end(), pod.ns) !=
        term.namespaces.end()) {
      return true;
    }
    if (!term.namespace_selector.has_value()) return false;
    const auto found = namespaces.find(pod.ns);
    if (found != namespaces.end()) return Matches(*term.namespace_selector, found->second);
    if (must_exist) return term.namespace_selector->requirements.empty();
    return Matches(*term.namespace_selector, {});
  }
  // Returns whether a pod in the domain of the node fulfils the condition.
  template <class F>
  bool InDomain(const NodeSpec& node, const std::string& key, F&& condition) const {
    const auto label = node.labels.find(key);
    if (label == node.labels.end()) return false;
    return std::any_of(pods.begin(), pods.end(), [&](const auto& entry) {
      const auto& [other, on] = entry.second;
      const Labels& labels = nodes.at(on).labels;
      const auto found = labels.find(key);
      return found != labels.end() && found->second == label->second && condition(other);
    });
  }
  bool HasAffinePods(const PodSpec& pod, const NodeSpec& node) const {
    const Terms& terms = pod.required_pod_terms;
    const auto all_mean = [&](const PodSpec& other) {
      return std::all_of(terms.begin(), terms.end(),
                         [&](const auto& term) { return Means(pod, term, other, true); });
    };
    bool has_pods = true;
    bool is_first = all_mean(pod);
    for (const auto& term : terms) {
      if (!node.labels.contains(term.topology_key)) return false;
      has_pods = has_pods && InDomain(node, term.topology_key, all_mean);
      for (const auto& [name, other] : nodes) {
        is_first = is_first && !InDomain(other, term.topology_key, all_mean);
      }
    }
    return has_pods || is_first;
  }
  // Returns the labels of nodes with pods whose required anti-affinity means the pod.
  std::vector<std::pair<std::string, std::string>> RepelledPairs(const PodSpec& pod) const {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [name, placed] : pods) {
      const auto& [other, on] = placed;
      const Labels& labels = nodes.at(on).labels;
      for (const auto& term : other.required_pod_anti_terms) {
        const auto label = labels.find(term.topology_key);
        if (label != labels.end() && Means(other, term, pod, false)) pairs.push_back(*label);
      }
    }
    return pairs;
  }
};

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
  NaiveModel model_;
  uint64_t last_pod_ = 0;
  int rejected_ = 0;
  int scored_ = 0;
};

// The parameter is the seed.
class InterPodAffinityDecisionsTest : public ::testing::TestWithParam<uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, InterPodAffinityDecisionsTest, ::testing::Range(1U, 5U));

TEST_P(InterPodAffinityDecisionsTest, EqualThoseOfNewIndexAndOfScan) {
  ChangingCluster cluster(GetParam());
  for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    cluster.Step();
    cluster.Compare();
  }
  // Otherwise the test compared little.
  EXPECT_GT(cluster.rejected(), kSteps / 6);
  EXPECT_GT(cluster.scored(), kSteps / 6);
}

}  // namespace
}  // namespace berth::testing
