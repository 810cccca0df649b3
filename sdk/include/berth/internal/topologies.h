// Topologies: the topology keys that counters and terms use.
#ifndef BERTH_INTERNAL_TOPOLOGIES_H_
#define BERTH_INTERNAL_TOPOLOGIES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <berth/abi.h>
#include <berth/host.h>
#include <berth/pod.h>
#include <berth/topology.h>

namespace berth::internal {

class Topologies {
 public:
  explicit Topologies(Host host) : host_(host) {}

  const Topology* Find(berth_id key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second.topology;
  }
  // Returns the topology of a key, with one more user. If it is new, calls `fill(Topology&)`, which
  // sets the value of every row.
  template <class F>
  Topology& Use(berth_id key, F&& fill) {
    auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      host_.Intern(host_.Text(key));
      found = by_key_.try_emplace(key, key).first;
      fill(found->second.topology);
    }
    ++found->second.users;
    return found->second.topology;
  }
  // Undoes one call of Use().
  void Drop(const Topology& topology) {
    const auto found = by_key_.find(topology.key());
    if (--found->second.users != 0) return;
    host_.Release(found->first);
    by_key_.erase(found);
  }

  // Returns whether a row would move to another domain of any topology. `node`: null: no node.
  bool Moves(uint32_t row, const berth_node* node) const {
    for (const auto& [key, used] : by_key_) {
      const uint32_t domain = used.topology.DomainOf(row);
      const berth_id old =
          domain == Topology::kNone ? berth_id{BERTH_ID_NONE} : used.topology.Value(domain);
      if (old != ValueOf(node, key)) return true;
    }
    return false;
  }
  // Sets the values of a row. REQUIRES: nothing is counted for the row.
  void Set(uint32_t row, const berth_node* node) {
    for (auto& [key, used] : by_key_) used.topology.Set(row, ValueOf(node, key));
  }
  static berth_id ValueOf(const berth_node* node, berth_id key) {
    return node == nullptr ? berth_id{BERTH_ID_NONE} : FindLabel(Labels(node->meta->labels), key);
  }

  std::size_t size() const { return by_key_.size(); }
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& [key, used] : by_key_) bytes += used.topology.bytes();
    return bytes;
  }

 private:
  struct Used {
    explicit Used(berth_id key) : topology(key) {}
    Topology topology;
    uint32_t users = 0;
  };

  Host host_;
  std::unordered_map<berth_id, Used> by_key_;  // The keys are interned.
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_TOPOLOGIES_H_
