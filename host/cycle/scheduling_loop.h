// The scheduling loop: applies cluster events, schedules one pod or group after the other, and
// advances the binding cycles.
//
//   event -> queue -> scheduling cycle (schedule_one.h) -> binding cycle (binding_cycle.h)
//                 \-> group cycle (schedule_group.h) ---/
//
// Simulation, tests and production run the same loop; only the client behind it, the clock, and the
// code that drives it differ.
#ifndef BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_
#define BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/kube_version.h>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cache/cache.h"
#include "host/cache/node_table.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/cycle/binding_cycle.h"
#include "host/cycle/cycle_context.h"
#include "host/cycle/cycle_meter.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/failure_handler.h"
#include "host/cycle/profiles.h"
#include "host/cycle/schedule_group.h"
#include "host/cycle/schedule_one.h"
#include "host/event/event_router.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/guard/call_monitor.h"
#include "host/guard/plugin_faults.h"
#include "host/http/http_client.h"
#include "host/plan/instance_context.h"
#include "host/plan/instance_host.h"
#include "host/plan/plan.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/points/async_call.h"
#include "host/runtime/points/run_pre_enqueue.h"
#include "host/runtime/points/run_queue_sort.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/services.h"

namespace berth::host {

// --- plugin requests -----------------------------------------------------------------------------
//
// Answers what plugins request of the scheduler.

// Plugins make requests in the middle of a cycle, when queue and bindings must not change. So each
// request is recorded here, and CarryOut() performs it between cycles. The decision about a waiting
// pod (Allow, Reject) counts at once.
//
// Threading: the scheduling thread.
// Lifetime:  the arguments of the constructor must outlive it; the sink of the log must outlive the
//            writer.
class PluginRequests final : public SchedulerRequests {
 public:
  PluginRequests(const NodeTable& table, SchedulingQueue& queue, WaitingPods& waiting_pods,
                 DecisionWriter& writer, const Clock& clock, Log log = {})
      : table_(table),
        queue_(queue),
        waiting_pods_(waiting_pods),
        writer_(writer),
        clock_(clock),
        log_(log) {}
  PluginRequests(const PluginRequests&) = delete;
  PluginRequests& operator=(const PluginRequests&) = delete;

  // Performs the requests recorded so far. Requests that they lead to wait for the next call, so
  // that a plugin that always requests something cannot stop the scheduler. Returns false if there
  // was none.
  bool CarryOut();
  bool empty() const { return deferred_.empty(); }
  // Returns the number of evictions that were requested since the last call.
  size_t TakeEvictionCount() { return std::exchange(evictions_, 0); }
  // Drops the requests without performing them.
  void Clear() { deferred_.clear(); }

  // ---- SchedulerRequests ------------------------------------------------------------------------

  Row FindNode(std::string_view name) const override { return table_.FindNode(name); }
  const Nominator& nominator() const override { return queue_.nominator(); }
  bool ClearNomination(std::string_view uid) override;
  void Activate(std::string_view uid) override;
  std::vector<PodRef> Waiting(PluginId plugin) const override {
    return waiting_pods_.Waiting(plugin);
  }
  bool Allow(std::string_view uid, PluginId plugin) override;
  bool Reject(std::string_view uid, PluginId plugin, std::string_view reason) override;
  void Evict(const PodName& pod, std::string_view message, EvictionCallback done) override;

 private:
  struct Victim;

  void Defer(std::function<void()> request) { deferred_.push_back(std::move(request)); }
  void ApplyVerdictLater(std::string_view uid);
  void EvictNow(const Victim& victim, const EvictionCallback& done);
  // Threading: any.
  static void LogEviction(Log log, const Victim& victim, const Status& status);

  const NodeTable& table_;
  SchedulingQueue& queue_;
  WaitingPods& waiting_pods_;
  DecisionWriter& writer_;
  const Clock& clock_;
  const Log log_;
  std::vector<std::function<void()>> deferred_;
  size_t evictions_ = 0;
};

// --- memory sweeper ------------------------------------------------------------------------------
//
// Frees columns and interned strings that pods no longer use.

// Pods bring columns of the node table (one for each host port, for example) and interned strings
// with them. Without a limit both would grow without bound.
//
// Threading: the scheduling thread.
// Lifetime:  table and interner must outlive it.
class MemorySweeper {
 public:
  // The limits of idle columns: of those that no plugin bound when it was created.
  struct Limits {
    size_t idle_column_bytes = size_t{64} << 20;
    size_t idle_columns = 256;  // Every column has a cost for each pod that is added or removed.
  };

  MemorySweeper(NodeTable& table, Interner& interner, const Limits& limits)
      : table_(table), interner_(interner), limits_(limits) {}

