// OnChange: reports every change of the node table to a plugin that maintains its own index.
//
//   void OnChange(const berth::Change& change);
//
// A plugin that declares `static constexpr bool kPendingChanges = true;` also gets the changes of
// pods without a node (BERTH_CHANGE_PENDING_*).
//
// Called:    for every change, in order. A new instance first receives everything that exists
//            (BERTH_CHANGE_FLAG_REPLAY), then BERTH_CHANGE_SYNCED, before its first cycle. A pod
//            may be added before its node, and may remain after its node was removed. A row number
//            is reused only when its node and all its pods were removed and no reservation holds
//            it.
// Threading: [event]; [cycle] for assume and forget.
// Must not:  throw. An index that missed a change is wrong, so after an exception every later call
//            of this instance returns BERTH_BUG.
#ifndef BERTH_CHANGES_H_
#define BERTH_CHANGES_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
BERTH_INTERNAL_DETECT(OnChange);

namespace berth {
using Change = berth_change;

namespace internal {

struct ChangesPoint {
  static constexpr const char* kId = BERTH_POINT_CHANGES;
  template <class P>
  static constexpr bool kNamed = kHasOnChange<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, const Change& change) {
      { plugin.OnChange(change) } -> std::same_as<void>;
    };
    BERTH_INTERNAL_CHECK_METHOD(OnChange, P, (kFits),
                                "expected\n"
                                "  void OnChange(const berth::Change& change)");
    static_assert(kNamed<P> || !P::kPendingChanges,
                  "kPendingChanges requires OnChange in the same class");
  }

  template <class I>
  struct Table {
    berth_changes abi = {sizeof(berth_changes),
                         I::PluginType::kPendingChanges ? uint32_t{BERTH_CHANGES_FLAG_PENDING} : 0,
                         &Call};

    explicit Table(const I& /*instance*/) {}
    static void Call(void* self, const berth_change* change) noexcept {
      I& instance = *static_cast<I*>(self);
      GuardVoid(instance.services, "OnChange", [&] { instance.plugin().OnChange(*change); });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_CHANGES_H_
