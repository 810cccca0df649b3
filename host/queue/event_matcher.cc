#include "host/queue/event_matcher.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "host/queue/queue_event.h"

namespace berth::host {
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
      series_ = &meter_->HintSeriesOf(plugin_, EventLabel(event_));
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

Requeueing EventMatcher::ApplyPodChange(const QueueEntry& entry, const PodRef& old,
                                        const PodRef& pod) {
  const uint32_t change = PodChange(*old, *pod);
  // kube-scheduler treats this as an event too, and so retries a pod because its own Unschedulable
  // condition was written.
  if (change == BERTH_ACTION_UPDATE && OnlyStatusChanged(*old, *pod)) return Requeueing::kSkip;
  for (uint32_t left = change; left != 0;) {
    const uint32_t action = change == BERTH_ACTION_UPDATE ? change : left & (~left + 1);
    left &= ~action;
    const QueueEvent event{
        .resource = BERTH_RESOURCE_TARGET_POD, .action = action, .before = old, .after = pod};
    if (entry.entity.place == QueuePlace::kInFlight) {
      RecordFor(entry, event);
      continue;
    }
    const Requeueing how = Decide(entry.entity, event);
    if (how != Requeueing::kSkip) return how;
  }
  return Requeueing::kSkip;
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
