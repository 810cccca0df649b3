// The scores of topology domains, in one cycle.
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_SCORE_STATE_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_SCORE_STATE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include <berth/plugin.h>
#include <berth/positions.h>
#include <berth/topology_deltas.h>
#include <berth/topology_index.h>

namespace affinity {

// The sums of kube-scheduler's preScoreState, by domain.
// kube-scheduler: pkg/scheduler/framework/plugins/interpodaffinity/scoring.go
//
// Lifetime:  the cycle.
class ScoreState {
 public:
  // Returns whether the pod has preferred affinity or anti-affinity.
  static bool HasPreferredTerms(berth::Pod pod) {
    return pod.affinity().preferred_pod_terms.count != 0 ||
           pod.affinity().preferred_pod_anti_terms.count != 0;
  }
  // Sums up the weights. `required_weight`: the weight of required affinity terms of pods on nodes
  // that mean the pod. Returns false if nothing was added to any sum. Threading: [cycle].
  bool Prepare(berth::Pod pod, int32_t required_weight, uint64_t cycle,
               berth::TopologyIndex& index);

  // Returns the raw score of the node of a row. Threading: [block].
  int64_t ScoreOf(uint32_t row) const {
    int64_t score = 0;
    for (const Key& key : keys_) {
      score += key.sums[std::min(key.topology->DomainOf(row), key.limit)];
    }
    return score;
  }

  // Adds everything that the scores depend on, apart from the pod's namespace and terms, and the
  // counts.
  void Sign(berth::Signer& signer) const;
  // See berth::Plugin, ScoreChanged.
  berth::Stale Changed(const berth::TopologyHistory& history, berth_id ns,
                       berth::RowSink& rows) const;

 private:
  struct Key {
    const berth::Topology* topology;
    uint32_t limit;             // The limit of the topology.
    std::vector<int64_t> sums;  // By domain; the last entry is for nodes without the key.
  };

  Key& KeyOf(const berth::Topology& topology);
  void Add(const berth::Topology& topology, const berth::DomainCounts& counts, int64_t weight);
  void AddTerms(berth::Pod pod, const berth_array& terms, int64_t sign, uint64_t cycle,
                berth::TopologyIndex& index);

  std::vector<Key> keys_;
  berth::Positions<berth_id> key_places_;  // The elements of keys_.
  std::vector<berth::CountedDomains> counted_;
  std::vector<const berth::TermGroup*> groups_;
  bool any_ = false;
};

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_SCORE_STATE_H_
