// What a seed stands for: how big the cluster is, who meddles, how bad the line is.
#ifndef BERTH_TESTS_SIMULATION_SCENARIO_H_
#define BERTH_TESTS_SIMULATION_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/queue/scheduling_queue.h"
#include "tests/simulation/dice.h"
#include "tests/simulation/faulty_client.h"

namespace berth::host {

struct Scenario {
  uint64_t seed = 0;
  size_t max_nodes = 12;
  size_t max_pods = 30;
  size_t rounds = 1;               // Each ends with everything at rest.
  size_t acts = 60;                // What users do in a round.
  int64_t max_pause_ns = kMinute;  // Between two of them.
  bool has_outsiders = false;      // Others bind pods, and nodes shrink: we are not alone to blame.
  uint32_t reload_percent = 0;     // Before an act: the same profiles with new instances.
  bool has_chaos = false;          // test.ChaosA and test.ChaosB are in the profile.
  bool has_quarantine = false;     // Plugins that throw often are not asked any more.
  bool has_volumes = false;        // Some pods have, and claims, volumes and drivers come and go.
  bool drops_columns = false;      // As soon as nobody needs them.
  uint32_t restart_percent = 0;    // Of acts: the scheduler is killed, and another one starts.
  std::vector<std::string> profiles{"default-scheduler"};
  Faults faults;
  SchedulingQueue::Options queue;

  // In words, for the trace.
  std::string Text() const;
};

Scenario MakeScenario(uint64_t seed);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_SCENARIO_H_
