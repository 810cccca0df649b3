// The parked entities, and which entities of the scheduling queue an event requeues.
#ifndef BERTH_HOST_QUEUE_EVENT_MATCHER_H_
#define BERTH_HOST_QUEUE_EVENT_MATCHER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/metrics.h"
#include "host/queue/queue_event.h"
#include "host/queue/queue_meter.h"
#include "host/queue/queue_policy.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// --- event log -----------------------------------------------------------------------------------
//
// Records events while pods are in flight: an event that makes a pod schedulable may arrive before
// the pod has been rejected.

using EntityFilter = std::function<bool(const QueuedEntity&)>;

// An approximate set of plugins: sets that share no bit share no plugin.
using PluginBits = uint64_t;
inline constexpr PluginBits kAllPlugins = UINT64_MAX;
inline PluginBits BitOf(PluginId plugin) { return PluginBits{1} << (plugin % 64); }
inline PluginBits BitsOf(const Rejection& rejection) {
  PluginBits bits = 0;
  for (const PluginId plugin : rejection.plugins) bits |= BitOf(plugin);
  for (const PluginId plugin : rejection.pending) bits |= BitOf(plugin);
  for (const PluginId plugin : rejection.awaited) bits |= BitOf(plugin);
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

// --- parked index --------------------------------------------------------------------------------
//
// An index of parked pods by the plugins that rejected them and by the pod parts that those
// plugins' hints depend on. The cost of an event depends on the pods that it may make schedulable,
// not on the number of parked pods.

// The effect of an event on a parked pod.
enum class Requeueing : uint8_t { kSkip, kAfterBackoff, kImmediately };

struct RejectionGroup;

// The hashes of the pod parts that the rejecting plugins' hints depend on. It is a unique number
// instead for a group, and if the hints of a rejecting plugin must be called for each pod.
using PodShape = std::vector<uint64_t>;

struct PodShapeHash {
  size_t operator()(const PodShape& shape) const;
};

// Parked entities with the same rejectors and the same shape: every hint gives the same result for
// all of them. Never empty.
struct ParkedClass {
  RejectionGroup* group = nullptr;
  const PodShape* shape = nullptr;  // Its key in the group.
  std::vector<QueueEntry*> pods;
  std::list<ParkedClass*>::iterator place;  // In RejectionGroup::in_order.
};

// Parked entities that were rejected by the same plugins. Never empty.
struct RejectionGroup {
  struct Key {
    bool is_gated = false;
    Rejection rejection;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 reads a 0 into it.
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  const Key* key = nullptr;
  uint64_t parts = 0;
  bool each_pod = false;
  std::unordered_map<PodShape, ParkedClass, PodShapeHash> classes;
  // The classes in the order of their first pods. Hints are called in this order, because that of
  // `classes` depends on the key of the hashes, which is another one in every process.
  std::list<ParkedClass*> in_order;
  // Within SelectForRequeue(): the matching interests of the plugins that rejected these entities.
  std::vector<const Interest*> interests;
};

// Threading: the scheduling thread.
// Lifetime:  `interests` must outlive the index.
// Cost:      Add, Remove, Update: O(1), plus a look-up among the sets of rejectors.
//            SelectForRequeue: one call of each matching hint per class of pods that the registered
//            plugins rejected, plus the selected pods.
class ParkedIndex {
 public:
  // An entry that an event makes schedulable, and how it is requeued.
  struct RequeuedEntry {
    QueueEntry* entry = nullptr;
    Requeueing how = Requeueing::kSkip;
  };
  // Calls the interest's hint for the entity. Returns true if the entity should be tried again.
  using HintFunction = std::function<bool(const Interest& interest, const QueuedEntity& entity)>;

  explicit ParkedIndex(const InterestTable& interests) : interests_(interests) {}
  ParkedIndex(const ParkedIndex&) = delete;
  ParkedIndex& operator=(const ParkedIndex&) = delete;

  // Parks the entry. REQUIRES: its place is kUnschedulable or kGated, at least one plugin rejected
  // it, and it is not in the index.
  void Add(QueueEntry& entry, int64_t now_ns);
  // REQUIRES: the entry is in the index.
  void Remove(QueueEntry& entry);
  // Calls `change`, which replaces the entry's pod, and moves the entry to its new class. The entry
  // keeps its position in entries() and its parked_ns.
  // REQUIRES: the entry is in the index.
  template <class F>
  void Update(QueueEntry& entry, F change) {
    RemoveFromClass(entry);
    change();
    AddToClass(entry);
  }
  // Rebuilds the index after the interests changed.
  void Rebuild();

  // Appends the entries that an event makes schedulable, and how to requeue them. `interests` are
  // the interests that match the event. Only entries for which `filter` holds are considered, if it
  // is given. `hint` is called for one entry of each class; its result applies to the whole class.
  // Must not: add or remove entries within a call of `filter` or `hint`.
  void SelectForRequeue(std::span<const Interest* const> interests, const EntityFilter* filter,
                        const HintFunction& hint, std::vector<RequeuedEntry>& out);

  // Returns the entries in the order in which they were parked.
  const EntryList& entries() const { return entries_; }
  // Asserts that every entry is in the right group and class. For tests.
  void CheckInvariants() const;

 private:
  void AddToClass(QueueEntry& entry);
  void RemoveFromClass(QueueEntry& entry);
  RejectionGroup& GroupOf(const QueueEntry& entry);
  PodShape ShapeOf(const RejectionGroup& group, const QueuedEntity& entity);
  void CheckEntry(const QueueEntry& entry) const;
  // Returns the number of entries in the group.
  size_t CheckGroup(const RejectionGroup& group) const;

  const InterestTable& interests_;
  EntryList entries_;
  std::map<RejectionGroup::Key, RejectionGroup> groups_;
  std::unordered_map<PluginId, std::vector<RejectionGroup*>> groups_of_;
  uint64_t shapes_ = 0;                   // The number of unique shapes created so far.
  std::vector<RejectionGroup*> touched_;  // Used within SelectForRequeue(); empty between calls.
};

// --- event matcher -------------------------------------------------------------------------------

// Returns what an event does to an entity with this rejection. `interests` are the interests that
// match the event. An interest of a plugin that returned Pending lets the entity skip its backoff.
// The interests of a plugin in Rejection::awaited do not matter.
// (kube-scheduler: scheduling_queue.go, isPodWorthRequeuing)
Requeueing DecideRequeueing(const Rejection& rejection, std::span<const Interest* const> interests,
                            const QueuedEntity& entity, const ParkedIndex::HintFunction& hint);

// An event requeues an entity if a plugin that rejected the entity registered for the event and the
// hint of that interest, if there is one, returns true for a pod of the entity. Events are recorded
// for entities in flight, which may be rejected later. A WILDCARD event requeues every entity, or
// the one of the pod that it is limited to. The class decides; it moves no entity.
//
// Threading: the scheduling thread.
// Lifetime:  all arguments of the constructor must outlive the matcher.
// Must not:  be called by the policy within Hint().
class EventMatcher {
 public:
  EventMatcher(QueuePolicy& policy, const InterestTable& interests, ParkedIndex& parked,
               EventLog& log)
      : policy_(policy), interests_(interests), parked_(parked), log_(log) {}
  EventMatcher(const EventMatcher&) = delete;
  EventMatcher& operator=(const EventMatcher&) = delete;

  // Sets the meter that observes the hints and the log. If it is null, nothing is observed.
  // Lifetime: the meter must outlive the matcher.
  // Called: before any entity records.
  void SetMeter(QueueMeter* meter) {
    meter_ = meter;
    log_.SetMeter(meter);
  }

  // Appends the parked entities that the event requeues to `requeued`, and records the event for
  // the entities in flight. Considers only parked entities for which `parked` holds and entities in
  // flight for which `in_flight` holds, where these filters are given.
  void Apply(const QueueEvent& event, const EntityFilter* parked, const EntityFilter* in_flight,
             std::vector<ParkedIndex::RequeuedEntry>& requeued);
  // Records the event for this entity alone. Does nothing if no plugin registered for the event or
  // the entity is not recording.
  void RecordFor(const QueueEntry& entry, const QueueEvent& event);
  struct PodChangeAnswer {
    Requeueing how = Requeueing::kSkip;
    uint32_t action = BERTH_ACTION_UPDATE;  // The action of the event that requeues the entity.
  };
  // Applies each event of a change of the entity's own pod, as a TARGET_POD event, until one
  // requeues the entity; an entity that waits for a plugin (Rejection::awaited) is requeued by each
  // of them. Returns how to requeue it; kSkip if no event does. For an entity in flight, records
  // all these events and returns kSkip. A change of the pod's status alone is no event.
  PodChangeAnswer ApplyPodChange(const QueueEntry& entry, const PodRef& old, const PodRef& pod);
  // Returns how to requeue an entity whose attempt has ended with entity.rejection(), by the events
  // that were recorded for it.
  // (kube-scheduler: scheduling_queue.go, determineSchedulingHintForInFlightPod)
  Requeueing DecideAfterAttempt(const QueueEntry& entry);

 private:
  // Returns the interests that match the event. Lifetime: until the next call.
  const std::vector<const Interest*>& InterestsIn(const QueueEvent& event);
  void ApplyWildcard(const QueueEvent& event, const EntityFilter* parked,
                     const EntityFilter* in_flight,
                     std::vector<ParkedIndex::RequeuedEntry>& requeued);
  Requeueing Decide(const QueuedEntity& entity, const QueueEvent& event);

  QueuePolicy& policy_;
  const InterestTable& interests_;
  ParkedIndex& parked_;
  EventLog& log_;
  QueueMeter* meter_ = nullptr;
  std::vector<const Interest*> matching_;  // Of InterestsIn(); a member to reuse its memory.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_EVENT_MATCHER_H_
