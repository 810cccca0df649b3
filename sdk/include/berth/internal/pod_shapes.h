// PodShapes: groups pods that no query and no term can tell apart.
#ifndef BERTH_INTERNAL_POD_SHAPES_H_
#define BERTH_INTERNAL_POD_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <berth/abi.h>
#include <berth/pod.h>

namespace berth {

class PodCounter;
class TermGroup;

namespace internal {

// What identifies a shape. Equal parts have equal hashes, which have a key of the process.
struct PodShapeKey {
  uint64_t labels_hash;
  uint64_t affinity_hash;
  berth_id ns;
  bool terminating;

  friend bool operator==(const PodShapeKey&, const PodShapeKey&) = default;
};

// Pods with equal namespace, labels and pod affinity that are, or are not, being deleted: for
// example the replicas of a Deployment.
struct PodShape {
  PodShapeKey key;
  uint32_t pods = 0;
  uint32_t place = 0;  // In the list of its namespace.
  // A copy of the labels. Their ids live as long as a pod of the shape.
  std::vector<berth_id_pair> labels;
  std::vector<PodCounter*> counters;  // The counters that count the pods.
  std::vector<TermGroup*>
      terms;  // The groups of the pods' terms; a term that they have twice is twice here.

  Labels label_view() const { return Labels(std::span<const berth_id_pair>(labels)); }
};

// The shapes of the pods on rows, by number. Numbers are reused.
class PodShapes {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // `with_terms`: pods with different affinity have different shapes.
  explicit PodShapes(bool with_terms)
      : with_terms_(with_terms), by_key_(0, Hash{this}, Equal{this}) {}
  PodShapes(const PodShapes&) = delete;
  PodShapes& operator=(const PodShapes&) = delete;

  PodShapeKey KeyOf(const Pod& pod) const {
    return {pod.PartHash(BERTH_PART_LABELS),
            with_terms_ ? pod.PartHash(BERTH_PART_POD_AFFINITY) : 0, pod.ns(),
            pod->meta->deleted_ns != 0};
  }
  PodShape& operator[](uint32_t shape) { return shapes_[shape]; }
  const PodShape& operator[](uint32_t shape) const { return shapes_[shape]; }
  // Returns the upper bound of numbers.
  uint32_t limit() const { return static_cast<uint32_t>(shapes_.size()); }
  std::size_t size() const { return by_key_.size(); }
  // Returns the number of a shape, or kNone.
  uint32_t Find(const PodShapeKey& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? kNone : *found;
  }
  // Adds the shape of a pod, without pods. REQUIRES: there is no such shape.
  uint32_t Add(const Pod& pod) {
    uint32_t shape = static_cast<uint32_t>(shapes_.size());
    if (free_.empty()) {
      shapes_.emplace_back();
    } else {
      shape = free_.back();
      free_.pop_back();
    }
    PodShape& added = shapes_[shape];
    added.key = KeyOf(pod);
    added.labels.assign(pod.labels().begin(), pod.labels().end());
    std::vector<uint32_t>& list = by_namespace_[added.key.ns];
    added.place = static_cast<uint32_t>(list.size());
    list.push_back(shape);
    by_key_.insert(shape);
    return shape;
  }
  // Removes a shape. REQUIRES: it has no pods.
  void Remove(uint32_t shape) {
    by_key_.erase(shape);
    const auto list = by_namespace_.find(shapes_[shape].key.ns);
    const uint32_t last = list->second.back();
    list->second[shapes_[shape].place] = last;
    shapes_[last].place = shapes_[shape].place;
    list->second.pop_back();
    if (list->second.empty()) by_namespace_.erase(list);
    shapes_[shape] = PodShape();
    free_.push_back(shape);
  }
  // Calls `each(uint32_t shape)` for every shape of the namespace, or of all namespaces, in no
  // particular order.
  template <class F>
  void ForEachIn(berth_id ns, F&& each) const {
    const auto found = by_namespace_.find(ns);
    if (found == by_namespace_.end()) return;
    for (const uint32_t shape : found->second) each(shape);
  }
  template <class F>
  void ForEach(F&& each) const {
    for (uint32_t shape = 0; shape < limit(); ++shape) {
      if (shapes_[shape].pods != 0) each(shape);
    }
  }
  // Returns about how many bytes the shapes occupy.
  std::size_t bytes() const {
    std::size_t bytes = limit() * sizeof(PodShape) + by_key_.size() * kNodeBytes +
                        by_key_.bucket_count() * sizeof(void*);
    for (const PodShape& shape : shapes_) {
      bytes += shape.labels.capacity() * sizeof(berth_id_pair) +
               (shape.counters.capacity() + shape.terms.capacity()) * sizeof(void*);
    }
    return bytes;
  }

 private:
  static constexpr std::size_t kNodeBytes = 32;  // An element of by_key_.

  struct Hash {
    using is_transparent = void;
    const PodShapes* shapes;

    std::size_t operator()(const PodShapeKey& key) const {
      return static_cast<std::size_t>((key.labels_hash ^ key.ns * 0x9e3779b97f4a7c15) +
                                      key.affinity_hash * 3 + key.terminating);
    }
    std::size_t operator()(uint32_t shape) const { return (*this)((*shapes)[shape].key); }
  };
  struct Equal {
    using is_transparent = void;
    const PodShapes* shapes;

    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(const PodShapeKey& a, uint32_t b) const { return a == (*shapes)[b].key; }
    bool operator()(uint32_t a, const PodShapeKey& b) const { return (*shapes)[a].key == b; }
  };

  const bool with_terms_;
  std::deque<PodShape> shapes_;
  std::vector<uint32_t> free_;
  std::unordered_set<uint32_t, Hash, Equal> by_key_;
  std::unordered_map<berth_id, std::vector<uint32_t>> by_namespace_;
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_INTERNAL_POD_SHAPES_H_
