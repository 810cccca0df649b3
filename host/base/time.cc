#include "host/base/time.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>

#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kSecondsPerDay = 86'400;

// Removes tokens from the front of a text. Each method returns false or nullopt if the text does
// not start with that token.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }

  bool Skip(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  // Removes exactly `digits` digits and returns their number, which must be at most `max`.
  std::optional<int32_t> Number(size_t digits, int32_t max) {
    if (text_.size() < digits) return std::nullopt;
    int32_t number = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (!IsDigit(text_[i])) return std::nullopt;
      number = number * 10 + (text_[i] - '0');
    }
    if (number > max) return std::nullopt;
    text_.remove_prefix(digits);
    return number;
  }

  // Removes the digits after a decimal point, at least one, and returns them in nanoseconds.
  std::optional<int64_t> Fraction() {
    size_t digits = 0;
    int64_t nanos = 0;
    int64_t place = kSecond / 10;
    for (; digits < text_.size() && IsDigit(text_[digits]); ++digits, place /= 10) {
      nanos += (text_[digits] - '0') * place;
    }
    if (digits == 0) return std::nullopt;
    text_.remove_prefix(digits);
    return nanos;
  }

 private:
  std::string_view text_;
};

// Returns the days since 1970-01-01.
std::optional<int64_t> ParseDate(Cursor& cursor) {
  const std::optional<int32_t> year = cursor.Number(4, 9999);
  if (!year || !cursor.Skip('-')) return std::nullopt;
  const std::optional<int32_t> month = cursor.Number(2, 12);
  if (!month || !cursor.Skip('-')) return std::nullopt;
  const std::optional<int32_t> day = cursor.Number(2, 31);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// Returns the seconds since midnight.
std::optional<int64_t> ParseClock(Cursor& cursor) {
  const std::optional<int32_t> hour = cursor.Number(2, 23);
  if (!hour || !cursor.Skip(':')) return std::nullopt;
  const std::optional<int32_t> minute = cursor.Number(2, 59);
  if (!minute || !cursor.Skip(':')) return std::nullopt;
  const std::optional<int32_t> second = cursor.Number(2, 59);
  if (!second) return std::nullopt;
  return int64_t{*hour} * 3600 + *minute * 60 + *second;
}

// Returns the offset from UTC in seconds, which is positive east of UTC.
std::optional<int64_t> ParseOffset(Cursor& cursor) {
  if (cursor.Skip('Z')) return 0;
  const bool east = cursor.Skip('+');
  if (!east && !cursor.Skip('-')) return std::nullopt;
  const std::optional<int32_t> hours = cursor.Number(2, 23);
  if (!hours || !cursor.Skip(':')) return std::nullopt;
  const std::optional<int32_t> minutes = cursor.Number(2, 59);
  if (!minutes) return std::nullopt;
  const int64_t seconds = int64_t{*hours} * 3600 + *minutes * 60;
  return east ? seconds : -seconds;
}

Status Fail(std::string_view text) {
  return Status::InvalidArgument(std::string("time \"").append(text).append(
      "\": expected RFC 3339, such as 2026-01-10T08:00:00Z"));
}

}  // namespace

Result<int64_t> ParseTime(std::string_view text) {
  Cursor cursor(text);
  const std::optional<int64_t> days = ParseDate(cursor);
  if (!days || !cursor.Skip('T')) return Fail(text);
  const std::optional<int64_t> clock = ParseClock(cursor);
  if (!clock) return Fail(text);
  std::optional<int64_t> nanos = 0;
  if (cursor.Skip('.')) nanos = cursor.Fraction();
  if (!nanos) return Fail(text);
  const std::optional<int64_t> offset = ParseOffset(cursor);
  if (!offset || !cursor.done()) return Fail(text);

  int64_t seconds = *days * kSecondsPerDay + *clock - *offset;
  // Before the epoch both parts must be negative; otherwise the multiplication below would overflow
  // for the earliest time.
  if (seconds < 0 && *nanos > 0) {
    ++seconds;
    *nanos -= kSecond;
  }
  int64_t result = 0;
  if (__builtin_mul_overflow(seconds, kSecond, &result) ||
      __builtin_add_overflow(result, *nanos, &result)) {
    return Status::OutOfRange(std::string("time \"").append(text).append(
        "\": expected a time between 1677-09-21 and 2262-04-11"));
  }
  return result;
}

std::string FormatTime(int64_t nanoseconds) {
  int64_t seconds = nanoseconds / kSecond;
  int64_t nanos = nanoseconds % kSecond;
  if (nanos < 0) {
    nanos += kSecond;
    --seconds;
  }
  int64_t days = seconds / kSecondsPerDay;
  int64_t clock = seconds % kSecondsPerDay;
  if (clock < 0) {
    clock += kSecondsPerDay;
    --days;
  }
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int32_t>(days)))};
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02d.%09d",
                static_cast<int32_t>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int32_t>(clock / 3600),
                static_cast<int32_t>(clock / 60 % 60), static_cast<int32_t>(clock % 60),
                static_cast<int32_t>(nanos));
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + 'Z';
}

}  // namespace berth::host
