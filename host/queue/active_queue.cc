#include "host/queue/active_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/assert.h"
#include "host/base/vectors.h"

namespace berth::host {
namespace {

constexpr size_t kChildren = 4;

size_t ParentOf(size_t index) { return (index - 1) / kChildren; }

// Vectors of fewer lanes keep their memory.
constexpr size_t kFewLanes = 64;

// Releases memory that many lanes needed and few do not.
template <class T>
void Shrink(std::vector<T>& lanes) {
  if (lanes.capacity() > kFewLanes && lanes.size() < lanes.capacity() / 4) lanes.shrink_to_fit();
}

bool IsSameView(const berth_queued& a, const berth_queued& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

// --- EntityHeap ----------------------------------------------------------------------------------

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

// --- ActiveQueue ---------------------------------------------------------------------------------

ActiveQueue::ActiveQueue(const QueueOrder& order)
    : order_(order), has_lanes_(order.has_lanes()), heap_(order) {}

void ActiveQueue::Push(QueueEntry& entry) {
  ++size_;
  if (!has_lanes_) return heap_.Push(entry);
  entry.lane = order_.LaneOf(entry.entity.View());
  const size_t index = IndexOf(entry.lane);
  if (!HasLaneAt(index, entry.lane)) {
    const auto at = static_cast<ptrdiff_t>(index);
    auto heap = std::make_unique<LaneHeap>(order_);
    lanes_.insert(lanes_.begin() + at, {.lane = entry.lane, .count = 0, .first = &heap->first});
    heaps_.insert(heaps_.begin() + at, std::move(heap));
  }
  heaps_[index]->heap.Push(entry);
  Refresh(index);
}

void ActiveQueue::Remove(QueueEntry& entry) {
  BERTH_ASSERT(size_ > 0);
  --size_;
  if (!has_lanes_) return heap_.Remove(entry);
  const size_t index = IndexOf(entry.lane);
  BERTH_ASSERT(HasLaneAt(index, entry.lane));
  heaps_[index]->heap.Remove(entry);
  if (heaps_[index]->heap.empty()) return EraseLane(index);
  Refresh(index);
}

void ActiveQueue::Update(QueueEntry& entry) {
  if (!has_lanes_) return heap_.Update(entry);
  const size_t index = IndexOf(entry.lane);
  BERTH_ASSERT(HasLaneAt(index, entry.lane));
  heaps_[index]->heap.Update(entry);
  Refresh(index);
}

void ActiveQueue::Rebuild() {
  if (!has_lanes_ && !order_.has_lanes()) return heap_.Rebuild();
  std::vector<QueueEntry*> entries;
  entries.reserve(size_);
  heap_.TakeAll(entries);
  for (const auto& lane : heaps_) lane->heap.TakeAll(entries);
  lanes_.clear();
  heaps_.clear();
  Shrink(lanes_);
  Shrink(heaps_);
  heap_.Rebuild();
  size_ = 0;
  has_lanes_ = order_.has_lanes();
  for (QueueEntry* entry : entries) Push(*entry);
}

QueueEntry& ActiveQueue::Next() const {
  if (!has_lanes_) return heap_.front();
  BERTH_ASSERT(size_ > 0);
  const size_t index = order_.NextLane(lanes_);
  BERTH_ASSERT(index < heaps_.size());
  return heaps_[index]->heap.front();
}

bool ActiveQueue::Contains(const QueueEntry& entry) const {
  if (!has_lanes_) return heap_.Contains(entry);
  const size_t index = IndexOf(entry.lane);
  return HasLaneAt(index, entry.lane) && heaps_[index]->heap.Contains(entry);
}

size_t ActiveQueue::IndexOf(uint64_t lane) const {
  return static_cast<size_t>(std::ranges::lower_bound(lanes_, lane, {}, &berth_lane::lane) -
                             lanes_.begin());
}

void ActiveQueue::Refresh(size_t index) {
  LaneHeap& lane = *heaps_[index];
  lanes_[index].count = lane.heap.size();
  lane.first = lane.heap.front().entity.View();
}

void ActiveQueue::EraseLane(size_t index) {
  const auto at = static_cast<ptrdiff_t>(index);
  lanes_.erase(lanes_.begin() + at);
  heaps_.erase(heaps_.begin() + at);
  Shrink(lanes_);
  Shrink(heaps_);
}

void ActiveQueue::CheckInvariants() const {
  BERTH_ASSERT(lanes_.size() == heaps_.size());
  BERTH_ASSERT(has_lanes_ ? heap_.empty() : lanes_.empty());
  heap_.CheckInvariants();
  size_t count = heap_.size();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const EntityHeap& heap = heaps_[i]->heap;
    heap.CheckInvariants();
    BERTH_ASSERT(!heap.empty() && lanes_[i].count == heap.size());
    BERTH_ASSERT(i == 0 || lanes_[i - 1].lane < lanes_[i].lane);
    BERTH_ASSERT(heap.front().lane == lanes_[i].lane);
    BERTH_ASSERT(lanes_[i].first == &heaps_[i]->first);
    BERTH_ASSERT(IsSameView(heaps_[i]->first, heap.front().entity.View()));
    count += heap.size();
  }
  BERTH_ASSERT(count == size_);
}

}  // namespace berth::host
