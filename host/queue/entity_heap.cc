#include "host/queue/entity_heap.h"

#include <algorithm>
#include <cstring>

#include "host/base/assert.h"
#include "host/base/vectors.h"

namespace berth::host {
namespace {

constexpr size_t kChildren = 4;

size_t ParentOf(size_t index) { return (index - 1) / kChildren; }

}  // namespace

void EntityHeap::Push(QueueEntry& entry, int64_t window) {
  BERTH_ASSERT_MSG(!Contains(entry), "the entity is already in this heap");
  const Node node = MakeNode(entry, window);
  ReserveOneMore(nodes_);
  nodes_.emplace_back();
  SiftUp(nodes_.size() - 1, node);
}

// Moves the free slot down to a leaf and then sifts the last node up from there. The last node is
// usually large and stays near the leaf, so this needs fewer comparisons than sifting it down from
// the removed slot.
void EntityHeap::Remove(QueueEntry& entry) {
  BERTH_ASSERT(Contains(entry));
  const Node last = nodes_.back();
  nodes_.pop_back();
  if (last.entry == &entry) return;
  size_t hole = entry.index;
  for (size_t child = FirstChild(hole); child < nodes_.size(); child = FirstChild(hole)) {
    Place(hole, nodes_[child]);
    hole = child;
  }
  SiftUp(hole, last);
}

void EntityHeap::Update(QueueEntry& entry) {
  BERTH_ASSERT(Contains(entry));
  const size_t index = entry.index;
  const Node node = MakeNode(entry, nodes_[index].window);
  if (index > 0 && Before(node, nodes_[ParentOf(index)])) {
    SiftUp(index, node);
  } else {
    SiftDown(index, node);
  }
}

void EntityHeap::Rebuild() {
  has_key_ = order_.has_key();
  for (Node& node : nodes_) node = MakeNode(*node.entry, node.window);
  for (size_t i = nodes_.size(); i-- > 0;) {
    const Node node = nodes_[i];
    SiftDown(i, node);
  }
}

void EntityHeap::TakeAll(std::vector<QueueEntry*>& entries) {
  for (const Node& node : nodes_) entries.push_back(node.entry);
  nodes_ = {};
}

EntityHeap::Node EntityHeap::MakeNode(QueueEntry& entry, int64_t window) const {
  Node node{.window = window, .sequence = entry.sequence, .entry = &entry};
  if (!has_key_) return node;
  const SortKey bytes = order_.KeyOf(entry.entity.View());
  std::memcpy(node.key.data(), bytes.data(), bytes.size());
  for (uint64_t& word : node.key) word = __builtin_bswap64(word);
  return node;
}

bool EntityHeap::Before(const Node& a, const Node& b) const {
  return a.window != b.window ? a.window < b.window : EqualWindowBefore(a, b);
}

bool EntityHeap::EqualWindowBefore(const Node& a, const Node& b) const {
  if (!has_key_) {
    const berth_queued left = a.entry->entity.View();
    const berth_queued right = b.entry->entity.View();
    if (order_.Less(left, right)) return true;
    return !order_.Less(right, left) && a.sequence < b.sequence;
  }
  for (size_t i = 0; i < a.key.size(); ++i) {
    if (a.key[i] != b.key[i]) return a.key[i] < b.key[i];
  }
  return a.sequence < b.sequence;
}

void EntityHeap::Place(size_t index, const Node& node) {
  nodes_[index] = node;
  node.entry->index = static_cast<uint32_t>(index);
}

void EntityHeap::SiftUp(size_t index, const Node& node) {
  while (index > 0 && Before(node, nodes_[ParentOf(index)])) {
    Place(index, nodes_[ParentOf(index)]);
    index = ParentOf(index);
  }
  Place(index, node);
}

void EntityHeap::SiftDown(size_t index, const Node& node) {
  for (size_t child = FirstChild(index); child < nodes_.size(); child = FirstChild(index)) {
    if (!Before(nodes_[child], node)) break;
    Place(index, nodes_[child]);
    index = child;
  }
  Place(index, node);
}

size_t EntityHeap::FirstChild(size_t index) const {
  size_t first = kChildren * index + 1;
  if (first >= nodes_.size()) return nodes_.size();
  const size_t end = std::min(first + kChildren, nodes_.size());
  for (size_t child = first + 1; child < end; ++child) {
    if (Before(nodes_[child], nodes_[first])) first = child;
  }
  return first;
}

void EntityHeap::CheckInvariants() const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    BERTH_ASSERT(nodes_[i].entry->index == i);
    BERTH_ASSERT(i == 0 || !Before(nodes_[i], nodes_[ParentOf(i)]));
  }
}

}  // namespace berth::host
