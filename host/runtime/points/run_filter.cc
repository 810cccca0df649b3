#include "host/runtime/points/run_filter.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace berth::host {
namespace {

int32_t AddWholeReason(berth_filter_whole_out* self, berth_str text) noexcept {
  auto& cycle = *static_cast<PluginCycle*>(self->impl);
  return cycle.AddReason(IsNull(text) ? NullReason(cycle.plugin().name) : KeptReason(Text(text)));
}

}  // namespace

// --- the Filters of an attempt -------------------------------------------------------------------

bool FiltersWhole(const PlannedPlugin& plugin) {
  return (plugin.instance->filter()->flags & BERTH_FILTER_WHOLE) != 0;
}

bool HasWholeFilter(const Attempt& attempt) {
  return std::ranges::any_of(attempt.plan().At(Point::kFilter), [&](const PlannedUse& use) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    return !cycle.skip_filter && FiltersWhole(cycle.plugin());
  });
}

std::vector<FilterStage> FilterStages(const Attempt& attempt) {
  std::vector<FilterStage> stages(1);
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_filter) continue;
    if (FiltersWhole(cycle.plugin())) {
      stages.push_back({.whole = use.plugin});
    } else {
      stages.back().in_blocks.push_back(use.plugin);
    }
  }
  return stages;
}

PluginStatus CheckFilters(const Attempt& attempt) {
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    const PluginCycle& cycle = attempt.cycle(use.plugin);
    if (cycle.skip_filter) continue;
    if (auto error = QuarantineError(cycle.plugin(), Point::kFilter)) return *std::move(error);
  }
  return {};
}

FilterFaultLimits::FilterFaultLimits(Attempt& attempt) {
  for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    limits_.emplace_back(*cycle.plugin().host, cycle.what_if_faults());
  }
}

// --- one plugin ----------------------------------------------------------------------------------

PluginStatus FilterBlock(PluginCycle& cycle, const berth_block& block, BlockVerdicts& verdicts) {
  std::fill_n(verdicts.codes.begin(), block.count, kUnwrittenVerdict);
  std::fill_n(verdicts.reasons.begin(), block.count, uint64_t{0});
  // The plugin gets a berth_filter_out of its own, because it may change the pointers.
  berth_filter_out out{.struct_size = sizeof(berth_filter_out),
                       .reserved = 0,
                       .codes = verdicts.codes.data(),
                       .reasons = verdicts.reasons.data()};
  const PluginAnswer answer =
      Invoke(cycle, Point::kFilter, [&](auto& instance, auto* abi, berth_status* status) {
        return instance.filter()->filter(instance.self(), abi, &block, &out, status);
      });
  return answer.ok() ? PluginStatus() : AnswerError(cycle.plugin(), Point::kFilter, answer);
}

PluginStatus FilterWhole(PluginCycle& cycle, const NodeTable& table, const PassedNodes& survivors,
                         std::span<const Row> rows, WholeVerdicts& verdicts) {
  verdicts.codes.resize(table.row_count());
  verdicts.reasons.resize(table.row_count());
  for (const Row row : rows) {
    verdicts.codes[row] = kUnwrittenVerdict;
    verdicts.reasons[row] = 0;
  }
  berth_filter_whole_out out{.struct_size = sizeof(berth_filter_whole_out),
                             .row_count = table.row_count(),
                             .codes = verdicts.codes.data(),
                             .reasons = verdicts.reasons.data(),
                             .impl = &cycle,
                             .add_reason = AddWholeReason};
  const PluginAnswer answer = Invoke(
      cycle, Point::kFilter,
      [&](auto& instance, auto* abi, berth_status* status) {
        return instance.filter()->filter_whole(instance.self(), abi, survivors.abi(), &out, status);
      },
      kCycleWord);
  return answer.ok() ? PluginStatus() : AnswerError(cycle.plugin(), Point::kFilter, answer);
}

PluginStatus NodeFailed(const PluginCycle& cycle, std::string_view node, uint8_t code,
                        uint64_t reasons) {
  const PlannedPlugin& plugin = cycle.plugin();
  const std::string on = " for node " + std::string(node);
  if (code != BERTH_ERROR) {
    const std::string what = code == kUnwrittenVerdict ? "no verdict" + on
                                                       : "verdict " + std::to_string(code) + on +
                                                             " is not a valid verdict of Filter";
    plugin.host->NoteFault(Point::kFilter, FaultKind::kBadVerdict, what);
    return PluginError(plugin, Point::kFilter, what);
  }
  const std::string text = Join(cycle.ReasonTexts(reasons), ", ");
  return PluginError(plugin, Point::kFilter, text.empty() ? "plugin returned Error" + on : text);
}

// --- all plugins ---------------------------------------------------------------------------------

