#include "tests/simulation/room_audit.h"

#include <map>
#include <string>

#include "tests/simulation/node_sums.h"

namespace berth::host {

void RoomAudit::Check() {
  for (const AnyObject& node : cluster_.List(kNodeKind)) CheckNode(Base(node).name());
}

void RoomAudit::CheckNode(std::string_view name) {
  const NodeRef node = cluster_.FindNode(name);
  if (scenario_.has_other_schedulers || scenario_.has_late_binds || node == nullptr) return;
  const NodeSums sum = SumPodsOn(name, cluster_);
  const berth_resources& has = *node->view().allocatable;
  int64_t gpus = 0;
  for (const auto& scalar : Elements<berth_quantity>(has.scalars)) gpus += scalar.value;
  if (sum.cpu <= has.milli_cpu && sum.memory <= has.memory && sum.gpus <= gpus &&
      sum.count <= has.pods) {
    return;
  }
  findings_.Add("node " + std::string(name) + " is overcommitted");
}

void RoomAudit::CheckAssumed(const Pod& pod, const NodeTable& table, Row row) {
  const berth_resources& has = *table.node(row)->view().allocatable;
  const berth_resources& wants = *pod.view().request;
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
    findings_.Add(Describe(pod) + " overcommits " + what + " of " +
                  std::string(table.node(row)->name()) + ": " + std::to_string(used) + " of " +
                  std::to_string(there));
  };
  check(true, static_cast<int64_t>(table.pods(row).size()), has.pods, "pods");
  check(wants.milli_cpu > 0, sum.milli_cpu, has.milli_cpu, "cpu");
  check(wants.memory > 0, sum.memory, has.memory, "memory");
  for (const auto& scalar : Elements<berth_quantity>(wants.scalars)) {
    check(scalar.value > 0, scalars[scalar.name], ScalarAmount(has, scalar.name), "a device");
  }
}

}  // namespace berth::host
