#include "tests/simulation/audit.h"

#include <algorithm>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr int64_t kFlushEveryNs = 30 * kSecond;
// Tolerance: other work that is due at the same time may run before the flush.
constexpr int64_t kFlushSlackNs = 5 * kSecond;

std::string_view NameOfRow(const NodeTable& table, Row row) {
  return table.IsLive(row) ? table.node(row)->name() : std::string_view();
}

std::string Describe(const Pod& pod) {
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
  delivered_pods_.clear();
  delivered_nodes_.clear();
  if (loop == nullptr) return;
  NodeTable& table = loop->cache().table();
  for (const char* name : {"alloc.cpu", "alloc.memory", "alloc.pods", "req.cpu", "req.memory",
                           "pods.count", "nonzero.cpu", "nonzero.memory"}) {
    table.PinColumn(*table.ColumnFor(name));
  }
}

void Audit::AddFinding(std::string finding) {
  trace_.Line("FINDING: ", finding);
  if (finding_.empty()) finding_ = std::move(finding);
}

bool Audit::IsOurs(const Pod& pod) const {
  return std::ranges::find(scenario_.profiles, pod.scheduler_name()) != scenario_.profiles.end();
}

// ---- Log messages -------------------------------------------------------------------------------

void Audit::OnLog(uint32_t level, std::string_view plugin, std::string_view message) {
  trace_.Line("log: ", plugin, plugin.empty() ? "" : ": ", message);
  const bool is_chaos = plugin.starts_with("test.Chaos");
  if (level >= BERTH_LOG_ERROR && (!is_chaos || message.starts_with("state"))) {
    return AddFinding("an error was logged: " + std::string(message));
  }
  const size_t space = message.find(" uid=");
  if (!is_chaos || space == std::string_view::npos) return;
  std::string error =
      reservations_.Record(plugin, message.substr(0, space), message.substr(space + 5));
  if (!error.empty()) AddFinding(std::move(error));
}

void Audit::CheckReservations() {
  std::string finding = reservations_.FindUnreleased();
  if (!finding.empty()) AddFinding(std::move(finding));
}

// ---- ClientObserver -----------------------------------------------------------------------------

void Audit::OnDelivered(const WatchEvent& event) {
  if (event.type == WatchType::kSynced) return;
  const bool is_deleted = event.type == WatchType::kDeleted;
  if (const PodRef* pod = std::get_if<PodRef>(&event.object)) {
    trace_.Line("event: pod ", (*pod)->name(), is_deleted ? " deleted, " : ", ", (*pod)->uid(),
                ", v", (*pod)->resource_version(), (*pod)->node_name().empty() ? "" : ", on ",
                (*pod)->node_name(), (*pod)->nominated_node().empty() ? "" : ", nominated to ",
                (*pod)->nominated_node(), (*pod)->terminating() ? ", being deleted" : "");
    if (const PodRef* before = std::get_if<PodRef>(&event.previous); before && *before) {
      delivered_pods_.erase(std::string((*before)->uid()));
    }
    delivered_pods_.erase(std::string((*pod)->uid()));
    if (!is_deleted) delivered_pods_.emplace((*pod)->uid(), *pod);
  } else if (const NodeRef* node = std::get_if<NodeRef>(&event.object)) {
    trace_.Line("event: node ", (*node)->name(), is_deleted ? " deleted" : "", ", v",
                (*node)->resource_version());
    delivered_nodes_.erase(std::string((*node)->name()));
    if (!is_deleted) delivered_nodes_.emplace((*node)->name(), *node);
  }
}

void Audit::OnBindRequested(const PodName& pod, std::string_view node) {
  const std::string uid(pod.uid);
  if (!open_binds_.insert(uid).second) AddFinding("a second bind request was sent for " + uid);
  if (loop_ == nullptr) return;
  const auto binding = loop_->bindings().find(uid);
  if (binding == loop_->bindings().end() || binding->second->node_name() != node) {
    AddFinding("a bind request was sent without a binding cycle on this node: " + uid);
  }
}

void Audit::OnBindExecuted(const PodName& pod, std::string_view node, const Status& status) {
  if (!status.ok()) return;
  const std::string uid(pod.uid);
  if (!bound_.emplace(uid, node).second) AddFinding("a pod was bound twice: " + uid);
  const PodRef stored = cluster_.FindPod(pod.ns, pod.name);
  if (stored == nullptr || stored->uid() != pod.uid || stored->node_name() != node) {
    return AddFinding("the cluster bound another pod instead of " + uid);
  }
  CheckRoomOn(node);
}

void Audit::OnBindCompleted(const PodName& pod, const Status& /*status*/) {
  open_binds_.erase(std::string(pod.uid));
}

// ---- DecisionSink -------------------------------------------------------------------------------

