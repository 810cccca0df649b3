#include "tests/bench/workloads/compare.h"

#include <cmath>
#include <utility>

#include "host/base/text.h"
#include "host/cli/output.h"
#include "tests/bench/workloads/json_fields.h"

namespace berth::bench {
namespace {

using host::FormatFixed;
using host::Result;
using host::Status;

// Returns the size of the workload: "5,000 nodes with 50 images, 1,000 initial and 10,000 measured
// pods".
std::string SizeOf(const Measurement& measurement) {
  return host::WithCommas(measurement.nodes) + " nodes with " +
         host::WithCommas(measurement.images) + " images, " +
         host::WithCommas(measurement.init_pods) + " initial and " +
         host::WithCommas(measurement.pods) + " measured pods";
}

template <class Struct, class Member>
Change Of(const Struct& before, const Struct& after, Member member) {
  return {static_cast<double>(before.*member), static_cast<double>(after.*member)};
}

AttemptCostsChange ChangeOf(const AttemptCosts& before, const AttemptCosts& after) {
  AttemptCostsChange change{.p50_ns = Of(before, after, &AttemptCosts::p50_ns),
                            .p99_ns = Of(before, after, &AttemptCosts::p99_ns),
                            .cpu_p99_ns = Of(before, after, &AttemptCosts::cpu_p99_ns),
                            .allocations = std::nullopt};
  if (before.allocations.has_value() && after.allocations.has_value()) {
    change.allocations = Change{*before.allocations, *after.allocations};
  }
  return change;
}

WorkloadChange ChangeOf(const Measurement& before, const Measurement& after) {
  return {.workload = before.workload,
          .bound = Of(before, after, &Measurement::bound),
          .pods_per_second = Of(before, after, &Measurement::pods_per_second),
          .decisions_per_second = Of(before, after, &Measurement::decisions_per_second),
          .cpu_us_per_decision = Of(before, after, &Measurement::cpu_us_per_decision),
          .placed = ChangeOf(before.placed, after.placed),
          .refused = ChangeOf(before.refused, after.refused),
          .peak_rss_bytes = Of(before, after, &Measurement::peak_rss_bytes)};
}

// Returns the conditions that differ, with both values: "cpus (2, 8)".
std::string Differences(const Conditions& before, const Conditions& after) {
  const auto first = FieldWriter::Write(before);
  const auto second = FieldWriter::Write(after);
  std::vector<std::string> different;
  for (const auto& [key, value] : first.items()) {
    if (value == second[key]) continue;
    different.push_back(key + " (" + value.dump() + ", " + second[key].dump() + ")");
  }
  return host::Join(different, ", ");
}

std::string Outcome(const Measurement& measurement) {
  return host::WithCommas(measurement.bound) + " pods bound and " +
         host::WithCommas(measurement.refused.count) + " failed attempts";
}

template <class Format>
std::string Cell(const Change& change, const Format& format) {
  const std::optional<double> ratio = change.ratio();
  return format(change.before) + " -> " + format(change.after) + " (" +
         (ratio.has_value() ? FormatFixed(*ratio, 2) + "x" : "from 0") + ")";
}

std::string Cell(const std::optional<Change>& change) {
  if (!change.has_value()) return "-";
  return Cell(*change, [](double number) { return FormatFixed(number, 1); });
}

void AddRows(const WorkloadChange& change, host::Table& table) {
  const auto us = [](double number) { return FormatNs(number * 1e3); };
  const auto count = [](double number) {
    return host::WithCommas(static_cast<uint64_t>(std::llround(number)));
  };
  table.AddRow({change.workload, Cell(change.pods_per_second, count),
                Cell(change.cpu_us_per_decision, us), Cell(change.placed.p50_ns, FormatNs),
                Cell(change.placed.cpu_p99_ns, FormatNs), Cell(change.placed.allocations),
                Cell(change.peak_rss_bytes, FormatBytes)});
  if (change.refused.p50_ns.before == 0 && change.refused.p50_ns.after == 0) return;
  table.AddRow({"  refused", "", "", Cell(change.refused.p50_ns, FormatNs),
                Cell(change.refused.cpu_p99_ns, FormatNs), Cell(change.refused.allocations), ""});
}

nlohmann::ordered_json ToJson(const Change& change) {
  const std::optional<double> ratio = change.ratio();
  return {{"before", change.before},
          {"after", change.after},
          {"ratio", ratio.has_value() ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json()}};
}

nlohmann::ordered_json ToJson(const AttemptCostsChange& change) {
  return {{"p50Ns", ToJson(change.p50_ns)},
          {"p99Ns", ToJson(change.p99_ns)},
          {"cpuP99Ns", ToJson(change.cpu_p99_ns)},
          {"allocations", change.allocations.has_value() ? ToJson(*change.allocations)
                                                         : nlohmann::ordered_json()}};
}

}  // namespace

std::optional<double> Change::ratio() const {
  if (before != 0) return after / before;
  return after == 0 ? std::optional<double>(1) : std::nullopt;
}

Result<Comparison> Compare(const Results& first, const std::string& before, const Results& second,
                           const std::string& after) {
  Comparison comparison;
  const std::string differences = Differences(first.conditions, second.conditions);
  if (!differences.empty()) {
    comparison.remarks.push_back("The times are not comparable, because the conditions of " +
                                 before + " and " + after + " differ: " + differences);
  }
  for (const Measurement& measurement : first.measurements) {
    const std::string& name = measurement.workload;
    const Measurement* other = second.Find(name);
    if (other == nullptr) {
      comparison.missing.push_back(name);
      comparison.remarks.push_back(name + " is not in " + after);
      continue;
    }
    if (SizeOf(measurement) != SizeOf(*other)) {
      return Status::InvalidArgument(name + ": " + SizeOf(measurement) + " in " + before + ", " +
                                     SizeOf(*other) + " in " + after +
                                     ": only workloads of the same size can be compared");
    }
    if (Outcome(measurement) != Outcome(*other)) {
      comparison.remarks.push_back(name + ": the decisions differ: " + Outcome(measurement) +
                                   " in " + before + ", " + Outcome(*other) + " in " + after);
    }
    comparison.workloads.push_back(ChangeOf(measurement, *other));
  }
  if (comparison.workloads.empty()) {
    return Status::InvalidArgument(before + " and " + after + " have no workload in common");
  }
  for (const Measurement& measurement : second.measurements) {
    if (first.Find(measurement.workload) != nullptr) continue;
    comparison.remarks.push_back(measurement.workload + " is not in " + before);
  }
  return comparison;
}

nlohmann::ordered_json ToJson(const Comparison& comparison) {
  nlohmann::ordered_json json = {{"workloads", nlohmann::ordered_json::array()},
                                 {"remarks", comparison.remarks}};
  for (const WorkloadChange& change : comparison.workloads) {
    json["workloads"].push_back({{"workload", change.workload},
                                 {"bound", ToJson(change.bound)},
                                 {"podsPerSecond", ToJson(change.pods_per_second)},
                                 {"decisionsPerSecond", ToJson(change.decisions_per_second)},
                                 {"cpuUsPerDecision", ToJson(change.cpu_us_per_decision)},
                                 {"placed", ToJson(change.placed)},
                                 {"refused", ToJson(change.refused)},
                                 {"peakRssBytes", ToJson(change.peak_rss_bytes)}});
  }
  return json;
}

void AppendTable(const Comparison& comparison, host::TerminalWidth width, std::string& out) {
  host::Table table({"WORKLOAD", "PODS/S", "CPU", "P50", "CPU P99", "ALLOCATIONS", "PEAK RSS"});
  for (const WorkloadChange& change : comparison.workloads) AddRows(change, table);
  table.Append(width, out);
  for (const std::string& remark : comparison.remarks) {
    host::AppendWrapped(remark, 2, width, out += '\n');
  }
}

std::vector<std::string> Regressions(const Comparison& comparison, double max_slowdown) {
  std::vector<std::string> worse;
  for (const std::string& name : comparison.missing) {
    worse.push_back(name + " is missing in the second file");
  }
  for (const WorkloadChange& change : comparison.workloads) {
    if (change.bound.after < change.bound.before) {
      worse.push_back(change.workload + " binds fewer pods than before");
    }
    const Change& cost = change.cpu_us_per_decision;
    if (cost.after > cost.before * max_slowdown) {
      worse.push_back(change.workload + " uses more than " + FormatFixed(max_slowdown, 2) +
                      " times the CPU time per decision");
    }
  }
  return worse;
}

}  // namespace berth::bench
