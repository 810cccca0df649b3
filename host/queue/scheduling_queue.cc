#include "host/queue/scheduling_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/base/sorted_vector.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kFlushEveryNs = 30 * kSecond;

constexpr size_t IndexOf(QueuePlace place) { return static_cast<size_t>(place); }

// Returns whether an entity may move from `from` to `to`. A new pod enters at active or gated; a
// group that is created or whose members change may enter anywhere.
constexpr bool MayMove(QueuePlace from, QueuePlace to) {
  constexpr auto kBit = [](QueuePlace place) { return 1U << IndexOf(place); };
  constexpr uint32_t kReady = kBit(QueuePlace::kActive) | kBit(QueuePlace::kGated);
  switch (from) {
    case QueuePlace::kActive: return to == QueuePlace::kInFlight || to == QueuePlace::kGated;
    case QueuePlace::kBackoff: return to == QueuePlace::kInFlight || (kReady & kBit(to)) != 0;
    case QueuePlace::kErrorBackoff: return (kReady & kBit(to)) != 0;
    case QueuePlace::kUnschedulable: return to == QueuePlace::kBackoff || (kReady & kBit(to)) != 0;
    case QueuePlace::kGated: return to != QueuePlace::kInFlight && to != QueuePlace::kUnschedulable;
    case QueuePlace::kInFlight: return to != QueuePlace::kInFlight;
  }
  return false;
}

}  // namespace

size_t SchedulingQueue::KeyHash::operator()(std::string_view key) const { return HashBytes(key); }

size_t SchedulingQueue::KeyHash::operator()(const std::unique_ptr<QueueEntry>& entry) const {
  return HashBytes(KeyOf(entry));
}

SchedulingQueue::SchedulingQueue(QueuePolicy& policy, const QueueOrder& order, const Clock& clock,
                                 Options options)
    : policy_(policy),
      clock_(clock),
      options_(options),
      backoff_(options.initial_backoff_ns, options.max_backoff_ns, options.pop_from_backoff),
      has_groups_(options.groups),
      active_(order),
      backing_off_(order),
      error_backing_off_(order),
      log_(options.max_logged_events),
      next_flush_ns_(clock_.NowNs() + kFlushEveryNs) {
  interests_.Build(policy_.interests());
}

SchedulingQueue::~SchedulingQueue() = default;

// --- entities -----------------------------------------------------------------------------------

QueueEntry* SchedulingQueue::Entry(std::string_view uid) const {
  const auto found = entries_.find(uid);
  if (found != entries_.end()) return found->get();
  if (members_.empty()) return nullptr;
  const auto group = members_.find(uid);
  return group != members_.end() ? group->second : nullptr;
}

QueueEntry& SchedulingQueue::EntryInFlight(std::string_view uid) const {
  QueueEntry* entry = Entry(uid);
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
  const QueueEntry* entry = Entry(uid);
  return entry != nullptr ? &entry->entity : nullptr;
}

void SchedulingQueue::Create(PodRef pod) {
  if (std::string group = GroupNameOf(*pod); !group.empty()) {
    return CreateInGroup(std::move(pod), std::move(group));
  }
  auto owned = std::make_unique<QueueEntry>();
  QueueEntry& entry = *owned;
  entry.entity.pod = std::move(pod);
  entry.entity.queued_ns = clock_.NowNs();
  entry.sequence = ++sequence_;
  entries_.insert(std::move(owned));
  nominator_.Add(entry.entity.pod, entry.entity.pod->nominated_node());
  Requeue(entry, Requeueing::kImmediately);
  ApplyPodAdded(entry.entity.pod);
}

void SchedulingQueue::Erase(QueueEntry& entry) {
  Leave(entry);
  if (entry.entity.group != nullptr) {
    groups_.erase(groups_.find(std::string_view(entry.entity.group->name)));
  } else {
    entries_.erase(entries_.find(entry.entity.pod->uid()));
  }
}

// --- places -------------------------------------------------------------------------------------

