// The health checks and the metrics of a run on a real cluster.
#ifndef BERTH_HOST_PROCESS_RUN_CLUSTER_SERVING_H_
#define BERTH_HOST_PROCESS_RUN_CLUSTER_SERVING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/sample.h"
#include "host/base/status.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/client_metrics.h"
#include "host/cluster/kubernetes/watch/cluster_watches.h"
#include "host/guard/plugin_faults.h"
#include "host/process/run/leadership.h"
#include "host/serve/endpoints.h"
#include "host/serve/http_server.h"

namespace berth::host {

class ClusterDriver;
class ClusterSession;
class SchedulerHost;

// The sources of the answers. Every function may be called on any thread and must not block.
struct ServedState {
  std::function<std::vector<WatchState>()> watches;
  std::function<Leadership::View()> leadership;  // Empty: there is no election.
  // For how long the server has forbidden every binding; 0 if it does not.
  std::function<int64_t()> bindings_forbidden_ns;
  // The pods for which a plugin missed its deadline in their last attempt.
  std::function<Sample()> slow_pods;
  std::function<std::vector<PluginFaults::Quarantined>()> quarantined;
  std::function<std::vector<PluginFaults::Count>()> plugin_faults;
  // Returns whether a plugin call that was cancelled has not ended.
  std::function<bool()> has_stuck_call;
  // When the scheduling loop last began a round, by CLOCK_BOOTTIME.
  std::function<int64_t()> last_progress_ns;
  std::function<bool()> is_stopping;
  std::function<std::string()> plugin_metrics;
  std::function<void()> refresh_metrics;  // Called before the metrics are read.
  // Changes the level of the log. `level` is as Endpoints::Sources::set_log_level receives it.
  std::function<Status(std::string_view level)> set_log_level;
};

// Returns the state of a process that runs. The arguments must outlive it. `leadership` is null if
// there is no election.
ServedState ServedStateOf(ClusterSession& session, const SchedulerHost& scheduler,
                          const ClusterDriver& driver, const Leadership* leadership,
                          ClientMetrics& metrics);

// Serves the checks that serve/endpoints.h lists. The server listens before the process connects to
// the API server, so that probes answer from then on; /readyz fails until SetState().
//
// Threading: created, changed and destroyed on one thread. The answers are made on the thread of
//            the HTTP server.
// Lifetime:  what the constructor receives must outlive it.
class ClusterServing {
 public:
  struct Options {
    std::string version = {};           // Of Berth: "0.1.0".
    std::string emulated_version = {};  // "1.37"
    // leaseDuration. A leader whose last renewal is older than this and 20 seconds fails the check
    // leaderElection. (kube-scheduler: cmd/kube-scheduler/app/options, NewLeaderHealthzAdaptor)
    int64_t lease_ns = 0;
    int64_t stall_limit_ns = 2 * kMinute;  // The limit of schedulingLoop.
    std::function<int64_t()> steady_ns;
    std::function<int64_t()> boot_ns;  // CLOCK_BOOTTIME.
  };

  ClusterServing(MetricTable& metrics, Options options);

  // Called at most once. Errors: those of HttpServer::Listen().
  Status Listen(std::string_view address, Log log);
  // Returns the address with the port; empty if the server does not listen.
  std::string address() const { return server_ != nullptr ? server_->address() : ""; }

  // Sets what the answers are made of.
  void SetState(std::optional<ServedState> state);
  // Sets what /configz answers: see ConfigPage().
  void SetConfig(std::string page);
  // Sets why the start takes long, for /readyz before SetState(). Ok: there is no such problem.
  void SetStartProblem(Status problem);
  // Removes it: no function of the state is running when this returns, and none is called
  // afterwards. /readyz fails from then on.
  void ClearState() { SetState(std::nullopt); }

  ServedResponse Answer(const ServedRequest& request) const { return endpoints_.Answer(request); }

 private:
  using Check = Health::Finding (ClusterServing::*)() const;

  // A check without `at_start` has no finding while there is no state; otherwise it fails then.
  void AddCheck(std::string name, HealthPaths paths, Check check, bool at_start = false,
                uint32_t failure = 500);
  Health::Finding CheckSync() const;
  Health::Finding CheckElection() const;
  Health::Finding CheckLease() const;
  Health::Finding CheckLoop() const;
  Health::Finding CheckBindings() const;
  Health::Finding CheckObjects() const;
  Health::Finding CheckPlugins() const;
  Health::Finding CheckShutdown() const;
  // Sets the metrics of plugins and of slow pods. REQUIRES: there is a state.
  void CountFaults();

  const Options options_;
  Health health_;
  Endpoints endpoints_;
  CounterFamily& plugin_faults_;  // berth_plugin_faults_total{profile,plugin,point,kind}
  GaugeFamily& quarantined_;      // berth_plugin_quarantined{profile,plugin}
  Gauge& slow_pods_;              // berth_slow_pods
  mutable std::mutex mutex_;
  std::optional<ServedState> state_;    // Guarded by mutex_.
  Status start_problem_;                // Guarded by mutex_.
  std::string config_ = "{}\n";         // Guarded by mutex_.
  std::unique_ptr<HttpServer> server_;  // Last: its thread uses the others.
};

// Returns why the watch delays or disturbs scheduling: "v1/Pod: the first list is under way (500
// objects so far)". Ok if it does not. For the check sched-handler-sync.
Status CheckWatch(const WatchState& watch);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_CLUSTER_SERVING_H_
