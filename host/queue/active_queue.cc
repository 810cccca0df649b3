#include "host/queue/active_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/assert.h"
#include "host/base/vectors.h"

namespace berth::host {
namespace {

constexpr size_t kChildren = 4;

// The window of the pods that belong to the run of a lane. That of all others is 0.
constexpr int64_t kRunWindow = -1;

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
  Replace(entry.index, MakeNode(entry, nodes_[entry.index].window));
}

void EntityHeap::SetWindow(QueueEntry& entry, int64_t window) {
  BERTH_ASSERT(Contains(entry));
  Node node = nodes_[entry.index];
  node.window = window;
  Replace(entry.index, node);
}

void EntityHeap::Replace(size_t index, const Node& node) {
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

// --- LaneQueue -----------------------------------------------------------------------------------

LaneQueue::LaneQueue(const QueueOrder& order)
    : order_(order), has_shared_(order.has_shared_entities()), heap_(order) {}

void LaneQueue::Push(QueueEntry& entry) {
  if (!has_shared_) return heap_.Push(entry);
  Join(entry);
  heap_.Push(entry, WindowOf(entry));
}

void LaneQueue::Remove(QueueEntry& entry) {
  heap_.Remove(entry);
  Leave(entry);
}

void LaneQueue::Update(QueueEntry& entry) {
  heap_.Update(entry);
  if (!has_shared_) return;
  Leave(entry);
  Join(entry);
  heap_.SetWindow(entry, WindowOf(entry));
}

void LaneQueue::Rebuild() {
  if (!has_shared_ && !order_.has_shared_entities()) return heap_.Rebuild();
  std::vector<QueueEntry*> entries;
  entries.reserve(size());
  TakeAll(entries);
  heap_.Rebuild();
  has_shared_ = order_.has_shared_entities();
  for (QueueEntry* entry : entries) Push(*entry);
}

void LaneQueue::TakeAll(std::vector<QueueEntry*>& entries) {
  const auto first = static_cast<ptrdiff_t>(entries.size());
  heap_.TakeAll(entries);
  std::for_each(entries.begin() + first, entries.end(),
                [this](QueueEntry* entry) { Leave(*entry); });
  EndRun();
}

QueueEntry& LaneQueue::Next() {
  QueueEntry& entry = heap_.front();
  if (!has_shared_) return entry;
  if (heap_.front_window() != kRunWindow) BeginRun(entry);
  entry.run = run_;
  return entry;
}

void LaneQueue::BeginRun(const QueueEntry& entry) {
  run_ = entry.sequence;
  run_entity_.clear();
  if (entry.shared == nullptr) return;
  run_entity_ = entry.shared->name;
  for (QueueEntry* pod = entry.shared->pods.front(); pod != nullptr; pod = pod->next) {
    if (pod != &entry) heap_.SetWindow(*pod, kRunWindow);
  }
}

void LaneQueue::EndRun() {
  BERTH_ASSERT(empty());
  run_ = 0;
  run_entity_.clear();
}

int64_t LaneQueue::WindowOf(const QueueEntry& entry) const {
  const bool is_in_run =
      entry.shared != nullptr && entry.run != run_ && entry.shared->name == run_entity_;
  return is_in_run ? kRunWindow : 0;
}

void LaneQueue::Join(QueueEntry& entry) {
  if (entry.entity.group != nullptr) return;
  const PodRef& pod = entry.entity.pod;
  const std::string text = order_.SharedEntityOf(pod);
  if (text.empty()) return;
  const auto found = shared_.try_emplace(std::string(pod->ns()).append(1, '/').append(text)).first;
  found->second.name = found->first;
  found->second.pods.PushBack(entry);
  entry.shared = &found->second;
}

void LaneQueue::Leave(QueueEntry& entry) {
  if (entry.shared == nullptr) return;
  SharedEntity& shared = *std::exchange(entry.shared, nullptr);
  shared.pods.Remove(entry);
  if (shared.pods.empty()) shared_.erase(shared_.find(shared.name));
}

void LaneQueue::CheckInvariants() const {
  heap_.CheckInvariants();
  BERTH_ASSERT(has_shared_ || (shared_.empty() && run_entity_.empty()));
  for (const auto& [name, shared] : shared_) {
    BERTH_ASSERT(shared.name.data() == name.data() && !shared.pods.empty());
    size_t pods = 0;
    for (const QueueEntry* pod = shared.pods.front(); pod != nullptr; pod = pod->next) {
      if (pod->shared == &shared && heap_.Contains(*pod)) ++pods;
    }
    BERTH_ASSERT(pods == shared.pods.size());
  }
}

// --- ActiveQueue ---------------------------------------------------------------------------------

ActiveQueue::ActiveQueue(const QueueOrder& order)
    : order_(order), has_lanes_(order.has_lanes()), lane_(order) {}

void ActiveQueue::Push(QueueEntry& entry) {
  ++size_;
  if (!has_lanes_) return lane_.Push(entry);
  entry.lane = order_.LaneOf(entry.entity.View());
  const size_t index = IndexOf(entry.lane);
  if (!HasLaneAt(index, entry.lane)) {
    const auto at = static_cast<ptrdiff_t>(index);
    auto queue = std::make_unique<NumberedLane>(order_);
    lanes_.insert(lanes_.begin() + at, {.lane = entry.lane, .count = 0, .first = &queue->first});
    queues_.insert(queues_.begin() + at, std::move(queue));
  }
  queues_[index]->queue.Push(entry);
  Refresh(index);
}

void ActiveQueue::Remove(QueueEntry& entry) {
  BERTH_ASSERT(size_ > 0);
  --size_;
  if (!has_lanes_) return lane_.Remove(entry);
  const size_t index = IndexOf(entry.lane);
  BERTH_ASSERT(HasLaneAt(index, entry.lane));
  queues_[index]->queue.Remove(entry);
  if (queues_[index]->queue.empty()) return EraseLane(index);
  Refresh(index);
}

void ActiveQueue::Update(QueueEntry& entry) {
  if (!has_lanes_) return lane_.Update(entry);
  const size_t index = IndexOf(entry.lane);
  BERTH_ASSERT(HasLaneAt(index, entry.lane));
  queues_[index]->queue.Update(entry);
  Refresh(index);
}

void ActiveQueue::Rebuild() {
  if (!has_lanes_ && !order_.has_lanes()) return lane_.Rebuild();
  std::vector<QueueEntry*> entries;
  entries.reserve(size_);
  lane_.TakeAll(entries);
  for (const auto& lane : queues_) lane->queue.TakeAll(entries);
  lanes_.clear();
  queues_.clear();
  Shrink(lanes_);
  Shrink(queues_);
  lane_.Rebuild();
  size_ = 0;
  has_lanes_ = order_.has_lanes();
  for (QueueEntry* entry : entries) Push(*entry);
}

QueueEntry& ActiveQueue::Next() {
  if (!has_lanes_) return lane_.Next();
  BERTH_ASSERT(size_ > 0);
  const size_t index = order_.NextLane(lanes_);
  BERTH_ASSERT(index < queues_.size());
  return queues_[index]->queue.Next();
}

bool ActiveQueue::Contains(const QueueEntry& entry) const {
  if (!has_lanes_) return lane_.Contains(entry);
  const size_t index = IndexOf(entry.lane);
  return HasLaneAt(index, entry.lane) && queues_[index]->queue.Contains(entry);
}

size_t ActiveQueue::IndexOf(uint64_t lane) const {
  return static_cast<size_t>(std::ranges::lower_bound(lanes_, lane, {}, &berth_lane::lane) -
                             lanes_.begin());
}

void ActiveQueue::Refresh(size_t index) {
  NumberedLane& lane = *queues_[index];
  lanes_[index].count = lane.queue.size();
  lane.first = lane.queue.front().entity.View();
}

void ActiveQueue::EraseLane(size_t index) {
  const auto at = static_cast<ptrdiff_t>(index);
  lanes_.erase(lanes_.begin() + at);
  queues_.erase(queues_.begin() + at);
  Shrink(lanes_);
  Shrink(queues_);
}

void ActiveQueue::CheckInvariants() const {
  BERTH_ASSERT(lanes_.size() == queues_.size());
  BERTH_ASSERT(has_lanes_ ? lane_.empty() : lanes_.empty());
  lane_.CheckInvariants();
  size_t count = lane_.size();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const LaneQueue& queue = queues_[i]->queue;
    queue.CheckInvariants();
    BERTH_ASSERT(!queue.empty() && lanes_[i].count == queue.size());
    BERTH_ASSERT(i == 0 || lanes_[i - 1].lane < lanes_[i].lane);
    BERTH_ASSERT(queue.front().lane == lanes_[i].lane);
    BERTH_ASSERT(lanes_[i].first == &queues_[i]->first);
    BERTH_ASSERT(IsSameView(queues_[i]->first, queue.front().entity.View()));
    count += queue.size();
  }
  BERTH_ASSERT(count == size_);
}

}  // namespace berth::host
