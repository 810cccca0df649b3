// Formats and prints the output of commands: tables, JSON and YAML, and decisions as they are made.
#ifndef BERTH_HOST_CLI_OUTPUT_H_
#define BERTH_HOST_CLI_OUTPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/text.h"

namespace berth::host {

struct DecisionLine;
struct ShadowDecision;
struct ShadowSummary;

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

// Returns the texts of a JSON array with `separator` between them.
std::string JoinTexts(const nlohmann::ordered_json& texts, std::string_view separator);

// Returns the number of characters in `text`. A UTF-8 sequence of several bytes is one character.
size_t CharacterCount(std::string_view text);

// Returns `text` with control characters replaced by '?', because text from a file must not control
// the terminal.
std::string Printable(std::string_view text);

// Returns the lines of `text`, without their ends. A line end at the end of `text` begins no line.
// Lifetime: that of the argument's characters.
std::vector<std::string_view> LinesOf(std::string_view text);

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

// ---- The output of commands that print while they run -------------------------------------------

// Keeps the errno of the first failure.
// Threading: one thread.
class LiveOutput {
 public:
  struct Options {
    OutputFormat format = OutputFormat::kTable;
    TerminalWidth width = {};
    bool is_live = true;  // Flush the output after each text.
  };

  // `out` must outlive this object.
  LiveOutput(std::ostream& out, Options options) : out_(out), options_(options) {}

  // Returns false if the output has failed. This applies to the next two methods too.
  bool Write(std::string_view text);
  // Writes the document on one line, or as one document of YAML.
  // REQUIRES: the format is kJson or kYaml.
  bool WriteDocument(const nlohmann::ordered_json& document);
  bool Flush();

  bool is_table() const { return options_.format == OutputFormat::kTable; }
  TerminalWidth width() const { return options_.width; }
  // The errno of the first failure; 0 if it is not known.
  int error() const { return error_.value_or(0); }

 private:
  bool KeepError();

  std::ostream& out_;
  const Options options_;
  std::optional<int> error_;
};

// Prints the decisions of a running scheduler.
// kTable: prints one row for each decision, with the time since the start in seconds, wrapped to
//         the terminal. A column becomes wider when a longer text comes; earlier rows do not
//         change. Repeated lines are left out.
// kJson:  prints ToJson() on one line for each decision.
// kYaml:  prints ToJson() as one document for each decision.
class DecisionPrinter : public LiveOutput {
 public:
  using LiveOutput::LiveOutput;

  // Returns false if the output has failed.
  bool Print(const DecisionLine& line);

 private:
  std::string Row(const DecisionLine& line);

  bool has_header_ = false;
  size_t pod_width_ = 24;
};

// Prints the decisions and the totals of shadow mode.
// kTable: prints one row for each judged pod, wrapped to the terminal, and the totals as a
//         sentence. A column becomes wider when a longer text comes; earlier rows do not change.
// kJson:  prints one object on one line for each judged pod, and one with the totals at the end.
// kYaml:  prints the same objects as documents.
class ShadowPrinter : public LiveOutput {
 public:
  using LiveOutput::LiveOutput;

  // Each returns false if the output has failed.
  bool Print(const ShadowDecision& decision);
  bool PrintTotals(const ShadowSummary& summary);

 private:
  static constexpr size_t kColumns = 5;  // Those before the explanation.

  void AppendShadowRow(const std::array<std::string, kColumns>& cells, const std::string& why,
                       std::string& text);

  bool has_header_ = false;
  std::array<size_t, kColumns> widths_ = {8, 8, 24, 10, 10};
};

// Returns "2,000 pods judged: 1,204 same, 790 tie, 6 order: 100.00 % agreement. 0 unexplained.",
// with further sentences about what may explain surprises.
std::string ShadowTotalsText(const ShadowSummary& summary);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_OUTPUT_H_
