#include "tests/simulation/live_scenario.h"

namespace berth::host {
namespace {

// A binding that was sent is executed within this time at the latest if another process may take
// over: the fence closes this time before the lease can be taken.
constexpr int64_t kLatestBindNs = 4 * kSecond;

TransportFaults MakeTransportFaults(Random& random, int64_t max_late_ns) {
  const uint32_t much = random.OneIn(3) ? 4 : 1;
  TransportFaults faults;
  faults.max_late_ns = max_late_ns;
  faults.refused = 2 * much;
  faults.lost_before = much;
  faults.lost_after = much;
  faults.duplicated = much;
  faults.late = 2 * much;
  faults.status_429 = much;
  faults.status_500 = much;
  faults.status_503 = much;
  faults.truncated = much;
  faults.cut = much;
  faults.stalled = random.OneIn(2) ? 1 : 0;
  faults.gone = much;
  faults.doubled = 2 * much;
  faults.slow = 4 * much;
  faults.chopped = 4 * much;
  faults.early_end = 2 * much;
  faults.foreign_line = much;
  return faults;
}

}  // namespace

LiveScenario MakeLiveScenario(uint64_t seed) {
  Random random(seed ^ 0x11fe5ca1);
  LiveScenario scenario;
  scenario.base = MakeScenario(seed);
  scenario.base.faults = {};
  scenario.base.restart_percent = 0;
  scenario.processes = random.OneIn(2) ? 2 : 1;
  // The API server gives a request up after 60 seconds.
  const int64_t max_late_ns = random.OneIn(2) ? kLatestBindNs : 60 * kSecond;
  if (!random.OneIn(6)) {
    scenario.faults = MakeTransportFaults(random, max_late_ns);
    scenario.lease_faults = MakeTransportFaults(random, max_late_ns);
  }
  scenario.base.has_late_binds = scenario.processes > 1 && max_late_ns > kLatestBindNs;
  if (random.OneIn(3)) scenario.kill_percent = 3;
  if (random.OneIn(3)) scenario.stop_percent = 2;
  if (random.OneIn(2)) scenario.pause_percent = 3;
  scenario.max_pause_ns = random.OneIn(2) ? 12 * kSecond : 45 * kSecond;
  if (random.OneIn(2)) scenario.cut_percent = 4;
  if (random.OneIn(2)) scenario.compact_percent = 5;
  if (random.OneIn(3)) scenario.lag_percent = 10;
  scenario.max_lag_ns = random.OneIn(2) ? 2 * kSecond : 20 * kSecond;
  scenario.serves_initial_events = !random.OneIn(3);
  scenario.watch_window = random.OneIn(3) ? 1 + random.Below(20) : 1000;
  scenario.page = random.OneIn(2) ? 1 + random.Below(6) : 500;
  return scenario;
}

std::string LiveScenario::Text() const {
  std::string text = base.Text() + "; live, " + std::to_string(processes) +
                     " processes, pages of " + std::to_string(page) + ", a window of " +
                     std::to_string(watch_window);
  if (!serves_initial_events) text += ", no initial events";
  if (faults.refused > 0) text += ", faults " + std::to_string(faults.lost_before);
  if (base.has_late_binds) text += ", late bindings";
  if (kill_percent > 0) text += ", kills";
  if (stop_percent > 0) text += ", stops";
  if (pause_percent > 0) text += ", pauses";
  if (cut_percent > 0) text += ", restarts of the server";
  if (compact_percent > 0) text += ", compactions";
  if (lag_percent > 0) text += ", lags";
  return text;
}

}  // namespace berth::host
