// The results of a run of berth-bench: the measurements and the conditions of the machine.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_RESULTS_H_
#define BERTH_TESTS_BENCH_WORKLOADS_RESULTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/status.h"
#include "host/cli/output.h"
#include "tests/bench/workloads/json_fields.h"
#include "tests/bench/workloads/measurement.h"

namespace berth::bench {

// The conditions of a run. Times are only comparable between runs with equal conditions.
struct Conditions {
  std::string cpu;  // "Intel(R) Xeon(R) ..."; empty if not known.
  uint32_t cpus = 0;
  std::string compiler;  // "GCC 12.2.0"
  std::string build;     // "Release"
  std::vector<std::string> profiles;

  template <class Self, class Field>
  static void ForEach(Self& self, Field&& field) {
    field("cpu", self.cpu);
    field("cpus", self.cpus);
    field("compiler", self.compiler);
    field("build", self.build);
    field("profiles", self.profiles);
  }
};

// Returns the conditions of this machine and this executable.
Conditions ConditionsHere(std::vector<std::string> profiles);

struct Results {
  Conditions conditions;
  std::vector<Measurement> measurements;

  // Returns null if the workload was not measured.
  const Measurement* Find(std::string_view workload) const;
};

nlohmann::ordered_json ToJson(const Results& results);
// Reads results from `text`. Error messages call it `file`.
// Errors: InvalidArgument if `text` has another format or contains a workload twice. The message
//         contains the path of the field, the found value and the expected value.
host::Result<Results> ResultsFrom(std::string_view text, const std::string& file);

void AppendTable(const Results& results, host::TerminalWidth width, std::string& out);

// Formats a duration: "1,204 ns", "86.4 us", "12.35 ms".
std::string FormatNs(double ns);
// Formats a size: "41.3 MB".
std::string FormatBytes(double bytes);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_RESULTS_H_
