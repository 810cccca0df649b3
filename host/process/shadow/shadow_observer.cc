#include "host/process/shadow/shadow_observer.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::host {
namespace {

// How many events Tick() delivers at most.
constexpr size_t kMaxEventsPerTick = 200;
// How many delivered events are kept at most.
constexpr size_t kMaxHistory = 10'000;

// A pod that was placed or nominated, and the node.
struct Placement {
  PodRef pod;
  std::string node;
};

Placement PlacementOf(const ShadowEvent& event) {
  const PodRef& pod = std::get<PodRef>(event.event.object);
  const bool is_bound = event.kind == ShadowEventKind::kPlacement;
  return {.pod = std::get<PodRef>(event.event.previous),
          .node = std::string(is_bound ? pod->node_name() : pod->nominated_node())};
}

// Makes kOrder of an agreement in another state. `where` names the state.
ShadowDecision AsOrder(ShadowDecision decision, const std::string& where) {
  const bool is_same = decision.verdict == ShadowVerdict::kSame;
  decision.why = (is_same ? std::string("the same node") : decision.why) + " " + where;
  decision.verdict = ShadowVerdict::kOrder;
  return decision;
}

bool IsOnNode(const WatchEvent& event) {
  return event.type != WatchType::kDeleted && !std::get<PodRef>(event.object)->node_name().empty();
}

// Returns the first of the events that binds a pod to the node and is not in `used`; null if there
// is none.
const ShadowEvent* BindingTo(std::string_view node, const std::vector<const ShadowEvent*>& events,
                             const std::set<const ShadowEvent*>& used) {
  const auto found = std::ranges::find_if(events, [&](const ShadowEvent* event) {
    return event->IsBindingTo(node) && !used.contains(event);
  });
  return found != events.end() ? *found : nullptr;
}

}  // namespace

// ---- ShadowTotals -------------------------------------------------------------------------------

uint64_t ShadowTotals::Count(bool (*condition)(ShadowVerdict verdict)) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < by_verdict.size(); ++i) {
    if (condition(static_cast<ShadowVerdict>(i))) sum += by_verdict[i];
  }
  return sum;
}

double ShadowTotals::agreement() const {
  const uint64_t all = judged();
  const uint64_t agreed = Count(IsAgreement);
  return all == 0 ? 100.0 : 100.0 * static_cast<double>(agreed) / static_cast<double>(all);
}

// ---- Delivery -----------------------------------------------------------------------------------

ShadowObserver::ShadowObserver(SchedulingLoop& loop, const Clock& clock, Options options,
                               Listener listener)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      listener_(std::move(listener)),
      start_ns_(clock.NowNs()) {}

void ShadowObserver::Receive(const std::shared_ptr<ShadowRoute>& route,
                             std::span<WatchEvent> events) {
  if (!has_begun_) {
    if (route->sink != nullptr) route->sink->OnEvents(events);
    has_begun_ = loop_.router().synced();
    return;
  }
  const int64_t now_ns = clock_.NowNs();
  for (WatchEvent& event : events) {
    NoteArrival(pending_.emplace_back(route, std::move(event), now_ns));
  }
}

void ShadowObserver::NoteArrival(ShadowEvent& event) {
  if (event.pod_uid().empty()) return;
  const Pod& pod = *std::get<PodRef>(event.event.object);
  if (event.event.type == WatchType::kAdded) {
    const bool waits = !IsOnNode(event.event);
    if (waits && options_.scheduler_names.contains(pod.scheduler_name())) {
      arrivals_.insert_or_assign(std::string(pod.uid()), ++last_arrival_);
    }
    return;
  }
  const auto known = arrivals_.find(Base(event.event.previous).uid());
  if (known == arrivals_.end()) return;
  if (known->first == pod.uid()) event.arrival = known->second;
  arrivals_.erase(known);
}

std::optional<int64_t> ShadowObserver::NextTickNs() const {
  if (pending_.empty()) return std::nullopt;
  return pending_.front().arrived_ns + options_.window_ns;
}

