// Checks that no decision violates a hard constraint between pods.
#ifndef BERTH_TESTS_SIMULATION_CONSTRAINT_AUDIT_H_
#define BERTH_TESTS_SIMULATION_CONSTRAINT_AUDIT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "tests/simulation/findings.h"

namespace berth::host {

// Counts pods anew for each decision, by looking at every pod on every node of the scheduler's
// cache: that is what the scheduler knows at the moment of the decision, whatever happens in the
// cluster meanwhile. It shares no code with the plugins and their index.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class ConstraintAudit {
 public:
  explicit ConstraintAudit(Findings& findings) : findings_(findings) {}
  ConstraintAudit(const ConstraintAudit&) = delete;
  ConstraintAudit& operator=(const ConstraintAudit&) = delete;

  // Checks the pod's constraints with DoNotSchedule, its required affinity and anti-affinity, and
  // the required anti-affinity of the other pods. The pod was just assumed on the row.
  void CheckAssumed(const Pod& pod, const NodeTable& table, Row row);

  // How many decisions about pods with such constraints were checked.
  uint64_t spread_checks() const { return spread_checks_; }
  uint64_t affinity_checks() const { return affinity_checks_; }

 private:
  void CheckSpread(const Pod& pod, const NodeTable& table, Row row);
  void CheckAffinity(const Pod& pod, const NodeTable& table, Row row);
  void CheckAntiAffinity(const Pod& pod, const NodeTable& table, Row row);

  Findings& findings_;
  uint64_t spread_checks_ = 0;
  uint64_t affinity_checks_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_CONSTRAINT_AUDIT_H_
