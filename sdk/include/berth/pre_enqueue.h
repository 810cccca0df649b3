// PreEnqueue: decides whether the pod may enter the active queue.
//
//   berth::Status PreEnqueue(const berth::Pod& pod);            // or
//   berth::Status PreEnqueue(const berth::Queued& queued);      // also attempts and times
//
// PreEnqueue gets each member of a group separately: `queued.pod` is the member, and the attempts
// and times are those of the group.
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
#include <berth/enqueue_extensions.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/pod.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(PreEnqueue);

namespace berth {
namespace internal {

template <class P>
concept PreEnqueuesPod = requires(P& plugin, const Pod& pod) {
  { plugin.PreEnqueue(pod) } -> std::same_as<Status>;
};
template <class P>
concept PreEnqueuesQueued = requires(P& plugin, const Queued& queued) {
  { plugin.PreEnqueue(queued) } -> std::same_as<Status>;
};

struct PreEnqueuePoint {
  static constexpr const char* kId = BERTH_POINT_PRE_ENQUEUE;
  template <class P>
  static constexpr bool kNamed = kHasPreEnqueue<P>;

  template <class P>
  static constexpr void Check() {
    BERTH_INTERNAL_CHECK_METHOD(PreEnqueue, P, (PreEnqueuesPod<P> || PreEnqueuesQueued<P>),
                                "expected one of\n"
                                "  berth::Status PreEnqueue(const berth::Pod& pod)\n"
                                "  berth::Status PreEnqueue(const berth::Queued& queued)");
    static_assert(!(PreEnqueuesPod<P> && PreEnqueuesQueued<P>),
                  "implement PreEnqueue for a pod or for a queued entity, not both");
  }

  template <class I>
  struct Table {
    berth_pre_enqueue abi = {sizeof(berth_pre_enqueue), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_queued* queued, berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        if constexpr (PreEnqueuesPod<typename I::PluginType>) {
          return Answer(instance.plugin().PreEnqueue(Pod(*queued->pod)), status);
        } else {
          return Answer(instance.plugin().PreEnqueue(*queued), status);
        }
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_PRE_ENQUEUE_H_
