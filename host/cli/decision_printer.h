// Prints the decisions of a running scheduler.
#ifndef BERTH_HOST_CLI_DECISION_PRINTER_H_
#define BERTH_HOST_CLI_DECISION_PRINTER_H_

#include <cstddef>
#include <string>

#include "host/cli/live_output.h"
#include "host/process/assemble/decision_reporter.h"

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_DECISION_PRINTER_H_
