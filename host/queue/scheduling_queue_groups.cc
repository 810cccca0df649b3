// The part of SchedulingQueue that handles groups: pods that are queued together and tried in one
// cycle.
#include <algorithm>
#include <string>
#include <utility>

#include "host/base/assert.h"
#include "host/queue/scheduling_queue.h"

namespace berth::host {
namespace {

using Member = QueuedGroup::Member;

int32_t PriorityOf(const Member& member) { return member.pod->view().priority; }

std::vector<Member>::iterator MemberOf(QueuedEntity& entity, std::string_view uid) {
  std::vector<Member>& members = entity.group->members;
  const auto found = std::ranges::find(members, uid, [](const Member& m) { return m.pod->uid(); });
  BERTH_ASSERT(found != members.end());
  return found;
}

}  // namespace

std::string SchedulingQueue::GroupNameOf(const Pod& pod) const {
  const std::string_view name = Text(pod.view().pod_group);
  if (!has_groups_ || name.empty() || pod.terminating()) return "";
  return std::string(pod.ns()).append(1, '/').append(name);
}

PodRef SchedulingQueue::PodOf(std::string_view uid) const {
  QueueEntry* entry = Entry(uid);
  if (entry == nullptr) return nullptr;
  return entry->entity.group != nullptr ? MemberOf(entry->entity, uid)->pod : entry->entity.pod;
}

QueueEntry* SchedulingQueue::Group(std::string_view name) const {
  const auto found = groups_.find(name);
  return found != groups_.end() ? found->get() : nullptr;
}

uint64_t& SchedulingQueue::ReportedOf(QueueEntry& entry, std::string_view uid) {
  QueuedEntity& entity = entry.entity;
  return entity.group != nullptr ? MemberOf(entity, uid)->reported : entity.reported;
}

// --- members ------------------------------------------------------------------------------------

void SchedulingQueue::AddMember(QueueEntry& group, Member member) {
  std::vector<Member>& members = group.entity.group->members;
  members_.emplace(member.pod->uid(), &group);
  const auto behind =
      std::ranges::upper_bound(members, PriorityOf(member), std::greater<>(), PriorityOf);
  members.insert(behind, std::move(member));
  group.entity.pod = members.front().pod;
}

Member SchedulingQueue::DropMember(QueueEntry& group, std::string_view uid) {
  std::vector<Member>& members = group.entity.group->members;
  const auto found = MemberOf(group.entity, uid);
  Member member = std::move(*found);
  members.erase(found);
  members_.erase(members_.find(member.pod->uid()));
  if (!members.empty()) group.entity.pod = members.front().pod;
  return member;
}

void SchedulingQueue::SetPod(QueueEntry& entry, const PodRef& pod) {
  if (entry.entity.group == nullptr) {
    entry.entity.pod = pod;
    return;
  }
  const auto member = MemberOf(entry.entity, pod->uid());
  const bool keeps_place = PriorityOf(*member) == pod->view().priority;
  member->pod = pod;
  if (!keeps_place) return AddMember(entry, DropMember(entry, pod->uid()));
  entry.entity.pod = entry.entity.group->members.front().pod;
}

// A group in flight continues its attempt with the members that it was popped with, and is tried
// again afterwards. For a waiting group, PreEnqueue runs for all members, because they may be
// waiting for each other.
void SchedulingQueue::ChangeMembers(QueueEntry& group, const std::function<void()>& change,
                                    Requeueing when_ready) {
  const QueuePlace from = group.entity.place;
  if (from == QueuePlace::kInFlight) {
    change();
    return log_.AppendFor(group, QueueEvent(), kAllPlugins);
  }
  Leave(group);
  change();
  const bool was_ready = from == QueuePlace::kActive;
  Requeue(group, was_ready ? when_ready : Requeueing::kAfterBackoff);
}

// Members that fit may have been waiting for the room of another member's nomination, which no
// longer exists.
void SchedulingQueue::OnMemberNominationRemoved(const PodRef& pod) {
  QueueEntry* entry = Entry(pod->uid());
  if (entry == nullptr || entry->entity.group == nullptr) return;
  if (!nominator_.NodeOf(pod->uid()).empty()) return;  // The member is nominated to another node.
  if (entry->entity.place == QueuePlace::kUnschedulable) {
    Requeue(*entry, Requeueing::kAfterBackoff);
  } else {
    log_.AppendFor(*entry, QueueEvent(), kAllPlugins);  // The group is in flight.
  }
}

void SchedulingQueue::SetGroups(bool groups) {
  if (groups == has_groups_) return;
  std::vector<std::pair<uint64_t, PodRef>> pods;  // With their sequence, to keep the order.
  for (const Entries* entries : {&entries_, &groups_}) {
    for (const auto& entry : *entries) {
      if (entry->entity.place == QueuePlace::kInFlight) continue;
      entry->entity.ForEachPod([&](const PodRef& pod) {
        if (pod->view().pod_group.len != 0) pods.emplace_back(entry->sequence, pod);
      });
    }
  }
  std::ranges::stable_sort(pods, {}, [](const auto& pod) { return pod.first; });
  for (const auto& [sequence, pod] : pods) {
    QueueEntry& entry = *Entry(pod->uid());
    if (entry.entity.group != nullptr) {
      RemoveFromGroup(entry, pod->uid());
    } else {
      Erase(entry);
    }
  }
  has_groups_ = groups;
  for (const auto& [sequence, pod] : pods) {
    const std::string node(nominator_.NodeOf(pod->uid()));
    Create(pod);
    nominator_.Add(pod, node);
  }
}

// --- adding and removing members ----------------------------------------------------------------

void SchedulingQueue::CreateInGroup(PodRef pod, std::string name) {
  nominator_.Add(pod, pod->nominated_node());
  if (QueueEntry* group = Group(name)) {
    ChangeMembers(*group, [&] { AddMember(*group, {.pod = pod}); });
    return ApplyPodAdded(pod);
  }
  auto owned = std::make_unique<QueueEntry>();
  QueueEntry& group = *owned;
  group.entity.group = std::make_unique<QueuedGroup>();
  group.entity.group->name = std::move(name);
  group.entity.queued_ns = clock_.NowNs();
  group.sequence = ++sequence_;
  AddMember(group, {.pod = pod});
  groups_.insert(std::move(owned));
  Requeue(group, Requeueing::kImmediately);
  ApplyPodAdded(pod);
}

void SchedulingQueue::RemoveFromGroup(QueueEntry& group, std::string_view uid) {
  const bool is_last = group.entity.group->members.size() == 1;
  if (!is_last || group.entity.place == QueuePlace::kInFlight) {
    return ChangeMembers(group, [&] { DropMember(group, uid); });
  }
  DropMember(group, uid);
  Erase(group);
}

void SchedulingQueue::SplitFromGroup(std::string_view uid) {
  QueueEntry& group = EntryInFlight(uid);
  BERTH_ASSERT(group.entity.group != nullptr);
  Member member = DropMember(group, uid);
  const QueuedEntity& from = group.entity;
  auto owned = std::make_unique<QueueEntry>();
  QueueEntry& entry = *owned;
  entry.entity = {.pod = std::move(member.pod),
                  .place = QueuePlace::kInFlight,
                  .attempts = from.attempts,
                  .rejected_count = from.rejected_count,
                  .error_count = from.error_count,
                  .queued_ns = from.queued_ns,
                  .first_attempt_ns = from.first_attempt_ns,
                  .reported = member.reported};
  entry.sequence = group.sequence;
  entry.is_placed = true;
  ++counts_[static_cast<size_t>(QueuePlace::kInFlight)];
  log_.StartFrom(group, entry);
  entries_.insert(std::move(owned));
  if (from.group->members.empty()) Erase(group);
}

void SchedulingQueue::ReturnGroup(std::string_view name, Rejection rejection) {
  QueueEntry* group = Group(name);
  BERTH_ASSERT(group != nullptr && group->entity.place == QueuePlace::kInFlight);
  if (group->entity.group->members.empty()) return Erase(*group);
  ParkOrRequeue(*group, EndAttempt(*group, std::move(rejection)));
}

// A pod that failed after it left its group must not let the other members skip the backoff.
void SchedulingQueue::ReturnToGroup(QueueEntry& entry, Requeueing how) {
  std::string name = GroupNameOf(*entry.entity.pod);
  QueuedEntity& entity = entry.entity;
  Leave(entry);
  auto owned = std::move(entries_.extract(entries_.find(entity.pod->uid())).value());
  const Member member{.pod = entity.pod, .reported = std::exchange(entity.reported, 0)};
  QueueEntry* group = Group(name);
  if (group == nullptr) {
    entity.group = std::make_unique<QueuedGroup>();
    entity.group->name = std::move(name);
    AddMember(entry, member);
    groups_.insert(std::move(owned));
    return ParkOrRequeue(entry, how);
  }
  const auto join = [&] {
    QueuedEntity& of_all = group->entity;
    of_all.attempts = std::max(of_all.attempts, entity.attempts);
    of_all.rejected_count = std::max(of_all.rejected_count, entity.rejected_count);
    of_all.error_count = std::max(of_all.error_count, entity.error_count);
    if (of_all.error_count > 0) {  // Take the longer of both backoffs.
      of_all.error_count = std::max(of_all.error_count, of_all.rejected_count);
    }
    of_all.queued_ns = entity.queued_ns;
    if (of_all.first_attempt_ns == 0) of_all.first_attempt_ns = entity.first_attempt_ns;
    group->sequence = entry.sequence;
    AddMember(*group, member);
  };
  ChangeMembers(*group, join, Requeueing::kAfterBackoff);
}

void SchedulingQueue::CheckGroup(const QueueEntry& entry) const {
  const std::vector<Member>& members = entry.entity.group->members;
  BERTH_ASSERT(!entry.is_removed);
  BERTH_ASSERT(!members.empty() || entry.entity.place == QueuePlace::kInFlight);
  BERTH_ASSERT(members.empty() || entry.entity.pod == members.front().pod);
  BERTH_ASSERT(std::ranges::is_sorted(members, std::greater<>(), PriorityOf));
  for (const Member& member : members) {
    BERTH_ASSERT(members_.at(std::string(member.pod->uid())) == &entry);
    BERTH_ASSERT(GroupNameOf(*member.pod) == entry.entity.group->name);
  }
}

}  // namespace berth::host
