#include <string>

#include "host/cli/cluster_access_flags.h"
#include "host/cli/commands.h"
#include "host/cli/doctor_output.h"
#include "host/process/doctor/doctor.h"

namespace berth::host {

int ExecuteDoctor(const DoctorFlags& flags, CommandEnvironment& env) {
  Progress progress(env.err, env.err_is_terminal, env.steady_ns);
  ProgressLog log(progress, BERTH_LOG_WARN);
  const Result<DoctorReport> report =
      RunDoctor({.config = {flags.config, flags.profiles, flags.plugin_directories, env.executable},
                 .access = AccessRequestOf(flags.access),
                 .access_environment = AccessEnvironmentOf(env),
                 .credentials = CredentialsEnvironmentOf(env),
                 .shadow = flags.shadow,
                 .user_agent = UserAgent(),
                 .temporary_directory = env.temporary_directory,
                 .steady_ns = env.steady_ns,
                 .wall_ns = env.wall_ns,
                 .progress =
                     [&progress](std::string_view check) {
                       progress.ShowActivity("Checking: " + std::string(check));
                     },
                 .report_crashes = env.report_crashes,
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