EntityHeap& SchedulingQueue::HeapOf(QueuePlace place) {
  switch (place) {
    case QueuePlace::kBackoff: return backing_off_;
    case QueuePlace::kErrorBackoff: return error_backing_off_;
    default: BERTH_ASSERT(place == QueuePlace::kActive); return active_;
  }
}

void SchedulingQueue::Move(QueueEntry& entry, QueuePlace to) {
  if (entry.is_placed) {
    const QueuePlace from = entry.entity.place;
    BERTH_ASSERT_MSG(MayMove(from, to), "from place %zu to %zu", IndexOf(from), IndexOf(to));
    Leave(entry);
  } else {
    BERTH_ASSERT(to == QueuePlace::kActive || to == QueuePlace::kGated ||
                 entry.entity.group != nullptr);
  }
  Enter(entry, to);
}

void SchedulingQueue::Enter(QueueEntry& entry, QueuePlace to) {
  QueuedEntity& entity = entry.entity;
  entity.place = to;
  entry.is_placed = true;
  ++counts_[IndexOf(to)];
  if (to != QueuePlace::kGated) entity.gate.reset();
  switch (to) {
    case QueuePlace::kActive:
      if (entity.first_attempt_ns == 0) entity.first_attempt_ns = clock_.NowNs();
      active_.Push(entry);
      break;
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff:
      entity.backoff_until_ns = backoff_.UntilNs(entity);
      HeapOf(to).Push(entry, entity.backoff_until_ns);
      break;
    case QueuePlace::kUnschedulable:
    case QueuePlace::kGated: parked_.Add(entry, clock_.NowNs()); break;
    case QueuePlace::kInFlight: log_.Start(entry); break;
  }
}

void SchedulingQueue::Leave(QueueEntry& entry) {
  const QueuePlace from = entry.entity.place;
  --counts_[IndexOf(from)];
  entry.is_placed = false;
  switch (from) {
    case QueuePlace::kActive:
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: HeapOf(from).Remove(entry); break;
    case QueuePlace::kUnschedulable:
    case QueuePlace::kGated: parked_.Remove(entry); break;
    case QueuePlace::kInFlight: log_.Stop(entry); break;
  }
  entry.entity.backoff_until_ns = 0;
}

// With pop_from_backoff a pod may be popped from a backoff queue at any time, so PreEnqueue runs
// when the pod enters the backoff queue and not again when it leaves. Otherwise it runs when the
// pod leaves.
void SchedulingQueue::Requeue(QueueEntry& entry, Requeueing how, bool was_flushed) {
  QueuedEntity& entity = entry.entity;
  const bool ran_before =
      options_.pop_from_backoff && entry.is_placed &&
      (entity.place == QueuePlace::kBackoff || entity.place == QueuePlace::kErrorBackoff);
  const bool backs_off =
      how == Requeueing::kAfterBackoff && backoff_.IsOn(backoff_.UntilNs(entity), clock_.NowNs());
  const bool runs_pre_enqueue = !ran_before && (!backs_off || options_.pop_from_backoff);
  if (runs_pre_enqueue && GateIfPreEnqueueRejects(entry)) return;
  entity.was_flushed = was_flushed;
  if (!backs_off) return Move(entry, QueuePlace::kActive);
  Move(entry, entity.error_count > 0 ? QueuePlace::kErrorBackoff : QueuePlace::kBackoff);
}

bool SchedulingQueue::GateIfPreEnqueueRejects(QueueEntry& entry) {
  QueuedEntity& entity = entry.entity;
  std::optional<PluginId> first;
  if (entity.gate.has_value()) first = entity.gate->plugin;
  std::optional<Gate> gate;
  const bool is_held = entity.AnyPod([&](const PodRef& pod) {
    gate = policy_.PreEnqueue(pod, first);
    return gate.has_value();
  });
  if (!is_held) return false;
  entity.was_flushed = false;
  entity.rejection = {.plugins = {gate->plugin}, .pending = {}};
  entity.gate = std::move(gate);
  Move(entry, QueuePlace::kGated);
  return true;
}

