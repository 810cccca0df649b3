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
#include "host/cluster/kubernetes/leader_elector.h"
#include "host/guard/call_monitor.h"
#include "host/process/log_output.h"
#include "host/process/process_signals.h"
#include "host/process/run_config.h"
#include "host/process/scheduler_host.h"

namespace berth::host {

class RunObserver;

struct ClusterRunOptions {
  ConfigSources config;
  AccessRequest access;
  AccessEnvironment access_environment;
  Credentials::Environment credentials;
  // Nullopt: the value of the host file, or its default.
  std::optional<bool> leader_elect = {};
  std::optional<std::string> http_address = {};  // "" serves nothing.
  std::string host_name;
  std::string uuid;  // A random one, for the identity of the lease.

  uint64_t seed = kDefaultSeed;
  HashKey hash_key = Interner::kFixedKey;
  std::string temporary_directory = {};
  std::function<int64_t()> steady_ns;  // Monotonic. Threading: any.
  std::function<int64_t()> boot_ns;    // CLOCK_BOOTTIME. Threading: any.
  std::function<int64_t()> wall_ns;
  SubscribeToRequests requests = {};
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
};

struct ClusterRunSummary {
  int signal = 0;
  std::string lost_lease;
  size_t bound = 0;
  size_t pending = 0;
  int64_t took_ns = 0;
  size_t unsettled = 0;  // Bindings whose outcome was not known at the end.
};

// Assembles, in this order: host file, profiles and plugins; access and credentials; the HTTP
// server, so that probes answer from then on; connection and client; the scheduler, whose watches
// start; the elector. Standby processes keep their watches and their cache, so that a take-over is
// quick.
//
// A reload applies to profiles, plugins, deadlines of new calls, and logLevel. The kinds that new
// plugins declare are watched from then on.
//
// Threading: one thread, the scheduling thread.
// Lifetime:  observer, log and what the options refer to must outlive it.
class ClusterRun {
 public:
  ClusterRun(ClusterRunOptions options, RunObserver& observer, LogOutput& log);
  ~ClusterRun();
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  // Reads everything and connects. Waits for no answer of the API server: a server that is away is
  // logged and tried again, as kube-scheduler does.
  // Called: once.
  // Errors: those of ReadRunConfig(), FindClusterAccess(), KubernetesConnection::Open(),
  //         HttpServer::Listen() and SchedulerHost::Start().
  Status Open();

  // Runs until a request to stop, a lost lease, or an error ends the run. At the end it stops the
  // scheduler, settles, flushes events, releases the lease, and stops the client, in this order.
  // Called: once. REQUIRES: Open() succeeded.
  Status Run();

  // REQUIRES: Run() has returned.
  ClusterRunSummary Summary() const;
  // The address of the HTTP server; empty if there is none.
  std::string http_address() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_CLUSTER_RUN_H_
