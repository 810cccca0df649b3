#include "host/cli/explain_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cycle/fit_error.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using ByName = std::map<std::string_view, Json>;

// Inserting one key at a time would search all keys of the object for each.
Json ToObject(ByName by_name) {
  Json object = Json::object();
  auto& members = object.get_ref<Json::object_t&>();
  members.reserve(by_name.size());
  for (auto& [name, value] : by_name) members.emplace_back(std::string(name), std::move(value));
  return object;
}

std::string_view NodeName(const Attempt& attempt, Row row) {
  return attempt.table().node(row)->name();
}

const std::string& PluginName(const Attempt& attempt, uint32_t plugin) {
  return attempt.cycle(plugin).plugin().name;
}

Json RejectionOf(std::string_view plugin, berth_code code, std::vector<std::string> reasons) {
  std::ranges::sort(reasons);
  return {{"plugin", plugin}, {"code", CodeName(code)}, {"reasons", std::move(reasons)}};
}

std::vector<Row> RowsOf(const Selection& selection) {
  std::vector<Row> rows;
  rows.reserve(selection.size());
  selection.ForEachRow([&rows](Row row) { rows.push_back(row); });
  return rows;
}

Json SortedNames(const Attempt& attempt, const std::vector<Row>& rows) {
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const Row row : rows) names.push_back(NodeName(attempt, row));
  std::ranges::sort(names);
  return names;
}

// Returns the rejected nodes with their reasons. Nodes outside the subset were not evaluated. If
// the nominated node was selected, no other node has a verdict.
Json RejectedNodes(const Attempt& attempt, const NodeFindings& findings) {
  ByName nodes;
  for (const auto& [row, verdict] : findings.filtered.rejected) {
    nodes[NodeName(attempt, row)] =
        RejectionOf(PluginName(attempt, verdict.plugin), verdict.code,
                    attempt.cycle(verdict.plugin).RejectionTexts(verdict.reasons));
  }
  const PreFilterResult& pre_filter = findings.pre_filter;
  if (pre_filter.subset.has_value() && !findings.filtered.nominated_only) {
    const std::string reason = AbsentReason(attempt.plan(), pre_filter);
    attempt.live_rows().ForEachRow([&](Row row) {
      if (pre_filter.Includes(row)) return;
      nodes[NodeName(attempt, row)] =
          RejectionOf("", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, {reason});
    });
  }
  return ToObject(std::move(nodes));
}

Json ScoresOfRow(const Attempt& attempt, const Ranked& ranked, size_t position,
                 std::vector<int64_t> ScoreColumn::*scores) {
  ByName plugins;
  for (const ScoreColumn& column : ranked.columns()) {
    plugins[PluginName(attempt, column.plugin)] = (column.*scores)[position];
  }
  return ToObject(std::move(plugins));
}

void AddScores(const Attempt& attempt, const Ranked& ranked, const std::vector<Row>& feasible,
               Json& report) {
  const std::vector<int64_t> totals = ranked.Totals();
  ByName scores;
  for (size_t i = 0; i < feasible.size(); ++i) {
    scores[NodeName(attempt, feasible[i])] = {
        {"total", totals[i]},
        {"plugins", ScoresOfRow(attempt, ranked, i, &ScoreColumn::normalized)}};
  }
  ByName weights;
  for (const ScoreColumn& column : ranked.columns()) {
    weights[PluginName(attempt, column.plugin)] = column.weight;
  }
  report["scores"] = ToObject(std::move(scores));
  report["weights"] = ToObject(std::move(weights));
}

Json RawScores(const Attempt& attempt, const Ranked& ranked, const std::vector<Row>& feasible) {
  ByName raw;
  for (size_t i = 0; i < feasible.size(); ++i) {
    raw[NodeName(attempt, feasible[i])] = ScoresOfRow(attempt, ranked, i, &ScoreColumn::raw);
  }
  return ToObject(std::move(raw));
}

// Returns code and message, as in the condition of the pod.
Json OutcomeOf(const CycleResult& result) {
  const berth_code code = result.waits.empty() ? result.code() : BERTH_WAIT;
  Json report = {{"code", code == BERTH_SKIP ? "Skipped" : CodeName(code)}};
  if (result.failure.has_value()) report["message"] = result.failure->message;
  return report;
}

Json NamesOf(const Attempt& attempt, const Rejection& rejection) {
  std::vector<std::string> names;
  for (const auto* plugins : {&rejection.plugins, &rejection.pending}) {
    for (const PluginId plugin : *plugins) names.push_back(attempt.plan().NameOf(plugin));
  }
  std::ranges::sort(names);
  return names;
}

// Adds what Reserve and Permit said about the chosen node.
void AddReservation(const Attempt& attempt, const CycleResult& result, Json& report) {
  if (result.ended_at.has_value()) {
    report["rejectedAt"] = NameOf(*result.ended_at);
    const Json names = NamesOf(attempt, result.failure->rejection);
    if (!names.empty()) report["rejectors"] = names;
  }
  for (const PermitWait& wait : result.waits) {
    report["waits"][attempt.plan().plugins()[wait.plugin].name] = FormatDuration(wait.timeout_ns);
  }
}

}  // namespace

Json ExplainReport(const SchedulingCycle& cycle, const CycleResult& result) {
  Json report = OutcomeOf(result);
  // Other codes mean that not all nodes were evaluated, unless a node was chosen.
  const bool is_complete = result.code() == BERTH_SUCCESS || result.code() == BERTH_UNSCHEDULABLE ||
                           result.ended_at.has_value();
  if (!is_complete) return report;
  const Attempt& attempt = cycle.attempt();
  const NodeFindings& findings = cycle.findings();
  if (const PluginStatus& status = findings.pre_filter.status; status.rejected()) {
    const std::string plugin =
        status.plugin.has_value() ? attempt.plan().NameOf(*status.plugin) : std::string();
    report["preFilter"] = RejectionOf(plugin, status.code, status.reasons);
    report["rejectors"] = RejectorNames(attempt.plan(), findings);
    return report;
  }

  const std::vector<Row> feasible = RowsOf(*findings.filtered.feasible);
  if (Json nodes = RejectedNodes(attempt, findings); !nodes.empty()) {
    report["nodes"] = std::move(nodes);
  }
  if (feasible.empty()) {
    report["rejectors"] = RejectorNames(attempt.plan(), findings);
    return report;
  }
  const Ranked& ranked = findings.ranked;
  report["feasible"] = SortedNames(attempt, feasible);
  if (findings.filtered.nominated_only) report["nominatedNodeOnly"] = true;
  if (ranked.is_scored()) AddScores(attempt, ranked, feasible, report);
  report["selected"] = SortedNames(attempt, ranked.BestRows());
  if (result.row != kNoRow) report["chosen"] = NodeName(attempt, result.row);
  AddReservation(attempt, result, report);
  if (ranked.is_scored()) report["raw"] = RawScores(attempt, ranked, feasible);
  return report;
}

nlohmann::ordered_json ExplainGate(const Gate& gate, const PluginIds& ids) {
  const std::string& plugin = ids.NameOf(gate.plugin);
  return {{"code", CodeName(gate.code)},
          {"message", Join(gate.reasons, ", ")},
          {"preEnqueue", RejectionOf(plugin, gate.code, gate.reasons)},
          {"rejectors", Json::array({plugin})}};
}

}  // namespace berth::host
