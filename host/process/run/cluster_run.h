// The scheduler of a real cluster: `berth run` without its output.
#ifndef BERTH_HOST_PROCESS_RUN_CLUSTER_RUN_H_
#define BERTH_HOST_PROCESS_RUN_CLUSTER_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/base/metrics.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/client_metrics.h"
#include "host/cycle/cycle_meter.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/run/cluster_driver.h"
#include "host/process/run/cluster_serving.h"
#include "host/process/run/leadership.h"
#include "host/process/run/start_memory.h"

namespace berth::host {

// The default of log_level is BERTH_LOG_INFO.
struct ClusterRunOptions : ClusterProcessOptions {
  // Nullopt: the value of the host file, or its default.
  std::optional<bool> leader_elect = {};
  std::optional<std::string> http_address = {};  // "" serves nothing.

  std::string version = {};    // Of Berth: "0.1.0".
  std::string host_name = {};  // Of this machine.
  std::string uuid = {};       // A random one, for the identity of the lease.

  std::function<int64_t()> boot_ns = {};  // CLOCK_BOOTTIME. Threading: any.
  // Receives each decision, in addition to the log. Returns false if it could not be written, which
  // ends the run. May be empty.
  std::function<bool(const DecisionLine& line)> on_decision = {};
  // There is time to flush the output. Returns false if it could not be written. May be empty.
  std::function<bool()> flush = {};
};

struct ClusterRunSummary {
  std::string lost_lease;  // Why the lease was lost; empty if it was not.
  bool output_failed = false;
};

// Opens the parts of the process in this order: host file, profiles and plugins; log; access to the
// cluster; the HTTP server, so that probes answer from then on; credentials and connection; client;
// the scheduler, whose watches start; at the beginning of Run() the election. Standby processes
// keep their watches and their cache, so that a take-over is quick.
//
// A reload applies to profiles, plugins, deadlines of new calls, and logLevel. The kinds that new
// plugins declare are watched from then on.
//
// Everything is reported in the log, except the errors of Open().
//
// Threading: one thread, the scheduling thread.
// Lifetime:  what the options refer to must outlive it.
class ClusterRun final : private ClusterDriver {
 public:
  explicit ClusterRun(ClusterRunOptions options);
  ~ClusterRun() override;

  // Reads everything and connects. Waits for no answer of the API server: a server that is away is
  // logged and tried again, as kube-scheduler does. A credential plugin that fails is run again, as
  // Credentials::Load() defines; /readyz reports it meanwhile. A request to stop ends the process
  // during Open(); a reload that is requested is carried out at the beginning of Run().
  // Called: once.
  // Errors: those of ReadRunConfig(), FindClusterAccess(), HttpServer::Listen(),
  //         KubernetesConnection::Open() and SchedulerHost::Start().
  Status Open();

  // Runs until a request to stop, a lost lease, or an output that cannot be written ends the run.
  // After a request to stop it settles, stops the client, which flushes events, and releases the
  // lease, in this order. This takes at most 26 seconds, because a pod gets 30 by default.
  // Called: once. REQUIRES: Open() succeeded.
  ClusterRunSummary Run();

  // Returns the address of the HTTP server; empty if there is none.
  // REQUIRES: Open() succeeded.
  std::string http_address() const { return serving_->address(); }

 private:
  // ---- Opening ----
  Status OpenServing();
  std::string HttpAddress() const;
  // Sets what /configz answers.
  void ShowConfig(const ProfileSet& set);
  Status Connect(const ClusterAccess& access);
  Status OpenScheduler();

  // ---- Rounds ----
  size_t Deliver() override { return session_.client().Deliver(); }
  void Refresh(std::function<void()> done) override;
  bool HasRoom() const override;
  int64_t GatherNs() const override { return session_.GatherNs(); }
  void BeforeStep() override;
  void AfterStep() override;
  void OnScheduling(int64_t took_ns) override;

  // ---- Start and end ----
  void Lead();
  void OnElected();                                            // Threading: any.
  void OnQuarantine(const PluginFaults::Quarantined& plugin);  // Threading: any.
  void WriteEvent(Event event) { session_.client().CreateEvent(std::move(event), {}); }
  void End();

  const ClusterRunOptions options_;
  const std::string identity_;  // In the election.
  // The members are destroyed in the reverse order: each one outlives those after it, which use it.
  MetricTable metrics_;
  ClientMetrics client_metrics_{metrics_};
  SchedulerMetrics scheduler_metrics_{metrics_};
  ClusterSession session_;    // Reports to client_metrics_ until its connections are closed.
  ElectionOptions election_;  // Without an election, only its lease is used, in events.
  bool elects_ = false;
  std::string first_profile_;  // Its schedulerName at the start.
  std::optional<ClusterServing> serving_;
  std::optional<DecisionReporter> reporter_;  // Set if options_.on_decision is.
  std::optional<SchedulerHost> scheduler_;
  std::optional<Leadership> leadership_;  // Not set: there is no election.
  StartMemory start_memory_{ReleaseUnusedMemory};
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_CLUSTER_RUN_H_
