#include "host/process/doctor/doctor.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/process/assemble/cluster_settings.h"
#include "host/process/assemble/profile_trial.h"
#include "host/process/doctor/cluster_exam.h"
#include "host/process/doctor/doctor_checks.h"

namespace berth::host {
namespace {

// Returns the configuration, after its plugins were created once.
// Errors: those of ReadRunConfig() and TryCreatePlugins().
Result<RunConfig> ReadAndTryConfig(const DoctorRequest& request) {
  FileStamps files;
  const ProcessOptions& process = request.process;
  Result<RunConfig> config = ReadRunConfig(
      process.config, MakeLibraryStore(process.temporary_directory, process.steady_ns), files);
  if (!config.ok()) return config;
  Status status = TryCreatePlugins(config->set.plugins, config->set.specs, process.report_crashes);
  if (!status.ok()) return Status::InvalidArgument(std::string(status.message()));
  return config;
}

size_t CountPlugins(std::span<const PlanSpec> specs) {
  std::set<std::string> names;
  for (const PlanSpec& spec : specs) {
    for (const PlanSpec::Plugin& plugin : spec.plugins) names.insert(plugin.name);
  }
  return names.size();
}

// Plugins at PostFilter make room for a pod: they may delete others.
bool MayEvict(std::span<const PlanSpec> specs) {
  return std::ranges::any_of(specs, [](const PlanSpec& spec) {
    return !spec.points[static_cast<size_t>(Point::kPostFilter)].empty();
  });
}

ClusterExam ExamOf(const DoctorRequest& request, const RunConfig& config,
                   const ClusterAccess& access) {
  ClusterExam exam;
  exam.server = access.endpoint.server.ToString();
  exam.source = access.source;
  exam.warnings = access.warnings;
  for (const PlanSpec& spec : config.set.specs) exam.profiles.push_back(spec.scheduler_name);
  exam.users = KindUsers(config.set.plugins->catalog(), config.set.specs);
  exam.evicts = MayEvict(config.set.specs);
  exam.leader_elect = config.host.cluster.leader_elect.value_or(true);
  exam.election = ElectionOptionsOf(config.host.cluster);
  exam.shadow = request.shadow;
  exam.steady_ns = request.process.steady_ns;
  exam.wall_ns = request.process.wall_ns;
  exam.progress = request.progress;
  return exam;
}

// Returns whether the error is one of the arguments.
bool IsBadInput(const Status& status) {
  return status.code() == ErrorCode::kNotFound || status.code() == ErrorCode::kInvalidArgument;
}

}  // namespace

Result<DoctorReport> RunDoctor(const DoctorRequest& request) {
  DoctorReport report;
  if (request.progress) request.progress("configuration");
  const Result<RunConfig> config = ReadAndTryConfig(request);
  if (!config.ok()) {
    // A file that does not exist is an error of the arguments; errors in files are findings.
    if (config.status().code() == ErrorCode::kNotFound) return config.status();
    report.findings.push_back(ConfigurationFailure(config.status()));
    return report;
  }
  report.findings.push_back(ConfigurationFinding(
      config->set.profiles.size(), CountPlugins(config->set.specs), config->set.warnings));

  const Result<ClusterAccess> access = FindClusterAccess(request.target, config->host.cluster);
  if (!access.ok()) return access.status();
  TransportObserver observer;
  const Result<std::unique_ptr<KubernetesConnection>> connection =
      OpenConnection(request.target, *access, {}, observer, *request.log);
  if (!connection.ok()) {
    if (IsBadInput(connection.status())) return connection.status();
    report.server = access->endpoint.server.ToString();
    report.findings.push_back(CredentialsFailure(connection.status()));
    return report;
  }
  KubernetesConnection& open = **connection;
  ClusterExam exam = ExamOf(request, *config, *access);
  exam.expiry = [&] { return ExpiryOf(*open.credential(), access->auth); };
  ExamineCluster(
      exam, [&open](HttpRequest sent) { return open.SendAndWait(std::move(sent)); }, report);
  return report;
}

}  // namespace berth::host
