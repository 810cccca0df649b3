// The file that a run of berth-bench writes: what was measured, and where.
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

// Times compare where these are equal.
struct Conditions {
  std::string cpu;  // "Intel(R) Xeon(R) ..."; empty: not known.
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

// Of this machine and this executable.
Conditions ConditionsHere(std::vector<std::string> profiles);

struct Results {
  Conditions conditions;
  std::vector<Measurement> measurements;

  // Null: it was not measured.
  const Measurement* Find(std::string_view workload) const;
};

nlohmann::ordered_json ToJson(const Results& results);
// `file` is what messages call it.
// Errors: InvalidArgument for what is no such file, or names a workload twice; says where, what was
//         found and what was expected.
host::Result<Results> ResultsFrom(std::string_view text, const std::string& file);

void AppendTable(const Results& results, host::TerminalWidth width, std::string& out);

// "1,204 ns", "86.4 us", "3.20 ms"
std::string FormatNs(double ns);
// "41.3 MB"
std::string FormatBytes(double bytes);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_RESULTS_H_
