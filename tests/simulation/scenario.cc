#include "tests/simulation/scenario.h"

namespace berth::host {
namespace {

Faults MakeFaults(Random& random) {
  Faults faults;
  if (random.OneIn(6)) return faults;
  const bool is_bad = random.OneIn(3);
  faults.max_late_ns = random.OneIn(2) ? 30 * kSecond : 2 * kMinute;
  faults.late_percent = is_bad ? 50 : 10;
  faults.duplicate_percent = is_bad ? 20 : 3;
  faults.max_gap_ns = random.OneIn(2) ? 10 * kSecond : 3 * kMinute;
  faults.gap_percent = is_bad ? 10 : 2;
  faults.max_slow_ns = random.OneIn(2) ? 5 * kSecond : 3 * kMinute;
  faults.fail_percent = is_bad ? 25 : 5;
  faults.slow_percent = is_bad ? 40 : 10;
  faults.lost_percent = is_bad ? 25 : 5;
  return faults;
}

SchedulingQueue::Options MakeQueue(Random& random) {
  SchedulingQueue::Options queue;
  if (random.OneIn(5)) queue.pop_from_backoff = false;
  if (random.OneIn(8)) queue.max_backoff_ns = 0;
  if (random.OneIn(8)) queue.max_logged_events = random.Below(6);
  if (random.OneIn(8)) queue.flush_after_ns = 40 * kSecond;
  return queue;
}

}  // namespace

Scenario MakeScenario(uint64_t seed) {
  Random random(seed ^ 0x5ca1ab1e);
  Scenario scenario;
  scenario.seed = seed;
  scenario.max_nodes = static_cast<size_t>(random.Between(1, 12));
  scenario.max_pods = static_cast<size_t>(random.Between(4, 40));
  scenario.rounds = static_cast<size_t>(random.Between(1, 3));
  scenario.acts = static_cast<size_t>(random.Between(20, 80));
  scenario.max_pause_ns = random.OneIn(2) ? 10 * kSecond : kMinute;
  scenario.has_other_schedulers = random.OneIn(3);
  scenario.has_chaos = !random.OneIn(3);
  scenario.has_quarantine = scenario.has_chaos && random.OneIn(10);
  scenario.restart_percent = random.OneIn(5) ? 3 : 0;
  if (random.OneIn(4)) scenario.profiles.emplace_back("second-scheduler");
  scenario.faults = MakeFaults(random);
  scenario.queue = MakeQueue(random);
  scenario.has_volumes = !random.OneIn(3);
  scenario.drops_columns = random.OneIn(3);
  scenario.reload_percent = random.OneIn(3) ? 10 : 0;
  return scenario;
}

std::string Scenario::Text() const {
  std::string text = "seed " + std::to_string(seed) + ": at most " + std::to_string(max_nodes) +
                     " nodes and " + std::to_string(max_pods) + " pods";
  if (has_other_schedulers) text += ", other schedulers";
  if (has_chaos) text += ", chaos";
  if (has_quarantine) text += ", quarantine";
  if (has_volumes) text += ", volumes";
  if (restart_percent > 0) text += ", restarts";
  if (reload_percent > 0) text += ", reloads";
  if (profiles.size() > 1) text += ", two profiles";
  if (faults.late_percent > 0) {
    text += ", late " + std::to_string(faults.late_percent) + "%, gaps " +
            std::to_string(faults.gap_percent) + "%, slow " + std::to_string(faults.slow_percent) +
            "%";
  }
  if (!queue.pop_from_backoff) text += ", no pop from backoff";
  if (queue.max_backoff_ns == 0) text += ", no backoff";
  if (queue.max_logged_events < 100) {
    text += ", " + std::to_string(queue.max_logged_events) + " events logged";
  }
  return text;
}

}  // namespace berth::host
