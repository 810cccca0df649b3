#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cli/commands.h"
#include "host/cycle/fit_error.h"
#include "host/cycle/schedule_one.h"
#include "host/plan/instance_context.h"
#include "host/queue/queue_policy.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDefaultNamespace = "default";

struct PodKey {
  std::string ns;
  std::string name;

  std::string ToString() const { return ns + "/" + name; }
};

Result<PodKey> ParsePodKey(const std::string& text) {
  const size_t slash = text.find('/');
  PodKey key = slash == std::string::npos ? PodKey{std::string(kDefaultNamespace), text}
                                          : PodKey{text.substr(0, slash), text.substr(slash + 1)};
  if (key.ns.empty() || key.name.empty() || key.name.find('/') != std::string::npos) {
    return Status::InvalidArgument("--pod: expected NAMESPACE/NAME or NAME, found \"" + text +
                                   "\"");
  }
  return key;
}

// Suggests pods with the same name in other namespaces first, because this is the most likely
// mistake. `where`: where the pods come from.
Status NoSuchPod(const EmbeddedCluster& cluster, const PodKey& wanted, std::string_view where) {
  std::vector<std::string> pending;
  std::vector<std::string> namesakes;
  for (const AnyObject& object : cluster.List(kPodKind)) {
    const Pod& pod = *std::get<PodRef>(object);
    if (!pod.node_name().empty() || pod.has_ended()) continue;
    pending.push_back(pod.Key());
    if (pod.name() == wanted.name) namesakes.push_back(pod.Key());
  }
  const std::string text =
      "expected a pending pod, found no pod " + wanted.ToString() + " in " + std::string(where);
  if (pending.empty()) return Status::NotFound(text + ", and no other pending pod");
  if (!namesakes.empty()) return Status::NotFound(text + DidYouMean(wanted.name, namesakes));
  return Status::NotFound(text + DidYouMean(wanted.ToString(), pending));
}

// Returns the pending pod with this name.
Result<PodRef> FindPendingPod(const EmbeddedCluster& cluster, const std::string& text,
                              std::string_view where) {
  const Result<PodKey> key = ParsePodKey(text);
  if (!key.ok()) return key.status();
  PodRef pod = cluster.FindPod(key->ns, key->name);
  if (pod == nullptr) return NoSuchPod(cluster, *key, where);
  if (!pod->node_name().empty()) {
    return Status::InvalidArgument("pod " + key->ToString() + " is on node " +
                                   std::string(pod->node_name()) +
                                   ": expected a pod without a node");
  }
  if (pod->has_ended()) {
    return Status::InvalidArgument("pod " + key->ToString() +
                                   " has ended: expected a pod that waits for a node");
  }
  return pod;
}

// ---- The report ---------------------------------------------------------------------------------

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

// Adds what Reserve and Permit said about the chosen node.
void AddReservation(const Attempt& attempt, const CycleResult& result, Json& report) {
  if (result.ended_at.has_value()) {
    report["rejectedAt"] = NameOf(*result.ended_at);
    const Json names = NamesOf(attempt.plan(), result.failure->rejection);
    if (!names.empty()) report["rejectors"] = names;
  }
  for (const PermitWait& wait : result.waits) {
    report["waits"][attempt.plan().plugins()[wait.plugin].name] = FormatDuration(wait.timeout_ns);
  }
}

// Adds which plugin the pod waits for, and what was found out about the nodes before. If PreFilter
// returned Pending, no node was evaluated.
void AddAwaited(const SchedulingCycle& cycle, const Failure& failure, Json& report) {
  const Attempt& attempt = cycle.attempt();
  const NodeFindings& findings = cycle.findings();
  report["awaits"] = NamesOf(attempt.plan(), failure.rejection);
  report["awaitsAt"] =
      NameOf(findings.pre_filter.status.ok() ? Point::kPreScore : Point::kPreFilter);
  if (!findings.pre_filter.status.ok()) return;
  if (Json nodes = RejectedNodes(attempt, findings); !nodes.empty()) {
    report["nodes"] = std::move(nodes);
  }
  report["feasible"] = SortedNames(attempt, RowsOf(*findings.filtered.feasible));
}

}  // namespace

