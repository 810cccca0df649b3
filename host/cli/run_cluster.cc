// `berth run` on a real cluster.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/log.h"
#include "host/cli/cluster_access_flags.h"
#include "host/cli/commands.h"
#include "host/cli/decision_printer.h"
#include "host/process/run/cluster_run.h"

namespace berth::host {
namespace {

// Returns an error for a flag that needs --embedded.
Status CheckClusterFlags(const RunFlags& flags) {
  const std::array<std::pair<std::string_view, bool>, 4> embedded_only = {
      {{"--cluster", !flags.cluster_files.empty()},
       {"--events", !flags.events.empty()},
       {"--record", !flags.record.empty()},
       {"--time virtual", flags.virtual_time}}};
  for (const auto& [flag, given] : embedded_only) {
    if (!given) continue;
    return Status::InvalidArgument(std::string(flag).append(
        ": expected --embedded with it, found a run on a real cluster, which takes its objects "
        "from the API server and its time from the clock; add --embedded to use files and "
        "streams"));
  }
  return {};
}

// Information is the default of a run on a cluster, so that each -v selects one level more.
std::optional<uint32_t> ClusterLogLevel(int verbosity) {
  if (verbosity <= 0) return std::nullopt;
  return verbosity == 1 ? BERTH_LOG_DEBUG : BERTH_LOG_TRACE;
}

ClusterRunOptions OptionsOf(const RunFlags& flags, const CommandEnvironment& env) {
  ClusterRunOptions options;
  SetConnectedRunOptions(flags, env, options);
  options.leader_elect = flags.leader_elect;
  options.http_address = flags.http_address;
  options.log_level = ClusterLogLevel(flags.verbosity);
  options.version = BERTH_VERSION;
  options.host_name = env.host_name;
  options.uuid = env.uuid;
  options.boot_ns = env.boot_ns;
  return options;
}

}  // namespace

void SetConnectedRunOptions(const RunFlags& flags, const CommandEnvironment& env,
                            ConnectedRunOptions& options) {
  options.config = {flags.config, flags.profiles, flags.plugin_directories, env.executable};
  options.access = AccessRequestOf(flags.access);
  options.access_environment = AccessEnvironmentOf(env);
  options.credentials = CredentialsEnvironmentOf(env);
  options.log_format = flags.log_format;
  options.log_descriptor = env.err_descriptor;
  options.pid = env.pid;
  options.seed = flags.seed;
  options.checks_reuse = flags.checks_reuse;
  options.hash_key = env.hash_key;
  options.temporary_directory = env.temporary_directory;
  options.steady_ns = env.steady_ns;
  options.wall_ns = env.wall_ns;
  options.requests = env.requests;
  options.report_crashes = env.report_crashes;
}

int ExecuteClusterRun(const RunFlags& flags, CommandEnvironment& env) {
  if (Status status = CheckClusterFlags(flags); !status.ok()) return Fail(env, status);
  DecisionPrinter printer(
      env.out, {.format = flags.output, .width = env.out_width, .is_live = env.out_is_live});
  ClusterRunOptions options = OptionsOf(flags, env);
  if (flags.prints_decisions) {
    options.on_decision = [&printer](const DecisionLine& line) { return printer.Print(line); };
    options.flush = [&printer] { return printer.Flush(); };
  }
  ClusterRunSummary summary;
  {
    ClusterRun run(std::move(options));
    if (Status status = run.Open(); !status.ok()) return Fail(env, status);
    summary = run.Run();
  }
  if (summary.output_failed) return OutputFailed(env, printer.error());
  return summary.lost_lease.empty() ? kExitDone : kExitLeaseLost;
}

}  // namespace berth::host
