#include "host/runtime/run_changes.h"

#include "host/runtime/plugin_call.h"

namespace berth::host {
namespace {

void Tell(const PlannedPlugin& plugin, const berth_change& change) {
  const PluginCall call(plugin, Point::kChanges, change.pod);
  plugin.instance->changes()->change(plugin.instance->self(), &change);
}

}  // namespace

ChangeHub::ChangeHub(Cache& cache) : cache_(cache) { cache_.SetObserver(this); }

ChangeHub::~ChangeHub() { cache_.SetObserver(nullptr); }

// --- plans --------------------------------------------------------------------------------------

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
    berth_change change = Make(BERTH_CHANGE_NODE_ADDED, row);
    change.flags = BERTH_CHANGE_REPLAY;
    change.node = table.node_views()[row];
    Tell(plugin, change);
  }
  for (Row row = 0; row < table.row_count(); ++row) {
    for (const PodRef& pod : table.pods(row)) {
      berth_change change = MakeOfPod(BERTH_CHANGE_POD_ADDED, row, pod);
      change.flags = BERTH_CHANGE_REPLAY;
      if (cache_.IsAssumed(pod->uid())) change.flags |= BERTH_CHANGE_ASSUMED;
      Tell(plugin, change);
    }
  }
  Tell(plugin, Make(BERTH_CHANGE_SYNCED, 0));
}

// --- changes ------------------------------------------------------------------------------------

berth_change ChangeHub::Make(uint32_t kind, Row row) const {
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

berth_change ChangeHub::MakeOfPod(uint32_t kind, Row row, const PodRef& pod) const {
  berth_change change = Make(kind, row);
  change.pod = &pod->view();
  change.node = cache_.table().node_views()[row];
  return change;
}

void ChangeHub::TellAll(berth_change change) {
  change.sequence = ++sequence_;
  for (const Subscriber& each : subscribers_) Tell(*each.plugin, change);
}

void ChangeHub::OnPodAdded(Row row, const PodRef& pod, bool assumed) {
  berth_change change = MakeOfPod(BERTH_CHANGE_POD_ADDED, row, pod);
  if (assumed) change.flags = BERTH_CHANGE_ASSUMED;
  TellAll(change);
}

void ChangeHub::OnPodChanged(Row row, const PodRef& old, const PodRef& pod) {
  berth_change change = MakeOfPod(BERTH_CHANGE_POD_CHANGED, row, pod);
  change.old_pod = &old->view();
  TellAll(change);
}

void ChangeHub::OnPodRemoved(Row row, const PodRef& pod, bool forgotten) {
  berth_change change = MakeOfPod(BERTH_CHANGE_POD_REMOVED, row, pod);
  if (forgotten) change.flags = BERTH_CHANGE_FORGOTTEN;
  TellAll(change);
}

void ChangeHub::OnNodeAdded(Row row, const NodeRef& node) {
  berth_change change = Make(BERTH_CHANGE_NODE_ADDED, row);
  change.node = &node->view();
  TellAll(change);
}

void ChangeHub::OnNodeChanged(Row row, const NodeRef& old, const NodeRef& node) {
  berth_change change = Make(BERTH_CHANGE_NODE_CHANGED, row);
  change.node = &node->view();
  change.old_node = &old->view();
  TellAll(change);
}

void ChangeHub::OnNodeRemoved(Row row, const NodeRef& node) {
  berth_change change = Make(BERTH_CHANGE_NODE_REMOVED, row);
  change.node = &node->view();
  TellAll(change);
}

}  // namespace berth::host
