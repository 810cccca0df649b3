// The node table: one row for every node of the cluster, and one column for every fact about nodes.
//
// Between two cluster events the table is the snapshot: cycles read its arrays in place, and
// nothing is copied. Applying a change updates one row. A node has no second representation: the
// sums over its pods exist as columns only.
#ifndef BERTH_HOST_CACHE_NODE_TABLE_H_
#define BERTH_HOST_CACHE_NODE_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/positions.h>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cache/column.h"
#include "host/cache/object_store.h"

namespace berth::host {

// --- row journal ---------------------------------------------------------------------------------
//
// The rows that changed last, in the order of their changes.

// A ring of the last changes, which are numbered from 1. A reader that knows the state after some
// change reads only what changed since, so that its work follows the number of changes, not the
// number of rows.
//
// Threading: one thread.
class RowJournal {
 public:
  // `capacity`: the number of changes that it keeps, at four bytes each; 1 or more.
  explicit RowJournal(size_t capacity) : capacity_(capacity) { BERTH_ASSERT(capacity > 0); }

  // Records the next change.
  void Add(uint32_t row) {
    ++last_;
    if (rows_.size() < capacity_) {
      rows_.push_back(row);
    } else {
      rows_[Index(last_)] = row;
    }
  }

  // The number of the last change; 0 before the first.
  uint64_t last() const { return last_; }
  // Returns whether all changes after change `number` are still in the ring.
  bool Covers(uint64_t number) const { return number + rows_.size() >= last_; }

  // Calls each(row) for every change after change `number`, in order. A row that changed several
  // times is passed several times. REQUIRES: Covers(number).
  template <class Each>
  void ForEachSince(uint64_t number, Each&& each) const {
    BERTH_ASSERT(Covers(number));
    for (uint64_t change = number + 1; change <= last_; ++change) each(rows_[Index(change)]);
  }

  size_t bytes() const { return rows_.capacity() * sizeof(uint32_t); }

 private:
  size_t Index(uint64_t change) const { return static_cast<size_t>((change - 1) % capacity_); }

