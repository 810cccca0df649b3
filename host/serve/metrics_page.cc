#include "host/serve/metrics_page.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <sstream>
#include <system_error>
#include <utility>

#include "host/base/metrics.h"

namespace berth::host {
namespace {

// The members of /proc/self/stat after the name of the program, counted from 0. (man 5 proc)
constexpr size_t kUserTicks = 11;
constexpr size_t kSystemTicks = 12;
constexpr size_t kStartTicks = 19;
constexpr size_t kVirtualBytes = 20;
constexpr size_t kResidentPages = 21;

std::string ReadText(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<size_t> CountOpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator folder("/proc/self/fd", error);
  size_t count = 0;
  for (; !error && folder != std::filesystem::directory_iterator(); folder.increment(error)) {
    ++count;
  }
  // The descriptor of the folder itself does not count.
  return error ? std::nullopt : std::optional(count - 1);
}

std::vector<std::string> SplitWords(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

// Stands for a number that could not be read, and for every number that is computed with it.
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double NumberAt(const std::vector<std::string>& words, size_t place) {
  if (place >= words.size()) return kUnknown;
  const std::string& word = words[place];
  // Go's client of Prometheus shows the largest number of the system.
  if (word == "unlimited") return 0x1p64;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return kUnknown;
  return static_cast<double>(number);
}

// Returns the number that follows `name` at the beginning of a line.
double NumberAfter(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return NumberAt(SplitWords(line.substr(name.size())), 0);
  }
  return kUnknown;
}

// Puts `values` into the order of `places`.
std::vector<std::string> Ordered(const std::vector<std::string>& values,
                                 const std::vector<size_t>& places) {
  std::vector<std::string> ordered;
  ordered.reserve(places.size());
  for (const size_t place : places) ordered.push_back(values[place]);
  return ordered;
}

// Sorts the labels of the metric by name, and its series by their values.
void SortLabels(MetricTable::Metric& metric) {
  std::vector<size_t> places(metric.labels.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::sort(places, {}, [&metric](size_t i) { return metric.labels[i]; });
  metric.labels = Ordered(metric.labels, places);
  for (MetricTable::Series& series : metric.series) {
    series.label_values = Ordered(series.label_values, places);
  }
  std::ranges::sort(metric.series, {}, &MetricTable::Series::label_values);
}

}  // namespace

ProcessTexts ReadProcessTexts() {
  ProcessTexts texts;
  texts.stat = ReadText("/proc/self/stat");
  texts.system_stat = ReadText("/proc/stat");
  texts.limits = ReadText("/proc/self/limits");
  texts.open_files = CountOpenFiles();
  texts.ticks_per_second = sysconf(_SC_CLK_TCK);
  texts.page_bytes = sysconf(_SC_PAGESIZE);
  return texts;
}

std::vector<MetricTable::Metric> ToProcessMetrics(const ProcessTexts& texts) {
  using Kind = MetricTable::Metric::Kind;
  // The name of the program is in parentheses and may have parentheses and spaces.
  const size_t name_end = std::min(texts.stat.rfind(')'), texts.stat.size());
  const std::vector<std::string> stat = SplitWords(texts.stat.substr(name_end).erase(0, 1));
  const auto ticks = static_cast<double>(texts.ticks_per_second);
  const double tick = ticks > 0 ? 1 / ticks : kUnknown;
  const double page_bytes = texts.page_bytes > 0 ? static_cast<double>(texts.page_bytes) : kUnknown;
  const double open_files =
      texts.open_files.has_value() ? static_cast<double>(*texts.open_files) : kUnknown;
  std::vector<MetricTable::Metric> metrics;
  const auto add = [&metrics](const char* name, const char* help, double value,
                              Kind kind = Kind::kGauge) {
    if (std::isnan(value)) return;
    MetricTable::Metric& metric = metrics.emplace_back();
    metric.kind = kind;
    metric.name = name;
    metric.help = help;
    metric.series.emplace_back().value = value;
  };
  add("process_cpu_seconds_total", "User and system CPU time of the process in seconds.",
      (NumberAt(stat, kUserTicks) + NumberAt(stat, kSystemTicks)) * tick, Kind::kCounter);
  add("process_max_fds", "The maximum number of open file descriptors.",
      NumberAfter(texts.limits, "Max open files"));
  add("process_open_fds", "The number of open file descriptors.", open_files);
  add("process_resident_memory_bytes", "Resident memory in bytes.",
      NumberAt(stat, kResidentPages) * page_bytes);
  add("process_start_time_seconds",
      "The start of the process in seconds since 1970-01-01T00:00:00Z.",
      NumberAfter(texts.system_stat, "btime ") + NumberAt(stat, kStartTicks) * tick);
  add("process_virtual_memory_bytes", "Virtual memory in bytes.", NumberAt(stat, kVirtualBytes));
  add("process_virtual_memory_max_bytes", "The maximum of virtual memory in bytes.",
      NumberAfter(texts.limits, "Max address space"));
  return metrics;
}

std::string ToMetricsText(std::vector<MetricTable::Metric> metrics) {
  // kube-scheduler's library leaves out metrics without series, too.
  std::erase_if(metrics, [](const MetricTable::Metric& metric) { return metric.series.empty(); });
  std::ranges::sort(metrics, {}, &MetricTable::Metric::name);
  std::ranges::for_each(metrics, SortLabels);
  return ToText(metrics);
}

std::string MetricsPage(const MetricTable& table, const std::function<std::string()>& more) {
  std::vector<MetricTable::Metric> metrics = table.Read();
  std::ranges::move(ToProcessMetrics(ReadProcessTexts()), std::back_inserter(metrics));
  std::string page = ToMetricsText(std::move(metrics));
  if (more) page += more();
  return page;
}

}  // namespace berth::host
