#include "host/cycle/reservation.h"

#include <utility>

#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/points/run_reserve.h"

namespace berth::host {

Result<std::unique_ptr<Reservation>> Reservation::Create(const CycleContext& context,
                                                         Attempt& attempt, Row row,
                                                         std::unique_ptr<Binding> binding) {
  const PodRef& pod = binding->pod();
  PodRef placed = WithNode(pod, binding->node()->view().name, pod->resource_version());
  if (Status status = context.cache.AssumePod(placed, row); !status.ok()) return status;
  return std::unique_ptr<Reservation>(
      new Reservation(context, attempt, std::move(placed), std::move(binding)));
}

Reservation::Reservation(const CycleContext& context, Attempt& attempt, PodRef placed,
                         std::unique_ptr<Binding> binding)
    : context_(context),
      attempt_(attempt),
      placed_(std::move(placed)),
      binding_(std::move(binding)) {}

void Reservation::SetFailure(Failure failure) {
  if (!failure_.has_value()) failure_ = std::move(failure);
}

// A pod that the cluster has confirmed on a node stays in the cache: it is bound, even if the
// answer to the binding was an error.
bool Reservation::Forget() {
  return context_.cache.IsAssumed(placed_->uid()) && context_.cache.ForgetPod(placed_->uid()).ok();
}

bool Reservation::IsConfirmedHere() const {
  const PodRef there = context_.cache.PodOf(placed_->uid());
  return there != nullptr && !context_.cache.IsAssumed(placed_->uid()) &&
         there->view().node_name == placed_->view().node_name;
}

void Reservation::ReleasePlace() {
  if (Forget()) context_.router.OnAssumedPodForgotten(placed_);
}

Reservation::~Reservation() {
  if (!committed_) Undo();
  attempt_.Recycle(binding_->TakeState());
}

void Reservation::Undo() {
  Metered(attempt_.meter(), MeteredPoint::kUnreserve, [this] {
    RunUnreserve(*binding_);
    return berth_code{BERTH_SUCCESS};
  });
  Forget();
  if (is_silent_) return;
  if (failure_.has_value()) {
    context_.failures.Handle(placed_->uid(), node_name(), *failure_);
  } else {
    context_.queue.Return(placed_->uid(), {});
  }
  if (announces_release_ && !IsConfirmedHere()) context_.router.OnAssumedPodForgotten(placed_);
}

}  // namespace berth::host
