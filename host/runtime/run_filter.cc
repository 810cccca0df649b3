#include "host/runtime/run_filter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "host/runtime/invoke.h"
#include "host/runtime/plugin_error.h"
#include "host/runtime/what_if.h"

namespace berth::host {
namespace {

bool IsVerdict(uint8_t code) {
  return code == BERTH_SUCCESS || code == BERTH_ERROR || code == BERTH_UNSCHEDULABLE ||
         code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE || code == BERTH_PENDING;
}

// The value of verdicts before the call. No plugin may give it, so that missing verdicts are found.
constexpr uint8_t kUnwritten = 0xff;

// Returns the error for a verdict that is neither Success nor a rejection.
PluginStatus NodeFailed(const PluginCycle& cycle, std::string_view node, uint8_t code,
                        uint64_t reasons) {
  const PlannedPlugin& plugin = cycle.plugin();
  const std::string on = " for node " + std::string(node);
  if (!IsVerdict(code)) {
    const std::string what = code == kUnwritten ? "no verdict" + on
                                                : "verdict " + std::to_string(code) + on +
                                                      " is not a valid verdict of Filter";
    plugin.host->NoteFault(Point::kFilter, FaultKind::kBadVerdict, what);
    return PluginError(plugin, Point::kFilter, what);
  }
  const std::string text = Join(cycle.ReasonTexts(reasons), ", ");
  return PluginError(plugin, Point::kFilter, text.empty() ? "plugin returned Error" + on : text);
}

// Calls the plugin for a block, and returns an error if the call failed.
PluginStatus FilterBlock(PluginCycle& cycle, const berth_block& block, berth_filter_out& out) {
  const PluginAnswer answer =
      Invoke(cycle, Point::kFilter, [&](auto& instance, auto* abi, berth_status* status) {
        return instance.filter()->filter(instance.self(), abi, &block, &out, status);
      });
  return answer.ok() ? PluginStatus() : AnswerError(cycle.plugin(), Point::kFilter, answer);
}

// The memory of one pass over the candidates. Verdicts are indexed by block index.
class FilterPass {
 public:
  explicit FilterPass(Attempt& attempt) : attempt_(attempt) {
    for (const PlannedUse& use : attempt.plan().At(Point::kFilter)) {
      if (!attempt.cycle(use.plugin).skip_filter) uses_.push_back(use.plugin);
    }
    out_ = {.struct_size = sizeof(berth_filter_out),
            .reserved = 0,
            .codes = codes_.data(),
            .reasons = reasons_.data()};
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
  PluginStatus Run(const Selection::Block& block, std::span<const Row> rejected) {
    const auto selected = attempt_.candidates->SelectedOf(block);
    std::ranges::copy(selected, survivors_.begin());
    n_ = block.n_selected;
    if (!rejected.empty()) {
      const auto has_verdict = [&](uint32_t index) {
        return std::ranges::binary_search(rejected, block.first_row + index);
      };
      const auto end = std::remove_if(survivors_.begin(), survivors_.begin() + n_, has_verdict);
      n_ = static_cast<uint32_t>(end - survivors_.begin());
    }
    for (const uint32_t plugin : uses_) {
      if (n_ == 0) return {};
      if (PluginStatus status = RunPlugin(plugin, block); !status.ok()) return status;
    }
    attempt_.feasible.Append(block.first_row, block.count, std::span(survivors_).first(n_));
    return {};
  }

 private:
  PluginStatus RunPlugin(uint32_t plugin, const Selection::Block& block) {
    PluginCycle& cycle = attempt_.cycle(plugin);
    std::fill_n(codes_.begin(), block.count, kUnwritten);
    std::fill_n(reasons_.begin(), block.count, uint64_t{0});
    const berth_block view =
        cycle.BlockFor(block.first_row, block.count, std::span(survivors_).first(n_), columns_);
    if (PluginStatus status = FilterBlock(cycle, view, out_); !status.ok()) return status;
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
      if (code == BERTH_ERROR || !IsVerdict(code)) {
        return NodeFailed(attempt_.cycle(plugin), attempt_.table().node(first_row + index)->name(),
                          code, reasons_[index]);
      }
      attempt_.verdicts[first_row + index] = {reasons_[index], plugin, code};
    }
    n_ = kept;
    return {};
  }

  Attempt& attempt_;
  std::vector<uint32_t> uses_;
  std::array<uint32_t, kBlockRows> survivors_;
  uint32_t n_ = 0;
  alignas(64) std::array<uint8_t, kBlockRows> codes_;
  alignas(64) std::array<uint64_t, kBlockRows> reasons_{};
  berth_filter_out out_{};
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
  auto what_if = WhatIf::Begin(attempt, row);
  if (!what_if.ok()) return PluginStatus::Error({}, std::string(what_if.status().message()));
  for (const PodRef& pod : nominator.PodsFor(attempt.table().node(row)->name())) {
    if (!CountsAgainst(pod->view(), attempt.pod->view())) continue;
    if (PluginStatus status = (*what_if)->AddPod(pod->view()); !status.ok()) return status;
  }
  return (*what_if)->RunFilters(verdict);
}

}  // namespace

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
  for (const Selection::Block& block : attempt.candidates->blocks()) {
    if (PluginStatus status = pass.Run(block, rejected); !status.ok()) return status;
  }
  return {};
}

PluginStatus RunFilterOnPrivateRow(std::span<PluginCycle* const> cycles, const Plan& plan,
                                   PrivateRows& rows, uint32_t index, RowVerdict& verdict) {
  std::vector<uint8_t> codes(rows.size());
  std::vector<uint64_t> reasons(rows.size());
  std::vector<berth_column> columns;
  berth_filter_out out{.struct_size = sizeof(berth_filter_out),
                       .reserved = 0,
                       .codes = codes.data(),
                       .reasons = reasons.data()};
  verdict = {};
  for (const PlannedUse& use : plan.At(Point::kFilter)) {
    if (cycles[use.plugin] == nullptr) continue;
    PluginCycle& cycle = *cycles[use.plugin];
    if (auto error = QuarantineError(cycle.plugin(), Point::kFilter)) return *std::move(error);
    std::ranges::fill(codes, kUnwritten);
    std::ranges::fill(reasons, uint64_t{0});
    const berth_block block = cycle.BlockFor(rows, columns);
    if (PluginStatus status = FilterBlock(cycle, block, out); !status.ok()) return status;
    const uint8_t answer = codes[index];
    if (answer == BERTH_SUCCESS) continue;
    if (answer == BERTH_ERROR || !IsVerdict(answer)) {
      const std::string_view node = Text(rows.node_views()[index]->meta->name);
      return NodeFailed(cycle, node, answer, reasons[index]);
    }
    verdict = {reasons[index], use.plugin, answer};
    return {};
  }
  return {};
}

}  // namespace berth::host