  size_t capacity_;
  std::vector<uint32_t> rows_;
  uint64_t last_ = 0;
};

// --- row pods ------------------------------------------------------------------------------------
//
// The pods on one row of the node table.

// References to the pods, and their views as blocks need them. Both are in one block of memory,
// because a cluster has many rows.
// Lifetime: spans are valid until the next change.
class RowPods {
 public:
  RowPods() = default;
  ~RowPods() {
    std::destroy_n(refs_, count_);
    ::operator delete(refs_);
  }
  RowPods(const RowPods&) = delete;
  RowPods& operator=(const RowPods&) = delete;
  RowPods(RowPods&& other) noexcept
      : refs_(std::exchange(other.refs_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  RowPods& operator=(RowPods&& other) noexcept {
    RowPods moved(std::move(other));
    std::swap(refs_, moved.refs_);
    std::swap(count_, moved.count_);
    std::swap(capacity_, moved.capacity_);
    return *this;
  }

  bool empty() const { return count_ == 0; }
  std::span<const PodRef> refs() const { return {refs_, count_}; }
  std::span<const berth_pod* const> views() const { return {Views(), count_}; }

  // REQUIRES: the pod is not null.
  void Add(PodRef pod) {
    if (count_ == capacity_) Grow();
    Views()[count_] = &pod->view();
    std::construct_at(refs_ + count_, std::move(pod));
    ++count_;
  }

  // Removes the pod with this view, and returns it. The last pod takes its place.
  // REQUIRES: the pod is on the row.
  PodRef Remove(const berth_pod* view) {
    const auto index = static_cast<uint32_t>(std::ranges::find(views(), view) - views().begin());
    BERTH_ASSERT_MSG(index < count_, "pod is not on the row");
    PodRef removed = std::move(refs_[index]);
    --count_;
    refs_[index] = std::move(refs_[count_]);
    Views()[index] = Views()[count_];
    std::destroy_at(refs_ + count_);
    return removed;
  }

 private:
  // The views follow the references.
  const berth_pod** Views() const { return reinterpret_cast<const berth_pod**>(refs_ + capacity_); }

  // Makes room for half as many pods again, at least for one more.
  void Grow() {
    static_assert(alignof(PodRef) >= alignof(const berth_pod*));
    RowPods grown;
    grown.capacity_ = capacity_ + std::max<uint32_t>(1, capacity_ / 2);
    grown.refs_ = static_cast<PodRef*>(
        ::operator new(grown.capacity_*(sizeof(PodRef) + sizeof(const berth_pod*))));
    std::uninitialized_move_n(refs_, count_, grown.refs_);
    std::copy_n(Views(), count_, grown.Views());
    grown.count_ = count_;
    *this = std::move(grown);
  }

  PodRef* refs_ = nullptr;  // Room for capacity_ references and as many views.
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
};

// --- node table ----------------------------------------------------------------------------------

// The number of a node's row. It is stable while the node exists, and reused only after the node is
// gone.
using Row = uint32_t;
inline constexpr Row kNoRow = UINT32_MAX;

// The number of a column. It is stable while the column is pinned, otherwise until
// DropIdleColumns().
using ColumnIndex = uint32_t;

// The arrays from which blocks are cut; an element of each is a row.
struct RowArrays {
  std::span<const uint32_t> rows;            // berth_block.rows
  std::span<const berth_node* const> nodes;  // Null where the row is not live.
  std::span<const berth_pod_list> pods;
  std::span<const uint64_t> versions;  // berth_block.versions
};

// The rows, the columns, and the pods on each row.
//
// A row may have no node object: pods name a node that has not been added yet, or that was deleted
// while pods remain. Such a row is not live: cycles ignore it.
//
// Threading: the scheduling thread. While workers filter or score blocks, they read the table and
// no thread writes to it.
// Lifetime: pointers into the table are valid until the next change of the row, or of the set of
// rows; those to columns until any change.
class NodeTable {
 public:
  // More changes than there are between two decisions, except after a pause.
  static constexpr size_t kJournalChanges = 4096;

  // `objects` has the objects of columns "object:<kind>", and must outlive the table. If it is
  // null, these columns have no objects.
  // `journal_changes`: the number of changes that RowsChangedSince() need not search for.
  explicit NodeTable(Interner& interner, ObjectStore* objects = nullptr,
                     size_t journal_changes = kJournalChanges)
      : interner_(interner), objects_(objects), journal_(journal_changes) {}
  ~NodeTable();
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  // --- nodes ---
  // Adds the node, sets the node of a row that has none, or replaces the object of its live row.
  Row SetNode(NodeRef node);
  // Removes the node object. The row stays, without a node, while pods are on it. Returns kNoRow if
  // there is no such node.
  Row RemoveNode(std::string_view name);

  // --- pods ---
  // Returns the row of the node named `name`, live or not. Creates a row without a node if there is
  // none.
  Row RowForPodsOf(std::string_view name);
  void AddPod(Row row, PodRef pod);
  // Removes the pod. When the last pod of a row without a node is removed, the row is released.
  // REQUIRES: this pod object is on the row.
  void RemovePod(Row row, const berth_pod* pod);

  // --- rows ---
  uint32_t row_count() const { return static_cast<uint32_t>(nodes_.size()); }
  uint32_t node_count() const { return node_count_; }
  bool IsLive(Row row) const { return nodes_[row] != nullptr; }
  // Returns the row of a live node; kNoRow otherwise.
  Row FindNode(std::string_view name) const;
  const NodeRef& node(Row row) const { return node_refs_[row]; }
  std::span<const PodRef> pods(Row row) const { return pods_[row].refs(); }
  // Returns a number that increases with every change of the row and is never equal for two states
  // of the table. A change of an object that a column has for the row is a change of the row.
  uint64_t Generation(Row row) const { return generations_[row]; }
  uint64_t generation() const { return generation_; }
  // Replaces `rows` by the rows that changed after the table had this generation, ascending and
  // without duplicates. Rows that are not live are among them.
  // Cost: O(changes); O(rows) if there were too many changes for the journal, or so many that a
  // search of all rows is faster.
  void RowsChangedSince(uint64_t generation, std::vector<Row>& rows) const;
  // Returns a number that increases when the set of live rows changes.
  uint64_t node_set_generation() const { return node_set_generation_; }

  // --- arrays for blocks ---
  RowArrays arrays() const { return {row_numbers_, nodes_, pod_lists_, node_versions_}; }

  // --- columns ---
  // Returns the column of that name, and builds it on first use. To build a column of objects again
  // after it was dropped is a change of every live row, because the objects may have changed
  // meanwhile. Errors: NotFound, see ColumnSpec::Parse.
  Result<ColumnIndex> ColumnFor(std::string_view name);
  const ColumnSpec& column_spec(ColumnIndex column) const { return columns_[column]->spec; }
  // Returns the address of row 0's value; the other values follow spec.width() bytes apart.
  const void* column_data(ColumnIndex column) const {
    const ColumnStorage& storage = columns_[column]->storage;
    return storage.empty() ? zeros_.At(0) : storage.At(0);
  }
  // Pins and unpins a column. Pins are counted; a pinned column is never dropped.
  void PinColumn(ColumnIndex column);
  void UnpinColumn(ColumnIndex column);
  // Drops columns that are not pinned, the least recently used first, until they hold at most
  // `bytes` and there are at most `count` of them. Costs nothing if they are within these limits.
  // Must not: be called within a cycle.
  void DropIdleColumns(size_t bytes, size_t count = SIZE_MAX);
  size_t column_count() const { return column_by_name_.size(); }
  // Calls each(column, spec) for every existing column.
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
    // Empty if all values are 0: those of a resource that no node has, or that no pod asks for. A
    // pod with thousands of such resources takes no memory for each node.
    ColumnStorage storage;
    uint32_t pins = 0;
    uint64_t last_use = 0;
    ObjectStore::WatcherId watcher = 0;  // Watches the objects of the column; 0: it has none.
  };

  // Returns the row with this name, live or not; kNoRow if there is none.
  Row RowOf(std::string_view name) const;
  Row NewRow(std::string_view name);
  void ReleaseRow(Row row);
  void BumpGeneration(Row row) {
    generations_[row] = ++generation_;
    journal_.Add(row);  // As change number generation_.
  }
  void BumpLiveRows();
  void WriteNodeColumns(Row row);
  void ClearNodeColumns(Row row);
  void AddToPodColumns(Row row, const berth_pod& pod);
  // REQUIRES: the pod is no longer in pods_[row].
  void RemoveFromPodColumns(Row row, const berth_pod& pod);
  void FillColumn(Column& column);
  // Returns whether all values are 0: it is a column of a resource that no live node lists, or of
  // the requests for one that no pod on a row has.
  bool IsZero(const ColumnSpec& spec) const;
  // Gives memory to a column, before its first value that is not 0.
  void Materialize(Column& column);
  // Writes the value of a live row. REQUIRES: the column is not a sum over pods.
  void WriteNodeValue(Column& column, Row row);
  // Keeps a column of objects up to date from now on.
  void WatchObjects(Column& column);
  void UnwatchObjects(Column& column);
  void OnObjectChange(Column& column, const ObjectChange& change);
  // Adds an unpinned column to the totals of idle columns, or removes it from them.
  void AddIdle(const Column& column);
  void RemoveIdle(const Column& column);

  Interner& interner_;
  ObjectStore* const objects_;
  std::vector<const berth_node*> nodes_;
  std::vector<NodeRef> node_refs_;
  std::vector<Id> names_;  // Each holds a reference.
  std::vector<RowPods> pods_;
  std::vector<berth_pod_list> pod_lists_;
  std::vector<uint32_t> row_numbers_;
  std::vector<uint64_t> generations_;
  // The generation of the row when its node was set; 0 if it is not live.
  std::vector<uint64_t> node_versions_;
  RowJournal journal_;
  std::vector<Row> free_rows_;  // A heap with the lowest row first.
  // By the ids of the names, because the texts of many names need much memory.
  std::unordered_map<Id, Row> row_by_name_;
  std::vector<std::unique_ptr<Column>> columns_;  // Null for dropped columns.
  std::vector<ColumnIndex> free_columns_;         // The dropped ones.
  // How many pods on rows account for a resource, and how many live rows have it, other than cpu,
  // memory and ephemeral storage. The pods and nodes keep the ids.
  std::unordered_map<Id, uint32_t> pods_by_scalar_;
  std::unordered_map<Id, uint32_t> nodes_by_scalar_;
  ColumnStorage zeros_{sizeof(int64_t)};  // The values of columns without memory.
  std::unordered_map<std::string_view, ColumnIndex> column_by_name_;  // By ColumnSpec::name().
  std::set<std::string, std::less<>> dropped_object_columns_;         // By name.
  uint32_t node_count_ = 0;
  uint64_t generation_ = 0;
  uint64_t node_set_generation_ = 0;
  uint64_t uses_ = 0;
  // Totals of the columns that are not pinned.
  size_t idle_bytes_ = 0;
  size_t idle_count_ = 0;
};

// --- private rows --------------------------------------------------------------------------------
//
// Private rows: nodes as they would be with other pods on them.
//
// Filter and Score read everything about a node through a block. Private rows form a block whose
// nodes are copies with pods added or removed, so that what-if questions (with nominated pods
// added, or with preemption victims removed) run the same plugin code without changing the table.

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
  RowArrays arrays() const { return {rows_, nodes_, pod_lists_, node_versions_}; }
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

  uint32_t Append(uint32_t row, const berth_node* node, uint64_t version,
                  const berth_pod_list& pods);
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
  std::vector<uint64_t> node_versions_;
  std::vector<berth_pod_list> pod_lists_;  // A row that never changed has the list of the table.
  std::vector<std::unique_ptr<std::vector<const berth_pod*>>> own_pods_;  // Null: never changed.
  std::vector<Delta> deltas_;
  std::vector<Copy> copies_;            // Cleared when a row is added.
  Positions<ColumnIndex> copy_places_;  // The elements of copies_.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_NODE_TABLE_H_
