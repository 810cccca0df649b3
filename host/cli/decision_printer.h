// Decisions on a terminal, or for a program that reads along.
#ifndef BERTH_HOST_CLI_DECISION_PRINTER_H_
#define BERTH_HOST_CLI_DECISION_PRINTER_H_

#include <cstddef>
#include <ostream>
#include <string>

#include "host/cli/output.h"
#include "host/process/decision_line.h"

namespace berth::host {

// kTable: a line for people each, with the time since the start in seconds; wrapped to the
// terminal. Columns grow with what is in them: what is printed already stays as it is. Repeated
// lines are left out.
// kJson: what ToJson() gives, on a line each. kYaml: the same, as a document each.
class DecisionPrinter {
 public:
  struct Options {
    OutputFormat format = OutputFormat::kTable;
    TerminalWidth width = {};
    bool is_live = true;  // Somebody reads along: each line is passed on at once.
  };

  // `out` outlives it.
  DecisionPrinter(std::ostream& out, Options options) : out_(out), options_(options) {}

  void Print(const DecisionLine& line);

 private:
  void AppendRow(const DecisionLine& line, std::string& text);

  std::ostream& out_;
  const Options options_;
  bool has_header_ = false;
  size_t pod_width_ = 24;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_DECISION_PRINTER_H_
