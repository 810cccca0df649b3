// Fixture of the tests of Filter.
#ifndef BERTH_TESTS_HARNESS_RUN_FILTER_FIXTURE_H_
#define BERTH_TESTS_HARNESS_RUN_FILTER_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/queue/nominator.h"
#include "host/runtime/points/fresh_evaluation.h"
#include "host/runtime/points/run_pre_filter.h"
#include "tests/harness/stage.h"

namespace berth::host {

inline std::string NodeNameIn(const berth_block& block, uint32_t index) {
  return std::string(Text(block.nodes[index]->meta->name));
}

// Calls each(index) for every selected node of the block.
template <class F>
void ForEachSelected(const berth_block& block, F&& each) {
  for (uint32_t k = 0; k < block.n_selected; ++k) {
    each(block.selected == nullptr ? k : block.selected[k]);
  }
}

// Runs PreFilter and Filter, over all nodes or the candidates, and returns the verdicts: "n0 fits,
// n1 puppet.A Unschedulable: full".
inline std::string Outcome(Attempt& attempt, const Nominator& nominator,
                           const Selection* candidates = nullptr) {
  const PreFilterResult pre_filter = RunPreFilter(attempt);
  if (!pre_filter.status.ok()) return TextOf(pre_filter.status);
  if (candidates == nullptr) candidates = &attempt.live_rows();
  FreshEvaluation evaluation;
  const Filtered filtered = evaluation.Filter(attempt, *candidates, nominator);
  if (!filtered.status.ok()) return TextOf(filtered.status);
  std::vector<std::string> rows;
  candidates->ForEachRow([&](Row row) {
    std::string text(attempt.table().node(row)->name());
    if (filtered.feasible->Contains(row)) {
      text += " fits";
    } else {
      const RowVerdict& verdict = filtered.VerdictOf(row);
      const PluginCycle& cycle = attempt.cycle(verdict.plugin);
      text += " " + cycle.plugin().name + " ";
      text += TextOf({verdict.code, {}, cycle.ReasonTexts(verdict.reasons)});
    }
    rows.push_back(std::move(text));
  });
  return Join(rows, ", ");
}

// Plugin A rejects nodes with `limit_` pods or more, and records for which nodes it is called.
class RunFilterTest : public ::testing::Test {
 protected:
  RunFilterTest() {
    a_ = &stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter});
    a_->reasons = {AsStr("full")};
    a_->filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                        berth_status*) {
      ForEachSelected(block, [&](uint32_t i) {
        const bool what_if = cycle.flags == BERTH_CYCLE_NOMINATED;
        stage_.log.push_back(NodeNameIn(block, i) + (what_if ? " what-if " : " ") +
                             std::to_string(block.pods[i].count));
        const bool fits = block.pods[i].count < limit_;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = fits ? 0 : 1;
      });
      return BERTH_SUCCESS;
    };
  }

  PodRef MakePod(const std::string& name, int priority = 0) {
    return stage_.objects().Pod({.name = name, .spec = "\"priority\":" + std::to_string(priority)});
  }
  // Runs Filter over all nodes.
  Filtered Filter(Attempt& attempt) {
    return evaluation_.Filter(attempt, attempt.live_rows(), nominator_);
  }
  Attempt& Begin() { return Begin(MakePod("p")); }
  Attempt& Begin(PodRef pod) {
    if (!built_) stage_.Build();
    built_ = true;
    return stage_.Begin(std::move(pod));
  }
  std::vector<std::string> Take() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  Puppet* a_;
  size_t limit_ = 1;
  Nominator nominator_;
  FreshEvaluation evaluation_;
  bool built_ = false;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_RUN_FILTER_FIXTURE_H_
