// The place of a pod on a node, from the scheduling cycle until the pod is bound.
#ifndef BERTH_HOST_CYCLE_RESERVATION_H_
#define BERTH_HOST_CYCLE_RESERVATION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/cache/node_table.h"
#include "host/cycle/cycle_context.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/failure_handler.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/binding.h"

namespace berth::host {

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
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

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

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_RESERVATION_H_
