// Filter: decides which nodes the pod can run on.
//
//   berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const;
//
// Node is berth::NodeRow<Columns>. The SDK writes the loop over the block, and the compiler inlines
// the method into it. To write the loop yourself:
//
//   berth::Status Filter(const berth::Cycle& cycle, const berth::Block<Columns>& block,
//                        berth::FilterOut& out) const;
//
// To decide about all nodes in one call, because a verdict depends on which other nodes remain, or
// on an answer from outside the process, such as that of an HTTP extender:
//
//   berth::Status Filter(const berth::Cycle& cycle, const berth::Nodes& survivors,
//                        berth::FilterWholeOut& out) const;
//
// Called:    per block, for the nodes that no earlier Filter rejected; the last form once, for all
//            of them. It is not called when there are none. With a dependence on the node and its
//            pods alone it may also be called for nodes that an earlier Filter rejects. In a
//            what-if question (cycle.what_if()) and for a node with nominated pods
//            (cycle.nominated()), the `survivors` of the last form are only the rows in question:
//            one row per call, unless the question's rows are together. So a question about 500
//            nodes makes 500 calls.
// Threading: [block], on several threads at the same time. With `static constexpr bool
//            kFilterSerial = true`, one block at a time, on the scheduling thread: the method may
//            then write members of the plugin and of the State that are declared `mutable`, and use
//            code that is not safe for threads. It may be called for a row several times in a
//            cycle, or not at all if the result is reused: without a dependence it is called for
//            each row. The last form: [cycle].
// Returns:   the first form: kPass; Unschedulable, Unresolvable or Pending with reasons; Failed,
//            which fails the cycle. The other forms: Success when every selected node has a
//            verdict; any other code fails the cycle.
// Cost:      the last form is called in each attempt, and so is every Filter after it and every
//            Score, for all nodes that are left: none of their answers is reused. Where a profile
//            without it reuses them, a decision then takes several times as long. Put it last.
// Must not:  block, log per node, write a node that is not selected, or leave a selected one out.
//            The last form may wait until cycle.deadline_ns(); no pod is scheduled meanwhile.
#ifndef BERTH_FILTER_H_
#define BERTH_FILTER_H_

#include <concepts>
#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/dependence.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/nodes.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(Filter);
BERTH_INTERNAL_DETECT(kFilterSerial);

namespace berth {
// The verdicts of a block, by index in the block.
class FilterOut {
 public:
  explicit FilterOut(berth_filter_out& out) : codes_(out.codes), reasons_(out.reasons) {}

  void Set(uint32_t i, Verdict verdict) {
    codes_[i] = verdict.code;
    reasons_[i] = verdict.reasons;
  }
  uint8_t* codes() { return codes_; }
  uint64_t* reasons() { return reasons_; }

 private:
  uint8_t* codes_;
  uint64_t* reasons_;
};

// The verdicts of a Filter that is called for all nodes, by row.
class FilterWholeOut {
 public:
  explicit FilterWholeOut(berth_filter_whole_out& out) : out_(&out) {}

  // Sets the verdict of a survivor: out.Set(node.row(), verdict).
  void Set(uint32_t row, Verdict verdict) {
    out_->codes[row] = verdict.code;
    out_->reasons[row] = verdict.reasons;
  }
  // Adds a reason for this cycle to those in kReasons, and returns its number, for Unschedulable.
  // -1 when all 64 reasons are in use.
  int AddReason(std::string_view text) { return out_->add_reason(out_, Str(text)); }

 private:
  berth_filter_whole_out* out_;
};

namespace internal {

template <class P>
concept FiltersNode = requires(const P& plugin, const Cycle& cycle,
                               const NodeRow<typename P::Columns>& node) {
  { plugin.Filter(cycle, node) } -> std::same_as<Verdict>;
};
template <class P>
concept FiltersBlock = requires(const P& plugin, const Cycle& cycle,
                                const Block<typename P::Columns>& block, FilterOut& out) {
  { plugin.Filter(cycle, block, out) } -> std::same_as<Status>;
};

template <class P>
concept FiltersWhole = requires(const P& plugin, const Cycle& cycle, const Nodes& survivors,
                                FilterWholeOut& out) {
  { plugin.Filter(cycle, survivors, out) } -> std::same_as<Status>;
};

// The outputs alias nothing, so the compiler need not reload what the method reads of the pod, the
// plugin and the state after each store.
template <class P, class C>
void FilterNodes(const P& plugin, const Cycle& cycle, const Block<C>& block,
                 uint8_t* __restrict codes, uint64_t* __restrict reasons) {
  block.ForEach([&plugin, &cycle, codes, reasons](const NodeRow<C>& node) {
    const Verdict verdict = plugin.Filter(cycle, node);
    codes[node.index()] = verdict.code;
    reasons[node.index()] = verdict.reasons;
  });
}

struct FilterPoint {
  static constexpr const char* kId = BERTH_POINT_FILTER;
  template <class P>
  static constexpr bool kNamed = kHasFilter<P>;