bool ShadowObserver::Tick() {
  const int64_t now_ns = clock_.NowNs();
  for (size_t count = 0; count < kMaxEventsPerTick; ++count) {
    const std::optional<int64_t> next_ns = NextTickNs();
    if (!next_ns.has_value() || *next_ns > now_ns) return false;
    DeliverFirst();
  }
  return true;
}

void ShadowObserver::Finish() {
  while (!pending_.empty()) DeliverFirst();
}

void ShadowObserver::DeliverFirst() {
  ShadowEvent& first = pending_.front();
  if (IsJudged(first) && !Judge(first)) return;
  first.Apply();
  Forget(first);
  const int64_t oldest_ns = first.arrived_ns - options_.window_ns;
  history_.push_back(std::move(first));
  pending_.pop_front();
  while (history_.front().arrived_ns < oldest_ns || history_.size() > kMaxHistory) {
    history_.pop_front();
  }
}

void ShadowObserver::Forget(const ShadowEvent& event) {
  if (event.pod_uid().empty()) return;
  if (event.event.type == WatchType::kDeleted) nominated_.erase(std::string(event.pod_uid()));
  const Pod& pod = *std::get<PodRef>(event.event.object);
  const bool is_new =
      event.event.type == WatchType::kAdded ||
      (event.event.type == WatchType::kModified && Base(event.event.previous).uid() != pod.uid());
  const bool is_ours = options_.scheduler_names.contains(pod.scheduler_name());
  if (is_new && is_ours && IsOnNode(event.event)) ++totals_.unseen;
}

// ---- Judging ------------------------------------------------------------------------------------

bool ShadowObserver::IsJudged(const ShadowEvent& event) const {
  const bool is_choice =
      event.kind == ShadowEventKind::kPlacement || event.kind == ShadowEventKind::kNomination;
  if (!is_choice) return false;
  return options_.scheduler_names.contains(std::get<PodRef>(event.event.object)->scheduler_name());
}

bool ShadowObserver::ReportNomination(const ShadowEvent& event) {
  if (event.kind != ShadowEventKind::kPlacement) return false;
  const auto known = nominated_.find(event.pod_uid());
  if (known == nominated_.end()) return false;
  ShadowDecision decision = std::move(known->second);
  nominated_.erase(known);
  if (decision.theirs != std::get<PodRef>(event.event.object)->node_name()) return false;
  decision.time_ns = event.arrived_ns - start_ns_;
  Report(std::move(decision));
  return true;
}

ShadowDecision ShadowObserver::JudgeNow(const ShadowEvent& event) {
  const Placement placement = PlacementOf(event);
  SchedulingCycle* own = loop_.CycleFor(*placement.pod);
  return JudgePlacement(own != nullptr ? *own : loop_.cycle(), placement.pod, placement.node,
                        options_.percentage_of_nodes);
}

bool ShadowObserver::Judge(ShadowEvent& first) {
  if (ReportNomination(first)) return true;
  ShadowDecision decision = JudgeNow(first);
  if (IsAgreement(decision.verdict)) {
    if (first.moves > 0) decision = AsOrder(std::move(decision), "after " + first.moved_behind);
    Conclude(first, std::move(decision));
    return true;
  }
  if (!first.first.has_value()) first.first = decision;
  const bool is_late = clock_.NowNs() - first.arrived_ns > options_.late_ns;
  totals_.hurried += is_late;
  if (is_late || decision.verdict == ShadowVerdict::kSampled) {
    Conclude(first, *first.first);
    return true;
  }
  if (auto explained = TryQueueOrder(first)) {
    Conclude(first, *std::move(explained));
    return true;
  }
  const auto changes_no_pending_pod = [](const ShadowEvent& past) {
    return past.pod_uid().empty() || past.ChangesPlacedPod();
  };
  if (auto explained = TryPast(first, changes_no_pending_pod)) {
    Conclude(first, *std::move(explained));
    return true;
  }
  if (first.moves < options_.max_moves) {
    if (const std::set<size_t> later = FindLaterState(first); !later.empty()) {
      ++first.moves;
      first.moved_behind = DescribeChange(pending_[*later.rbegin()].event);
      MoveAhead(later);
      return false;
    }
  }
  std::optional<ShadowDecision> found = TryPast(first, [](const ShadowEvent&) { return true; });
  if (!found.has_value()) found = TrySingleBindings(first, std::move(decision));
  Conclude(first, found.value_or(*first.first));
  return true;
}

