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
// Optional methods express what a mask of parts cannot:
//   // Returns a signature of everything else that the results of Filter depend on: what PreFilter
//   // computed for the pod, other nodes, objects. std::nullopt: the results are not reused in this
//   // cycle. Host::NewSigner() computes it. SignScore does the same for Score.
//   // Called:    SignFilter after PreFilter, SignScore after PreScore (after PreFilter if there is
//   //            no PreScore); at most once per cycle.
//   // Threading: [cycle].
//   // A result of Filter contains the numbers of its reasons: see PreFilterOut::AddReason.
//   std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const;
//   // With kOther: reports which results for the pod of this cycle may differ from the results in
//   // the state that `token` names, apart from rows that changed themselves where kNode or
//   // kNodePods declares it. The token is the plugin's own, but never 0: for example the number
//   // of the last change that it applied, counted from 1. Replace it by the token of the state
//   // now. If the token is 0 after the call, the results of this cycle are not reused. If it is 0
//   // before the call, there are no results to reuse: the method is called for the token alone,
//   // and its result is ignored. ScoreChanged does the same for Score.
//   // Called:    after SignFilter, with pods that are equal in the named parts and the signature.
//   // Threading: [cycle].
//   berth::Stale FilterChanged(const berth::Cycle& cycle, uint64_t& token,
//                                berth::RowSink& rows) const;
#ifndef BERTH_DEPENDENCE_H_
#define BERTH_DEPENDENCE_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/signer.h>

BERTH_INTERNAL_DETECT(FilterDependence);
BERTH_INTERNAL_DETECT(ScoreDependence);
BERTH_INTERNAL_DETECT(kFilterDependence);
BERTH_INTERNAL_DETECT(kScoreDependence);
BERTH_INTERNAL_DETECT(SignFilter);
BERTH_INTERNAL_DETECT(SignScore);
BERTH_INTERNAL_DETECT(FilterChanged);
BERTH_INTERNAL_DETECT(ScoreChanged);

namespace berth {

enum : uint32_t {
  kNode = BERTH_DEPENDS_NODE,           // The node object.
  kNodePods = BERTH_DEPENDS_NODE_PODS,  // The node object and the pods on the node.
  kOther = BERTH_DEPENDS_OTHER,         // Anything else; combine with `|`.
};

struct Dependence {
  uint32_t cluster = 0;    // kNode, kNodePods, kOther
  uint64_t pod_parts = 0;  // BERTH_PART(REQUESTS) | BERTH_PART(TOLERATIONS)
};

enum class Stale : uint32_t {
  kNone = BERTH_STALE_NONE,
  kRows = BERTH_STALE_ROWS,  // The rows that were put into the RowSink.
  kAll = BERTH_STALE_ALL,
};

// Receives the rows that FilterChanged and ScoreChanged report, in any order.
class RowSink {
 public:
  RowSink(berth_put_rows put, void* to) : put_(put), to_(to) {}
  void Put(uint32_t row) { put_(to_, &row, 1); }
  void Put(std::span<const uint32_t> rows) { put_(to_, rows.data(), rows.size()); }

 private:
  berth_put_rows put_;
  void* to_;
};

namespace internal {

template <class P>
concept FilterDependenceMethod = requires(const P& plugin) {
  { plugin.FilterDependence() } -> std::same_as<Dependence>;
};
template <class P>
concept ScoreDependenceMethod = requires(const P& plugin) {
  { plugin.ScoreDependence() } -> std::same_as<Dependence>;
};

template <class P>
constexpr void CheckDependenceMethods() {
  constexpr bool kSignFilterFits = requires(const P& plugin, const Cycle& cycle) {
    { plugin.SignFilter(cycle) } -> std::same_as<std::optional<Signature>>;
  };
  constexpr bool kSignScoreFits = requires(const P& plugin, const Cycle& cycle) {
    { plugin.SignScore(cycle) } -> std::same_as<std::optional<Signature>>;
  };
  // A method that accepts an rvalue as the token cannot replace the token.
  constexpr bool kFilterTokenIsCopied =
      requires(const P& plugin, const Cycle& cycle, RowSink& rows) {
    plugin.FilterChanged(cycle, uint64_t{}, rows);
  };
  constexpr bool kFilterChangedFits =
      requires(const P& plugin, const Cycle& cycle, uint64_t& token, RowSink& rows) {
    { plugin.FilterChanged(cycle, token, rows) } -> std::same_as<Stale>;
  };
  constexpr bool kScoreTokenIsCopied =
      requires(const P& plugin, const Cycle& cycle, RowSink& rows) {
    plugin.ScoreChanged(cycle, uint64_t{}, rows);
  };
  constexpr bool kScoreChangedFits =
      requires(const P& plugin, const Cycle& cycle, uint64_t& token, RowSink& rows) {
    { plugin.ScoreChanged(cycle, token, rows) } -> std::same_as<Stale>;
  };
  BERTH_INTERNAL_CHECK_METHOD(
      SignFilter, P, (kSignFilterFits),
      "expected\n"
      "  std::optional<berth::Signature> SignFilter(const berth::Cycle& cycle) const");
  BERTH_INTERNAL_CHECK_METHOD(
      SignScore, P, (kSignScoreFits),
      "expected\n"
      "  std::optional<berth::Signature> SignScore(const berth::Cycle& cycle) const");
  BERTH_INTERNAL_CHECK_METHOD(
      FilterChanged, P, (kFilterChangedFits && !kFilterTokenIsCopied),
      "expected\n"
      "  berth::Stale FilterChanged(const berth::Cycle& cycle, uint64_t& token, "
      "berth::RowSink& rows) const");
  BERTH_INTERNAL_CHECK_METHOD(
      ScoreChanged, P, (kScoreChangedFits && !kScoreTokenIsCopied),
      "expected\n"
      "  berth::Stale ScoreChanged(const berth::Cycle& cycle, uint64_t& token, "
      "berth::RowSink& rows) const");
}

template <class P>
constexpr void CheckDependence() {
  CheckDependenceMethods<P>();
  BERTH_INTERNAL_CHECK_METHOD(FilterDependence, P, (FilterDependenceMethod<P>),
                              "expected\n"
                              "  berth::Dependence FilterDependence() const");
  BERTH_INTERNAL_CHECK_METHOD(ScoreDependence, P, (ScoreDependenceMethod<P>),
                              "expected\n"
                              "  berth::Dependence ScoreDependence() const");
  static_assert(!(kHasFilterDependence<P> && kHaskFilterDependence<P>),
                "declare FilterDependence() or kFilterDependence, not both");
  static_assert(!(kHasScoreDependence<P> && kHaskScoreDependence<P>),
                "declare ScoreDependence() or kScoreDependence, not both");
  static_assert(
      kHasFilterDependence<P> || kHaskFilterDependence<P> ||
          !(kHasSignFilter<P> || kHasFilterChanged<P>),
      "SignFilter and FilterChanged require kFilterDependence or FilterDependence(): without a "
      "dependence no result is reused");
  static_assert(
      kHasScoreDependence<P> || kHaskScoreDependence<P> ||
          !(kHasSignScore<P> || kHasScoreChanged<P>),
      "SignScore and ScoreChanged require kScoreDependence or ScoreDependence(): without a "
      "dependence no result is reused");
}

// The functions of a berth_dependence. `self` is an Instance<P>.
template <class I>
struct DependenceCalls {
  using P = typename I::PluginType;

