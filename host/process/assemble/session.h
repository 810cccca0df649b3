// What every process that schedules has: its configuration, its log, and requests from outside.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_SESSION_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/process/assemble/config_reloader.h"
#include "host/process/assemble/driver.h"
#include "host/process/assemble/process_signals.h"
#include "host/process/assemble/scheduler_host.h"

namespace berth::host {

// The options of every process.
struct ProcessOptions {
  ConfigSources config;
  // Nullopt: the level of the host file, or the default of the process. BERTH_LOG_*.
  std::optional<uint32_t> log_level = {};
  uint64_t seed = kDefaultSeed;
  bool checks_reuse = false;               // See ReuseOptions.
  HashKey hash_key = Interner::kFixedKey;  // See SchedulerOptions::hash_key.
  std::string temporary_directory = {};    // See MakeLibraryStore().
  std::function<int64_t()> steady_ns;      // A monotonic clock. Threading: any.
  std::function<int64_t()> wall_ns;        // The time since 1970-01-01T00:00:00Z. Threading: any.
  SubscribeToRequests requests = {};       // If empty, a reload or a stop cannot be requested.
  ReportCrashes report_crashes = {};
};

// The owner calls ReadConfig(), OpenLog(), TakeSchedulerOptions(), Begin() and End(), in this
// order, and creates its scheduler before Begin().
//
// Threading: one thread, the scheduling thread, except SetLogLevel() and the log.
// Lifetime:  the options, what they refer to, and the driver must outlive it.
class Session {
 public:
  struct Settings {
    std::string_view logger;  // The name of the process in its log.
    uint32_t log_level;       // If neither the options nor the host file set one. BERTH_LOG_*.
    bool reloads;             // Changed files, and requests, reload the configuration.
  };

  // Subscribes to requests. Until Begin(), a request to stop ends the process; a reload that is
  // requested is carried out by the first ReloadIfRequested().
  Session(const ProcessOptions& options, const Settings& settings, Driver& driver);

  // ---- Opening ----------------------------------------------------------------------------------

  // Called: once.
  // Errors: those of ReadRunConfig().
  Status ReadConfig();
  // Opens the log over `sink`, which must outlive the session, and logs the warnings of the
  // configuration.
  void OpenLog(LogSink& sink);
  // Returns the options that do not depend on the process: plugins and profiles, what the host file
  // sets, seed, keys, clock, waker and log.
  // Called: once. The session keeps no plugin.
  SchedulerOptions TakeSchedulerOptions(const Clock& clock);

  // ---- Running ----------------------------------------------------------------------------------

  // From here until End(), requests to stop go to the driver, files are watched, and a watchdog
  // observes the calls of plugins. The scheduler must live until End().
  void Begin(SchedulerHost& scheduler);
  // Stops the watchdog, too. Does nothing if Begin() was not called.
  void End();

  // Replaces the running profiles and plugins. After an error the running ones are kept.
  using Apply = ConfigReloader::Apply;
  // Receives the result of a reload, after the log has its new level.
  using Report = std::function<void(const ReloadResult& result)>;

  // Carries out a reload that was requested: logs the warnings of the new configuration, applies it
  // and reports the result. REQUIRES: Begin() was called, and the session reloads.
  void ReloadIfRequested(const Apply& apply, const Report& report);

  // Changes the level of the log, also for plugins. Threading: any, between Begin() and End().
  // Errors: those of ReadLogLevel().
  Status SetLogLevel(std::string_view level);

  // ---- Access -----------------------------------------------------------------------------------

  const ProcessOptions& options() const { return options_; }
  // Returns the host file as it was read at the start. A reload does not change it.
  const HostConfig& host() const { return reloader_.running(); }
  // Returns the profiles and plugins as they were read at the start; empty after
  // TakeSchedulerOptions().
  const ProfileSet& set() const { return set_; }
  const ConfigReloader& reloads() const { return reloader_; }
  Driver& driver() { return driver_; }
  // REQUIRES: OpenLog() was called. This applies to the methods below.
  LogSink& sink() { return *log_; }
  Log LogOf(std::string_view logger) { return {*log_, logger}; }
  // Returns the log of the process.
  Log log() { return LogOf(settings_.logger); }
  void LogWarnings(const std::vector<std::string>& warnings);

 private:
  void SetLogLevel(uint32_t level);
  uint32_t LogLevelOf(const HostConfig& host) const;

  const ProcessOptions& options_;
  const Settings settings_;
  const std::shared_ptr<LibraryStore> libraries_;
  Driver& driver_;
  ConfigReloader reloader_;
  ProfileSet set_;
  std::optional<LogFilter> log_;
  SchedulerHost* scheduler_ = nullptr;         // Set between Begin() and End().
  std::unique_ptr<ProcessRequests> requests_;  // Last: it calls the others. May be null.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_SESSION_H_
