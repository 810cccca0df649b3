// PodRows: the nodes by row, and the shapes of their pods.
#ifndef BERTH_INTERNAL_POD_ROWS_H_
#define BERTH_INTERNAL_POD_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <berth/abi.h>
#include <berth/pod.h>
#include <berth/span.h>

namespace berth::internal {

// Returns whether two states of a node have equal labels, taints and spec.unschedulable.
inline bool SameForScheduling(const berth_node& a, const berth_node& b) {
  const Labels left(a.meta->labels);
  const Labels right(b.meta->labels);
  const Span<const berth_taint> left_taints(a.taints);
  const Span<const berth_taint> right_taints(b.taints);
  return a.unschedulable == b.unschedulable &&
         std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const berth_id_pair& x, const berth_id_pair& y) {
                      return x.key == y.key && x.value == y.value;
                    }) &&
         std::equal(left_taints.begin(), left_taints.end(), right_taints.begin(),
                    right_taints.end(), [](const berth_taint& x, const berth_taint& y) {
                      return x.key == y.key && x.value == y.value && x.effect == y.effect;
                    });
}

class PodRows {
 public:
  const berth_node* NodeAt(uint32_t row) const {
    return row < rows_.size() ? rows_[row].node : nullptr;
  }
  // Sets the node of a row; null: none.
  void SetNode(uint32_t row, const berth_node* node) { At(row).node = node; }
  void AddPod(uint32_t row, uint32_t shape) {
    std::vector<Pods>& all = At(row).pods;
    const auto at = Find(all, shape);
    if (at == all.end()) {
      all.push_back({shape, 1});
    } else {
      ++at->count;
    }
  }
  // Returns false if the row has no pod of the shape.
  bool RemovePod(uint32_t row, uint32_t shape) {
    std::vector<Pods>& all = At(row).pods;
    const auto at = Find(all, shape);
    if (at == all.end()) return false;
    if (--at->count == 0) {
      *at = all.back();
      all.pop_back();
    }
    return true;
  }

  // Calls `each(uint32_t shape, uint32_t pods)` for every shape of the pods of the row.
  template <class F>
  void ForEachPods(uint32_t row, F&& each) const {
    if (row >= rows_.size()) return;
    for (const Pods& pods : rows_[row].pods) each(pods.shape, pods.count);
  }
  // Calls `each(uint32_t row, const berth_node& node)` for every row with a node.
  template <class F>
  void ForEachNode(F&& each) const {
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_[row].node != nullptr) each(row, *rows_[row].node);
    }
  }
  std::size_t bytes() const {
    std::size_t bytes = rows_.capacity() * sizeof(Row);
    for (const Row& row : rows_) bytes += row.pods.capacity() * sizeof(Pods);
    return bytes;
  }

 private:
  struct Pods {
    uint32_t shape;
    uint32_t count;
  };
  struct Row {
    const berth_node* node = nullptr;
    std::vector<Pods> pods;
  };

  Row& At(uint32_t row) {
    if (row >= rows_.size()) rows_.resize(std::size_t{row} + 1);
    return rows_[row];
  }
  static std::vector<Pods>::iterator Find(std::vector<Pods>& all, uint32_t shape) {
    return std::find_if(all.begin(), all.end(),
                        [shape](const Pods& pods) { return pods.shape == shape; });
  }

  std::vector<Row> rows_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_POD_ROWS_H_
