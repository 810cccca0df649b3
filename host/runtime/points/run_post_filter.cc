#include "host/runtime/points/run_post_filter.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {
namespace {

// The verdicts of Filter and PreFilter, by row.
class VerdictsByRow {
 public:
  VerdictsByRow(const Attempt& attempt, const PreFilterResult& pre_filter, const Filtered& filtered)
      : codes_(attempt.table().row_count(), BERTH_SUCCESS),
        absent_(attempt.table().row_count(), 1),
        abi_{.struct_size = sizeof(berth_verdicts),
             .count = static_cast<uint32_t>(codes_.size()),
             .codes = codes_.data(),
             .absent = absent_.data()} {
    const bool is_rejected = pre_filter.status.rejected();
    const berth_code code =
        is_rejected ? pre_filter.status.code : berth_code{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE};
    attempt.live_rows().ForEachRow([&](Row row) { codes_[row] = static_cast<uint8_t>(code); });
    if (is_rejected) return;
    for (const RejectedRow& rejected : filtered.rejected) Set(rejected.row, rejected.verdict.code);
    filtered.feasible->ForEachRow([this](Row row) { Set(row, BERTH_SUCCESS); });
  }
  VerdictsByRow(const VerdictsByRow&) = delete;
  VerdictsByRow& operator=(const VerdictsByRow&) = delete;

  const berth_verdicts* abi() const { return &abi_; }

 private:
  void Set(Row row, uint8_t code) {
    codes_[row] = code;
    absent_[row] = 0;
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

PostFilterResult RunPostFilter(Attempt& attempt, const PreFilterResult& pre_filter,
                               const Filtered& filtered) {
  const VerdictsByRow verdicts(attempt, pre_filter, filtered);
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
