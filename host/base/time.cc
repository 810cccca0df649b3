#include "host/base/time.h"

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include <berth/duration.h>

#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kSecondsPerDay = 86'400;

// Reads the number that is at text[at] with exactly `digits` digits. Returns false if it has not.
// REQUIRES: text.size() >= at + digits.
bool ReadNumber(std::string_view text, size_t at, size_t digits, int32_t& number) {
  number = 0;
  for (size_t i = at; i < at + digits; ++i) {
    if (!IsDigit(text[i])) return false;
    number = number * 10 + (text[i] - '0');
  }
  return true;
}

// Removes the digits at the front of `text`, at least one, and returns them in nanoseconds.
std::optional<int64_t> TakeFraction(std::string_view& text) {
  int64_t nanos = 0;
  int64_t place = kSecond / 10;
  const size_t size = text.size();
  for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1), place /= 10) {
    nanos += (text[0] - '0') * place;
  }
  return text.size() < size ? std::optional(nanos) : std::nullopt;
}

// Returns the offset from UTC in seconds, which is positive east of UTC.
std::optional<int64_t> ParseOffset(std::string_view text) {
  if (text == "Z") return 0;
  int32_t hours = 0;
  int32_t minutes = 0;
  const bool is_offset = text.size() == 6 && (text[0] == '+' || text[0] == '-') &&
                         ReadNumber(text, 1, 2, hours) && text[3] == ':' &&
                         ReadNumber(text, 4, 2, minutes) && hours <= 24 && minutes <= 60;
  if (!is_offset) return std::nullopt;
  const int64_t seconds = int64_t{hours} * 3600 + minutes * 60;
  return text[0] == '+' ? seconds : -seconds;
}

Status Fail(std::string_view text) {
  return Status::InvalidArgument("time " + Quoted(text) +
                                 ": expected RFC 3339, such as 2026-01-10T08:00:00Z");
}

}  // namespace

Result<int64_t> ParseTime(std::string_view text) {
  const size_t hour_digits = text.size() > 12 && text[12] == ':' ? 1 : 2;
  const size_t minute_at = 12 + hour_digits;
  const size_t size = minute_at + 5;
  int32_t year = 0;
  int32_t month = 0;
  int32_t day = 0;
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  const bool is_time =
      text.size() >= size && ReadNumber(text, 0, 4, year) && text[4] == '-' &&
      ReadNumber(text, 5, 2, month) && text[7] == '-' && ReadNumber(text, 8, 2, day) &&
      text[10] == 'T' && ReadNumber(text, 11, hour_digits, hour) && text[minute_at - 1] == ':' &&
      ReadNumber(text, minute_at, 2, minute) && text[minute_at + 2] == ':' &&
      ReadNumber(text, minute_at + 3, 2, second) && hour <= 23 && minute <= 59 && second <= 59;
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!is_time || !date.ok()) return Fail(text);
  std::string_view rest = text.substr(size);
  std::optional<int64_t> nanos = 0;
  if (rest.starts_with('.') || rest.starts_with(',')) {
    rest.remove_prefix(1);
    nanos = TakeFraction(rest);
  }
  const std::optional<int64_t> offset = ParseOffset(rest);
  if (!nanos || !offset) return Fail(text);

  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  int64_t seconds = days * kSecondsPerDay + hour * 3600 + minute * 60 + second - *offset;
  // Before the epoch both parts must be negative; otherwise the multiplication below would overflow
  // for the earliest time.
  if (seconds < 0 && *nanos > 0) {
    ++seconds;
    *nanos -= kSecond;
  }
  int64_t result = 0;
  if (__builtin_mul_overflow(seconds, kSecond, &result) ||
      __builtin_add_overflow(result, *nanos, &result)) {
    return seconds < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  return result;
}

namespace {

// Appends the number with leading zeros. REQUIRES: it has at most this many digits.
void AppendDigits(std::string& text, uint32_t number, size_t digits) {
  text.append(digits, '0');
  for (auto at = text.rbegin(); number != 0; number /= 10, ++at) {
    *at = static_cast<char>('0' + number % 10);
  }
}

}  // namespace

std::string FormatTime(int64_t nanoseconds) {
  // In seconds: midnight of the earliest time's day is no int64 of nanoseconds.
  const std::chrono::sys_seconds time{
      std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(nanoseconds))};
  const int64_t nanos = (nanoseconds % kSecond + kSecond) % kSecond;
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text;
  text.reserve(std::string_view("2026-01-10T08:00:00.123456789Z").size());
  const auto append = [&text](auto number, size_t digits, char mark) {
    AppendDigits(text, static_cast<uint32_t>(number), digits);
    text.push_back(mark);
  };
  append(static_cast<int32_t>(date.year()), 4, '-');
  append(static_cast<unsigned>(date.month()), 2, '-');
  append(static_cast<unsigned>(date.day()), 2, 'T');
  append(clock.hours().count(), 2, ':');
  append(clock.minutes().count(), 2, ':');
  append(clock.seconds().count(), 2, '.');
  AppendDigits(text, static_cast<uint32_t>(nanos), 9);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + 'Z';
}

// ---- Durations ----------------------------------------------------------------------------------

namespace {

Status MalformedDuration(std::string_view text) {
  return Status::InvalidArgument("expected a duration such as \"1.5s\" or \"1m30s\", found " +
                                 Quoted(text));
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
  const ::berth::internal::DurationOrError read = ::berth::internal::ReadDuration(text);
  switch (read.error) {
    case ::berth::internal::DurationError::kNone: return read.ns;
    case ::berth::internal::DurationError::kMalformed: return MalformedDuration(text);
    case ::berth::internal::DurationError::kTooLong: break;
  }
  return Status::OutOfRange("expected a duration of at most 292 years, found " + Quoted(text));
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
