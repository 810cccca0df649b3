#include <cstddef>
#include <cstdint>
#include <string_view>

#include <berth/testing/values.h>

namespace berth::testing {
namespace {

// Returns the days since 1970-01-01 of a date of the Gregorian calendar.
int64_t DaysOf(int64_t year, int64_t month, int64_t day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

// Reads a time of RFC 3339, as the host does.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text) {}

  bool Read(int64_t* ns) {
    const int64_t year = Number(4);
    const int64_t month = (Expect('-'), Number(2));
    const int64_t day = (Expect('-'), Number(2));
    const int64_t hour = (Expect('T'), Number(2));
    const int64_t minute = (Expect(':'), Number(2));
    const int64_t second = (Expect(':'), Number(2));
    const int64_t nanos = Fraction();
    const int64_t offset = Offset();
    if (!ok_ || at_ != text_.size() || month < 1 || month > 12 || day < 1 || hour > 23 ||
        minute > 59 || second > 59) {
      return false;
    }
    const bool is_december = month == 12;
    const int64_t days = DaysOf(year, month, day);
    if (days >= DaysOf(is_december ? year + 1 : year, is_december ? 1 : month + 1, 1)) return false;
    int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
    // Counts the fraction towards 0, so that the smallest times do not overflow.
    int64_t rest = nanos;
    if (seconds < 0 && rest > 0) {
      ++seconds;
      rest -= 1'000'000'000;
    }
    int64_t whole = 0;
    return !__builtin_mul_overflow(seconds, 1'000'000'000, &whole) &&
           !__builtin_add_overflow(whole, rest, ns);
  }

 private:
  bool IsDigit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    return ++at_, true;
  }
  void Expect(char c) { ok_ = Take(c) && ok_; }
  int64_t Number(int digits) {
    int64_t number = 0;
    for (; digits > 0; --digits) {
      if (!IsDigit()) return ok_ = false, 0;
      number = number * 10 + (text_[at_++] - '0');
    }
    return number;
  }
  int64_t Fraction() {
    if (!Take('.')) return 0;
    int64_t nanos = 0;
    if (!IsDigit()) ok_ = false;
    for (int64_t unit = 100'000'000; IsDigit(); unit /= 10) nanos += unit * (text_[at_++] - '0');
    return nanos;
  }
  int64_t Offset() {
    if (Take('Z')) return 0;
    const bool west = Take('-');
    if (!west) Expect('+');
    const int64_t hours = Number(2);
    const int64_t minutes = (Expect(':'), Number(2));
    if (hours > 23 || minutes > 59) ok_ = false;
    const int64_t seconds = hours * 3600 + minutes * 60;
    return west ? -seconds : seconds;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

bool internal::ReadTime(std::string_view text, int64_t* ns) { return TimeReader(text).Read(ns); }

}  // namespace berth::testing
