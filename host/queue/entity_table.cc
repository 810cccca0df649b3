#include "host/queue/entity_table.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/hash.h"

namespace berth::host {
namespace {

using Member = QueuedGroup::Member;

int32_t PriorityOf(const Member& member) { return member.pod->view().priority; }

std::vector<Member>::iterator MemberOf(const QueueEntry& group, std::string_view uid) {
  std::vector<Member>& members = group.entity.group->members;
  const auto found = std::ranges::find(members, uid, [](const Member& m) { return m.pod->uid(); });
  BERTH_ASSERT(found != members.end());
  return found;
}

// Returns "namespace/name" of the pod, or "group namespace/name".
std::string SlowNameOf(const QueuedEntity& entity) {
  return entity.group != nullptr ? "group " + entity.group->name : entity.pod->Key();
}

}  // namespace

// --- look-up ------------------------------------------------------------------------------------

QueueEntry* EntityTable::Find(std::string_view uid) const {
  if (const auto* found = pods_.Find(uid)) return found->get();
  if (groups_of_.empty()) return nullptr;
  const auto group = groups_of_.find(uid);
  return group != groups_of_.end() ? group->second : nullptr;
}

QueueEntry* EntityTable::FindGroup(std::string_view name) const {
  const auto* found = groups_.Find(name);
  return found != nullptr ? found->get() : nullptr;
}

const PodRef& EntityTable::PodOf(const QueueEntry& entry, std::string_view uid) {
  return entry.entity.group != nullptr ? MemberOf(entry, uid)->pod : entry.entity.pod;
}

uint64_t& EntityTable::ReportedOf(QueueEntry& entry, std::string_view uid) {
  return entry.entity.group != nullptr ? MemberOf(entry, uid)->reported : entry.entity.reported;
}

// --- entries ------------------------------------------------------------------------------------

QueueEntry& EntityTable::AddPod(PodRef pod) {
  auto owned = std::make_unique<QueueEntry>();
  QueueEntry& entry = *owned;
  entry.entity.pod = std::move(pod);
  pods_.Add(std::move(owned));
  return entry;
}

QueueEntry& EntityTable::AddGroup(std::string name, PodRef pod) {
  auto owned = std::make_unique<QueueEntry>();
  QueueEntry& group = *owned;
  group.entity.group = std::make_unique<QueuedGroup>();
  group.entity.group->name = std::move(name);
  groups_.Add(std::move(owned));
  AddMember(group, std::move(pod));
  return group;
}

void EntityTable::SetPod(QueueEntry& entry, const PodRef& pod) {
  if (entry.entity.group == nullptr) {
    entry.entity.pod = pod;
    return;
  }
  const auto member = MemberOf(entry, pod->uid());
  const bool keeps_position = PriorityOf(*member) == pod->view().priority;
  member->pod = pod;
  if (!keeps_position) return Insert(entry, Extract(entry, pod->uid()));
  entry.entity.pod = entry.entity.group->members.front().pod;
}

void EntityTable::SetSlowCount(QueueEntry& entry, uint32_t count) {
  uint32_t& present = entry.entity.slow_count;
  if (present == 0 && count == 0) return;
  if (present == 0) slow_pods_.Add(SlowNameOf(entry.entity));
  if (count == 0) slow_pods_.Remove(SlowNameOf(entry.entity));
  present = count;
}

void EntityTable::Erase(QueueEntry& entry) {
  SetSlowCount(entry, 0);
  if (entry.entity.group == nullptr) {
    ExtractPod(entry);
    return;
  }
  for (const Member& member : entry.entity.group->members) {
    groups_of_.erase(groups_of_.find(member.pod->uid()));
  }
  groups_.Take(entry.entity.group->name);
}

std::unique_ptr<QueueEntry> EntityTable::ExtractPod(const QueueEntry& entry) {
  return pods_.Take(entry.entity.pod->uid());
}

// --- members of groups --------------------------------------------------------------------------

void EntityTable::AddMember(QueueEntry& group, PodRef pod) {
  Insert(group, {.pod = std::move(pod)});
}

void EntityTable::RemoveMember(QueueEntry& group, std::string_view uid) { Extract(group, uid); }

QueueEntry& EntityTable::SplitFromGroup(QueueEntry& group, std::string_view uid) {
  const Member member = Extract(group, uid);
  QueueEntry& entry = AddPod(member.pod);
  const QueuedEntity& from = group.entity;
  entry.entity.attempts = from.attempts;
  entry.entity.rejected_count = from.rejected_count;
  entry.entity.error_count = from.error_count;
  SetSlowCount(entry, from.slow_count);
  entry.entity.queued_ns = from.queued_ns;
  entry.entity.first_attempt_ns = from.first_attempt_ns;
  entry.entity.popped_ns = from.popped_ns;
  entry.entity.was_flushed = from.was_flushed;
  entry.entity.reported = member.reported;
  entry.sequence = group.sequence;
  return entry;
}

// A pod that failed after it left its group must not let the other members skip their backoff.
void EntityTable::JoinGroup(QueueEntry& entry, QueueEntry& group) {
  const uint32_t slow_count = std::max(group.entity.slow_count, entry.entity.slow_count);
  SetSlowCount(entry, 0);
  SetSlowCount(group, slow_count);
  const std::unique_ptr<QueueEntry> owned = ExtractPod(entry);
  const QueuedEntity& from = owned->entity;
  QueuedEntity& to = group.entity;
  to.attempts = std::max(to.attempts, from.attempts);
  to.rejected_count = std::max(to.rejected_count, from.rejected_count);
  to.error_count = std::max(to.error_count, from.error_count);
  if (to.error_count > 0) to.error_count = std::max(to.error_count, to.rejected_count);
  to.queued_ns = from.queued_ns;
  if (to.first_attempt_ns == 0) to.first_attempt_ns = from.first_attempt_ns;
  group.sequence = owned->sequence;
  Insert(group, {.pod = from.pod, .reported = from.reported});
}

void EntityTable::MakeGroup(QueueEntry& entry, std::string name) {
  const uint32_t slow_count = entry.entity.slow_count;
  SetSlowCount(entry, 0);
  std::unique_ptr<QueueEntry> owned = ExtractPod(entry);
  entry.entity.group = std::make_unique<QueuedGroup>();
  entry.entity.group->name = std::move(name);
  groups_.Add(std::move(owned));
  Insert(entry, {.pod = entry.entity.pod, .reported = std::exchange(entry.entity.reported, 0)});
  SetSlowCount(entry, slow_count);
}

void EntityTable::Insert(QueueEntry& group, Member member) {
  std::vector<Member>& members = group.entity.group->members;
  groups_of_.emplace(member.pod->uid(), &group);
  const auto behind =
      std::ranges::upper_bound(members, PriorityOf(member), std::greater<>(), PriorityOf);
  members.insert(behind, std::move(member));
  group.entity.pod = members.front().pod;
}

// In a group without members, entity.pod stays the pod of the last member.
Member EntityTable::Extract(QueueEntry& group, std::string_view uid) {
  std::vector<Member>& members = group.entity.group->members;
  const auto found = MemberOf(group, uid);
  Member member = std::move(*found);
  members.erase(found);
  groups_of_.erase(groups_of_.find(member.pod->uid()));
  if (!members.empty()) group.entity.pod = members.front().pod;
  return member;
}

// --- invariants ---------------------------------------------------------------------------------

void EntityTable::CheckInvariants() const {
  pods_.ForEach([](const auto& entry) { BERTH_ASSERT(entry->entity.group == nullptr); });
  size_t members = 0;
  groups_.ForEach([&](const auto& entry) {
    CheckGroup(*entry);
    members += entry->entity.group->members.size();
  });
  BERTH_ASSERT(members == groups_of_.size());
}

void EntityTable::CheckGroup(const QueueEntry& entry) const {
  const std::vector<Member>& members = entry.entity.group->members;
  BERTH_ASSERT(members.empty() || entry.entity.pod == members.front().pod);
  BERTH_ASSERT(std::ranges::is_sorted(members, std::greater<>(), PriorityOf));
  for (const Member& member : members) {
    BERTH_ASSERT(groups_of_.at(std::string(member.pod->uid())) == &entry);
  }
}

}  // namespace berth::host
