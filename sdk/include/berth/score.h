// Score: rates how well each feasible node suits the pod.
//
//   int64_t Score(const berth::Cycle& cycle, const Node& node) const;
//
// With your own loop, write out[i] for every selected i of the block:
//
//   berth::Status Score(const berth::Cycle& cycle, const berth::Block<Columns>& block,
//                       std::span<int64_t> out) const;
//
// Called:    per block of feasible nodes.
// Threading: [block], on several threads at the same time. With `static constexpr bool kScoreSerial
//            = true`, one block at a time, on the scheduling thread, as kFilterSerial (filter.h).
// Returns:   a raw score. After normalisation every score must be in 0..100; the host multiplies
//            the scores by the plugin's weight and adds them up.
// Must not:  block, log per node, write a node that is not selected, or leave a selected one out.
//
// The host normalises the scores if the class declares `static constexpr berth::Normalize
// kNormalize = ...`. To normalise them in the plugin, implement
//
//   berth::Status NormalizeScore(berth::Cycle& cycle, berth::Scores& scores);
//
// Called:    once, with all raw scores.
// Threading: [cycle].
// Returns:   Success; any other code fails the cycle.
#ifndef BERTH_SCORE_H_
#define BERTH_SCORE_H_

#include <concepts>
#include <cstdint>
#include <span>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/dependence.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/nodes.h>
#include <berth/status.h>
BERTH_INTERNAL_DETECT(Score);
BERTH_INTERNAL_DETECT(NormalizeScore);
BERTH_INTERNAL_DETECT(kNormalize);
BERTH_INTERNAL_DETECT(kScoreSerial);

namespace berth {
enum class Normalize : uint32_t {
  kNone = BERTH_NORMALIZE_NONE,
  kMax = BERTH_NORMALIZE_MAX,                   // 100 * s / max; unchanged when max is 0.
  kMaxReversed = BERTH_NORMALIZE_MAX_REVERSED,  // 100 - 100 * s / max; 100 when max is 0.
  kMinMax = BERTH_NORMALIZE_MIN_MAX,            // 100 * (s - min) / (max - min); 0 when equal.
  // As kMinMax, in double: 100.0 * ((s - min) / (max - min)), rounded down. 29 of 0..100 becomes
  // 28.
  kMinMaxFloat = BERTH_NORMALIZE_MIN_MAX_FLOAT,
};

inline constexpr int64_t kScoreMax = BERTH_SCORE_MAX;

// The raw scores of all feasible nodes, which NormalizeScore replaces by normalised scores.
class Scores {
 public:
  explicit Scores(berth_scores& scores) : scores_(&scores) {}

  uint32_t size() const { return scores_->count; }
  std::span<int64_t> values() { return {scores_->scores, scores_->count}; }
  // Returns the rows, ascending.
  std::span<const uint32_t> rows() const { return {scores_->rows, scores_->count}; }

 private:
  berth_scores* scores_;
};

namespace internal {

template <class P>
concept ScoresNode = requires(const P& plugin, const Cycle& cycle,
                              const NodeRow<typename P::Columns>& node) {
  { plugin.Score(cycle, node) } -> std::same_as<int64_t>;
};
template <class P>
concept ScoresBlock = requires(const P& plugin, const Cycle& cycle,
                               const Block<typename P::Columns>& block, std::span<int64_t> out) {
  { plugin.Score(cycle, block, out) } -> std::same_as<Status>;
};

// The output aliases nothing: see FilterNodes.
template <class P, class C>
void ScoreNodes(const P& plugin, const Cycle& cycle, const Block<C>& block,
                int64_t* __restrict out) {
  block.ForEach([&plugin, &cycle, out](const NodeRow<C>& node) {
    out[node.index()] = plugin.Score(cycle, node);
  });
}

struct ScorePoint {
  static constexpr const char* kId = BERTH_POINT_SCORE;
  template <class P>
  static constexpr bool kNamed = kHasScore<P>;

