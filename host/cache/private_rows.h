// Private rows: nodes as they would be with other pods on them.
//
// Filter and Score read everything about a node through a block. Private rows form a block whose
// nodes are copies with pods added or removed, so that what-if questions (with nominated pods
// added, or with preemption victims removed) run the same plugin code without changing the table.
#ifndef BERTH_HOST_CACHE_PRIVATE_ROWS_H_
#define BERTH_HOST_CACHE_PRIVATE_ROWS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <berth/abi.h>

#include "host/cache/node_table.h"

namespace berth::host {

// A block of private rows over one state of the table.
//
// Threading: the scheduling thread.
// Lifetime: the table must not change while this object is used.
class PrivateRows {
 public:
  explicit PrivateRows(const NodeTable& table) : table_(table) {}
  PrivateRows(const PrivateRows&) = delete;
  PrivateRows& operator=(const PrivateRows&) = delete;

  // Adds a copy of a live row and returns its index in the block.
  uint32_t Add(Row row);
  // Adds a copy of row `index` of other private rows over the same table, and returns its index in
  // the block.
  uint32_t AddCopy(const PrivateRows& other, uint32_t index);
  // Adds a pod to row `index`. The pod may be pending, or on another node.
  void AddPod(uint32_t index, const berth_pod& pod);
  // Removes a pod from row `index`. Returns false when the pod is not there.
  bool RemovePod(uint32_t index, const berth_pod& pod);

  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  std::span<const uint32_t> rows() const { return rows_; }
  std::span<const berth_node* const> node_views() const { return nodes_; }
  std::span<const berth_pod_list> pod_lists() const { return pod_lists_; }
  // Returns the column's values for these rows. Lifetime: until the next Add or AddCopy; AddPod and
  // RemovePod change the values in place.
  const void* ColumnData(ColumnIndex column);

 private:
  struct Delta {
    uint32_t index;
    int64_t sign;
    const berth_pod* pod;
  };
  struct Copy {
    ColumnIndex column;
    ColumnStorage storage;
  };

  uint32_t Append(uint32_t row, const berth_node* node, const berth_pod_list& pods);
  // Gives row `index` a pod list of its own.
  std::vector<const berth_pod*>& OwnPods(uint32_t index);
  // Applies the last change of row `index` to the values of columns that exist.
  void UpdateColumns(uint32_t index, int64_t sign, const berth_pod& pod);
  // Applies one change to a sum over the pods of its row. A sum at its limit becomes the sum over
  // the pods that the row has now.
  void Apply(const ColumnSpec& spec, const Delta& delta, int64_t& value) const;
  // Applies all changes to the values of the table.
  void ApplyDeltas(const ColumnSpec& spec, ColumnStorage& values) const;

  const NodeTable& table_;
  std::vector<uint32_t> rows_;
  std::vector<const berth_node*> nodes_;
  std::vector<berth_pod_list> pod_lists_;  // A row that never changed has the list of the table.
  std::vector<std::unique_ptr<std::vector<const berth_pod*>>> own_pods_;  // Null: never changed.
  std::vector<Delta> deltas_;
  std::vector<Copy> copies_;  // Cleared when a row is added.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_PRIVATE_ROWS_H_
