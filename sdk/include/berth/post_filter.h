// PostFilter: tries to make the pod schedulable after no node fitted, for example by preemption.
//
//   berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
//                            const berth::Verdicts& verdicts, berth::PostFilterOut& out);
//
// Called:    plugin by plugin after PreFilter or Filter rejected the pod, until one returns
//            Success, Unresolvable or an error.
// Threading: [cycle].
// Returns:   Success, with a nominated node; Unschedulable or Pending: the next plugin is called.
//            The pod is parked in every case, also after an error.
#ifndef BERTH_POST_FILTER_H_
#define BERTH_POST_FILTER_H_

#include <concepts>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/nodes.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(PostFilter);

namespace berth {
// The Filters' verdicts by row.
class Verdicts {
 public:
  explicit Verdicts(const berth_verdicts& verdicts) : verdicts_(&verdicts) {}

  uint32_t size() const { return verdicts_->count; }
  berth_code Code(uint32_t row) const { return verdicts_->codes[row]; }
  // Returns true where no Filter ran: PreFilter excluded the node, or there is no node.
  bool Absent(uint32_t row) const { return verdicts_->absent[row] != 0; }

 private:
  const berth_verdicts* verdicts_;
};

class PostFilterOut {
 public:
  explicit PostFilterOut(berth_post_filter_out& out) : out_(&out) {}

  // Nominates the pod to this node; an empty name clears the nomination. Without a call the pod
  // keeps its current nomination. The host does not test whether there is a node of this name.
  void Nominate(std::string_view node) { out_->nominate(out_, Str(node)); }

 private:
  berth_post_filter_out* out_;
};

namespace internal {

struct PostFilterPoint {
  static constexpr const char* kId = BERTH_POINT_POST_FILTER;
  template <class P>
  static constexpr bool kNamed = kHasPostFilter<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kFits = requires(P & plugin, Cycle & cycle, const Nodes& all,
                                    const Verdicts& verdicts, PostFilterOut& out) {
      { plugin.PostFilter(cycle, all, verdicts, out) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(
        PostFilter, P, (kFits),
        "expected\n"
        "  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all, "
        "const berth::Verdicts& verdicts, berth::PostFilterOut& out)");
  }

  template <class I>
  struct Table {
    berth_post_filter abi = {sizeof(berth_post_filter), 0, &Call};

    explicit Table(const I& /*instance*/) {}
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_nodes* all,
                           const berth_verdicts* verdicts, berth_post_filter_out* out,
                           berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "PostFilter");
        PostFilterOut results(*out);
        const Status answer =
            instance.plugin().PostFilter(wrapped, Nodes(*all), Verdicts(*verdicts), results);
        return Answer(wrapped, answer, status);
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_POST_FILTER_H_
