#include "host/runtime/points/run_changes.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {
namespace {

void Notify(const PlannedPlugin& plugin, const berth_change& change) {
  Invoke(plugin, Point::kChanges,
         [&change](auto& instance) { instance.changes()->change(instance.self(), &change); },
         {.pod = change.pod});
}

bool IsPendingChange(uint32_t kind) {
  return kind == BERTH_CHANGE_PENDING_ADDED || kind == BERTH_CHANGE_PENDING_CHANGED ||
         kind == BERTH_CHANGE_PENDING_REMOVED;
}

bool WantsPending(const PlannedPlugin& plugin) {
  return (plugin.instance->changes()->flags & BERTH_CHANGES_FLAG_PENDING) != 0;
}

}  // namespace

ChangeHub::ChangeHub(Cache& cache, SchedulingQueue* queue) : cache_(cache), queue_(queue) {
  cache_.SetObserver(this);
  if (queue_ == nullptr) return;
  queue_->SetObserver(this);
  queue_->ForEach([this](const QueuedEntity& entity) {
    entity.ForEachPod([this](const PodRef& pod) { OnQueued(pod); });
  });
}

ChangeHub::~ChangeHub() {
  cache_.SetObserver(nullptr);
  if (queue_ != nullptr) queue_->SetObserver(nullptr);
}

// --- plans ---------------------------------------------------------------------------------------

void ChangeHub::AddPlan(const Plan& plan) {
  for (const PlannedPlugin& plugin : plan.plugins()) {
    if (plugin.instance->changes() == nullptr) continue;
    const size_t moved = std::erase_if(
        subscribers_, [&plugin](const Subscriber& each) { return each.plugin == &plugin; });
    if (moved == 0) Replay(plugin);
    subscribers_.push_back({&plan, &plugin});
  }
}

void ChangeHub::RemovePlan(const Plan& plan) {
  std::erase_if(subscribers_, [&plan](const Subscriber& each) { return each.plan == &plan; });
}

void ChangeHub::Replay(const PlannedPlugin& plugin) const {
  const NodeTable& table = cache_.table();
  for (Row row = 0; row < table.row_count(); ++row) {
    if (!table.IsLive(row)) continue;
    berth_change change = MakeChange(BERTH_CHANGE_NODE_ADDED, row);
    change.flags = BERTH_CHANGE_FLAG_REPLAY;
    change.node = table.arrays().nodes[row];
    Notify(plugin, change);
  }
  for (Row row = 0; row < table.row_count(); ++row) {
    for (const PodRef& pod : table.pods(row)) {
      berth_change change = MakePodChange(BERTH_CHANGE_POD_ADDED, row, pod);
      change.flags = BERTH_CHANGE_FLAG_REPLAY;
      if (cache_.IsAssumed(pod->uid())) change.flags |= BERTH_CHANGE_FLAG_ASSUMED;
      Notify(plugin, change);
    }
  }
  if (WantsPending(plugin)) {
    for (const PodRef& pod : PendingPods()) {
      berth_change change = MakePendingChange(BERTH_CHANGE_PENDING_ADDED, pod);
      change.flags = BERTH_CHANGE_FLAG_REPLAY;
      Notify(plugin, change);
    }
  }
  Notify(plugin, MakeChange(BERTH_CHANGE_SYNCED, 0));
}

std::vector<PodRef> ChangeHub::PendingPods() const {
  std::vector<PodRef> pods;
  queued_.ForEach([&](const QueuedPod& queued) {
    if (queued.is_pending) pods.push_back(queued.pod);
  });
  std::ranges::sort(
      pods, {}, [](const PodRef& pod) { return std::tuple(pod->meta().created_ns, pod->Key()); });
  return pods;
}

// --- changes -------------------------------------------------------------------------------------

berth_change ChangeHub::MakeChange(uint32_t kind, Row row) const {
  return {.struct_size = sizeof(berth_change),
          .kind = kind,
          .flags = 0,
          .row = row,
          .sequence = sequence_,
          .pod = nullptr,
          .old_pod = nullptr,
          .node = nullptr,
          .old_node = nullptr};
}