// --- events from the cluster --------------------------------------------------------------------

void SchedulingQueue::Add(PodRef pod) {
  if (Entry(pod->uid()) != nullptr) return Update(std::move(pod));
  Create(std::move(pod));
}

void SchedulingQueue::Update(PodRef pod) {
  QueueEntry* entry = Entry(pod->uid());
  if (entry == nullptr) return Create(std::move(pod));
  const PodRef old = PodOf(pod->uid());
  const QueuePlace place = entry->entity.place;
  const bool is_alone_in_flight = place == QueuePlace::kInFlight && entry->entity.group == nullptr;
  if (!is_alone_in_flight && GroupNameOf(*old) != GroupNameOf(*pod)) {
    Remove(pod->uid());
    return Create(std::move(pod));
  }
  const std::string node(nominator_.NodeOf(pod->uid()));
  // A pod in flight has been assumed and is no longer nominated; keep it that way.
  if (place != QueuePlace::kInFlight || !node.empty()) nominator_.Update(old, pod);
  switch (place) {
    case QueuePlace::kActive:
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff:
      SetPod(*entry, pod);
      HeapOf(place).Update(*entry);
      break;
    case QueuePlace::kUnschedulable:
      parked_.Update(*entry, [&] { SetPod(*entry, pod); });
      ApplyPodChange(*entry, old, pod);
      break;
    case QueuePlace::kGated:
      parked_.Update(*entry, [&] { SetPod(*entry, pod); });
      Requeue(*entry, Requeueing::kAfterBackoff);
      break;
    case QueuePlace::kInFlight:
      entry->is_removed = false;
      SetPod(*entry, pod);
      ApplyPodChange(*entry, old, pod);
      break;
  }
  const std::string_view named = old->nominated_node();
  if (!node.empty() && nominator_.NodeOf(pod->uid()) != node) {
    OnNominationRemoved(old, node);
  } else if (!named.empty() && named != pod->nominated_node()) {
    OnNominationRemoved(old, named);
  }
}

bool SchedulingQueue::Remove(std::string_view uid, std::string_view node) {
  QueueEntry* entry = Entry(uid);
  if (entry == nullptr || entry->is_removed) return false;
  const PodRef pod = PodOf(uid);
  const std::string nominated(nominator_.NodeOf(uid));
  nominator_.Remove(pod->uid());
  if (entry->entity.group != nullptr) {
    RemoveFromGroup(*entry, pod->uid());
  } else if (entry->entity.place == QueuePlace::kInFlight) {
    entry->is_removed = true;
  } else {
    Erase(*entry);
  }
  if (!nominated.empty() && nominated != node) OnNominationRemoved(pod, nominated);
  return true;
}

// --- called by scheduling and binding cycles ----------------------------------------------------

bool SchedulingQueue::has_ready() const {
  return !active_.empty() || (options_.pop_from_backoff && !backing_off_.empty());
}

const QueuedEntity* SchedulingQueue::Pop() {
  if (!has_ready()) return nullptr;
  QueueEntry& entry = active_.empty() ? backing_off_.front() : active_.front();
  Move(entry, QueuePlace::kInFlight);
  QueuedEntity& entity = entry.entity;
  ++entity.attempts;
  entity.rejection = {};
  return &entity;
}

bool SchedulingQueue::Return(std::string_view uid, Rejection rejection) {
  QueueEntry& entry = PodInFlight(uid);
  if (entry.is_removed) {
    Erase(entry);
    return false;
  }
  const Requeueing how = EndAttempt(entry, std::move(rejection));
  if (GroupNameOf(*entry.entity.pod).empty()) {
    ParkOrRequeue(entry, how);
  } else {
    ReturnToGroup(entry, how);
  }
  return true;
}

