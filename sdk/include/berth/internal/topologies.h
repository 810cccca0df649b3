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
  // Returns the topology of a key, with one more user. If it is new and a node has the key, calls
  // `fill(Topology&)`, which sets the value of every row.
  template <class F>
  Topology& Use(berth_id key, F&& fill) {
    auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      host_.Intern(host_.Text(key));
      found = by_key_.try_emplace(key, key).first;
      if (nodes_by_key_.find(key) != nodes_by_key_.end()) fill(found->second.topology);
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

  // Returns whether the row of a node would move to another domain of any topology.
  // `old`, `now`: null: no node. Costs time in proportion to their labels, not to the keys in use.
  bool Moves(const berth_node* old, const berth_node* now) const {
    const auto loses = [this](const berth_node* from, const berth_node* to) {
      for (const berth_id_pair& label : LabelsOf(from)) {
        if (ValueOf(to, label.key) != label.value && Find(label.key) != nullptr) return true;
      }
      return false;
    };
    return loses(old, now) || loses(now, old);
  }
  // Takes the keys of a node's labels into account. Called: for every change of labels.
  void CountKeys(const berth_node* old, const berth_node* now) {
    for (const berth_id_pair& label : LabelsOf(now)) ++nodes_by_key_[label.key];
    for (const berth_id_pair& label : LabelsOf(old)) {
      const auto nodes = nodes_by_key_.find(label.key);
      if (nodes != nodes_by_key_.end() && --nodes->second == 0) nodes_by_key_.erase(nodes);
    }
  }
  // Returns how many nodes have a label with this key.
  uint32_t NodesWith(berth_id key) const {
    const auto nodes = nodes_by_key_.find(key);
    return nodes == nodes_by_key_.end() ? 0 : nodes->second;
  }
  // Sets the values of a row, which had those of `old`. Calls `first(berth_id key)` for every key
  // in use that no node had before. REQUIRES: nothing is counted for the row.
  template <class F>
  void Set(uint32_t row, const berth_node* old, const berth_node* now, F&& first) {
    for (const berth_id_pair& label : LabelsOf(old)) {
      const auto found = by_key_.find(label.key);
      if (found != by_key_.end()) found->second.topology.Set(row, BERTH_ID_NONE);
    }
    for (const berth_id_pair& label : LabelsOf(now)) {
      const auto found = by_key_.find(label.key);
      if (found == by_key_.end()) continue;
      const bool is_first = found->second.topology.nodes() == 0;
      found->second.topology.Set(row, label.value);
      if (is_first) first(label.key);
    }
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
  static Labels LabelsOf(const berth_node* node) {
    return node == nullptr ? Labels() : Labels(node->meta->labels);
  }

  struct Used {
    explicit Used(berth_id key) : topology(key) {}
    Topology topology;
    uint32_t users = 0;
  };

  Host host_;
  std::unordered_map<berth_id, Used> by_key_;  // The keys are interned.
  // The number of nodes by the key of a label. The ids live as long as a node with the label.
  std::unordered_map<berth_id, uint32_t> nodes_by_key_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_TOPOLOGIES_H_
