#include "host/runtime/run_changes.h"

#include "host/runtime/invoke.h"

namespace berth::host {
namespace {

void Notify(const PlannedPlugin& plugin, const berth_change& change) {
  Invoke(plugin, Point::kChanges,
         [&change](auto& instance) { instance.changes()->change(instance.self(), &change); },
         {.pod = change.pod});
}

}  // namespace

ChangeHub::ChangeHub(Cache& cache) : cache_(cache) { cache_.SetObserver(this); }

ChangeHub::~ChangeHub() { cache_.SetObserver(nullptr); }

// --- plans ---------------------------------------------------------------------------------------

void ChangeHub::AddPlan(const Plan& plan) {
  for (const PlannedPlugin& plugin : plan.plugins()) {
    if (plugin.instance->changes() == nullptr) continue;
    Replay(plugin);
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
    change.flags = BERTH_CHANGE_REPLAY;
    change.node = table.node_views()[row];
    Notify(plugin, change);
  }
  for (Row row = 0; row < table.row_count(); ++row) {
    for (const PodRef& pod : table.pods(row)) {
      berth_change change = MakePodChange(BERTH_CHANGE_POD_ADDED, row, pod);
      change.flags = BERTH_CHANGE_REPLAY;
      if (cache_.IsAssumed(pod->uid())) change.flags |= BERTH_CHANGE_ASSUMED;
      Notify(plugin, change);
    }
  }
  Notify(plugin, MakeChange(BERTH_CHANGE_SYNCED, 0));
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
  change.node = cache_.table().node_views()[row];
  return change;
}

void ChangeHub::NotifyAll(berth_change change) {
  change.sequence = ++sequence_;
  for (const Subscriber& each : subscribers_) Notify(*each.plugin, change);
}

void ChangeHub::OnPodAdded(Row row, const PodRef& pod, bool assumed) {
  berth_change change = MakePodChange(BERTH_CHANGE_POD_ADDED, row, pod);
  if (assumed) change.flags = BERTH_CHANGE_ASSUMED;
  NotifyAll(change);
}

void ChangeHub::OnPodChanged(Row row, const PodRef& old, const PodRef& pod) {
  berth_change change = MakePodChange(BERTH_CHANGE_POD_CHANGED, row, pod);
  change.old_pod = &old->view();
  NotifyAll(change);
}

void ChangeHub::OnPodRemoved(Row row, const PodRef& pod, bool forgotten) {
  berth_change change = MakePodChange(BERTH_CHANGE_POD_REMOVED, row, pod);
  if (forgotten) change.flags = BERTH_CHANGE_FORGOTTEN;
  NotifyAll(change);
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
