// The evaluation that asks the plugins about every node.
#ifndef BERTH_HOST_RUNTIME_POINTS_FRESH_EVALUATION_H_
#define BERTH_HOST_RUNTIME_POINTS_FRESH_EVALUATION_H_

#include <cstdint>
#include <vector>

#include "host/runtime/attempt/evaluation.h"

namespace berth::host {

// Owns the memory of its results, and uses it again in each attempt.
class FreshEvaluation final : public Evaluation {
 public:
  // Which scores a ranking has.
  enum class Scores : uint8_t {
    kTotals,
    kByPlugin,  // Also Ranked::columns(), for reports.
  };
  explicit FreshEvaluation(Scores scores = Scores::kTotals) : scores_(scores) {}

  // Runs the Filters block by block; within a block plugin by plugin, each over the rows that
  // passed the previous one. A whole Filter (BERTH_FILTER_WHOLE) is called once, over the rows of
  // all blocks that passed the Filters before it.
  Filtered Filter(Attempt& attempt, const Selection& candidates,
                  const Nominator& nominator) override;
  Ranked Score(Attempt& attempt, const Filtered& filtered) override;

 private:
  PluginStatus FilterRows(Attempt& attempt, const Selection& candidates,
                          const Nominator& nominator);

  const Scores scores_;
  Selection feasible_;
  std::vector<RejectedRow> rejected_;
  std::vector<int64_t> totals_;
  std::vector<ScoreColumn> columns_;  // One if only totals are needed.
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_POINTS_FRESH_EVALUATION_H_
