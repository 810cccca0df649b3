#include "tests/simulation/audit.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr int64_t kFlushEveryNs = 30 * kSecond;
// Before the scheduler comes to it, what is due at the same time may happen.
constexpr int64_t kFlushSlackNs = 5 * kSecond;

std::string_view NameOfRow(const NodeTable& table, Row row) {
  return table.IsLive(row) ? table.node(row)->name() : std::string_view();
}

std::string Described(const Pod& pod) {
  return "pod " + std::string(pod.name()) + " (" + std::string(pod.uid()) + ")";
}

const char* PlaceName(QueuePlace place) {
  constexpr const char* kNames[] = {"active",        "backoff", "error backoff",
                                    "unschedulable", "gated",   "in flight"};
  return kNames[static_cast<size_t>(place)];
}

}  // namespace

Audit::Audit(const Scenario& scenario, EmbeddedCluster& cluster, const Clock& clock, Trace& trace)
    : scenario_(scenario),
      cluster_(cluster),
      clock_(clock),
      trace_(trace),
      reservations_(scenario.has_quarantine) {}

void Audit::SetLoop(SchedulingLoop* loop) {
  loop_ = loop;
  told_pods_.clear();
  told_nodes_.clear();
  if (loop == nullptr) return;
  NodeTable& table = loop->cache().table();
  for (const char* name : {"alloc.cpu", "alloc.memory", "alloc.pods", "req.cpu", "req.memory",
                           "pods.count", "nonzero.cpu", "nonzero.memory"}) {
    table.PinColumn(*table.ColumnFor(name));
  }
}

void Audit::Complain(std::string finding) {
  trace_.Line("FINDING: ", finding);
  if (finding_.empty()) finding_ = std::move(finding);
}

bool Audit::IsOurs(const Pod& pod) const {
  return std::ranges::find(scenario_.profiles, pod.scheduler_name()) != scenario_.profiles.end();
}

// ---- What plugins say ---------------------------------------------------------------------------

void Audit::OnLog(uint32_t level, std::string_view plugin, std::string_view message) {
  trace_.Line("log: ", plugin, plugin.empty() ? "" : ": ", message);
  const bool is_chaos = plugin.starts_with("test.Chaos");
  if (level >= BERTH_LOG_ERROR && (!is_chaos || message.starts_with("state"))) {
    return Complain("an error was logged: " + std::string(message));
  }
  const size_t space = message.find(" uid=");
  if (!is_chaos || space == std::string_view::npos) return;
  std::string wrong =
      reservations_.Note(plugin, message.substr(0, space), message.substr(space + 5));
  if (!wrong.empty()) Complain(std::move(wrong));
}

void Audit::CheckLedger() {
  if (std::string held = reservations_.StillHeld(); !held.empty()) Complain(std::move(held));
}

// ---- What passes on the line --------------------------------------------------------------------

void Audit::OnTold(const WatchEvent& event) {
  if (event.type == WatchType::kSynced) return;
  const bool is_gone = event.type == WatchType::kDeleted;
  if (const PodRef* pod = std::get_if<PodRef>(&event.object)) {
    trace_.Line("told: pod ", (*pod)->name(), is_gone ? " is gone, " : ", ", (*pod)->uid(), ", v",
                (*pod)->resource_version(), (*pod)->node_name().empty() ? "" : ", on ",
                (*pod)->node_name(), (*pod)->nominated_node().empty() ? "" : ", nominated to ",
                (*pod)->nominated_node(), (*pod)->terminating() ? ", being deleted" : "");
    if (const PodRef* before = std::get_if<PodRef>(&event.previous); before && *before) {
      told_pods_.erase(std::string((*before)->uid()));
    }
    told_pods_.erase(std::string((*pod)->uid()));
    if (!is_gone) told_pods_.emplace((*pod)->uid(), *pod);
  } else if (const NodeRef* node = std::get_if<NodeRef>(&event.object)) {
    trace_.Line("told: node ", (*node)->name(), is_gone ? " is gone" : "", ", v",
                (*node)->resource_version());
    told_nodes_.erase(std::string((*node)->name()));
    if (!is_gone) told_nodes_.emplace((*node)->name(), *node);
  }
}

