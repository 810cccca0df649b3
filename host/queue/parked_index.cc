#include "host/queue/parked_index.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "host/api/part_hash.h"
#include "host/base/assert.h"
#include "host/base/hash.h"

namespace berth::host {
namespace {

bool Contains(const std::vector<PluginId>& plugins, PluginId plugin) {
  return std::ranges::binary_search(plugins, plugin);
}

// Calls `each` once for each plugin that rejected the entity.
template <class Each>
void ForEachRejector(const Rejection& rejection, Each each) {
  for (const PluginId plugin : rejection.plugins) each(plugin);
  for (const PluginId plugin : rejection.pending) {
    if (!Contains(rejection.plugins, plugin)) each(plugin);
  }
}

PodShape HashesOf(const Pod& pod, uint64_t parts) {
  PodShape shape;
  shape.reserve(static_cast<size_t>(std::popcount(parts)));
  for (uint64_t left = parts; left != 0; left &= left - 1) {
    shape.push_back(pod.part_hash(static_cast<uint32_t>(std::countr_zero(left))));
  }
  return shape;
}

// Returns the first entry for which `filter` holds; null if there is none.
const QueueEntry* FirstFor(const ParkedClass& parked, const EntityFilter* filter) {
  if (filter == nullptr) return parked.pods.front();
  const auto found = std::ranges::find_if(
      parked.pods, [filter](const QueueEntry* entry) { return (*filter)(entry->entity); });
  return found != parked.pods.end() ? *found : nullptr;
}

}  // namespace

Requeueing DecideRequeueing(const Rejection& rejection, std::span<const Interest* const> interests,
                            const QueuedEntity& entity, const ParkedIndex::HintFunction& hint) {
  const auto any_helps = [&](const std::vector<PluginId>& plugins) {
    return std::ranges::any_of(interests, [&](const Interest* interest) {
      return Contains(plugins, interest->plugin) &&
             (!interest->has_hint || hint(*interest, entity));
    });
  };
  if (any_helps(rejection.pending)) return Requeueing::kImmediately;
  return any_helps(rejection.plugins) ? Requeueing::kAfterBackoff : Requeueing::kSkip;
}

size_t PodShapeHash::operator()(const PodShape& shape) const {
  return HashBytes({reinterpret_cast<const char*>(shape.data()), shape.size() * sizeof(uint64_t)});
}

// --- adding and removing entries ----------------------------------------------------------------

void ParkedIndex::Add(QueueEntry& entry, int64_t now_ns) {
  entry.parked_ns = now_ns;
  entries_.PushBack(entry);
  AddToClass(entry);
}

void ParkedIndex::Remove(QueueEntry& entry) {
  RemoveFromClass(entry);
  entries_.Remove(entry);
}

void ParkedIndex::Rebuild() {
  groups_.clear();
  groups_of_.clear();
  for (QueueEntry* entry = entries_.front(); entry != nullptr; entry = entry->next)
    AddToClass(*entry);
}

void ParkedIndex::AddToClass(QueueEntry& entry) {
  RejectionGroup& group = GroupOf(entry);
  const auto [found, is_new] = group.classes.try_emplace(ShapeOf(group, entry.entity));
  ParkedClass& parked = found->second;
  if (is_new) parked.place = group.in_order.insert(group.in_order.end(), &parked);
  parked.group = &group;
  parked.shape = &found->first;
  entry.parked_in = &parked;
  entry.index = static_cast<uint32_t>(parked.pods.size());
  parked.pods.push_back(&entry);
}

void ParkedIndex::RemoveFromClass(QueueEntry& entry) {
  ParkedClass& parked = *entry.parked_in;
  entry.parked_in = nullptr;
  QueueEntry* last = parked.pods.back();
  parked.pods[entry.index] = last;
  last->index = entry.index;
  parked.pods.pop_back();
  if (!parked.pods.empty()) return;

  RejectionGroup& group = *parked.group;
  group.in_order.erase(parked.place);
  group.classes.erase(group.classes.find(*parked.shape));
  if (!group.classes.empty()) return;
  ForEachRejector(group.key->rejection, [&](PluginId plugin) {
    const auto groups = groups_of_.find(plugin);
    std::erase(groups->second, &group);
    if (groups->second.empty()) groups_of_.erase(groups);
  });
  groups_.erase(groups_.find(*group.key));
}

RejectionGroup& ParkedIndex::GroupOf(const QueueEntry& entry) {
  BERTH_ASSERT_MSG(!entry.entity.rejection().empty(),
                   "a pod without rejecting plugins cannot be parked: no event would requeue it");
  const auto [found, is_new] =
      groups_.try_emplace({.is_gated = entry.entity.place == QueuePlace::kGated,
                           .rejection = entry.entity.rejection()});
  RejectionGroup& group = found->second;
  if (!is_new) return group;
  group.key = &found->first;
  ForEachRejector(group.key->rejection, [&](PluginId plugin) {
    const InterestTable::HintParts parts = interests_.PartsOf(plugin);
    group.parts |= parts.mask;
    group.each_pod |= parts.each_pod;
    groups_of_[plugin].push_back(&group);
  });
  return group;
}

PodShape ParkedIndex::ShapeOf(const RejectionGroup& group, const QueuedEntity& entity) {
  if (!group.each_pod && entity.group == nullptr) return HashesOf(*entity.pod, group.parts);
  PodShape shape(static_cast<size_t>(std::popcount(group.parts)) +
                 1);  // Longer than HashesOf() returns.
  shape.back() = ++shapes_;
  return shape;
}

// --- events -------------------------------------------------------------------------------------

void ParkedIndex::SelectForRequeue(std::span<const Interest* const> interests,
                                   const EntityFilter* filter, const HintFunction& hint,
                                   std::vector<RequeuedEntry>& out) {
  for (const Interest* interest : interests) {
    const auto groups = groups_of_.find(interest->plugin);
    if (groups == groups_of_.end()) continue;
    for (RejectionGroup* group : groups->second) {
      if (group->interests.empty()) touched_.push_back(group);
      group->interests.push_back(interest);
    }
  }
  for (RejectionGroup* group : touched_) {
    for (const ParkedClass* parked : group->in_order) {
      const QueueEntry* first = FirstFor(*parked, filter);
      if (first == nullptr) continue;
      const Requeueing how =
          DecideRequeueing(group->key->rejection, group->interests, first->entity, hint);
      if (how == Requeueing::kSkip) continue;
      for (QueueEntry* entry : parked->pods) {
        if (filter == nullptr || (*filter)(entry->entity)) out.push_back({entry, how});
      }
    }
    group->interests.clear();
  }
  touched_.clear();
}

// --- invariants ---------------------------------------------------------------------------------

void ParkedIndex::CheckInvariants() const {
  int64_t parked_ns = INT64_MIN;
  size_t count = 0;
  for (const QueueEntry* entry = entries_.front(); entry != nullptr; entry = entry->next) {
    BERTH_ASSERT(entry->parked_ns >= parked_ns);
    parked_ns = entry->parked_ns;
    CheckEntry(*entry);
    ++count;
  }
  BERTH_ASSERT(count == entries_.size());
  for (const auto& keyed : groups_) {
    BERTH_ASSERT(keyed.second.key == &keyed.first);
    count -= CheckGroup(keyed.second);
  }
  BERTH_ASSERT(count == 0);
}

void ParkedIndex::CheckEntry(const QueueEntry& entry) const {
  const QueuedEntity& entity = entry.entity;
  const ParkedClass& parked = *entry.parked_in;
  const RejectionGroup& group = *parked.group;
  BERTH_ASSERT(parked.pods[entry.index] == &entry);
  BERTH_ASSERT(group.key->is_gated == (entity.place == QueuePlace::kGated));
  BERTH_ASSERT(group.key->rejection == entity.rejection());
  if (group.each_pod || entity.group != nullptr) {
    BERTH_ASSERT(parked.pods.size() == 1);
  } else {
    BERTH_ASSERT(*parked.shape == HashesOf(*entity.pod, group.parts));
  }
}

size_t ParkedIndex::CheckGroup(const RejectionGroup& group) const {
  BERTH_ASSERT(!group.classes.empty() && group.interests.empty());
  ForEachRejector(group.key->rejection, [this, &group](PluginId plugin) {
    BERTH_ASSERT(std::ranges::count(groups_of_.at(plugin), &group) == 1);
  });
  BERTH_ASSERT(group.in_order.size() == group.classes.size());
  size_t count = 0;
  for (const auto& [shape, parked] : group.classes) {
    BERTH_ASSERT(*parked.place == &parked);
    BERTH_ASSERT(parked.group == &group && parked.shape == &shape && !parked.pods.empty());
    count += parked.pods.size();
  }
  return count;
}

}  // namespace berth::host
