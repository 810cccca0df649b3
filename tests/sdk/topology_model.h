// A naive recount of what a TopologyIndex maintains, over the texts of the specs.
#ifndef BERTH_TESTS_SDK_TOPOLOGY_MODEL_H_
#define BERTH_TESTS_SDK_TOPOLOGY_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <berth/testing/pod_spec.h>

#include "tests/sdk/topology_cluster.h"

namespace berth::testing {

class TopologyModel {
 public:
  using Labels = std::map<std::string, std::string>;
  // Kind, weight, key and value of a term, without the values without pods.
  using TermCounts = std::map<std::tuple<uint32_t, int32_t, std::string, std::string>, uint64_t>;

  explicit TopologyModel(const TopologyCluster& cluster) : cluster_(cluster) {}

  // Returns whether the pod matches a term of a pod that asks. `asks` is to be scheduled: a
  // namespaceSelector means only namespaces that exist.
  bool Asks(const PodSpec& asks, const PodTermSpec& term, const PodSpec& pod) const {
    return Means(asks, term, pod, true);
  }
  // Returns whether the pod matches all of the terms.
  bool AsksAll(const PodSpec& asks, const std::vector<PodTermSpec>& terms,
               const PodSpec& pod) const;
  // Returns the number of pods that match all terms by row.
  std::map<uint32_t, uint64_t> CountByRow(const PodSpec& asks,
                                          const std::vector<PodTermSpec>& terms,
                                          bool terminating) const;
  // Returns the number of pods that match all terms by the value of a key of their nodes.
  std::map<std::string, uint64_t> CountByValue(const PodSpec& asks,
                                               const std::vector<PodTermSpec>& terms,
                                               bool terminating, const std::string& key) const;
  // Returns the terms of pods on nodes that mean the pod.
  TermCounts TermsOf(const PodSpec& pod) const;

 private:
  static bool Matches(const SelectorSpec& selector, const Labels& labels);
  bool Means(const PodSpec& owner, const PodTermSpec& term, const PodSpec& pod,
             bool must_exist) const;

  const TopologyCluster& cluster_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTS_SDK_TOPOLOGY_MODEL_H_
