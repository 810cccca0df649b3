// Topology: the domains of one topology key, as TopologyIndex maintains them.
#ifndef BERTH_TOPOLOGY_H_
#define BERTH_TOPOLOGY_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/cover_row.h>

namespace berth {

// A domain is the set of nodes that have the same value of the label. Domains have numbers, so that
// what a plugin knows about them is an array: the verdict of a node is
// `verdicts[topology.DomainOf(node.row())]`. The number of a domain is reused after its last node
// has left it.
//
// Threading: reads: [cycle] and [block]; writes: for the index only.
class Topology {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit Topology(berth_id key) : key_(key) {}

  // Returns the label key.
  berth_id key() const { return key_; }
  // Returns the number of the domain of a row, or kNone if there is no node with the label there. A
  // what-if row has the domain of its node.
  uint32_t DomainOf(uint32_t row) const { return row < by_row_.size() ? by_row_[row] : kNone; }
  // Returns the number of the domain with this value of the label, or kNone.
  uint32_t Find(berth_id value) const {
    const auto found = by_value_.find(value);
    return found == by_value_.end() ? kNone : found->second;
  }
  // Returns the upper bound of numbers: they are less. Some may be unused.
  uint32_t limit() const { return static_cast<uint32_t>(domains_.size()); }
  // Returns how many domains have a node.
  uint32_t size() const { return static_cast<uint32_t>(by_value_.size()); }
  // Return the value of the label, and the number of nodes, of a domain; both are 0 for a number
  // that is unused. REQUIRES: domain < limit().
  berth_id Value(uint32_t domain) const { return domains_[domain].value; }
  uint32_t Nodes(uint32_t domain) const { return domains_[domain].nodes; }
  // Returns how many nodes have the label.
  uint32_t nodes() const { return nodes_; }
  // Calls `each(uint32_t row)` for every node of the domain, by ascending row. Reads all rows.
  template <class F>
  void ForEachRow(uint32_t domain, F&& each) const {
    uint32_t left = domains_[domain].nodes;
    for (uint32_t row = 0; left != 0; ++row) {
      if (by_row_[row] != domain) continue;
      --left;
      each(row);
    }
  }
  // Returns about how many bytes the object occupies.
  std::size_t bytes() const {
    return sizeof(*this) + by_row_.capacity() * sizeof(uint32_t) +
           domains_.capacity() * sizeof(Domain) + by_value_.size() * 32;
  }

  // For the index: sets the value of the label of a row; 0: there is no node, or no such label.
  void Set(uint32_t row, berth_id value) {
    const uint32_t old = DomainOf(row);
    if (old != kNone) Leave(row, old);
    if (value == BERTH_ID_NONE) return;
    internal::CoverRow(by_row_, row, kNone);
    const uint32_t domain = Enter(value);
    ++domains_[domain].nodes;
    ++nodes_;
    by_row_[row] = domain;
  }

 private:
  struct Domain {
    berth_id value = BERTH_ID_NONE;
    uint32_t nodes = 0;
  };

  uint32_t Enter(berth_id value) {
    const auto [at, is_new] = by_value_.try_emplace(value, 0);
    if (!is_new) return at->second;
    if (free_.empty()) {
      at->second = limit();
      domains_.push_back({value, 0});
    } else {
      at->second = free_.back();
      free_.pop_back();
      domains_[at->second].value = value;
    }
    return at->second;
  }
  void Leave(uint32_t row, uint32_t domain) {
    by_row_[row] = kNone;
    --nodes_;
    if (--domains_[domain].nodes != 0) return;
    by_value_.erase(domains_[domain].value);
    domains_[domain].value = BERTH_ID_NONE;
    free_.push_back(domain);
  }

  const berth_id key_;
  std::vector<uint32_t> by_row_;  // The domain, or kNone. Empty if no node ever had the label.
  std::vector<Domain> domains_;
  std::vector<uint32_t> free_;  // Unused numbers, the one to use next last.
  std::unordered_map<berth_id, uint32_t> by_value_;
  uint32_t nodes_ = 0;
};

}  // namespace berth

#endif  // BERTH_TOPOLOGY_H_
