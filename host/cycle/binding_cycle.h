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
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/cluster/client.h"
#include "host/cycle/cycle_context.h"
#include "host/cycle/cycle_meter.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/failure_handler.h"
#include "host/event/timer_queue.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/async_call.h"
#include "host/runtime/points/run_bind.h"
#include "host/runtime/points/run_permit.h"
#include "host/runtime/points/run_pre_bind.h"

namespace berth::host {

// --- reservation ---------------------------------------------------------------------------------
//
// The place of a pod on a node, from the scheduling cycle until the pod is bound.

// The pod is assumed in the cache, and plugins have reserved for it or are about to. Unless
// Commit() was called, the destructor undoes everything, in this order:
//
//   1. Unreserve of every plugin, the last plugin first.
//   2. Forget: the cache no longer counts the pod on the node.
//   3. Requeue, with nomination, event and condition (FailureHandler).
//   4. An event for other pods, as if the pod had been deleted from the node, if AnnounceRelease()
//      was called. It is needed even if ReleasePlace() has sent one, because only now the claims of
//      the plugins are free. There is no event if the cluster has the pod on this node after all.
//
// kube-scheduler sends the event before it requeues a pod that failed with an error. The effect is
// the same, because such a pod backs off in any case.
//
// Threading: the scheduling thread.
// Lifetime:  from the stage "assume" to the end of the binding cycle. Context and attempt must
//            outlive it.
class Reservation {
 public:
  // Assumes the pod on the row. `binding` holds the pod as it is in the queue, and its cycle state.
  // `attempt` receives the memory of the cycle state for reuse.
  // Errors: those of Cache::AssumePod; then there is nothing to undo.
  static Result<std::unique_ptr<Reservation>> Create(const CycleContext& context, Attempt& attempt,
                                                     Row row, std::unique_ptr<Binding> binding);
  ~Reservation();

  // Sets why the pod does not get the node; the first reason counts. Without a reason (the
  // scheduler stops), the pod goes back to the queue and nothing is reported.
  void SetFailure(Failure failure);
  // Makes the destructor send the event for other pods. To be called when the pod's scheduling
  // cycle ends: from then on other pods may be rejected because of this pod's place.
  void AnnounceRelease() { announces_release_ = true; }
  // Releases the place on the node immediately, because the pod is being deleted or is gone. The
  // binding continues.
  void ReleasePlace();
  // Makes the destructor undo steps 1 and 2 only. For the group cycle, which requeues and reports
  // the group as a whole.
  void SetSilent() { is_silent_ = true; }
  // The pod is bound: the destructor undoes nothing.
  void Commit() { committed_ = true; }
  bool committed() const { return committed_; }

  Binding& binding() { return *binding_; }
  const PodRef& pod() const { return binding_->pod(); }
  std::string_view node_name() const { return binding_->node()->name(); }

 private:
  Reservation(const CycleContext& context, Attempt& attempt, PodRef placed,
              std::unique_ptr<Binding> binding);

  // Removes the assumed pod from the cache. Returns false if the pod is not assumed any more.
  bool Forget();
  // Returns true if the cluster has the pod on this node.
  bool IsConfirmedHere() const;
  void Undo();

  const CycleContext& context_;
  Attempt& attempt_;
  PodRef placed_;  // The pod with the node, as it is in the cache.
  std::unique_ptr<Binding> binding_;
  std::optional<Failure> failure_;
  bool announces_release_ = false;
  bool is_silent_ = false;
  bool committed_ = false;
};

// --- binding cycle -------------------------------------------------------------------------------

// Threading: the scheduling thread.
// Lifetime:  the owner destroys it some time after on_finished was called, or earlier. Unless the
//            pod was bound, the destructor of its reservation then undoes everything.
// Must not:  be destroyed within one of its own functions.
class BindingCycle {
 public:
  using FinishedCallback = std::function<void(const BindingCycle& ended)>;

  enum class State : uint8_t { kWaiting, kPreBind, kBind, kFinished };

  // `on_finished` is called once, within Start() or later, when the cycle has ended, successfully
  // or not. `waits`: the plugins that make the pod wait on Permit; if there is none, the pod does
  // not wait.
  // Lifetime: context and on_finished must outlive the binding cycle.
  BindingCycle(const CycleContext& context, const FinishedCallback& on_finished,
               std::unique_ptr<Reservation> reservation, std::span<const PermitWait> waits);
  ~BindingCycle();

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
  int64_t Now() const { return context_.meter != nullptr ? context_.meter->NowNs() : 0; }
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

  const CycleContext& context_;
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

// --- waiting pods --------------------------------------------------------------------------------
//
// The pods whose scheduling cycle found a node and that are not bound yet.

// Owns the binding cycles: of the pods that wait on Permit, and of the pods that are being bound. A
// binding cycle that has ended stays here until TakeFinished().
//
// A binding cycle is always removed from the map before it is destroyed, because plugins that are
// called for the undoing of its reservation may ask which pods wait.
//
// Threading: the scheduling thread.
// Lifetime:  the context must outlive it.
class WaitingPods {
 public:
  using Map = std::map<std::string, std::unique_ptr<BindingCycle>, std::less<>>;

  explicit WaitingPods(const CycleContext& context);
  ~WaitingPods() { Clear(); }
  WaitingPods(const WaitingPods&) = delete;
  WaitingPods& operator=(const WaitingPods&) = delete;

  // Adds a binding cycle for the pod of the reservation, which the caller starts or rolls back.
  // REQUIRES: the pod is not here. Lifetime of the result: until the cycle is removed.
  BindingCycle& Add(std::unique_ptr<Reservation> reservation, std::span<const PermitWait> waits);
  // Removes a binding cycle that was not started, and undoes its reservation without requeueing the
  // pod. REQUIRES: the pod is here.
  void RollBack(std::string_view uid);

  // Returns null if the pod is not here.
  BindingCycle* Find(std::string_view uid) const;
  // Returns the binding cycles by the uid of the pod.
  const Map& all() const { return bindings_; }
  // Returns the pods that wait on Permit for the plugin, by uid.
  std::vector<PodRef> Waiting(PluginId plugin) const;
  // Returns true if a binding cycle uses plugins of the plan.
  bool Uses(const Plan& plan) const;

  // Removes a binding cycle that has ended. Returns null if there is none. The caller destroys it,
  // which may end others.
  std::unique_ptr<BindingCycle> TakeFinished();
  bool has_finished() const { return !finished_.empty(); }

  // Returns the pods that wait on Permit to the queue, because the scheduler stops; see
  // BindingCycle::Stop().
  void Stop();
  // Cancels the plugin calls of all binding cycles: BERTH_IS_CANCELLED becomes true for them.
  void Cancel();
  // Removes all binding cycles, one after the other, by uid.
  void Clear();

 private:
  const CycleContext& context_;
  const BindingCycle::FinishedCallback on_finished_;
  Map bindings_;
  std::vector<std::string> finished_;  // Uids.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_BINDING_CYCLE_H_
