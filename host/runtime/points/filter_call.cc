#include "host/runtime/points/filter_call.h"

#include <string>

#include "host/runtime/attempt/invoke.h"
#include "host/runtime/attempt/plugin_error.h"

namespace berth::host {
namespace {

int32_t AddWholeReason(berth_filter_whole_out* self, berth_str text) noexcept {
  auto& cycle = *static_cast<PluginCycle*>(self->impl);
  return cycle.AddReason(IsNull(text) ? NullReason(cycle.plugin().name) : KeptReason(Text(text)));
}

}  // namespace

bool FiltersWhole(const PlannedPlugin& plugin) {
  return (plugin.instance->filter()->flags & BERTH_FILTER_WHOLE) != 0;
}

PluginStatus FilterBlock(PluginCycle& cycle, const berth_block& block, uint8_t* codes,
                         uint64_t* reasons) {
  berth_filter_out out{
      .struct_size = sizeof(berth_filter_out), .reserved = 0, .codes = codes, .reasons = reasons};
  const PluginAnswer answer =
      Invoke(cycle, Point::kFilter, [&](auto& instance, auto* abi, berth_status* status) {
        return instance.filter()->filter(instance.self(), abi, &block, &out, status);
      });
  return answer.ok() ? PluginStatus() : AnswerError(cycle.plugin(), Point::kFilter, answer);
}

bool IsNodeRejection(uint8_t code) {
  return code == BERTH_UNSCHEDULABLE || code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE ||
         code == BERTH_PENDING;
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

WholeFilterCall::WholeFilterCall(const NodeTable& table)
    : codes_(table.row_count()), reasons_(table.row_count()) {}

PluginStatus WholeFilterCall::Run(PluginCycle& cycle, const PassedNodes& survivors,
                                  std::span<const Row> rows) {
  for (const Row row : rows) {
    codes_[row] = kUnwrittenVerdict;
    reasons_[row] = 0;
  }
  berth_filter_whole_out out{.struct_size = sizeof(berth_filter_whole_out),
                             .row_count = static_cast<uint32_t>(codes_.size()),
                             .codes = codes_.data(),
                             .reasons = reasons_.data(),
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

}  // namespace berth::host
