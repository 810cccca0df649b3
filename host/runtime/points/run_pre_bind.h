// PreBindPreFlight and PreBind: prepares the binding of the pod.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_PRE_BIND_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_PRE_BIND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/points/async_call.h"

namespace berth::host {

struct PreFlightResult {
  // Success: at least one PreBind plugin has work to do; Skip: none has; otherwise an error.
  PluginStatus status;
  std::vector<uint32_t> skipped;  // Plugins, into Plan::plugins(), whose PreBind is not called.
};

// Calls pre_flight of every PreBind plugin. A plugin that has none counts as having work to do. One
// in quarantine fails the pod, which waits on Permit in vain otherwise; if the quarantine ends
// meanwhile, PreBind would be called without its pre_flight.
// Threading: [bind], on the scheduling thread.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreBindPreFlights)
PreFlightResult RunPreBindPreFlight(Binding& binding);

// Runs the PreBind plugins. Consecutive plugins with BERTH_PRE_BIND_PARALLEL form a group that runs
// at the same time; a plugin without it ends the group, even if it is skipped. The first failure
// ends the run: it cancels the other plugins of its group, and is reported once they have answered.
// Of several failures, the first in the profile's order is reported.
//
// Result:    success; a rejection as the plugin gave it; otherwise an error with
//            `running PreBind plugin "X": ...`, or without a plugin if the binding was cancelled
//            between two groups.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreBindPlugins)
// Threading: the scheduling thread; plugins with BERTH_PLUGIN_BLOCKS_IN_BIND on a pool.
// Lifetime:  `finished` is called exactly once, within Start() or later, and may destroy the run.
//            If the run is destroyed before, it is not called.
class PreBindRun {
 public:
  using Finished = std::function<void(PluginStatus status)>;

  // `skipped`: PreFlightResult::skipped.
  PreBindRun(Binding& binding, const AsyncCalls& calls, std::vector<uint32_t> skipped,
             Finished finished);
  ~PreBindRun();
  PreBindRun(const PreBindRun&) = delete;
  PreBindRun& operator=(const PreBindRun&) = delete;

  void Start();

 private:
  // One plugin of the present group.
  struct Member {
    uint32_t plugin;
    std::unique_ptr<AsyncCall> call;  // Null: not called.
    std::optional<PluginStatus> answer;
  };

  void Continue();
  void FormGroup();
  void StartGroup();
  void OnAnswer(Member& member, PluginStatus status);
  void Finish(PluginStatus status);

  Binding& binding_;
  const AsyncCalls& calls_;
  std::vector<uint32_t> skipped_;
  Finished finished_;
  size_t next_ = 0;  // Into the plan's PreBind plugins.
  std::vector<Member> group_;
  size_t outstanding_ = 0;  // Answers of the group.
  bool has_failed_ = false;
  // The group is being started: answers that come within a call must not start the next group.
  bool is_starting_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_PRE_BIND_H_
