#include "host/cycle/fit_error.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace berth::host {
namespace {

constexpr uint32_t kReasonBits = 64;

// Calls `each(row, verdict)` for every row that a Filter rejected.
template <class Each>
void ForEachRejected(const Attempt& attempt, Each each) {
  for (const Selection::Block& block : attempt.candidates->blocks()) {
    for (const uint32_t index : attempt.candidates->SelectedOf(block)) {
      const Row row = block.first_row + index;
      if (!attempt.feasible.Contains(row)) each(row, attempt.verdicts[row]);
    }
  }
}

// How often each text was given. Texts of several plugins may be equal.
std::map<std::string, uint32_t, std::less<>> CountReasons(const Attempt& attempt) {
  std::vector<std::array<uint32_t, kReasonBits>> counts(attempt.plan().plugins().size());
  uint32_t rejected = 0;
  ForEachRejected(attempt, [&](Row, const RowVerdict& verdict) {
    ++rejected;
    for (uint64_t mask = verdict.reasons; mask != 0; mask &= mask - 1) {
      ++counts[verdict.plugin][static_cast<size_t>(__builtin_ctzll(mask))];
    }
  });
  std::map<std::string, uint32_t, std::less<>> texts;
  for (uint32_t plugin = 0; plugin < counts.size(); ++plugin) {
    for (uint32_t bit = 0; bit < kReasonBits; ++bit) {
      if (counts[plugin][bit] == 0) continue;
      texts[std::string(attempt.cycle(plugin).ReasonText(bit))] += counts[plugin][bit];
    }
  }
  const uint32_t absent = attempt.live_rows().size() - rejected;
  if (absent > 0 && attempt.subset.has_value()) texts[AbsentReason(attempt)] += absent;
  return texts;
}

}  // namespace

std::string AbsentReason(const Attempt& attempt) {
  return "node(s) didn't satisfy plugin(s) [" + Join(attempt.subset_plugins, " ") + "]";
}

std::string FitErrorMessage(const Attempt& attempt, std::string_view post_filter) {
  std::string message = "0/" + std::to_string(attempt.live_rows().size()) + " nodes are available:";
  if (attempt.pre_filter_rejection.has_value()) {
    const std::string why = attempt.pre_filter_rejection->Message();
    if (!why.empty()) message += " " + why + ".";
  } else {
    std::vector<std::string> parts;
    for (const auto& [text, count] : CountReasons(attempt)) {
      parts.push_back(std::to_string(count) + " " + text);
    }
    std::ranges::sort(parts);
    if (!parts.empty()) message += " " + Join(parts, ", ") + ".";
  }
  if (!post_filter.empty()) message.append(" ").append(post_filter);
  return message;
}

std::vector<std::string> Rejectors(const Attempt& attempt) {
  std::set<std::string> names(attempt.subset_plugins.begin(), attempt.subset_plugins.end());
  if (attempt.pre_filter_rejection.has_value()) {
    if (!attempt.pre_filter_rejection->plugin.empty()) {
      names.insert(attempt.pre_filter_rejection->plugin);
    }
    return {names.begin(), names.end()};
  }
  std::vector<bool> seen(attempt.plan().plugins().size());
  ForEachRejected(attempt, [&](Row, const RowVerdict& verdict) { seen[verdict.plugin] = true; });
  for (uint32_t plugin = 0; plugin < seen.size(); ++plugin) {
    if (seen[plugin]) names.insert(attempt.cycle(plugin).plugin().name);
  }
  return {names.begin(), names.end()};
}

}  // namespace berth::host
