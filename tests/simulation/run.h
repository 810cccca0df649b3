// Simulates one seed: a cluster, a client with faults, a scheduler, and users, on a virtual clock.
#ifndef BERTH_TESTS_SIMULATION_RUN_H_
#define BERTH_TESTS_SIMULATION_RUN_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "host/api/decode.h"
#include "host/base/interner.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cycle/scheduling_loop.h"
#include "host/loader/plugin_catalog.h"
#include "tests/simulation/audit.h"
#include "tests/simulation/bind_audit.h"
#include "tests/simulation/delayed_pool.h"
#include "tests/simulation/faulty_client.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/fresh_audit.h"
#include "tests/simulation/random.h"
#include "tests/simulation/room_audit.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/scheduler_setup.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world.h"

namespace berth::host {

// Threading: one thread.
// Lifetime:  the catalogue must outlive the run.
class Run {
 public:
  // Writes a trace to `trace` if it is not null.
  Run(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Runs the simulation. Returns the first finding, or an empty string.
  std::string Play();

  const Audit::Counts& counts() const { return audit_.counts(); }
  uint64_t steps() const { return steps_; }
  uint64_t digest() const { return trace_.digest(); }

 private:
  void Start();
  void Reload();
  void Kill();
  void Round();
  void RunActs();
  void Rest();
  void CheckRest(const char* when);
  // Executes one action that is due. Returns false if none is due.
  bool StepOnce();
  // Executes everything that is due before `at_ns` and advances the clock to `at_ns`.
  void RunUntil(int64_t at_ns);
  // Returns when the next action is due, or `at_ns` if that is earlier.
  int64_t NextNs(int64_t at_ns);
  bool IsAtRest(bool backoffs_count) const;
  bool ok() const { return findings_.first().empty(); }

  const Scenario scenario_;
  TestClock clock_;
  Trace trace_;
  Random random_;
  Interner interner_;
  const SchedulerSetup setup_;
  Decoder decoder_;
  EmbeddedCluster cluster_;
  Findings findings_{trace_};
  RoomAudit room_audit_{scenario_, cluster_, findings_};
  BindAudit bind_audit_{cluster_, room_audit_, findings_};
  FreshAudit fresh_audit_{trace_, findings_};
  Audit audit_;
  World world_;
  std::unique_ptr<FaultyClient> client_;
  DelayedPool pool_{clock_, random_};
  std::unique_ptr<SchedulingLoop> loop_;
  uint64_t steps_ = 0;
  int64_t reloads_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_RUN_H_