PluginStatus FilterPass::RunInBlocks(std::span<const uint32_t> plugins, const Selection& from,
                                     std::span<const RejectedRow> excluded, Selection& passed) {
  for (const Selection::Block& block : from.blocks()) {
    PluginStatus status = RunBlock(plugins, block, from.SelectedOf(block), excluded);
    if (!status.ok()) return status;
    passed.Append(block.first_row, block.count, std::span(survivors_).first(n_));
  }
  return {};
}

PluginStatus FilterPass::RunBlock(std::span<const uint32_t> plugins, const Selection::Block& block,
                                  std::span<const uint32_t> selected,
                                  std::span<const RejectedRow> excluded) {
  std::ranges::copy(selected, survivors_.begin());
  n_ = block.n_selected;
  if (!excluded.empty()) {
    const auto is_excluded = [&](uint32_t index) {
      return std::ranges::binary_search(excluded, block.first_row + index, {}, &RejectedRow::row);
    };
    const auto end = std::remove_if(survivors_.begin(), survivors_.begin() + n_, is_excluded);
    n_ = static_cast<uint32_t>(end - survivors_.begin());
  }
  for (const uint32_t plugin : plugins) {
    if (n_ == 0) return {};
    if (PluginStatus status = RunPlugin(plugin, block); !status.ok()) return status;
  }
  return {};
}

PluginStatus FilterPass::RunWhole(uint32_t plugin, const Selection& from, Selection& passed) {
  PluginCycle& cycle = attempt_.cycle(plugin);
  const NodesView nodes(cycle, from);
  const std::vector<Row> rows = from.Rows();
  WholeVerdicts verdicts;
  PluginStatus status = FilterWhole(cycle, attempt_.table(), nodes, rows, verdicts);
  if (!status.ok()) return status;
  std::vector<Row> kept;
  for (const Row row : rows) {
    if (verdicts.codes[row] == BERTH_SUCCESS) {
      kept.push_back(row);
      continue;
    }
    status = Reject(plugin, row, verdicts.codes[row], verdicts.reasons[row]);
    if (!status.ok()) return status;
  }
  passed.AssignRows(attempt_.table(), kept);
  return status;
}

PluginStatus FilterPass::RunStages(std::span<const FilterStage> stages, Selection& rows) {
  PluginStatus status;
  for (const FilterStage& stage : stages) {
    if (rows.size() == 0) break;
    const Selection survivors = std::exchange(rows, {});
    status = RunWhole(stage.whole, survivors, rows);
    if (status.ok() && !stage.in_blocks.empty()) {
      const Selection left = std::exchange(rows, {});
      status = RunInBlocks(stage.in_blocks, left, {}, rows);
    }
    if (!status.ok()) break;
  }
  return status;
}

PluginStatus FilterPass::RunPlugin(uint32_t plugin, const Selection::Block& block) {
  PluginCycle& cycle = attempt_.cycle(plugin);
  const berth_block view =
      cycle.BlockFor(block.first_row, block.count, std::span(survivors_).first(n_), columns_);
  PluginStatus status = FilterBlock(cycle, view, verdicts_);
  if (!status.ok()) return status;
  return AllPassed() ? PluginStatus{} : RemoveRejected(plugin, block.first_row);
}

// Returns whether no row was rejected: the common case, without a branch per node.
bool FilterPass::AllPassed() const {
  if (survivors_[n_ - 1] != n_ - 1) {
    uint8_t any = 0;
    for (uint32_t i = 0; i < n_; ++i) any |= verdicts_.codes[survivors_[i]];
    return any == BERTH_SUCCESS;
  }
  // The survivors are 0 .. n-1: check eight verdicts at a time.
  uint64_t any = 0;
  uint32_t i = 0;
  for (; i + sizeof(any) <= n_; i += sizeof(any)) {
    uint64_t eight;
    std::memcpy(&eight, &verdicts_.codes[i], sizeof(eight));
    any |= eight;
  }
  for (; i < n_; ++i) any |= verdicts_.codes[i];
  return any == BERTH_SUCCESS;
}

// Records the verdicts of rejected rows and keeps the others.
PluginStatus FilterPass::RemoveRejected(uint32_t plugin, Row first_row) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n_; ++i) {
    const uint32_t index = survivors_[i];
    const uint8_t code = verdicts_.codes[index];
    if (code == BERTH_SUCCESS) {
      survivors_[kept++] = index;
      continue;
    }
    PluginStatus status = Reject(plugin, first_row + index, code, verdicts_.reasons[index]);
    if (!status.ok()) return status;
  }
  n_ = kept;
  return {};
}

// Records the verdict of one row. Returns an error if it is no rejection.
PluginStatus FilterPass::Reject(uint32_t plugin, Row row, uint8_t code, uint64_t reasons) {
  if (!IsRejection(code)) {
    return NodeFailed(attempt_.cycle(plugin), attempt_.table().node(row)->name(), code, reasons);
  }
  rejected_.push_back({row, {reasons, plugin, code}});
  return {};
}

}  // namespace berth::host
