#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/testing/report.h>

namespace berth::testing {

std::string_view CheckName(Check check) {
  static constexpr std::string_view kNames[] = {
      "kShape",  "kThreads",    "kOutputs", "kCodes", "kBlocks", "kConcurrency", "kRepeat",
      "kWhatIf", "kDependence", "kHints",   "kSlots", "kFaults", "kLeaks"};
  return kNames[static_cast<size_t>(check)];
}

void PrintAndAbort(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

void Reporter::set_handler(std::function<void(const std::string&)> handler) {
  handler_ = std::move(handler);
}

void Reporter::Fail(Check check, const std::string& text) {
  if (!Wants(check)) return;
  const std::string line = plugin_ + ": " + text + " [" + std::string(CheckName(check)) + "]";
  const std::lock_guard lock(mutex_);
  if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(line);
}

size_t Reporter::pending() const {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

void Reporter::Flush() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(lines_);
  }
  for (const std::string& line : lines)
    handler_ ? handler_(line) : default_failure_handler.load()(line);
}

}  // namespace berth::testing
