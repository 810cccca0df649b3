// The parameters of a simulation with a model of an API server, derived from its seed.
#ifndef BERTH_TESTS_SIMULATION_LIVE_SCENARIO_H_
#define BERTH_TESTS_SIMULATION_LIVE_SCENARIO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/harness/api_server/faulty_transport.h"
#include "tests/simulation/scenario.h"

namespace berth::host {

struct LiveScenario {
  // Without `faults` and `restart_percent`, which are those of the other client.
  Scenario base;
  size_t processes = 1;
  TransportFaults faults;        // For reads, writes and events.
  TransportFaults lease_faults;  // For requests for leases.
  // The shares of acts before which something else happens.
  uint32_t kill_percent = 0;   // A process is killed and started again.
  uint32_t stop_percent = 0;   // A process is ended in order and started again.
  uint32_t pause_percent = 0;  // A process is stopped for up to max_pause_ns and continued.
  int64_t max_pause_ns = 0;
  uint32_t cut_percent = 0;      // The API server restarts.
  uint32_t compact_percent = 0;  // The server forgets its history.
  uint32_t lag_percent = 0;      // An API server begins to lag behind by up to max_lag_ns.
  int64_t max_lag_ns = 0;
  bool serves_initial_events = true;
  size_t watch_window = 1000;
  size_t page = 500;

  // Returns a description for the trace.
  std::string Text() const;
};

LiveScenario MakeLiveScenario(uint64_t seed);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_LIVE_SCENARIO_H_