void ShadowObserver::Conclude(const ShadowEvent& event, ShadowDecision decision) {
  decision.time_ns = event.arrived_ns - start_ns_;
  if (event.kind == ShadowEventKind::kPlacement) return Report(std::move(decision));
  const std::string uid(event.pod_uid());
  if (decision.ours.empty()) {
    // No node fits until the victims of a preemption are gone. The placement will be judged.
    nominated_.erase(uid);
  } else {
    nominated_.insert_or_assign(uid, std::move(decision));
  }
}

void ShadowObserver::Report(ShadowDecision decision) {
  ++totals_.by_verdict[static_cast<size_t>(decision.verdict)];
  if (listener_) listener_(decision);
}

// ---- Other states -------------------------------------------------------------------------------

std::optional<ShadowDecision> ShadowObserver::TryQueueOrder(const ShadowEvent& event) {
  std::set<std::string_view> behind;
  for (const ShadowEvent* past : EarlierEvents(event)) {
    if (past->kind == ShadowEventKind::kPlacement && event.Precedes(*past)) {
      behind.insert(past->pod_uid());
    }
  }
  std::vector<size_t> before = LaterEvents(event);
  std::erase_if(before, [&](size_t i) {
    return pending_[i].kind != ShadowEventKind::kPlacement || !pending_[i].Precedes(event);
  });
  if (behind.empty() && before.empty()) return std::nullopt;
  ShadowDetour detour;
  UndoPods(behind, detour);
  for (const size_t i : before) detour.Apply(pending_[i]);
  ShadowDecision decision = JudgeNow(event);
  if (!IsAgreement(decision.verdict)) return std::nullopt;
  return AsOrder(std::move(decision), "in the order of the scheduling queue");
}

std::optional<ShadowDecision> ShadowObserver::TryPast(
    const ShadowEvent& event, const std::function<bool(const ShadowEvent&)>& is_undone) {
  ShadowDetour detour;
  size_t tries = 0;
  for (const ShadowEvent* past : EarlierEvents(event)) {
    if (tries == options_.max_tries) break;
    if (!is_undone(*past)) continue;
    detour.Undo(*past);
    if (past->kind == ShadowEventKind::kNeutral) continue;
    ++tries;
    ShadowDecision decision = JudgeNow(event);
    if (!IsAgreement(decision.verdict)) continue;
    return AsOrder(std::move(decision), "before " + DescribeChange(past->event));
  }
  return std::nullopt;
}

std::set<size_t> ShadowObserver::FindLaterState(const ShadowEvent& event) {
  ShadowDetour detour;
  std::set<size_t> applied;
  size_t tries = 0;
  for (const size_t i : LaterEvents(event)) {
    if (tries == options_.max_tries) break;
    detour.Apply(pending_[i]);
    applied.insert(i);
    if (pending_[i].kind == ShadowEventKind::kNeutral) continue;
    ++tries;
    if (IsAgreement(JudgeNow(event).verdict)) return applied;
  }
  return {};
}

