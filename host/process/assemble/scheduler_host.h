// Assembles a scheduler over a cluster client. This is the only place that connects plugins,
// profiles, call monitor, bind pool, watchdog and scheduling loop.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_SCHEDULER_HOST_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_SCHEDULER_HOST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/api/decode.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cycle/scheduling_loop.h"
#include "host/guard/bind_pool.h"
#include "host/guard/call_monitor.h"
#include "host/guard/call_watchdog.h"
#include "host/guard/plugin_faults.h"
#include "host/http/http_client.h"
#include "host/plan/plan.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {

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
  // The monotonic clock for HTTP requests of plugins. Threading: any. If empty, they all fail.
  std::function<int64_t()> steady_ns;
  // The number of threads for plugins that block in PreBind and Bind. If 0, such plugins block the
  // scheduling thread.
  size_t bind_threads = 0;
  ReportCrashes report_crashes;  // May be empty.
};

// Returns how objects must be decoded for these plugins: with the parts of pods and nodes that a
// plugin reads as JSON.
DecodeOptions DecodeOptionsFor(const PluginSet& plugins, KubeVersion emulated_version);
// Returns the same for a cluster in this process, with the texts of pods and nodes if a plugin's
// requests need them.
DecodeOptions LocalDecodeOptionsFor(const PluginSet& plugins, KubeVersion emulated_version);

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
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<SchedulingLoop> loop_;  // Destroyed before what it uses.
  std::unique_ptr<BindPool> pool_;        // Destroyed before the loop: it runs the loop's plugins.
  std::optional<Watchdog> watchdog_;
};

// Creates the plugins of these profiles against an empty cluster and destroys them again, because
// plugins check their arguments when they are created.
// Errors: those of SchedulerHost::Start, one per line.
// `report_crashes`: may be empty.
Status TryCreatePlugins(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> specs,
                        KubeVersion emulated_version, const ReportCrashes& report_crashes);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_SCHEDULER_HOST_H_
