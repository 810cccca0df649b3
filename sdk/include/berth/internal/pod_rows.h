// PodRows: the nodes by row, and the shapes of their pods.
#ifndef BERTH_INTERNAL_POD_ROWS_H_
#define BERTH_INTERNAL_POD_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/cover_row.h>
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
  void SetNode(uint32_t row, const berth_node* node) {
    const berth_node*& known = At(row).node;
    node_count_ += (node != nullptr ? 1U : 0U) - (known != nullptr ? 1U : 0U);
    known = node;
  }
  uint32_t node_count() const { return node_count_; }
  void AddPod(uint32_t row, uint32_t shape) {
    uint32_t& first = At(row).first;
    const uint32_t at = *LinkTo(first, shape);
    if (at != kNone) {
      ++pods_[at].count;
      return;
    }
    const uint32_t added = NewPods(shape);  // It may move the links.
    *LinkTo(first, shape) = added;
  }
  // Returns false if the row has no pod of the shape.
  bool RemovePod(uint32_t row, uint32_t shape) {
    uint32_t* const link = LinkTo(At(row).first, shape);
    const uint32_t at = *link;
    if (at == kNone) return false;
    if (--pods_[at].count == 0) {
      *link = pods_[at].next;
      pods_[at].next = free_;
      free_ = at;
    }
    return true;
  }

  // Calls `each(uint32_t shape, uint32_t pods)` for every shape of the pods of the row.
  template <class F>
  void ForEachPods(uint32_t row, F&& each) const {
    if (row >= rows_.size()) return;
    for (uint32_t at = rows_[row].first; at != kNone; at = pods_[at].next) {
      each(pods_[at].shape, pods_[at].count);
    }
  }
  // Calls `each(uint32_t row, const berth_node& node)` for every row with a node.
  template <class F>
  void ForEachNode(F&& each) const {
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_[row].node != nullptr) each(row, *rows_[row].node);
    }
  }
  std::size_t bytes() const {
    return rows_.capacity() * sizeof(Row) + pods_.capacity() * sizeof(Pods);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The pods of one shape on one row, as an element of the row's list.
  struct Pods {
    uint32_t shape;
    uint32_t count;
    uint32_t next;  // Its number in pods_; kNone: the end.
  };
  struct Row {
    const berth_node* node = nullptr;
    uint32_t first = kNone;  // The row's list.
  };

  Row& At(uint32_t row) {
    CoverRow(rows_, row, Row{});
    return rows_[row];
  }
  // Returns the number of a new element, for one pod of the shape.
  uint32_t NewPods(uint32_t shape) {
    const Pods added = {shape, 1, kNone};
    if (free_ == kNone) {
      pods_.push_back(added);
      return static_cast<uint32_t>(pods_.size() - 1);
    }
    const uint32_t at = free_;
    free_ = pods_[at].next;
    pods_[at] = added;
    return at;
  }
  // Returns the link to the element with this shape in the list that begins at `first`, or the link
  // at the end of the list.
  uint32_t* LinkTo(uint32_t& first, uint32_t shape) {
    uint32_t* link = &first;
    while (*link != kNone && pods_[*link].shape != shape) link = &pods_[*link].next;
    return link;
  }

  std::vector<Row> rows_;
  uint32_t node_count_ = 0;
  std::vector<Pods> pods_;  // The elements of all lists.
  uint32_t free_ = kNone;   // The list of unused elements.
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_POD_ROWS_H_
