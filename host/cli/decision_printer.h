// Prints the decisions of a running scheduler.
#ifndef BERTH_HOST_CLI_DECISION_PRINTER_H_
#define BERTH_HOST_CLI_DECISION_PRINTER_H_

#include <cstddef>
#include <ostream>
#include <string>

#include "host/cli/output.h"
#include "host/process/decision_line.h"

namespace berth::host {

// kTable: prints one row for each decision, with the time since the start in seconds, wrapped to
// the
//         terminal. A column becomes wider when a longer text comes; earlier rows do not change.
//         Repeated lines are left out.
// kJson:  prints ToJson() on one line for each decision.
// kYaml:  prints ToJson() as one document for each decision.
class DecisionPrinter {
 public:
  struct Options {
    OutputFormat format = OutputFormat::kTable;
    TerminalWidth width = {};
    bool is_live = true;  // Flush the output after each line.
  };

  // `out` must outlive the printer.
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
