#include "host/cycle/fit_error.h"

#include <algorithm>
#include <array>
#include <iterator>
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
using ReasonCounts = std::map<std::string, uint32_t, std::less<>>;

std::string Headline(uint32_t nodes) {
  return "0/" + std::to_string(nodes) + " nodes are available:";
}

std::string Sentence(const ReasonCounts& reasons) {
  std::vector<std::string> parts;
  for (const auto& [text, count] : reasons) parts.push_back(std::to_string(count) + " " + text);
  std::ranges::sort(parts);
  return parts.empty() ? "" : " " + Join(parts, ", ") + ".";
}

ReasonCounts CountReasons(const Attempt& attempt) {
  std::vector<std::array<uint32_t, kReasonBits>> counts(attempt.plan().plugins().size());
  uint32_t rejected = 0;
  ForEachRejected(attempt, [&](Row, const RowVerdict& verdict) {
    ++rejected;
    for (uint64_t mask = verdict.reasons; mask != 0; mask &= mask - 1) {
      ++counts[verdict.plugin][static_cast<size_t>(__builtin_ctzll(mask))];
    }
  });
  ReasonCounts texts;
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
  std::string message = Headline(attempt.live_rows().size());
  if (attempt.pre_filter_rejection.has_value()) {
    const std::string why = attempt.pre_filter_rejection->Message();
    if (!why.empty()) message += " " + why + ".";
  } else {
    message += Sentence(CountReasons(attempt));
  }
  if (!post_filter.empty()) message.append(" ").append(post_filter);
  return message;
}

std::string OneNodeFitError(std::span<const std::string> reasons) {
  ReasonCounts counts;
  for (const std::string& reason : reasons) ++counts[reason];
  return Headline(1) + Sentence(counts);
}

RejectorNames RejectedBy(const Attempt& attempt) {
  std::set<std::string> names(attempt.subset_plugins.begin(), attempt.subset_plugins.end());
  std::set<std::string> pending;
  const auto& pre_filter = attempt.pre_filter_rejection;
  if (pre_filter.has_value()) {
    if (!pre_filter->plugin.empty()) names.insert(pre_filter->plugin);
  } else {
    std::vector<bool> rejects(attempt.plan().plugins().size());
    std::vector<bool> pends(rejects.size());
    ForEachRejected(attempt, [&](Row, const RowVerdict& verdict) {
      (verdict.code == BERTH_PENDING ? pends : rejects)[verdict.plugin] = true;
    });
    for (uint32_t plugin = 0; plugin < rejects.size(); ++plugin) {
      const std::string& name = attempt.cycle(plugin).plugin().name;
      if (rejects[plugin]) names.insert(name);
      if (pends[plugin]) pending.insert(name);
    }
  }
  return {{names.begin(), names.end()}, {pending.begin(), pending.end()}};
}

std::vector<std::string> Rejectors(const Attempt& attempt) {
  const RejectorNames by = RejectedBy(attempt);
  std::vector<std::string> all;
  std::ranges::set_union(by.plugins, by.pending, std::back_inserter(all));
  return all;
}

}  // namespace berth::host
