// PreFilter: checks the pod before any node is evaluated, and prepares the State.
//
//   berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all,
//                           berth::PreFilterOut& out);
//
// Called:    once per cycle, plugin by plugin.
// Threading: [cycle].
// Returns:   Success; Skip: this plugin's Filter, AddPod and RemovePod are not called in this
//            cycle; Unresolvable: the pod fits on no node, and the remaining PreFilters are not
//            called; Unschedulable: the pod fits on no node, but the remaining PreFilters are
//            called, and PostFilter may ask what-if questions, so emplace the State first;
//            Pending: the attempt ends, and the pod is parked until host.activate() is called for
//            it; any other code fails the cycle.
//
// Return Pending to wait for an answer, such as that of a web service, without holding the
// scheduling thread. The plugin asks on a thread of its own or by a request, keeps the answer, and
// activates the pod: then a new attempt begins, without backoff, and PreFilter answers from what
// was learned. No plugin is called any more in the attempt that ends. The pod has no reservation,
// keeps its nomination, and is reported as waiting for the plugin, with the reason if there is one.
// A change of the pod other than of its status, a reload and five minutes also end the wait; events
// that the plugin registered for do not. Answer a pod that has waited for too long without the
// service: start a timer that activates it.
//
// AddPod and RemovePod update the State, which may be a clone, as if `pod` were added to, or
// removed from, the node. Implement both or neither; without them, the State must not depend on
// other pods.
//
//   berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node);
//   berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node);
//
// Called:    for nominated pods, and during preemption.
// Threading: [cycle].
// Returns:   Success or Error.
#ifndef BERTH_PRE_FILTER_H_
#define BERTH_PRE_FILTER_H_

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/nodes.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(PreFilter);
BERTH_INTERNAL_DETECT(AddPod);
BERTH_INTERNAL_DETECT(RemovePod);

namespace berth {
class PreFilterOut {
 public:
  explicit PreFilterOut(berth_pre_filter_out& out) : out_(&out) {}

  // Restricts the cycle to the named nodes. Names of nodes that do not exist are ignored; the sets
  // of several plugins are intersected. If it is not called, all nodes are considered; with an
  // empty list, none. If one plugin calls it several times, the last call counts.
  void OnlyNodes(std::span<const std::string_view> names) {
    std::vector<berth_str> texts;
    texts.reserve(names.size());
    for (const std::string_view name : names) texts.push_back(Str(name));
    out_->only_nodes(out_, texts.data(), texts.size());
  }
  // Adds a reason for this cycle, such as "Insufficient example.com/gpu", to those in kReasons.
  // Keep the returned number in the State and pass it to Unschedulable. Returns -1 when all 64
  // reasons are in use: a verdict is then still possible, without this reason.
  //
  // With kFilterDependence, pods for which results are reused must get the same number for the same
  // text, because a reused verdict contains numbers, and their texts are those of the new cycle.
  // Add the reasons in an order that depends on nothing else than the declared parts and the
  // signature, such as sorted by text, or add the numbers to the signature.
  int AddReason(std::string_view text) { return out_->add_reason(out_, Str(text)); }

 private:
  berth_pre_filter_out* out_;
};

namespace internal {

struct PreFilterPoint {
  static constexpr const char* kId = BERTH_POINT_PRE_FILTER;
  template <class P>
  static constexpr bool kNamed = kHasPreFilter<P>;

  template <class P>
  static constexpr void Check() {
    using Node = NodeRow<typename P::Columns>;
    constexpr bool kFits =
        requires(P & plugin, Cycle & cycle, const Nodes& all, PreFilterOut& out) {
      { plugin.PreFilter(cycle, all, out) } -> std::same_as<Status>;
    };
    constexpr bool kAddFits =
        requires(P & plugin, Cycle & cycle, const Pod& pod, const Node& node) {
      { plugin.AddPod(cycle, pod, node) } -> std::same_as<Status>;
    };
    constexpr bool kRemoveFits =
        requires(P & plugin, Cycle & cycle, const Pod& pod, const Node& node) {
      { plugin.RemovePod(cycle, pod, node) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(
        PreFilter, P, (kFits),
        "expected\n"
        "  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& all, "
        "berth::PreFilterOut& out)");
    BERTH_INTERNAL_CHECK_METHOD(
        AddPod, P, (kAddFits),
        "expected\n"
        "  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, "
        "const berth::NodeRow<Columns>& node)");
    BERTH_INTERNAL_CHECK_METHOD(
        RemovePod, P, (kRemoveFits),
        "expected\n"
        "  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, "
        "const berth::NodeRow<Columns>& node)");
    static_assert(kHasAddPod<P> == kHasRemovePod<P>,
                  "implement AddPod and RemovePod together, or neither");
    static_assert(!kHasAddPod<P> || kNamed<P>,
                  "AddPod and RemovePod require PreFilter in the same class");
  }

  template <class I>
  struct Table {
    using P = typename I::PluginType;
    berth_pre_filter abi = {sizeof(berth_pre_filter), 0, &Call, nullptr, nullptr};

    explicit Table(const I& /*instance*/) {
      if constexpr (kHasAddPod<P>) {
        abi.add_pod = &AddPod;
        abi.remove_pod = &RemovePod;
      }
    }
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_nodes* all,
                           berth_pre_filter_out* out, berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "PreFilter");
        PreFilterOut results(*out);
        const Status answer = instance.plugin().PreFilter(wrapped, Nodes(*all), results);
        return Answer(wrapped, answer, status);
      });
    }
    static berth_code AddPod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                             const berth_block* block, uint32_t index,
                             berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "AddPod");
        const Block<typename P::Columns> nodes(*block);
        const Status answer = instance.plugin().AddPod(wrapped, Pod(*pod), nodes[index]);
        return Answer(wrapped, answer, status);
      });
    }
    static berth_code RemovePod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                                const berth_block* block, uint32_t index,
                                berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "RemovePod");
        const Block<typename P::Columns> nodes(*block);
        const Status answer = instance.plugin().RemovePod(wrapped, Pod(*pod), nodes[index]);
        return Answer(wrapped, answer, status);
      });
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_PRE_FILTER_H_
