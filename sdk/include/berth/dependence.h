// Dependence: declares what the results of Filter or Score depend on, so that the host may reuse
// them.
//
//   static constexpr berth::Dependence kFilterDependence{
//       .cluster = berth::kNodePods, .pod_parts = BERTH_PART(REQUESTS)};
//
// If the dependence varies with the arguments, implement a method instead:
//   berth::Dependence FilterDependence() const;
// kScoreDependence and ScoreDependence do the same for Score. Without a declaration the host never
// reuses a result.
//
// Two optional methods express what a mask of parts cannot:
//   // Returns a hash of everything else that the results depend on, in this pod or in what
//   // PreFilter computed for it, including other nodes and objects. std::nullopt: the results are
//   // not reused. Threading: [cycle].
//   std::optional<uint64_t> Sign(const berth::Cycle& cycle) const;
//   // With kOther: reports what changed for this pod since change number `since`.
//   // Threading: [cycle].
//   berth::Changed ChangedSince(uint64_t since, const berth::Cycle& cycle,
//                               berth::RowSink& rows) const;
#ifndef BERTH_DEPENDENCE_H_
#define BERTH_DEPENDENCE_H_

#include <concepts>
#include <cstdint>
#include <optional>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>

BERTH_INTERNAL_DETECT(FilterDependence);
BERTH_INTERNAL_DETECT(ScoreDependence);
BERTH_INTERNAL_DETECT(kFilterDependence);
BERTH_INTERNAL_DETECT(kScoreDependence);
BERTH_INTERNAL_DETECT(Sign);
BERTH_INTERNAL_DETECT(ChangedSince);

namespace berth {

enum : uint32_t {
  kNode = BERTH_DEPENDS_NODE,                                // The node object.
  kNodePods = BERTH_DEPENDS_NODE | BERTH_DEPENDS_NODE_PODS,  // Also the pods on the node.
  kOther = BERTH_DEPENDS_OTHER,                              // Anything else; combine with `|`.
};

struct Dependence {
  uint32_t cluster = 0;    // kNode, kNodePods, kOther
  uint64_t pod_parts = 0;  // BERTH_PART(REQUESTS) | BERTH_PART(TOLERATIONS)
};

enum class Changed : uint32_t {
  kNone = BERTH_CHANGED_NONE,
  kRows = BERTH_CHANGED_ROWS,  // The rows that were passed to RowSink::Put.
  kAll = BERTH_CHANGED_ALL,
};

// Collects the rows that ChangedSince reports.
class RowSink {
 public:
  RowSink(void (*put)(void*, uint32_t), void* to) : put_(put), to_(to) {}
  void Put(uint32_t row) { put_(to_, row); }

 private:
  void (*put_)(void*, uint32_t);
  void* to_;
};

namespace internal {

template <class P>
concept SignMethod = requires(const P& plugin, const Cycle& cycle) {
  { plugin.Sign(cycle) } -> std::same_as<std::optional<uint64_t>>;
};
template <class P>
concept ChangedSinceMethod = requires(const P& plugin, const Cycle& cycle, RowSink& rows) {
  { plugin.ChangedSince(uint64_t{}, cycle, rows) } -> std::same_as<Changed>;
};
template <class P>
concept FilterDependenceMethod = requires(const P& plugin) {
  { plugin.FilterDependence() } -> std::same_as<Dependence>;
};
template <class P>
concept ScoreDependenceMethod = requires(const P& plugin) {
  { plugin.ScoreDependence() } -> std::same_as<Dependence>;
};

template <class P>
constexpr void CheckDependence() {
  static_assert(!kHasSign<P> || SignMethod<P>,
                "Sign has the wrong signature; expected\n"
                "  std::optional<uint64_t> Sign(const berth::Cycle& cycle) const");
  static_assert(!kHasChangedSince<P> || ChangedSinceMethod<P>,
                "ChangedSince has the wrong signature; expected\n"
                "  berth::Changed ChangedSince(uint64_t since, const berth::Cycle& cycle, "
                "berth::RowSink& rows) const");
  static_assert(!kHasFilterDependence<P> || FilterDependenceMethod<P>,
                "FilterDependence has the wrong signature; expected\n"
                "  berth::Dependence FilterDependence() const");
  static_assert(!kHasScoreDependence<P> || ScoreDependenceMethod<P>,
                "ScoreDependence has the wrong signature; expected\n"
                "  berth::Dependence ScoreDependence() const");
  static_assert(!(kHasFilterDependence<P> && kHaskFilterDependence<P>),
                "declare FilterDependence() or kFilterDependence, not both");
  static_assert(!(kHasScoreDependence<P> && kHaskScoreDependence<P>),
                "declare ScoreDependence() or kScoreDependence, not both");
}

// The functions of a berth_dependence. `self` is an Instance<P>.
template <class I>
struct DependenceCalls {
  using P = typename I::PluginType;

  static berth_code Sign(void* self, const berth_cycle* cycle, uint64_t* signature) noexcept {
    I& instance = *static_cast<I*>(self);
    return Guard(instance.fault, nullptr, [&]() -> berth_code {
      const Cycle wrapped = instance.Wrap(*cycle, nullptr);
      const std::optional<uint64_t> answer = instance.plugin().Sign(wrapped);
      *signature = answer.value_or(0);
      return answer.has_value() ? BERTH_SUCCESS : BERTH_SKIP;
    });
  }
  static uint32_t ChangedSince(void* self, uint64_t since, const berth_cycle* cycle,
                               void (*put_row)(void* to, uint32_t row), void* to) noexcept {
    I& instance = *static_cast<I*>(self);
    uint32_t changed = BERTH_CHANGED_ALL;
    GuardHint(instance.services, "ChangedSince", [&] {
      const Cycle wrapped = instance.Wrap(*cycle, nullptr);
      RowSink rows(put_row, to);
      changed = static_cast<uint32_t>(instance.plugin().ChangedSince(since, wrapped, rows));
    });
    return changed;
  }
  static berth_dependence Fill(const Dependence& from) {
    berth_dependence out = {sizeof(berth_dependence), from.cluster, from.pod_parts, nullptr,
                            nullptr};
    if constexpr (kHasSign<P>) out.sign = &Sign;
    if constexpr (kHasChangedSince<P>) out.changed = &ChangedSince;
    return out;
  }
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_DEPENDENCE_H_
