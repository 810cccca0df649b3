// A pod that was given a node and is not bound yet.
#ifndef BERTH_HOST_CYCLE_RESERVATION_H_
#define BERTH_HOST_CYCLE_RESERVATION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/cache/cache.h"
#include "host/cycle/decision_sink.h"
#include "host/cycle/failure_handler.h"
#include "host/event/event_router.h"
#include "host/runtime/attempt.h"
#include "host/runtime/binding.h"

namespace berth::host {

// The pod is assumed in the cache, and plugins have reserved for it, or are about to. However it is
// dropped, other than after Commit(), everything is given back by one destructor, in this order:
//
//   Unreserve of every plugin, the last first
//   Forget: its place in the cache is free
//   requeue, with nomination, event and condition (FailureHandler)
//   the event that a free place is to others, and not to the pod itself; whether or not they were
//   told earlier, for what plugins had claimed is free only now. None when the cluster has the pod
//   where we put it.
//
// Upstream tells the others first when the pod failed with an error; nobody can see a difference,
// since such a pod backs off whatever happens.
//
// Threading: the scheduling thread.
// Lifetime:  of one binding cycle. What it was made of must outlive it.
class Reservation {
 public:
  struct Env {
    Cache& cache;
    SchedulingQueue& queue;
    EventRouter& router;
    FailureHandler& failures;
    Attempt& attempt;  // Gets the memory of the cycle state back.
  };

  // Assumes the pod on the row. `binding` holds the pod as it is in the queue, and its cycle state.
  // Errors: those of Cache::AssumePod; then nothing is to be given back.
  static Result<std::unique_ptr<Reservation>> Make(const Env& env, Row row,
                                                   std::unique_ptr<Binding> binding);
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // Why it will be dropped; the first reason counts. Without one the scheduler is stopping: the
  // pod goes back to the queue, and nothing is said of it.
  void Fail(Failure failure);
  // The pod's attempt has ended and others may have been refused meanwhile: they are told when its
  // place becomes free.
  void TellOthers() { tells_others_ = true; }
  // The pod is being deleted, or gone: its place is free at once, whatever becomes of the binding.
  void FreePlace();
  // It is given back without a word: neither the queue nor others are told. For who tries a group,
  // and tells of it as a whole.
  void Withdraw() { withdrawn_ = true; }
  // It is bound: nothing is given back.
  void Commit() { committed_ = true; }
  bool committed() const { return committed_; }

  Binding& binding() { return *binding_; }
  const PodRef& pod() const { return binding_->pod(); }
  std::string_view node_name() const { return binding_->node()->name(); }

 private:
  Reservation(const Env& env, PodRef placed, std::unique_ptr<Binding> binding);

  // True: it was assumed until now.
  bool Forget();
  // The cluster has the pod where we put it.
  bool IsConfirmedHere() const;
  void GiveBack();

  Env env_;
  PodRef placed_;  // As it is in the cache.
  std::unique_ptr<Binding> binding_;
  std::optional<Failure> failure_;
  bool tells_others_ = false;
  bool withdrawn_ = false;
  bool committed_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_RESERVATION_H_
