// PodCounter: how many pods match a query, as TopologyIndex maintains it.
#ifndef BERTH_POD_COUNTER_H_
#define BERTH_POD_COUNTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <berth/abi.h>
#include <berth/domain_counts.h>
#include <berth/internal/term_words.h>
#include <berth/positions.h>
#include <berth/topology.h>

namespace berth {
namespace internal {
class PodCounters;
}

// A counter: how many pods match a query, by row. Rows without a node have no pods.
//
// Lifetime:  until a later cycle calls TopologyIndex::Count(), which may drop it.
class PodCounter {
 public:
  // Returns what identifies the counter in TopologyChange. No other counter ever has the same id.
  uint32_t id() const { return id_; }
  // Returns the token of the state in which the counter was created. The journal has no earlier
  // changes of the counter: a plugin that is asked about an older token answers kAll.
  uint64_t since() const { return since_; }
  // Returns the number of pods by row.
  const DomainCounts& rows() const { return rows_; }

  // For the index: the counts by domain of one topology key.
  struct ByKey {
    Topology* topology;
    DomainCounts counts;
    bool counted = false;  // Add() changes the counts. Until then no node had the key.
  };
  // For the index: changes the count of a row, and of its domains. Keys that no node ever had cost
  // nothing.
  void Add(uint32_t row, int64_t change) {
    rows_.Add(row, change);
    for (ByKey* const by_key : counted_keys_) {
      const uint32_t domain = by_key->topology->DomainOf(row);
      if (domain != Topology::kNone) by_key->counts.Add(domain, change);
    }
  }

 private:
  friend class internal::PodCounters;

  uint32_t id_ = 0;
  uint32_t requirement_ = 0;  // See TermFinder::Add().
  uint64_t since_ = 0;
  uint64_t cycle_ = 0;     // The last cycle that asked for it.
  uint64_t mark_ = 0;      // See TopologyIndex::OnNamespace() and Evict().
  internal::Words words_;  // The words of the query, with interned ids.
  DomainCounts rows_;
  std::deque<ByKey> keys_;            // A deque, because CountedDomains points to elements.
  Positions<berth_id> key_places_;    // The elements of keys_.
  std::vector<ByKey*> counted_keys_;  // The elements that are counted.
};

// The number of pods that match a query, by domain of one topology key: counts->At(domain). Pods on
// nodes without the label are not counted.
//
// Lifetime:  until a later cycle calls TopologyIndex::Count().
struct CountedDomains {
  const PodCounter* counter = nullptr;
  const Topology* topology = nullptr;
  const DomainCounts* counts = nullptr;
};

}  // namespace berth

#endif  // BERTH_POD_COUNTER_H_
