// Bind: binds the pod to its node.
#ifndef BERTH_HOST_RUNTIME_POINTS_RUN_BIND_H_
#define BERTH_HOST_RUNTIME_POINTS_RUN_BIND_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/plugin_status.h"
#include "host/runtime/points/async_call.h"

namespace berth::host {

// Runs the Bind plugins in order until one does not skip, and waits for pending answers.
//
// Result:    success; a rejection as the plugin gave it; otherwise an error with
//            `running Bind plugin "X": ...` or, if all plugins skip, with the reasons of the last
//            one. Later answers of a plugin that has answered are ignored.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunBindPlugins)
// Threading: the scheduling thread; plugins with BERTH_PLUGIN_BLOCKS_IN_BIND on a pool.
// Lifetime:  `finished` is called exactly once, within Start() or later, and may destroy the run.
//            If the run is destroyed before, it is not called.
class BindRun {
 public:
  using Finished = std::function<void(PluginStatus status)>;

  BindRun(Binding& binding, const AsyncCalls& calls, Finished finished);
  ~BindRun();

  void Start();

 private:
  void OnAnswer(PluginStatus status);
  void Finish(PluginStatus status);

  Binding& binding_;
  const AsyncCalls& calls_;
  Finished finished_;
  size_t next_ = 0;  // Into the plan's Bind plugins.
  std::unique_ptr<AsyncCall> call_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_RUN_BIND_H_
