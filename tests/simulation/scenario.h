// The parameters of a simulation, derived from its seed.
#ifndef BERTH_TESTS_SIMULATION_SCENARIO_H_
#define BERTH_TESTS_SIMULATION_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/queue/scheduling_queue.h"
#include "tests/simulation/faulty_client.h"
#include "tests/simulation/random.h"

namespace berth::host {

struct Scenario {
  uint64_t seed = 0;
  size_t max_nodes = 12;
  size_t max_pods = 30;
  size_t rounds = 1;               // At the end of each round the simulation is idle.
  size_t acts = 60;                // The number of acts of the users in a round.
  int64_t max_pause_ns = kMinute;  // The maximum time between two acts.
  // Other schedulers bind pods, and nodes shrink, so that nodes may be overcommitted.
  bool has_other_schedulers = false;
  // Bindings that a scheduler has sent may be executed after another one has taken over.
  bool has_late_binds = false;
  uint32_t reload_percent = 0;   // The profiles are reloaded before this share of acts.
  bool has_chaos = false;        // test.ChaosA and test.ChaosB are in the profile.
  bool has_quarantine = false;   // Plugins with many faults are put in quarantine.
  bool has_volumes = false;      // Some pods have volumes, and storage objects change.
  bool drops_columns = false;    // Columns are dropped as soon as they are idle.
  uint32_t restart_percent = 0;  // The scheduler is killed and restarted before this share of acts.
  std::vector<std::string> profiles{"default-scheduler"};
  Faults faults;
  SchedulingQueue::Options queue;

  // Returns a description for the trace.
  std::string Text() const;
};

Scenario MakeScenario(uint64_t seed);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_SCENARIO_H_
