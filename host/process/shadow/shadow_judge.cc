#include "host/process/shadow/shadow_judge.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "host/base/text.h"
#include "host/cycle/fit_error.h"

namespace berth::host {
namespace {

// Returns the position of the row in the order of the selection; nullopt if it is not selected.
std::optional<uint32_t> PositionOf(const Selection& selection, Row row) {
  uint32_t begin = 0;
  uint32_t end = selection.size();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (selection.At(middle) < row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  const bool is_found = begin < selection.size() && selection.At(begin) == row;
  return is_found ? std::optional(begin) : std::nullopt;
}

// The weighted score of one plugin for both nodes.
struct ScorePair {
  std::string plugin;
  int64_t ours = 0;
  int64_t theirs = 0;
};

// Returns the plugins whose scores differ, the largest difference first.
std::vector<ScorePair> DifferentScores(const Attempt& attempt, const Ranked& ranked, uint32_t ours,
                                       uint32_t theirs) {
  std::vector<ScorePair> pairs;
  for (const ScoreColumn& column : ranked.columns()) {
    const int64_t our_score = column.normalized[ours] * column.weight;
    const int64_t their_score = column.normalized[theirs] * column.weight;
    if (our_score == their_score) continue;
    pairs.push_back({attempt.cycle(column.plugin).plugin().name, our_score, their_score});
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(),
                           [](const ScorePair& pair) { return std::abs(pair.ours - pair.theirs); });
  return pairs;
}

std::string PluginAndReasons(const std::string& plugin, const std::string& reasons) {
  return plugin.empty() ? reasons : plugin + ": " + reasons;
}

// Judges one pod after its attempt.
class Judge {
 public:
  Judge(const SchedulingCycle& cycle, const CycleResult& result, uint32_t percentage,
        ShadowDecision& decision)
      : attempt_(cycle.attempt()),
        findings_(cycle.findings()),
        result_(result),
        percentage_(percentage),
        decision_(decision) {}

  void Run() {
    // Only with these results have all nodes been evaluated for this pod.
    const berth_code code = result_.code();
    if (code != BERTH_SUCCESS && code != BERTH_UNSCHEDULABLE && !result_.ended_at.has_value()) {
      const bool is_error = code == BERTH_ERROR || code == BERTH_SKIP;
      return Set(is_error ? ShadowVerdict::kError : ShadowVerdict::kRejected,
                 result_.failure->message);
    }
    if (!result_.failure.has_value()) decision_.ours = result_.node;
    const Row theirs = attempt_.table().FindNode(decision_.theirs);
    if (theirs == kNoRow) {
      return Set(ShadowVerdict::kRejected, "the cluster has no node " + decision_.theirs);
    }
    if (findings_.pre_filter.status.rejected()) return RejectInPreFilter();
    const std::optional<uint32_t> position = PositionOf(*findings_.filtered.feasible, theirs);
    if (!position.has_value()) return RejectInFilter(theirs);
    if (result_.ended_at.has_value()) return RejectAfterSelection(theirs);
    Compare(theirs, *position);
  }

 private:
  void Set(ShadowVerdict verdict, std::string why) {
    decision_.verdict = verdict;
    decision_.why = std::move(why);
  }

  void RejectInPreFilter() {
    const PluginStatus& status = findings_.pre_filter.status;
    const std::string plugin =
        status.plugin.has_value() ? attempt_.plan().NameOf(*status.plugin) : std::string();
    Set(ShadowVerdict::kRejected, PluginAndReasons(plugin, status.Message()));
  }

  void RejectInFilter(Row theirs) {
    if (findings_.filtered.nominated_only) {
      return Set(ShadowVerdict::kScore,
                 "the pod is nominated to " + decision_.ours + ", where it fits");
    }
    const PreFilterResult& pre_filter = findings_.pre_filter;
    if (!pre_filter.Includes(theirs)) {
      const Plan& plan = attempt_.plan();
      return Set(ShadowVerdict::kRejected,
                 PluginAndReasons(Join(pre_filter.SubsetPluginNames(plan), ", "),
                                  AbsentReason(plan, pre_filter)));
    }
    const RowVerdict& verdict = findings_.filtered.VerdictOf(theirs);
    const PluginCycle& plugin = attempt_.cycle(verdict.plugin);
    Set(ShadowVerdict::kRejected,
        PluginAndReasons(plugin.plugin().name, Join(plugin.RejectionTexts(verdict.reasons), ", ")));
  }

  // Reserve or Permit has ended the attempt on the node that was selected.
  void RejectAfterSelection(Row theirs) {
    const bool is_error = result_.code() == BERTH_ERROR;
    std::string where = result_.ended_at == Point::kReserve ? "Reserve" : "Permit";
    if (result_.row != theirs) {
      where += " on " + std::string(attempt_.table().node(result_.row)->name());
    }
    Set(is_error ? ShadowVerdict::kError : ShadowVerdict::kRejected,
        where + ": " + result_.failure->message);
  }

  void Compare(Row theirs, uint32_t their_position) {
    const std::optional<uint32_t> our_position =
        PositionOf(*findings_.filtered.feasible, result_.row);
    const Ranked& ranked = findings_.ranked;
    if (ranked.is_scored()) {
      const std::vector<int64_t> totals = ranked.Totals();
      decision_.their_total = totals[their_position];
      decision_.our_total = totals[*our_position];
    }
    if (theirs == result_.row) return Set(ShadowVerdict::kSame, "");
    if (!ranked.is_scored()) {
      return Set(ShadowVerdict::kTie, "both fit, and no plugin scores nodes");
    }
    if (decision_.their_total == decision_.our_total) {
      return Set(ShadowVerdict::kTie, "both " + std::to_string(*decision_.our_total));
    }
    std::string why = ScoreText(*our_position, their_position);
    const uint32_t fit = findings_.filtered.feasible->size();
    const auto rejected = static_cast<uint32_t>(findings_.filtered.rejected.size());
    const uint32_t found = FeasibleNodesToFind(fit + rejected, percentage_);
    if (fit <= found) return Set(ShadowVerdict::kScore, std::move(why));
    Set(ShadowVerdict::kSampled, why.append("; kube-scheduler scores only ")
                                     .append(std::to_string(found))
                                     .append(" of the ")
                                     .append(std::to_string(fit))
                                     .append(" nodes that fit"));
  }

  // "node-4 has 412 and node-1 405: ImageLocality 100 and 93"
  std::string ScoreText(uint32_t ours, uint32_t theirs) const {
    std::string text = decision_.ours + " has " + std::to_string(*decision_.our_total) + " and " +
                       decision_.theirs + " " + std::to_string(*decision_.their_total);
    std::string_view separator = ": ";
    for (const ScorePair& pair : DifferentScores(attempt_, findings_.ranked, ours, theirs)) {
      text.append(separator).append(pair.plugin).append(" ");
      text.append(std::to_string(pair.ours)).append(" and ").append(std::to_string(pair.theirs));
      separator = ", ";
    }
    return text;
  }

  const Attempt& attempt_;
  const NodeFindings& findings_;
  const CycleResult& result_;
  const uint32_t percentage_;
  ShadowDecision& decision_;
};

}  // namespace

std::string_view ShadowVerdictName(ShadowVerdict verdict) {
  constexpr std::array<std::string_view, kShadowVerdictCount> kNames = {
      "same", "tie", "order", "sampled", "score", "rejected", "error"};
  return kNames[static_cast<size_t>(verdict)];
}

bool IsAgreement(ShadowVerdict verdict) { return verdict <= ShadowVerdict::kOrder; }

bool IsUnexplained(ShadowVerdict verdict) { return verdict >= ShadowVerdict::kScore; }

uint32_t FeasibleNodesToFind(uint32_t nodes, uint32_t percentage) {
  constexpr uint32_t kMinNodes = 100;
  constexpr uint32_t kMinPercentage = 5;
  if (nodes < kMinNodes) return nodes;
  if (percentage == 0) {
    const uint32_t reduction = nodes / 125;
    percentage = reduction + kMinPercentage > 50 ? kMinPercentage : 50 - reduction;
  }
  const uint64_t part = uint64_t{nodes} * percentage / 100;
  return std::max(kMinNodes, static_cast<uint32_t>(part));
}

ShadowDecision JudgePlacement(SchedulingCycle& cycle, const PodRef& pod, std::string_view node,
                              uint32_t percentage) {
  ShadowDecision decision{.pod = pod->Key(), .theirs = std::string(node)};
  const CycleResult result = cycle.Decide(pod);
  Judge(cycle, result, percentage, decision).Run();
  return decision;
}

}  // namespace berth::host
