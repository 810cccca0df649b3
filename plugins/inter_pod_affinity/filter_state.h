// What InterPodAffinity knows about the pod to schedule and the pods on nodes, in one cycle.
#ifndef BERTH_PLUGINS_INTER_POD_AFFINITY_FILTER_STATE_H_
#define BERTH_PLUGINS_INTER_POD_AFFINITY_FILTER_STATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <berth/plugin.h>
#include <berth/positions.h>
#include <berth/topology_deltas.h>
#include <berth/topology_index.h>

namespace affinity {

// Why a node is rejected, as bits.
enum Rejection : uint8_t {
  kNoKey = 1,            // The node lacks the topology key of a required affinity term.
  kNoPods = 2,           // The domain has no pods that all required affinity terms mean.
  kOwnAntiAffinity = 4,  // The domain has pods that a required anti-affinity term of the pod means.
  // The domain has pods with a required anti-affinity term that means the pod.
  kExistingPodsAntiAffinity = 8
};

// The counts of kube-scheduler's preFilterState, by domain. The counts are those of the index, plus
// what AddPod and RemovePod changed in this object.
// kube-scheduler: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go
//
// Lifetime:  the cycle. A copy is independent.
class FilterState {
 public:
  // Asks the index about the pod. Threading: [cycle].
  void Prepare(berth::Pod pod, uint64_t cycle, berth::TopologyIndex& index);
  // Returns whether neither the pod nor a pod on a node has a term that could reject a node.
  bool MayIgnore() const { return affinity_.empty() && anti_.empty() && existing_.empty(); }

  // Changes the counts as if `other` were added to (`sign` 1) or removed from (-1) the node.
  void Change(berth::Pod pod, berth::Pod other, const berth_node& node, uint32_t row, int64_t sign,
              const berth::TopologyIndex& index);

  // Returns why the node of a row is rejected: a combination of Rejection. Threading: [block].
  uint32_t RejectionsOf(uint32_t row, const berth_node& node) const {
    uint32_t rejections = 0;
    for (const Key& key : keys_) {
      rejections |= key.rejections[std::min(key.topology->DomainOf(row), key.limit)];
    }
    if (!other_pairs_.empty()) [[unlikely]]
      rejections |= OtherRejections(node);
    return rejections;
  }
  // Returns whether the pod may be the first one of a set of pods with affinity to each other: no
  // pod matches its required affinity terms, and it matches them itself.
  bool MayBeFirst() const { return matches_itself_ && affinity_total_ == 0; }

  // Adds everything that the answers depend on, apart from the pod's namespace and terms, and the
  // counts.
  void Sign(berth::Signer& signer) const;
  // See berth::Plugin, FilterChanged.
  berth::Stale Changed(const berth::TopologyHistory& history, berth_id ns,
                       berth::RowSink& rows) const;

 private:
  // The domains of one topology key.
  struct Key {
    const berth::Topology* topology;
    uint32_t limit;                   // The limit of the topology.
    std::vector<uint8_t> rejections;  // By domain; the last entry is for nodes without the key.
    berth::CountChanges existing;  // Pods with a term that means the pod, apart from the index's.
    // What decides the rejections: numbers in affinity_, anti_ and existing_.
    std::vector<std::size_t> affinity;
    std::vector<std::size_t> anti;
    std::vector<std::size_t> groups;
  };
  // The pods that a term of the pod means, or, for required affinity, that all terms mean.
  struct Counted {
    berth::CountedDomains domains;
    berth::CountChanges changes;
    std::size_t key;    // The index in keys_.
    std::size_t query;  // The index in queries_.

    int64_t At(uint32_t domain) const {
      return static_cast<int64_t>(domains.counts->At(domain)) + changes.At(domain);
    }
  };
  // The pods with a term that means the pod, by a label that no Key stands for.
  struct OtherPair {
    berth_id key;
    berth_id value;
    int64_t count;
  };

  std::size_t KeyOf(const berth::Topology& topology);
  void AddAffinity(berth::Pod pod, uint64_t cycle, berth::TopologyIndex& index);
  void AddAntiAffinity(berth::Pod pod, uint64_t cycle, berth::TopologyIndex& index);
  void AddExisting(berth::Pod pod, const berth::TopologyIndex& index);
  void FillRejections();
  // Computes the rejections of one domain again.
  void Refill(Key& key, uint32_t domain);
  // Change counts for the domains of a row, and append the indices of the keys whose rejections may
  // differ. `means`: by query: 1 if it means the pod.
  void ChangeCounted(std::vector<Counted>& all, const std::vector<uint8_t>& means, uint32_t row,
                     int64_t sign, std::vector<std::size_t>& keys);
  void ChangeExisting(berth_id key, const berth_node& node, uint32_t row, int64_t sign,
                      std::vector<std::size_t>& keys);
  uint32_t OtherRejections(const berth_node& node) const;

  std::vector<berth::PodQuery> queries_;
  std::vector<Counted> affinity_;  // One for each required affinity term, all of one query.
  std::vector<Counted> anti_;      // One for each required anti-affinity term.
  std::vector<const berth::TermGroup*> existing_;
  std::vector<Key> keys_;
  berth::Positions<berth_id> key_places_;  // The elements of keys_.
  std::vector<OtherPair> other_pairs_;
  berth::Positions<uint64_t> pair_places_;  // The elements of other_pairs_, by key and value.
  int64_t affinity_total_ = 0;              // The sum of all counts of affinity_.
  bool matches_itself_ = false;
};

}  // namespace affinity

#endif  // BERTH_PLUGINS_INTER_POD_AFFINITY_FILTER_STATE_H_