  template <class P>
  static constexpr void Check() {
    BERTH_INTERNAL_CHECK_METHOD(Filter, P, (FiltersNode<P> || FiltersBlock<P> || FiltersWhole<P>),
                                "expected one of\n"
                                "  berth::Verdict Filter(const berth::Cycle& cycle, "
                                "const berth::NodeRow<Columns>& node) const\n"
                                "  berth::Status Filter(const berth::Cycle& cycle, "
                                "const berth::Block<Columns>& block, berth::FilterOut& out) const\n"
                                "  berth::Status Filter(const berth::Cycle& cycle, "
                                "const berth::Nodes& survivors, berth::FilterWholeOut& out) const");
    static_assert(FiltersNode<P> + FiltersBlock<P> + FiltersWhole<P> <= 1,
                  "implement Filter per node, per block, or for all nodes: only one of them");
    static_assert(!FiltersWhole<P> || !(kHasFilterDependence<P> || kHaskFilterDependence<P>),
                  "a Filter for all nodes has no dependence: its answers are never reused");
    static_assert(kNamed<P> || !kHaskFilterSerial<P>,
                  "kFilterSerial requires a Filter method in the same class");
    static_assert(!FiltersWhole<P> || !kHaskFilterSerial<P>,
                  "a Filter for all nodes has no kFilterSerial: it is called once");
    static_assert(
        kNamed<P> || !(kHasFilterDependence<P> || kHaskFilterDependence<P>),
        "kFilterDependence and FilterDependence require a Filter method in the same class");
  }

  template <class I>
  struct Table {
    using P = typename I::PluginType;
    berth_filter abi = {sizeof(berth_filter), 0, nullptr, &Call, nullptr};
    berth_dependence dependence = {};

    explicit Table(const I& instance) {
      if constexpr (FiltersWhole<P>) {
        abi.flags = BERTH_FILTER_WHOLE;
        abi.filter = nullptr;
        abi.filter_whole = &CallWhole;
      }
      if constexpr (kHaskFilterSerial<P>) abi.flags = P::kFilterSerial ? BERTH_FILTER_SERIAL : 0;
      if constexpr (kHasFilterDependence<P>) {
        Depend(instance.plugin().FilterDependence());
      } else if constexpr (kHaskFilterDependence<P>) {
        Depend(P::kFilterDependence);
      }
    }
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_block* block,
                           berth_filter_out* out, berth_status* status) noexcept {
      const I& instance = *static_cast<const I*>(self);
      return Guard(instance.fault, status, [&]() -> berth_code {
        const Cycle wrapped = instance.Wrap(*cycle, status, "Filter");
        const Block<typename P::Columns> nodes(*block);
        if constexpr (FiltersNode<P>) {
          FilterNodes(instance.plugin(), wrapped, nodes, out->codes, out->reasons);
          return BERTH_SUCCESS;
        } else if constexpr (FiltersBlock<P>) {
          FilterOut verdicts(*out);
          return Answer(instance.plugin().Filter(wrapped, nodes, verdicts), status);
        } else {
          return BERTH_BUG;  // The host calls CallWhole instead.
        }
      });
    }
    static berth_code CallWhole(void* self, const berth_cycle* cycle, const berth_nodes* survivors,
                                berth_filter_whole_out* out, berth_status* status) noexcept {
      const I& instance = *static_cast<const I*>(self);
      return Guard(instance.fault, status, [&]() -> berth_code {
        const Cycle wrapped = instance.Wrap(*cycle, status, "Filter");
        if constexpr (FiltersWhole<P>) {
          FilterWholeOut verdicts(*out);
          return Answer(instance.plugin().Filter(wrapped, Nodes(*survivors), verdicts), status);
        } else {
          return BERTH_BUG;  // The host calls Call instead.
        }
      });
    }

   private:
    void Depend(const Dependence& on) {
      dependence = DependenceCalls<I>::OfFilter(on);
      abi.dependence = &dependence;
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_FILTER_H_
