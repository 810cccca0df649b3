// A scheduler over a cluster in this process, to find out what it decides for pending pods; fills
// the cluster with the objects of a real one.
#ifndef BERTH_HOST_PROCESS_REPLAY_SIMULATION_H_
#define BERTH_HOST_PROCESS_REPLAY_SIMULATION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/base/string_map.h"
#include "host/cluster/kubernetes/watch/live_objects.h"
#include "host/config/host_config.h"
#include "host/cycle/decision_sink.h"
#include "host/event/inbox.h"
#include "host/guard/call_monitor.h"
#include "host/process/assemble/cluster_session.h"
#include "host/process/assemble/profile_set.h"
#include "host/process/replay/embedded_scheduler.h"
#include "host/process/replay/plugin_wait.h"

namespace berth::host {

// The result for one pod that was pending.
struct PodOutcome {
  PodRef pod;
  // Success: the pod is bound to `node`. Skip: the pod is being deleted. Wait: there is no result,
  // because the simulation ended before. Any other code: the result of the pod's last attempt, or
  // of the PreEnqueue plugin that holds the pod back.
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
  // Why Run() returned.
  enum class End : uint8_t {
    kAtRest,        // No pod can be tried again.
    kNoProgress,    // The scheduler is stalled: see StallDetector.
    kLimitReached,  // A limit of timers or threads of plugins was reached: see WaitLimits.
    kStopped,       // `stop` was set.
  };

  // Sets the clock, the decision sink, the waker, the deadline of bindings and what `host` sets in
  // `options.loop`. Without `host`, a binding has a minute. `now_ns`: the wall clock's time, at
  // which the virtual clock starts. `steady_ns`: a monotonic clock in real time, for the deadlines
  // of plugin calls; called on any thread.
  Simulation(SchedulerOptions options, int64_t now_ns, std::function<int64_t()> steady_ns,
             const HostConfig& host = {});
  // Drops the outcomes, whose pods must not outlive the scheduler.
  ~Simulation() override { outcomes_.clear(); }

  LocalCluster& cluster() { return scheduler_.cluster(); }
  const LocalCluster& cluster() const { return scheduler_.cluster(); }

  // Creates the plugins and shows them the cluster. From then on, a watchdog cancels and reports
  // plugin calls that exceed their deadlines, which are real time.
  // Called: once.
  // Errors: those of SchedulerHost::Start.
  Status Start();

  // REQUIRES: Start() succeeded. This applies to every method below.

  SchedulingLoop& loop() { return scheduler_.loop(); }
  // Schedules until no pod is ready and no binding is under way, until nothing but failing attempts
  // are repeated, or until `stop` is not 0. While a pod is pending, it goes on for timers of
  // plugins and for announced work of their threads, up to the limits. Before it ends, it tries the
  // parked pods once more; see EmbeddedScheduler::TryParkedAgain. Calls `progress` after each step,
  // if set. A pod whose attempt failed with an error does not keep the run from ending.
  End Run(const std::function<void()>& progress, const std::atomic<int>& stop);
  // Sets the limits of Run(), whose steady_ns is that of the constructor.
  void SetWaitLimits(WaitLimits limits);
  // Returns what waits; after Run(), what was still waiting at the end.
  StillWaiting Waiting() const { return scheduler_.Waiting(); }
  // Returns the outcomes in the order of the pods' first results, followed by the pods without a
  // result, such as gated ones, by namespace and name. Clears the outcomes.
  std::vector<PodOutcome> TakeOutcomes();
  size_t outcome_count() const { return outcomes_.size(); }
  // See EmbeddedScheduler.
  std::vector<std::string> RejectorsWithoutEvents() const {
    return scheduler_.RejectorsWithoutEvents();
  }

 private:
  SchedulerOptions Complete(SchedulerOptions options, const HostConfig& host);
  // Returns how Run() ends if the scheduler is at rest or stalled, which is `end`; nullopt if it
  // goes on for plugins.
  std::optional<End> EndUnlessAwaited(End end) const;
  // Tries the parked pods once more, unless the run was stopped. Returns false if none is tried.
  bool TryParkedAgain(const std::atomic<int>& stop);
  void OnBound(const PodRef& pod, std::string_view node) override;
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override;
  void OnSkipped(const PodRef& pod, std::string_view message) override;
  void Record(const PodRef& pod, berth_code code, std::string_view message, std::string_view node);

  VirtualClock clock_;
  const std::function<int64_t()> steady_ns_;
  const CallDeadlines deadlines_;
  ThreadWaker waker_;
  std::vector<PodOutcome> outcomes_;
  StringMap<size_t> outcome_of_;  // Indexes of outcomes_, by uid.
  EmbeddedScheduler scheduler_;   // Last: it uses the others.
};

struct LiveClusterRequest {
  ClusterTarget target;
  // Called with the number of objects of a kind so far, on another thread, while LoadLiveCluster()
  // runs. May be empty.
  std::function<void(std::string_view kind, size_t count)> progress = {};
  LogSink* log = nullptr;  // Must be set.
  // Also reads the kinds from which new pods are completed: see Admission.
  bool reads_policies = false;
};

// Reads the pods that have not ended, the nodes, and the objects of the kinds that `users`
// contains, and adds them to the cluster. Sends only GET requests. The lists are read one after the
// other, so that the cluster may change in between.
// Threading: blocks the calling thread, which is that of `cluster`.
// Returns: warnings, one line for each: dangerous settings of the kubeconfig, objects that could
//          not be read or added, kinds that the server does not serve, rules that are missing.
// Errors: those of FindClusterAccess(), KubernetesConnection::Open() and ReadLiveObjects(). Each
//         message of the last one names the server.
Result<std::vector<std::string>> LoadLiveCluster(const LiveClusterRequest& request,
                                                 const KindUsers& users, LocalCluster& cluster);

// Returns the lists to read for the kinds of `users`. `reads_policies`: see LiveClusterRequest.
LiveRequest LiveRequestFor(const KindUsers& users, bool reads_policies = false);

// Adds the objects to the cluster. Returns the warnings of `live`, and one for each object that the
// cluster refuses.
std::vector<std::string> AddLiveObjects(LiveObjects live, LocalCluster& cluster);

// Creates the plugins like TryCreatePlugins(), and lets each profile decide about a pod without
// requests and constraints, on two empty nodes without labels, up to Permit; Reserve is undone. A
// plugin that returns an error there usually returns it for other pods too, for example if the
// profile selects its Filter without the PreFilter that Filter requires.
// `steady_ns`: see Simulation.
// Returns: for each profile the error of its attempt; "" if the pod got a node or was rejected.
// Errors:  those of TryCreatePlugins.
Result<std::vector<std::string>> TryProfiles(std::shared_ptr<const PluginSet> plugins,
                                             std::span<const PlanSpec> specs,
                                             KubeVersion emulated_version,
                                             std::function<int64_t()> steady_ns,
                                             const ReportCrashes& report_crashes);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_SIMULATION_H_
