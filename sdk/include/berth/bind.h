// Bind: binds the pod to the node.
//
//   berth::Status Bind(const berth::Binding& binding);                     // bound on return; or
//   berth::Status Bind(const berth::Binding& binding, berth::Done& done);  // may be bound later
//
// Called:    plugin by plugin until one returns another code than Skip.
// Threading: [bind].
// Returns:   Success: the pod is bound; Skip: this plugin does not bind this pod; Pending, with
//            `done` moved away: completed later; any other code ends the binding. To bind through
//            the API server: `return host_.api().Bind(binding, done);`.
#ifndef BERTH_BIND_H_
#define BERTH_BIND_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/done.h>
#include <berth/internal/completes.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(Bind);

namespace berth {
namespace internal {

struct BindPoint {
  static constexpr const char* kId = BERTH_POINT_BIND;
  template <class P>
  static constexpr bool kNamed = kHasBind<P>;
  template <class P>
  static constexpr bool kNow = requires(P& plugin, const Binding& binding) {
    { plugin.Bind(binding) } -> std::same_as<Status>;
  };
  template <class P>
  static constexpr bool kLater = requires(P& plugin, const Binding& binding, Done& done) {
    { plugin.Bind(binding, done) } -> std::same_as<Status>;
  };

  template <class P>
  static constexpr void Check() {
    BERTH_INTERNAL_CHECK_METHOD(
        Bind, P, (kNow<P> || kLater<P>),
        "expected one of\n"
        "  berth::Status Bind(const berth::Binding& binding)\n"
        "  berth::Status Bind(const berth::Binding& binding, berth::Done& done)");
    static_assert(!(kNow<P> && kLater<P>), "implement Bind with or without berth::Done, not both");
  }

  template <class I>
  struct Table {
    using P = typename I::PluginType;
    berth_bind abi = {sizeof(berth_bind), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_binding* binding, berth_done done,
                           berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        const Binding wrapped = instance.Wrap(*binding, "Bind");
        if constexpr (kNow<P>) {
          return AnswerNow(instance.plugin().Bind(wrapped), status);
        } else {
          return AnswerLater(instance.services, done, status, [&](Done& promise) {
            return instance.plugin().Bind(wrapped, promise);
          });
        }
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_BIND_H_
