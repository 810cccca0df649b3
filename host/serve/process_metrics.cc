#include "host/serve/process_metrics.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

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
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return std::nullopt;
  size_t count = 0;
  while (const dirent* const entry = readdir(folder.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count - 1;  // Without the descriptor of the folder itself.
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    words.push_back(word);
    text.remove_prefix(word.size());
  }
}

std::optional<double> NumberAt(const std::vector<std::string_view>& words, size_t place) {
  if (place >= words.size()) return std::nullopt;
  const std::string_view word = words[place];
  // Go's client of Prometheus shows the largest number of the system.
  if (word == "unlimited") return 0x1p64;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return static_cast<double>(number);
}

// Returns the words that follow `name` at the beginning of a line.
std::vector<std::string_view> WordsAfter(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(name)) return SplitWords(line.substr(name.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

// Collects the metrics whose values are known.
class ProcessList {
 public:
  void Add(const char* name, const char* help, std::optional<double> value,
           MetricTable::Metric::Kind kind = MetricTable::Metric::Kind::kGauge) {
    if (!value.has_value()) return;
    MetricTable::Metric metric;
    metric.kind = kind;
    metric.name = name;
    metric.help = help;
    metric.series.emplace_back().value = *value;
    metrics_.push_back(std::move(metric));
  }
  std::vector<MetricTable::Metric> Take() { return std::move(metrics_); }

 private:
  std::vector<MetricTable::Metric> metrics_;
};

std::optional<double> Times(std::optional<double> number, double factor) {
  return number.has_value() && factor > 0 ? std::optional(*number * factor) : std::nullopt;
}

std::optional<double> Sum(std::optional<double> a, std::optional<double> b) {
  return a.has_value() && b.has_value() ? std::optional(*a + *b) : std::nullopt;
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
  // The name of the program is in parentheses and may have parentheses and spaces.
  const size_t name_end = texts.stat.rfind(')');
  std::vector<std::string_view> stat;
  if (name_end != std::string::npos) {
    stat = SplitWords(std::string_view(texts.stat).substr(name_end + 1));
  }
  const double tick =
      texts.ticks_per_second > 0 ? 1 / static_cast<double>(texts.ticks_per_second) : 0;
  const auto page_bytes = static_cast<double>(texts.page_bytes);
  ProcessList list;
  list.Add("process_cpu_seconds_total", "User and system CPU time of the process in seconds.",
           Times(Sum(NumberAt(stat, kUserTicks), NumberAt(stat, kSystemTicks)), tick),
           MetricTable::Metric::Kind::kCounter);
  list.Add("process_max_fds", "The maximum number of open file descriptors.",
           NumberAt(WordsAfter(texts.limits, "Max open files"), 0));
  if (texts.open_files.has_value()) {
    list.Add("process_open_fds", "The number of open file descriptors.",
             static_cast<double>(*texts.open_files));
  }
  list.Add("process_resident_memory_bytes", "Resident memory in bytes.",
           Times(NumberAt(stat, kResidentPages), page_bytes));
  list.Add("process_start_time_seconds",
           "The start of the process in seconds since 1970-01-01T00:00:00Z.",
           Sum(NumberAt(WordsAfter(texts.system_stat, "btime "), 0),
               Times(NumberAt(stat, kStartTicks), tick)));
  list.Add("process_virtual_memory_bytes", "Virtual memory in bytes.",
           NumberAt(stat, kVirtualBytes));
  list.Add("process_virtual_memory_max_bytes", "The maximum of virtual memory in bytes.",
           NumberAt(WordsAfter(texts.limits, "Max address space"), 0));
  return list.Take();
}

}  // namespace berth::host
