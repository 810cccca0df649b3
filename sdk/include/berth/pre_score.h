// PreScore: prepares the State from the feasible nodes.
//
//   berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& feasible,
//                          const berth::Nodes& all);
//
// Called:    once per cycle, when two or more nodes are feasible.
// Threading: [cycle]: the method may wait for an answer from outside the process, such as that of
//            an HTTP extender, until cycle.deadline_ns(). No pod is scheduled meanwhile. Pending
//            avoids this.
// Returns:   Success; Skip: this plugin's Score is not called in this cycle; Pending: the attempt
//            ends, and the pod is parked until host.activate() is called for it, as pre_filter.h
//            describes: the new attempt begins with PreFilter, and other nodes may be feasible in
//            it; any other code fails the cycle.
#ifndef BERTH_PRE_SCORE_H_
#define BERTH_PRE_SCORE_H_

#include <concepts>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/nodes.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(PreScore);

namespace berth {
namespace internal {

struct PreScorePoint {
  static constexpr const char* kId = BERTH_POINT_PRE_SCORE;
  template <class P>
  static constexpr bool kNamed = kHasPreScore<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, Cycle & cycle, const Nodes& nodes) {
      { plugin.PreScore(cycle, nodes, nodes) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(
        PreScore, P, (kFits),
        "expected\n"
        "  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& feasible, "
        "const berth::Nodes& all)");
  }

  template <class I>
  struct Table {
    berth_pre_score abi = {sizeof(berth_pre_score), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_nodes* feasible,
                           const berth_nodes* all, berth_pre_score_out* /*out*/,
                           berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "PreScore");
        const Status answer = instance.plugin().PreScore(wrapped, Nodes(*feasible), Nodes(*all));
        return Answer(wrapped, answer, status);
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_PRE_SCORE_H_