void Audit::OnBindAsked(const PodName& pod, std::string_view node) {
  const std::string uid(pod.uid);
  if (!open_binds_.insert(uid).second) Complain("a second binding is asked for " + uid);
  if (loop_ == nullptr) return;
  const auto binding = loop_->bindings().find(uid);
  if (binding == loop_->bindings().end() || binding->second->node_name() != node) {
    Complain("a binding is asked for that is not under way: " + uid);
  }
}

void Audit::OnBindCarriedOut(const PodName& pod, std::string_view node, const Status& status) {
  if (!status.ok()) return;
  const std::string uid(pod.uid);
  if (!bound_.emplace(uid, node).second) Complain("was bound twice: " + uid);
  const PodRef stored = cluster_.FindPod(pod.ns, pod.name);
  if (stored == nullptr || stored->uid() != pod.uid || stored->node_name() != node) {
    return Complain("another pod was bound in the place of " + uid);
  }
  CheckRoomOn(node);
}

void Audit::OnBindAnswered(const PodName& pod, const Status& /*status*/) {
  open_binds_.erase(std::string(pod.uid));
}

// ---- What the scheduler decides -----------------------------------------------------------------

void Audit::OnAssumed(const PodRef& pod, std::string_view node) {
  ++counts_.assumed;
  trace_.Line("decided: ", pod->name(), " goes to ", node);
  const auto told = told_pods_.find(pod->uid());
  if (IsHeld(*pod) || (told != told_pods_.end() && IsHeld(*told->second))) {
    Complain(Described(*pod) + " is placed, and PreEnqueue holds it back");
  }
  const NodeTable& table = loop_->cache().table();
  const Row row = loop_->cache().RowOf(pod->uid());
  if (row == kNoRow || NameOfRow(table, row) != node) {
    return Complain(Described(*pod) + " is assumed, but not on " + std::string(node));
  }
  const berth_resources& has = *table.node(row)->view().allocatable;
  const berth_resources& wants = *pod->view().request;
  berth_resources sum{};
  std::map<Id, int64_t> scalars;
  for (const PodRef& other : table.pods(row)) {
    const berth_resources& holds = *other->view().accounted;
    sum.milli_cpu += holds.milli_cpu;
    sum.memory += holds.memory;
    for (const auto& scalar : Elements<berth_quantity>(holds.scalars)) {
      scalars[scalar.name] += scalar.value;
    }
  }
  const auto check = [&](bool is_wanted, int64_t used, int64_t there, const char* what) {
    if (!is_wanted || used <= there) return;
    Complain(Described(*pod) + " overcommits " + what + " of " + std::string(node) + ": " +
             std::to_string(used) + " of " + std::to_string(there));
  };
  check(true, static_cast<int64_t>(table.pods(row).size()), has.pods, "pods");
  check(wants.milli_cpu > 0, sum.milli_cpu, has.milli_cpu, "cpu");
  check(wants.memory > 0, sum.memory, has.memory, "memory");
  for (const auto& scalar : Elements<berth_quantity>(wants.scalars)) {
    check(scalar.value > 0, scalars[scalar.name], ScalarAmount(has, scalar.name), "a device");
  }
}

void Audit::OnBound(const PodRef& pod, std::string_view node) {
  ++counts_.bound;
  trace_.Line("decided: ", pod->name(), " is bound to ", node);
  if (!said_bound_.emplace(pod->uid()).second) {
    Complain(Described(*pod) + " is said to be bound twice");
  }
  const auto bound = bound_.find(pod->uid());
  if (bound == bound_.end() ? !scenario_.has_outsiders : bound->second != node) {
    Complain(Described(*pod) + " is said to be bound to " + std::string(node) + ", and is not");
  }
  // Nobody takes a pod from its node, whoever bound it.
  const PodRef stored = cluster_.FindPod(pod->ns(), pod->name());
  if (stored != nullptr && stored->uid() == pod->uid() && stored->node_name() != node) {
    Complain(Described(*pod) + " is said to be bound to " + std::string(node) + ", and is on " +
             std::string(stored->node_name()));
  }
}