  static berth_dependence OfFilter(const Dependence& from) {
    berth_dependence out = {sizeof(berth_dependence), from.cluster, from.pod_parts, nullptr,
                            nullptr};
    if constexpr (kHasSignFilter<P>) out.sign = &SignFilter;
    if constexpr (kHasFilterChanged<P>) out.changed = &FilterChanged;
    return out;
  }
  static berth_dependence OfScore(const Dependence& from) {
    berth_dependence out = {sizeof(berth_dependence), from.cluster, from.pod_parts, nullptr,
                            nullptr};
    if constexpr (kHasSignScore<P>) out.sign = &SignScore;
    if constexpr (kHasScoreChanged<P>) out.changed = &ScoreChanged;
    return out;
  }

 private:
  template <class Method>
  static berth_code Sign(void* self, const berth_cycle* cycle, const char* name,
                         berth_signature* signature, Method method) noexcept {
    const I& instance = *static_cast<const I*>(self);
    return Guard(instance.fault, nullptr, [&]() -> berth_code {
      const std::optional<Signature> answer =
          method(instance.plugin(), instance.Wrap(*cycle, nullptr, name));
      if (!answer.has_value()) return BERTH_SKIP;
      *signature = {answer->low, answer->high};
      return BERTH_SUCCESS;
    });
  }
  static berth_code SignFilter(void* self, const berth_cycle* cycle,
                               berth_signature* signature) noexcept {
    return Sign(self, cycle, "SignFilter", signature,
                [](const P& plugin, const Cycle& c) { return plugin.SignFilter(c); });
  }
  static berth_code SignScore(void* self, const berth_cycle* cycle,
                              berth_signature* signature) noexcept {
    return Sign(self, cycle, "SignScore", signature,
                [](const P& plugin, const Cycle& c) { return plugin.SignScore(c); });
  }

  // The token stays 0, so that nothing is reused, unless the method returns.
  template <class Method>
  static uint32_t AskChanged(void* self, const berth_cycle* cycle, uint64_t* token,
                             const char* name, Method method) noexcept {
    const I& instance = *static_cast<const I*>(self);
    const uint64_t before = std::exchange(*token, 0);
    // An index that missed a change cannot tell which results are still right.
    if (instance.fault.set()) return BERTH_STALE_ALL;
    Stale changed = Stale::kAll;
    GuardHint(instance.services, name, [&] {
      uint64_t now = before;
      changed = method(instance.plugin(), instance.Wrap(*cycle, nullptr, name), now);
      *token = now;
    });
    return before == 0 ? uint32_t{BERTH_STALE_ALL} : static_cast<uint32_t>(changed);
  }
  static uint32_t FilterChanged(void* self, const berth_cycle* cycle, uint64_t* token,
                                berth_put_rows put_rows, void* to) noexcept {
    RowSink rows(put_rows, to);
    return AskChanged(self, cycle, token, "FilterChanged",
                      [&](const P& plugin, const Cycle& c, uint64_t& now) {
                        return plugin.FilterChanged(c, now, rows);
                      });
  }
  static uint32_t ScoreChanged(void* self, const berth_cycle* cycle, uint64_t* token,
                               berth_put_rows put_rows, void* to) noexcept {
    RowSink rows(put_rows, to);
    return AskChanged(self, cycle, token, "ScoreChanged",
                      [&](const P& plugin, const Cycle& c, uint64_t& now) {
                        return plugin.ScoreChanged(c, now, rows);
                      });
  }
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_DEPENDENCE_H_
