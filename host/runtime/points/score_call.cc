#include "host/runtime/points/score_call.h"

#include <algorithm>
#include <array>
#include <string>

#include "host/runtime/attempt/invoke.h"
#include "host/runtime/attempt/plugin_error.h"

namespace berth::host {
namespace {

// The value of scores before the call. No plugin may give it, so that missing scores are found.
constexpr int64_t kUnwrittenScore = INT64_MIN;

PluginStatus NoScore(const Attempt& attempt, const PlannedPlugin& plugin, Row row) {
  const std::string what = "no score for node " + std::string(attempt.table().node(row)->name());
  plugin.host->NoteFault(Point::kScore, FaultKind::kBadScore, what);
  return PluginError(plugin, Point::kScore, what);
}

}  // namespace

PluginStatus ScoreRows(const Attempt& attempt, PluginCycle& cycle, const Selection& rows,
                       std::vector<int64_t>& raw) {
  alignas(64) std::array<int64_t, kBlockRows> out;
  std::vector<berth_column> columns;
  raw.clear();
  for (const Selection::Block& block : rows.blocks()) {
    const auto selected = rows.SelectedOf(block);
    const berth_block view = cycle.BlockFor(block.first_row, block.count, selected, columns);
    std::fill_n(out.begin(), block.count, kUnwrittenScore);
    berth_score_out given{
        .struct_size = sizeof(berth_score_out), .reserved = 0, .scores = out.data()};
    const PluginAnswer answer =
        Invoke(cycle, Point::kScore, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.score()->score(instance.self(), abi, &view, &given, status);
        });
    if (!answer.ok()) return AnswerError(cycle.plugin(), Point::kScore, answer);
    const size_t end = raw.size();
    if (selected.size() == block.count) {
      raw.insert(raw.end(), out.begin(), out.begin() + block.count);
    } else {
      raw.resize(end + selected.size());
      for (size_t i = 0; i < selected.size(); ++i) raw[end + i] = out[selected[i]];
    }
    const auto left_out =
        std::find(raw.begin() + static_cast<ptrdiff_t>(end), raw.end(), kUnwrittenScore);
    if (left_out == raw.end()) continue;
    const size_t which = static_cast<size_t>(left_out - raw.begin()) - end;
    return NoScore(attempt, cycle.plugin(), block.first_row + selected[which]);
  }
  return {};
}

bool NormalizesItself(const PlannedPlugin& plugin) {
  return plugin.instance->score()->normalize_mode == BERTH_NORMALIZE_CUSTOM;
}

}  // namespace berth::host