std::optional<ShadowDecision> ShadowObserver::TrySingleBindings(const ShadowEvent& event,
                                                                ShadowDecision decision) {
  std::vector<const ShadowEvent*> later_events;
  for (const size_t i : LaterEvents(event)) later_events.push_back(&pending_[i]);
  const std::vector<const ShadowEvent*> earlier_events = EarlierEvents(event);
  ShadowDetour detour;
  std::set<const ShadowEvent*> used;
  for (size_t tries = 0; tries < options_.max_tries; ++tries) {
    std::string where;
    const ShadowEvent* later = decision.verdict == ShadowVerdict::kScore
                                   ? BindingTo(decision.ours, later_events, used)
                                   : nullptr;
    if (later != nullptr) {
      detour.Apply(*later);
      used.insert(later);
      where = "after " + DescribeChange(later->event);
    } else if (const ShadowEvent* past = BindingTo(decision.theirs, earlier_events, used)) {
      UndoPods({past->pod_uid()}, detour);
      used.insert(past);
      where = "before " + DescribeChange(past->event);
    } else {
      return std::nullopt;
    }
    decision = JudgeNow(event);
    if (IsAgreement(decision.verdict)) return AsOrder(std::move(decision), where);
  }
  return std::nullopt;
}

void ShadowObserver::UndoPods(const std::set<std::string_view>& uids, ShadowDetour& detour) const {
  size_t left = uids.size();
  for (auto at = history_.rbegin(); at != history_.rend() && left > 0; ++at) {
    const ShadowEvent& past = *at;
    if (!uids.contains(past.pod_uid())) continue;
    detour.Undo(past);
    if (past.kind == ShadowEventKind::kPlacement) --left;
  }
}

// The other scheduler may have decided before any event of the last moments, but after the last
// change of the pod itself.
std::vector<const ShadowEvent*> ShadowObserver::EarlierEvents(const ShadowEvent& event) const {
  std::vector<const ShadowEvent*> events;
  for (auto at = history_.rbegin(); at != history_.rend(); ++at) {
    const ShadowEvent& past = *at;
    const bool is_out_of_reach = past.kind == ShadowEventKind::kMark ||
                                 past.IsAboutPod(event.pod_uid()) ||
                                 past.arrived_ns < event.arrived_ns - options_.window_ns;
    if (is_out_of_reach) break;
    events.push_back(&past);
  }
  return events;
}

// A pod was created, changed or deleted after the other scheduler had bound this pod, if that
// event arrived later: the watch of pods delivers the order in which the server executed the
// requests. Only bindings can have been decided before, and changes of other kinds seen before.
std::vector<size_t> ShadowObserver::LaterEvents(const ShadowEvent& event) const {
  std::vector<size_t> positions;
  std::set<std::string_view> created;
  for (size_t i = 1; i < pending_.size(); ++i) {
    const ShadowEvent& later = pending_[i];
    const bool is_out_of_reach = later.kind == ShadowEventKind::kMark ||
                                 later.IsAboutPod(event.pod_uid()) ||
                                 later.arrived_ns > event.arrived_ns + options_.window_ns;
    if (is_out_of_reach) break;
    const std::string_view uid = later.pod_uid();
    if (!uid.empty() && later.event.type == WatchType::kAdded) created.insert(uid);
    const bool is_binding = later.kind == ShadowEventKind::kPlacement && !created.contains(uid);
    if (uid.empty() || is_binding) positions.push_back(i);
  }
  return positions;
}

void ShadowObserver::MoveAhead(const std::set<size_t>& positions) {
  std::map<std::string_view, size_t> placed_at;
  for (const size_t i : positions) {
    if (!pending_[i].pod_uid().empty()) placed_at.emplace(pending_[i].pod_uid(), i);
  }
  // The events of one pod keep their order.
  const auto is_ahead = [&](size_t i) {
    if (positions.contains(i)) return true;
    const auto placed = placed_at.find(pending_[i].pod_uid());
    return placed != placed_at.end() && i < placed->second;
  };
  std::vector<ShadowEvent> ahead;
  std::vector<ShadowEvent> behind;
  behind.push_back(std::move(pending_[0]));
  const size_t end = *positions.rbegin() + 1;
  for (size_t i = 1; i < end; ++i) {
    (is_ahead(i) ? ahead : behind).push_back(std::move(pending_[i]));
  }
  const auto next = std::ranges::move(ahead, pending_.begin()).out;
  std::ranges::move(behind, next);
}

}  // namespace berth::host
