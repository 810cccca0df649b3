// The binding of a pod to a node: what Unreserve, PreBind, Bind and PostBind get.
#ifndef BERTH_HOST_RUNTIME_ATTEMPT_BINDING_H_
#define BERTH_HOST_RUNTIME_ATTEMPT_BINDING_H_

#include <cstdint>
#include <memory>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/plan/plan.h"
#include "host/runtime/attempt/cycle_state.h"

namespace berth::host {

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

#endif  // BERTH_HOST_RUNTIME_ATTEMPT_BINDING_H_
