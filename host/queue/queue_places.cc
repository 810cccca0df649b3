#include "host/queue/queue_places.h"

namespace berth::host {
namespace {

constexpr size_t IndexOf(QueuePlace place) { return static_cast<size_t>(place); }

// Returns whether an entity may move from `from` to `to`.
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

QueuePlaces::QueuePlaces(const QueueOrder& order, const Clock& clock, const Backoff& backoff,
                         const InterestTable& interests, size_t max_logged_events)
    : clock_(clock),
      backoff_(backoff),
      active_(order),
      heaps_{EntityHeap(order), EntityHeap(order)},
      parked_(interests),
      log_(max_logged_events) {}

void QueuePlaces::Move(QueueEntry& entry, QueuePlace to) {
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

void QueuePlaces::Enter(QueueEntry& entry, QueuePlace to) {
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

void QueuePlaces::Leave(QueueEntry& entry) {
  const QueuePlace from = entry.entity.place;
  BERTH_ASSERT(entry.is_placed);
  --counts_[IndexOf(from)];
  entry.is_placed = false;
  switch (from) {
    case QueuePlace::kActive: active_.Remove(entry); break;
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: HeapOf(from).Remove(entry); break;
    case QueuePlace::kUnschedulable:
    case QueuePlace::kGated: parked_.Remove(entry); break;
    case QueuePlace::kInFlight: log_.Stop(entry); break;
  }
  entry.entity.backoff_until_ns = 0;
}

void QueuePlaces::EnterInFlightWith(QueueEntry& other, QueueEntry& entry) {
  BERTH_ASSERT(other.entity.place == QueuePlace::kInFlight && !entry.is_placed);
  entry.entity.place = QueuePlace::kInFlight;
  entry.is_placed = true;
  ++counts_[IndexOf(QueuePlace::kInFlight)];
  log_.StartFrom(other, entry);
}

void QueuePlaces::Rebuild() {
  log_.PolicyChanged();
  active_.Rebuild();
  for (EntityHeap& heap : heaps_) heap.Rebuild();
  parked_.Rebuild();
}

void QueuePlaces::CheckInvariants(std::span<const QueueEntry* const> entries) const {
  std::array<size_t, kPlaceCount> counts{};
  for (const QueueEntry* entry : entries) {
    CheckEntry(*entry);
    ++counts[IndexOf(entry->entity.place)];
  }
  BERTH_ASSERT(counts == counts_);
  BERTH_ASSERT(active_.size() == CountIn(QueuePlace::kActive));
  active_.CheckInvariants();
  for (const QueuePlace place : {QueuePlace::kBackoff, QueuePlace::kErrorBackoff}) {
    BERTH_ASSERT(heaps_[HeapIndexOf(place)].size() == CountIn(place));
    heaps_[HeapIndexOf(place)].CheckInvariants();
  }
  BERTH_ASSERT(parked_.entries().size() ==
               CountIn(QueuePlace::kUnschedulable) + CountIn(QueuePlace::kGated));
  parked_.CheckInvariants();
  log_.CheckInvariants();
}

void QueuePlaces::CheckEntry(const QueueEntry& entry) const {
  const QueuePlace place = entry.entity.place;
  const bool is_parked = place == QueuePlace::kUnschedulable || place == QueuePlace::kGated;
  BERTH_ASSERT(entry.is_placed);
  BERTH_ASSERT(active_.Contains(entry) == (place == QueuePlace::kActive));
  for (const QueuePlace backoff : {QueuePlace::kBackoff, QueuePlace::kErrorBackoff}) {
    BERTH_ASSERT(heaps_[HeapIndexOf(backoff)].Contains(entry) == (place == backoff));
  }
  BERTH_ASSERT((entry.parked_in != nullptr) == is_parked);
  BERTH_ASSERT((entry.entity.gate != nullptr) == (place == QueuePlace::kGated));
  BERTH_ASSERT(place == QueuePlace::kInFlight || !entry.is_recording);
}

}  // namespace berth::host
