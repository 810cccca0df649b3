#include "host/cli/explain_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

const std::string& TextOf(const Json& value) { return value.get_ref<const std::string&>(); }

std::string JoinTexts(const Json& texts, std::string_view between) {
  std::string joined;
  for (const Json& text : texts) {
    if (!joined.empty()) joined += between;
    joined += TextOf(text);
  }
  return joined;
}

std::string Nodes(size_t count) { return CountOf(count, "node"); }

// ---- The sentence -------------------------------------------------------------------------------

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
  if (code == "Skipped") return pod + " is being deleted and is not scheduled.";
  if (code == "Error") return pod + " could not be scheduled because of an error: " + message;
  return pod + " cannot be scheduled: " + message;
}

// ---- Nodes that fit -----------------------------------------------------------------------------

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

// ---- Nodes that do not fit ----------------------------------------------------------------------

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
  if (report.contains("feasible")) AppendFeasible(report, width, out);
  if (report.contains("nodes")) AppendRejected(report["nodes"], width, out);
  if (report.contains("rejectors") && !report["rejectors"].empty()) {
    out += '\n';
    AppendWrapped("The pod is tried again when a change in the cluster concerns " +
                      JoinTexts(report["rejectors"], ", ") + ".",
                  0, width, out);
  }
}

}  // namespace berth::host
