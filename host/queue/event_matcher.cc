#include "host/queue/event_matcher.h"

#include <bit>
#include <utility>
#include <variant>

#include "host/api/part_hash.h"
#include "host/base/assert.h"
#include "host/base/hash.h"

namespace berth::host {

void EventLog::Start(QueueEntry& entry) {
  BERTH_ASSERT(!entry.is_recording);
  entry.is_recording = true;
  entry.recording = ++recordings_;
  entry.log_start = first_ + records_.size();
  recorders_.PushBack(entry);
  CountRecorders();
}

void EventLog::StartFrom(QueueEntry& other, QueueEntry& entry) {
  BERTH_ASSERT(!entry.is_recording);
  if (!other.is_recording) return;
  entry.is_recording = true;
  entry.recording = ++recordings_;
  entry.log_start = other.log_start;
  recorders_.InsertAfter(other, entry);
  CountRecorders();
}

void EventLog::Stop(QueueEntry& entry) {
  if (!entry.is_recording) return;
  entry.is_recording = false;
  recorders_.Remove(entry);
  CountRecorders();
  Trim();
}

void EventLog::Append(const QueueEvent& event, PluginBits plugins, const EntityFilter* filter) {
  if (recorders_.empty()) return;
  Record record{.event = event, .only = 0, .except = {}, .counted = nullptr};
  if (filter != nullptr) {
    for (const QueueEntry* entry = recorders_.front(); entry != nullptr; entry = entry->next) {
      if (!(*filter)(entry->entity)) record.except.push_back(entry->recording);
    }
    if (record.except.size() == recorders_.size()) return;
  }
  Add(std::move(record), plugins);
}

void EventLog::AppendFor(const QueueEntry& entry, const QueueEvent& event, PluginBits plugins) {
  if (entry.is_recording)
    Add({.event = event, .only = entry.recording, .except = {}, .counted = nullptr}, plugins);
}

void EventLog::PolicyChanged() { std::ranges::fill(registered_, kAllPlugins); }

void EventLog::Add(Record record, PluginBits plugins) {
  if (meter_ != nullptr) {
    record.counted = &meter_->InflightEventsOf(meter_->LabelOf(record.event));
    record.counted->Add(1);
  }
  records_.push_back(std::move(record));
  registered_.push_back(plugins);
  if (records_.size() <= max_events_) return;
  DropOldest();
  while (!recorders_.empty() && recorders_.front()->log_start < first_) {
    recorders_.front()->is_recording = false;
    recorders_.Remove(*recorders_.front());
  }
  CountRecorders();
  Trim();
}

void EventLog::Trim() {
  const uint64_t seen =
      recorders_.empty() ? first_ + records_.size() : recorders_.front()->log_start;
  while (first_ < seen) DropOldest();
}

// kube-scheduler counts the marker of each pod in flight as an event "PodPopped".
void EventLog::CountRecorders() {
  if (meter_ == nullptr) return;
  meter_->InflightEventsOf(QueueMeter::kPodPopped).Set(static_cast<int64_t>(recorders_.size()));
}

void EventLog::DropOldest() {
  if (Gauge* counted = records_.front().counted; counted != nullptr) counted->Add(-1);
  records_.pop_front();
  registered_.pop_front();
  ++first_;
}

void EventLog::CheckInvariants() const {
  BERTH_ASSERT(records_.size() <= max_events_ && registered_.size() == records_.size());
  BERTH_ASSERT(records_.empty() || !recorders_.empty());
  uint64_t start = first_;
  for (const QueueEntry* entry = recorders_.front(); entry != nullptr; entry = entry->next) {
    BERTH_ASSERT(entry->is_recording && entry->log_start >= start);
    BERTH_ASSERT(entry->entity.place == QueuePlace::kInFlight);
    start = entry->log_start;
  }
  BERTH_ASSERT(recorders_.empty() || recorders_.front()->log_start == first_);
}

// --- parked index --------------------------------------------------------------------------------

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

namespace {

berth_tagged Tag(const AnyObject& object) {
  if (const auto* pod = std::get_if<PodRef>(&object); pod != nullptr && *pod != nullptr) {
    return {BERTH_KIND_POD, 0, &(*pod)->view()};
  }
  if (const auto* node = std::get_if<NodeRef>(&object); node != nullptr && *node != nullptr) {
    return {BERTH_KIND_NODE, 0, &(*node)->view()};
  }
  if (const auto* other = std::get_if<ObjectRef>(&object); other != nullptr && *other != nullptr) {
    return {BERTH_KIND_OBJECT, 0, &(*other)->view()};
  }
  return {0, 0, nullptr};
}

PluginBits BitsOf(const std::vector<const Interest*>& interests) {
  PluginBits bits = 0;
  for (const Interest* interest : interests) bits |= BitOf(interest->plugin);
  return bits;
}

// Calls hints, and observes how long they take if there is a meter.
// Lifetime: the arguments of the constructor must outlive it.
class HintCaller {
 public:
  HintCaller(QueuePolicy& policy, QueueMeter* meter, const QueueEvent& event)
      : policy_(policy), meter_(meter), event_(event) {}

  bool Call(const Interest& interest, const berth_queued& queued, const berth_event& seen) {
    if (meter_ == nullptr) return policy_.Hint(interest, queued, seen);
    if (series_ == nullptr || plugin_ != interest.plugin) {
      plugin_ = interest.plugin;
      series_ = &meter_->HintSeriesOf(plugin_, meter_->LabelOf(event_));
    }
    const int64_t since_ns = meter_->NowNs();
    const bool requeues = policy_.Hint(interest, queued, seen);
    meter_->ObserveHint(*series_, requeues, since_ns);
    return requeues;
  }

