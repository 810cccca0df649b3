// A scheduler over a cluster in this process, to find out what it decides for pending pods.
#ifndef BERTH_HOST_PROCESS_SIMULATION_H_
#define BERTH_HOST_PROCESS_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/base/virtual_clock.h"
#include "host/cycle/decision_sink.h"
#include "host/event/inbox.h"
#include "host/process/embedded_scheduler.h"

namespace berth::host {

// The result for one pod that was pending.
struct PodOutcome {
  PodRef pod;
  // Success: the pod is bound to `node`. Skip: the pod is being deleted. Any other code: the result
  // of the pod's last attempt, or of the PreEnqueue plugin that holds the pod back.
  berth_code code = BERTH_ERROR;
  std::string message;
  std::string node;
};

// Fill cluster(), call Start(), then Run() or ask scheduler() for single decisions. Pods that are
// added after Start() stand in the queue behind the pods that were added before. The virtual clock
// moves only when nothing else can be done, to the time that pods wait for.
//
// Threading: one thread.
class Simulation final : private DecisionSink {
 public:
  // Sets the clock, the decision sink, the waker and the deadline of bindings in `options.loop`.
  // `now_ns`: the wall clock's time, at which the virtual clock starts.
  Simulation(SchedulerOptions options, int64_t now_ns);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  LocalCluster& cluster() { return scheduler_.cluster(); }
  const LocalCluster& cluster() const { return scheduler_.cluster(); }

  // Creates the plugins and shows them the cluster.
  // Called: once.
  // Errors: those of SchedulerHost::Start.
  Status Start() { return scheduler_.Start(); }

  // REQUIRES: Start() succeeded. This applies to every method below.

  SchedulingLoop& loop() { return scheduler_.loop(); }
  // Schedules until no pod is ready and no binding is under way. Calls `progress` after each
  // attempt, if set. A pod whose attempt failed with an error is not tried again.
  void Run(const std::function<void()>& progress);
  // Returns the outcomes in the order of the pods' first attempts, followed by the gated pods by
  // namespace and name. Clears the outcomes.
  std::vector<PodOutcome> TakeOutcomes();
  size_t outcome_count() const { return outcomes_.size(); }

 private:
  SchedulerOptions Complete(SchedulerOptions options);
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  void Record(const PodRef& pod, berth_code code, std::string_view message, std::string_view node);

  VirtualClock clock_;
  ThreadWaker waker_;
  std::vector<PodOutcome> outcomes_;
  StringMap<size_t> outcome_of_;  // Indexes of outcomes_, by uid.
  EmbeddedScheduler scheduler_;   // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_SIMULATION_H_
