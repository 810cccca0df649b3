// PreBind: does what must happen before the pod is bound, such as attaching a volume or writing an
// allocation.
//
//   berth::Status PreBind(const berth::Binding& binding);                     // done on return; or
//   berth::Status PreBind(const berth::Binding& binding, berth::Done& done);  // may complete later
//   berth::Status PreBindPreFlight(const berth::Binding& binding);            // optional
//
// Called:    after Permit: first PreBindPreFlight, to find out whether there is work to do, then
//            PreBind. Consecutive PreBinds run at the same time if both classes declare `static
//            constexpr bool kPreBindParallel = true`.
// Threading: [bind]; PreBindPreFlight always runs on the scheduling thread and must not block.
// Returns:   PreBindPreFlight: Success, Skip (PreBind is not called) or Error. PreBind: Success;
//            Pending, with `done` moved away: completed later; any other code ends the binding, and
//            the pod backs off.
#ifndef BERTH_PRE_BIND_H_
#define BERTH_PRE_BIND_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/done.h>
#include <berth/internal/completes.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(PreBind);
BERTH_INTERNAL_DETECT(PreBindPreFlight);
BERTH_INTERNAL_DETECT(kPreBindParallel);

namespace berth {
namespace internal {

struct PreBindPoint {
  static constexpr const char* kId = BERTH_POINT_PRE_BIND;
  template <class P>
  static constexpr bool kNamed = kHasPreBind<P>;
  template <class P>
  static constexpr bool kNow = requires(P& plugin, const Binding& binding) {
    { plugin.PreBind(binding) } -> std::same_as<Status>;
  };
  template <class P>
  static constexpr bool kLater = requires(P& plugin, const Binding& binding, Done& done) {
    { plugin.PreBind(binding, done) } -> std::same_as<Status>;
  };

  template <class P>
  static constexpr void Check() {
    BERTH_INTERNAL_CHECK_METHOD(
        PreBind, P, (kNow<P> || kLater<P>),
        "expected one of\n"
        "  berth::Status PreBind(const berth::Binding& binding)\n"
        "  berth::Status PreBind(const berth::Binding& binding, berth::Done& done)");
    static_assert(!(kNow<P> && kLater<P>),
                  "implement PreBind with or without berth::Done, not both");
    constexpr bool kFlightFits = requires(P & plugin, const Binding& binding) {
      { plugin.PreBindPreFlight(binding) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(PreBindPreFlight, P, (kFlightFits),
                                "expected\n"
                                "  berth::Status PreBindPreFlight(const berth::Binding& binding)");
    static_assert(!kHasPreBindPreFlight<P> || kNamed<P>,
                  "PreBindPreFlight requires PreBind in the same class");
    static_assert(!kHaskPreBindParallel<P> || kNamed<P>,
                  "kPreBindParallel requires PreBind in the same class");
  }

  template <class I>
  struct Table {
    using P = typename I::PluginType;
    berth_pre_bind abi = {sizeof(berth_pre_bind), 0, nullptr, &Call};

    explicit Table(const I& /*instance*/) {
      if constexpr (kHaskPreBindParallel<P>) {
        abi.flags = P::kPreBindParallel ? BERTH_PRE_BIND_PARALLEL : 0;
      }
      if constexpr (kHasPreBindPreFlight<P>) abi.pre_flight = &PreFlight;
    }
    static berth_code PreFlight(void* self, const berth_binding* binding,
                                berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        return Answer(
            instance.plugin().PreBindPreFlight(instance.Wrap(*binding, "PreBindPreFlight")),
            status);
      });
    }
    static berth_code Call(void* self, const berth_binding* binding, berth_done done,
                           berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        const Binding wrapped = instance.Wrap(*binding, "PreBind");
        if constexpr (kNow<P>) {
          return AnswerNow(instance.plugin().PreBind(wrapped), status);
        } else {
          return AnswerLater(instance.services, done, status, [&](Done& promise) {
            return instance.plugin().PreBind(wrapped, promise);
          });
        }
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_PRE_BIND_H_