Json ExplainReport(const SchedulingCycle& cycle, const CycleResult& result) {
  Json report = OutcomeOf(result);
  if (result.failure.has_value() && result.failure->rejection.only_awaits()) {
    AddAwaited(cycle, *result.failure, report);
    return report;
  }
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

Json ExplainGate(const Gate& gate, const PluginIds& ids) {
  const std::string& plugin = ids.NameOf(gate.plugin);
  return {{"code", CodeName(gate.code)},
          {"message", Join(gate.reasons, ", ")},
          {"preEnqueue", RejectionOf(plugin, gate.code, gate.reasons)},
          {"rejectors", Json::array({plugin})}};
}

namespace {

Json Explain(Simulation& simulation, const PodRef& pod, uint64_t seed) {
  SchedulingLoop& loop = simulation.loop();
  SchedulingCycle* own = loop.CycleFor(*pod);
  SchedulingCycle& cycle = own == nullptr ? loop.cycle() : *own;
  const QueuedEntity* queued = loop.queue().Find(pod->uid());
  Json report;
  if (queued != nullptr && queued->place == QueuePlace::kGated) {
    report = ExplainGate(*queued->gate, loop.plugin_ids());
  } else {
    const CycleResult result = cycle.Decide(pod);
    report = ExplainReport(cycle, result);
  }
  report["pod"] = pod->Key();
  report["nodeCount"] = loop.cache().table().node_count();
  report["seed"] = seed;
  if (own == nullptr) {
    report["note"] = "The pod belongs to the scheduler " + std::string(pod->scheduler_name()) +
                     "; this is the decision of " + cycle.plan().scheduler_name() + ".";
  }
  return report;
}

const std::string& TextOf(const Json& value) { return value.get_ref<const std::string&>(); }

std::string Nodes(size_t count) { return CountOf(count, "node"); }

// ---- The table: the sentence --------------------------------------------------------------------

std::string WhyThisNode(const Json& report) {
  const size_t feasible = report["feasible"].size();
  const size_t all = report["nodeCount"].get<size_t>();
  const size_t selected = report["selected"].size();
  if (report.contains("nominatedNodeOnly")) {
    return "it is the nominated node of the pod and still fits, so no other node was evaluated";
  }
  if (feasible == 1) return "it is the only one of " + Nodes(all) + " that fits";
  const std::string fitting = "the " + Nodes(feasible) + " that fit (of " + WithCommas(all) + ")";
  const std::string draw = "; it was selected at random with seed " + DumpJson(report["seed"]);
  if (!report.contains("scores")) return "no plugin scores " + fitting + draw;
  const std::string total = DumpJson(report["scores"][TextOf(report["chosen"])]["total"]);
  if (selected == 1) return "its total score, " + total + ", is the highest of " + fitting;
  return "it is one of " + Nodes(selected) + " with the highest total score, " + total + ", of " +
         fitting + draw;
}

// "acme.Gang (up to 1m0s) and acme.Quota (up to 5s)"
std::string WaitsText(const Json& waits) {
  std::string text;
  for (const auto& [plugin, timeout] : waits.items()) {
    if (!text.empty()) text += " and ";
    text.append(plugin).append(" (up to ").append(TextOf(timeout)).append(1, ')');
  }
  return text;
}

// The end of a pod for which a node was chosen, but which Reserve or Permit does not let pass.
std::string AfterTheChoice(const Json& report) {
  const std::string& pod = TextOf(report["pod"]);
  const std::string& node = TextOf(report["chosen"]);
  if (report.contains("waits")) {
    return pod + " gets a place on " + node + ", and waits on Permit for " +
           WaitsText(report["waits"]) + " before it is bound.";
  }
  return pod + " cannot be scheduled: " + node + " was chosen, but " +
         TextOf(report["rejectedAt"]) + " did not accept it: " + TextOf(report["message"]);
}

std::string Sentence(const Json& report) {
  const std::string& pod = TextOf(report["pod"]);
  const std::string& code = TextOf(report["code"]);
  if (report.contains("waits") || report.contains("rejectedAt")) return AfterTheChoice(report);
  if (code == "Success") {
    return pod + " is placed on " + TextOf(report["chosen"]) + ": " + WhyThisNode(report) + ".";
  }
  const std::string& message = TextOf(report["message"]);
  if (report.contains("awaits")) return pod + " has no node yet: " + message + ".";
  if (code == "Skipped") return pod + " is being deleted and is not scheduled.";
  if (code == "Error") return pod + " could not be scheduled because of an error: " + message;
  return pod + " cannot be scheduled: " + message;
}

// ---- The table: nodes that fit ------------------------------------------------------------------

struct FittingNode {
  std::string name;
  std::string mark;  // "*": the chosen node. "=": a node with the same total.
  int64_t total = 0;
  const Json* score = nullptr;  // Null if scoring did not run.
  const Json* raw = nullptr;
};

// Returns the nodes that fit, highest total first; nodes with the same total by name.
std::vector<FittingNode> FittingNodes(const Json& report) {
  const auto selected = report["selected"].get<std::vector<std::string>>();
  std::vector<FittingNode> nodes;
  for (const Json& name : report["feasible"]) {
    FittingNode& node = nodes.emplace_back();
    node.name = TextOf(name);
    if (node.name == TextOf(report["chosen"])) {
      node.mark = "*";
    } else if (std::ranges::binary_search(selected, node.name)) {
      node.mark = "=";
    }
  }
  if (!report.contains("scores")) return nodes;
  auto score = report["scores"].begin();
  auto raw = report["raw"].begin();
  for (FittingNode& node : nodes) {
    node.score = &*score++;
    node.raw = &*raw++;
    node.total = (*node.score)["total"].get<int64_t>();
  }
  std::ranges::stable_sort(nodes, std::ranges::greater(), &FittingNode::total);
  return nodes;
}

// "1200 -> 55 x 2"
std::string Score(const FittingNode& node, const std::string& plugin, const Json& weight) {
  return DumpJson((*node.raw)[plugin]) + " -> " + DumpJson((*node.score)["plugins"][plugin]) +
         " x " + DumpJson(weight);
}

// Returns a table with one column for each plugin, or if `narrow`, with one column that can be
// wrapped.
Table ScoreTable(const Json& weights, const std::vector<FittingNode>& nodes, bool narrow) {
  std::vector<std::string> header = {"", "NODE", "TOTAL"};
  if (narrow) header.emplace_back("RAW -> NORMALISED X WEIGHT");
  for (const auto& [plugin, weight] : weights.items()) {
    if (!narrow) header.push_back(plugin);
  }
  Table table(std::move(header));
  for (const FittingNode& node : nodes) {
    std::vector<std::string> cells = {node.mark, node.name, std::to_string(node.total)};
    std::string all;
    for (const auto& [plugin, weight] : weights.items()) {
      const std::string score = Score(node, plugin, weight);
      if (narrow) {
        all.append(all.empty() ? "" : ", ").append(plugin).append(" ").append(score);
      } else {
        cells.push_back(score);
      }
    }
    if (narrow) cells.push_back(std::move(all));
    table.AddRow(std::move(cells));
  }
  return table;
}

void AppendFeasible(const Json& report, TerminalWidth width, std::string& out) {
  const std::vector<FittingNode> nodes = FittingNodes(report);
  out += "\nFits on " + Nodes(nodes.size()) + ", * chosen";
  if (report["selected"].size() > 1) out += ", = same total";
  if (!report.contains("scores")) {
    out += ":\n";
    Table table({"", "NODE"});
    for (const FittingNode& node : nodes) table.AddRow({node.mark, node.name});
    table.Append(width, out);
    return;
  }
  out += "; raw score -> normalised x weight:\n";
  const Json& weights = report["weights"];
  const Table wide = ScoreTable(weights, nodes, false);
  const bool narrow = width.has_value() && wide.Width() > *width;
  (narrow ? ScoreTable(weights, nodes, true) : wide).Append(width, out);
}

// ---- The table: nodes that do not fit -----------------------------------------------------------

// "NodeResourcesFit (Unschedulable): Insufficient cpu"
std::string Verdict(const Json& rejection) {
  const std::string& plugin = TextOf(rejection["plugin"]);
  std::string text = plugin.empty() ? "excluded by PreFilter" : plugin;
  text += " (" + TextOf(rejection["code"]) + ")";
  const std::string reasons = JoinTexts(rejection["reasons"], ", ");
  return reasons.empty() ? text : text + ": " + reasons;
}

void AppendRejected(const Json& nodes, TerminalWidth width, std::string& out) {
  std::map<std::string, std::vector<std::string>> by_verdict;
  for (const auto& [node, rejection] : nodes.items()) {
    by_verdict[Verdict(rejection)].push_back(node);
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> groups(by_verdict.begin(),
                                                                       by_verdict.end());
  std::ranges::stable_sort(
      groups, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  out += "\nDoes not fit on " + Nodes(nodes.size()) + ":\n";
  for (const auto& [verdict, names] : groups) {
    AppendWrapped("  " + std::to_string(names.size()) + "  " + Printable(verdict), 5, width, out);
    out.append(5, ' ');
    AppendWrapped(Printable(Join(names, ", ")), 5, width, out);
  }
}

// Appends the nodes that were evaluated for a pod that waits for a plugin, and until when it waits.
void AppendAwaited(const Json& report, TerminalWidth width, std::string& out) {
  if (report.contains("feasible")) {
    out += "\nFits on " + Nodes(report["feasible"].size()) + ", not scored yet:\n";
    AppendWrapped("  " + Printable(JoinTexts(report["feasible"], ", ")), 2, width, out);
  }
  if (report.contains("nodes")) AppendRejected(report["nodes"], width, out);
  out += '\n';
  AppendWrapped("The pod is tried again when " + JoinTexts(report["awaits"], ", ") +
                    " activates it, when the pod changes, and after five minutes.",
                0, width, out);
}

}  // namespace

void AppendExplanation(const Json& report, TerminalWidth width, std::string& out) {
  AppendWrapped(Printable(Sentence(report)), 0, width, out);
  if (report.contains("note")) AppendWrapped(Printable(TextOf(report["note"])), 0, width, out);
  if (report.contains("preEnqueue")) {
    out += "\nHeld back by PreEnqueue, before any node is evaluated:\n";
    AppendWrapped("  " + Printable(Verdict(report["preEnqueue"])), 2, width, out);
  }
  if (report.contains("preFilter")) {
    out += "\nRejected for all nodes by PreFilter:\n";
    AppendWrapped("  " + Printable(Verdict(report["preFilter"])), 2, width, out);
  }
  if (report.contains("awaits")) return AppendAwaited(report, width, out);
  if (report.contains("feasible")) AppendFeasible(report, width, out);
  if (report.contains("nodes")) AppendRejected(report["nodes"], width, out);
  if (report.contains("rejectors") && !report["rejectors"].empty()) {
    out += '\n';
    AppendWrapped("The pod is tried again when a change in the cluster concerns " +
                      JoinTexts(report["rejectors"], ", ") + ".",
                  0, width, out);
  }
}

int ExecuteExplain(const ExplainFlags& flags, CommandEnvironment& env) {
  Status status = CheckSource("explain", flags);
  if (status.ok()) status = CheckStandardInput("explain", flags.cluster_files);
  if (!status.ok()) return Fail(env, status);
  Progress progress(env.err, env.err_is_terminal, env.steady_ns);
  ProgressLog every_level(progress, BERTH_LOG_TRACE);
  LogFilter log(every_level, BERTH_LOG_WARN);
  const auto simulation = OpenSimulation(flags, env, progress, log);
  progress.Clear();
  if (!simulation.ok()) return Fail(env, simulation.status());
  PrintNotes((*simulation)->cluster().TakeNotes(), env);
  const std::string_view where = flags.cluster_files.empty() ? "the cluster" : "the input";
  const Result<PodRef> pod = FindPendingPod((*simulation)->cluster().objects(), flags.pod, where);
  if (!pod.ok()) return Fail(env, pod.status());

  Json report = Explain(**simulation, *pod, flags.seed);
  const MissingKinds missing = MissingKindsOf(flags, **simulation);
  if (!missing.empty()) report["missingKinds"] = ToJson(missing);
  PrintWarnings(WarningsAbout(missing), env);
  const std::string code = report["code"];
  return PrintAs(flags.output, report, AppendExplanation, env,
                 code == "Success" || code == "Skipped" ? kExitDone : kExitNotAllScheduled);
}

}  // namespace berth::host
