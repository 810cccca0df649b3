// Reads the configuration of a running scheduler again when it changes.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_RELOADER_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_RELOADER_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/event/inbox.h"
#include "host/process/assemble/file_watch.h"
#include "host/process/assemble/run_config.h"

namespace berth::host {

// The result of one reload.
struct ReloadResult {
  Status status;  // An error: the running configuration is kept.
  // The files and directories that have changed since they were read, by path. Empty if the reload
  // was requested and no file has changed.
  std::vector<std::string> changed = {};
  // On success: the schedulerNames of the profiles, the host file, and the keys of the host file
  // whose new values take effect only at a restart.
  std::vector<std::string> profiles = {};
  HostConfig host = {};
  std::vector<std::string> needs_restart = {};
};

// A reload is requested by Request() or by a change of a watched file, and carried out by
// ReloadIfRequested().
//
// Threading: Request() any thread; all other methods one thread, the scheduling thread.
class ConfigReloader {
 public:
  // Reads the configuration, as ReadRunConfig() does.
  using Read = std::function<Result<RunConfig>(FileStamps& files)>;
  // Replaces the running profiles and plugins. After an error the running ones are kept.
  using Apply = std::function<Status(const ProfileSet& set)>;

  // `waker` is woken by each request. It must outlive the reloader.
  ConfigReloader(Read read, Waker& waker) : read_(std::move(read)), waker_(waker) {}
  ConfigReloader(const ConfigReloader&) = delete;
  ConfigReloader& operator=(const ConfigReloader&) = delete;

  // Reads the configuration at the start.
  // Called: once, before any other method but Request().
  // Errors: those of Read.
  Result<RunConfig> ReadFirst();

  // Watches the files that were read last, until StopWatching(). A change that happened since they
  // were read counts too.
  void StartWatching();
  void StopWatching() { watch_.reset(); }

  void Request();
  // If a reload was requested: reads the configuration, applies it, and passes the result to
  // `report`. Several requests may be one reload.
  // REQUIRES: the files are being watched.
  void ReloadIfRequested(const Apply& apply,
                         const std::function<void(const ReloadResult& result)>& report);

  // The host file as ReadFirst() read it. A reload does not change it.
  const HostConfig& running() const { return running_; }
  size_t reloaded() const { return reloaded_; }  // How many reloads succeeded.
  size_t failed() const { return failed_; }

 private:
  ReloadResult Reload(const Apply& apply);

  const Read read_;
  Waker& waker_;
  HostConfig running_;  // The host file as it was read first.
  FileStamps files_;    // The stamps of the files, taken when they were last read.
  std::atomic<bool> requested_ = false;
  size_t reloaded_ = 0;
  size_t failed_ = 0;
  std::unique_ptr<FileWatch> watch_;  // Last: its thread calls Request().
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CONFIG_RELOADER_H_