void Audit::OnAssumed(const PodRef& pod, std::string_view node) {
  ++counts_.assumed;
  trace_.Line("decided: ", pod->name(), " goes to ", node);
  const auto delivered = delivered_pods_.find(pod->uid());
  if (IsRejectedByPreEnqueue(*pod) ||
      (delivered != delivered_pods_.end() && IsRejectedByPreEnqueue(*delivered->second))) {
    AddFinding(Describe(*pod) + " was assumed although PreEnqueue rejects it");
  }
  const NodeTable& table = loop_->cache().table();
  const Row row = loop_->cache().RowOf(pod->uid());
  if (row == kNoRow || NameOfRow(table, row) != node) {
    return AddFinding(Describe(*pod) + " was assumed, but the cache does not have it on " +
                      std::string(node));
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
    AddFinding(Describe(*pod) + " overcommits " + what + " of " + std::string(node) + ": " +
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
  if (!reported_bound_.emplace(pod->uid()).second) {
    AddFinding(Describe(*pod) + " was reported as bound twice");
  }
  const auto bound = bound_.find(pod->uid());
  if (bound == bound_.end() ? !scenario_.has_other_schedulers : bound->second != node) {
    AddFinding(Describe(*pod) + " was reported as bound to " + std::string(node) + ", but is not");
  }
  // A bound pod never changes its node.
  const PodRef stored = cluster_.FindPod(pod->ns(), pod->name());
  if (stored != nullptr && stored->uid() == pod->uid() && stored->node_name() != node) {
    AddFinding(Describe(*pod) + " was reported as bound to " + std::string(node) + ", but is on " +
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
    AddFinding(Describe(*pod) + " failed but is still assumed");
  }
}

void Audit::OnSkipped(const PodRef& pod, std::string_view message) {
  ++counts_.skipped;
  trace_.Line("decided: ", pod->name(), " is skipped: ", message);
}

// ---- CheckPlaces --------------------------------------------------------------------------------

void Audit::CheckPlaces() {
  loop_->queue().CheckInvariants();
  for (const auto& [uid, pod] : delivered_pods_) CheckDeliveredPod(*pod);
  loop_->queue().ForEach([this](const QueuedEntity& entity) { CheckQueued(entity); });
  for (const auto& [uid, binding] : loop_->bindings()) {
    const QueuedEntity* entity = loop_->queue().Find(uid);
    // The next step of the scheduler drops a finished binding.
    const bool is_finished = binding->state() == BindingCycle::State::kFinished;
    if (!is_finished && (entity == nullptr || entity->place != QueuePlace::kInFlight)) {
      AddFinding(uid + " is being bound but is not in flight");
    }
  }
  CheckCache();
  loop_->queue().nominator().ForEachNode([this](std::string_view, std::span<const PodRef> pods) {
    for (const PodRef& pod : pods) {
      if (loop_->queue().Find(pod->uid()) != nullptr) continue;
      AddFinding("a pod that is not in the queue is nominated: " + Describe(*pod));
    }
  });
}

void Audit::CheckDeliveredPod(const Pod& pod) {
  const Cache& cache = loop_->cache();
  const std::string_view uid = pod.uid();
  const QueuedEntity* entity = loop_->queue().Find(uid);
  if (!pod.node_name().empty()) {
    if (cache.RowOf(uid) == kNoRow || cache.IsAssumed(uid)) {
      AddFinding(Describe(pod) + " has a node but is not in the cache, or only assumed");
    }
    if (entity != nullptr && entity->place != QueuePlace::kInFlight) {
      AddFinding(Describe(pod) + " has a node but is in the queue: " + PlaceName(entity->place));
    }
  } else if (IsOurs(pod)) {
    CheckPending(pod);
  } else if (entity != nullptr || cache.RowOf(uid) != kNoRow) {
    AddFinding(Describe(pod) + " belongs to another scheduler but is in the queue or cache");
  }
}

void Audit::CheckPending(const Pod& pod) {
  const Cache& cache = loop_->cache();
  const QueuedEntity* entity = loop_->queue().Find(pod.uid());
  const bool is_in_cache = cache.RowOf(pod.uid()) != kNoRow;
  if (is_in_cache && !cache.IsAssumed(pod.uid())) {
    AddFinding(Describe(pod) + " is in the cache without an event that assigns it to a node");
  }
  if (entity == nullptr) {
    if (!is_in_cache && !pod.terminating()) {
      AddFinding(Describe(pod) + " is lost: it is neither in the queue nor in the cache");
    }
    if (is_in_cache && !reported_bound_.contains(pod.uid())) {
      AddFinding(Describe(pod) + " is assumed but not being bound");
    }
    return;
  }
  const bool is_being_bound = loop_->bindings().contains(pod.uid());
  if (is_being_bound != (entity->place == QueuePlace::kInFlight)) {
    AddFinding(Describe(pod) +
               (is_being_bound ? " is being bound but its place in the queue is: "
                               : " is not being bound but its place in the queue is: ") +
               PlaceName(entity->place));
  }
  if (is_in_cache && entity->place != QueuePlace::kInFlight) {
    AddFinding(Describe(pod) + " is assumed but is in the queue: " + PlaceName(entity->place));
  }
  if (loop_->queue().PodOf(pod.uid())->resource_version() != pod.resource_version()) {
    AddFinding(Describe(pod) + " has changed but the queue has an old version");
  }
}

void Audit::CheckQueued(const QueuedEntity& entity) {
  entity.ForEachPod([&](const PodRef& pod) { CheckQueuedPod(entity, *pod); });
  // queued_ns is the time at which the entity was parked.
  const int64_t parked_ns = clock_.NowNs() - entity.queued_ns;
  if (entity.place == QueuePlace::kUnschedulable &&
      parked_ns > scenario_.queue.flush_after_ns + kFlushEveryNs + kFlushSlackNs) {
    AddFinding(Describe(*entity.pod) + " has been parked for " +
               std::to_string(parked_ns / kSecond) + " s and was not flushed");
  }
}

void Audit::CheckQueuedPod(const QueuedEntity& entity, const Pod& pod) {
  const std::string_view uid = pod.uid();
  // Pods have their gates and rejecting labels from the start, and these are only ever removed.
  // A group may get such a member during its backoff. If pods are not popped from backoff early,
  // PreEnqueue runs when the backoff ends.
  const bool is_checked_later =
      entity.group != nullptr && !scenario_.queue.pop_from_backoff &&
      (entity.place == QueuePlace::kBackoff || entity.place == QueuePlace::kErrorBackoff);
  if (entity.place != QueuePlace::kGated && IsRejectedByPreEnqueue(pod) && !is_checked_later) {
    AddFinding(Describe(pod) +
               " is rejected by PreEnqueue but is in the queue: " + PlaceName(entity.place));
  }
  const bool is_alone = entity.group == nullptr;
  const std::string_view group = pod.terminating() ? "" : Text(pod.view().pod_group);
  if (is_alone ? !group.empty() && entity.place != QueuePlace::kInFlight
               : entity.group->name != "default/" + std::string(group)) {
    AddFinding(Describe(pod) + " is not queued with its group " + std::string(group));
  }
  const auto delivered = delivered_pods_.find(uid);
  const bool is_pending =
      delivered != delivered_pods_.end() && delivered->second->node_name().empty();
  if (is_pending) return;  // CheckPending() checks it.
  if (entity.place == QueuePlace::kInFlight && loop_->bindings().contains(uid)) return;
  AddFinding(Describe(pod) + " is in the queue (" + PlaceName(entity.place) +
             ") but is not pending");
}

void Audit::CheckCache() {
  const NodeTable& table = loop_->cache().table();
  size_t pods = 0;
  for (Row row = 0; row < table.row_count(); ++row) {
    for (const PodRef& pod : table.pods(row)) CheckCachedPod(row, *pod);
    pods += table.pods(row).size();
  }
  if (pods != loop_->cache().pod_count()) AddFinding("the cache counts pods that are on no row");
  if (table.node_count() != delivered_nodes_.size())
    AddFinding("the number of nodes in the cache differs from the delivered nodes");
}

void Audit::CheckCachedPod(Row row, const Pod& pod) {
  const Cache& cache = loop_->cache();
  const NodeTable& table = cache.table();
  if (cache.RowOf(pod.uid()) != row) AddFinding(Describe(pod) + " is on two nodes");
  const std::string_view on = NameOfRow(table, row);
  if (table.IsLive(row) ? on != pod.node_name() : delivered_nodes_.contains(pod.node_name())) {
    AddFinding(Describe(pod) + " counts on node \"" + std::string(on) + "\" but is on another one");
  }
  const auto delivered = delivered_pods_.find(pod.uid());
  if (cache.IsAssumed(pod.uid())) {
    // The next step of the scheduler drops a finished binding first.
    const auto binding = loop_->bindings().find(pod.uid());
    const bool is_finished = binding != loop_->bindings().end() &&
                             binding->second->state() == BindingCycle::State::kFinished;
    if (delivered == delivered_pods_.end() && !is_finished) {
      AddFinding(Describe(pod) + " was deleted but is still assumed");
    }
  } else if (delivered == delivered_pods_.end() ||
             delivered->second->resource_version() != pod.resource_version()) {
    AddFinding(Describe(pod) + " is deleted or has another version in the cache");
  }
}

}  // namespace berth::host