  // Drops idle columns beyond the limits, the longest unused first. Sweeps the interner if at least
  // half of its strings are unreferenced, and if these are many: a sweep visits every string, so
  // its cost is proportional to the number of strings that it frees.
  // Must not: be called by code that holds an interned id without a reference to it.
  void Sweep() {
    constexpr size_t kMinUnreferenced = 4096;
    table_.DropIdleColumns(limits_.idle_column_bytes, limits_.idle_columns);
    const size_t unreferenced = interner_.unreferenced();
    if (unreferenced >= kMinUnreferenced && unreferenced >= interner_.size() / 2) {
      interner_.Sweep();
    }
  }

 private:
  NodeTable& table_;
  Interner& interner_;
  const Limits limits_;
};

// --- scheduling loop -----------------------------------------------------------------------------

// Owns the parts of a scheduler and wires them together. Its owner repeats, until Stop() and after
// that until binding_count() is 0:
//
//   1. deliver what the source has received, if the source needs that
//   2. call Step() while it returns true
//   3. wait until NextStepNs(), or until the waker is called
//
// Threading: one thread, the scheduling thread. The source must deliver on this thread; other
//            threads push tasks into inbox().
// Lifetime:  interner, client, catalogue, clock and sink must outlive it.
class SchedulingLoop {
 public:
  struct Options {
    // The version of Kubernetes whose kube-scheduler the loop and its plugins decide as. The source
    // must decode objects with the same version.
    KubeVersion emulated_version = kNewestKubeVersion;
    uint64_t seed = 0;             // Decides between equally good nodes.
    const Clock* clock = nullptr;  // Must be set.
    DecisionSink* sink = nullptr;  // Observes decisions. May be null.
    Waker* waker = nullptr;        // Called when another thread pushes into the inbox. May be null.
    // Receives what plugins log, with the plugin as the logger, and what the host logs, with the
    // logger kSchedulingLogger. May be null. The sink must outlive the client, which logs failed
    // evictions on threads of its own.
    LogSink* log = nullptr;
    // Receives which kinds of objects plugins need. May be null. Must outlive the loop.
    ObjectNeeds* needs = nullptr;
    // Writes a record for each decision: see DecisionLog. Not set by a command that prints the
    // decisions of `sink` itself.
    bool logs_decisions = true;
    // Sends the HTTP requests of plugins. If null, berth.http/1 is not served. Must outlive the
    // loop.
    HttpClient* http = nullptr;
    // Observes the scheduler. If null, nothing is measured. Must outlive the loop.
    SchedulerMetrics* metrics = nullptr;
    // Runs blocking calls of plugins on other threads; see AsyncCalls. If null, such calls run on
    // the scheduling thread.
    TaskPool* pool = nullptr;
    int64_t bind_deadline_ns = 0;  // See AsyncCalls.
    CallMonitor* monitor = nullptr;
    QuarantinePolicy quarantine;
    // See PluginFaults::Options. Threading: any.
    std::function<void(const PluginFaults::Quarantined& plugin)> on_quarantine = {};
    // Two members have no effect: `groups` is set if an installed plugin handles
    // /spec/schedulingGroup, and `emulated_version` is the one above.
    SchedulingQueue::Options queue;
    // Pod fields that count as handled although no installed plugin handles them; JSON pointers, as
    // in HandledFields.
    std::set<std::string> ignored_pod_fields;
    MemorySweeper::Limits memory;
    ReuseOptions reuse;  // How answers of plugins are reused.
  };

  // Builds the profiles and starts the watches. The first delivery of the client fills cache and
  // queue.
  // Errors: those of Profiles::Load.
  static Result<std::unique_ptr<SchedulingLoop>> Create(Interner& interner, Client client,
                                                        const PluginCatalog& catalog,
                                                        std::span<const PlanSpec> profiles,
                                                        Options options);
  // Undoes the reservations of all pods that wait or are being bound.
  ~SchedulingLoop();

  // ---- Driving the loop -------------------------------------------------------------------------

  // Calls Settle(), and then runs the scheduling cycle of one pod or group. While settling leads to
  // further work, the cycle is left to a later call, but to the 32nd call at the latest, so that a
  // plugin that always requests something cannot stop the scheduler. Before all watches have
  // delivered their first objects, and after Stop(), no cycle runs. Returns false if there was
  // nothing to do.
  // Must not: be called by code that holds an interned id without a reference to it, because the
  //           interner may be swept.
  bool Step();
  // Runs the tasks that other threads have sent, the timers that are due and the requests of
  // plugins, removes ended bindings, ends quarantines and backoffs that are over, frees memory, and
  // publishes metrics. Runs no scheduling cycle. Returns false if there was no work.
  // Must not: be called where Step() must not be called.
  bool Settle();
  // Returns the time at which Step() next has work if no event or answer arrives before. Returns
  // nullopt if Step() will have no work.
  std::optional<int64_t> NextStepNs() const;
  // Returns the time of the next timer, end of a quarantine or of a backoff, or other tick of the
  // queue, whether or not there is work before. Returns nullopt if there is none.
  std::optional<int64_t> NextTimerNs() const;

