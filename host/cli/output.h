// How commands print: tables for people, JSON and YAML for programs.
#ifndef BERTH_HOST_CLI_OUTPUT_H_
#define BERTH_HOST_CLI_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace berth::host {

enum class OutputFormat : uint8_t { kTable, kJson, kYaml };

// Appends `document` and a newline. `format` is kJson or kYaml. Text that is not UTF-8 is replaced.
void AppendDocument(const nlohmann::ordered_json& document, OutputFormat format, std::string& out);

// Columns of a terminal; none: not a terminal, lines may have any length.
using TerminalWidth = std::optional<uint32_t>;

// With so many digits behind the point; with an exponent where that would be long.
std::string FormatFixed(double value, int decimals);

// How many characters `text` has: what UTF-8 spends several bytes on counts once.
size_t CharacterCount(std::string_view text);

// `text` with control characters made visible as '?': what comes from a file must not steer the
// terminal.
std::string Printable(std::string_view text);

// Breaks `text` at spaces into lines of at most `width` characters. A longer word has a line of its
// own. At least one line.
std::vector<std::string_view> WrapText(std::string_view text, size_t width);

// Appends `text` wrapped to the terminal and a newline; every line but the first is indented by
// `hanging`, the first one by nothing: it begins with what `out` holds since the last newline.
void AppendWrapped(std::string_view text, size_t hanging, TerminalWidth width, std::string& out);

// Left-aligned columns, three spaces apart, as kubectl prints them.
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  // As many cells as the header has.
  void AddRow(std::vector<std::string> cells);
  size_t row_count() const { return rows_.size() - 1; }

  // How wide it is when nothing is wrapped.
  size_t Width() const;
  // On a terminal the last column is wrapped into what the others leave of `width`.
  void Append(TerminalWidth width, std::string& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // The header first.
  std::vector<size_t> widths_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_OUTPUT_H_
