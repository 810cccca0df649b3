// What every process that schedules has: its configuration, its log, and requests from outside.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_SESSION_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cycle/scheduling_loop.h"
#include "host/guard/bind_pool.h"
#include "host/guard/call_monitor.h"
#include "host/plan/plan.h"
#include "host/process/assemble/config_reloader.h"
#include "host/process/assemble/driver.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {

// --- scheduler host ------------------------------------------------------------------------------
//
// Assembles a scheduler over a cluster client. This is the only place that connects plugins,
// profiles, call monitor, bind pool, watchdog and scheduling loop.

// The seed that is used when the user sets none.
inline constexpr uint64_t kDefaultSeed = 1;

// Called with the call monitor before any plugin is created, and with null after all plugins are
// destroyed. The crash report reads the monitor in between.
using ReportCrashes = std::function<void(const CallMonitor* monitor)>;

struct SchedulerOptions {
  // The plugins that profiles can use. Several schedulers may share them. Must be set.
  std::shared_ptr<const PluginSet> plugins;
  // The profiles that the scheduler runs. At least one.
  std::vector<PlanSpec> profiles;
  // The key of hashes of texts that others choose: names of objects, parts of pods. The owner of
  // the interner uses it.
  HashKey hash_key = Interner::kFixedKey;
  // The options of the scheduling loop. `clock` must be set. What the pointers refer to must
  // outlive the scheduler. SchedulerHost sets `monitor` and `pool`.
  SchedulingLoop::Options loop;
  // The number of threads for plugins that block in PreBind and Bind. If 0, such plugins block the
  // scheduling thread.
  size_t bind_threads = 0;
  ReportCrashes report_crashes;  // May be empty.
};

// Returns how objects must be decoded for these plugins: with the parts of pods and nodes that a
// plugin reads as JSON.
DecodeOptions DecodeOptionsFor(const PluginSet& plugins);

// Assembles a scheduler over a Client. Construct a SchedulerHost, call Start(), then drive loop()
// as SchedulingLoop describes.
//
// Threading: one thread, the scheduling thread.
class SchedulerHost {
 public:
  // `interner` and `client` must outlive the SchedulerHost. The client must decode objects with
  // DecodeOptionsFor(*options.plugins).
  SchedulerHost(Interner& interner, Client client, SchedulerOptions options);
  // Cancels the bindings under way and destroys the plugins.
  ~SchedulerHost();

  // Creates the plugins and starts the watches of the client.
  // Called: once.
  // Errors: those of SchedulingLoop::Create.
  Status Start();

  // REQUIRES: Start() succeeded. This applies to every method below.

  // Replaces the plugins and profiles, as SchedulingLoop::Reload does. The previous plugins live as
  // long as bindings need them.
  // Errors: those of SchedulingLoop::Reload; InvalidArgument for a plugin that reads parts of
  //         objects that the previous plugins did not need, because the objects were decoded
  //         without these parts. After an error nothing has changed.
  Status Reload(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> profiles);

  // Starts a thread that cancels plugin calls that exceed their deadlines. It measures real time
  // with `steady_ns`, which must only go forward and may be called on any thread.
  // REQUIRES: the watchdog is not running.
  void StartWatchdog(const CallDeadlines& deadlines, std::function<int64_t()> steady_ns);
  // Does nothing if the watchdog is not running.
  void StopWatchdog() { watchdog_.reset(); }
  // Returns whether the watchdog runs and a plugin call that it cancelled has not ended.
  // Threading: any, but not during StartWatchdog() and StopWatchdog().
  bool HasStuckCall() const { return watchdog_.has_value() && watchdog_->calls.overdue(); }

  SchedulingLoop& loop() { return *loop_; }
  const SchedulingLoop& loop() const { return *loop_; }

 private:
  // A watchdog and the clock and thread that it needs.
  struct Watchdog {
    Watchdog(CallMonitor& monitor, PluginFaults& faults, const CallDeadlines& deadlines,
             std::function<int64_t()> steady_ns);

    RealClock clock;
    CallWatchdog calls;
    WatchdogThread thread;
  };

  Interner& interner_;
  const Client client_;
  SchedulerOptions options_;
  CallMonitor monitor_;
  const std::set<std::string> decoded_fields_;  // The parts that plugins read as JSON.
  std::unique_ptr<SchedulingLoop> loop_;        // Destroyed before what it uses.
  std::unique_ptr<BindPool> pool_;  // Destroyed before the loop: it runs the loop's plugins.
  std::optional<Watchdog> watchdog_;
};

// Creates the plugins of these profiles against an empty cluster and destroys them again, because
// plugins check their arguments when they are created.
// Errors: those of SchedulerHost::Start, one per line.
// `report_crashes`: may be empty.
Status TryCreatePlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
                        const ReportCrashes& report_crashes);

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
