#include "host/process/assemble/session.h"

#include <utility>

#include "host/process/log/log_format.h"

namespace berth::host {

Session::Session(const ProcessOptions& options, const Settings& settings, Driver& driver)
    : options_(options),
      settings_(settings),
      libraries_(MakeLibraryStore(options_.temporary_directory, options_.steady_ns)),
      driver_(driver),
      reloader_(
          [this](FileStamps& files) { return ReadRunConfig(options_.config, libraries_, files); },
          driver.waker()) {
  if (!options_.requests) return;
  std::function<void()> reload;
  if (settings_.reloads) reload = [this] { reloader_.Request(); };
  requests_ = options_.requests(std::move(reload));
}

// ---- Opening ------------------------------------------------------------------------------------

Status Session::ReadConfig() {
  Result<RunConfig> config = reloader_.ReadFirst();
  if (!config.ok()) return std::move(config).status();
  set_ = std::move(config->set);
  return {};
}

void Session::OpenLog(LogSink& sink) {
  log_.emplace(sink, LogLevelOf(host()));
  LogWarnings(set_.warnings);
}

SchedulerOptions Session::TakeSchedulerOptions(const Clock& clock) {
  SchedulerOptions options;
  ProfileSet set = std::exchange(set_, {});
  options.plugins = std::move(set.plugins);
  options.profiles = std::move(set.specs);
  options.hash_key = options_.hash_key;
  options.report_crashes = options_.report_crashes;
  options.steady_ns = options_.steady_ns;
  options.loop.seed = options_.seed;
  options.loop.reuse.is_checked = options_.checks_reuse;
  options.loop.clock = &clock;
  options.loop.waker = &driver_.waker();
  options.loop.log = &*log_;
  ApplyHostFile(host(), options.loop);
  return options;
}

// ---- Running ------------------------------------------------------------------------------------

void Session::Begin(SchedulerHost& scheduler) {
  scheduler_ = &scheduler;
  if (requests_ != nullptr) {
    requests_->OnStop([this](int signal) { driver_.RequestStop(signal); });
  }
  if (settings_.reloads) reloader_.StartWatching();
  // The deadlines of plugin calls are real time, even if the scheduler's time is virtual.
  scheduler.StartWatchdog(DeadlinesOf(host()), options_.steady_ns);
}

void Session::End() {
  reloader_.StopWatching();
  if (scheduler_ != nullptr) scheduler_->StopWatchdog();
  scheduler_ = nullptr;
  requests_.reset();
}

void Session::ReloadIfRequested(const Apply& apply, const Report& report) {
  reloader_.ReloadIfRequested(
      [&](const ProfileSet& set) {
        LogWarnings(set.warnings);
        return apply(set);
      },
      [&](const ReloadResult& result) {
        if (result.status.ok()) SetLogLevel(LogLevelOf(result.host));
        report(result);
      });
}

// ---- The log ------------------------------------------------------------------------------------

uint32_t Session::LogLevelOf(const HostConfig& host) const {
  return options_.log_level.value_or(host.log_level.value_or(settings_.log_level));
}

Status Session::SetLogLevel(std::string_view level) {
  const Result<uint32_t> read = ReadLogLevel(level);
  if (read.ok()) SetLogLevel(*read);
  return read.status();
}

void Session::SetLogLevel(uint32_t level) {
  log_->SetLevel(level);
  scheduler_->loop().UpdateLogLevel();
}

void Session::LogWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) log().Warning(warning);
}

}  // namespace berth::host
