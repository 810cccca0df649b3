#include "host/process/assemble/config_reloader.h"

#include <chrono>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

// How often the files are checked. A change counts when the next check finds no further change.
constexpr std::chrono::milliseconds kCheckEvery(250);

}  // namespace

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