berth_change ChangeHub::MakePodChange(uint32_t kind, Row row, const PodRef& pod) const {
  berth_change change = MakeChange(kind, row);
  change.pod = &pod->view();
  change.node = cache_.table().arrays().nodes[row];
  return change;
}

berth_change ChangeHub::MakePendingChange(uint32_t kind, const PodRef& pod) const {
  berth_change change = MakeChange(kind, 0);
  change.pod = &pod->view();
  return change;
}

void ChangeHub::NotifyAll(berth_change change) {
  change.sequence = ++sequence_;
  const bool is_pending = IsPendingChange(change.kind);
  for (const Subscriber& each : subscribers_) {
    if (!is_pending || WantsPending(*each.plugin)) Notify(*each.plugin, change);
  }
}

// --- pending pods --------------------------------------------------------------------------------

void ChangeHub::OnQueued(const PodRef& pod) {
  const auto [place, is_new] = queued_.Add({pod});
  QueuedPod& queued = *place;
  if (!is_new && !queued.is_pending) {
    queued.pod = pod;  // It is assumed; this version is delivered if it is forgotten.
    return;
  }
  if (is_new) {
    queued.is_pending = cache_.RowOf(pod->uid()) == kNoRow;
    if (queued.is_pending) NotifyAll(MakePendingChange(BERTH_CHANGE_PENDING_ADDED, pod));
    return;
  }
  const PodRef old = std::exchange(queued.pod, pod);
  if (old == pod) return;
  berth_change change = MakePendingChange(BERTH_CHANGE_PENDING_CHANGED, pod);
  change.old_pod = &old->view();
  NotifyAll(change);
}

void ChangeHub::OnUnqueued(std::string_view uid) {
  const std::optional<QueuedPod> queued = queued_.TakeIfAny(uid);
  if (!queued.has_value() || !queued->is_pending) return;
  NotifyAll(MakePendingChange(BERTH_CHANGE_PENDING_REMOVED, queued->pod));
}

// --- the node table ------------------------------------------------------------------------------

void ChangeHub::OnPodAdded(Row row, const PodRef& pod, bool assumed) {
  QueuedPod* const queued = queued_.Find(pod->uid());
  if (queued != nullptr && std::exchange(queued->is_pending, false)) {
    NotifyAll(MakePendingChange(BERTH_CHANGE_PENDING_REMOVED, queued->pod));
  }
  berth_change change = MakePodChange(BERTH_CHANGE_POD_ADDED, row, pod);
  if (assumed) change.flags = BERTH_CHANGE_FLAG_ASSUMED;
  NotifyAll(change);
}

void ChangeHub::OnPodChanged(Row row, const PodRef& old, const PodRef& pod) {
  berth_change change = MakePodChange(BERTH_CHANGE_POD_CHANGED, row, pod);
  change.old_pod = &old->view();
  NotifyAll(change);
}

void ChangeHub::OnPodRemoved(Row row, const PodRef& pod, bool forgotten) {
  berth_change change = MakePodChange(BERTH_CHANGE_POD_REMOVED, row, pod);
  if (forgotten) change.flags = BERTH_CHANGE_FLAG_FORGOTTEN;
  NotifyAll(change);
  // A pod that left the queue meanwhile was deleted, or has no profile any more.
  QueuedPod* const queued = queued_.Find(pod->uid());
  if (!forgotten || queued == nullptr) return;
  queued->is_pending = true;
  NotifyAll(MakePendingChange(BERTH_CHANGE_PENDING_ADDED, queued->pod));
}

void ChangeHub::OnNodeAdded(Row row, const NodeRef& node) {
  berth_change change = MakeChange(BERTH_CHANGE_NODE_ADDED, row);
  change.node = &node->view();
  NotifyAll(change);
}

void ChangeHub::OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) {
  berth_change change = MakeChange(BERTH_CHANGE_NODE_CHANGED, row);
  change.node = &node->view();
  change.old_node = &old->view();
  NotifyAll(change);
}

void ChangeHub::OnNodeRemoved(Row row, const NodeRef& node) {
  berth_change change = MakeChange(BERTH_CHANGE_NODE_REMOVED, row);
  change.node = &node->view();
  NotifyAll(change);
}

}  // namespace berth::host
