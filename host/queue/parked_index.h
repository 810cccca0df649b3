// Pods that wait for an event, by who rejected them and by what those look at in a pod: an event
// costs what it may help, not what is parked.
#ifndef BERTH_HOST_QUEUE_PARKED_INDEX_H_
#define BERTH_HOST_QUEUE_PARKED_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/queue/event_log.h"
#include "host/queue/interest_table.h"
#include "host/queue/queue_entry.h"

namespace berth::host {

// What an event is to a rejected pod.
enum class Requeueing : uint8_t { kSkip, kAfterBackoff, kImmediately };

struct RejectionGroup;

// What rejectors look at in a pod: hashes of its parts. With a number of its own where they look at
// each pod, and of a group.
using PodShape = std::vector<uint64_t>;

struct PodShapeHash {
  size_t operator()(const PodShape& shape) const;
};

// Pods that cannot be told apart by those who rejected them. Never empty.
struct ParkedClass {
  RejectionGroup* group = nullptr;
  const PodShape* shape = nullptr;  // Its key in the group.
  std::vector<QueueEntry*> pods;
};

// Pods that were rejected by the same plugins. Never empty.
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
  // Of the event at hand: the interests of those who rejected.
  std::vector<const Interest*> interests;
};

// Threading: the scheduling thread.
// Lifetime:  `interests` must outlive it.
// Cost:      Add, Remove, Update: O(1), but for a look-up among the sets of rejectors. Offer: one
//            question for each class of the plugins that registered for the event, and the pods
//            that it helps.
class ParkedIndex {
 public:
  struct Helped {
    QueueEntry* entry = nullptr;
    Requeueing how = Requeueing::kSkip;
  };
  using Ask = std::function<bool(const Interest& interest, const QueuedEntity& entity)>;

  explicit ParkedIndex(const InterestTable& interests) : interests_(interests) {}
  ParkedIndex(const ParkedIndex&) = delete;
  ParkedIndex& operator=(const ParkedIndex&) = delete;

  // REQUIRES: its place is kUnschedulable or kGated, somebody rejected it, and it is not here.
  void Add(QueueEntry& entry, int64_t now_ns);
  // REQUIRES: it is here.
  void Remove(QueueEntry& entry);
  // Calls `change`, which makes it as the cluster says now. It has not been parked anew.
  // REQUIRES: it is here.
  template <class F>
  void Update(QueueEntry& entry, F change) {
    Leave(entry);
    change();
    Join(entry);
  }
  // The interests have changed.
  void Rebuild();

  // Appends those that an event helps for which `interests` were registered, and how. `which`, if
  // given, says who is looked at; one pod of a class is asked about, for all.
  // Must not: add or remove anything within.
  void Offer(std::span<const Interest* const> interests, const EntityFilter* which, const Ask& ask,
             std::vector<Helped>& out);

  // In the order in which they were parked.
  const EntryList& entries() const { return entries_; }
  // Asserts that every entry is where it belongs. For tests.
  void CheckInvariants() const;

 private:
  void Join(QueueEntry& entry);
  void Leave(QueueEntry& entry);
  RejectionGroup& GroupOf(const QueueEntry& entry);
  PodShape ShapeOf(const RejectionGroup& group, const QueuedEntity& entity);
  void CheckEntry(const QueueEntry& entry) const;
  // How many are in it.
  size_t CheckGroup(const RejectionGroup& group) const;

  const InterestTable& interests_;
  EntryList entries_;
  std::map<RejectionGroup::Key, RejectionGroup> groups_;
  std::unordered_map<PluginId, std::vector<RejectionGroup*>> groups_of_;
  uint64_t shapes_ = 0;                   // Numbers given out.
  std::vector<RejectionGroup*> touched_;  // Within Offer().
};

// What an event is to a pod that was rejected so, where `interests` are those that match it: those
// of a pending plugin take it past its backoff.
// (kube-scheduler: scheduling_queue.go, isPodWorthRequeuing)
Requeueing Judge(const Rejection& rejection, std::span<const Interest* const> interests,
                 const QueuedEntity& entity, const ParkedIndex::Ask& ask);

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_PARKED_INDEX_H_
