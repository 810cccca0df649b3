#include "host/cli/shadow_command.h"

#include <array>
#include <utility>

#include <CLI/CLI.hpp>

#include "host/base/duration.h"
#include "host/cli/commands.h"
#include "host/cli/shadow_printer.h"
#include "host/process/shadow/shadow_run.h"

namespace berth::host {
namespace {

// Adds an option whose value is a positive duration.
void AddDuration(CLI::App& command, const std::string& name, const std::string& help,
                 std::optional<int64_t>& value) {
  command
      .add_option_function<std::string>(
          name,
          [name, &value](const std::string& text) {
            const Result<int64_t> duration = ParseDuration(text);
            if (!duration.ok()) {
              throw CLI::ValidationError(name, std::string(duration.status().message()));
            }
            if (*duration <= 0) {
              throw CLI::ValidationError(name, "expected a duration above 0, found " + text);
            }
            value = *duration;
          },
          help)
      ->type_name("DURATION");
}

ShadowRunOptions ShadowOptionsOf(const RunFlags& flags, const CommandEnvironment& env,
                                 ShadowPrinter& printer) {
  ShadowRunOptions options;
  SetConnectedRunOptions(flags, env, options);
  options.log_level = LogLevelOf(flags);
  const ShadowFlags& shadow = flags.shadow;
  options.observing.scheduler_names = {shadow.scheduler_names.begin(),
                                       shadow.scheduler_names.end()};
  options.observing.window_ns = shadow.window_ns.value_or(options.observing.window_ns);
  options.observing.percentage_of_nodes = shadow.percentage_of_nodes.value_or(0);
  options.duration_ns = shadow.duration_ns;
  options.user_agent = "berth/" BERTH_VERSION " (shadow)";
  options.on_decision = [&printer](const ShadowDecision& decision) {
    return printer.Print(decision);
  };
  options.flush = [&printer] { return printer.Flush(); };
  return options;
}

}  // namespace

std::string_view ShadowFlags::first_given() const {
  if (duration_ns.has_value()) return "--duration";
  if (!scheduler_names.empty()) return "--scheduler-name";
  if (window_ns.has_value()) return "--window";
  return percentage_of_nodes.has_value() ? "--percentage-of-nodes-to-score" : "";
}

void AddShadow(CLI::App& command, ShadowFlags& flags) {
  command.add_flag("--shadow", flags.is_on,
                   "Decide about every pod that another scheduler places on a real cluster, write "
                   "nothing, and report how often both agree");
  AddDuration(command, "--duration", "How long to observe with --shadow [until SIGINT or SIGTERM]",
              flags.duration_ns);
  command
      .add_option("--scheduler-name", flags.scheduler_names,
                  "The schedulerName of the pods to judge with --shadow [those of the profiles]; "
                  "may be given several times")
      ->type_name("NAME")
      ->take_all()
      ->expected(1)  // The help shows one value.
      ->allow_extra_args(false);
  AddDuration(command, "--window",
              "How far --shadow moves a binding, because bindings arrive in another order than "
              "that of the decisions [1s]",
              flags.window_ns);
  command
      .add_option("--percentage-of-nodes-to-score", flags.percentage_of_nodes,
                  "The percentageOfNodesToScore of the kube-scheduler that --shadow observes [0, "
                  "its default]")
      ->type_name("N")
      ->check(CLI::Range(0, 100).description(""));
}

Status CheckShadowFlags(const RunFlags& flags) {
  const ShadowFlags& shadow = flags.shadow;
  if (!shadow.is_on) {
    const std::string flag(shadow.first_given());
    if (flag.empty()) return {};
    const bool is_name = flag == "--scheduler-name";
    return Status::InvalidArgument(
        flag + ": expected --shadow with it, found a run that schedules pods" +
        (is_name ? "; to schedule the pods that name it, set schedulerName in a profile" : ""));
  }
  const std::array<std::pair<std::string_view, bool>, 7> unfit = {
      {{"--embedded", flags.embedded},
       {"--cluster", !flags.cluster_files.empty()},
       {"--events", !flags.events.empty()},
       {"--record", !flags.record.empty()},
       {"--time virtual", flags.virtual_time},
       {"--leader-elect", flags.leader_elect.has_value()},
       {"--http-address", flags.http_address.has_value()}}};
  for (const auto& [flag, is_given] : unfit) {
    if (!is_given) continue;
    return Status::InvalidArgument(
        std::string(flag).append(": expected no such flag with --shadow, which observes a real "
                                 "cluster, elects no leader and serves nothing"));
  }
  return {};
}

int ExecuteShadow(const RunFlags& flags, CommandEnvironment& env) {
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
