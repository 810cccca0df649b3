#include "host/runtime/run_post_filter.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"

namespace berth::host {
namespace {

// What Filter and PreFilter said, by row.
class VerdictsByRow {
 public:
  explicit VerdictsByRow(const Attempt& attempt)
      : codes_(attempt.table().row_count(), BERTH_SUCCESS),
        absent_(attempt.table().row_count(), 1),
        abi_{.struct_size = sizeof(berth_verdicts),
             .count = static_cast<uint32_t>(codes_.size()),
             .codes = codes_.data(),
             .absent = absent_.data()} {
    if (attempt.pre_filter_rejection.has_value()) {
      SetAll(attempt.live_rows(), static_cast<uint8_t>(attempt.pre_filter_rejection->code));
      return;
    }
    SetAll(attempt.live_rows(), BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE);
    ForEach(*attempt.candidates, [&](Row row) {
      codes_[row] = attempt.verdicts[row].code;
      absent_[row] = 0;
    });
    // Verdicts of feasible rows are not kept.
    SetAll(attempt.feasible, BERTH_SUCCESS);
  }
  VerdictsByRow(const VerdictsByRow&) = delete;
  VerdictsByRow& operator=(const VerdictsByRow&) = delete;

  const berth_verdicts* abi() const { return &abi_; }

 private:
  template <class F>
  static void ForEach(const Selection& selection, F&& each) {
    for (const Selection::Block& block : selection.blocks()) {
      for (const uint32_t index : selection.SelectedOf(block)) each(block.first_row + index);
    }
  }
  void SetAll(const Selection& selection, uint8_t code) {
    ForEach(selection, [&](Row row) { codes_[row] = code; });
  }

  std::vector<uint8_t> codes_;
  std::vector<uint8_t> absent_;
  berth_verdicts abi_;
};

// Where one plugin's PostFilter puts its nomination.
class PostFilterOut {
 public:
  PostFilterOut()
      : abi_{.struct_size = sizeof(berth_post_filter_out),
             .mode = BERTH_NOMINATE_KEEP,
             .impl = this,
             .nominate = Nominate} {}
  PostFilterOut(const PostFilterOut&) = delete;
  PostFilterOut& operator=(const PostFilterOut&) = delete;

  berth_post_filter_out* abi() { return &abi_; }
  bool overrides() const { return abi_.mode == BERTH_NOMINATE_OVERRIDE; }
  const std::string& node() const { return node_; }

 private:
  static void Nominate(berth_post_filter_out* self, berth_str node) noexcept {
    static_cast<PostFilterOut*>(self->impl)->node_ = Text(node);
    self->mode = BERTH_NOMINATE_OVERRIDE;
  }

  std::string node_;
  berth_post_filter_out abi_;
};

}  // namespace

PostFilterResult RunPostFilter(Attempt& attempt) {
  const VerdictsByRow verdicts(attempt);
  PostFilterResult result;
  result.status.code = BERTH_UNSCHEDULABLE;
  for (const PlannedUse& use : attempt.plan().At(Point::kPostFilter)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (IsQuarantined(plugin, nullptr)) continue;
    const NodesView all(cycle, attempt.live_rows());
    PostFilterOut out;
    StatusSink sink;
    berth_code code = BERTH_SUCCESS;
    const berth_cycle* abi = cycle.AbiFor(Point::kPostFilter);
    {
      const PluginCall call(plugin, Point::kPostFilter);
      code = plugin.instance->post_filter()->post_filter(plugin.instance->self(), abi, all.abi(),
                                                         verdicts.abi(), out.abi(), sink.raw());
    }
    std::vector<std::string> reasons(sink.reasons().begin(), sink.reasons().end());
    if (code == BERTH_SUCCESS || code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) {
      return {{code, plugin.name, std::move(reasons)}, out.overrides(), out.node()};
    }
    if (code != BERTH_UNSCHEDULABLE && code != BERTH_PENDING) {
      std::string said = WhyFailed(plugin, Point::kPostFilter, code, sink);
      return {{BERTH_ERROR, plugin.name, {std::move(said)}}, false, ""};
    }
    if (out.overrides()) {
      result.overrides = true;
      result.node = out.node();
    }
    if (result.status.plugin.empty()) result.status.plugin = plugin.name;
    std::ranges::move(reasons, std::back_inserter(result.status.reasons));
  }
  return result;
}

}  // namespace berth::host
