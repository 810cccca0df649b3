// A run of the scheduler on a real cluster: `berth run` without --embedded and without its output.
#ifndef BERTH_HOST_PROCESS_CLUSTER_RUN_H_
#define BERTH_HOST_PROCESS_CLUSTER_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/credentials.h"
#include "host/cluster/kubernetes/kubeconfig.h"
#include "host/guard/call_monitor.h"
#include "host/process/decision_line.h"
#include "host/process/log_format.h"
#include "host/process/process_signals.h"
#include "host/process/run_config.h"
#include "host/process/scheduler_host.h"

namespace berth::host {

struct ClusterRunOptions {
  ConfigSources config;
  // A kubeconfig of the host file is used if the request has none.
  AccessRequest access;
  AccessEnvironment access_environment;
  Credentials::Environment credentials;
  // Nullopt: the value of the host file, or its default.
  std::optional<bool> leader_elect = {};
  std::optional<std::string> http_address = {};  // "" serves nothing.
  std::optional<LogFormat> log_format = {};
  std::optional<uint32_t> log_level = {};  // BERTH_LOG_*; the default is BERTH_LOG_INFO.

  std::string version = {};    // Of Berth: "0.1.0".
  std::string host_name = {};  // Of this machine.
  std::string uuid = {};       // A random one, for the identity of the lease.
  int32_t pid = 0;             // Of this process, for the log.
  int32_t log_descriptor = 2;

  uint64_t seed = kDefaultSeed;
  HashKey hash_key = Interner::kFixedKey;
  std::string temporary_directory = {};
  std::function<int64_t()> steady_ns;  // Monotonic. Threading: any.
  std::function<int64_t()> boot_ns;    // CLOCK_BOOTTIME. Threading: any.
  std::function<int64_t()> wall_ns;    // Threading: any.
  SubscribeToRequests requests = {};
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
  // Receives each decision, in addition to the log. Returns false if it could not be written, which
  // ends the run. May be empty.
  std::function<bool(const DecisionLine& line)> on_decision = {};
  // There is time to flush the output. Returns false if it could not be written. May be empty.
  std::function<bool()> flush = {};
};

struct ClusterRunSummary {
  int signal = 0;          // The signal that ended the run; 0 if there was none.
  std::string lost_lease;  // Why the lease was lost; empty if it was not.
  bool output_failed = false;
  size_t unsettled = 0;  // Bindings whose outcome was not known at the end.
};

// Assembles, in this order: host file, profiles and plugins; log; access to the cluster; the HTTP
// server, so that probes answer from then on; credentials and connection; client; the scheduler,
// whose watches start; at the beginning of Run() the election. Standby processes keep their watches
// and their cache, so that a take-over is quick.
//
// A reload applies to profiles, plugins, deadlines of new calls, and logLevel. The kinds that new
// plugins declare are watched from then on.
//
// Everything is reported in the log, except the errors of Open().
//
// Threading: one thread, the scheduling thread.
// Lifetime:  what the options refer to must outlive it.
class ClusterRun {
 public:
  explicit ClusterRun(ClusterRunOptions options);
  ~ClusterRun();
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  // Reads everything and connects. Waits for no answer of the API server: a server that is away is
  // logged and tried again, as kube-scheduler does. A request to stop ends the process meanwhile; a
  // reload that is requested is carried out at the beginning of Run().
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
  std::string http_address() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_CLUSTER_RUN_H_
