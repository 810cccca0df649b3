// A pod on its way to the node that it was given: what Unreserve, PreBind, Bind and PostBind get.
#ifndef BERTH_HOST_RUNTIME_BINDING_H_
#define BERTH_HOST_RUNTIME_BINDING_H_

#include <cstdint>
#include <memory>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/runtime/cycle_state.h"
#include "host/runtime/plan.h"

namespace berth::host {

// Holds pod, node and cycle state, so that the next pod's attempt may begin.
//
// What plugins are shown of it outlives it where a plugin was called and has not answered: it is
// freed when it does, or with the plan. See Keep().
//
// Threading: made and destroyed on the scheduling thread; read by pool threads in between.
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
  // As `plugin` (into Plan::plugins()) sees it.
  const berth_binding* AbiFor(uint32_t plugin) const;

  // The answers are no longer wanted, the present ones and those to come: BERTH_CANCELED becomes
  // true for every plugin.
  void Cancel();
  bool cancelled() const { return cancelled_; }
  // The answer of this plugin's present call is no longer wanted.
  void CancelCall(uint32_t plugin);
  // Before each call of a plugin under [bind]: what was said of the one before is forgotten.
  void BeginCall(uint32_t plugin);
  // What BERTH_CANCELED reads of the plugin's calls. Lifetime: that of what Keep() keeps.
  uint32_t* CancelWordOf(uint32_t plugin);
  // berth_binding.deadline_ns as the plugin sees it; 0: none. Written by who calls, before the
  // call and after it. Lifetime: that of what Keep() keeps.
  int64_t* DeadlineFor(uint32_t plugin);

  // Keeps alive what AbiFor() shows, cycle state included.
  // Threading: given back on the scheduling thread, since slots are destroyed there.
  std::shared_ptr<const void> Keep() const;
  // The memory of the cycle state, for Attempt::Recycle(). Null while somebody keeps it.
  // REQUIRES: no plugin is called with this binding any more.
  std::unique_ptr<CycleState> TakeState();

 private:
  struct Body;

  const Plan& plan_;
  std::shared_ptr<Body> body_;
  bool cancelled_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_BINDING_H_
