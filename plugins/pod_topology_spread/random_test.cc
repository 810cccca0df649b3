// Compares verdicts and scores with a naive implementation, in random clusters.
// kube-scheduler: podtopologyspread/filtering.go, scoring.go
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

const std::string kHost = "kubernetes.io/hostname";
const std::vector<std::string> kKeys = {"zone", "rack", kHost};

// Chooses everything in a test.
class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(static_cast<uint32_t>(from.size()))];
  }

 private:
  std::mt19937 random_;
};

std::vector<NodeSpec> RandomNodes(Dice& dice) {
  std::vector<NodeSpec> nodes;
  uint32_t pods = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    NodeSpec node = MakeNode("n" + std::to_string(i));
    node.Label(kHost, node.name);
    if (!dice.OneIn(6)) node.Label("zone", dice.Pick<std::string>({"a", "b", "c"}));
    if (!dice.OneIn(4)) node.Label("rack", dice.Pick<std::string>({"1", "2"}));
    node.Label("pool", dice.Pick<std::string>({"x", "y"}));
    if (dice.OneIn(4)) node.Taint("t");
    for (uint32_t left = dice.Below(4); left > 0; --left) {
      PodSpec pod = MakePod("pod-" + std::to_string(pods++));
      pod.Label("app", dice.Pick<std::string>({"web", "db"}));
      if (dice.OneIn(6)) pod.Namespace("other");
      if (dice.OneIn(6)) pod.DeletedNs(1);
      node.Pod(pod);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

PodSpec RandomPod(Dice& dice) {
  PodSpec pod = MakePod("p").Label("app", dice.Pick<std::string>({"web", "db"}));
  if (dice.OneIn(3)) pod.NodeSelector("pool", "x");
  if (dice.OneIn(3)) pod.TolerateKey("t");
  std::set<std::string> used;
  for (uint32_t left = 1 + dice.Below(3); left > 0; --left) {
    SpreadSpec spread{.topology_key = dice.Pick(kKeys)};
    if (!used.insert(spread.topology_key).second) continue;
    if (!dice.OneIn(8)) spread.selector = SelectorSpec{{In("app", {"web"})}};
    spread.max_skew = 1 + static_cast<int32_t>(dice.Below(3));
    spread.min_domains = 1 + static_cast<int32_t>(dice.Below(4));
    if (dice.OneIn(2)) spread.when_unsatisfiable = BERTH_SCHEDULE_ANYWAY;
    if (dice.OneIn(3)) spread.node_affinity_policy = BERTH_POLICY_IGNORE;
    if (dice.OneIn(3)) spread.node_taints_policy = BERTH_POLICY_HONOR;
    pod.Spread(std::move(spread));
  }
  return pod;
}

// The naive implementation. All nodes are feasible.
class Model {
 public:
  Model(const std::vector<NodeSpec>& nodes, const PodSpec& pod) : nodes_(nodes), pod_(pod) {}

  // Returns the verdict of a node: "", "label" or "skew".
  std::string VerdictOf(const NodeSpec& node) const {
    const std::vector<SpreadSpec> hard = With(BERTH_DO_NOT_SCHEDULE);
    for (const SpreadSpec& each : hard) {
      if (!node.labels.contains(each.topology_key)) return "label";
      const std::map<std::string, int64_t> counts = CountBy(each, hard);
      int64_t min = counts.empty() ? 0 : counts.begin()->second;
      for (const auto& [value, count] : counts) min = std::min(min, count);
      if (static_cast<int64_t>(counts.size()) < each.min_domains) min = 0;
      const auto here = counts.find(node.labels.at(each.topology_key));
      const int64_t count =
          (here == counts.end() ? 0 : here->second) + (Matches(each, pod_) ? 1 : 0);
      if (count - min > each.max_skew) return "skew";
    }
    return "";
  }

  std::map<std::string, int64_t> RawScores() const {
    const std::vector<SpreadSpec> soft = With(BERTH_SCHEDULE_ANYWAY);
    const auto scored = std::count_if(nodes_.begin(), nodes_.end(),
                                      [&](const NodeSpec& node) { return HasKeys(node, soft); });
    std::map<std::string, int64_t> scores;
    for (const NodeSpec& node : nodes_) {
      double score = 0;
      for (const SpreadSpec& each : soft) {
        if (!HasKeys(node, soft)) continue;
        std::set<std::string> domains;
        for (const NodeSpec& other : nodes_) {
          if (HasKeys(other, soft)) domains.insert(other.labels.at(each.topology_key));
        }
        const bool is_host = each.topology_key == kHost;
        const double size =
            is_host ? static_cast<double>(scored) : static_cast<double>(domains.size());
        auto counts = CountBy(each, soft);
        const int64_t count =
            is_host ? CountOn(node, each) : counts[node.labels.at(each.topology_key)];
        score += static_cast<double>(count) * std::log(size + 2) + (each.max_skew - 1);
      }
      scores[node.name] = HasKeys(node, soft) ? static_cast<int64_t>(std::round(score)) : -1;
    }
    return scores;
  }

 private:
  std::vector<SpreadSpec> With(uint32_t action) const {
    std::vector<SpreadSpec> found;
    for (const SpreadSpec& each : pod_.spreads) {
      if (each.when_unsatisfiable == action) found.push_back(each);
    }
    return found;
  }
  static bool Matches(const SpreadSpec& constraint, const PodSpec& pod) {
    return constraint.selector.has_value() && pod.labels.at("app") == "web";
  }
  static bool HasKeys(const NodeSpec& node, const std::vector<SpreadSpec>& constraints) {
    return std::all_of(constraints.begin(), constraints.end(), [&node](const SpreadSpec& each) {
      return node.labels.contains(each.topology_key);
    });
  }
  int64_t CountOn(const NodeSpec& node, const SpreadSpec& constraint) const {
    return std::count_if(node.pods.begin(), node.pods.end(), [&](const PodSpec& pod) {
      return pod.ns != "other" && pod.deleted_ns == 0 && Matches(constraint, pod);
    });
  }
  bool Includes(const NodeSpec& node, const SpreadSpec& constraint) const {
    const bool selected = pod_.node_selector.empty() || node.labels.at("pool") == "x";
    const bool tolerated = node.taints.empty() || !pod_.tolerations.empty();
    return (selected || constraint.node_affinity_policy == BERTH_POLICY_IGNORE) &&
           (tolerated || constraint.node_taints_policy == BERTH_POLICY_IGNORE);
  }
  std::map<std::string, int64_t> CountBy(const SpreadSpec& constraint,
                                         const std::vector<SpreadSpec>& all) const {
    std::map<std::string, int64_t> counts;
    for (const NodeSpec& node : nodes_) {
      if (!HasKeys(node, all) || !Includes(node, constraint)) continue;
      counts[node.labels.at(constraint.topology_key)] += CountOn(node, constraint);
    }
    return counts;
  }

  const std::vector<NodeSpec>& nodes_;
  const PodSpec& pod_;
};

std::string NameOf(const Answer& verdict) {
  if (verdict.ok()) return "";
  return verdict.code == BERTH_UNSCHEDULABLE ? "skew" : "label";
}

TEST(PodTopologySpreadRandom, DecidesLikeTheNaiveImplementation) {
  uint32_t rejected = 0;
  uint32_t scored = 0;
  for (uint32_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const std::vector<NodeSpec> nodes = RandomNodes(dice);
    const PodSpec pod = RandomPod(dice);
    const Model model(nodes, pod);
    PluginUnderTest plugin({.nodes = nodes});
    const FilterResult result = plugin.Filter(pod);
    for (const NodeSpec& node : nodes) {
      if (result.pre_filter == Skip()) break;
      EXPECT_EQ(NameOf(result.On(node.name)), model.VerdictOf(node)) << node.name;
      rejected += result.On(node.name).ok() ? 0 : 1;
    }
    const ScoreResult scores = plugin.Score(pod);
    if (scores.skipped) continue;
    EXPECT_EQ(scores.raw, model.RawScores());
    ++scored;
  }
  EXPECT_GT(rejected, 60U);
  EXPECT_GT(scored, 30U);
}

}  // namespace
}  // namespace berth::testing
