// Checks that no node is overcommitted.
#ifndef BERTH_TESTS_SIMULATION_ROOM_AUDIT_H_
#define BERTH_TESTS_SIMULATION_ROOM_AUDIT_H_

#include <string_view>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/scenario.h"

namespace berth::host {

// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class RoomAudit {
 public:
  RoomAudit(const Scenario& scenario, EmbeddedCluster& cluster, Findings& findings)
      : scenario_(scenario), cluster_(cluster), findings_(findings) {}
  RoomAudit(const RoomAudit&) = delete;
  RoomAudit& operator=(const RoomAudit&) = delete;

  // Checks all nodes of the cluster, or one of them. Both methods do nothing if other schedulers
  // place pods, or if bindings of a scheduler that has ended may be executed later.
  void Check();
  void CheckNode(std::string_view name);
  // Checks the room for a pod on a row of the scheduler's cache, which the pod was just assumed on.
  // Checks only the resources that the pod requests, because others may be overcommitted by other
  // schedulers.
  void CheckAssumed(const Pod& pod, const NodeTable& table, Row row);

 private:
  const Scenario& scenario_;
  EmbeddedCluster& cluster_;
  Findings& findings_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_ROOM_AUDIT_H_
