// Prints the decisions and the totals of shadow mode.
#ifndef BERTH_HOST_CLI_SHADOW_PRINTER_H_
#define BERTH_HOST_CLI_SHADOW_PRINTER_H_

#include <array>
#include <cstddef>
#include <string>

#include "host/cli/live_output.h"
#include "host/process/shadow/shadow_run.h"

namespace berth::host {

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

#endif  // BERTH_HOST_CLI_SHADOW_PRINTER_H_
