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

// A set of plugins, told coarsely: sets that share no bit share no plugin.
using PluginBits = uint64_t;
inline constexpr PluginBits kAllPlugins = UINT64_MAX;
inline PluginBits BitOf(PluginId plugin) { return PluginBits{1} << (plugin % 64); }
inline PluginBits BitsOf(const Rejection& rejection) {
  PluginBits bits = 0;
  for (const PluginId plugin : rejection.plugins) bits |= BitOf(plugin);
  for (const PluginId plugin : rejection.pending) bits |= BitOf(plugin);
  return bits;
}

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
  // As if it had started when `other` did; what came for `other` alone is not for it. Nothing
  // happens when `other` does not record. REQUIRES: not recording.
  void StartLike(QueueEntry& other, QueueEntry& entry);
  // Nothing is kept for it any more. Not recording: nothing happens.
  void Stop(QueueEntry& entry);

  // For all that record now, or those for which `which` holds now, if it is given. `plugins`: those
  // that registered for such an event.
  void Append(const QueueEvent& event, PluginBits plugins, const EntityFilter* which = nullptr);
  // For this one alone. Not recording: nothing happens.
  void AppendFor(const QueueEntry& entry, const QueueEvent& event, PluginBits plugins);
  // Other plugins may have registered for what has been kept.
  void PolicyChanged();

  // Calls `each` with what has been kept for it and may concern one of `plugins`, in order, until
  // that returns false.
  // REQUIRES: recording. Must not: start or stop anything within.
  template <class Each>
  void Replay(const QueueEntry& entry, PluginBits plugins, Each each) const {
    BERTH_ASSERT(entry.is_recording && entry.log_start >= first_);
    for (size_t i = entry.log_start - first_; i < records_.size(); ++i) {
      if ((registered_[i] & plugins) == 0) continue;
      const Record& record = records_[i];
      if (record.only != 0 && record.only != entry.recording) continue;
      if (std::ranges::find(record.except, entry.recording) != record.except.end()) continue;
      if (!each(record.event)) return;
    }
  }

  size_t size() const { return records_.size(); }
  size_t recorders() const { return recorders_.size(); }
  // Asserts that nothing is kept that nobody waits for. For tests.
  void CheckInvariants() const;

 private:
  struct Record {
    QueueEvent event;
    uint64_t only = 0;  // A recording; 0: for all but those in `except`.
    std::vector<uint64_t> except;
  };

  void Add(Record record, PluginBits plugins);
  void DropOldest();
  // Drops what everybody has seen.
  void Trim();

  size_t max_events_;
  uint64_t recordings_ = 0;  // Numbers given out.
  std::deque<Record> records_;
  std::deque<PluginBits> registered_;  // For each record: apart, since most looks end here.
  uint64_t first_ = 0;                 // The number of the first record.
  EntryList recorders_;                // By log_start.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_EVENT_LOG_H_
