#include "host/cli/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "host/base/assert.h"
#include "host/base/emulated_version.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/shadow/shadow_run.h"

namespace berth::host {
namespace {

constexpr size_t kColumnGap = 3;  // Spaces between columns.
constexpr size_t kMinWrap = 24;   // Text is not wrapped into fewer characters.

// ---- Live output --------------------------------------------------------------------------------

constexpr size_t kTimeWidth = 10;  // Up to 99999.999s.

// "1.500s"
std::string Seconds(int64_t ns) {
  std::array<char, 32> text{};
  const int64_t ms = ns / kMillisecond;
  std::snprintf(text.data(), text.size(), "%lld.%03llds", static_cast<long long>(ms / 1000),
                static_cast<long long>(ms % 1000));
  return text.data();
}

std::string Sentence(const DecisionLine& line) {
  const std::string on = line.node.empty() ? "" : " on " + line.node;
  switch (line.type) {
    case DecisionType::kBound: return "bound to " + line.node;
    case DecisionType::kRefused: return "refused" + on + ": " + line.message;
    case DecisionType::kError: return "error" + on + ": " + line.message;
    case DecisionType::kSkipped: return "skipped: " + line.message;
    case DecisionType::kWaiting: return "waits for permission to be bound to " + line.node;
    case DecisionType::kGated: return "gated: " + line.message;
  }
  return line.message;
}

// Returns `text` aligned to the right in `width` characters.
std::string Right(std::string_view text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ').append(text);
}

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
  json["emulatedVersion"] = ToString(summary.emulated_version);
  return json;
}

// Cuts the digits off, so that only a complete agreement is shown as 100.00.
std::string Percentage(double share) { return FormatFixed(std::floor(share * 100) / 100, 2); }

// ---- YAML ---------------------------------------------------------------------------------------

bool IsWordLetter(char c) { return IsLetter(c) || c == '_'; }

// Returns true if every YAML reader reads the unquoted text as a string.
bool IsPlainYaml(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on",
                                                      "off",  "null",  "y",   "n"};
  if (text.empty() || !IsWordLetter(text.front())) return false;
  for (const char c : text) {
    if (!IsWordLetter(c) && !IsDigit(c) && c != '.' && c != '-' && c != '/') return false;
  }
  return std::ranges::find(kWords, ToLower(text)) == kWords.end();
}

void EmitText(YAML::Emitter& emitter, const std::string& text) {
  if (!IsPlainYaml(text)) emitter << YAML::DoubleQuoted;
  emitter << text;
}

void Emit(YAML::Emitter& emitter, const nlohmann::ordered_json& value) {
  if (value.is_object()) {
    emitter << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      emitter << YAML::Key;
      EmitText(emitter, key);
      emitter << YAML::Value;
      Emit(emitter, member);
    }
    emitter << YAML::EndMap;
  } else if (value.is_array()) {
    emitter << YAML::BeginSeq;
    for (const auto& element : value) Emit(emitter, element);
    emitter << YAML::EndSeq;
  } else if (value.is_string()) {
    EmitText(emitter, value.get_ref<const std::string&>());
  } else {
    emitter << DumpJson(value);
  }
}

}  // namespace

void AppendDocument(const nlohmann::ordered_json& document, OutputFormat format, std::string& out) {
  BERTH_ASSERT(format != OutputFormat::kTable);
  if (format == OutputFormat::kJson) {
    out += DumpJson(document, 2);
  } else {
    YAML::Emitter emitter;
    Emit(emitter, document);
    out.append(emitter.c_str(), emitter.size());
  }
  out += '\n';
}

// ---- Text ---------------------------------------------------------------------------------------

std::string FormatFixed(double value, int decimals) {
  std::array<char, 32> text;
  char* const last = text.data() + text.size();
  auto end = std::to_chars(text.data(), last, value, std::chars_format::fixed, decimals);
  if (end.ec != std::errc()) {
    end = std::to_chars(text.data(), last, value, std::chars_format::scientific, decimals);
  }
  return {text.data(), end.ptr};
}

std::string JoinTexts(const nlohmann::ordered_json& texts, std::string_view separator) {
  return Join(texts.get<std::vector<std::string>>(), separator);
}

size_t CharacterCount(std::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, IsContinuationByte));
}

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : ' ');
    if (byte == 0xC2 && next >= 0x80 && next <= 0x9F) {  // The C1 control characters.
      printable += '?';
      ++i;
    } else {
      printable += byte < 0x20 || byte == 0x7F ? '?' : text[i];
    }
  }
  return printable;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> WrapText(std::string_view text, size_t width) {
  std::vector<std::string_view> lines;
  size_t begin = 0;   // Where the line begins.
  size_t end = 0;     // Where the last word that fits into the line ends.
  size_t length = 0;  // The number of characters from `begin` to `end`.
  for (size_t word = 0; word <= text.size();) {
    const size_t word_end = std::min(text.find(' ', word), text.size());
    const size_t word_length = CharacterCount(text.substr(word, word_end - word));
    if (end > begin && length + (word - end) + word_length > width) {
      lines.push_back(text.substr(begin, end - begin));
      begin = word;
      length = word_length;
    } else {
      length += (word - end) + word_length;
    }
    end = word_end;
    word = word_end + 1;
  }
  lines.push_back(text.substr(begin, end - begin));
  return lines;
}

