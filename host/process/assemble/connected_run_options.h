// The options that every run on a real cluster has: ClusterRun and ShadowRun.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CONNECTED_RUN_OPTIONS_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CONNECTED_RUN_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/base/interner.h"
#include "host/cluster/kubernetes/access/credentials.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/guard/call_monitor.h"
#include "host/process/assemble/process_signals.h"
#include "host/process/assemble/run_config.h"
#include "host/process/assemble/scheduler_host.h"
#include "host/process/log/log_format.h"

namespace berth::host {

struct ConnectedRunOptions {
  ConfigSources config;
  // A kubeconfig of the host file is used if the request has none.
  AccessRequest access;
  AccessEnvironment access_environment;
  Credentials::Environment credentials;

  // Nullopt: the value of the host file, or the default of the run.
  std::optional<LogFormat> log_format = {};
  std::optional<uint32_t> log_level = {};  // BERTH_LOG_*
  int32_t log_descriptor = 2;
  int32_t pid = 0;  // Of this process, for the log.

  uint64_t seed = kDefaultSeed;
  bool checks_reuse = false;               // See ReuseOptions.
  HashKey hash_key = Interner::kFixedKey;  // See SchedulerOptions::hash_key.
  std::string temporary_directory = {};    // See MakeLibraryStore().
  std::function<int64_t()> steady_ns;      // A monotonic clock. Threading: any.
  std::function<int64_t()> wall_ns;        // The time since 1970-01-01T00:00:00Z. Threading: any.
  SubscribeToRequests requests = {};       // If empty, a stop cannot be requested.
  // See SchedulerOptions::report_crashes.
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CONNECTED_RUN_OPTIONS_H_
