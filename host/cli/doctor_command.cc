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
