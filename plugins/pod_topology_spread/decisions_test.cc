// Compares the decisions of one instance in a changing random cluster with those of a new instance,
// whose index is built from nothing.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
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
constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

class ChangingCluster {
 public:
  explicit ChangingCluster(uint32_t seed) : random_(seed), plugin_({.without = NoChecks()}) {}

  void Step() {
    switch (Below(12)) {
      case 0: ChangeService(); break;
      case 1:
      case 2: PutNode(); break;
      case 3: RemoveNode(); break;
      case 4:
      case 5: RemovePod(); break;
      case 6: ChangePod(); break;
      default: AddPod(); break;
    }
  }

  void Compare() {
    const PodSpec pod = IncomingPod();
    const FilterResult filter = plugin_.Filter(pod);
    const ScoreResult score = plugin_.Score(pod);
    PluginUnderTest fresh({.nodes = Nodes(), .objects = Services(), .without = NoChecks()});
    EXPECT_EQ(filter, fresh.Filter(pod));
    EXPECT_EQ(score, fresh.Score(pod));
    for (const auto& [name, node] : nodes_) {
      if (filter.pre_filter.ok()) rejected_ += filter.On(name).ok() ? 0 : 1;
    }
    scored_ += score.skipped ? 0 : 1;
  }

  int rejected() const { return rejected_; }
  int scored() const { return scored_; }

 private:
  static std::vector<Check> NoChecks() {
    return {Check::kBlocks, Check::kConcurrency, Check::kRepeat,
            Check::kWhatIf, Check::kDependence,  Check::kLeaks};
  }

  size_t Below(size_t n) { return random_() % n; }
  bool OneIn(size_t n) { return Below(n) == 0; }
  std::string Number(size_t n) { return std::to_string(Below(n)); }
  std::string Namespace() { return OneIn(4) ? "other" : "default"; }
  template <class Map>
  const auto& RandomEntry(const Map& map) {
    return *std::next(map.begin(), static_cast<std::ptrdiff_t>(Below(map.size())));
  }

  // Returns a pod with up to three constraints; without any, the default ones may apply.
  PodSpec IncomingPod() {
    PodSpec pod = MakePod("incoming").Namespace(Namespace()).Label("app", Number(3));
    if (OneIn(4)) pod.NodeSelector("pool", Number(2));
    if (OneIn(4)) pod.TolerateKey("t");
    for (const char* key : {kHost, kZone, "rack"}) {
      if (!OneIn(2)) continue;
      SpreadSpec spread{.topology_key = key};
      spread.selector = SelectorSpec{{In("app", {Number(3)})}};
      spread.max_skew = static_cast<int32_t>(1 + Below(3));
      spread.min_domains = static_cast<int32_t>(1 + Below(4));
      if (OneIn(2)) spread.when_unsatisfiable = BERTH_SCHEDULE_ANYWAY;
      if (OneIn(3)) spread.node_affinity_policy = BERTH_POLICY_IGNORE;
      if (OneIn(3)) spread.node_taints_policy = BERTH_POLICY_HONOR;
      pod.Spread(std::move(spread));
    }
    return pod;
  }

  void AddPod() {
    constexpr size_t kMostPods = 20;
    if (nodes_.empty()) return;
    if (pods_.size() >= kMostPods) return RemovePod();
    PodSpec pod = MakePod("p" + std::to_string(++last_pod_)).Namespace(Namespace());
    pod.Label("app", Number(3));
    if (OneIn(8)) pod.DeletedNs(1);
    const std::string node = RandomEntry(nodes_).first;
    plugin_.AddPod(pod, node, OneIn(2) ? BERTH_CHANGE_FLAG_ASSUMED : 0);
    pods_[pod.name] = {pod, node};
  }
  void RemovePod() {
    if (pods_.empty()) return;
    const auto [name, placed] = RandomEntry(pods_);
    plugin_.RemovePod(name, placed.second, OneIn(2) ? BERTH_CHANGE_FLAG_FORGOTTEN : 0);
    pods_.erase(name);
  }
  void ChangePod() {
    if (pods_.empty()) return;
    auto [pod, node] = RandomEntry(pods_).second;
    if (OneIn(2)) {
      pod.Label("app", Number(3));
    } else {
      pod.DeletedNs(2);
    }
    plugin_.ChangePod(pod, node);
    pods_[pod.name] = {pod, node};
  }

  void PutNode() {
    NodeSpec node = MakeNode("node" + Number(7)).Label("pool", Number(2));
    if (!OneIn(8)) node.Label(kHost, node.name);
    if (!OneIn(8)) node.Label(kZone, Number(3));
    if (!OneIn(3)) node.Label("rack", Number(3));
    if (OneIn(4)) node.Taint("t");
    if (nodes_.contains(node.name)) {
      plugin_.ChangeNode(node);
    } else {
      plugin_.AddNode(node);
    }
    nodes_[node.name] = node;
  }
  void RemoveNode() {
    if (nodes_.empty()) return;
    const std::string name = RandomEntry(nodes_).first;
    plugin_.RemoveNode(name);
    nodes_.erase(name);
    std::erase_if(pods_, [&](const auto& entry) { return entry.second.second == name; });
  }
  void ChangeService() {
    const std::string name = "s" + Number(3);
    const ObjectSpec service =
        MakeObject("v1/Service", "default", name,
                   R"({"spec": {"selector": {"app": ")" + Number(3) + R"("}}})");
    if (OneIn(3)) {
      if (services_.erase(name) != 0) plugin_.RemoveObject(service);
      return;
    }
    plugin_.PutObject(service);
    services_.insert_or_assign(name, service);
  }

  std::vector<NodeSpec> Nodes() const {
    std::vector<NodeSpec> nodes;
    for (const auto& [name, node] : nodes_) {
      nodes.push_back(node);
      for (const auto& [pod, placed] : pods_) {
        if (placed.second == name) nodes.back().Pod(placed.first);
      }
    }
    return nodes;
  }
  std::vector<ObjectSpec> Services() const {
    std::vector<ObjectSpec> objects;
    for (const auto& [name, service] : services_) objects.push_back(service);
    return objects;
  }

  std::mt19937 random_;
  PluginUnderTest plugin_;
  std::map<std::string, NodeSpec> nodes_;                        // By name.
  std::map<std::string, std::pair<PodSpec, std::string>> pods_;  // By name: the pod and its node.
  std::map<std::string, ObjectSpec> services_;                   // By name.
  uint64_t last_pod_ = 0;
  int rejected_ = 0;
  int scored_ = 0;
};

// The parameter is the seed.
class PodTopologySpreadDecisionsTest : public ::testing::TestWithParam<uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, PodTopologySpreadDecisionsTest, ::testing::Range(1U, 5U));

TEST_P(PodTopologySpreadDecisionsTest, EqualThoseOfANewIndex) {
  ChangingCluster cluster(GetParam());
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
