#include "tests/bench/workloads/results.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <thread>
#include <utility>

#include "host/cli/progress.h"

namespace berth::bench {
namespace {

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

std::string Fixed(double value, int decimals) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, decimals);
  return {text.data(), end.ptr};
}

nlohmann::ordered_json ToJson(const Conditions& conditions) {
  return {{"cpu", conditions.cpu},
          {"cpus", conditions.cpus},
          {"compiler", conditions.compiler},
          {"build", conditions.build},
          {"profiles", conditions.profiles}};
}

Status Wrong(const std::string& file, const std::string& where, std::string_view what) {
  return Status::InvalidArgument((file + ": " + where + (where.empty() ? "" : ": ")).append(what));
}

bool IsTextList(const nlohmann::json& json) {
  if (!json.is_array()) return false;
  for (const auto& each : json) {
    if (!each.is_string()) return false;
  }
  return true;
}

Result<Conditions> ConditionsFrom(const nlohmann::json& json, const std::string& file) {
  Conditions conditions;
  const std::array<std::pair<const char*, std::string*>, 3> texts = {
      {{"cpu", &conditions.cpu}, {"compiler", &conditions.compiler}, {"build", &conditions.build}}};
  for (const auto& [key, text] : texts) {
    if (!json.contains(key) || !json[key].is_string()) {
      return Wrong(file, std::string("conditions.") + key, "expected a string");
    }
    *text = json[key].get<std::string>();
  }
  if (!json.contains("cpus") || !json["cpus"].is_number_unsigned()) {
    return Wrong(file, "conditions.cpus", "expected a number");
  }
  conditions.cpus = json["cpus"].get<uint32_t>();
  if (!json.contains("profiles") || !IsTextList(json["profiles"])) {
    return Wrong(file, "conditions.profiles", "expected an array of strings");
  }
  conditions.profiles = json["profiles"].get<std::vector<std::string>>();
  return conditions;
}

}  // namespace

Conditions ConditionsHere(std::vector<std::string> profiles) {
  return {.cpu = CpuModel(),
          .cpus = std::thread::hardware_concurrency(),
          .compiler = Compiler(),
          .build = BERTH_BENCH_BUILD,
          .profiles = std::move(profiles)};
}

nlohmann::ordered_json ToJson(const Results& results) {
  nlohmann::ordered_json json = {{"berthBench", kVersion},
                                 {"conditions", ToJson(results.conditions)},
                                 {"results", nlohmann::ordered_json::array()}};
  for (const Measurement& measurement : results.measurements) {
    json["results"].push_back(ToJson(measurement));
  }
  return json;
}

Result<Results> ResultsFrom(std::string_view text, const std::string& file) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return Wrong(file, "", "this is not JSON");
  if (!json.is_object() || json.value("berthBench", nlohmann::json()) != kVersion) {
    return Wrong(
        file, "berthBench",
        "expected " + std::to_string(kVersion) + ", as `berth-bench --output json` has it");
  }
  if (!json.contains("conditions")) return Wrong(file, "conditions", "missing");
  if (!json.contains("results") || !json["results"].is_array()) {
    return Wrong(file, "results", "expected an array");
  }
  Results results;
  auto conditions = ConditionsFrom(json["conditions"], file);
  if (!conditions.ok()) return std::move(conditions).status();
  results.conditions = std::move(conditions).value();
  for (size_t i = 0; i < json["results"].size(); ++i) {
    auto measurement = MeasurementFrom(json["results"][i]);
    if (!measurement.ok()) {
      return Wrong(file, "results[" + std::to_string(i) + "]", measurement.status().message());
    }
    results.measurements.push_back(std::move(measurement).value());
  }
  return results;
}

void AppendTable(const Results& results, host::TerminalWidth width, std::string& out) {
  host::Table table({"WORKLOAD", "NODES", "INIT", "PODS", "BOUND", "PODS/S", "DECISIONS/S", "CPU",
                     "P50", "P99", "ALLOCATIONS", "PEAK RSS", "CASE"});
  for (const Measurement& measurement : results.measurements) {
    table.AddRow({measurement.workload, host::WithCommas(measurement.nodes),
                  host::WithCommas(measurement.init_pods), host::WithCommas(measurement.pods),
                  host::WithCommas(measurement.bound),
                  host::WithCommas(std::llround(measurement.pods_per_second)),
                  host::WithCommas(std::llround(measurement.decisions_per_second)),
                  FormatNs(measurement.cpu_us_per_decision * 1e3),
                  FormatNs(static_cast<double>(measurement.decision_p50_ns)),
                  FormatNs(static_cast<double>(measurement.decision_p99_ns)),
                  measurement.allocations_per_decision.has_value()
                      ? Fixed(*measurement.allocations_per_decision, 1)
                      : "-",
                  FormatBytes(static_cast<double>(measurement.peak_rss_bytes)),
                  measurement.test_case});
  }
  table.Append(width, out);
}

std::string FormatNs(double ns) {
  if (ns < 10e3) return host::WithCommas(std::llround(ns)) + " ns";
  return ns < 10e6 ? Fixed(ns / 1e3, 1) + " us" : Fixed(ns / 1e6, 2) + " ms";
}

std::string FormatBytes(double bytes) { return Fixed(bytes / 1e6, 1) + " MB"; }

}  // namespace berth::bench
