#include "host/cluster/kubernetes/watch/event_mailbox.h"

#include <utility>

#include "host/base/assert.h"

namespace berth::host {

size_t EventMailbox::Item::size() const {
  const auto* events = std::get_if<std::vector<WatchEvent>>(&content);
  return events == nullptr ? 1 : events->size();
}

EventMailbox::EventMailbox(std::function<void()> wake, size_t limit, std::function<void()> on_room)
    : wake_(std::move(wake)), limit_(limit), on_room_(std::move(on_room)) {}

EventMailbox::WatchId EventMailbox::Add(WatchSink& sink) {
  sinks_.emplace(++last_, &sink);
  return last_;
}

void EventMailbox::Remove(WatchId watch) { sinks_.erase(watch); }

bool EventMailbox::PutEvents(WatchId watch, std::vector<WatchEvent> events) {
  return !events.empty() && Put({watch, std::move(events)});
}

void EventMailbox::PutError(WatchId watch, Status status) { Put({watch, std::move(status)}); }

void EventMailbox::PutTask(std::function<void()> task) { Put({0, std::move(task)}); }

bool EventMailbox::Put(Item item) {
  bool was_empty = false;
  bool is_full = false;
  {
    const std::scoped_lock lock(mutex_);
    was_empty = items_.empty();
    waiting_ += item.size();
    items_.push_back(std::move(item));
    is_full = waiting_ >= limit_;
    was_full_ = was_full_ || is_full;
  }
  if (was_empty && wake_) wake_();
  return is_full;
}

size_t EventMailbox::Deliver() {
  BERTH_ASSERT(!is_delivering_);
  std::vector<Item> items;
  size_t count = 0;
  bool was_full = false;
  {
    const std::scoped_lock lock(mutex_);
    items.swap(items_);
    count = std::exchange(waiting_, 0);
    was_full = std::exchange(was_full_, false);
  }
  is_delivering_ = true;
  for (Item& item : items) {
    // The content is destroyed when it was delivered: a large batch does not wait for the others.
    Item current = std::move(item);
    DeliverOne(current);
  }
  is_delivering_ = false;
  if (was_full) on_room_();
  return count;
}

void EventMailbox::DeliverOne(Item& item) {
  if (const auto* task = std::get_if<std::function<void()>>(&item.content)) {
    (*task)();
    return;
  }
  // Each item looks up its sink, because the sinks may add and remove watches.
  const auto sink = sinks_.find(item.watch);
  if (sink == sinks_.end()) return;
  if (auto* events = std::get_if<std::vector<WatchEvent>>(&item.content)) {
    sink->second->OnEvents(*events);
  } else {
    sink->second->OnWatchError(std::get<Status>(item.content));
  }
}

size_t EventMailbox::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

}  // namespace berth::host