void Audit::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  ++counts_.failed;
  trace_.Line("decided: ", pod->name(), " fails", node.empty() ? "" : " for ", node, ": ",
              failure.message, failure.nominated_node.empty() ? "" : ", nominated to ",
              failure.nominated_node);
  if (loop_ == nullptr) return;
  if (loop_->cache().IsAssumed(pod->uid())) {
    Complain(Described(*pod) + " has failed and still holds its place");
  }
}

void Audit::OnSkipped(const PodRef& pod, std::string_view message) {
  ++counts_.skipped;
  trace_.Line("decided: ", pod->name(), " is skipped: ", message);
}

// ---- Where every pod is -------------------------------------------------------------------------

void Audit::CheckPlaces() {
  loop_->queue().CheckInvariants();
  for (const auto& [uid, pod] : told_pods_) CheckToldPod(*pod);
  loop_->queue().ForEach([this](const QueuedEntity& entity) { CheckQueued(entity); });
  for (const auto& [uid, binding] : loop_->bindings()) {
    const QueuedEntity* entity = loop_->queue().Find(uid);
    // One that has ended is dropped in the next step.
    const bool is_over = binding->state() == BindingCycle::State::kFinished;
    if (!is_over && (entity == nullptr || entity->place != QueuePlace::kInFlight)) {
      Complain(uid + " is being bound, and not in flight");
    }
  }
  CheckCache();
  loop_->queue().nominator().ForEachNode([this](std::string_view, std::span<const PodRef> pods) {
    for (const PodRef& pod : pods) {
      if (loop_->queue().Find(pod->uid()) != nullptr) continue;
      Complain("room is kept for a pod that is gone: " + Described(*pod));
    }
  });
}

void Audit::CheckToldPod(const Pod& pod) {
  const Cache& cache = loop_->cache();
  const std::string_view uid = pod.uid();
  const QueuedEntity* entity = loop_->queue().Find(uid);
  if (!pod.node_name().empty()) {
    if (cache.RowOf(uid) == kNoRow || cache.IsAssumed(uid)) {
      Complain(Described(pod) + " has a node, and the cache does not have it");
    }
    if (entity != nullptr && entity->place != QueuePlace::kInFlight) {
      Complain(Described(pod) + " has a node, and is in the queue: " + PlaceName(entity->place));
    }
  } else if (IsOurs(pod)) {
    CheckPending(pod);
  } else if (entity != nullptr || cache.RowOf(uid) != kNoRow) {
    Complain(Described(pod) + " is another scheduler's, and is here");
  }
}

void Audit::CheckPending(const Pod& pod) {
  const Cache& cache = loop_->cache();
  const QueuedEntity* entity = loop_->queue().Find(pod.uid());
  const bool is_in_cache = cache.RowOf(pod.uid()) != kNoRow;
  if (is_in_cache && !cache.IsAssumed(pod.uid())) {
    Complain(Described(pod) + " is on a node that nobody has told of");
  }
  if (entity == nullptr) {
    if (!is_in_cache && !pod.terminating()) Complain(Described(pod) + " is lost");
    if (is_in_cache && !said_bound_.contains(pod.uid())) {
      Complain(Described(pod) + " is assumed, and nobody binds it");
    }
    return;
  }
  const bool is_being_bound = loop_->bindings().contains(pod.uid());
  if (is_being_bound != (entity->place == QueuePlace::kInFlight)) {
    Complain(Described(pod) +
             (is_being_bound ? " is being bound, and is in the queue: "
                             : " is not being bound, and is in the queue: ") +
             PlaceName(entity->place));
  }
  if (is_in_cache && entity->place != QueuePlace::kInFlight) {
    Complain(Described(pod) + " is assumed, and is in the queue: " + PlaceName(entity->place));
  }
  if (loop_->queue().PodOf(pod.uid())->resource_version() != pod.resource_version()) {
    Complain(Described(pod) + " has changed, and the queue has not noticed");
  }
}

