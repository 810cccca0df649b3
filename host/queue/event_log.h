// Records events while pods are in flight: an event that makes a pod schedulable may arrive before
// the pod has been rejected.
#ifndef BERTH_HOST_QUEUE_EVENT_LOG_H_
#define BERTH_HOST_QUEUE_EVENT_LOG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "host/queue/queue_event.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

using EntityFilter = std::function<bool(const QueuedEntity&)>;

// An approximate set of plugins: sets that share no bit share no plugin.
using PluginBits = uint64_t;
inline constexpr PluginBits kAllPlugins = UINT64_MAX;
inline PluginBits BitOf(PluginId plugin) { return PluginBits{1} << (plugin % 64); }
inline PluginBits BitsOf(const Rejection& rejection) {
  PluginBits bits = 0;
  for (const PluginId plugin : rejection.plugins) bits |= BitOf(plugin);
  for (const PluginId plugin : rejection.pending) bits |= BitOf(plugin);
  return bits;
}

// A log that all in-flight entities share. The log stores each event once, with its objects, for as
// long as an entity that started recording before the event still records.
//
// (kube-scheduler: pkg/scheduler/backend/queue/active_queue.go, inFlightEvents)
// Threading: the scheduling thread.
// Cost:      Start, Stop: O(1), plus the events that Stop drops. Append: O(1); with a filter
//            O(recorders).
class EventLog {
 public:
  // The log keeps at most `max_events` events. Beyond that, it drops the oldest event and stops
  // recording for the entities that still needed it.
  explicit EventLog(size_t max_events) : max_events_(max_events) {}

  // Counts the events that are kept, by their labels, and the entities that record, as
  // scheduler_inflight_events. If `meter` is null, nothing is counted.
  // Lifetime: the meter must outlive the log. REQUIRES: no entity records.
  void SetMeter(QueueMeter* meter) {
    BERTH_ASSERT(recorders_.empty());
    meter_ = meter;
  }

  // Starts recording for the entry. REQUIRES: the entry is not recording.
  void Start(QueueEntry& entry);
  // Starts recording for `entry` as if it had started when `other` did. Events that were appended
  // for `other` alone are not replayed to `entry`. Does nothing if `other` is not recording.
  // REQUIRES: `entry` is not recording.
  void StartFrom(QueueEntry& other, QueueEntry& entry);
  // Stops recording for the entry and drops the events that no entity needs. Does nothing if the
  // entry is not recording.
  void Stop(QueueEntry& entry);

  // Records the event for every entity that is recording now and, if `filter` is given, for which
  // `filter` holds now. `plugins` are the plugins that registered for the event.
  void Append(const QueueEvent& event, PluginBits plugins, const EntityFilter* filter = nullptr);
  // Records the event for this entry alone. Does nothing if the entry is not recording.
  void AppendFor(const QueueEntry& entry, const QueueEvent& event, PluginBits plugins);
  // Treats every recorded event as if all plugins had registered for it, because the registrations
  // changed.
  void PolicyChanged();

  // Calls `each`, in order, with every event that was recorded for the entry and that one of
  // `plugins` may have registered for, until `each` returns false.
  // REQUIRES: the entry is recording.
  // Must not: start or stop recording within `each`.
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
  // Asserts the log's invariants, among them that every stored event is still needed. For tests.
  void CheckInvariants() const;

 private:
  struct Record {
    QueueEvent event;
    // The only recording that gets the event. If 0, all recordings except those in `except` get it.
    uint64_t only = 0;
    std::vector<uint64_t> except;
    Gauge* counted = nullptr;  // The gauge that counts the event; null without a meter.
  };

  void Add(Record record, PluginBits plugins);
  void DropOldest();
  void CountRecorders();
  // Drops the events that no recording entry needs.
  void Trim();

  size_t max_events_;
  uint64_t recordings_ = 0;  // The number of recordings that were started so far.
  std::deque<Record> records_;
  // The plugins that registered for each record's event. A deque of its own because most records
  // are skipped by this mask.
  std::deque<PluginBits> registered_;
  uint64_t first_ = 0;   // The number of the first record.
  EntryList recorders_;  // Sorted by log_start.
  QueueMeter* meter_ = nullptr;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_EVENT_LOG_H_