void AppendWrapped(std::string_view text, size_t hanging, TerminalWidth width, std::string& out) {
  const size_t line_start = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  const size_t used = CharacterCount(std::string_view(out).substr(line_start));
  if (!width.has_value() || *width < hanging + kMinWrap || *width < used + kMinWrap) {
    out.append(text).append(1, '\n');
    return;
  }
  const auto first = WrapText(text, *width - used);
  out.append(first.front()).append(1, '\n');
  if (first.size() == 1) return;
  const auto rest = text.substr(static_cast<size_t>(first[1].data() - text.data()));
  for (const std::string_view line : WrapText(rest, *width - hanging)) {
    out.append(hanging, ' ').append(line).append(1, '\n');
  }
}

// ---- Tables -------------------------------------------------------------------------------------

Table::Table(std::vector<std::string> header) : widths_(header.size()) {
  BERTH_ASSERT(!header.empty());
  AddRow(std::move(header));
}

void Table::AddRow(std::vector<std::string> cells) {
  BERTH_ASSERT(cells.size() == widths_.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = Printable(cells[i]);
    widths_[i] = std::max(widths_[i], CharacterCount(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

size_t Table::Width() const {
  size_t width = kColumnGap * (widths_.size() - 1);
  for (const size_t column : widths_) width += column;
  return width;
}

void Table::Append(TerminalWidth width, std::string& out) const {
  const size_t last = widths_.size() - 1;
  const size_t before_last = Width() - widths_[last];
  const bool wraps = width.has_value() && *width >= before_last + kMinWrap;
  for (const auto& cells : rows_) {
    size_t missing =
        0;  // The spaces before the next cell. They are not written at the end of a line.
    for (size_t i = 0; i < last; ++i) {
      if (!cells[i].empty()) out.append(std::exchange(missing, 0), ' ').append(cells[i]);
      missing += widths_[i] - CharacterCount(cells[i]) + kColumnGap;
    }
    if (cells[last].empty()) {
      out += '\n';
      continue;
    }
    out.append(missing, ' ');
    if (!wraps || CharacterCount(cells[last]) <= *width - before_last) {
      out.append(cells[last]).append(1, '\n');
    } else {
      AppendWrapped(cells[last], before_last, width, out);
    }
  }
}

// ---- Live output --------------------------------------------------------------------------------

bool LiveOutput::Write(std::string_view text) {
  errno = 0;
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (options_.is_live) out_.flush();
  return KeepError();
}

bool LiveOutput::WriteDocument(const nlohmann::ordered_json& document) {
  BERTH_ASSERT(!is_table());
  if (options_.format == OutputFormat::kJson) return Write(DumpJson(document) + "\n");
  std::string text = "---\n";
  AppendDocument(document, OutputFormat::kYaml, text);
  return Write(text);
}

bool LiveOutput::Flush() {
  errno = 0;
  out_.flush();
  return KeepError();
}

bool LiveOutput::KeepError() {
  if (out_) return true;
  if (!error_.has_value()) error_ = errno;
  return false;
}

// ---- Decisions ----------------------------------------------------------------------------------

bool DecisionPrinter::Print(const DecisionLine& line) {
  if (!is_table()) return WriteDocument(ToJson(line));
  return line.is_repeated || Write(Row(line));
}

std::string DecisionPrinter::Row(const DecisionLine& line) {
  std::string text;
  const std::string gap(kColumnGap, ' ');
  const std::string pod = Printable(line.pod);
  pod_width_ = std::max(pod_width_, CharacterCount(pod));
  if (!std::exchange(has_header_, true)) {
    text += Right("TIME", kTimeWidth) + gap + "POD" + std::string(pod_width_ - 3, ' ') + gap +
            "DECISION\n";
  }
  text += Right(Seconds(line.time_ns), kTimeWidth) + gap + pod +
          std::string(pod_width_ - CharacterCount(pod), ' ') + gap;
  AppendWrapped(Printable(Sentence(line)), kTimeWidth + pod_width_ + 2 * kColumnGap, width(), text);
  return text;
}

// ---- Shadow mode --------------------------------------------------------------------------------

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
    row += cells[i] + std::string(widths_[i] - length + kColumnGap, ' ');
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
  if (totals.unexplained() > 0) {
    text += "Berth decided as kube-scheduler " + ToString(summary.emulated_version) +
            ": compare with the version that placed the pods (see --emulated-version).\n";
  }
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
