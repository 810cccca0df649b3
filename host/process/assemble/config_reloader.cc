#include "host/process/assemble/config_reloader.h"

#include <sys/stat.h>

#include <optional>
#include <utility>

#include "host/base/assert.h"
#include "host/base/time_units.h"
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

// How often the files are checked. A change counts when the next check finds no further change.
constexpr std::chrono::milliseconds kCheckEvery(250);

}  // namespace

FileStamp StampOf(const std::string& path) {
  struct stat now {};
  if (stat(path.c_str(), &now) != 0) return {};
  return {.device = now.st_dev,
          .inode = now.st_ino,
          .size = now.st_size,
          .changed_ns = now.st_mtim.tv_sec * kSecond + now.st_mtim.tv_nsec};
}

// ---- FileChanges --------------------------------------------------------------------------------

void FileChanges::Watch(FileStamps files) {
  known_ = std::move(files);
  seen_ = known_;
}

bool FileChanges::Check() {
  FileStamps now;
  for (const auto& [path, stamp] : seen_) now.emplace_hint(now.end(), path, StampOf(path));
  const bool is_stable = now == seen_;
  seen_ = std::move(now);
  if (!is_stable || seen_ == known_) return false;
  known_ = seen_;
  return true;
}

// ---- FileWatch ----------------------------------------------------------------------------------

FileWatch::FileWatch(FileStamps files, std::chrono::milliseconds every,
                     std::function<void()> changed)
    : changed_(std::move(changed)),
      changes_(std::move(files)),
      thread_([this, every] { Run(every); }) {}

FileWatch::~FileWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void FileWatch::Watch(FileStamps files) {
  const std::lock_guard lock(mutex_);
  changes_.Watch(std::move(files));
}

void FileWatch::Run(std::chrono::milliseconds every) {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, every, [this] { return ending_; })) {
    if (!changes_.Check()) continue;
    lock.unlock();
    changed_();
    lock.lock();
  }
}

Result<RunConfig> ReadRunConfig(const ConfigSources& sources,
                                const std::shared_ptr<LibraryStore>& libraries, FileStamps& files) {
  const auto before_read = [&files](const std::string& path) { files[path] = StampOf(path); };
  if (!sources.host_file.empty()) before_read(sources.host_file);
  Result<HostConfig> host = ReadHostFile(sources.host_file);
  if (!host.ok()) return std::move(host).status();
  if (sources.emulated_version.has_value()) host->emulated_version = sources.emulated_version;
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
  options.emulated_version = EmulatedVersionOf(host);
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
  compare("emulatedVersion", EmulatedVersionOf(before), EmulatedVersionOf(after));
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

Result<RunConfig> ConfigReloader::ReadFirst() {
  Result<RunConfig> config = read_(files_);
  if (config.ok()) running_ = config->host;
  return config;
}

void ConfigReloader::StartWatching() {
  watch_ = std::make_unique<FileWatch>(files_, kCheckEvery, [this] { Request(); });
}

void ConfigReloader::Request() {
  requested_ = true;
  waker_.Wake();
}

void ConfigReloader::ReloadIfRequested(
    const Apply& apply, const std::function<void(const ReloadResult& result)>& report) {
  if (!requested_.exchange(false)) return;
  BERTH_ASSERT(watch_ != nullptr);
  const ReloadResult result = Reload(apply);
  watch_->Watch(files_);
  ++(result.status.ok() ? reloaded_ : failed_);
  report(result);
}

ReloadResult ConfigReloader::Reload(const Apply& apply) {
  // After an error, the files of this reading and of the previous reading are watched, because the
  // user may correct any of them.
  ReloadResult result;
  for (auto& [path, stamp] : files_) {
    const FileStamp now = StampOf(path);
    if (now != stamp) result.changed.push_back(path);
    stamp = now;
  }
  FileStamps files;
  const Result<RunConfig> config = read_(files);
  for (const auto& [path, stamp] : files) files_[path] = stamp;
  result.status = config.ok() ? apply(config->set) : config.status();
  if (!result.status.ok()) return result;
  files_ = std::move(files);
  for (const PlanSpec& spec : config->set.specs) result.profiles.push_back(spec.scheduler_name);
  result.host = config->host;
  result.needs_restart = ChangesThatNeedRestart(running_, config->host);
  return result;
}

}  // namespace berth::host