 private:
  QueuePolicy& policy_;
  QueueMeter* meter_;
  const QueueEvent& event_;
  PluginId plugin_ = 0;  // The plugin of series_.
  const QueueMeter::HintSeries* series_ = nullptr;
};

// Returns a function that calls an interest's hint for the event. For a group it calls the hint for
// each member until one returns true. A TARGET_POD event is passed only for the pod itself.
auto MakeHintFunction(QueuePolicy& policy, QueueMeter* meter, const QueueEvent& event) {
  const PodRef* target =
      event.resource == BERTH_RESOURCE_TARGET_POD ? std::get_if<PodRef>(&event.after) : nullptr;
  berth_event seen{.struct_size = sizeof(berth_event),
                   .resource = event.resource,
                   .actions = event.action,
                   .interest = 0,
                   .before = Tag(event.before),
                   .after = Tag(event.after)};
  return [caller = HintCaller(policy, meter, event), seen, target](
             const Interest& interest, const QueuedEntity& entity) mutable {
    seen.interest = interest.index;
    return entity.AnyPod([&](const PodRef& pod) {
      return (target == nullptr || pod->uid() == (*target)->uid()) &&
             caller.Call(interest, entity.ViewOf(pod), seen);
    });
  };
}

}  // namespace

const std::vector<const Interest*>& EventMatcher::InterestsIn(const QueueEvent& event) {
  matching_.clear();
  interests_.Find(event, matching_);
  return matching_;
}

void EventMatcher::Apply(const QueueEvent& event, const EntityFilter* parked,
                         const EntityFilter* in_flight,
                         std::vector<ParkedIndex::RequeuedEntry>& requeued) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) {
    return ApplyWildcard(event, parked, in_flight, requeued);
  }
  const std::vector<const Interest*>& interests = InterestsIn(event);
  if (interests.empty()) return;
  log_.Append(event, BitsOf(interests), in_flight);
  parked_.SelectForRequeue(interests, parked, MakeHintFunction(policy_, meter_, event), requeued);
}

void EventMatcher::ApplyWildcard(const QueueEvent& event, const EntityFilter* parked,
                                 const EntityFilter* in_flight,
                                 std::vector<ParkedIndex::RequeuedEntry>& requeued) {
  const Pod* only = OnlyPodOf(event);
  const auto matches = [only](const QueuedEntity& entity, const EntityFilter* filter) {
    return (only == nullptr || entity.Has(only->uid())) && (filter == nullptr || (*filter)(entity));
  };
  const EntityFilter is_recorded = [&](const QueuedEntity& entity) {
    return matches(entity, in_flight);
  };
  log_.Append(event, kAllPlugins, &is_recorded);
  for (QueueEntry* entry = parked_.entries().front(); entry != nullptr; entry = entry->next) {
    if (matches(entry->entity, parked)) requeued.push_back({entry, Requeueing::kAfterBackoff});
  }
}

void EventMatcher::RecordFor(const QueueEntry& entry, const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) return log_.AppendFor(entry, event, kAllPlugins);
  const std::vector<const Interest*>& interests = InterestsIn(event);
  if (!interests.empty()) log_.AppendFor(entry, event, BitsOf(interests));
}

EventMatcher::PodChangeAnswer EventMatcher::ApplyPodChange(const QueueEntry& entry,
                                                           const PodRef& old, const PodRef& pod) {
  const uint32_t change = PodChange(*old, *pod);
  // kube-scheduler treats this as an event too, and so retries a pod because its own Unschedulable
  // condition was written.
  if (change == BERTH_ACTION_UPDATE && OnlyStatusChanged(*old, *pod)) return {};
  const bool waits_for_plugin =
      entry.entity.place != QueuePlace::kInFlight && !entry.entity.rejection().awaited.empty();
  for (uint32_t left = change; left != 0;) {
    const uint32_t action = FirstAction(left);
    left &= ~action;
    if (waits_for_plugin) return {.how = Requeueing::kImmediately, .action = action};
    const QueueEvent event{
        .resource = BERTH_RESOURCE_TARGET_POD, .action = action, .before = old, .after = pod};
    if (entry.entity.place == QueuePlace::kInFlight) {
      RecordFor(entry, event);
      continue;
    }
    const Requeueing how = Decide(entry.entity, event);
    if (how != Requeueing::kSkip) return {.how = how, .action = action};
  }
  return {};
}

// After an error there is no event to wait for. A pod for which events were dropped may have missed
// the one that makes it schedulable.
Requeueing EventMatcher::DecideAfterAttempt(const QueueEntry& entry) {
  const QueuedEntity& entity = entry.entity;
  if (entity.rejection().empty() || !entry.is_recording) return Requeueing::kAfterBackoff;
  Requeueing how = Requeueing::kSkip;
  log_.Replay(entry, BitsOf(entity.rejection()), [&](const QueueEvent& event) {
    how = std::max(how, Decide(entity, event));
    return how == Requeueing::kSkip ||
           (how == Requeueing::kAfterBackoff && !entity.rejection().pending.empty());
  });
  return how;
}

Requeueing EventMatcher::Decide(const QueuedEntity& entity, const QueueEvent& event) {
  if (event.resource == BERTH_RESOURCE_WILDCARD) return Requeueing::kAfterBackoff;
  return DecideRequeueing(entity.rejection(), InterestsIn(event), entity,
                          MakeHintFunction(policy_, meter_, event));
}

}  // namespace berth::host
