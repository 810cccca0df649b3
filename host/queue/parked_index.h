// An index of parked pods by the plugins that rejected them and by the pod parts that those
// plugins' hints depend on. The cost of an event depends on the pods that it may make schedulable,
// not on the number of parked pods.
#ifndef BERTH_HOST_QUEUE_PARKED_INDEX_H_
#define BERTH_HOST_QUEUE_PARKED_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/queue/event_log.h"
#include "host/queue/queue_entry.h"
#include "host/queue/queue_event.h"

namespace berth::host {

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

// Returns what an event does to an entity with this rejection. `interests` are the interests that
// match the event. An interest of a plugin that returned Pending lets the entity skip its backoff.
// (kube-scheduler: scheduling_queue.go, isPodWorthRequeuing)
Requeueing DecideRequeueing(const Rejection& rejection, std::span<const Interest* const> interests,
                            const QueuedEntity& entity, const ParkedIndex::HintFunction& hint);

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_PARKED_INDEX_H_
