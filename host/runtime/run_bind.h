// Bind: the pod goes to its node.
#ifndef BERTH_HOST_RUNTIME_RUN_BIND_H_
#define BERTH_HOST_RUNTIME_RUN_BIND_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/runtime/attempt.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

// A binding in flight: asks the Bind plugins in order until one does not skip, and waits for the
// answer of one that is pending.
//
// Finished with: success; a plugin's refusal as it gave it; otherwise an error. What a plugin says
//            after its answer does not count.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunBindPlugins)
// Threading: the scheduling thread.
// Lifetime:  until `finished` was called, which happens exactly once, within Start() or later.
class BindRun {
 public:
  using Finished = std::function<void(PluginStatus status)>;

  // `attempt`'s cycle state must live until `finished`.
  BindRun(Attempt& attempt, const berth_node& node, Finished finished);
  ~BindRun() { Close(); }
  BindRun(const BindRun&) = delete;
  BindRun& operator=(const BindRun&) = delete;

  void Start();

 private:
  berth_code Ask(std::string& reason);
  void Close();
  void Finish(berth_code code, std::string_view reason);

  Attempt& attempt_;
  Finished finished_;
  size_t next_ = 0;  // Into the plan's Bind plugins.
  const uint32_t cancel_ = 0;
  berth_binding binding_{};
  std::shared_ptr<berth_done> done_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_BIND_H_
