// One seed: a cluster, a bad line, a scheduler, and what users do, on a virtual clock.
#ifndef BERTH_TESTS_SIMULATION_RUN_H_
#define BERTH_TESTS_SIMULATION_RUN_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/api/decode.h"
#include "host/base/interner.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "host/loader/plugin_catalog.h"
#include "tests/simulation/audit.h"
#include "tests/simulation/dice.h"
#include "tests/simulation/faulty_client.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world.h"

namespace berth::host {

// Threading: one thread.
// Lifetime:  the catalogue must outlive it.
class Run {
 public:
  // `trace`: where it is told as it happens; null: nowhere.
  Run(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // What is wrong; empty: nothing.
  std::string Play();

  const Audit::Counts& counts() const { return audit_.counts(); }
  uint64_t steps() const { return steps_; }
  uint64_t digest() const { return trace_.digest(); }

 private:
  void Start();
  void Reload();
  void Kill();
  void Round();
  void ActUntilDone();
  void Rest();
  void CheckRest(const char* when);
  // Lets one thing happen that is due now. False: nothing is.
  bool StepOnce();
  bool RunPool();
  // What is due before `at_ns`.
  void GoTo(int64_t at_ns);
  // When the next thing is due; no later than `at_ns`.
  int64_t NextNs(int64_t at_ns);
  bool IsQuiet(bool backoffs_count) const;
  bool ok() const { return audit_.finding().empty(); }
  std::vector<PlanSpec> Profiles(bool has_chaos) const;
  std::unique_ptr<SchedulingLoop> StartFresh();

  const PluginCatalog& catalog_;
  const Scenario scenario_;
  TestClock clock_;
  Trace trace_;
  Dice dice_;
  Interner interner_;
  Decoder decoder_;
  EmbeddedCluster cluster_;
  Audit audit_;
  World world_;
  std::unique_ptr<FaultyClient> client_;
  std::multimap<int64_t, std::function<void()>> pool_;  // What a thread will come to, by when.
  std::unique_ptr<SchedulingLoop> loop_;
  uint64_t steps_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_RUN_H_