Requeueing SchedulingQueue::EndAttempt(QueueEntry& entry, Rejection rejection) {
  QueuedEntity& entity = entry.entity;
  SortUnique(rejection.plugins);
  SortUnique(rejection.pending);
  entity.rejection = std::move(rejection);
  if (entity.rejection.empty()) {
    ++entity.error_count;
  } else {
    ++entity.rejected_count;
    entity.error_count = 0;
  }
  entity.queued_ns = clock_.NowNs();
  entity.was_flushed = false;
  entry.sequence = ++sequence_;
  return DecideAfterAttempt(entry);
}

void SchedulingQueue::ParkOrRequeue(QueueEntry& entry, Requeueing how) {
  if (how == Requeueing::kSkip) return Move(entry, QueuePlace::kUnschedulable);
  Requeue(entry, how);
}

void SchedulingQueue::StopRecording(std::string_view uid) { log_.Stop(EntryInFlight(uid)); }

void SchedulingQueue::Done(std::string_view uid) {
  QueueEntry& entry = PodInFlight(uid);
  nominator_.Remove(entry.entity.pod->uid());
  Erase(entry);
}

void SchedulingQueue::Activate(std::string_view uid) {
  QueueEntry* entry = Entry(uid);
  if (entry == nullptr) return;
  switch (entry->entity.place) {
    case QueuePlace::kActive: break;
    case QueuePlace::kInFlight: log_.AppendFor(*entry, QueueEvent(), kAllPlugins); break;
    default: Requeue(*entry, Requeueing::kImmediately);
  }
}

bool SchedulingQueue::RecordReported(std::string_view uid, std::string_view reason,
                                     std::string_view message, int64_t generation) {
  QueueEntry* entry = Entry(uid);
  BERTH_ASSERT(entry != nullptr);
  std::string text = std::to_string(generation);
  text.append(1, '\0').append(reason).append(1, '\0').append(message);
  uint64_t hash = HashBytes(text);
  if (hash == 0) hash = 1;
  return std::exchange(ReportedOf(*entry, uid), hash) != hash;
}

void SchedulingQueue::ClearReported(std::string_view uid) {
  if (QueueEntry* entry = Entry(uid)) ReportedOf(*entry, uid) = 0;
}

// --- time ---------------------------------------------------------------------------------------

// Works as of the last whole second, so that the exact time of the call does not matter.
void SchedulingQueue::Tick() {
  const int64_t now_ns = clock_.NowNs();
  MoveReady(backing_off_, now_ns - now_ns % kSecond);
  MoveReady(error_backing_off_, now_ns - now_ns % kSecond);
  Flush(now_ns);
}

void SchedulingQueue::MoveReady(EntityHeap& heap, int64_t at_ns) {
  while (!heap.empty() && !backoff_.IsOn(heap.front_window(), at_ns)) {
    QueueEntry& entry = heap.front();
    Requeue(entry, Requeueing::kImmediately, entry.entity.was_flushed);
  }
}

// Works as of the last multiple of 30 s since the queue was created. A flush is not recorded as an
// event for pods in flight, because they are being tried already.
void SchedulingQueue::Flush(int64_t now_ns) {
  if (now_ns < next_flush_ns_) return;
  const int64_t at_ns = now_ns - (now_ns - next_flush_ns_) % kFlushEveryNs;
  next_flush_ns_ = at_ns + kFlushEveryNs;
  while (QueueEntry* entry = parked_.entries().front()) {
    if (at_ns - entry->parked_ns <= options_.flush_after_ns) return;
    Requeue(*entry, Requeueing::kAfterBackoff, /*was_flushed=*/true);
  }
}

std::optional<int64_t> SchedulingQueue::NextTickNs() const {
  std::optional<int64_t> next;
  const auto consider = [&next](int64_t at_ns) { next = std::min(next.value_or(at_ns), at_ns); };
  for (const EntityHeap* heap : {&backing_off_, &error_backing_off_}) {
    if (!heap->empty()) consider(Backoff::TickAfter(heap->front_window()));
  }
  if (const QueueEntry* entry = parked_.entries().front(); entry != nullptr) {
    const int64_t late_ns = entry->parked_ns + options_.flush_after_ns - next_flush_ns_;
    const int64_t rounds = late_ns < 0 ? 0 : late_ns / kFlushEveryNs + 1;
    consider(next_flush_ns_ + rounds * kFlushEveryNs);
  }
  return next;
}