  template <class P>
  static constexpr void Check() {
    BERTH_INTERNAL_CHECK_METHOD(
        Score, P, (ScoresNode<P> || ScoresBlock<P>),
        "expected one of\n"
        "  int64_t Score(const berth::Cycle& cycle, "
        "const berth::NodeRow<Columns>& node) const\n"
        "  berth::Status Score(const berth::Cycle& cycle, "
        "const berth::Block<Columns>& block, std::span<int64_t> out) const");
    static_assert(!(ScoresNode<P> && ScoresBlock<P>),
                  "implement Score per node or per block, not both");
    constexpr bool kNormalizeFits = requires(P & plugin, Cycle & cycle, Scores & scores) {
      { plugin.NormalizeScore(cycle, scores) } -> std::same_as<Status>;
    };
    BERTH_INTERNAL_CHECK_METHOD(
        NormalizeScore, P, (kNormalizeFits),
        "expected\n"
        "  berth::Status NormalizeScore(berth::Cycle& cycle, berth::Scores& scores)");
    static_assert(!(kHasNormalizeScore<P> && kHaskNormalize<P>),
                  "declare kNormalize or NormalizeScore, not both");
    static_assert(
        kNamed<P> || !(kHasNormalizeScore<P> || kHaskNormalize<P> || kHasScoreDependence<P> ||
                       kHaskScoreDependence<P> || kHaskScoreSerial<P>),
        "kNormalize, NormalizeScore, kScoreSerial, kScoreDependence and ScoreDependence require a "
        "Score method in the same class");
  }

  template <class I>
  struct Table {
    using P = typename I::PluginType;
    berth_score abi = {sizeof(berth_score), 0, BERTH_NORMALIZE_NONE, 0, nullptr, &Call, nullptr};
    berth_dependence dependence = {};

    explicit Table(const I& instance) {
      if constexpr (kHaskScoreSerial<P>) abi.flags = P::kScoreSerial ? BERTH_SCORE_SERIAL : 0;
      if constexpr (kHasNormalizeScore<P>) {
        abi.normalize_mode = BERTH_NORMALIZE_CUSTOM;
        abi.normalize = &NormalizeAll;
      } else if constexpr (kHaskNormalize<P>) {
        abi.normalize_mode = static_cast<uint32_t>(P::kNormalize);
      }
      if constexpr (kHasScoreDependence<P>) {
        Depend(instance.plugin().ScoreDependence());
      } else if constexpr (kHaskScoreDependence<P>) {
        Depend(P::kScoreDependence);
      }
    }
    static berth_code Call(void* self, const berth_cycle* cycle, const berth_block* block,
                           berth_score_out* out, berth_status* status) noexcept {
      const I& instance = *static_cast<const I*>(self);
      return Guard(instance.fault, status, [&]() -> berth_code {
        const Cycle wrapped = instance.Wrap(*cycle, status, "Score");
        const Block<typename P::Columns> nodes(*block);
        if constexpr (ScoresNode<P>) {
          ScoreNodes(instance.plugin(), wrapped, nodes, out->scores);
          return BERTH_SUCCESS;
        } else {
          const std::span<int64_t> scores(out->scores, block->count);
          return Answer(instance.plugin().Score(wrapped, nodes, scores), status);
        }
      });
    }
    static berth_code NormalizeAll(void* self, const berth_cycle* cycle, berth_scores* scores,
                                   berth_status* status) noexcept {
      I& instance = *static_cast<I*>(self);
      return Guard(instance.fault, status, [&] {
        Cycle wrapped = instance.Wrap(*cycle, status, "NormalizeScore");
        Scores all(*scores);
        const Status answer = instance.plugin().NormalizeScore(wrapped, all);
        return Answer(wrapped, answer, status);
      });
    }

   private:
    void Depend(const Dependence& on) {
      dependence = DependenceCalls<I>::OfScore(on);
      abi.dependence = &dependence;
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_SCORE_H_
