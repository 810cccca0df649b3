#include "tests/bench/workloads/measurement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/api/assert.h"

namespace berth::bench {
namespace {

using host::Result;
using host::Status;

// Calls field(name, member) for everything that a measurement has, in the order of the JSON.
template <class SomeMeasurement, class Field>
void ForEachField(SomeMeasurement& measurement, const Field& field) {
  field("workload", measurement.workload);
  field("case", measurement.test_case);
  field("nodes", measurement.nodes);
  field("initPods", measurement.init_pods);
  field("pods", measurement.pods);
  field("decisions", measurement.decisions);
  field("bound", measurement.bound);
  field("refused", measurement.refused);
  field("seconds", measurement.seconds);
  field("cpuSeconds", measurement.cpu_seconds);
  field("cpuUsPerDecision", measurement.cpu_us_per_decision);
  field("podsPerSecond", measurement.pods_per_second);
  field("decisionsPerSecond", measurement.decisions_per_second);
  field("decisionP50Ns", measurement.decision_p50_ns);
  field("decisionP99Ns", measurement.decision_p99_ns);
  field("decisionMaxNs", measurement.decision_max_ns);
  field("allocationsPerDecision", measurement.allocations_per_decision);
  field("allocatedBytesPerDecision", measurement.allocated_bytes_per_decision);
  field("loadSeconds", measurement.load_seconds);
  field("peakRssBytes", measurement.peak_rss_bytes);
  field("podsPerSecondOfRuns", measurement.pods_per_second_of_runs);
}

struct Writer {
  nlohmann::ordered_json& json;

  template <class T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
  void operator()(const char* name, const std::optional<double>& value) const {
    json[name] = value.has_value() ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  }
};

struct Reader {
  const nlohmann::json& json;
  std::string& missing;

  void operator()(const char* name, std::string& value) const { Read(name, value, "a string"); }
  template <class Number>
  void operator()(const char* name, Number& value) const {
    Read(name, value, "a number");
  }
  void operator()(const char* name, std::vector<double>& value) const {
    Read(name, value, "an array of numbers");
  }
  void operator()(const char* name, std::optional<double>& value) const {
    if (const auto found = json.find(name); found != json.end() && found->is_null()) return;
    Read(name, value.emplace(), "a number or null");
  }

  template <class T>
  void Read(const char* name, T& value, const char* expected) const {
    const auto found = json.find(name);
    if (found == json.end()) {
      Note(name, "missing", expected);
    } else if (!Is(*found, value)) {
      Note(name, found->dump(), expected);
    } else {
      found->get_to(value);
    }
  }
  static bool Is(const nlohmann::json& found, const std::string&) { return found.is_string(); }
  static bool Is(const nlohmann::json& found, double) { return found.is_number(); }
  static bool Is(const nlohmann::json& found, int64_t) { return found.is_number_integer(); }
  static bool Is(const nlohmann::json& found, uint64_t) { return found.is_number_unsigned(); }
  static bool Is(const nlohmann::json& found, uint32_t) {
    return found.is_number_unsigned() && found.get<uint64_t>() <= UINT32_MAX;
  }
  static bool Is(const nlohmann::json& found, const std::vector<double>&) {
    return found.is_array() &&
           std::ranges::all_of(found, [](const auto& each) { return each.is_number(); });
  }
  void Note(const char* name, const std::string& found, const char* expected) const {
    if (missing.empty())
      missing = std::string(name) + ": found " + found + ", expected " + expected;
  }
};

}  // namespace

nlohmann::ordered_json ToJson(const Measurement& measurement) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  ForEachField(measurement, Writer{json});
  return json;
}

Result<Measurement> MeasurementFrom(const nlohmann::json& json) {
  if (!json.is_object())
    return Status::InvalidArgument("found " + json.dump() + ", expected {...}");
  Measurement measurement;
  std::string missing;
  ForEachField(measurement, Reader{json, missing});
  if (!missing.empty()) return Status::InvalidArgument(missing);
  return measurement;
}

int64_t Percentile(std::vector<int64_t>& values, double percent) {
  BERTH_ASSERT(percent > 0 && percent <= 100);
  if (values.empty()) return 0;
  const auto rank =
      static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, place);
  return *place;
}

Measurement MedianOf(std::vector<Measurement> runs) {
  BERTH_ASSERT(!runs.empty());
  std::vector<double> rates;
  for (const Measurement& run : runs) rates.push_back(run.pods_per_second);
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::ranges::nth_element(runs, middle, {}, &Measurement::pods_per_second);
  Measurement median = std::move(*middle);
  median.pods_per_second_of_runs = std::move(rates);
  return median;
}

}  // namespace berth::bench
