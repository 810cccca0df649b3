// Formats the output of commands: tables, JSON and YAML.
#ifndef BERTH_HOST_CLI_OUTPUT_H_
#define BERTH_HOST_CLI_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/text.h"

namespace berth::host {

// GCC 12 warns that kJson of cluster/client.h is shadowed, although the enumerators are scoped.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class OutputFormat : uint8_t { kTable, kJson, kYaml };
#pragma GCC diagnostic pop

// Appends `document` and a newline. Text that is not UTF-8 is replaced.
// REQUIRES: `format` is kJson or kYaml.
void AppendDocument(const nlohmann::ordered_json& document, OutputFormat format, std::string& out);

// The width of a terminal in columns. If the output is not a terminal, it is nullopt and lines may
// have any length.
using TerminalWidth = std::optional<uint32_t>;

// Returns `value` with this many decimals, or with an exponent if the text would be too long.
std::string FormatFixed(double value, int decimals);

// Returns the number of characters in `text`. A UTF-8 sequence of several bytes is one character.
size_t CharacterCount(std::string_view text);

// Returns `text` with control characters replaced by '?', because text from a file must not control
// the terminal.
std::string Printable(std::string_view text);

// Breaks `text` at spaces into lines of at most `width` characters. A longer word gets a line of
// its own. Returns at least one line.
std::vector<std::string_view> WrapText(std::string_view text, size_t width);

// Appends `text`, wrapped to the terminal, and a newline. The first line continues the last line of
// `out`; every other line is indented by `hanging` spaces.
void AppendWrapped(std::string_view text, size_t hanging, TerminalWidth width, std::string& out);

// Left-aligned columns, three spaces apart, as kubectl prints them.
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  // REQUIRES: there are as many cells as in the header.
  void AddRow(std::vector<std::string> cells);
  size_t row_count() const { return rows_.size() - 1; }

  // Returns the width of the table if nothing is wrapped.
  size_t Width() const;
  // Appends the table. On a terminal the last column is wrapped into the width that the other
  // columns leave.
  void Append(TerminalWidth width, std::string& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // The first row is the header.
  std::vector<size_t> widths_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_OUTPUT_H_
