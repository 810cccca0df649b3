// The check that a reused result equals that of an evaluation of every node: `--check-reuse`.
#ifndef BERTH_HOST_RUNTIME_REUSE_REUSE_CHECK_H_
#define BERTH_HOST_RUNTIME_REUSE_REUSE_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  // The plugin whose answer differs, as an index into Plan::plugins(); kNoPlugin if not known.
  uint32_t plugin = kNoPlugin;
};

// Return the first difference; nullopt if there is none. Verdicts are compared only if no row is
// feasible; but those of `reused` are named also if some are.
std::optional<ReuseDifference> FindDifference(const Attempt& attempt, const Filtered& reused,
                                              const Filtered& fresh);
// Compares the totals, and which rows are the best. `feasible`: the rows that were scored.
std::optional<ReuseDifference> FindDifference(const Attempt& attempt, const Selection& feasible,
                                              const Ranked& reused, const Ranked& fresh);

// The last pod whose answers were found right. They are reused for the next pod.
class LastChecked {
 public:
  void Keep(PodRef pod) { pod_ = std::move(pod); }
  // Keeps the scores too. `fresh`: has Ranked::columns().
  void Keep(const Attempt& attempt, const Selection& feasible, const Ranked& fresh);

  // Adds to a difference of totals which of `plugins` scores otherwise a row that has not changed
  // since Keep(), and both scores. `plugins`: those whose scores are reused. `fresh`: has
  // Ranked::columns().
  void NamePlugin(const Attempt& attempt, const Selection& feasible, const Ranked& fresh,
                  const std::vector<uint32_t>& plugins, ReuseDifference& difference) const;
  // Returns the text of the difference, and what the plugin may have left out in its declaration at
  // `point`: the parts in which this pod differs from the last one.
  std::string Explain(const Attempt& attempt, Point point, const ReuseDifference& difference) const;

 private:
  struct Scores {
    uint32_t plugin;
    std::vector<int64_t> raw;  // In the order of rows_.
  };

  PodRef pod_;
  uint64_t generation_ = 0;  // The table's.
  std::vector<Row> rows_;    // Ascending.
  std::vector<Scores> scores_;
};

// Returns the name of a part of a pod, BERTH_PART_<name>. REQUIRES: part < BERTH_PART_COUNT.
std::string_view PartName(uint32_t part);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_REUSE_CHECK_H_
