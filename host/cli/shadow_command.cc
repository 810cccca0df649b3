#include <utility>

#include "host/cli/commands.h"
#include "host/cli/shadow_printer.h"
#include "host/process/shadow/shadow_run.h"

namespace berth::host {
namespace {

ShadowRunOptions ShadowOptionsOf(const ShadowFlags& flags, const CommandEnvironment& env,
                                 ShadowPrinter& printer) {
  ShadowRunOptions options{ProcessOptionsOf(flags, env)};
  options.log_level = LogLevelOf(flags);
  options.target.user_agent = "berth/" BERTH_VERSION " (shadow)";
  options.observing.scheduler_names = {flags.scheduler_names.begin(), flags.scheduler_names.end()};
  options.observing.window_ns = flags.window_ns.value_or(options.observing.window_ns);
  options.observing.percentage_of_nodes = flags.percentage_of_nodes.value_or(0);
  options.duration_ns = flags.duration_ns;
  options.on_decision = [&printer](const ShadowDecision& decision) {
    return printer.Print(decision);
  };
  options.flush = [&printer] { return printer.Flush(); };
  return options;
}

}  // namespace

int ExecuteShadow(const ShadowFlags& flags, CommandEnvironment& env) {
  ShadowPrinter printer(
      env.out, {.format = flags.output, .width = env.out_width, .is_live = env.out_is_live});
  Status status;
  ShadowSummary summary;
  {
    ShadowRun run(ShadowOptionsOf(flags, env, printer));
    status = run.Open();
    if (!status.ok()) return Fail(env, status);
    status = run.Run();
    summary = run.Summary();
  }
  if (!status.ok()) return Fail(env, status);
  if (summary.output_failed || !printer.PrintTotals(summary)) {
    return OutputFailed(env, printer.error());
  }
  return summary.totals.unexplained() == 0 ? kExitDone : kExitUnexplained;
}

}  // namespace berth::host
