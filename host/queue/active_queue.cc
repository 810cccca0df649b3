#include "host/queue/active_queue.h"

#include <algorithm>
#include <cstring>

#include "host/base/assert.h"

namespace berth::host {
namespace {

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
