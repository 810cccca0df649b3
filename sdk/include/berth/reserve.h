// Reserve: claims what the pod needs apart from the node's resources.
//
//   berth::Status Reserve(berth::Cycle& cycle, const berth::Target& target);
//   void Unreserve(const berth::Binding& binding);   // optional
//
// Called:    Reserve after the pod is assumed on the node. When anything fails from here on,
//            Unreserve is called for all plugins in reverse order, even for plugins whose Reserve
//            was not called: it must be idempotent and cannot fail.
// Threading: [cycle]; Unreserve also [event], after a failed binding.
// Returns:   Success; a rejection parks the pod; after Error the pod backs off.
#ifndef BERTH_RESERVE_H_
#define BERTH_RESERVE_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(Reserve);
BERTH_INTERNAL_DETECT(Unreserve);

namespace berth {
namespace internal {

struct ReservePoint {
  static constexpr const char* kId = BERTH_POINT_RESERVE;
  template <class P>
  static constexpr bool kNamed = kHasReserve<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, Cycle & cycle, const Target& target) {
      { plugin.Reserve(cycle, target) } -> std::same_as<Status>;
    };
    constexpr bool kUnreserveFits = requires(P & plugin, const Binding& binding) {
      { plugin.Unreserve(binding) } -> std::same_as<void>;
    };
    BERTH_INTERNAL_CHECK_METHOD(
        Reserve, P, (kFits),
        "expected\n"
        "  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& target)");
    BERTH_INTERNAL_CHECK_METHOD(Unreserve, P, (kUnreserveFits),
                                "expected\n"
                                "  void Unreserve(const berth::Binding& binding)");
    static_assert(!kHasUnreserve<P> || kNamed<P>, "Unreserve requires Reserve in the same class");
  }

  template <class I>
  struct Table {
    berth_reserve abi = {sizeof(berth_reserve), 0, &Call, &Undo};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_target* target,
                           berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "Reserve");
        const Status answer = instance.plugin().Reserve(wrapped, Target(*target));
        return Answer(wrapped, answer, status);
      });
    }
    static void Undo(void* self, const berth_binding* binding) noexcept {
      if constexpr (kHasUnreserve<typename I::PluginType>) {
        I& instance = *static_cast<I*>(self);
        GuardVoid(instance.services, "Unreserve",
                  [&] { instance.plugin().Unreserve(instance.Wrap(*binding, "Unreserve")); });
      }
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_RESERVE_H_
