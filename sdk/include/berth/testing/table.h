// Nodes and the pods on them, and blocks of them for Filter and Score.
#ifndef BERTH_TESTING_TABLE_H_
#define BERTH_TESTING_TABLE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/views.h>

namespace berth::testing {

struct Row {
  uint32_t number;  // the value in berth_block.rows
  NodeHandle node;
  std::vector<PodHandle> pods;
};

// A value: a copy with one more pod represents a cluster with one more pod.
struct Table {
  std::vector<Row> rows;  // by ascending number
  Ids* ids = nullptr;
  std::vector<ObjectHandle> objects = {};
  std::set<std::string> not_served = {};  // kinds, each with one version
  std::vector<PodHandle> pending = {};    // pods without a node

  // Adds a node, and the pods on it, on the lowest row that has no node.
  Row& Add(const NodeSpec& node);
  // Returns NULL if there is no such node.
  Row* Find(std::string_view node);
};

// Returns the kind with the first version of `declared` that is served; empty if none is.
std::string UsedKind(std::string_view declared, const std::set<std::string>& not_served);

// Returns the object of a kind with one version; NULL if there is none.
const ObjectHandle* FindObject(const std::vector<ObjectHandle>& objects, std::string_view kind,
                               std::string_view ns, std::string_view name);

// Returns the declared kind of a column "object:<kind>"; empty for another column.
std::string_view ObjectKindOf(std::string_view column);

// Returns the type (BERTH_TYPE_*) of a column of the catalogue in abi.h; 0 for a name that is not
// in it.
uint32_t ColumnType(std::string_view given);

uint32_t ColumnSize(uint32_t type);

// Writes the values of one column.
//
// Lifetime: the table must outlive it.
class CellWriter {
 public:
  CellWriter(std::string_view column, const Table& table);

  uint32_t type() const { return type_; }  // see ColumnType()
  // Writes the value of a row: ColumnSize bytes. REQUIRES: type() is not 0.
  void Write(const Row& row, void* to) const { write_(row, to); }

 private:
  uint32_t type_;
  std::function<void(const Row&, void*)> write_;
};

// The memory layout of a block. Results must not depend on it.
struct Layout {
  uint32_t shift = 0;        // elements before the first element of a column
  uint32_t padding = 0;      // elements between two elements of a column
  bool no_optional = false;  // columns with BERTH_COLUMN_OPTIONAL have no data
  bool hollow = false;       // indices that are not selected have no node, and random values
  uint8_t poison = 0xa5;     // the content of outputs before the call
};

struct ColumnName {
  std::string name;
  bool optional = false;
  bool is_declared = true;  // false: of a kind that the plugin did not declare; it has no data
};

// A block over rows of a table, in its own memory. The table must outlive it.
class Block {
 public:
  // `rows` are indices into table.rows, in any order; they may repeat. `selected`: NULL for all.
  Block(const Table& table, const std::vector<ColumnName>& columns, std::vector<uint32_t> rows,
        const std::vector<uint32_t>* selected, Layout layout);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const Table& table() const { return table_; }
  const berth_block& view() const { return view_; }
  uint32_t count() const { return view_.count; }
  uint32_t index(uint32_t i) const { return indices_[i]; }  // into table.rows
  bool is_selected(uint32_t i) const { return is_selected_[i]; }
  uint8_t poison() const { return layout_.poison; }
  std::string NodeName(uint32_t i) const { return table_.rows[indices_[i]].node.name(); }

 private:
  bool is_hollow(uint32_t i) const { return layout_.hollow && !is_selected_[i]; }

  void AddNode(uint32_t i);

  berth_column MakeColumn(const ColumnName& column);

  const Table& table_;
  internal::ViewMemory memory_;
  std::vector<uint32_t> indices_;
  std::vector<uint32_t> numbers_;
  std::vector<uint32_t> selected_;
  std::vector<bool> is_selected_;
  std::vector<const berth_node*> nodes_;
  std::vector<uint64_t> versions_;
  std::vector<berth_pod_list> pods_;
  std::vector<berth_column> columns_;
  Layout layout_;
  berth_block view_{};
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_TABLE_H_
