#include "host/queue/active_queue.h"

#include <utility>

#include "host/api/assert.h"

namespace berth::host {

berth_queued QueuedEntity::View() const {
  return {.struct_size = sizeof(berth_queued),
          .kind = BERTH_QUEUED_POD,
          .pod = &pod->view(),
          .group = {nullptr, 0},
          .priority = pod->view().priority,
          .attempts = attempts,
          .queued_ns = queued_ns,
          .first_attempt_ns = first_attempt_ns};
}

void ActiveQueue::Push(QueuedEntity entity) {
  auto slot = std::make_unique<Slot>();
  slot->entity = std::move(entity);
  slot->sequence = ++sequence_;
  if (order_.has_key()) slot->key = order_.KeyOf(slot->entity.View());
  heap_.push_back(nullptr);
  Place(heap_.size() - 1, slot.get());
  SiftUp(heap_.size() - 1);
  std::string uid(slot->entity.pod->uid());
  const bool fresh = slots_.emplace(std::move(uid), std::move(slot)).second;
  BERTH_ASSERT_MSG(fresh, "an entity is in the active queue already");
}

QueuedEntity ActiveQueue::Pop() {
  BERTH_ASSERT(!empty());
  return std::move(Take(0)->entity);
}

bool ActiveQueue::Update(PodRef pod) {
  const auto found = slots_.find(pod->uid());
  if (found == slots_.end()) return false;
  Slot& slot = *found->second;
  slot.entity.pod = std::move(pod);
  if (order_.has_key()) slot.key = order_.KeyOf(slot.entity.View());
  SiftUp(slot.index);
  SiftDown(slot.index);
  return true;
}

bool ActiveQueue::Remove(std::string_view uid) {
  const auto found = slots_.find(uid);
  if (found == slots_.end()) return false;
  Take(found->second->index);
  return true;
}

bool ActiveQueue::Before(const Slot& a, const Slot& b) const {
  if (order_.has_key()) {
    if (a.key != b.key) return a.key < b.key;
    return a.sequence < b.sequence;
  }
  const berth_queued left = a.entity.View();
  const berth_queued right = b.entity.View();
  if (order_.Less(left, right)) return true;
  return !order_.Less(right, left) && a.sequence < b.sequence;
}

void ActiveQueue::Place(size_t index, Slot* slot) {
  heap_[index] = slot;
  slot->index = index;
}

void ActiveQueue::SiftUp(size_t index) {
  Slot* slot = heap_[index];
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (!Before(*slot, *heap_[parent])) break;
    Place(index, heap_[parent]);
    index = parent;
  }
  Place(index, slot);
}

void ActiveQueue::SiftDown(size_t index) {
  Slot* slot = heap_[index];
  while (true) {
    size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(*heap_[child + 1], *heap_[child])) ++child;
    if (!Before(*heap_[child], *slot)) break;
    Place(index, heap_[child]);
    index = child;
  }
  Place(index, slot);
}

std::unique_ptr<ActiveQueue::Slot> ActiveQueue::Take(size_t index) {
  const auto found = slots_.find(heap_[index]->entity.pod->uid());
  BERTH_ASSERT(found != slots_.end());
  std::unique_ptr<Slot> slot = std::move(found->second);
  slots_.erase(found);
  Slot* last = heap_.back();
  heap_.pop_back();
  if (last != slot.get()) {
    Place(index, last);
    SiftUp(index);
    SiftDown(last->index);
  }
  return slot;
}

}  // namespace berth::host
