// Makes the schedulers of a simulation.
#ifndef BERTH_TESTS_SIMULATION_SCHEDULER_SETUP_H_
#define BERTH_TESTS_SIMULATION_SCHEDULER_SETUP_H_

#include <memory>
#include <vector>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "host/guard/bind_pool.h"
#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"
#include "tests/simulation/audit.h"
#include "tests/simulation/scenario.h"

namespace berth::host {

// The inputs of every scheduler of a simulation.
// Lifetime: everything it refers to must outlive the schedulers.
struct SchedulerSetup {
  const PluginCatalog& catalog;
  const Scenario& scenario;
  const Clock& clock;
  Interner& interner;
};

// Returns the default profile under each name of the scenario, with the chaos plugins if they are
// wanted.
std::vector<PlanSpec> ProfilesOf(const SchedulerSetup& setup, bool has_chaos);

// Starts the scheduler of the scenario. The audit is its sink and receives its log, but has no loop
// yet.
std::unique_ptr<SchedulingLoop> StartScheduler(const SchedulerSetup& setup, Client client,
                                               TaskPool& pool, Audit& audit);

// Returns a second scheduler, without faults and chaos plugins. It has received the state of the
// cluster, and never schedules a pod.
std::unique_ptr<SchedulingLoop> StartFreshScheduler(const SchedulerSetup& setup,
                                                    EmbeddedCluster& cluster, Audit& audit);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_SCHEDULER_SETUP_H_
