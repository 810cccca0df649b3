// A scheduler and its cluster in one process, without anybody who drives them.
#ifndef BERTH_HOST_PROCESS_EMBEDDED_SCHEDULER_H_
#define BERTH_HOST_PROCESS_EMBEDDED_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
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
#include "host/base/status.h"
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/embedded/embedded_kubelet.h"
#include "host/cycle/scheduling_loop.h"
#include "host/guard/bind_pool.h"
#include "host/guard/call_monitor.h"
#include "host/process/plugin_set.h"
#include "host/process/stream_cluster.h"
#include "host/runtime/plan.h"

namespace berth::host {

// Create, Add.., Start, then Step or decide. Objects may be added after Start() too: a pod then
// stands in the queue behind those that were there.
//
// Threading: one thread, the scheduling thread.
class EmbeddedScheduler {
 public:
  struct Options {
    // What can be chosen from; shared by any number of schedulers. Must be set.
    std::shared_ptr<const PluginSet> plugins;
    // Which of it is used. At least one.
    std::vector<PlanSpec> profiles;
    // Equal seeds and inputs give equal decisions.
    uint64_t seed = 1;
    // Must be set, and outlive the scheduler; so must what follows, where it is set.
    const Clock* clock = nullptr;
    DecisionSink* sink = nullptr;
    Waker* waker = nullptr;
    // Follows a stream: remembers which versions of objects it has seen.
    bool follows_stream = false;
    // Threads for plugins that block in PreBind and Bind. 0: they block the scheduling thread.
    size_t bind_threads = 0;
    int64_t bind_deadline_ns = 0;  // See AsyncCalls.
    QuarantinePolicy quarantine;
    SchedulingQueue::Options queue;
    // Told where it stands what runs now, for the report of a crash, and null when that ends. May
    // be empty.
    std::function<void(const CallMonitor* monitor)> report_crashes;
    // Where plugins' log lines go. May be empty. Threading: any.
    std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
    uint32_t log_level = BERTH_LOG_WARN;
  };

  static std::unique_ptr<EmbeddedScheduler> Create(Options options);
  ~EmbeddedScheduler();
  EmbeddedScheduler(const EmbeddedScheduler&) = delete;
  EmbeddedScheduler& operator=(const EmbeddedScheduler&) = delete;

  // Adds the objects of one manifest, YAML or JSON. `name` is what messages call it.
  // Errors: those of LoadManifest. Objects before the place of the error have been added.
  Status AddText(std::string_view name, std::string text);
  // The same from a file, or from `in` for "-".
  Status AddFile(const std::string& path, std::istream& in);

  // Creates the plugins and shows them the cluster. Once.
  // Errors: those of SchedulingLoop::Create.
  Status Start();

  // ---- REQUIRES, of all below: Start() succeeded. -----------------------------------------------

  // Other plugins and profiles take over: see SchedulingLoop::Reload. Those that were used go on
  // as long as they are needed.
  // Errors: those of SchedulingLoop::Reload; InvalidArgument for a plugin that wants parts of
  //         objects kept which were read without them. Then nothing has changed.
  Status Reload(std::shared_ptr<const PluginSet> plugins, std::span<const PlanSpec> profiles);

  // Applies an event of a stream. Returns: as StreamCluster. REQUIRES: Options::follows_stream.
  Result<bool> Apply(const StreamEvent& event) { return stream_->Apply(event); }

  // Carries out what is due and delivers what the cluster has to say; then takes a pod through its
  // attempt. False: there was nothing to do.
  bool Step();
  // When Step() next has something to do if nothing comes in; none: never.
  std::optional<int64_t> NextStepNs() const;
  // Nobody is ready, in flight or on the way out; see SchedulingLoop::AtRest.
  bool AtRest() const;

  // Gives threads of plugins, on which bindings may depend, a moment to say something. For who owns
  // the clock: time must not pass meanwhile. False: there is none, or it says nothing.
  bool WaitForThreads(ThreadWaker& waker) const;

  SchedulingLoop& loop() { return *loop_; }
  const SchedulingLoop& loop() const { return *loop_; }
  EmbeddedCluster& cluster() { return cluster_; }
  const EmbeddedCluster& cluster() const { return cluster_; }
  Decoder& decoder() { return decoder_; }
  CallMonitor& monitor() { return monitor_; }

 private:
  explicit EmbeddedScheduler(Options options);

  Options options_;
  Interner interner_;
  CallMonitor monitor_;
  EmbeddedCluster cluster_;
  const std::set<std::string> kept_fields_;  // Of pods and nodes, beside the views.
  Decoder decoder_;
  EmbeddedApi api_{cluster_, decoder_};  // For plugins.
  std::optional<StreamCluster> stream_;
  std::optional<EmbeddedKubelet> kubelet_;
  std::unique_ptr<SchedulingLoop> loop_;  // Goes before what it uses.
  std::unique_ptr<BindPool> pool_;        // Goes before the plugins that run on it.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_EMBEDDED_SCHEDULER_H_
