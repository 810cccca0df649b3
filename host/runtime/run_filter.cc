#include "host/runtime/run_filter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/what_if.h"

namespace berth::host {
namespace {

bool IsVerdict(uint8_t code) {
  return code == BERTH_SUCCESS || code == BERTH_ERROR || code == BERTH_UNSCHEDULABLE ||
         code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE || code == BERTH_PENDING;
}

PluginStatus Failed(const std::string& plugin, const std::string& why) {
  return {BERTH_ERROR, plugin, {"running \"" + plugin + "\" filter plugin: " + why}};
}

// A verdict is filled in before the call with what no plugin may give: one that was left out shows.
constexpr uint8_t kUnwritten = 0xff;

// What a verdict that is neither Success nor a refusal does to the cycle.
PluginStatus NodeFailed(const PluginCycle& cycle, std::string_view node, uint8_t code,
                        uint64_t reasons) {
  const PlannedPlugin& plugin = cycle.plugin();
  const std::string on = " for node " + std::string(node);
  if (!IsVerdict(code)) {
    const std::string what = code == kUnwritten ? "no verdict" + on
                                                : "verdict " + std::to_string(code) + on +
                                                      " is none that Filter may give";
    NoteFault(plugin, Point::kFilter, FaultKind::kBadVerdict, what);
    return Failed(plugin.name, what);
  }
  const std::string text = Join(cycle.ReasonTexts(reasons), ", ");
  return Failed(plugin.name, text.empty() ? "plugin answered Error" + on : text);
}

berth_code Call(PluginCycle& cycle, const berth_block& block, berth_filter_out& out,
                StatusSink& sink) {
  const PluginInstance& instance = *cycle.plugin().instance;
  const berth_cycle* abi = cycle.AbiFor(Point::kFilter);
  const PluginCall call(cycle.plugin(), Point::kFilter);
  return instance.filter()->filter(instance.self(), abi, &block, &out, sink.raw());
}

PluginStatus CallFailed(const PlannedPlugin& plugin, berth_code code, const StatusSink& sink) {
  return Failed(plugin.name, WhyFailed(plugin, Point::kFilter, code, sink));
}

// Success, or the failure of a plugin that may not be asked.
PluginStatus CheckTrusted(const PlannedPlugin& plugin) {
  std::string_view why;
  return IsQuarantined(plugin, &why) ? Failed(plugin.name, std::string(why)) : PluginStatus();
}

// The scratch of one pass; outputs are indexed by block index.
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

  // A plugin that may not be asked fails the cycle before any is asked.
  PluginStatus Check() const {
    for (const uint32_t plugin : uses_) {
      PluginStatus status = CheckTrusted(attempt_.cycle(plugin).plugin());
      if (!status.ok()) return status;
    }
    return {};
  }

  // `rejected`: rows that have their verdict, ascending.
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
    sink_.Clear();
    const berth_block view =
        cycle.BlockFor(block.first_row, block.count, std::span(survivors_).first(n_), columns_);
    const berth_code code = Call(cycle, view, out_, sink_);
    if (code != BERTH_SUCCESS) return CallFailed(cycle.plugin(), code, sink_);
    return AllPassed() ? PluginStatus{} : Sift(plugin, block.first_row);
  }

  // The common case, without a branch per node.
  bool AllPassed() const {
    if (survivors_[n_ - 1] != n_ - 1) {
      uint8_t any = 0;
      for (uint32_t i = 0; i < n_; ++i) any |= codes_[survivors_[i]];
      return any == BERTH_SUCCESS;
    }
    // 0 .. n-1: a plain run, eight at a time.
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

  // Records the rejected and keeps the rest.
  PluginStatus Sift(uint32_t plugin, Row first_row) {
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
  StatusSink sink_;
};

// The rows of the candidates where pods are nominated that count for this one, ascending.
std::vector<Row> ContestedRows(const Attempt& attempt, const Nominator& nominator) {
  std::vector<Row> rows;
  nominator.ForEachNode([&](std::string_view node, std::span<const PodRef> nominated) {
    const auto counts = [&attempt](const PodRef& pod) {
      return CountsForOthers(pod->view(), attempt.pod->view());
    };
    if (std::ranges::none_of(nominated, counts)) return;
    const Row row = attempt.table().FindNode(node);
    if (row != kNoRow && attempt.candidates->Contains(row)) rows.push_back(row);
  });
  std::ranges::sort(rows);
  return rows;
}

// What the row's verdict would be with the pods there that are nominated to it.
PluginStatus FilterWithNominated(Attempt& attempt, const Nominator& nominator, Row row,
                                 RowVerdict& verdict) {
  auto what_if = WhatIf::Begin(attempt, row);
  if (!what_if.ok()) return {BERTH_ERROR, "", {std::string(what_if.status().message())}};
  for (const PodRef& pod : nominator.PodsFor(attempt.table().node(row)->name())) {
    if (!CountsForOthers(pod->view(), attempt.pod->view())) continue;
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
  for (const Row row : ContestedRows(attempt, nominator)) {
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
  StatusSink sink;
  berth_filter_out out{.struct_size = sizeof(berth_filter_out),
                       .reserved = 0,
                       .codes = codes.data(),
                       .reasons = reasons.data()};
  verdict = {};
  for (const PlannedUse& use : plan.At(Point::kFilter)) {
    if (cycles[use.plugin] == nullptr) continue;
    PluginCycle& cycle = *cycles[use.plugin];
    if (PluginStatus status = CheckTrusted(cycle.plugin()); !status.ok()) return status;
    std::ranges::fill(codes, kUnwritten);
    std::ranges::fill(reasons, uint64_t{0});
    sink.Clear();
    const berth_block block = cycle.BlockFor(rows, columns);
    const berth_code code = Call(cycle, block, out, sink);
    if (code != BERTH_SUCCESS) return CallFailed(cycle.plugin(), code, sink);
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
