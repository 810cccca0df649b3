// Durations in the syntax of Go and Kubernetes, such as "1.5s" and "1m30s", from text.
#ifndef BERTH_DURATION_H_
#define BERTH_DURATION_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace berth {
namespace internal {

enum class DurationError { kNone, kMalformed, kTooLong };
struct DurationOrError {
  int64_t ns = 0;
  DurationError error = DurationError::kNone;
};

namespace duration {

// The largest magnitude, which only a negative duration can have.
inline constexpr uint64_t kMax = uint64_t{1} << 63;

struct Unit {
  std::string_view name;
  uint64_t ns;
};

// A name that begins with another unit's name comes before it ("ms" before "m").
inline constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                                {"us", 1'000},
                                                {"\u00B5s", 1'000},  // The micro sign.
                                                {"\u03BCs", 1'000},  // The Greek letter mu.
                                                {"ms", 1'000'000},
                                                {"s", 1'000'000'000},
                                                {"m", 60'000'000'000},
                                                {"h", 3'600'000'000'000}}};

__extension__ using Wide = unsigned __int128;

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Removes a number and its unit from the front of `text` and adds the duration to `total`, which is
// limited to kMax + 1. Returns false when `text` does not start with a number and a unit.
inline bool TakePart(std::string_view& text, uint64_t& total) {
  Wide whole = 0;
  Wide fraction = 0;
  uint64_t scale = 1;
  std::size_t digits = 0;
  std::size_t at = 0;
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
    const Wide sum = total + whole * unit.ns + fraction * unit.ns / scale;
    total = sum > kMax ? kMax + 1 : static_cast<uint64_t>(sum);
    return true;
  }
  return false;
}

}  // namespace duration

// Parses a duration as Go's time.ParseDuration does: an optional sign, then one or more numbers,
// each with an optional fraction and a unit ("h", "m", "s", "ms", "us", "µs", "ns"). "0" needs no
// unit. Fractions of nanoseconds are cut off. kTooLong: more than 292 years.
inline DurationOrError ReadDuration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return {};
  if (text.empty()) return {0, DurationError::kMalformed};
  uint64_t total = 0;
  while (!text.empty()) {
    if (!duration::TakePart(text, total)) return {0, DurationError::kMalformed};
  }
  if (total > duration::kMax || (total == duration::kMax && !negative)) {
    return {0, DurationError::kTooLong};
  }
  return {static_cast<int64_t>(negative ? 0 - total : total), DurationError::kNone};
}

}  // namespace internal

// Returns the duration that `text` states, as Go's time.ParseDuration; std::nullopt if it is none,
// or is longer than 292 years.
inline std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  const internal::DurationOrError read = internal::ReadDuration(text);
  if (read.error != internal::DurationError::kNone) return std::nullopt;
  return std::chrono::nanoseconds(read.ns);
}

}  // namespace berth

#endif  // BERTH_DURATION_H_
