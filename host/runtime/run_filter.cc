#include "host/runtime/run_filter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "host/runtime/filter_call.h"
#include "host/runtime/nodes_view.h"
#include "host/runtime/plugin_error.h"
#include "host/runtime/what_if.h"

namespace berth::host {
namespace {

// Consecutive Filters that are called block by block, after a whole Filter.
struct FilterStage {
  uint32_t whole = kNoPlugin;  // Called first; kNoPlugin in the first stage.
  std::vector<uint32_t> in_blocks;
};

// The memory of one pass over the candidates. Verdicts are indexed by block index.
class FilterPass {
 public:
  explicit FilterPass(Attempt& attempt) : attempt_(attempt), stages_(1) {
    for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
      const PluginCycle& cycle = attempt.cycle(use.plugin);
      if (cycle.skip_filter) continue;
      uses_.push_back(use.plugin);
      if (FiltersWhole(cycle.plugin())) {
        stages_.push_back({use.plugin, {}});
      } else {
        stages_.back().in_blocks.push_back(use.plugin);
      }
    }
  }

  // Returns an error if a plugin is quarantined, before any plugin is called.
  PluginStatus Check() const {
    for (const uint32_t plugin : uses_) {
      auto error = QuarantineError(attempt_.cycle(plugin).plugin(), Point::kFilter);
      if (error.has_value()) return *std::move(error);
    }
    return {};
  }

  // `rejected`: rows that already have a verdict, ascending.
  PluginStatus Run(std::span<const Row> rejected) {
    PluginStatus status = RunInBlocks(stages_.front(), *attempt_.candidates, rejected);
    for (size_t i = 1; i < stages_.size() && status.ok() && attempt_.feasible.size() > 0; ++i) {
      const Selection survivors = std::exchange(attempt_.feasible, {});
      status = RunWhole(stages_[i].whole, survivors);
      if (!status.ok() || stages_[i].in_blocks.empty()) continue;
      const Selection left = std::exchange(attempt_.feasible, {});
      status = RunInBlocks(stages_[i], left, {});
    }
    return status;
  }

 private:
  // Appends the rows that pass the stage's Filters to `feasible`.
  PluginStatus RunInBlocks(const FilterStage& stage, const Selection& from,
                           std::span<const Row> rejected) {
    for (const Selection::Block& block : from.blocks()) {
      PluginStatus status = RunBlock(stage, block, from.SelectedOf(block), rejected);
      if (!status.ok()) return status;
    }
    return {};
  }

  PluginStatus RunBlock(const FilterStage& stage, const Selection::Block& block,
                        std::span<const uint32_t> selected, std::span<const Row> rejected) {
    std::ranges::copy(selected, survivors_.begin());
    n_ = block.n_selected;
    if (!rejected.empty()) {
      const auto has_verdict = [&](uint32_t index) {
        return std::ranges::binary_search(rejected, block.first_row + index);
      };
      const auto end = std::remove_if(survivors_.begin(), survivors_.begin() + n_, has_verdict);
      n_ = static_cast<uint32_t>(end - survivors_.begin());
    }
    for (const uint32_t plugin : stage.in_blocks) {
      if (n_ == 0) return {};
      if (PluginStatus status = RunPlugin(plugin, block); !status.ok()) return status;
    }
    attempt_.feasible.Append(block.first_row, block.count, std::span(survivors_).first(n_));
    return {};
  }

  // Appends the rows that pass the whole Filter to `feasible`.
  PluginStatus RunWhole(uint32_t plugin, const Selection& from) {
    PluginCycle& cycle = attempt_.cycle(plugin);
    const NodesView nodes(cycle, from);
    std::vector<Row> rows;
    rows.reserve(from.size());
    for (const Selection::Block& block : from.blocks()) {
      for (const uint32_t index : from.SelectedOf(block)) rows.push_back(block.first_row + index);
    }
    WholeFilterCall call(attempt_.table());
    if (PluginStatus status = call.Run(cycle, nodes, rows); !status.ok()) return status;
    std::vector<Row> passed;
    for (const Row row : rows) {
      if (call.code(row) == BERTH_SUCCESS) {
        passed.push_back(row);
      } else if (PluginStatus status = Reject(plugin, row, call.code(row), call.reasons(row));
                 !status.ok()) {
        return status;
      }
    }
    attempt_.feasible.AssignRows(attempt_.table(), passed);
    return {};
  }

