// Permit: decides whether the pod is bound now, waits, or is rejected.
//
//   berth::Status Permit(berth::Cycle& cycle, const berth::Target& target,
//                        std::chrono::nanoseconds& timeout);
//
// Called:    after Reserve.
// Threading: [cycle].
// Returns:   Success; Wait, with `timeout` set (15 minutes at most): the pod keeps its place until
//            every plugin that returned Wait allows it (Host::waiting), one plugin rejects it, or
//            the timeout expires; a rejection parks the pod; after Error the pod backs off.
//            A parked pod is tried again after an event of EventsToRegister
//            (enqueue_extensions.h). A plugin without EventsToRegister has its pods tried again
//            after every event except a new pod without a node, and the timeout of one pod is such
//            an event for the others: pods that wait for each other in vain are then tried again
//            and again, and a new member does not requeue them. Register for the events that can
//            complete the group: BERTH_RESOURCE_UNSCHEDULED_POD for a new pod.
#ifndef BERTH_PERMIT_H_
#define BERTH_PERMIT_H_

#include <chrono>
#include <concepts>
#include <cstdint>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(Permit);

namespace berth {
namespace internal {

struct PermitPoint {
  static constexpr const char* kId = BERTH_POINT_PERMIT;
  template <class P>
  static constexpr bool kNamed = kHasPermit<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, Cycle & cycle, const Target& target,
                                    std::chrono::nanoseconds& timeout) {
      { plugin.Permit(cycle, target, timeout) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(
        Permit, P, (kFits),
        "expected\n"
        "  berth::Status Permit(berth::Cycle& cycle, const berth::Target& target, "
        "std::chrono::nanoseconds& timeout)");
  }

  template <class I>
  struct Table {
    berth_permit abi = {sizeof(berth_permit), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_target* target,
                           berth_permit_out* out, berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "Permit");
        std::chrono::nanoseconds timeout{0};
        const Status answer = instance.plugin().Permit(wrapped, Target(*target), timeout);
        out->timeout_ns = timeout.count();
        return Answer(wrapped, answer, status);
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_PERMIT_H_
