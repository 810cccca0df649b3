// The entities in the scheduling queue: pods and groups of pods.
#ifndef BERTH_HOST_QUEUE_QUEUED_ENTITY_H_
#define BERTH_HOST_QUEUE_QUEUED_ENTITY_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/vectors.h"
#include "host/queue/queue_policy.h"

namespace berth::host {

// The plugins that rejected an entity. If all lists are empty, the attempt failed with an error.
struct Rejection {
  std::vector<PluginId> plugins = {};  // Unschedulable or UnschedulableAndUnresolvable; sorted.
  std::vector<PluginId> pending = {};  // Pending: their hints skip the backoff; sorted.
  // Pending from PreFilter or PreScore: the entity waits until a plugin activates it or a pod of it
  // changes. No event that these plugins registered for requeues it. Sorted.
  std::vector<PluginId> awaited = {};

  bool empty() const { return plugins.empty() && pending.empty() && awaited.empty(); }
  // Returns whether the entity waits for plugins and nothing has rejected it.
  bool only_awaits() const { return plugins.empty() && pending.empty() && !awaited.empty(); }
  // Returns the plugins of all lists, each once; sorted.
  std::vector<PluginId> All() const {
    std::vector<PluginId> all = plugins;
    all.insert(all.end(), pending.begin(), pending.end());
    all.insert(all.end(), awaited.begin(), awaited.end());
    SortUnique(all);
    return all;
  }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 reads a 0 into it.
  friend auto operator<=>(const Rejection&, const Rejection&) = default;
};

// The place of an entity in the queue. An entity is in exactly one place at any time.
enum class QueuePlace : uint8_t {
  kActive,         // Ready to be tried.
  kBackoff,        // Rejected; ready when its backoff ends, or earlier if no other pod is active.
  kErrorBackoff,   // Its attempt failed with an error; ready when its backoff ends.
  kUnschedulable,  // Rejected; waits for an event that its rejectors registered for.
  kGated,          // Rejected by PreEnqueue.
  kInFlight,       // In a scheduling cycle, waiting on Permit, or in a binding cycle.
};

// The pods of one spec.schedulingGroup. They are queued together and tried in one cycle.
struct QueuedGroup {
  struct Member {
    PodRef pod = nullptr;
    uint64_t reported = 0;  // See QueuedEntity::reported; for this member.
  };

  std::string name = {};             // "<namespace>/<name>".
  std::vector<Member> members = {};  // Sorted by descending priority, then by arrival.
};

// A pod or a group with its queue data. The view that plugins get is made from this struct, so that
// object data and queue data stay separate.
struct QueuedEntity {
  PodRef pod = nullptr;  // The latest version, also in flight; of a group, its first member.
  std::unique_ptr<QueuedGroup> group = nullptr;  // Null for a pod.
  QueuePlace place = QueuePlace::kActive;
  bool was_flushed = false;  // The last requeue was caused by the periodic flush alone.
  uint32_t attempts = 0;
  uint32_t rejected_count = 0;   // Attempts that ended in a rejection; determines the backoff.
  uint32_t error_count = 0;      // Consecutive errors; determines the error backoff.
  uint32_t slow_count = 0;       // Consecutive slow attempts, which are errors; see Backoff.
  int64_t queued_ns = 0;         // When the entity last entered the queue.
  int64_t first_attempt_ns = 0;  // When the entity first became active; 0 if it has not yet.
  int64_t popped_ns = 0;         // When the last attempt began; 0 if the queue is not metered.
  int64_t backoff_until_ns = 0;  // When the backoff ends, while in a backoff queue; otherwise 0.
  uint64_t reported = 0;         // The hash of the last reported pod condition; 0 if none.
  // See rejection(). A queue has thousands of pods, and most of them are not rejected.
  std::unique_ptr<const Rejection> rejected_by = nullptr;
  std::unique_ptr<const Gate> gate = nullptr;  // Set while gated.

  // The rejection of the last attempt; while the entity is gated, the PreEnqueue plugin. Empty if
  // there was no attempt, or the last one failed with an error.
  const Rejection& rejection() const {
    static const Rejection kNone;
    return rejected_by != nullptr ? *rejected_by : kNone;
  }
  void SetRejection(Rejection rejection) {
    rejected_by = rejection.empty() ? nullptr : std::make_unique<Rejection>(std::move(rejection));
  }

