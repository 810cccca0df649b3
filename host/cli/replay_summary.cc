#include "host/cli/replay_summary.h"

#include <string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cli/commands.h"

namespace berth::host {
namespace {

// How many reasons the table has.
constexpr size_t kMaxReasons = 20;

int64_t TruncateToMilliseconds(int64_t ns) { return ns - ns % kMillisecond; }

void AppendReasons(const std::map<std::string, size_t>& count_by_reason, TerminalWidth width,
                   std::string& out) {
  std::vector<std::pair<std::string, size_t>> reasons(count_by_reason.begin(),
                                                      count_by_reason.end());
  std::ranges::stable_sort(reasons, std::greater<>(),
                           [](const auto& reason) { return reason.second; });
  Table table({"PODS", "REASON"});
  for (const auto& [reason, count] :
       std::span(reasons).first(std::min(reasons.size(), kMaxReasons))) {
    table.AddRow({WithCommas(count), reason});
  }
  out += '\n';
  table.Append(width, out);
  if (reasons.size() > kMaxReasons) {
    out += "... and " + WithCommas(reasons.size() - kMaxReasons) + " other reasons\n";
  }
}

}  // namespace

void AppendSummary(const ReplaySummary& summary, TerminalWidth width, std::string& out) {
  if (summary.signal > 0) {
    out += std::string("Stopped by SIG") + sigabbrev_np(summary.signal) + ".\n";
  }
  if (summary.without_progress) out += kNoProgressText;
  out += WithCommas(summary.bound) + " bound, " + WithCommas(summary.pending) + " pending";
  if (summary.other_schedulers > 0) {
    out += ", " + WithCommas(summary.other_schedulers) + " of other schedulers";
  }
  out += "; " + CountOf(summary.nodes, "node") + "; " + CountOf(summary.events, "event") + " in " +
         FormatDuration(TruncateToMilliseconds(summary.took_ns));
  if (summary.rejected_events > 0) {
    out += "; " + CountOf(summary.rejected_events, "event") + " rejected";
  }
  out += ".\n";
  if (summary.reloaded + summary.failed_reloads > 0) {
    out += CountOf(summary.reloaded, "reload") + " succeeded, " +
           WithCommas(summary.failed_reloads) + " failed.\n";
  }
  if (!summary.pending_by_reason.empty()) AppendReasons(summary.pending_by_reason, width, out);
}

}  // namespace berth::host
