// The pods whose scheduling cycle found a node and that are not bound yet.
#ifndef BERTH_HOST_CYCLE_WAITING_PODS_H_
#define BERTH_HOST_CYCLE_WAITING_PODS_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/cycle/binding_cycle.h"

namespace berth::host {

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

#endif  // BERTH_HOST_CYCLE_WAITING_PODS_H_
