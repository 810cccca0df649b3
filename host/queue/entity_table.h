// The pods and groups in the scheduling queue, by pod uid and by group name.
#ifndef BERTH_HOST_QUEUE_ENTITY_TABLE_H_
#define BERTH_HOST_QUEUE_ENTITY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "host/api/objects.h"
#include "host/base/keyed_set.h"
#include "host/base/sample.h"
#include "host/base/string_map.h"
#include "host/queue/queued_entity.h"

namespace berth::host {

// The names of pods and groups for which a plugin missed its deadline in the last attempt, for
// other threads.
//
// Threading: any.
class SlowPods {
 public:
  void Add(std::string name) {
    const std::scoped_lock lock(mutex_);
    names_.insert(std::move(name));
  }
  void Remove(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    const auto found = names_.find(name);
    if (found != names_.end()) names_.erase(found);
  }
  // Returns up to `limit` names, as SampleOf() selects them.
  Sample Read(size_t limit) const {
    const std::scoped_lock lock(mutex_);
    return SampleOf(names_, limit, std::identity(), std::identity());
  }

 private:
  mutable std::mutex mutex_;
  std::multiset<std::string, std::less<>> names_;  // Guarded by mutex_.
};

// Owns the entries of the queue. A pod is in the table at most once: it has an entry of its own, or
// it is a member of one group. The table does not depend on the places of entries.
//
// Threading: the scheduling thread.
// Lifetime:  an entry stays where it is in memory until Erase(), or until JoinGroup() for the entry
//            of the pod.
// Cost:      O(1); for a group O(its members).
class EntityTable {
 public:
  EntityTable() = default;
  EntityTable(const EntityTable&) = delete;
  EntityTable& operator=(const EntityTable&) = delete;

  // Returns the entry of the pod, which is its group for a member of a group; null if the pod is
  // not in the table.
  QueueEntry* Find(std::string_view uid) const;
  // Returns the group with this name ("<namespace>/<name>"); null if there is none.
  QueueEntry* FindGroup(std::string_view name) const;
  // Returns the latest version of the pod. REQUIRES: Find(uid) returns `entry`.
  static const PodRef& PodOf(const QueueEntry& entry, std::string_view uid);
  // Returns the hash of the condition that was last reported for the pod, which the caller may
  // change. REQUIRES: Find(uid) returns `entry`.
  static uint64_t& ReportedOf(QueueEntry& entry, std::string_view uid);

  // Adds a pod with an entry of its own. REQUIRES: the pod is not in the table.
  QueueEntry& AddPod(PodRef pod);
  // Adds a group with its first member. REQUIRES: the table has neither the pod nor a group with
  // this name.
  QueueEntry& AddGroup(std::string name, PodRef pod);
  // Replaces the pod by a new version of it. A member whose priority changed moves behind the
  // members of its new priority. REQUIRES: Find(pod->uid()) returns `entry`.
  void SetPod(QueueEntry& entry, const PodRef& pod);
  // Sets how many attempts in a row a plugin has made too slow; see QueuedEntity::slow_count.
  void SetSlowCount(QueueEntry& entry, uint32_t count);
  // Returns the entities whose slow_count is not 0.
  const SlowPods& slow_pods() const { return slow_pods_; }
  // Removes an entry and the pods that it still has.
  void Erase(QueueEntry& entry);

  // Adds a pod to the group, behind the members of the same or a higher priority. REQUIRES: the pod
  // is not in the table.
  void AddMember(QueueEntry& group, PodRef pod);
  // Removes a member. The group stays in the table even if it has no more members.
  // REQUIRES: the pod is a member of the group.
  void RemoveMember(QueueEntry& group, std::string_view uid);
  // Moves a member to a new entry of its own, with the attempts, times and sequence of its group.
  // The group stays in the table even if it has no more members. Returns the new entry.
  // REQUIRES: the pod is a member of the group.
  QueueEntry& SplitFromGroup(QueueEntry& group, std::string_view uid);
  // Moves the pod of the entry to the group, as AddMember(), and erases the entry. The group gets
  // the time and sequence of the entry, whose attempt ended last, and the larger of both counts of
  // attempts, rejections and errors. If there were errors, error_count is at least rejected_count,
  // so that the group waits for the longer of both backoffs.
  // REQUIRES: the entry has a single pod.
  void JoinGroup(QueueEntry& entry, QueueEntry& group);
  // Makes the entry a group whose only member is its pod. The entry keeps its attempts, times and
  // sequence. REQUIRES: the entry has a single pod, and no group has this name.
  void MakeGroup(QueueEntry& entry, std::string name);

  // Returns the number of pods, alone and in groups.
  size_t pod_count() const { return pods_.size() + groups_of_.size(); }
  // Calls each(entry) for every entry, in no particular order.
  // Must not: add or remove entries or members within `each`.
  template <class F>
  void ForEach(F each) const {
    for (const Entries* entries : {&pods_, &groups_}) {
      entries->ForEach([&](const std::unique_ptr<QueueEntry>& entry) { each(*entry); });
    }
  }
  // Asserts that the members of groups are sorted and that the index of members is right. For
  // tests.
  void CheckInvariants() const;

 private:
  // The uid of a pod that is in no group, or the name of a group.
  struct KeyOf {
    std::string_view operator()(const std::unique_ptr<QueueEntry>& entry) const {
      const QueuedEntity& entity = entry->entity;
      return entity.group != nullptr ? std::string_view(entity.group->name) : entity.pod->uid();
    }
  };
  using Entries = KeyedSet<std::unique_ptr<QueueEntry>, KeyOf>;

  void Insert(QueueEntry& group, QueuedGroup::Member member);
  QueuedGroup::Member Extract(QueueEntry& group, std::string_view uid);
  std::unique_ptr<QueueEntry> ExtractPod(const QueueEntry& entry);
  void CheckGroup(const QueueEntry& entry) const;

  Entries pods_;  // Pods that are in no group.
  Entries groups_;
  StringMap<QueueEntry*> groups_of_;  // The groups by the uids of their members.
  SlowPods slow_pods_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_QUEUE_ENTITY_TABLE_H_
