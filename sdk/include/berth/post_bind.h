// PostBind: notifies the plugin that the pod is bound, so that it can clean up or record the
// binding.
//
//   void PostBind(const berth::Binding& binding);
//
// Called:    once, after Bind succeeded.
// Threading: [event].
#ifndef BERTH_POST_BIND_H_
#define BERTH_POST_BIND_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
BERTH_INTERNAL_DETECT(PostBind);

namespace berth {
namespace internal {

struct PostBindPoint {
  static constexpr const char* kId = BERTH_POINT_POST_BIND;
  template <class P>
  static constexpr bool kNamed = kHasPostBind<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, const Binding& binding) {
      { plugin.PostBind(binding) } -> std::same_as<void>;
    };
    BERTH_INTERNAL_CHECK_METHOD(PostBind, P, (kFits),
                                "expected\n"
                                "  void PostBind(const berth::Binding& binding)");
  }

  template <class I>
  struct Table {
    berth_post_bind abi = {sizeof(berth_post_bind), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static void Call(void* self, const berth_binding* binding) noexcept {
      I& instance = *static_cast<I*>(self);
      GuardVoid(instance.services, "PostBind",
                [&] { instance.plugin().PostBind(instance.Wrap(*binding, "PostBind")); });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_POST_BIND_H_