  // Returns true if no pod is ready, backs off from a rejection, waits on Permit or is being bound,
  // and if no request of a plugin and no task in the inbox waits. Pods may be parked, gated, or
  // backing off from an error.
  bool AtRest() const;
  // See SchedulingQueue::ActivateParked. Called: between two calls of Step().
  bool ActivateParked(const EntityFilter& filter) { return queue_.ActivateParked(filter); }
  // Stops scheduling. Pods that wait on Permit go back to the queue. Pods that are being bound are
  // not affected: call Step() until binding_count() is 0.
  void Stop();
  // Replaces the profiles: see Profiles::Load.
  // Errors: those of Profiles::Load; then nothing has changed.
  // Must not: be called within Step().
  Status Reload(const PluginCatalog& catalog, std::span<const PlanSpec> profiles);
  // Lets plugins log at the lowest level that is on in the log. Called: after that level has
  // changed. Threading: any.
  void UpdateLogLevel() { services_.log_level = LowestLevel(options_.log); }
  // The number of profiles that were replaced and whose plugins are still binding pods.
  size_t draining() const { return profiles_.draining(); }
  // Cancels the plugin calls of all binding cycles: BERTH_IS_CANCELLED becomes true for them.
  // Called: before the loop is destroyed.
  void CancelBindings() { waiting_pods_.Cancel(); }
  // The number of pods that wait on Permit or are being bound.
  size_t binding_count() const { return waiting_pods_.all().size(); }
  // The number of scheduling cycles, those of groups counted once, that Step() has run.
  uint64_t attempts() const { return attempts_; }

  // ---- Parts ------------------------------------------------------------------------------------

  Inbox& inbox() { return inbox_; }
  const SchedulingQueue& queue() const { return queue_; }
  Cache& cache() { return cache_; }
  const Cache& cache() const { return cache_; }
  const EventRouter& router() const { return router_; }
  const PluginIds& plugin_ids() const { return services_.plugin_ids; }
  // The timers and the announced work of plugins. They do not count for AtRest().
  const PluginWork& plugin_work() const { return plugin_work_; }
  PluginFaults& faults() { return faults_; }
  const PluginFaults& faults() const { return faults_; }
  const MetricStore& metrics() const { return metrics_; }
  // The scheduling cycle of the first profile.
  SchedulingCycle& cycle() { return *profiles_.front().cycle; }
  // The scheduling cycle of the pod's profile; null if no profile has its schedulerName.
  SchedulingCycle* CycleFor(const Pod& pod) const;
  // Calls `each(const Plan&)` for the plan of every profile.
  template <class F>
  void ForEachPlan(F&& each) const {
    profiles_.ForEachPlan(each);
  }
  // The binding cycles of the pods that wait on Permit or are being bound, by uid.
  const WaitingPods::Map& bindings() const { return waiting_pods_.all(); }

 private:
  SchedulingLoop(Interner& interner, Client client, Options options);

  HostServices MakeServices();
  SchedulingQueue::Options QueueOptions() const;
  EventRouter::Options RouterOptions();
  void Schedule(const QueuedEntity& entity);
  bool ReleaseFinishedBindings();
  // Calls AttemptFailed of the plugins of the pod's profile.
  void TellPlugins(const PodRef& pod, std::string_view node, const Failure& failure) const;
  // Does nothing without metrics.
  void PublishMetrics();

  Interner& interner_;
  DecisionWriter& writer_;
  const Options options_;
  const Log log_;
  DecisionSink no_sink_;
  DecisionLog decision_log_;
  DecisionSink& sink_;
  Inbox inbox_;
  TimerQueue timers_;
  PluginWork plugin_work_;
  AsyncCalls calls_;
  ObjectStore objects_;
  Cache cache_;
  const std::unique_ptr<CycleMeter> meter_;  // Null without metrics.
  PluginFaults faults_;
  MetricStore metrics_;
  HostServices services_;
  PluginQueuePolicy policy_;
  PluginQueueOrder order_;
  SchedulingQueue queue_;
  FailureHandler failures_;
  EventRouter router_;
  const CycleContext context_;
  WaitingPods waiting_pods_;
  PluginRequests requests_;
  Profiles profiles_;  // Declared after the members that its plugins use.
  GroupCycle group_cycle_;
  MemorySweeper sweeper_;
  uint32_t settle_rounds_ = 0;  // Calls of Step() since the last scheduling cycle.
  uint64_t attempts_ = 0;
  bool stopping_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_
