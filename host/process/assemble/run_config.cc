#include "host/process/assemble/run_config.h"

#include <optional>
#include <utility>

#include "host/config/config_errors.h"

namespace berth::host {
namespace {

std::vector<std::string> Values(const std::vector<Placed<std::string>>& texts) {
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const Placed<std::string>& text : texts) values.push_back(text.value);
  return values;
}

Result<HostConfig> ReadHostFile(const std::string& file) {
  if (file.empty()) return HostConfig();
  const Result<std::string> text = ReadConfigFile(file);
  if (!text.ok()) return text.status().Annotate(file);
  ConfigErrors errors;
  HostConfig config = ReadHostConfig(*text, file, errors);
  Status status = errors.ToStatus();
  if (!status.ok()) return status;
  return config;
}

template <class T>
void SetIfGiven(const std::optional<T>& given, T& value) {
  if (given.has_value()) value = *given;
}

}  // namespace

Result<RunConfig> ReadRunConfig(const ConfigSources& sources,
                                const std::shared_ptr<LibraryStore>& libraries, FileStamps& files) {
  const auto before_read = [&files](const std::string& path) { files[path] = StampOf(path); };
  if (!sources.host_file.empty()) before_read(sources.host_file);
  Result<HostConfig> host = ReadHostFile(sources.host_file);
  if (!host.ok()) return std::move(host).status();
  ProfileRequest request{sources.profiles, sources.plugin_directories, sources.executable,
                         libraries, before_read};
  if (request.profiles.empty()) request.profiles = Values(host->profiles);
  if (request.plugin_directories.empty()) {
    request.plugin_directories = Values(host->plugin_directories);
  }
  Result<ProfileSet> set = LoadProfiles(request);
  if (!set.ok()) return std::move(set).status();
  return RunConfig{.host = std::move(host).value(), .set = std::move(set).value()};
}

void ApplyHostFile(const HostConfig& host, SchedulingLoop::Options& options) {
  options.bind_deadline_ns = host.bind_deadline_ns.value_or(CallDeadlines().bind_ns);
  SetIfGiven(host.quarantine_faults, options.quarantine.faults);
  SetIfGiven(host.quarantine_window_ns, options.quarantine.window_ns);
  SetIfGiven(host.initial_backoff_ns, options.queue.initial_backoff_ns);
  SetIfGiven(host.max_backoff_ns, options.queue.max_backoff_ns);
}

CallDeadlines DeadlinesOf(const HostConfig& host) {
  CallDeadlines deadlines;
  SetIfGiven(host.call_deadline_ns, deadlines.call_ns);
  SetIfGiven(host.post_filter_deadline_ns, deadlines.post_filter_ns);
  SetIfGiven(host.bind_deadline_ns, deadlines.bind_ns);
  return deadlines;
}

std::vector<std::string> ChangesThatNeedRestart(const HostConfig& before, const HostConfig& after) {
  std::vector<std::string> keys;
  const auto compare = [&keys](const char* key, const auto& old_value, const auto& new_value) {
    if (old_value != new_value) keys.emplace_back(key);
  };
  compare("podInitialBackoffSeconds", before.initial_backoff_ns, after.initial_backoff_ns);
  compare("podMaxBackoffSeconds", before.max_backoff_ns, after.max_backoff_ns);
  compare("deadlines.call", before.call_deadline_ns, after.call_deadline_ns);
  compare("deadlines.postFilter", before.post_filter_deadline_ns, after.post_filter_deadline_ns);
  compare("deadlines.bind", before.bind_deadline_ns, after.bind_deadline_ns);
  compare("quarantine.faults", before.quarantine_faults, after.quarantine_faults);
  compare("quarantine.window", before.quarantine_window_ns, after.quarantine_window_ns);
  const ClusterConfig& was = before.cluster;
  const ClusterConfig& is = after.cluster;
  compare("leaderElection.leaderElect", was.leader_elect, is.leader_elect);
  compare("leaderElection.leaseDuration", was.lease_ns, is.lease_ns);
  compare("leaderElection.renewDeadline", was.renew_deadline_ns, is.renew_deadline_ns);
  compare("leaderElection.retryPeriod", was.retry_ns, is.retry_ns);
  compare("leaderElection.resourceName", was.lease_name, is.lease_name);
  compare("leaderElection.resourceNamespace", was.lease_namespace, is.lease_namespace);
  compare("leaderElection.stallLimit", was.stall_limit_ns, is.stall_limit_ns);
  compare("clientConnection.kubeconfig", was.kubeconfig, is.kubeconfig);
  compare("clientConnection.qps", was.qps, is.qps);
  compare("clientConnection.burst", was.burst, is.burst);
  compare("clientConnection.connections", was.connections, is.connections);
  compare("serving.address", was.http_address, is.http_address);
  compare("logging.format", was.log_format, is.log_format);
  return keys;
}

}  // namespace berth::host
