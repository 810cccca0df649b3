#include "host/runtime/points/run_post_filter.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "host/runtime/attempt/invoke.h"
#include "host/runtime/attempt/nodes_view.h"
#include "host/runtime/attempt/plugin_error.h"

namespace berth::host {
namespace {

// The verdicts of Filter and PreFilter, by row.
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
    // Attempt::verdicts has no entries for feasible rows.
    SetAll(*attempt.feasible, BERTH_SUCCESS);
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

// The output of one plugin's PostFilter.
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
    if (IsQuarantined(plugin)) continue;
    const NodesView all(cycle, attempt.live_rows());
    PostFilterOut out;
    PluginAnswer answer =
        Invoke(cycle, Point::kPostFilter, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.post_filter()->post_filter(instance.self(), abi, all.abi(),
                                                     verdicts.abi(), out.abi(), status);
        });
    if (answer.ok() || answer.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) {
      return {{answer.code, plugin.id, std::move(answer.reasons)}, out.overrides(), out.node()};
    }
    if (answer.code != BERTH_UNSCHEDULABLE && answer.code != BERTH_PENDING) {
      return {AnswerError(plugin, Point::kPostFilter, answer), false, ""};
    }
    if (out.overrides()) {
      result.overrides = true;
      result.node = out.node();
    }
    if (!result.status.plugin.has_value()) result.status.plugin = plugin.id;
    std::ranges::move(answer.reasons, std::back_inserter(result.status.reasons));
  }
  return result;
}

}  // namespace berth::host
