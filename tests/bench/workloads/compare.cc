#include "tests/bench/workloads/compare.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "host/cli/progress.h"

namespace berth::bench {
namespace {

using host::Result;
using host::Status;

const Measurement* Find(const Results& results, const std::string& workload) {
  const auto found = std::ranges::find(results.measurements, workload, &Measurement::workload);
  return found == results.measurements.end() ? nullptr : &*found;
}

// "W1: 5,000 nodes, 1,000 and 10,000 pods"
std::string SizeOf(const Measurement& measurement) {
  return host::WithCommas(measurement.nodes) + " nodes, " +
         host::WithCommas(measurement.init_pods) + " and " + host::WithCommas(measurement.pods) +
         " pods";
}

Change Of(const Measurement& before, const Measurement& after, auto member) {
  return {static_cast<double>(before.*member), static_cast<double>(after.*member)};
}

WorkloadChange ChangeOf(const Measurement& before, const Measurement& after) {
  WorkloadChange change{
      .workload = before.workload,
      .pods_per_second = Of(before, after, &Measurement::pods_per_second),
      .decisions_per_second = Of(before, after, &Measurement::decisions_per_second),
      .cpu_us_per_decision = Of(before, after, &Measurement::cpu_us_per_decision),
      .decision_p50_ns = Of(before, after, &Measurement::decision_p50_ns),
      .decision_p99_ns = Of(before, after, &Measurement::decision_p99_ns),
      .allocations_per_decision = std::nullopt,
      .peak_rss_bytes = Of(before, after, &Measurement::peak_rss_bytes)};
  if (before.allocations_per_decision.has_value() && after.allocations_per_decision.has_value()) {
    change.allocations_per_decision =
        Change{*before.allocations_per_decision, *after.allocations_per_decision};
  }
  return change;
}

void AddMissing(const Results& from, const Results& in, const std::string& file,
                std::vector<std::string>& remarks) {
  for (const Measurement& measurement : from.measurements) {
    if (Find(in, measurement.workload) == nullptr) {
      remarks.push_back(measurement.workload + " is not in " + file);
    }
  }
}

std::string Fixed(double value) {
  std::array<char, 64> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 2);
  return {text.data(), end.ptr};
}

template <class Format>
std::string Cell(const Change& change, const Format& format) {
  const std::optional<double> ratio = change.ratio();
  return format(change.before) + " -> " + format(change.after) + " (" +
         (ratio.has_value() ? Fixed(*ratio) + "x" : "from nothing") + ")";
}

nlohmann::ordered_json ToJson(const Change& change) {
  const std::optional<double> ratio = change.ratio();
  return {{"before", change.before},
          {"after", change.after},
          {"ratio", ratio.has_value() ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json()}};
}

}  // namespace

std::optional<double> Change::ratio() const {
  if (before != 0) return after / before;
  return after == 0 ? std::optional<double>(1) : std::nullopt;
}

Result<Comparison> Compare(const Results& first, const std::string& before, const Results& second,
                           const std::string& after) {
  Comparison comparison;
  if (first.conditions != second.conditions) {
    comparison.remarks.push_back(before + " and " + after +
                                 " were measured under different conditions (machine, compiler, "
                                 "build or profiles): times do not compare");
  }
  for (const Measurement& measurement : first.measurements) {
    const Measurement* other = Find(second, measurement.workload);
    if (other == nullptr) continue;
    if (SizeOf(measurement) != SizeOf(*other)) {
      return Status::InvalidArgument(measurement.workload + ": " + SizeOf(measurement) + " in " +
                                     before + ", " + SizeOf(*other) + " in " + after +
                                     ": these are different workloads");
    }
    comparison.workloads.push_back(ChangeOf(measurement, *other));
  }
  if (comparison.workloads.empty()) {
    return Status::InvalidArgument(before + " and " + after + " have no workload in common");
  }
  AddMissing(first, second, after, comparison.remarks);
  AddMissing(second, first, before, comparison.remarks);
  return comparison;
}

nlohmann::ordered_json ToJson(const Comparison& comparison) {
  nlohmann::ordered_json json = {{"workloads", nlohmann::ordered_json::array()},
                                 {"remarks", comparison.remarks}};
  for (const WorkloadChange& change : comparison.workloads) {
    json["workloads"].push_back(
        {{"workload", change.workload},
         {"podsPerSecond", ToJson(change.pods_per_second)},
         {"decisionsPerSecond", ToJson(change.decisions_per_second)},
         {"cpuUsPerDecision", ToJson(change.cpu_us_per_decision)},
         {"decisionP50Ns", ToJson(change.decision_p50_ns)},
         {"decisionP99Ns", ToJson(change.decision_p99_ns)},
         {"allocationsPerDecision", change.allocations_per_decision.has_value()
                                        ? ToJson(*change.allocations_per_decision)
                                        : nlohmann::ordered_json()},
         {"peakRssBytes", ToJson(change.peak_rss_bytes)}});
  }
  return json;
}

void AppendTable(const Comparison& comparison, host::TerminalWidth width, std::string& out) {
  const auto count = [](double number) { return host::WithCommas(std::llround(number)); };
  const auto us = [](double number) { return FormatNs(number * 1e3); };
  host::Table table({"WORKLOAD", "DECISIONS/S", "CPU", "P50", "P99", "ALLOCATIONS", "PEAK RSS"});
  for (const WorkloadChange& change : comparison.workloads) {
    table.AddRow({change.workload, Cell(change.decisions_per_second, count),
                  Cell(change.cpu_us_per_decision, us), Cell(change.decision_p50_ns, FormatNs),
                  Cell(change.decision_p99_ns, FormatNs),
                  change.allocations_per_decision.has_value()
                      ? Cell(*change.allocations_per_decision, Fixed)
                      : "-",
                  Cell(change.peak_rss_bytes, FormatBytes)});
  }
  table.Append(width, out);
  for (const std::string& remark : comparison.remarks) {
    host::AppendWrapped(remark, 2, width, out += '\n');
  }
}

std::vector<std::string> SlowerThan(const Comparison& comparison, double max_slowdown) {
  std::vector<std::string> slower;
  for (const WorkloadChange& change : comparison.workloads) {
    const Change& cost = change.cpu_us_per_decision;
    if (cost.after > cost.before * max_slowdown) slower.push_back(change.workload);
  }
  return slower;
}

}  // namespace berth::bench
