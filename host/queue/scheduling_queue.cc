#include "host/queue/scheduling_queue.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/base/vectors.h"

namespace berth::host {
namespace {

// Returns the event of a change of an entity's own pod, without the pod.
QueueEvent OwnUpdate(uint32_t action) {
  return {.resource = BERTH_RESOURCE_TARGET_POD, .action = action};
}

// Returns whether the nomination of a new pod is recorded even if PreEnqueue rejects the pod. Up to
// 1.36, kube-scheduler records it when the pod enters the active queue, or at its next update;
// since 1.37 always, and before PreEnqueue.
// (kube-scheduler: scheduling_queue.go, moveToActiveQ in 1.36, addPod in 1.37, #139057)
bool RecordsGatedNominations(KubeVersion emulated_version) {
  return emulated_version >= KubeVersion{.major = 1, .minor = 37};
}

// Returns the event of a change that may end the gate of the pod.
uint32_t UngatingAction(const Pod& old, const Pod& pod) {
  const uint32_t change = PodChange(old, pod);
  const uint32_t ended = change & BERTH_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED;
  return ended != 0 && change != BERTH_ACTION_UPDATE ? ended : FirstAction(change);
}

}  // namespace

SchedulingQueue::SchedulingQueue(QueuePolicy& policy, const QueueOrder& order, const Clock& clock,
                                 Options options)
    : policy_(policy),
      clock_(clock),
      options_(options),
      backoff_(options.initial_backoff_ns, options.max_backoff_ns, options.pop_from_backoff),
      has_groups_(options.groups),
      places_(order, clock, backoff_, interests_, options.max_logged_events),
      matcher_(policy, interests_, places_.parked(), places_.log()),
      requeuer_(policy, clock, backoff_, places_, options.pop_from_backoff),
      flushes_(clock_.NowNs(), options.flush_after_ns) {
  interests_.Build(policy_.interests());
}

// --- entities -----------------------------------------------------------------------------------

QueueEntry& SchedulingQueue::EntryInFlight(std::string_view uid) const {
  QueueEntry* entry = entities_.Find(uid);
  BERTH_ASSERT_MSG(entry != nullptr && entry->entity.place == QueuePlace::kInFlight,
                   "pod %.*s is not in flight", static_cast<int>(uid.size()), uid.data());
  return *entry;
}

QueueEntry& SchedulingQueue::PodInFlight(std::string_view uid) const {
  QueueEntry& entry = EntryInFlight(uid);
  BERTH_ASSERT(entry.entity.group == nullptr);
  return entry;
}

const QueuedEntity* SchedulingQueue::Find(std::string_view uid) const {
  const QueueEntry* entry = entities_.Find(uid);
  return entry != nullptr ? &entry->entity : nullptr;
}

PodRef SchedulingQueue::PodOf(std::string_view uid) const {
  const QueueEntry* entry = entities_.Find(uid);
  return entry != nullptr ? EntityTable::PodOf(*entry, uid) : nullptr;
}

void SchedulingQueue::Create(PodRef pod) {
  if (observer_ != nullptr) observer_->OnQueued(pod);
  nominator_.Add(pod, pod->nominated_node());
  std::string name = GroupNameOf(*pod);
  QueueEntry* group = name.empty() ? nullptr : entities_.FindGroup(name);
  if (group != nullptr) {
    requeuer_.SetCauseAdded();
    ChangeMembers(*group, [&] { entities_.AddMember(*group, pod); });
    return ApplyPodAdded(pod);
  }
  QueueEntry& entry = name.empty() ? entities_.AddPod(std::move(pod))
                                   : entities_.AddGroup(std::move(name), std::move(pod));
  SetQueuedNow(entry);
  requeuer_.SetCauseAdded();
  requeuer_.Requeue(entry, Requeueing::kImmediately);
  const bool is_gated = entry.entity.place == QueuePlace::kGated;
  if (is_gated && !RecordsGatedNominations(options_.emulated_version)) {
    nominator_.Remove(entry.entity.pod->uid());
  }
  ApplyPodAdded(entry.entity.pod);
}

void SchedulingQueue::Erase(QueueEntry& entry) {
  requeuer_.SetRejection(entry, {});
  places_.Leave(entry);
  entities_.Erase(entry);
}

void SchedulingQueue::SetQueuedNow(QueueEntry& entry) {
  entry.entity.queued_ns = clock_.NowNs();
  entry.sequence = ++sequence_;
}

// --- events from the cluster --------------------------------------------------------------------

void SchedulingQueue::Add(PodRef pod) {
  if (entities_.Find(pod->uid()) != nullptr) return Update(std::move(pod));
  Create(std::move(pod));
}

void SchedulingQueue::Update(PodRef pod) {
  QueueEntry* entry = entities_.Find(pod->uid());
  if (entry == nullptr) return Create(std::move(pod));
  if (observer_ != nullptr) observer_->OnQueued(pod);
  const PodRef old = EntityTable::PodOf(*entry, pod->uid());
  const QueuePlace place = entry->entity.place;
  const bool is_alone_in_flight = place == QueuePlace::kInFlight && entry->entity.group == nullptr;
  if (!is_alone_in_flight && GroupNameOf(*old) != GroupNameOf(*pod)) {
    RemoveEntry(*entry, pod->uid(), {});
    return Create(std::move(pod));
  }
  const std::string node(nominator_.NodeOf(pod->uid()));
  // A pod in flight has been assumed and is no longer nominated; keep it that way.
  if (place != QueuePlace::kInFlight || !node.empty()) nominator_.Update(old, pod);
  const bool was_left_out = place == QueuePlace::kGated && node.empty() &&
                            !RecordsGatedNominations(options_.emulated_version);
  if (was_left_out) nominator_.Add(pod, pod->nominated_node());
  if (place == QueuePlace::kInFlight) entry->is_removed = false;
  requeuer_.ChangePods(*entry,
                       [&] { places_.Update(*entry, [&] { entities_.SetPod(*entry, pod); }); });
  if (place == QueuePlace::kGated) {
    if (requeuer_.has_meter()) requeuer_.SetCause(OwnUpdate(UngatingAction(*old, *pod)));
    requeuer_.Requeue(*entry, Requeueing::kAfterBackoff);
  } else if (place == QueuePlace::kUnschedulable || place == QueuePlace::kInFlight) {
    const EventMatcher::PodChangeAnswer answer = matcher_.ApplyPodChange(*entry, old, pod);
    if (answer.how != Requeueing::kSkip) {
      requeuer_.SetCause(OwnUpdate(answer.action));
      requeuer_.Requeue(*entry, answer.how);
    }
  }
  const std::string_view named = old->nominated_node();
  if (!node.empty() && nominator_.NodeOf(pod->uid()) != node) {
    OnNominationRemoved(old, node);
  } else if (!named.empty() && named != pod->nominated_node()) {
    OnNominationRemoved(old, named);
  } else if (!node.empty()) {
    OnNominatedPodChanged(old, pod, node);
  }
}

bool SchedulingQueue::Remove(std::string_view uid, std::string_view node) {
  QueueEntry* entry = entities_.Find(uid);
  if (entry == nullptr || entry->is_removed) return false;
  // The uid may be a text of the observer's last reference to the pod.
  const PodRef pod = EntityTable::PodOf(*entry, uid);
  if (observer_ != nullptr) observer_->OnUnqueued(pod->uid());
  RemoveEntry(*entry, pod->uid(), node);
  return true;
}

void SchedulingQueue::RemoveEntry(QueueEntry& entry, std::string_view uid, std::string_view node) {
  const PodRef pod = EntityTable::PodOf(entry, uid);
  const std::string nominated(nominator_.NodeOf(uid));
  nominator_.Remove(pod->uid());
  if (entry.entity.group != nullptr) {
    RemoveFromGroup(entry, pod->uid());
  } else if (entry.entity.place == QueuePlace::kInFlight) {
    entry.is_removed = true;
  } else {
    Erase(entry);
  }
  if (!nominated.empty() && nominated != node) OnNominationRemoved(pod, nominated);
}

void SchedulingQueue::OnEvent(const QueueEvent& event) { ApplyEvent(event, nullptr, nullptr); }

void SchedulingQueue::OnEvent(const QueueEvent& event,
                              const std::function<bool(const QueuedEntity&)>& filter) {
  ApplyEvent(event, &filter, &filter);
}

void SchedulingQueue::ApplyEvent(const QueueEvent& event, const EntityFilter* parked,
                                 const EntityFilter* in_flight) {
  matcher_.Apply(event, parked, in_flight, requeued_);
  if (!requeued_.empty()) requeuer_.SetCause(event);
  for (const auto& [entry, how] : requeued_) requeuer_.Requeue(*entry, how);
  requeued_.clear();
}

// Applies the arrival of a pod as an event: the members of a group, for example, wait for each
// other.
// (kube-scheduler: scheduling_queue.go, Add, with the gate GangScheduling)
void SchedulingQueue::ApplyPodAdded(const PodRef& pod) {
  if (!interests_.HasAny(BERTH_RESOURCE_UNSCHEDULED_POD)) return;  // The usual case.
  const EntityFilter is_another = [&pod](const QueuedEntity& entity) {
    return !entity.Has(pod->uid());
  };
  ApplyEvent({.resource = BERTH_RESOURCE_UNSCHEDULED_POD,
              .action = BERTH_ACTION_ADD,
              .before = PodRef(),
              .after = pod},
             &is_another, nullptr);  // No filter in flight: the new pod is not in flight.
}

void SchedulingQueue::Nominate(const PodRef& pod, std::string_view node) {
  const std::string before(nominator_.NodeOf(pod->uid()));
  nominator_.Add(pod, node);
  if (!before.empty() && before != node) OnNominationRemoved(pod, before);
}

// The room of a nominated pod concerns pods of the same or a lower priority, whose attempts counted
// with the nominated pod. The pod itself does not get the event.
void SchedulingQueue::ApplyNominationEvent(const PodRef& nominated, const QueueEvent& event) {
  const int32_t priority = nominated->view().priority;
  const EntityFilter is_lower = [priority, &nominated](const QueuedEntity& entity) {
    return !entity.Has(nominated->uid()) && entity.AnyPod([priority](const PodRef& other) {
      return other->view().priority <= priority;
    });
  };
  ApplyEvent(event, &is_lower, &is_lower);
}

// The group of the pod is requeued separately.
void SchedulingQueue::OnNominationRemoved(const PodRef& pod, std::string_view node) {
  ApplyNominationEvent(pod, NominationRemovedEvent(pod, node));
  OnMemberNominationRemoved(pod);
}

// In kube-scheduler, such pods wait for the end of the nomination, or for the flush.
void SchedulingQueue::OnNominatedPodChanged(const PodRef& old, const PodRef& pod,
                                            std::string_view node) {
  const uint32_t change = PodChange(*old, *pod);
  if (change == BERTH_ACTION_UPDATE) return;  // Nothing that counts for other pods.
  for (const uint32_t action :
       {BERTH_ACTION_UPDATE_POD_LABEL, BERTH_ACTION_UPDATE_POD_SCALE_DOWN}) {
    if ((change & action) == 0) continue;
    ApplyNominationEvent(pod, NominatedPodEvent(old, pod, node, action));
  }
}

// Members that fit may have been waiting for the room of another member's nomination, which no
// longer exists.
void SchedulingQueue::OnMemberNominationRemoved(const PodRef& pod) {
  QueueEntry* entry = entities_.Find(pod->uid());
  if (entry == nullptr || entry->entity.group == nullptr) return;
  if (!nominator_.NodeOf(pod->uid()).empty()) return;  // The member is nominated to another node.
  if (entry->entity.place == QueuePlace::kUnschedulable) {
    requeuer_.SetCause(OwnUpdate(BERTH_ACTION_UPDATE));
    requeuer_.Requeue(*entry, Requeueing::kAfterBackoff);
  } else {
    matcher_.RecordFor(*entry, QueueEvent());  // Recorded only if the group is in flight.
  }
}

// --- groups -------------------------------------------------------------------------------------

std::string SchedulingQueue::GroupNameOf(const Pod& pod) const {
  const std::string_view name = Text(pod.view().pod_group);
  if (!has_groups_ || name.empty() || pod.terminating()) return "";
  return std::string(pod.ns()).append(1, '/').append(name);
}

// A group in flight continues its attempt with the members that it was popped with, and is tried
// again afterwards. For a waiting group, PreEnqueue runs for all members, because they may be
// waiting for each other.
void SchedulingQueue::ChangeMembers(QueueEntry& group, const std::function<void()>& change,
                                    Requeueing when_ready) {
  const QueuePlace from = group.entity.place;
  if (from == QueuePlace::kInFlight) {
    change();
    return matcher_.RecordFor(group, QueueEvent());
  }
  places_.Leave(group);
  requeuer_.ChangePods(group, change);
  const bool was_ready = from == QueuePlace::kActive;
  requeuer_.Requeue(group, was_ready ? when_ready : Requeueing::kAfterBackoff);
}

void SchedulingQueue::RemoveFromGroup(QueueEntry& group, std::string_view uid) {
  const bool is_last = group.entity.group->members.size() == 1;
  if (!is_last || group.entity.place == QueuePlace::kInFlight) {
    return ChangeMembers(group, [&] { entities_.RemoveMember(group, uid); });
  }
  Erase(group);
}

void SchedulingQueue::SplitFromGroup(std::string_view uid) {
  QueueEntry& group = EntryInFlight(uid);
  BERTH_ASSERT(group.entity.group != nullptr);
  places_.EnterInFlightWith(group, entities_.SplitFromGroup(group, uid));
  if (group.entity.group->members.empty()) Erase(group);
}

void SchedulingQueue::ReturnGroup(std::string_view name, Rejection rejection, bool is_slow) {
  QueueEntry* group = entities_.FindGroup(name);
  BERTH_ASSERT(group != nullptr && group->entity.place == QueuePlace::kInFlight);
  if (group->entity.group->members.empty()) return Erase(*group);
  requeuer_.ParkOrRequeue(*group, EndAttempt(*group, std::move(rejection), is_slow));
}

void SchedulingQueue::ReturnToGroup(QueueEntry& entry, Requeueing how) {
  std::string name = GroupNameOf(*entry.entity.pod);
  places_.Leave(entry);
  QueueEntry* group = entities_.FindGroup(name);
  if (group == nullptr) {
    entities_.MakeGroup(entry, std::move(name));
    return requeuer_.ParkOrRequeue(entry, how);
  }
  requeuer_.SetRejection(entry, {});
  ChangeMembers(
      *group, [&] { entities_.JoinGroup(entry, *group); }, Requeueing::kAfterBackoff);
}

void SchedulingQueue::SetGroups(bool groups) {
  if (groups == has_groups_) return;
  std::vector<std::pair<uint64_t, PodRef>> pods;  // With their sequence, to keep the order.
  entities_.ForEach([&pods](const QueueEntry& entry) {
    if (entry.entity.place == QueuePlace::kInFlight) return;
    entry.entity.ForEachPod([&](const PodRef& pod) {
      if (pod->view().pod_group.len != 0) pods.emplace_back(entry.sequence, pod);
    });
  });
  std::ranges::stable_sort(pods, {}, [](const auto& pod) { return pod.first; });
  for (const auto& [sequence, pod] : pods) {
    QueueEntry& entry = *entities_.Find(pod->uid());
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

// --- called by scheduling and binding cycles ----------------------------------------------------

bool SchedulingQueue::has_ready() const {
  return CountIn(QueuePlace::kActive) > 0 ||
         (options_.pop_from_backoff && CountIn(QueuePlace::kBackoff) > 0);
}

QueueEntry* SchedulingQueue::NextReady() {
  QueueEntry* active = places_.NextActive();
  if (active != nullptr || !options_.pop_from_backoff) return active;
  return places_.FirstBackoff(QueuePlace::kBackoff);
}

const QueuedEntity* SchedulingQueue::Pop() {
  QueueEntry* entry = NextReady();
  if (entry == nullptr) return nullptr;
  places_.Move(*entry, QueuePlace::kInFlight);
  QueuedEntity& entity = entry->entity;
  ++entity.attempts;
  if (requeuer_.has_meter()) entity.popped_ns = clock_.NowNs();
  requeuer_.SetRejection(*entry, {});
  return &entity;
}

bool SchedulingQueue::Return(std::string_view uid, Rejection rejection, bool is_slow) {
  QueueEntry& entry = PodInFlight(uid);
  if (entry.is_removed) {
    Erase(entry);
    return false;
  }
  const Requeueing how = EndAttempt(entry, std::move(rejection), is_slow);
  if (GroupNameOf(*entry.entity.pod).empty()) {
    requeuer_.ParkOrRequeue(entry, how);
  } else {
    ReturnToGroup(entry, how);
  }
  return true;
}

Requeueing SchedulingQueue::EndAttempt(QueueEntry& entry, Rejection rejection, bool is_slow) {
  QueuedEntity& entity = entry.entity;
  SortUnique(rejection.plugins);
  SortUnique(rejection.pending);
  SortUnique(rejection.awaited);
  requeuer_.SetRejection(entry, std::move(rejection));
  entities_.SetSlowCount(entry, is_slow ? entity.slow_count + 1 : 0);
  if (entity.rejection().empty() || is_slow) {
    ++entity.error_count;
  } else {
    // A pod that only waits for a plugin was not rejected: its backoff does not grow.
    if (!entity.rejection().only_awaits()) ++entity.rejected_count;
    entity.error_count = 0;
  }
  entity.was_flushed = false;
  SetQueuedNow(entry);
  requeuer_.SetCause(QueueMeter::kFailure);
  return is_slow ? Requeueing::kAfterBackoff : matcher_.DecideAfterAttempt(entry);
}

void SchedulingQueue::StopRecording(std::string_view uid) {
  places_.log().Stop(EntryInFlight(uid));
}

void SchedulingQueue::Done(std::string_view uid) {
  QueueEntry& entry = PodInFlight(uid);
  if (observer_ != nullptr) observer_->OnUnqueued(entry.entity.pod->uid());
  nominator_.Remove(entry.entity.pod->uid());
  Erase(entry);
}

void SchedulingQueue::Activate(std::string_view uid) {
  QueueEntry* entry = entities_.Find(uid);
  if (entry == nullptr) return;
  switch (entry->entity.place) {
    case QueuePlace::kActive: break;
    case QueuePlace::kInFlight: matcher_.RecordFor(*entry, QueueEvent()); break;
    default:
      requeuer_.SetCause(QueueMeter::kActivate);
      requeuer_.Requeue(*entry, Requeueing::kImmediately);
  }
}

bool SchedulingQueue::ActivateParked(const EntityFilter& filter) {
  std::vector<QueueEntry*> selected;
  for (QueueEntry* entry = places_.parked().entries().front(); entry != nullptr;
       entry = entry->next) {
    if (filter(entry->entity)) selected.push_back(entry);
  }
  requeuer_.SetCause(QueueMeter::kActivate);
  bool any = false;
  for (QueueEntry* entry : selected) {
    requeuer_.Requeue(*entry, Requeueing::kImmediately);
    any |= entry->entity.place == QueuePlace::kActive;
  }
  return any;
}

bool SchedulingQueue::RecordReported(std::string_view uid, std::string_view reason,
                                     std::string_view message, int64_t generation) {
  QueueEntry* entry = entities_.Find(uid);
  BERTH_ASSERT(entry != nullptr);
  std::string text = std::to_string(generation);
  text.append(1, '\0').append(reason).append(1, '\0').append(message);
  uint64_t hash = HashBytes(text);
  if (hash == 0) hash = 1;
  return std::exchange(EntityTable::ReportedOf(*entry, uid), hash) != hash;
}

void SchedulingQueue::ClearReported(std::string_view uid) {
  if (QueueEntry* entry = entities_.Find(uid)) EntityTable::ReportedOf(*entry, uid) = 0;
}

// --- time ---------------------------------------------------------------------------------------

// Works as of the last whole second, so that the exact time of the call does not matter.
void SchedulingQueue::Tick() {
  const int64_t now_ns = clock_.NowNs();
  requeuer_.EndBackoffs(QueuePlace::kBackoff, now_ns - now_ns % kSecond);
  requeuer_.EndBackoffs(QueuePlace::kErrorBackoff, now_ns - now_ns % kSecond);
  Flush(now_ns);
}

// A flush is not recorded as an event for pods in flight, because they are being tried already.
void SchedulingQueue::Flush(int64_t now_ns) {
  const std::optional<int64_t> before_ns = flushes_.Start(now_ns);
  if (!before_ns.has_value()) return;
  while (QueueEntry* entry = places_.parked().entries().front()) {
    if (entry->parked_ns >= *before_ns) return;
    requeuer_.SetCause(QueueMeter::kFlush);
    requeuer_.Requeue(*entry, Requeueing::kAfterBackoff, /*was_flushed=*/true);
  }
}

std::optional<int64_t> SchedulingQueue::NextTickNs() const {
  std::optional<int64_t> next;
  const auto consider = [&next](int64_t at_ns) { next = std::min(next.value_or(at_ns), at_ns); };
  for (const QueuePlace place : {QueuePlace::kBackoff, QueuePlace::kErrorBackoff}) {
    const QueueEntry* entry = places_.FirstBackoff(place);
    if (entry != nullptr) consider(Backoff::TickAfter(entry->entity.backoff_until_ns));
  }
  if (const QueueEntry* entry = places_.parked().entries().front(); entry != nullptr) {
    consider(flushes_.TimeFor(entry->parked_ns));
  }
  return next;
}

// --- policy and queries -------------------------------------------------------------------------

void SchedulingQueue::PolicyChanged() {
  interests_.Build(policy_.interests());
  places_.Rebuild();
}

void SchedulingQueue::RequeueAll() {
  std::vector<QueueEntry*> ready;
  entities_.ForEach([&ready](QueueEntry& entry) {
    const QueuePlace place = entry.entity.place;
    const bool is_ready = place == QueuePlace::kActive || place == QueuePlace::kBackoff ||
                          place == QueuePlace::kErrorBackoff;
    if (is_ready) ready.push_back(&entry);
  });
  std::ranges::sort(ready, {}, &QueueEntry::sequence);
  requeuer_.SetCause(QueueEvent());
  for (QueueEntry* entry : ready) requeuer_.GateIfPreEnqueueRejects(*entry);
  OnEvent(QueueEvent());
}

void SchedulingQueue::ForEach(const std::function<void(const QueuedEntity&)>& each) const {
  entities_.ForEach([&each](const QueueEntry& entry) { each(entry.entity); });
}

void SchedulingQueue::CheckInvariants() const {
  std::vector<const QueueEntry*> entries;
  entities_.ForEach([this, &entries](const QueueEntry& entry) {
    CheckEntry(entry);
    entries.push_back(&entry);
  });
  entities_.CheckInvariants();
  places_.CheckInvariants(entries);
  BERTH_ASSERT(requeued_.empty());
}

void SchedulingQueue::CheckEntry(const QueueEntry& entry) const {
  const QueuedEntity& entity = entry.entity;
  const bool is_in_flight = entity.place == QueuePlace::kInFlight;
  BERTH_ASSERT(!entry.is_removed || (is_in_flight && entity.group == nullptr));
  BERTH_ASSERT(entity.first_attempt_ns != 0 || entity.attempts == 0);
  if (entity.group == nullptr) return;
  BERTH_ASSERT(is_in_flight || !entity.group->members.empty());
  entity.ForEachPod(
      [&](const PodRef& pod) { BERTH_ASSERT(GroupNameOf(*pod) == entity.group->name); });
}

}  // namespace berth::host