  // Calls each(pod) for the pod, or for every member of the group.
  template <class F>
  void ForEachPod(F each) const {
    if (group == nullptr) return each(pod);
    for (const QueuedGroup::Member& member : group->members) each(member.pod);
  }
  // Returns whether `is` holds for the pod, or for any member of the group.
  template <class F>
  bool AnyPod(F is) const {
    if (group == nullptr) return is(pod);
    return std::ranges::any_of(group->members, is, &QueuedGroup::Member::pod);
  }
  // Returns whether the entity is, or contains, the pod with this uid.
  bool Has(std::string_view uid) const {
    return AnyPod([uid](const PodRef& one) { return one->uid() == uid; });
  }

  // Returns the view for QueueSort.
  berth_queued View() const {
    berth_queued view = ViewOf(pod);
    if (group != nullptr) view.kind = BERTH_QUEUED_GROUP;
    return view;
  }
  // Returns the view of one member for PreEnqueue and hints, which are called for each member
  // separately (BERTH_QUEUED_MEMBER), or of the pod if this is no group.
  berth_queued ViewOf(const PodRef& member) const {
    const std::string_view name = group != nullptr ? group->name : std::string_view();
    return {.struct_size = sizeof(berth_queued),
            .kind = group != nullptr ? uint32_t{BERTH_QUEUED_MEMBER} : uint32_t{BERTH_QUEUED_POD},
            .pod = &member->view(),
            .group = {name.data(), name.size()},
            .priority = member->view().priority,
            .attempts = attempts,
            .queued_ns = queued_ns,
            .first_attempt_ns = first_attempt_ns};
  }
};

// --- queue entry ---------------------------------------------------------------------------------
//
// The queue's internal record of an entity, and an intrusive list of such records.

struct ParkedClass;
struct SharedEntity;

// A queued entity with the queue's internal data. Never moves in memory. Fields listed for one
// place are meaningless in any other place.
struct QueueEntry {
  QueuedEntity entity;
  // Orders entities that compare equal: the lower number is tried first. Renewed with queued_ns.
  uint64_t sequence = 0;
  // A field of all places but kInFlight: the position in the heap, or in ParkedClass::pods.
  uint32_t index = 0;
  bool is_placed = false;  // False for a new entry, whose entity.place is meaningless.

  // Fields of the place kInFlight:
  bool is_recording = false;  // The event log records events for this entry.
  // The cluster deleted the pod; the entry is erased when its attempt ends.
  bool is_removed = false;
  uint64_t log_start = 0;  // The number of the first event after the recording started.
  uint64_t recording = 0;  // The number of the recording; never reused.

  // Fields of the place kActive: the entity's lane, if the order has lanes, and the entity that the
  // pod shares with others; null if it shares none.
  uint64_t lane = 0;
  SharedEntity* shared = nullptr;
  // The run in which the entry was last taken from the active queue; 0: none. See LaneQueue.
  uint64_t run = 0;

  // Fields of the places kUnschedulable and kGated:
  ParkedClass* parked_in = nullptr;
  int64_t parked_ns = 0;  // When the entry was parked, or PreEnqueue last rejected it.

  // Links of the one EntryList that the entry may be in.
  QueueEntry* previous = nullptr;
  QueueEntry* next = nullptr;
};

// A doubly linked intrusive list. An entry may be in one list at a time.
class EntryList {
 public:
  EntryList() = default;
  EntryList(const EntryList&) = delete;
  EntryList& operator=(const EntryList&) = delete;

  void PushBack(QueueEntry& entry) {
    entry.previous = back_;
    entry.next = nullptr;
    (back_ != nullptr ? back_->next : front_) = &entry;
    back_ = &entry;
    ++size_;
  }
  // REQUIRES: `before` is in the list.
  void InsertAfter(QueueEntry& before, QueueEntry& entry) {
    if (&before == back_) return PushBack(entry);
    entry.previous = &before;
    entry.next = before.next;
    entry.next->previous = before.next = &entry;
    ++size_;
  }
  void Remove(QueueEntry& entry) {
    BERTH_ASSERT(size_ > 0);
    (entry.previous != nullptr ? entry.previous->next : front_) = entry.next;
    (entry.next != nullptr ? entry.next->previous : back_) = entry.previous;
    entry.previous = entry.next = nullptr;
    --size_;
  }

  QueueEntry* front() const { return front_; }
  bool empty() const { return front_ == nullptr; }
  size_t size() const { return size_; }

 private:
  QueueEntry* front_ = nullptr;
  QueueEntry* back_ = nullptr;
  size_t size_ = 0;
};

// The active pods of one lane that share an entity.
struct SharedEntity {
  std::string_view name;  // "<namespace>/<text>", where the text is that of the plugin.
  EntryList pods;         // In no particular order; not empty.
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_QUEUED_ENTITY_H_
