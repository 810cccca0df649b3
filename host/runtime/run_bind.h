// Bind: the pod goes to its node.
#ifndef BERTH_HOST_RUNTIME_RUN_BIND_H_
#define BERTH_HOST_RUNTIME_RUN_BIND_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "host/runtime/async_call.h"
#include "host/runtime/binding.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// Bind in flight: asks the Bind plugins in order until one does not skip, and waits for the answer
// of one that is pending.
//
// Finished with: success; a plugin's refusal as it gave it; otherwise an error with
//            `running Bind plugin "X": ...`, and where all skip, with what the last one said. What
//            a plugin says after its answer does not count.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunBindPlugins)
// Threading: the scheduling thread; plugins with BERTH_PLUGIN_BLOCKS_IN_BIND on a pool.
// Lifetime:  until `finished` was called, which happens exactly once, within Start() or later.
//            Dropped before, it calls nobody any more.
class BindRun {
 public:
  using Finished = std::function<void(PluginStatus status)>;

  BindRun(Binding& binding, const AsyncCalls& calls, Finished finished);
  ~BindRun();
  BindRun(const BindRun&) = delete;
  BindRun& operator=(const BindRun&) = delete;

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

#endif  // BERTH_HOST_RUNTIME_RUN_BIND_H_
