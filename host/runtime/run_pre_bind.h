// PreBindPreFlight and PreBind: what must happen before the pod is bound.
#ifndef BERTH_HOST_RUNTIME_RUN_PRE_BIND_H_
#define BERTH_HOST_RUNTIME_RUN_PRE_BIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "host/runtime/async_call.h"
#include "host/runtime/binding.h"
#include "host/runtime/plugin_status.h"

namespace berth::host {

struct PreFlightResult {
  // Success: some PreBind has work to do; Skip: none has; otherwise an error.
  PluginStatus status;
  std::vector<uint32_t> skipped;  // Plugins, into Plan::plugins(), whose PreBind is not called.
};

// Asks every PreBind plugin that has a pre_flight; one without, or in quarantine, has work to do.
// Threading: [bind], on the scheduling thread.
// (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreBindPreFlights)
PreFlightResult RunPreBindPreFlight(Binding& binding);

// PreBind in flight. Plugins that follow each other and allow it run at the same time; one that
// does not, even if it is skipped, ends such a group. The first failure ends it all: it cancels the
// others of its group, and is reported once they have answered. Of several, that counts which comes
// first in the profile.
//
// Finished with: success; a plugin's refusal as it gave it; otherwise an error with
//            `running PreBind plugin "X": ...`, or without a plugin when the binding was cancelled
//            between two groups.
//            (kube-scheduler: pkg/scheduler/framework/runtime/framework.go, RunPreBindPlugins)
// Threading: the scheduling thread; plugins with BERTH_PLUGIN_BLOCKS_IN_BIND on a pool.
// Lifetime:  until `finished` was called, exactly once, within Start() or later. Dropped before, it
//            calls nobody any more.
class PreBindRun {
 public:
  using Finished = std::function<void(PluginStatus status)>;

  // `skipped`: of RunPreBindPreFlight().
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
  size_t outstanding_ = 0;  // Of the group.
  bool has_failed_ = false;
  bool is_starting_ = false;  // The group: answers within the call wait for the rest of it.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_RUN_PRE_BIND_H_
