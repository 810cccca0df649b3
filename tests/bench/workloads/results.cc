#include "tests/bench/workloads/results.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>
#include <utility>

#include "host/cli/output.h"

namespace berth::bench {
namespace {

using host::FormatFixed;
using host::Result;
using host::Status;

constexpr int kVersion = 1;

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const size_t value = line.find(": ");
    if (value != std::string::npos) return line.substr(value + 2);
  }
  return "";
}

std::string Compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

Status FileError(const std::string& file, const std::string& what) {
  return Status::InvalidArgument(file + ": " + what);
}

// Returns the first error in the structure of the file, or an empty string.
std::string FindStructureError(const nlohmann::json& json) {
  if (!json.is_object() || json.value("berthBench", nlohmann::json()) != kVersion) {
    return "berthBench: expected " + std::to_string(kVersion) +
           ", as written by `berth-bench --output json`";
  }
  if (!json.contains("conditions")) return "conditions: missing";
  if (!json.contains("results")) return "results: missing";
  return json["results"].is_array() ? "" : "results: expected an array";
}

std::string Optional(const std::optional<double>& value) {
  return value.has_value() ? FormatFixed(*value, 1) : "-";
}

void AddRow(const Measurement& measurement, host::Table& table) {
  const auto us = [](int64_t ns) { return FormatNs(static_cast<double>(ns)); };
  const AttemptCosts& placed = measurement.placed;
  table.AddRow({measurement.workload, host::WithCommas(measurement.nodes),
                host::WithCommas(measurement.init_pods), host::WithCommas(measurement.pods),
                host::WithCommas(measurement.bound),
                host::WithCommas(static_cast<uint64_t>(std::llround(measurement.pods_per_second))),
                FormatNs(measurement.cpu_us_per_decision * 1e3), us(placed.p50_ns),
                us(placed.p99_ns), us(placed.cpu_p99_ns), Optional(placed.allocations),
                measurement.peak_rss_bytes == 0
                    ? "-"
                    : FormatBytes(static_cast<double>(measurement.peak_rss_bytes)),
                measurement.test_case});
  const AttemptCosts& refused = measurement.refused;
  if (refused.count == 0) return;
  table.AddRow({"  refused", "", "", host::WithCommas(refused.count), "", "", "",
                us(refused.p50_ns), us(refused.p99_ns), us(refused.cpu_p99_ns),
                Optional(refused.allocations), "", ""});
}

}  // namespace

const Measurement* Results::Find(std::string_view workload) const {
  const auto found = std::ranges::find(measurements, workload, &Measurement::workload);
  return found == measurements.end() ? nullptr : &*found;
}

Conditions ConditionsHere(std::vector<std::string> profiles) {
  return {.cpu = CpuModel(),
          .cpus = std::thread::hardware_concurrency(),
          .compiler = Compiler(),
          .build = BERTH_BENCH_BUILD,
          .profiles = std::move(profiles)};
}

nlohmann::ordered_json ToJson(const Results& results) {
  nlohmann::ordered_json json = {{"berthBench", kVersion},
                                 {"conditions", FieldWriter::Write(results.conditions)},
                                 {"results", nlohmann::ordered_json::array()}};
  for (const Measurement& measurement : results.measurements) {
    json["results"].push_back(FieldWriter::Write(measurement));
  }
  return json;
}

Result<Results> ResultsFrom(std::string_view text, const std::string& file) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return FileError(file, "this is not JSON");
  std::string error = FindStructureError(json);
  if (!error.empty()) return FileError(file, error);
  Results results;
  error = FieldReader::Read(json["conditions"], "conditions", results.conditions);
  if (!error.empty()) return FileError(file, error);
  for (size_t i = 0; i < json["results"].size(); ++i) {
    const std::string place = "results[" + std::to_string(i) + "]";
    Measurement measurement;
    error = FieldReader::Read(json["results"][i], place, measurement);
    if (!error.empty()) return FileError(file, error);
    if (results.Find(measurement.workload) != nullptr) {
      return FileError(file, place + ".workload: found " + measurement.workload +
                                 " a second time, expected each workload once");
    }
    results.measurements.push_back(std::move(measurement));
  }
  return results;
}

void AppendTable(const Results& results, host::TerminalWidth width, std::string& out) {
  host::Table table({"WORKLOAD", "NODES", "INIT", "PODS", "BOUND", "PODS/S", "CPU", "P50", "P99",
                     "CPU P99", "ALLOCATIONS", "PEAK RSS", "CASE"});
  for (const Measurement& measurement : results.measurements) AddRow(measurement, table);
  table.Append(width, out);
}

std::string FormatNs(double ns) {
  if (ns < 10e3) return host::WithCommas(static_cast<uint64_t>(std::llround(ns))) + " ns";
  return ns < 10e6 ? FormatFixed(ns / 1e3, 1) + " us" : FormatFixed(ns / 1e6, 2) + " ms";
}

std::string FormatBytes(double bytes) { return FormatFixed(bytes / 1e6, 1) + " MB"; }

}  // namespace berth::bench
