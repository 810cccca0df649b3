// One scheduler process of a simulation with a model of an API server.
#ifndef BERTH_TESTS_SIMULATION_LIVE_PROCESS_H_
#define BERTH_TESTS_SIMULATION_LIVE_PROCESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/cycle/scheduling_loop.h"
#include "tests/harness/api_server/faulty_transport.h"
#include "tests/harness/api_server/model_transport.h"
#include "tests/harness/virtual_executor.h"
#include "tests/simulation/audit.h"
#include "tests/simulation/bind_audit.h"
#include "tests/simulation/client_observer.h"
#include "tests/simulation/delayed_pool.h"
#include "tests/simulation/findings.h"
#include "tests/simulation/live_scenario.h"
#include "tests/simulation/observing_client.h"
#include "tests/simulation/random.h"
#include "tests/simulation/room_audit.h"
#include "tests/simulation/scheduler_setup.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/wire_audit.h"

namespace berth::host {

// The parts of a simulation that all its processes use.
// Lifetime: everything it refers to must outlive the processes.
struct LiveWorld {
  const LiveScenario& scenario;
  const SchedulerSetup& setup;
  EmbeddedCluster& cluster;
  VirtualExecutor& server;
  RoomAudit& room;
  BindAudit& binds;
  Trace& trace;
  Findings& findings;
};

// The clock of a process. It is that of the simulation until the process is killed: what the dying
// process still does takes no time of the others.
class ProcessClock final : public Clock {
 public:
  explicit ProcessClock(const Clock& clock) : clock_(clock) {}
  int64_t NowNs() const override { return clock_.NowNs() + extra_ns_; }
  void Advance(int64_t ns) { extra_ns_ += ns; }

 private:
  const Clock& clock_;
  int64_t extra_ns_ = 0;
};

// A scheduler with its KubernetesClient, its elector and its part of the network. It schedules
// while it leads and its cache has been refreshed. It is not restarted: the owner makes another
// one.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive it; the transports and the wire audit
//            also outlive the tasks of the server.
class LiveProcess final : private ClientObserver {
 public:
  // The transports of reads, writes, events and leases.
  static constexpr size_t kLinks = 4;
  using Links = std::array<std::unique_ptr<ModelTransport>, kLinks>;

  LiveProcess(const LiveWorld& world, std::string identity, int64_t boot_ns, const Links& links,
              WireAudit& wire, Random random);
  ~LiveProcess() override;

  void SetFaults(bool has_faults);
  void CutEverything();

  // Executes one action that is due. Returns false if none is due.
  bool RunOne();
  // Returns when the next action is due.
  std::optional<int64_t> NextNs() const;

  // Ends the process at once. Some requests that it has sent still reach the server.
  void Kill();
  // Ends the process as after SIGTERM. `run` runs the process and the server until its argument
  // returns true.
  void Stop(const std::function<void(const std::function<bool()>& is_done)>& run);
  // Stops the process until a time, as SIGSTOP and SIGCONT do.
  void PauseUntil(int64_t until_ns) { paused_until_ns_ = until_ns; }
  bool is_paused() const { return paused_until_ns_ > world_.setup.clock.NowNs(); }
  int64_t paused_until_ns() const { return paused_until_ns_; }

  // This process has lost its lease and does nothing any more: the owner kills it.
  bool has_ended() const { return has_lost_ && !is_stopping_; }
  bool leads() const { return is_fresh_ && !has_lost_; }
  bool has_open_fence() const { return fence_.is_open(); }
  // Returns why the process is not at rest; empty if it is.
  std::string Unrest(bool backoffs_count) const;

  const std::string& identity() const { return identity_; }
  SchedulingLoop& loop() { return *loop_; }
  Audit& audit() { return audit_; }

  // ---- For WireAudit ----------------------------------------------------------------------------

  void OnSent(const HttpRequest& request);
  void OnBindExecuted(const PodName& pod, std::string_view node);

 private:
  void OnDelivered(const WatchEvent& event) override { audit_.OnDelivered(event); }
  void OnBindRequested(const PodName& pod, std::string_view node) override;
  void OnBindExecuted(const PodName& /*pod*/, std::string_view /*node*/,
                      const Status& /*status*/) override {}
  void OnBindCompleted(const PodName& pod, const Status& status) override;
  // Checks the outcome of a binding that the client reports.
  void CheckOutcome(const PodName& pod, const std::string& node, const Status& status);

  KubernetesClient::Options ClientOptions();
  Channel ChannelOf(size_t link) { return {transports_[link].get(), &executor_}; }
  void OnStarted();
  void OnFresh();
  bool StepLoop();
  void End();

  const LiveWorld world_;
  const std::string identity_;
  const int64_t boot_ns_;
  Random random_;
  ProcessClock clock_;
  VirtualExecutor executor_;
  std::array<std::unique_ptr<FaultyTransport>, kLinks> transports_;
  WireAudit& wire_;
  Audit audit_;
  BindFence fence_;
  LeaseRequests leases_;
  LeaderElector elector_;
  std::unique_ptr<KubernetesClient> client_;
  std::optional<ObservingClient> observing_;
  std::function<void(const std::function<bool()>&)> wait_;  // Called by KubernetesClient::Stop().
  DelayedPool pool_;
  std::unique_ptr<SchedulingLoop> loop_;

  int64_t paused_until_ns_ = 0;
  bool has_started_ = false;       // The elector has the lease.
  bool is_refreshing_ = false;     // Refresh() was called.
  uint64_t started_revision_ = 0;  // The revision of the cluster at the call of Refresh().
  bool is_fresh_ = false;
  bool has_lost_ = false;
  bool is_stopping_ = false;  // Stop() was called.
  bool is_ending_ = false;    // The loop does not run any more.
  int64_t last_run_ns_ = 0;
  std::map<std::string, std::string, std::less<>> open_binds_;  // Nodes by uid.
  std::map<std::string, std::string, std::less<>> executed_;    // Nodes by uid, of this process.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_LIVE_PROCESS_H_