  PluginStatus RunPlugin(uint32_t plugin, const Selection::Block& block) {
    PluginCycle& cycle = attempt_.cycle(plugin);
    std::fill_n(codes_.begin(), block.count, kUnwrittenVerdict);
    std::fill_n(reasons_.begin(), block.count, uint64_t{0});
    const berth_block view =
        cycle.BlockFor(block.first_row, block.count, std::span(survivors_).first(n_), columns_);
    PluginStatus status = FilterBlock(cycle, view, codes_.data(), reasons_.data());
    if (!status.ok()) return status;
    return AllPassed() ? PluginStatus{} : RemoveRejected(plugin, block.first_row);
  }

  // Returns whether no row was rejected: the common case, without a branch per node.
  bool AllPassed() const {
    if (survivors_[n_ - 1] != n_ - 1) {
      uint8_t any = 0;
      for (uint32_t i = 0; i < n_; ++i) any |= codes_[survivors_[i]];
      return any == BERTH_SUCCESS;
    }
    // The survivors are 0 .. n-1: check eight verdicts at a time.
    uint64_t any = 0;
    uint32_t i = 0;
    for (; i + sizeof(any) <= n_; i += sizeof(any)) {
      uint64_t eight;
      std::memcpy(&eight, &codes_[i], sizeof(eight));
      any |= eight;
    }
    for (; i < n_; ++i) any |= codes_[i];
    return any == BERTH_SUCCESS;
  }

  // Records the verdicts of rejected rows and keeps the others.
  PluginStatus RemoveRejected(uint32_t plugin, Row first_row) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n_; ++i) {
      const uint32_t index = survivors_[i];
      const uint8_t code = codes_[index];
      if (code == BERTH_SUCCESS) {
        survivors_[kept++] = index;
        continue;
      }
      if (PluginStatus status = Reject(plugin, first_row + index, code, reasons_[index]);
          !status.ok()) {
        return status;
      }
    }
    n_ = kept;
    return {};
  }

  // Records the verdict of one row. Returns an error if it is no rejection.
  PluginStatus Reject(uint32_t plugin, Row row, uint8_t code, uint64_t reasons) {
    if (!IsNodeRejection(code)) {
      return NodeFailed(attempt_.cycle(plugin), attempt_.table().node(row)->name(), code, reasons);
    }
    attempt_.verdicts[row] = {reasons, plugin, code};
    return {};
  }

  Attempt& attempt_;
  std::vector<uint32_t> uses_;
  std::vector<FilterStage> stages_;
  std::array<uint32_t, kBlockRows> survivors_;
  uint32_t n_ = 0;
  alignas(64) std::array<uint8_t, kBlockRows> codes_;
  alignas(64) std::array<uint64_t, kBlockRows> reasons_{};
  std::vector<berth_column> columns_;
};

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

FilterFaultLimit::FilterFaultLimit(Attempt& attempt) {
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    limits_.emplace_back(*cycle.plugin().host, cycle.what_if_faults());
  }
}

PluginStatus RunFilter(Attempt& attempt, const Nominator& nominator) {
  attempt.feasible.Clear();
  FilterPass pass(attempt);
  if (PluginStatus status = pass.Check(); !status.ok()) return status;
  std::vector<Row> rejected;
  for (const Row row : RowsWithNominatedPods(attempt, nominator)) {
    RowVerdict verdict;
    PluginStatus status = FilterWithNominated(attempt, nominator, row, verdict);
    if (!status.ok()) return status;
    if (verdict.code == BERTH_SUCCESS) continue;
    attempt.verdicts[row] = verdict;
    rejected.push_back(row);
  }
  return pass.Run(rejected);
}

}  // namespace berth::host
