#include "host/base/duration.h"

#include <array>
#include <cstddef>

#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

// The largest magnitude, which only a negative duration can have.
constexpr uint64_t kMax = uint64_t{1} << 63;

struct Unit {
  std::string_view name;
  uint64_t nanoseconds;
};

// A name that begins with another unit's name comes before it ("ms" before "m").
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", kMicrosecond},
                                         {"µs", kMicrosecond},  // U+00B5
                                         {"μs", kMicrosecond},  // U+03BC
                                         {"ms", kMillisecond},
                                         {"s", kSecond},
                                         {"m", kMinute},
                                         {"h", kHour}}};

__extension__ using Wide = unsigned __int128;

// Removes a number and its unit from the front of `text` and adds the duration to `total`, which is
// limited to kMax + 1. Returns false when `text` does not start with a number and a unit.
bool TakePart(std::string_view& text, uint64_t& total) {
  Wide whole = 0;
  Wide fraction = 0;
  uint64_t scale = 1;
  size_t digits = 0;
  size_t at = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at, ++digits) {
    if (whole <= kMax) whole = whole * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && IsDigit(text[at]); ++at, ++digits) {
      if (scale >= kMax / 20) continue;
      fraction = fraction * 10 + static_cast<uint64_t>(text[at] - '0');
      scale *= 10;
    }
  }
  if (digits == 0) return false;
  text.remove_prefix(at);
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    const Wide sum = total + whole * unit.nanoseconds + fraction * unit.nanoseconds / scale;
    total = sum > kMax ? kMax + 1 : static_cast<uint64_t>(sum);
    return true;
  }
  return false;
}

Status Malformed(std::string_view text) {
  return Status::InvalidArgument("expected a duration such as \"1.5s\" or \"1m30s\", found \"" +
                                 std::string(text) + "\"");
}

// Returns `value` / `one` as a decimal number without trailing zeros. `one` is a power of ten.
std::string WithFraction(uint64_t value, uint64_t one) {
  std::string text = std::to_string(value / one);
  uint64_t rest = value % one;
  if (rest == 0) return text;
  text += '.';
  for (uint64_t place = one / 10; rest != 0; place /= 10) {
    text += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  return text;
}

}  // namespace

Result<int64_t> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return int64_t{0};
  if (rest.empty()) return Malformed(text);
  uint64_t total = 0;
  while (!rest.empty()) {
    if (!TakePart(rest, total)) return Malformed(text);
  }
  if (total > kMax || (total == kMax && !negative)) {
    return Status::OutOfRange("expected a duration of at most 292 years, found \"" +
                              std::string(text) + "\"");
  }
  return static_cast<int64_t>(negative ? 0 - total : total);
}

std::string FormatDuration(int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  const bool negative = nanoseconds < 0;
  const auto bits = static_cast<uint64_t>(nanoseconds);
  const uint64_t value = negative ? 0 - bits : bits;
  std::string text = negative ? "-" : "";
  if (value < kMicrosecond) return text + std::to_string(value) + "ns";
  if (value < kMillisecond) return text + WithFraction(value, kMicrosecond) + "µs";
  if (value < kSecond) return text + WithFraction(value, kMillisecond) + "ms";
  if (value >= kHour) text += std::to_string(value / kHour) + "h";
  if (value >= kMinute) text += std::to_string(value % kHour / kMinute) + "m";
  return text + WithFraction(value % kMinute, kSecond) + "s";
}

}  // namespace berth::host
