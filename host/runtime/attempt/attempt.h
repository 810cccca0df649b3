// One attempt to schedule a pod: what its calls of plugins share; and the binding of its pod.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_ATTEMPT_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_ATTEMPT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/cache/node_table.h"
#include "host/guard/call_monitor.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/attempt/selection.h"

namespace berth::host {

class PointMeter;

// The pod, the cycle state, and one PluginCycle for each plugin; reused for every pod, so that a
// cycle allocates almost nothing. The stages return their results as values: PreFilterResult,
// Filtered, Ranked.
//
// Threading: the scheduling thread.
class Attempt {
 public:
  Attempt(const Plan& plan, NodeTable& table);
  ~Attempt();

  // Clears the last attempt and constructs the plugins' cycle state for this one.
  void Begin(PodRef pod, uint64_t id);
  // Destroys the cycle state, unless it was taken. Texts of reasons stay readable until the next
  // Begin().
  void End();

  // Transfers the cycle state to the pod's binding. Plugins are still called with it in this
  // attempt, so that it must live until the last of these calls. REQUIRES: between Begin() and
  // End().
  std::unique_ptr<CycleState> TakeState();
  // Returns the cycle state. REQUIRES: between Begin() and End(), and it was not taken.
  const CycleState& state() const;
  // Destroys the slots of a state that was taken, and keeps its memory for a later attempt. `state`
  // may be null.
  void Recycle(std::unique_ptr<CycleState> state);

  // Sets what observes the attempts from the next one on; null for none.
  void SetMeter(PointMeter* meter) { meter_ = meter; }
  PointMeter* meter() const { return meter_; }

  PluginCycle& cycle(uint32_t plugin) { return *cycles_[plugin]; }
  const PluginCycle& cycle(uint32_t plugin) const { return *cycles_[plugin]; }
  const Plan& plan() const { return plan_; }
  NodeTable& table() const { return table_; }
  const Selection& live_rows() const { return live_rows_; }
  const PodRef& pod() const { return pod_; }

  // Forbids what-if questions, because PreFilter ended before every plugin was called: the Filters
  // of those that were left out would read slots that no PreFilter has prepared.
  void ForbidWhatIf() { allows_what_if_ = false; }
  bool allows_what_if() const { return allows_what_if_; }
  // Returns the first call of this attempt that was late. REQUIRES: between Begin() and End().
  std::optional<LateCall> FirstLateCall() const {
    return monitor_ == nullptr ? std::nullopt : monitor_->LateCallOfAttempt();
  }

 private:
  void BeginState();
  void RefreshLiveRows();
  // Counts the points at which each plugin was called.
  void CountCalls();

  const Plan& plan_;
  NodeTable& table_;
  PodRef pod_;
  bool allows_what_if_ = true;
  std::vector<std::unique_ptr<PluginCycle>> cycles_;
  std::unique_ptr<CycleState> state_;  // Null between attempts and after TakeState().
  std::vector<std::unique_ptr<CycleState>> spare_states_;
  Selection live_rows_;
  uint64_t live_generation_ = UINT64_MAX;
  PointMeter* meter_ = nullptr;
  CallMonitor* monitor_ = nullptr;  // Null: calls are not monitored.
  uint32_t cancel_ = 0;             // BERTH_IS_CANCELLED. Set by the monitor while a call is late.
};

// --- binding -------------------------------------------------------------------------------------
//
// The binding of a pod to a node: what Unreserve, PreBind, Bind and PostBind get.

// The calls that get a berth_binding. Each has one of its own, with its own cancel word and
// deadlines, because a thread of the plugin may still read the one of an earlier call.
enum class BindingCall : uint8_t { kPreFlight, kPreBind, kBind, kEnd };  // kEnd: see Binding.

// Holds pod, node and cycle state, so that the next pod's attempt may begin.
//
// If a plugin was called and has not answered, the objects that were passed to it outlive the
// binding, until the plugin answers or the plan is destroyed. See Keep().
//
// Threading: created and destroyed on the scheduling thread; read by threads of the pool in
//            between.
// Lifetime:  until the pod has left the binding cycle. The plan must outlive it.
class Binding {
 public:
  Binding(const Plan& plan, PodRef pod, NodeRef node, std::unique_ptr<CycleState> state);
  ~Binding();
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  const Plan& plan() const { return plan_; }
  const PodRef& pod() const;
  const NodeRef& node() const;
  // Returns what a call of `plugin`, an index into Plan::plugins(), gets. kEnd is Unreserve or
  // PostBind, which are never cancelled. The caller of the plugin writes the deadlines before the
  // call, and nothing writes them afterwards; 0 means no deadline. Each call is made once at most.
  // REQUIRES: the plugin has the function in this plan. Lifetime: that of the result of Keep().
  berth_binding* AbiFor(uint32_t plugin, BindingCall call) const;

  // Cancels the present and later calls of all plugins, except kEnd: BERTH_IS_CANCELLED becomes
  // true for them.
  void Cancel();
  bool cancelled() const { return cancelled_; }
  void CancelCall(uint32_t plugin, BindingCall call);
  // Returns the word that BERTH_IS_CANCELLED reads in this call. Lifetime: that of the result of
  // Keep().
  uint32_t* CancelWordOf(uint32_t plugin, BindingCall call);

  // Returns a reference that keeps everything alive that AbiFor() shows, including the cycle state.
  // Threading: must be released on the scheduling thread, since slots are destroyed there.
  std::shared_ptr<const void> Keep() const;
  // Returns the cycle state, for Attempt::Recycle(); null while a result of Keep() exists.
  // REQUIRES: no plugin is called with this binding afterwards.
  std::unique_ptr<CycleState> TakeState();

 private:
  struct Call;
  struct Body;

  const Plan& plan_;
  std::shared_ptr<Body> body_;
  bool cancelled_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_ATTEMPT_H_
