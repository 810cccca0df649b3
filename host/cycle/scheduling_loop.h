// The loop: cluster events in, one cycle after the other, bindings out.
//
//   event -> queue -> [filter -> score -> assume] -> bind
//
// The same loop serves simulation and production; only the client behind it, and who drives it,
// differ.
#ifndef BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_
#define BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/api/interner.h"
#include "host/api/objects.h"
#include "host/api/status.h"
#include "host/cache/cache.h"
#include "host/cache/object_store.h"
#include "host/cluster/client.h"
#include "host/cycle/handled_fields.h"
#include "host/cycle/schedule_one.h"
#include "host/queue/active_queue.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plan.h"
#include "host/runtime/run_bind.h"
#include "host/runtime/run_queue_sort.h"

namespace berth::host {

// How an attempt ended.
struct AttemptResult {
  PodRef pod;
  Decision decision;
  std::string node;  // Empty unless the pod is bound.
};

// Threading: one thread, the scheduling thread. The client must deliver on it.
// Lifetime:  interner, client and catalogue must outlive it.
class SchedulingLoop {
 public:
  struct Options {
    uint64_t seed = 0;
    // When something happens. Must be set.
    std::function<int64_t()> now_ns;
    // Lets the client deliver answers and events while a binding is under way. Must be set.
    std::function<void()> deliver;
    // Where plugins' log lines go. May be empty.
    std::function<void(uint32_t level, std::string_view plugin, std::string_view message)> log;
    uint32_t log_level = BERTH_LOG_WARN;
    // What columns may hold that no plugin asked for when it was created: those for one resource or
    // one label that some pod wanted.
    size_t idle_column_bytes = size_t{64} << 20;
  };

  // Builds the plan and starts the watches; the first Deliver() of the client fills the cache.
  // Errors: those of Plan::Build.
  static Result<std::unique_ptr<SchedulingLoop>> Create(Interner& interner, Client& client,
                                                        const PluginCatalog& catalog,
                                                        const PlanSpec& spec, Options options);
  ~SchedulingLoop();
  SchedulingLoop(const SchedulingLoop&) = delete;
  SchedulingLoop& operator=(const SchedulingLoop&) = delete;

  // Takes the first pod of the queue through its cycle and, if a node was found, its binding. None:
  // the queue is empty. A pod that was refused leaves the queue until it changes.
  // Must not: be called by who holds an id without a reference to it; the interner may be swept.
  std::optional<AttemptResult> ScheduleNext();

  size_t pending() const { return queue_.size(); }
  Scheduler& scheduler() { return scheduler_; }
  Cache& cache() { return cache_; }
  const Plan& plan() const { return *plan_; }
  // Pods without a node that name another scheduler: nobody's business here.
  size_t others_pending() const { return others_pending_.size(); }

 private:
  class PodSink;
  class NodeSink;
  class ObjectSink;
  // What is needed before there is a plan.
  struct Parts;

  SchedulingLoop(std::unique_ptr<Parts> parts, std::unique_ptr<Plan> plan);

  void StartWatches();
  void OnPod(const WatchEvent& event);
  void OnNode(const WatchEvent& event);
  void NoteOthers(const WatchEvent& event);
  void Enqueue(PodRef pod);
  // False: not in the queue.
  bool TakeFromQueue(std::string_view uid);
  std::string BindPod(PodRef pod, Row row, Decision& decision);
  void TidyUp();

  std::unique_ptr<Parts> parts_;
  Cache& cache_;
  std::unique_ptr<Plan> plan_;
  HandledFields fields_;
  Scheduler scheduler_;
  PluginQueueOrder order_;
  ActiveQueue queue_;
  PodRef changed_in_flight_;  // The pod that is being bound, when it changed meanwhile.
  Id profile_;
  std::set<std::string, std::less<>> others_pending_;  // uids
  std::vector<std::unique_ptr<WatchSink>> sinks_;
  std::vector<std::unique_ptr<Watch>> watches_;  // Go before the sinks.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_SCHEDULING_LOOP_H_
