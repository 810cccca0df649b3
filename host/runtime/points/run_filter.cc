#include "host/runtime/points/run_filter.h"

#include <algorithm>
#include <utility>

#include "host/runtime/attempt/plugin_error.h"
#include "host/runtime/points/filter_call.h"
#include "host/runtime/points/filter_pass.h"
#include "host/runtime/points/what_if.h"

namespace berth::host {
namespace {

// Consecutive Filters that are called block by block, after a whole Filter.
struct FilterStage {
  uint32_t whole = kNoPlugin;  // Called first; kNoPlugin in the first stage.
  std::vector<uint32_t> in_blocks;
};

// Returns the Filters of this attempt in the order of their calls. At least one stage.
std::vector<FilterStage> StagesOf(const Attempt& attempt) {
  std::vector<FilterStage> stages(1);
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_filter) continue;
    if (FiltersWhole(cycle.plugin())) {
      stages.push_back({use.plugin, {}});
    } else {
      stages.back().in_blocks.push_back(use.plugin);
    }
  }
  return stages;
}

// Filters all candidates. `rejected`: rows that already have a verdict, ascending.
PluginStatus FilterCandidates(Attempt& attempt, std::span<const Row> rejected) {
  const std::vector<FilterStage> stages = StagesOf(attempt);
  FilterPass pass(attempt);
  Selection& passed = attempt.own_feasible;
  PluginStatus status =
      pass.RunInBlocks(stages.front().in_blocks, *attempt.candidates, rejected, passed);
  for (size_t i = 1; i < stages.size() && status.ok() && passed.size() > 0; ++i) {
    const Selection survivors = std::exchange(passed, {});
    status = pass.RunWhole(stages[i].whole, survivors, passed);
    if (!status.ok() || stages[i].in_blocks.empty()) continue;
    const Selection left = std::exchange(passed, {});
    status = pass.RunInBlocks(stages[i].in_blocks, left, {}, passed);
  }
  return status;
}

// Returns the candidates with nominated pods that count against this pod, ascending.
std::vector<Row> RowsWithNominatedPods(const Attempt& attempt, const Nominator& nominator) {
  std::vector<Row> rows;
  nominator.ForEachNode([&](std::string_view node, std::span<const PodRef> nominated) {
    const auto counts = [&attempt](const PodRef& pod) {
      return CountsAgainst(pod->view(), attempt.pod->view());
    };
    if (std::ranges::none_of(nominated, counts)) return;
    const Row row = attempt.table().FindNode(node);
    if (row != kNoRow && attempt.candidates->Contains(row)) rows.push_back(row);
  });
  std::ranges::sort(rows);
  return rows;
}

// Sets `verdict` to that of the row with its nominated pods added.
PluginStatus FilterWithNominated(Attempt& attempt, const Nominator& nominator, Row row,
                                 RowVerdict& verdict) {
  WhatIf what_if(attempt, {&row, 1}, WhatIf::Mode::kApart, BERTH_CYCLE_NOMINATED);
  for (const PodRef& pod : nominator.PodsFor(attempt.table().node(row)->name())) {
    if (!CountsAgainst(pod->view(), attempt.pod->view())) continue;
    if (PluginStatus status = what_if.AddPod(0, pod->view()); !status.ok()) return status;
  }
  PluginStatus status = what_if.RunFilters(kOneIndex, {&verdict, 1});
  if (!status.ok()) return status;
  return verdict.code == BERTH_ERROR ? what_if.error(0) : PluginStatus();
}

}  // namespace

PluginStatus CheckFilters(const Attempt& attempt) {
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_filter) continue;
    if (auto error = QuarantineError(cycle.plugin(), Point::kFilter)) return *std::move(error);
  }
  return {};
}

PluginStatus FilterNominated(Attempt& attempt, const Nominator& nominator,
                             std::vector<Row>& rejected) {
  for (const Row row : RowsWithNominatedPods(attempt, nominator)) {
    RowVerdict verdict;
    PluginStatus status = FilterWithNominated(attempt, nominator, row, verdict);
    if (!status.ok()) return status;
    if (verdict.code == BERTH_SUCCESS) continue;
    attempt.verdicts[row] = verdict;
    rejected.push_back(row);
  }
  return {};
}

PluginStatus RunFilter(Attempt& attempt, const Nominator& nominator) {
  attempt.own_feasible.Clear();
  attempt.feasible = &attempt.own_feasible;
  if (PluginStatus status = CheckFilters(attempt); !status.ok()) return status;
  std::vector<Row> rejected;
  PluginStatus status = FilterNominated(attempt, nominator, rejected);
  return status.ok() ? FilterCandidates(attempt, rejected) : status;
}

}  // namespace berth::host
