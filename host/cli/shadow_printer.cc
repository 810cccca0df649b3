#include "host/cli/shadow_printer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace berth::host {
namespace {

constexpr size_t kShadowGap = 3;

double ToSeconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

nlohmann::ordered_json DecisionJson(const ShadowDecision& decision) {
  nlohmann::ordered_json json = {{"time", ToSeconds(decision.time_ns)},
                                 {"verdict", ShadowVerdictName(decision.verdict)},
                                 {"pod", decision.pod},
                                 {"theirs", decision.theirs}};
  if (!decision.ours.empty()) json["ours"] = decision.ours;
  if (decision.their_total.has_value()) json["theirTotal"] = *decision.their_total;
  if (decision.our_total.has_value()) json["ourTotal"] = *decision.our_total;
  if (!decision.why.empty()) json["why"] = decision.why;
  return json;
}

nlohmann::ordered_json TotalsJson(const ShadowSummary& summary) {
  const ShadowTotals& totals = summary.totals;
  nlohmann::ordered_json json = {{"judged", totals.judged()}};
  for (size_t i = 0; i < kShadowVerdictCount; ++i) {
    json[std::string(ShadowVerdictName(static_cast<ShadowVerdict>(i)))] = totals.by_verdict[i];
  }
  json["agreement"] = totals.agreement();
  json["unexplained"] = totals.unexplained();
  json["unseen"] = totals.unseen;
  json["hurried"] = totals.hurried;
  json["refused"] = summary.refused;
  json["seconds"] = ToSeconds(summary.took_ns);
  return json;
}

// Cuts the digits off, so that only a complete agreement is shown as 100.00.
std::string Percentage(double share) { return FormatFixed(std::floor(share * 100) / 100, 2); }

}  // namespace

bool ShadowPrinter::Print(const ShadowDecision& decision) {
  if (!is_table()) return WriteDocument(DecisionJson(decision));
  std::string text;
  if (!std::exchange(has_header_, true)) {
    AppendShadowRow({"TIME", "VERDICT", "POD", "THEIRS", "OURS"}, "WHY", text);
  }
  AppendShadowRow({FormatFixed(ToSeconds(decision.time_ns), 3),
                   std::string(ShadowVerdictName(decision.verdict)), Printable(decision.pod),
                   Printable(decision.theirs), Printable(decision.ours)},
                  Printable(decision.why), text);
  return Write(text);
}

void ShadowPrinter::AppendShadowRow(const std::array<std::string, kColumns>& cells,
                                    const std::string& why, std::string& text) {
  std::string row;
  for (size_t i = 0; i < kColumns; ++i) {
    const size_t length = CharacterCount(cells[i]);
    widths_[i] = std::max(widths_[i], length);
    row += cells[i] + std::string(widths_[i] - length + kShadowGap, ' ');
  }
  if (why.empty()) {
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
    return;
  }
  text += row;
  AppendWrapped(why, row.size(), width(), text);
}

bool ShadowPrinter::PrintTotals(const ShadowSummary& summary) {
  const bool is_written =
      is_table() ? Write(ShadowTotalsText(summary)) : WriteDocument(TotalsJson(summary));
  return is_written && Flush();
}

std::string ShadowTotalsText(const ShadowSummary& summary) {
  const ShadowTotals& totals = summary.totals;
  std::string text = CountOf(totals.judged(), "pod") + " judged";
  if (totals.judged() > 0) {
    std::string_view separator = ": ";
    for (size_t i = 0; i < kShadowVerdictCount; ++i) {
      if (totals.by_verdict[i] == 0) continue;
      text.append(separator).append(WithCommas(totals.by_verdict[i])).append(" ");
      text.append(ShadowVerdictName(static_cast<ShadowVerdict>(i)));
      separator = ", ";
    }
    text += ": " + Percentage(totals.agreement()) + " % agreement. " +
            WithCommas(totals.unexplained()) + " unexplained";
  }
  text += ".\n";
  if (totals.unseen > 0) {
    text +=
        CountOf(totals.unseen, "pod") + " had a node when first seen and could not be judged.\n";
  }
  if (totals.hurried > 0) {
    text += CountOf(totals.hurried, "pod") +
            " could be judged only in the order in which the bindings arrived, because berth was "
            "late.\n";
  }
  if (summary.refused > 0) {
    text += CountOf(summary.refused, "request") +
            " of plugins to change the cluster had to be refused.\n";
  }
  return text;
}

}  // namespace berth::host
