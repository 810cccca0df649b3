#include <string_view>
#include <utility>

#include "host/cli/commands.h"
#include "host/process/doctor/doctor.h"
#include "host/process/run/cluster_run.h"
#include "host/process/shadow/shadow_run.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string_view ResultName(DoctorFinding::Level level) {
  switch (level) {
    case DoctorFinding::Level::kOk: return "ok";
    case DoctorFinding::Level::kNote: return "note";
    case DoctorFinding::Level::kWarning: return "warning";
    case DoctorFinding::Level::kFailure: return "failed";
  }
  return "";
}

std::string FoundText(const DoctorFinding& finding) {
  return finding.fix.empty() ? finding.found : finding.found + "; " + finding.fix;
}

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
  Status status;
  ClusterRunSummary summary;
  {
    ClusterRun run(std::move(options));
    status = run.Open();
    if (status.ok()) summary = run.Run();
  }
  // The log is complete now, so that its lines are not mixed with those of the error.
  if (!status.ok()) return Fail(env, status);
  if (summary.output_failed) return OutputFailed(env, printer.error());
  return summary.lost_lease.empty() ? kExitDone : kExitLeaseLost;
}

int ExecuteShadow(const ShadowFlags& flags, CommandEnvironment& env) {
  ShadowPrinter printer(
      env.out, {.format = flags.output, .width = env.out_width, .is_live = env.out_is_live});
  Status status;
  ShadowSummary summary;
  {
    ShadowRun run(ShadowOptionsOf(flags, env, printer));
    status = run.Open();
    if (status.ok()) status = run.Run();
    if (status.ok()) summary = run.Summary();
  }
  // The log is complete now, so that its lines are not mixed with those of the error.
  if (!status.ok()) return Fail(env, status);
  if (summary.output_failed || !printer.PrintTotals(summary)) {
    return OutputFailed(env, printer.error());
  }
  return summary.totals.unexplained() == 0 ? kExitDone : kExitUnexplained;
}

Json DoctorDocument(const DoctorReport& report) {
  Json findings = Json::array();
  for (const DoctorFinding& finding : report.findings) {
    findings.push_back({{"check", finding.check},
                        {"result", ResultName(finding.level)},
                        {"found", finding.found},
                        {"fix", finding.fix}});
  }
  return {{"failed", report.has_failure()},
          {"server", report.server},
          {"user", report.user},
          {"findings", std::move(findings)},
          {"missingRoles", report.missing_roles}};
}

void AppendDoctorTable(const DoctorReport& report, TerminalWidth width, std::string& out) {
  Table table({"CHECK", "RESULT", "FOUND"});
  for (const DoctorFinding& finding : report.findings) {
    const bool is_failure = finding.level == DoctorFinding::Level::kFailure;
    table.AddRow({finding.check, is_failure ? "FAILED" : std::string(ResultName(finding.level)),
                  FoundText(finding)});
  }
  table.Append(width, out);
  if (report.missing_roles.empty()) return;
  // The shell must not replace anything in the text, and must find its end in the first column.
  out += "\nAdd the missing rules:\nkubectl apply -f - <<'EOF'\n";
  for (const std::string_view line : LinesOf(report.missing_roles)) {
    out.append(Printable(line)).append(1, '\n');
  }
  out += "EOF\n";
}

int ExecuteDoctor(const DoctorFlags& flags, CommandEnvironment& env) {
  Progress progress(env.err, env.err_is_terminal, env.steady_ns);
  ProgressLog log(progress, BERTH_LOG_WARN);
  const Result<DoctorReport> report =
      RunDoctor({.process = ProcessOptionsOf(flags, env),
                 .target = ClusterTargetOf(flags.access, env),
                 .shadow = flags.shadow,
                 .progress =
                     [&progress](std::string_view check) {
                       progress.ShowActivity("Checking: " + std::string(check));
                     },
                 .log = &log});
  progress.Clear();
  if (!report.ok()) return Fail(env, report.status());

  std::string out;
  if (flags.output == OutputFormat::kTable) {
    AppendDoctorTable(*report, env.out_width, out);
  } else {
    AppendDocument(DoctorDocument(*report), flags.output, out);
  }
  return Print(env, out, report->has_failure() ? kExitNotAllScheduled : kExitDone);
}

}  // namespace berth::host
