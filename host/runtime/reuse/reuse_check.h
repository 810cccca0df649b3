// The check that a reused result equals that of an evaluation of every node: `--check-reuse`.
#ifndef BERTH_HOST_RUNTIME_REUSE_REUSE_CHECK_H_
#define BERTH_HOST_RUNTIME_REUSE_REUSE_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/api/objects.h"
#include "host/guard/point.h"
#include "host/runtime/attempt/attempt.h"
#include "host/runtime/attempt/evaluation.h"

namespace berth::host {

// The first node whose result differs between a reused and a fresh evaluation of one attempt.
struct ReuseDifference {
  std::string text;  // The pod, the node and both results.
  Row row = kNoRow;  // kNoRow if the fresh evaluation fails.
  // The plugin whose answer differs, as an index into Plan::plugins(); kNoPlugin if not known.
  uint32_t plugin = kNoPlugin;
};

// Return the first difference; nullopt if there is none. Verdicts are compared only if no row is
// feasible.
std::optional<ReuseDifference> FindDifference(const Attempt& attempt, const Filtered& reused,
                                              const Filtered& fresh);
// Compares the totals, and which rows are the best. `feasible`: the rows that were scored.
std::optional<ReuseDifference> FindDifference(const Attempt& attempt, const Selection& feasible,
                                              const Ranked& reused, const Ranked& fresh);

// What every plugin answered about the last pod of a class, whose answers are reused for the next.
class CheckedAnswers {
 public:
  // Keeps the pod whose verdicts are right.
  void KeepVerdicts(PodRef pod) { pod_of_verdicts_ = std::move(pod); }
  // Keeps the pod whose scores are right. `fresh`: has Ranked::columns().
  void KeepScores(PodRef pod, const Selection& feasible, const Ranked& fresh);

  // Adds to a difference of scores which plugin scored the row otherwise, and both scores.
  // `fresh`: has Ranked::columns().
  void NamePlugin(const Attempt& attempt, const Selection& feasible, const Ranked& fresh,
                  ReuseDifference& difference) const;
  // Returns the text of the difference, and after it the parts of the pod in which this pod differs
  // from the last one and which the plugin does not declare at `point`.
  std::string Explain(const Attempt& attempt, Point point, const ReuseDifference& difference) const;

 private:
  struct Scores {
    uint32_t plugin;
    std::vector<int64_t> raw;  // In the order of rows_.
  };

  PodRef pod_of_verdicts_;
  PodRef pod_of_scores_;
  std::vector<Row> rows_;  // Ascending.
  std::vector<Scores> scores_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_REUSE_CHECK_H_
