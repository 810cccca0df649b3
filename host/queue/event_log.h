// What happened while pods were in flight: an event that helps a pod may come before the pod has
// been rejected.
#ifndef BERTH_HOST_QUEUE_EVENT_LOG_H_
#define BERTH_HOST_QUEUE_EVENT_LOG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "host/queue/queue_entry.h"
#include "host/queue/queue_event.h"

namespace berth::host {

using EntityFilter = std::function<bool(const QueuedEntity&)>;

// One log for all: an event is kept once, for as long as somebody records who had started before it
// came. Its objects stay alive with it.
//
// (kube-scheduler: pkg/scheduler/backend/queue/active_queue.go, inFlightEvents)
// Threading: the scheduling thread.
// Cost:      Start, Stop: O(1), and what is dropped. Append: O(1); with a filter O(recorders).
class EventLog {
 public:
  // Beyond `max_events` the oldest is dropped, and those who had not seen it record no more.
  explicit EventLog(size_t max_events) : max_events_(max_events) {}

  // REQUIRES: not recording.
  void Start(QueueEntry& entry);
  // Nothing is kept for it any more. Not recording: nothing happens.
  void Stop(QueueEntry& entry);

  // For all that record now, or those for which `which` holds now, if it is given.
  void Append(const QueueEvent& event, const EntityFilter* which = nullptr);
  // For this one alone. Not recording: nothing happens.
  void AppendFor(const QueueEntry& entry, const QueueEvent& event);

  // Calls `each` with what has been kept for it, in order, until that returns false.
  // REQUIRES: recording. Must not: start or stop anything within.
  template <class Each>
  void Replay(const QueueEntry& entry, Each each) const {
    BERTH_ASSERT(entry.is_recording && entry.log_start >= first_);
    for (size_t i = entry.log_start - first_; i < records_.size(); ++i) {
      const Record& record = records_[i];
      if (record.only != nullptr && record.only != &entry) continue;
      if (std::ranges::find(record.except, &entry) != record.except.end()) continue;
      if (!each(record.event)) return;
    }
  }

  size_t size() const { return records_.size(); }
  size_t recorders() const { return recorders_.size(); }
  // Asserts that nothing is kept that nobody waits for. For tests.
  void CheckInvariants() const;

 private:
  // Entries are compared, never looked at: one that has gone is no recorder, and one that came to
  // stand in its place started later.
  struct Record {
    QueueEvent event;
    const QueueEntry* only = nullptr;
    std::vector<const QueueEntry*> except;
  };

  void Add(Record record);
  // Drops what everybody has seen.
  void Trim();

  size_t max_events_;
  std::deque<Record> records_;
  uint64_t first_ = 0;   // The number of the first record.
  EntryList recorders_;  // By log_start.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_EVENT_LOG_H_
