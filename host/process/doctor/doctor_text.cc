#include "host/process/doctor/doctor_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {

std::string ApproximateDuration(int64_t nanoseconds) {
  const auto whole = [nanoseconds](int64_t unit, const char* name) {
    return std::to_string(nanoseconds / unit) + name;
  };
  if (nanoseconds < kSecond) {
    return std::to_string((nanoseconds + kMillisecond - 1) / kMillisecond) + " ms";
  }
  if (nanoseconds < 10 * kSecond) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%d.%ds", static_cast<int>(nanoseconds / kSecond),
                  static_cast<int>(nanoseconds % kSecond / (100 * kMillisecond)));
    return text.data();
  }
  if (nanoseconds < 2 * kMinute) return whole(kSecond, "s");
  if (nanoseconds < 2 * kHour) return whole(kMinute, "m");
  return nanoseconds < 48 * kHour ? whole(kHour, "h") : whole(24 * kHour, "d");
}

std::string OneLine(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view part = TrimSpace(text.substr(0, end));
    if (!part.empty()) line.append(line.empty() ? "" : "; ").append(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line;
}

}  // namespace berth::host
