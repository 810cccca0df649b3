// The decisions of InterPodAffinity by a scan over all pods, as kube-scheduler makes them, on the
// texts of the specs. For tests.
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_NAIVE_TEST_MODEL_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_NAIVE_TEST_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <berth/testing/fake_host.h>

namespace affinity {

class NaiveModel {
 public:
  using Labels = std::map<std::string, std::string>;
  using Terms = std::vector<berth::testing::PodTermSpec>;
  using PodSpec = berth::testing::PodSpec;
  using NodeSpec = berth::testing::NodeSpec;

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
  static bool Matches(const berth::testing::SelectorSpec& selector, const Labels& labels) {
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
  bool Means(const PodSpec& owner, const berth::testing::PodTermSpec& term, const PodSpec& pod,
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

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_NAIVE_TEST_MODEL_H_
