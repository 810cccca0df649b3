// The binding cycle: what happens to a pod between its attempt and its node.
//
//   pre-flight -> wait on Permit -> PreBind -> Bind -> PostBind
//
// A state machine, not a thread: it goes on when an answer, a timer or a plugin says so.
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
#include "host/cycle/decision_sink.h"
#include "host/cycle/reservation.h"
#include "host/event/timer_queue.h"
#include "host/queue/scheduling_queue.h"
#include "host/runtime/async_call.h"
#include "host/runtime/plugin_ids.h"
#include "host/runtime/run_bind.h"
#include "host/runtime/run_permit.h"
#include "host/runtime/run_pre_bind.h"

namespace berth::host {

// Threading: the scheduling thread.
// Lifetime:  until `finished` was called and its owner has dropped it, which gives everything back
//            unless the pod was bound. Must not be dropped within one of its own functions.
class BindingCycle {
 public:
  struct Env {
    SchedulingQueue& queue;
    Client& client;
    const Clock& clock;
    TimerQueue& timers;
    const AsyncCalls& calls;
    PluginIds& ids;
    DecisionSink& sink;
    // It has ended, one way or the other: drop it soon. Called once, within Start() or later.
    std::function<void(BindingCycle&)> finished;
  };

  enum class State : uint8_t { kWaiting, kPreBind, kBind, kFinished };

  // `waits`: of Permit; none: it goes on at once.
  BindingCycle(const Env& env, std::unique_ptr<Reservation> reservation,
               std::span<const PermitWait> waits);
  ~BindingCycle();
  BindingCycle(const BindingCycle&) = delete;
  BindingCycle& operator=(const BindingCycle&) = delete;

  void Start();
  // It has not been started, and will not be: its reservation is withdrawn when it is dropped.
  void Withdraw() { reservation_->Withdraw(); }

  // ---- While it waits on Permit -----------------------------------------------------------------

  // And nobody has decided about it.
  bool is_waiting() const {
    return state_ == State::kWaiting && !waits_.empty() && !verdict_.has_value();
  }
  // The plugin lets it go; that is decided when all have. The first decision counts, and the time
  // that the plugin had given it does not run out any more.
  void Allow(PluginId plugin);
  // The plugin rejects it: that is decided.
  void Reject(PluginId plugin, std::string_view reason);
  // Why it was; null: it was not, or that has happened.
  const Failure* rejection() const {
    const bool is_rejected = verdict_.has_value() && verdict_->rejection.has_value();
    return is_rejected ? &*verdict_->rejection : nullptr;
  }
  // What was decided happens; without a decision nothing. Not within an attempt.
  void CarryOut();

  // ---- At any time ------------------------------------------------------------------------------

  // The pod is being deleted, or gone.
  void OnPodGoing();
  // The cluster says that it has a node: by us, or by somebody else.
  void OnPodBound();
  // Its place is needed for another: true when it could still be stopped, and it was. The pod backs
  // off and is tried again. One that is on its way back already counts as stopped. (kube-scheduler:
  // PreemptPod)
  bool Preempt(std::string_view reason);
  // The scheduler stops: what waits is given back; what is on its way ends by itself.
  void Stop();
  // Nobody will hear what its plugins answer: they are told, and nothing else happens.
  void Cancel() { reservation_->binding().Cancel(); }

  State state() const { return state_; }
  const PodRef& pod() const { return reservation_->pod(); }
  std::string_view node_name() const { return reservation_->node_name(); }
  const Plan& plan() const { return reservation_->binding().plan(); }

 private:
  struct Wait {
    PluginId plugin;
    std::string name;
    int64_t timeout_ns;
    TimerQueue::Id timer = 0;  // 0: not started.
  };
  // What was decided about a pod that waits.
  struct Verdict {
    std::optional<Failure> rejection;  // None: it may go on.
  };

  void StartTimers();
  void CancelTimers();
  void NominateForExpectation();
  // At once. `plugin`: who says so; none: nobody in particular.
  void RejectNow(std::optional<PluginId> plugin, std::string_view reason);
  void OnPermitted();
  void OnPreBound(const PluginStatus& status);
  void OnAnswer(const PluginStatus& status);
  void OnBound();
  void FailWith(const PluginStatus& status);
  void Fail(Failure failure);
  void Finish();

  Env env_;
  std::unique_ptr<Reservation> reservation_;
  std::vector<Wait> waits_;
  std::vector<uint32_t> skipped_;  // Plugins whose PreBind has nothing to do.
  std::unique_ptr<PreBindRun> pre_bind_;
  std::unique_ptr<BindRun> bind_;
  std::optional<Verdict> verdict_;
  std::optional<std::string> preempted_;  // Why, when its PreBind was cancelled.
  State state_ = State::kWaiting;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_BINDING_CYCLE_H_
