#include "host/cli/output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "host/base/assert.h"
#include "host/base/json_text.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr size_t kColumnGap = 3;  // Spaces between columns.
constexpr size_t kMinWrap = 24;   // Text is not wrapped into fewer characters.

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

}  // namespace berth::host
