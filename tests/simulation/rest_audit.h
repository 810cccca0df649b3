// Checks that the scheduler agrees with the cluster when nothing is in flight.
#ifndef BERTH_TESTS_SIMULATION_REST_AUDIT_H_
#define BERTH_TESTS_SIMULATION_REST_AUDIT_H_

#include <string_view>

#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/observations.h"

namespace berth::host {

// REQUIRES: all events are delivered, and no request or binding is in flight. This applies to every
// check.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class RestAudit {
 public:
  // Pins the columns whose values CheckCache() compares. `loop` has received no events yet.
  RestAudit(EmbeddedCluster& cluster, SchedulingLoop& loop, const Observations& observed,
            Findings& findings);
  RestAudit(const RestAudit&) = delete;
  RestAudit& operator=(const RestAudit&) = delete;

  // Checks that the scheduler waits for no binding and assumes no pod.
  void CheckBindings();
  // Checks that the cache has the nodes and pods of the cluster in their last versions, and the
  // sums of the pods' requests.
  void CheckCache();

 private:
  void CheckNodes();
  void CheckPods();
  void CheckSums(std::string_view node, Row row);

  EmbeddedCluster& cluster_;
  SchedulingLoop& loop_;
  const Observations& observed_;
  Findings& findings_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_REST_AUDIT_H_
