// The binding cycle: what happens to a pod after its scheduling cycle, until it is bound.
//
//   PreBindPreFlight -> wait on Permit -> PreBind -> Bind -> PostBind
//
// It is a state machine, not a thread: an answer of a plugin, a timer or a decision of a Permit
// plugin advances it.
//
// kube-scheduler: pkg/scheduler/schedule_one.go, bindingCycle; runtime/waiting_pods_map.go
#ifndef BERTH_HOST_CYCLE_BINDING_CYCLE_H_
#define BERTH_HOST_CYCLE_BINDING_CYCLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/cluster/client.h"
#include "host/cycle/cycle_meter.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/reservation.h"
#include "host/event/timer_queue.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/points/async_call.h"
#include "host/runtime/points/run_bind.h"
#include "host/runtime/points/run_permit.h"
#include "host/runtime/points/run_pre_bind.h"

namespace berth::host {

// Threading: the scheduling thread.
// Lifetime:  the owner destroys it some time after on_finished was called, or earlier. Unless the
//            pod was bound, the destructor of its reservation then undoes everything.
// Must not:  be destroyed within one of its own functions.
class BindingCycle {
 public:
  struct Env {
    SchedulingQueue& queue;
    DecisionWriter& writer;
    const Clock& clock;
    TimerQueue& timers;
    const AsyncCalls& calls;
    DecisionSink& sink;
    CycleMeter* meter = nullptr;  // May be null.
  };
  using FinishedCallback = std::function<void(const BindingCycle& ended)>;

  enum class State : uint8_t { kWaiting, kPreBind, kBind, kFinished };

  // `on_finished` is called once, within Start() or later, when the cycle has ended, successfully
  // or not. `waits`: the plugins that make the pod wait on Permit; if there is none, the pod does
  // not wait.
  // Lifetime: env and on_finished must outlive the binding cycle.
  BindingCycle(const Env& env, const FinishedCallback& on_finished,
               std::unique_ptr<Reservation> reservation, std::span<const PermitWait> waits);
  ~BindingCycle();
  BindingCycle(const BindingCycle&) = delete;
  BindingCycle& operator=(const BindingCycle&) = delete;

  void Start();
  // Makes the destructor undo the reservation without requeueing the pod: see
  // Reservation::SetSilent(). REQUIRES: Start() was not called and will not be.
  void SetSilent() { reservation_->SetSilent(); }

  // ---- Permit -----------------------------------------------------------------------------------

  // Returns true while the pod waits on Permit and no plugin has rejected it.
  bool is_waiting() const {
    return state_ == State::kWaiting && !waits_.empty() && !verdict_.has_value();
  }
  // Returns true while is_waiting() and the plugin has not allowed the pod.
  bool WaitsFor(PluginId plugin) const;
  // Records that the plugin allows the pod, and stops the plugin's timeout. The pod is permitted
  // when all plugins that made it wait have allowed it. No effect unless is_waiting().
  void Allow(PluginId plugin);
  // Records that the plugin rejects the pod. The first rejection counts. No effect unless
  // is_waiting().
  void Reject(PluginId plugin, std::string_view reason);
  // Returns the rejection that Reject() recorded and ApplyVerdict() has not applied yet; otherwise
  // null.
  const Failure* rejection() const {
    const bool is_rejected = verdict_.has_value() && verdict_->rejection.has_value();
    return is_rejected ? &*verdict_->rejection : nullptr;
  }
  // Continues the cycle of a pod that was permitted, or ends the cycle of a pod that was rejected.
  // Does nothing for a pod that still waits.
  // Must not: be called during a scheduling cycle.
  void ApplyVerdict();

  // ---- At any time ------------------------------------------------------------------------------

  // The pod is being deleted, or is gone. A waiting pod is rejected; a pod that is being bound only
  // loses its place on the node, and its binding will fail.
  void OnPodDeleted();
  // The cluster reports that the pod has a node: this scheduler has bound it, or another client. A
  // waiting pod is rejected; otherwise the answer to Bind decides.
  void OnPodBound();
  // Takes the pod's place for a pod of higher priority. Returns true if the binding could be
  // stopped, or had failed already: the pod backs off and is tried again. Returns false if the pod
  // is being bound, or is bound. (kube-scheduler: PreemptPod)
  bool Preempt(std::string_view reason);
  // The scheduler stops: ends the cycle of a pod that waits on Permit, so that the pod goes back to
  // the queue. A pod that is being bound is not affected.
  void Stop();
  // Cancels the plugin calls for this pod: BERTH_IS_CANCELLED becomes true for them. Has no other
  // effect.
  void Cancel() { reservation_->binding().Cancel(); }

  State state() const { return state_; }
  const PodRef& pod() const { return reservation_->pod(); }
  std::string_view node_name() const { return reservation_->node_name(); }
  const Plan& plan() const { return reservation_->binding().plan(); }

 private:
  // A plugin that makes the pod wait.
  struct Wait {
    PluginId plugin;
    std::string name;
    int64_t timeout_ns;
    TimerQueue::Id timer = 0;  // 0: not started.
  };
  // The decision of the plugins about a waiting pod.
  struct PermitVerdict {
    std::optional<Failure> rejection;  // Empty: the pod is permitted.
  };

  // Return the time for a later Observe(); 0 without a meter.
  int64_t Now() const { return env_.meter != nullptr ? env_.meter->NowNs() : 0; }
  // Observes an extension point that began at since_ns_, if there is a meter.
  void Observe(MeteredPoint point, berth_code code);
  // Observes the end of the wait on Permit, if the pod waited.
  void ObserveWait(berth_code code);
  void StartTimers();
  void CancelTimers();
  void NominateForExpectation();
  // Ends the cycle of a waiting pod. `plugin`: the plugin that rejects the pod, if it is one.
  void RejectNow(std::optional<PluginId> plugin, std::string_view reason);
  void RunPreBind();
  void OnPreBindDone(const PluginStatus& status);
  void OnBindDone(const PluginStatus& status);
  void FailWith(const PluginStatus& status);
  void Fail(Failure failure);
  void Finish();

  const Env& env_;
  const FinishedCallback& on_finished_;
  std::unique_ptr<Reservation> reservation_;
  std::vector<Wait> waits_;
  std::vector<uint32_t> skipped_;  // Plugins whose PreBind has nothing to do for this pod.
  std::unique_ptr<PreBindRun> pre_bind_;
  std::unique_ptr<BindRun> bind_;
  std::optional<PermitVerdict> verdict_;
  std::optional<std::string> preempted_;  // The reason, if Preempt() cancelled PreBind.
  State state_ = State::kWaiting;
  int64_t since_ns_ = 0;          // When the extension point that runs began.
  int64_t waiting_since_ns_ = 0;  // When the wait on Permit began; 0 if it is over.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_BINDING_CYCLE_H_
