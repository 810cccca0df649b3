// The node table: every node of the cluster as one row, every fact about nodes as one column.
//
// Between two cluster events the table is the snapshot: cycles read its arrays where they lie, and
// nothing is copied. A change costs one row. There is no second representation of a node: the sums
// over its pods exist as columns only.
#ifndef BERTH_HOST_CACHE_NODE_TABLE_H_
#define BERTH_HOST_CACHE_NODE_TABLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cache/column.h"

namespace berth::host {

// A node's number: stable while the node lives, given out again only after it is gone.
using Row = uint32_t;
inline constexpr Row kNoRow = UINT32_MAX;

// A column's number: stable while the column is pinned or until DropIdleColumns().
using ColumnIndex = uint32_t;

// Rows, columns, and the pods on rows.
//
// A row without a node object is a ghost: pods name a node that has not appeared yet, or that was
// deleted while pods remain. Ghosts are not live: no cycle sees them.
//
// Threading: the scheduling thread. While blocks are filtered or scored by workers, they read and
// nobody writes.
// Lifetime: pointers into the table hold until the next change of the row, or of the set of rows.
class NodeTable {
 public:
  explicit NodeTable(Interner& interner) : interner_(interner) {}
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  // --- nodes ---
  // Adds the node, gives a ghost its node, or replaces the object of a live row.
  Row SetNode(NodeRef node);
  // Takes the node object away. The row stays as a ghost while pods are on it. kNoRow: no such
  // node.
  Row RemoveNode(std::string_view name);

  // --- pods ---
  // The row of the node named `name`, live, ghost, or made as a ghost now.
  Row RowForPodsOf(std::string_view name);
  void AddPod(Row row, PodRef pod);
  // REQUIRES: the pod, this very object, is on the row. A ghost's last pod takes the row along.
  void RemovePod(Row row, const berth_pod* pod);

  // --- rows ---
  uint32_t row_count() const { return static_cast<uint32_t>(nodes_.size()); }
  uint32_t node_count() const { return node_count_; }
  bool IsLive(Row row) const { return nodes_[row] != nullptr; }
  // The row of a live node; kNoRow otherwise.
  Row FindNode(std::string_view name) const;
  const NodeRef& node(Row row) const { return node_refs_[row]; }
  std::span<const PodRef> pods(Row row) const { return pod_refs_[row]; }
  // Grows with every change of the row; never equal for two states of the table.
  uint64_t Generation(Row row) const { return generations_[row]; }
  uint64_t generation() const { return generation_; }
  // Grows when the set of live rows changes.
  uint64_t shape() const { return shape_; }

  // --- what blocks are made of ---
  // By row; null where the row is not live.
  std::span<const berth_node* const> node_views() const { return nodes_; }
  std::span<const berth_pod_list> pod_lists() const { return pod_lists_; }
  // 0, 1, 2, ...: the row numbers themselves, for berth_block.rows.
  std::span<const uint32_t> row_numbers() const { return row_numbers_; }

  // --- columns ---
  // The column of that name, built on first use. Errors: NotFound, see ColumnSpec::Parse.
  Result<ColumnIndex> ColumnFor(std::string_view name);
  const ColumnSpec& column_spec(ColumnIndex column) const { return columns_[column]->spec; }
  // The value of row 0; others follow spec.width() bytes apart.
  const void* column_data(ColumnIndex column) const { return columns_[column]->storage.At(0); }
  // A pinned column is never dropped. Counted.
  void PinColumn(ColumnIndex column);
  void UnpinColumn(ColumnIndex column);
  // Drops columns that nobody pins, the longest unused first, until they hold at most `bytes` and
  // are at most `count`. Costs nothing while they do.
  // Must not: be called within a cycle.
  void DropIdleColumns(size_t bytes, size_t count = SIZE_MAX);
  size_t column_count() const { return column_by_name_.size(); }
  // Calls each(column, spec) for every column that there is.
  template <class F>
  void ForEachColumn(F&& each) const {
    for (ColumnIndex column = 0; column < columns_.size(); ++column) {
      if (columns_[column] != nullptr) each(column, columns_[column]->spec);
    }
  }

 private:
  struct Column {
    explicit Column(ColumnSpec column_spec) : spec(std::move(column_spec)), storage(spec.width()) {}
    ColumnSpec spec;
    ColumnStorage storage;
    uint32_t pins = 0;
    uint64_t last_use = 0;
  };

  Row NewRow(std::string_view name);
  void ReleaseRow(Row row);
  void Touch(Row row) { generations_[row] = ++generation_; }
  void WriteNodeColumns(Row row);
  void ClearNodeColumns(Row row);
  void AddToPodColumns(Row row, const berth_pod& pod, int64_t sign);
  void FillColumn(Column& column);
  // A column counts as idle from now on, or does no longer.
  void AddIdle(const Column& column);
  void RemoveIdle(const Column& column);

  Interner& interner_;
  std::vector<const berth_node*> nodes_;
  std::vector<NodeRef> node_refs_;
  std::vector<std::string> names_;
  std::vector<std::vector<PodRef>> pod_refs_;
  std::vector<std::vector<const berth_pod*>> pod_views_;
  std::vector<berth_pod_list> pod_lists_;
  std::vector<uint32_t> row_numbers_;
  std::vector<uint64_t> generations_;
  std::vector<Row> free_rows_;  // A heap, the lowest first.
  StringMap<Row> row_by_name_;
  std::vector<std::unique_ptr<Column>> columns_;  // Null where dropped.
  StringMap<ColumnIndex> column_by_name_;
  uint32_t node_count_ = 0;
  uint64_t generation_ = 0;
  uint64_t shape_ = 0;
  uint64_t uses_ = 0;
  // Of the columns that nobody pins.
  size_t idle_bytes_ = 0;
  size_t idle_count_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_NODE_TABLE_H_
