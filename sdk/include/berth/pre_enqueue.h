// PreEnqueue: decides whether the pod may enter the active queue.
//
//   berth::Status PreEnqueue(const berth::Pod& pod);
//
// Called:    when a pod is about to become ready, and again after an event that the plugin
//            registered for.
// Threading: [queue].
// Returns:   Success; Unschedulable, Unresolvable or Pending: the pod is gated and not attempted
//            until an event that this plugin registered for, a change of the pod itself or
//            Host::activate requeues it; Error: the pod is gated, and the error is logged.
// Must not:  block.
#ifndef BERTH_PRE_ENQUEUE_H_
#define BERTH_PRE_ENQUEUE_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/pod.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(PreEnqueue);

namespace berth {
namespace internal {

struct PreEnqueuePoint {
  static constexpr const char* kId = BERTH_POINT_PRE_ENQUEUE;
  template <class P>
  static constexpr bool kNamed = kHasPreEnqueue<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, const Pod& pod) {
      { plugin.PreEnqueue(pod) } -> std::same_as<Status>;
    };
    static_assert(!kNamed<P> || kFits,
                  "PreEnqueue has the wrong signature; expected\n"
                  "  berth::Status PreEnqueue(const berth::Pod& pod)");
  }

  template <class I>
  struct Table {
    berth_pre_enqueue abi = {sizeof(berth_pre_enqueue), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_pod* pod, berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status,
                   [&] { return Answer(instance.plugin().PreEnqueue(Pod(*pod)), status); });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_PRE_ENQUEUE_H_
