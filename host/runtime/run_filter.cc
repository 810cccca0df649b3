#include "host/runtime/run_filter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "host/api/status_sink.h"

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
  const std::string& plugin = cycle.plugin().name;
  const std::string on = " for node " + std::string(node);
  if (code == kUnwritten) return Failed(plugin, "no verdict" + on);
  if (!IsVerdict(code)) {
    return Failed(plugin, "verdict " + std::to_string(code) + on + " is none that Filter may give");
  }
  const std::string text = Join(cycle.ReasonTexts(reasons), ", ");
  return Failed(plugin, text.empty() ? "plugin answered Error" + on : text);
}

PluginStatus CallFailed(const std::string& plugin, berth_code code, const StatusSink& sink) {
  return Failed(plugin, WhyFailed(code, sink.JoinReasons()));
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

  PluginStatus Run(const Selection::Block& block) {
    const auto selected = attempt_.candidates->SelectedOf(block);
    std::ranges::copy(selected, survivors_.begin());
    n_ = block.n_selected;
    for (const uint32_t plugin : uses_) {
      if (n_ == 0) return {};
      if (PluginStatus status = RunPlugin(plugin, block); !status.ok()) return status;
    }
    attempt_.feasible.Append(block.first_row, block.count, std::span(survivors_).first(n_));
    return {};
  }

 private:
  PluginStatus RunPlugin(uint32_t plugin, const Selection::Block& block) {
    const PluginCycle& cycle = attempt_.cycle(plugin);
    const PluginInstance& instance = *cycle.plugin().instance;
    codes_.fill(kUnwritten);
    sink_.Clear();
    const berth_block view =
        cycle.BlockFor(block.first_row, block.count, std::span(survivors_).first(n_), columns_);
    const berth_code code =
        instance.filter()->filter(instance.self(), cycle.abi(), &view, &out_, sink_.raw());
    if (code != BERTH_SUCCESS) {
      return CallFailed(cycle.plugin().name, code, sink_);
    }
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

}  // namespace

PluginStatus RunFilter(Attempt& attempt) {
  attempt.feasible.Clear();
  FilterPass pass(attempt);
  for (const Selection::Block& block : attempt.candidates->blocks()) {
    if (PluginStatus status = pass.Run(block); !status.ok()) return status;
  }
  return {};
}

PluginStatus RunFilterOnPrivateRow(std::span<const std::unique_ptr<PluginCycle>> state,
                                   const Plan& plan, PrivateRows& rows, uint32_t index) {
  std::vector<uint8_t> codes(rows.size());
  std::vector<uint64_t> reasons(rows.size());
  std::vector<berth_column> columns;
  StatusSink sink;
  berth_filter_out out{.struct_size = sizeof(berth_filter_out),
                       .reserved = 0,
                       .codes = codes.data(),
                       .reasons = reasons.data()};
  for (const PlannedUse& use : plan.At(Point::kFilter)) {
    const PluginCycle& cycle = *state[use.plugin];
    if (cycle.skip_filter) continue;
    const PluginInstance& instance = *cycle.plugin().instance;
    std::ranges::fill(codes, kUnwritten);
    sink.Clear();
    const berth_block block = cycle.BlockFor(rows, columns);
    const berth_code code =
        instance.filter()->filter(instance.self(), cycle.abi(), &block, &out, sink.raw());
    if (code != BERTH_SUCCESS) return CallFailed(cycle.plugin().name, code, sink);
    const uint8_t verdict = codes[index];
    if (verdict == BERTH_SUCCESS) continue;
    if (verdict == BERTH_ERROR || !IsVerdict(verdict)) {
      const std::string_view node = Text(rows.node_views()[index]->meta->name);
      return NodeFailed(cycle, node, verdict, reasons[index]);
    }
    return {verdict, cycle.plugin().name, cycle.ReasonTexts(reasons[index])};
  }
  return {};
}

}  // namespace berth::host