void Audit::CheckQueued(const QueuedEntity& entity) {
  entity.ForEachPod([&](const PodRef& pod) { CheckQueuedPod(entity, *pod); });
  // It entered the queue when it was parked.
  const int64_t parked_ns = clock_.NowNs() - entity.queued_ns;
  if (entity.place == QueuePlace::kUnschedulable &&
      parked_ns > scenario_.queue.flush_after_ns + kFlushEveryNs + kFlushSlackNs) {
    Complain(Described(*entity.pod) + " is parked for " + std::to_string(parked_ns / kSecond) +
             " s, and nothing flushes it");
  }
}

void Audit::CheckQueuedPod(const QueuedEntity& entity, const Pod& pod) {
  const std::string_view uid = pod.uid();
  // Gates and labels that hold a pod are there from the start, and only ever taken off.
  // A group may get such a member while it backs off; without early pops it is asked about when
  // that ends.
  const bool is_asked_later =
      entity.group != nullptr && !scenario_.queue.pop_from_backoff &&
      (entity.place == QueuePlace::kBackoff || entity.place == QueuePlace::kErrorBackoff);
  if (entity.place != QueuePlace::kGated && IsHeld(pod) && !is_asked_later) {
    Complain(Described(pod) +
             " is held back by PreEnqueue, and is in the queue: " + PlaceName(entity.place));
  }
  const bool is_alone = entity.group == nullptr;
  const std::string_view group = pod.terminating() ? "" : Text(pod.view().pod_group);
  if (is_alone ? !group.empty() && entity.place != QueuePlace::kInFlight
               : entity.group->name != "default/" + std::string(group)) {
    Complain(Described(pod) + " is not with its group " + std::string(group));
  }
  const auto told = told_pods_.find(uid);
  const bool is_pending = told != told_pods_.end() && told->second->node_name().empty();
  if (is_pending) return;  // CheckPending.
  if (entity.place == QueuePlace::kInFlight && loop_->bindings().contains(uid)) return;
  Complain(Described(pod) + " is in the queue (" + PlaceName(entity.place) +
           "), and should be nowhere");
}

void Audit::CheckCache() {
  const NodeTable& table = loop_->cache().table();
  size_t pods = 0;
  for (Row row = 0; row < table.row_count(); ++row) {
    for (const PodRef& pod : table.pods(row)) CheckCachedPod(row, *pod);
    pods += table.pods(row).size();
  }
  if (pods != loop_->cache().pod_count()) Complain("the cache has pods without a node");
  if (table.node_count() != told_nodes_.size()) Complain("the cache has other nodes than told");
}

void Audit::CheckCachedPod(Row row, const Pod& pod) {
  const Cache& cache = loop_->cache();
  const NodeTable& table = cache.table();
  if (cache.RowOf(pod.uid()) != row) Complain(Described(pod) + " is on two nodes");
  const std::string_view on = NameOfRow(table, row);
  if (table.IsLive(row) ? on != pod.node_name() : told_nodes_.contains(pod.node_name())) {
    Complain(Described(pod) + " counts on " + std::string(on) + ", but is elsewhere");
  }
  const auto told = told_pods_.find(pod.uid());
  if (cache.IsAssumed(pod.uid())) {
    // A binding that has ended is dropped first thing in the next step.
    const auto binding = loop_->bindings().find(pod.uid());
    const bool is_over = binding != loop_->bindings().end() &&
                         binding->second->state() == BindingCycle::State::kFinished;
    if (told == told_pods_.end() && !is_over) {
      Complain(Described(pod) + " is gone, and still assumed");
    }
  } else if (told == told_pods_.end() ||
             told->second->resource_version() != pod.resource_version()) {
    Complain(Described(pod) + " is in the cache as it is not");
  }
}

}  // namespace berth::host
