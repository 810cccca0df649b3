// Checks that every pod is in exactly one place of the scheduler.
#ifndef BERTH_TESTS_SIMULATION_PLACE_AUDIT_H_
#define BERTH_TESTS_SIMULATION_PLACE_AUDIT_H_

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/observations.h"
#include "tests/simulation/scenario.h"

namespace berth::host {

// Compares the queue, the cache and the bindings of a scheduler with what the scheduler received.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive this object.
class PlaceAudit {
 public:
  PlaceAudit(const Scenario& scenario, const Clock& clock, SchedulingLoop& loop,
             const Observations& observed, Findings& findings)
      : scenario_(scenario), clock_(clock), loop_(loop), observed_(observed), findings_(findings) {}
  PlaceAudit(const PlaceAudit&) = delete;
  PlaceAudit& operator=(const PlaceAudit&) = delete;

  // Checks that every pod that was delivered to the scheduler is in exactly the place where it must
  // be, and that the scheduler has no other pods. Holds between any two steps of the scheduler.
  void Check();

 private:
  bool HasProfile(const Pod& pod) const;
  void CheckDeliveredPod(const Pod& pod);
  void CheckPending(const Pod& pod);
  void CheckQueued(const QueuedEntity& entity);
  void CheckQueuedPod(const QueuedEntity& entity, const Pod& pod);
  void CheckBindings();
  void CheckNominations();
  void CheckCache();
  void CheckCachedPod(Row row, const Pod& pod);

  const Scenario& scenario_;
  const Clock& clock_;
  SchedulingLoop& loop_;
  const Observations& observed_;
  Findings& findings_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_PLACE_AUDIT_H_
