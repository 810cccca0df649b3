#include <utility>

#include "host/cli/commands.h"
#include "host/cli/decision_printer.h"
#include "host/process/run/cluster_run.h"

namespace berth::host {

int ExecuteRun(const RunFlags& flags, CommandEnvironment& env) {
  DecisionPrinter printer(
      env.out, {.format = flags.output, .width = env.out_width, .is_live = env.out_is_live});
  ClusterRunOptions options{ProcessOptionsOf(flags, env)};
  options.leader_elect = flags.leader_elect;
  options.http_address = flags.http_address;
  options.log_level = LogLevelOf(flags, BERTH_LOG_INFO);
  options.version = BERTH_VERSION;
  options.host_name = env.host_name;
  options.uuid = env.uuid;
  options.boot_ns = env.boot_ns;
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
