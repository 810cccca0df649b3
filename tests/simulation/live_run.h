// Simulates one seed with KubernetesClient: a model of an API server, a network with faults,
// scheduler processes that elect a leader, and users, on a virtual clock.
#ifndef BERTH_TESTS_SIMULATION_LIVE_RUN_H_
#define BERTH_TESTS_SIMULATION_LIVE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/api/decode.h"
#include "host/base/interner.h"
#include "host/base/test_clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/loader/plugin_catalog.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/virtual_executor.h"
#include "tests/simulation/audit.h"
#include "tests/simulation/bind_audit.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/fresh_audit.h"
#include "tests/simulation/live_process.h"
#include "tests/simulation/live_scenario.h"
#include "tests/simulation/random.h"
#include "tests/simulation/room_audit.h"
#include "tests/simulation/scheduler_setup.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/wire_audit.h"
#include "tests/simulation/world.h"

namespace berth::host {

// Runs the audits of Run, and checks in addition: at most one process has an open fence, and no
// request that writes is sent with a closed one; no binding is sent before the cache has been
// refreshed after a take-over; the outcome of each binding that the client reports is true; every
// watch converges to the state of the server when the faults have ended.
//
// Threading: one thread.
// Lifetime:  the catalogue must outlive the run.
class LiveRun {
 public:
  // Writes a trace to `trace` if it is not null.
  LiveRun(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  // Runs the simulation. Returns the first finding, or an empty string.
  std::string Play();

  const Audit::Counts& counts() const { return counts_; }
  uint64_t steps() const { return steps_; }
  uint64_t digest() const { return trace_.digest(); }

 private:
  // The machine of a process, on which it is started again.
  struct Machine {
    int64_t boot_ns = 0;
    uint64_t starts = 0;
    LiveProcess::Links links;
    std::unique_ptr<LiveProcess> process;
  };

  void Start(Machine& machine);
  void Kill(Machine& machine);
  void Stop(Machine& machine);
  void Retire(Machine& machine);
  void SetFaults(bool has_faults);

  void Round();
  void RunActs();
  // Lets something happen to the processes or to the server.
  void Disturb();
  void Rest();
  void CheckRest(const char* when);
  // Returns why the simulation is not at rest; empty if it is.
  std::string Unrest(bool backoffs_count) const;

  // Executes one action that is due. Returns false if none is due.
  bool StepOnce();
  void CheckFences();
  // Executes everything that is due before `at_ns` and advances the clock to `at_ns`.
  void RunUntil(int64_t at_ns);
  // Returns when the next action is due, or `at_ns` if that is earlier.
  int64_t NextNs(int64_t at_ns);
  // Runs one process and the server until `is_done` returns true.
  void RunProcess(LiveProcess& process, const std::function<bool()>& is_done);
  bool ok() const { return findings_.first().empty(); }
  std::vector<std::string> BindingPods() const;

  const LiveScenario scenario_;
  TestClock clock_;
  Trace trace_;
  Random random_;
  Interner interner_;
  const SchedulerSetup setup_;
  Decoder decoder_;
  EmbeddedCluster cluster_;
  VirtualExecutor server_{clock_};
  ApiModel model_;
  Findings findings_{trace_};
  RoomAudit room_audit_{scenario_.base, cluster_, findings_};
  BindAudit bind_audit_{cluster_, room_audit_, findings_};
  FreshAudit fresh_audit_{trace_, findings_};
  World world_;
  const LiveWorld live_world_;
  std::deque<WireAudit> wires_;  // One for each process that ever ran.
  std::vector<Machine> machines_;
  bool has_faults_ = false;
  Audit::Counts counts_;
  uint64_t steps_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_LIVE_RUN_H_
