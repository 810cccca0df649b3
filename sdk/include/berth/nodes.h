// Nodes in blocks: the nodes that Filter and Score evaluate and that PreFilter and PreScore may
// visit.
#ifndef BERTH_NODES_H_
#define BERTH_NODES_H_

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <berth/abi.h>
#include <berth/columns.h>
#include <berth/internal/fail.h>
#include <berth/pod.h>
#include <berth/span.h>

namespace berth {

class Cycle;

namespace internal {

// Throws the error of an index without a node.
[[noreturn, gnu::cold, gnu::noinline]] inline void FailNoNode(const berth_block& block,
                                                              uint32_t i) {
  FailBug(
      "index " + std::to_string(i) + " of a block of " + std::to_string(block.count) + " nodes " +
      (i < block.count ? "has no node; only a selected index always has one" : "is out of range"));
}

}  // namespace internal

// A column whose name depends on the pod, bound in PreFilter or PreScore (see Cycle::Bind) and
// valid until the cycle ends. Keep it in the State. T is int64_t, uint32_t, uint8_t, or berth_array
// for an array; label columns are uint32_t (berth_id), annotations are berth_str, and objects are
// const berth_object*.
template <class T>
class ColumnRef {
 public:
  ColumnRef() = default;
  // False if the column is not bound: every value is then 0.
  explicit operator bool() const { return index_ != kUnbound; }

 private:
  friend class Cycle;
  friend class RawBlock;
  static constexpr uint32_t kUnbound = ~uint32_t{0};

  explicit ColumnRef(uint32_t index) : index_(index) {}

  uint32_t index_ = kUnbound;
};

// A block without the types of its columns: views, pods and rows by index, and columns bound at run
// time. A block may hold what-if rows, so read everything about node i from here.
class RawBlock {
 public:
  explicit RawBlock(const berth_block& block) : block_(&block) {}

  const berth_block& abi() const { return *block_; }
  // Returns the number of nodes in the block, selected or not. Indices are less than it.
  uint32_t size() const { return block_->count; }
  uint32_t selected_count() const { return block_->n_selected; }
  // Returns whether there is a node at index i. A selected index always has a node; another one, or
  // one that is out of range, may have none.
  bool HasNode(uint32_t i) const { return i < block_->count && block_->nodes[i] != nullptr; }
  // Return the node, its pods and its row; the row is valid only in [cycle] and [block].
  // Errors: throw a std::logic_error if HasNode(i) is false.
  NodeView View(uint32_t i) const {
    RequireNode(i);
    return *block_->nodes[i];
  }
  std::span<const berth_pod* const> Pods(uint32_t i) const {
    RequireNode(i);
    return {block_->pods[i].data, block_->pods[i].count};
  }
  uint32_t Row(uint32_t i) const {
    RequireNode(i);
    return block_->rows[i];
  }
  // Returns the value of a column. REQUIRES: HasNode(i). It is not tested in a release build,
  // because this is called for each node.
  template <class T>
  T Get(ColumnRef<T> ref, uint32_t i) const {
    if (ref.index_ == ColumnRef<T>::kUnbound) return T{};
    assert(ref.index_ < block_->n_columns && i < block_->count);
    const berth_column& column = block_->columns[ref.index_];
    return *reinterpret_cast<const T*>(static_cast<const char*>(column.data) +
                                       static_cast<uint64_t>(i) * column.stride);
  }
  // Calls `each(i)` for every selected node, in ascending order.
  template <class F>
  void ForEachIndex(F&& each) const {
    const uint32_t* const selected = block_->selected;
    const uint32_t count = block_->n_selected;
    if (selected == nullptr) {
      for (uint32_t i = 0; i < count; ++i) each(i);
    } else {
      for (uint32_t k = 0; k < count; ++k) each(selected[k]);
    }
  }

 protected:
  void RequireNode(uint32_t i) const {
    if (!HasNode(i)) [[unlikely]]
      internal::FailNoNode(*block_, i);
  }

 private:
  const berth_block* block_;
};

namespace internal {

// The data of an absent optional column, read with stride 0.
alignas(16) inline constexpr unsigned char kZeros[64] = {};

// The addresses and strides of a plugin's columns in one block.
template <class C>
struct ColumnTable {
  std::array<const char*, C::kCount> data;
  std::array<uint32_t, C::kCount> strides;

  explicit ColumnTable(const berth_block& block) {
    for (std::size_t i = 0; i < C::kCount; ++i) {
      const berth_column& column = block.columns[i];
      const bool there = column.data != nullptr;
      data[i] =
          there ? static_cast<const char*>(column.data) : reinterpret_cast<const char*>(kZeros);
      strides[i] = there ? column.stride : 0;
    }
  }
  bool Packed() const { return strides == C::kStrides; }
};

}  // namespace internal

template <class C>
class Block;

// One node of a block, for a plugin with columns C.
//
//   node[berth::AllocCpu{}]   the value of a column: one array load
//   node.Get(state.gpus)      the value of a column that was bound in PreFilter or PreScore
//   node.view(), node.pods()  the node object, the pods on it
template <class C>
class NodeRow {
 public:
  template <class Wanted>
  decltype(auto) operator[](Wanted /*column*/) const {
    constexpr std::size_t kIndex = C::template kIndex<Wanted>;
    static_assert(kIndex < C::kCount,
                  "node[column]: the column is not one of the plugin's Columns");
    using Stored = typename Wanted::Stored;
    return Wanted::Read(*reinterpret_cast<const Stored*>(
        columns_.data[kIndex] + static_cast<uint64_t>(index_) * columns_.strides[kIndex]));
  }
  template <class T>
  T Get(ColumnRef<T> ref) const {
    return block_.Get(ref, index_);
  }
  // The index of a row has been tested, or is selected, so that there are no more tests here.
  NodeView view() const { return *block_.abi().nodes[index_]; }
  std::span<const berth_pod* const> pods() const {
    const berth_pod_list& pods = block_.abi().pods[index_];
    return {pods.data, pods.count};
  }
  uint32_t row() const { return block_.abi().rows[index_]; }
  // Returns a number that changes with every change of the node's object: see berth_block.versions.
  uint64_t version() const { return block_.abi().versions[index_]; }
  // Returns the node's index in the block.
  uint32_t index() const { return index_; }

