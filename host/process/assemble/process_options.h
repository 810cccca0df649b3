// The options that a command passes on to the process that it starts.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_PROCESS_OPTIONS_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_PROCESS_OPTIONS_H_

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

// The options of every process.
struct ProcessOptions {
  ConfigSources config;
  // Nullopt: the level of the host file, or the default of the process. BERTH_LOG_*.
  std::optional<uint32_t> log_level = {};
  uint64_t seed = kDefaultSeed;
  bool checks_reuse = false;               // See ReuseOptions.
  HashKey hash_key = Interner::kFixedKey;  // See SchedulerOptions::hash_key.
  std::string temporary_directory = {};    // See MakeLibraryStore().
  std::function<int64_t()> steady_ns;      // A monotonic clock. Threading: any.
  std::function<int64_t()> wall_ns;        // The time since 1970-01-01T00:00:00Z. Threading: any.
  SubscribeToRequests requests = {};       // If empty, a reload or a stop cannot be requested.
  // See SchedulerOptions::report_crashes.
  std::function<void(const CallMonitor* monitor)> report_crashes = {};
};

// The real cluster of a command, and how this process reaches it.
struct ClusterTarget {
  AccessRequest access;
  AccessEnvironment environment;
  Credentials::Environment credentials;
  std::string user_agent = {};
};

// The options of a process that schedules on a real cluster.
struct ClusterProcessOptions : ProcessOptions {
  ClusterTarget target;
  // Nullopt: the form that the host file sets, or text.
  std::optional<LogFormat> log_format = {};
  int32_t log_descriptor = 2;
  int32_t pid = 0;  // Of this process, for the log.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_PROCESS_OPTIONS_H_