// --- policy and queries -------------------------------------------------------------------------

void SchedulingQueue::PolicyChanged() {
  interests_.Build(policy_.interests());
  log_.PolicyChanged();
  active_.Rebuild();
  backing_off_.Rebuild();
  error_backing_off_.Rebuild();
  parked_.Rebuild();
}

void SchedulingQueue::RequeueAll() {
  std::vector<QueueEntry*> ready;
  for (const Entries* entries : {&entries_, &groups_}) {
    for (const auto& entry : *entries) {
      const QueuePlace place = entry->entity.place;
      const bool is_ready = place == QueuePlace::kActive || place == QueuePlace::kBackoff ||
                            place == QueuePlace::kErrorBackoff;
      if (is_ready) ready.push_back(entry.get());
    }
  }
  std::ranges::sort(ready, {}, &QueueEntry::sequence);
  for (QueueEntry* entry : ready) GateIfPreEnqueueRejects(*entry);
  OnEvent(QueueEvent());
}

size_t SchedulingQueue::size() const { return entries_.size() + members_.size(); }

size_t SchedulingQueue::CountIn(QueuePlace place) const { return counts_[IndexOf(place)]; }

void SchedulingQueue::ForEach(const std::function<void(const QueuedEntity&)>& each) const {
  for (const Entries* entries : {&entries_, &groups_}) {
    for (const auto& entry : *entries) each(entry->entity);
  }
}

void SchedulingQueue::CheckInvariants() const {
  std::array<size_t, 6> counts{};
  ForEach([&counts](const QueuedEntity& entity) { ++counts[IndexOf(entity.place)]; });
  BERTH_ASSERT(counts == counts_);
  size_t members = 0;
  for (const auto& entry : entries_) CheckEntry(*entry);
  for (const auto& entry : groups_) {
    CheckEntry(*entry);
    CheckGroup(*entry);
    members += entry->entity.group->members.size();
  }
  BERTH_ASSERT(members == members_.size());
  BERTH_ASSERT(active_.size() == CountIn(QueuePlace::kActive));
  BERTH_ASSERT(backing_off_.size() == CountIn(QueuePlace::kBackoff));
  BERTH_ASSERT(error_backing_off_.size() == CountIn(QueuePlace::kErrorBackoff));
  BERTH_ASSERT(parked_.entries().size() ==
               CountIn(QueuePlace::kUnschedulable) + CountIn(QueuePlace::kGated));
  active_.CheckInvariants();
  backing_off_.CheckInvariants();
  error_backing_off_.CheckInvariants();
  parked_.CheckInvariants();
  log_.CheckInvariants();
  BERTH_ASSERT(requeued_.empty() && matching_.empty());
}

void SchedulingQueue::CheckEntry(const QueueEntry& entry) const {
  const QueuedEntity& entity = entry.entity;
  const bool is_parked =
      entity.place == QueuePlace::kUnschedulable || entity.place == QueuePlace::kGated;
  BERTH_ASSERT(entry.is_placed);
  BERTH_ASSERT(active_.Contains(entry) == (entity.place == QueuePlace::kActive));
  BERTH_ASSERT(backing_off_.Contains(entry) == (entity.place == QueuePlace::kBackoff));
  BERTH_ASSERT(error_backing_off_.Contains(entry) == (entity.place == QueuePlace::kErrorBackoff));
  BERTH_ASSERT((entry.parked_in != nullptr) == is_parked);
  BERTH_ASSERT(entity.gate.has_value() == (entity.place == QueuePlace::kGated));
  BERTH_ASSERT(entity.place == QueuePlace::kInFlight || (!entry.is_recording && !entry.is_removed));
  BERTH_ASSERT(entity.first_attempt_ns != 0 || entity.attempts == 0);
}

}  // namespace berth::host
