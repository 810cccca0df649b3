// Quiesce: a plugin with threads or timers of its own stops them.
//
//   void Quiesce();
//
// A plugin without threads needs no Quiesce: the host stops its timers and its requests.
//
// Called:    once, before the destructor, when no call into the instance is in progress. The host
//            has called every posted function and every open answer before.
// Threading: [load].
// Must not:  call the host, except from the threads that it ends; return before they have ended.
#ifndef BERTH_QUIESCE_H_
#define BERTH_QUIESCE_H_

#include <concepts>

#include <berth/internal/detect.h>
BERTH_INTERNAL_DETECT(Quiesce);

namespace berth::internal {

template <class P>
constexpr void CheckQuiesce() {
  constexpr bool kFits = requires(P & plugin) {
    { plugin.Quiesce() } -> std::same_as<void>;
  };
  BERTH_INTERNAL_CHECK_METHOD(Quiesce, P, (kFits),
                              "expected\n"
                              "  void Quiesce()");
}

}  // namespace berth::internal

#endif  // BERTH_QUIESCE_H_