 private:
  friend class Block<C>;
  NodeRow(RawBlock block, const internal::ColumnTable<C>& columns)
      : block_(block), columns_(columns) {}

  RawBlock block_;
  internal::ColumnTable<C> columns_;
  uint32_t index_ = 0;
};

// A block for a plugin with columns C, for methods with their own loop.
template <class C>
class Block : public RawBlock {
 public:
  explicit Block(const berth_block& block) : RawBlock(block), columns_(block) {}

  // Returns node i, selected or not. The row holds the addresses of all columns, so that it may
  // outlive this object. A loop over the selected nodes costs less with ForEach(), which tests no
  // index, and a loop that reads one column costs less with Column().
  // Errors: throws a std::logic_error if HasNode(i) is false.
  NodeRow<C> operator[](uint32_t i) const {
    RequireNode(i);
    NodeRow<C> node(*this, columns_);
    node.index_ = i;
    return node;
  }
  // Returns false for an optional column that this host does not have.
  template <class Wanted>
  bool Has() const {
    return abi().columns[C::template kIndex<Wanted>].data != nullptr;
  }
  // Returns one column over the whole block.
  template <class Wanted>
  Span<const typename Wanted::Stored> Column() const {
    constexpr std::size_t kIndex = C::template kIndex<Wanted>;
    static_assert(kIndex < C::kCount, "Column<>(): the column is not one of the plugin's Columns");
    return {columns_.data[kIndex], size(), columns_.strides[kIndex]};
  }
  // Calls `each(node)` for every selected node, in ascending order.
  template <class F>
  void ForEach(F&& each) const {
    // There are two loops so that the strides are constants in the common case.
    if (columns_.Packed()) {
      internal::ColumnTable<C> columns = columns_;
      columns.strides = C::kStrides;
      Loop(columns, each);
    } else {
      Loop(columns_, each);
    }
  }

 private:
  template <class F>
  void Loop(const internal::ColumnTable<C>& columns, F& each) const {
    NodeRow<C> node(*this, columns);
    ForEachIndex([&](uint32_t i) {
      node.index_ = i;
      each(static_cast<const NodeRow<C>&>(node));
    });
  }

  internal::ColumnTable<C> columns_;
};

namespace internal {

// Adds the number of an object to a hash, as the finalizer of SplitMix64 mixes bits.
constexpr uint64_t MixVersion(uint64_t hash, uint64_t version) {
  hash = (hash ^ version) + 0x9e3779b97f4a7c15;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return hash ^ hash >> 31;
}

}  // namespace internal

// All nodes, or all feasible nodes.
//
// Threading: [cycle].
// Lifetime:  until the call that passed it returns.
class Nodes {
 public:
  explicit Nodes(const berth_nodes& nodes) : nodes_(&nodes) {}

  uint64_t size() const { return nodes_->n_nodes; }
  uint32_t block_count() const { return nodes_->n_blocks; }
  // Returns a block. Lifetime: until the next call of BlockAt.
  // Errors: throws a std::logic_error if `index` is block_count() or more.
  template <class C>
  Block<C> BlockAt(uint32_t index) const {
    const berth_block* const block = nodes_->block(nodes_, index);
    if (block == nullptr) [[unlikely]] {
      internal::FailBug("block " + std::to_string(index) + " of " + std::to_string(block_count()) +
                        " is out of range");
    }
    return Block<C>(*block);
  }
  template <class C, class F>
  void ForEachBlock(F&& each) const {
    for (uint32_t b = 0; b < block_count(); ++b) each(BlockAt<C>(b));
  }
  // Calls `each(node)` for every node, in the order of the rows.
  template <class C, class F>
  void ForEach(F&& each) const {
    for (uint32_t b = 0; b < block_count(); ++b) BlockAt<C>(b).ForEach(each);
  }
  // Returns a hash of the nodes and their objects in the order of the rows. Two calls of one
  // instance get the same hash if the list and the objects in it are the same, and otherwise
  // different ones, but for one case in 2^64. The pods on the nodes do not change it.
  // It ends the life of the block that BlockAt returned last. Cost: O(nodes), a nanosecond each.
  uint64_t Version() const {
    uint64_t hash = size();
    for (uint32_t b = 0; b < block_count(); ++b) {
      const berth_block& block = *nodes_->block(nodes_, b);
      for (uint32_t k = 0; k < block.n_selected; ++k) {
        const uint32_t i = block.selected == nullptr ? k : block.selected[k];
        hash = internal::MixVersion(hash, block.versions[i]);
      }
    }
    return hash;
  }
  const berth_nodes& abi() const { return *nodes_; }

 private:
  const berth_nodes* nodes_;
};

}  // namespace berth

#endif  // BERTH_NODES_H_
