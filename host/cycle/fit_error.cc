#include "host/cycle/fit_error.h"

#include <algorithm>
#include <array>
#include <map>

#include "host/runtime/attempt/plugin_status.h"

namespace berth::host {
namespace {

constexpr uint32_t kReasonBits = 64;

// The number of nodes that a plugin rejected, by the bit of the reason, and without a reason.
struct RejectedNodes {
  std::array<uint32_t, kReasonBits> by_reason{};
  uint32_t without_reason = 0;
};

// The number of nodes by reason. Several plugins may give the same reason.
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

ReasonCounts CountReasons(const Attempt& attempt, const NodeFindings& findings) {
  std::vector<RejectedNodes> counts(attempt.plan().plugins().size());
  const std::span<const RejectedRow> rejected = findings.filtered.rejected;
  for (const auto& [row, verdict] : rejected) {
    RejectedNodes& nodes = counts[verdict.plugin];
    nodes.without_reason += verdict.reasons == 0 ? 1 : 0;
    for (uint64_t mask = verdict.reasons; mask != 0; mask &= mask - 1) {
      ++nodes.by_reason[static_cast<size_t>(__builtin_ctzll(mask))];
    }
  }
  ReasonCounts texts;
  for (uint32_t plugin = 0; plugin < counts.size(); ++plugin) {
    const PluginCycle& cycle = attempt.cycle(plugin);
    for (uint32_t bit = 0; bit < kReasonBits; ++bit) {
      if (counts[plugin].by_reason[bit] == 0) continue;
      texts[std::string(cycle.ReasonText(bit))] += counts[plugin].by_reason[bit];
    }
    if (counts[plugin].without_reason == 0) continue;
    texts[NoReason(cycle.plugin().name)] += counts[plugin].without_reason;
  }
  const auto absent = attempt.live_rows().size() - static_cast<uint32_t>(rejected.size());
  if (absent > 0 && findings.pre_filter.subset.has_value()) {
    texts[AbsentReason(attempt.plan(), findings.pre_filter)] += absent;
  }
  return texts;
}

}  // namespace

std::string AbsentReason(const Plan& plan, const PreFilterResult& pre_filter) {
  return "node(s) didn't satisfy plugin(s) [" + Join(pre_filter.SubsetPluginNames(plan), " ") + "]";
}

std::string FitErrorMessage(const Attempt& attempt, const NodeFindings& findings,
                            std::string_view post_filter) {
  std::string message = Headline(attempt.live_rows().size());
  if (const PluginStatus& status = findings.pre_filter.status; status.rejected()) {
    const std::string reasons = status.Message();
    if (!reasons.empty()) message += " " + reasons + ".";
  } else {
    message += Sentence(CountReasons(attempt, findings));
  }
  if (!post_filter.empty()) message.append(" ").append(post_filter);
  return message;
}

std::string OneNodeFitError(std::span<const std::string> reasons) {
  ReasonCounts counts;
  for (const std::string& reason : reasons) ++counts[reason];
  return Headline(1) + Sentence(counts);
}

Rejection RejectedBy(const Plan& plan, const NodeFindings& findings) {
  const PlannedPlugins planned = plan.plugins();
  std::vector<bool> rejects(planned.size());
  std::vector<bool> answers_pending(planned.size());
  const PreFilterResult& pre_filter = findings.pre_filter;
  for (const uint32_t plugin : pre_filter.subset_plugins) rejects[plugin] = true;
  for (const auto& [row, verdict] : findings.filtered.rejected) {
    (verdict.code == BERTH_PENDING ? answers_pending : rejects)[verdict.plugin] = true;
  }
  Rejection rejection;
  for (size_t i = 0; i < planned.size(); ++i) {
    const PluginId id = planned[i].id;
    if (rejects[i] || (pre_filter.status.rejected() && pre_filter.status.plugin == id)) {
      rejection.plugins.push_back(id);
    }
    if (answers_pending[i]) rejection.pending.push_back(id);
  }
  std::ranges::sort(rejection.plugins);
  std::ranges::sort(rejection.pending);
  return rejection;
}

std::vector<std::string> RejectorNames(const Plan& plan, const NodeFindings& findings) {
  return NamesOf(plan, RejectedBy(plan, findings));
}

std::vector<std::string> NamesOf(const Plan& plan, const Rejection& rejection) {
  std::vector<std::string> names;
  for (const PluginId id : rejection.All()) names.push_back(plan.NameOf(id));
  std::ranges::sort(names);
  return names;
}

std::string AwaitedMessage(const Plan& plan, const PluginStatus& status) {
  const std::string message = "pod is waiting for the plugin " + plan.NameOf(*status.plugin);
  const std::string reasons = status.Message();
  return reasons.empty() ? message : message + ": " + reasons;
}

}  // namespace berth::host
