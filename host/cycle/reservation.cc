#include "host/cycle/reservation.h"

#include <utility>

#include "host/runtime/attempt/point_meter.h"
#include "host/runtime/points/run_reserve.h"

namespace berth::host {

Result<std::unique_ptr<Reservation>> Reservation::Create(const Env& env, Row row,
                                                         std::unique_ptr<Binding> binding) {
  const PodRef& pod = binding->pod();
  PodRef placed = WithNode(pod, binding->node()->view().name, pod->resource_version());
  if (Status status = env.cache.AssumePod(placed, row); !status.ok()) return status;
  return std::unique_ptr<Reservation>(new Reservation(env, std::move(placed), std::move(binding)));
}

Reservation::Reservation(const Env& env, PodRef placed, std::unique_ptr<Binding> binding)
    : env_(env), placed_(std::move(placed)), binding_(std::move(binding)) {}

void Reservation::SetFailure(Failure failure) {
  if (!failure_.has_value()) failure_ = std::move(failure);
}

// A pod that the cluster has confirmed on a node stays in the cache: it is bound, even if the
// answer to the binding was an error.
bool Reservation::Forget() {
  return env_.cache.IsAssumed(placed_->uid()) && env_.cache.ForgetPod(placed_->uid()).ok();
}

bool Reservation::IsConfirmedHere() const {
  const PodRef there = env_.cache.PodOf(placed_->uid());
  return there != nullptr && !env_.cache.IsAssumed(placed_->uid()) &&
         there->view().node_name == placed_->view().node_name;
}

void Reservation::ReleasePlace() {
  if (Forget()) env_.router.OnAssumedPodForgotten(placed_);
}

Reservation::~Reservation() {
  if (!committed_) Undo();
  env_.attempt.Recycle(binding_->TakeState());
}

void Reservation::Undo() {
  Metered(env_.attempt.meter(), MeteredPoint::kUnreserve, [this] {
    RunUnreserve(*binding_);
    return berth_code{BERTH_SUCCESS};
  });
  Forget();
  if (is_silent_) return;
  if (failure_.has_value()) {
    env_.failures.Handle(placed_->uid(), node_name(), *failure_);
  } else {
    env_.queue.Return(placed_->uid(), {});
  }
  if (announces_release_ && !IsConfirmedHere()) env_.router.OnAssumedPodForgotten(placed_);
}

}  // namespace berth::host
