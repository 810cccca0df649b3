// Quantities of Kubernetes, such as "100m", "1.5Gi" and "12e6", from text.
#ifndef BERTH_QUANTITY_H_
#define BERTH_QUANTITY_H_

#include <array>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace berth {

// An amount in Kubernetes' notation ("1Gi", "500m"), rounded away from zero.
struct Quantity {
  int64_t units = 0;
  int64_t milli = 0;  // Thousandths.
};

namespace internal {

// An exact amount between -(2^63-1) and 2^63-1 units, in steps of one nano-unit. A value type.
class ExactQuantity {
 public:
  static constexpr int32_t kNanosPerUnit = 1'000'000'000;

  constexpr ExactQuantity() = default;
  // REQUIRES: `nanos` is less than one unit in magnitude; if neither `units` nor `nanos` is 0, both
  // have the same sign.
  constexpr ExactQuantity(int64_t units, int32_t nanos) : units_(units), nanos_(nanos) {}

  // Adds `other`. The sum is exact, but limited to 2^63-1 units in magnitude.
  constexpr void Add(const ExactQuantity& other) {
    int64_t units = 0;
    const bool overflows = __builtin_add_overflow(units_, other.units_, &units);
    if (overflows || units < -kMax) [[unlikely]] {
      *this = ExactQuantity(units_ < 0 ? -kMax : kMax, 0);
      return;
    }
    units_ = units;
    if ((nanos_ | other.nanos_) != 0) [[unlikely]]
      AddNanos(other.nanos_);
  }

  // Returns the amount in units, rounded away from zero: "100m" is 1.
  constexpr int64_t Value() const {
    if (nanos_ == 0) return units_;
    if (nanos_ > 0) return units_ == kMax ? kMax : units_ + 1;
    return units_ == -kMax ? -kMax : units_ - 1;
  }

  // Returns the amount in thousandths, rounded away from zero and limited to 2^63-1 in magnitude:
  // "0.5m" is 1.
  constexpr int64_t MilliValue() const {
    int64_t milli = 0;
    if (__builtin_mul_overflow(units_, int64_t{1000}, &milli) ||
        __builtin_add_overflow(milli, NanosAsMilli(), &milli) || milli < -kMax) {
      return Sign() < 0 ? -kMax : kMax;
    }
    return milli;
  }

  // Returns -1, 0 or 1.
  constexpr int32_t Sign() const {
    if (units_ != 0) return units_ < 0 ? -1 : 1;
    return (nanos_ > 0) - (nanos_ < 0);
  }

  // units() returns the whole units, rounded towards zero; nanos() returns the rest in nano-units.
  constexpr int64_t units() const { return units_; }
  constexpr int32_t nanos() const { return nanos_; }

  // Compares amounts: "1" equals "1000m".
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 reports a false positive here.
  friend constexpr auto operator<=>(const ExactQuantity&, const ExactQuantity&) = default;

 private:
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  static constexpr int32_t kNanosPerMilli = 1'000'000;

  constexpr int64_t NanosAsMilli() const {
    const int32_t rest = nanos_ % kNanosPerMilli;
    return nanos_ / kNanosPerMilli + (rest > 0) - (rest < 0);
  }

  // Adds the nano-units. `units_` is already the sum of the units.
  constexpr void AddNanos(int32_t other) {
    nanos_ += other;
    if (nanos_ >= kNanosPerUnit || (nanos_ > 0 && units_ < 0)) {
      nanos_ -= kNanosPerUnit;
      if (units_ != kMax) ++units_;
    } else if (nanos_ <= -kNanosPerUnit || (nanos_ < 0 && units_ > 0)) {
      nanos_ += kNanosPerUnit;
      if (units_ != -kMax) --units_;
    }
    if (units_ == kMax || units_ == -kMax) nanos_ = 0;
  }

  int64_t units_ = 0;
  int32_t nanos_ = 0;
};

// A quantity, or what was expected in its place.
struct QuantityOrError {
  ExactQuantity amount;
  const char* expected = nullptr;  // NULL: `amount` is the quantity.
};

namespace quantity {

inline constexpr uint64_t kMaxUnits = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
inline constexpr uint64_t kNanos = ExactQuantity::kNanosPerUnit;
inline constexpr std::size_t kNanoDigits = 9;

// An amount without its sign. WithSign() limits it to kMaxUnits.
struct Magnitude {
  uint64_t units = 0;
  uint64_t nanos = 0;
};

// The factor of a suffix: 10^decimal * 2^binary.
struct Scale {
  int32_t decimal = 0;
  int32_t binary = 0;
};

// The parts of a quantity, as views of its text.
struct QuantityText {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr uint64_t DigitOf(char c) { return static_cast<uint64_t>(c - '0'); }

inline constexpr std::array<uint64_t, 20> kPowersOfTen = [] {
  std::array<uint64_t, 20> powers{};
  uint64_t power = 1;
  for (std::size_t i = 0; i < powers.size(); ++i, power *= 10) powers[i] = power;
  return powers;
}();

inline constexpr const char* kExpectedNumber =
    "a number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6";
inline constexpr const char* kExpectedSuffix =
    "a suffix of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3";
inline constexpr const char* kExpectedExponent = "an exponent that fits in 64 bits";

inline ExactQuantity WithSign(Magnitude magnitude, bool negative) {
  int64_t units = static_cast<int64_t>(magnitude.units);
  int32_t nanos = static_cast<int32_t>(magnitude.nanos);
  if (magnitude.units >= kMaxUnits) {
    units = static_cast<int64_t>(kMaxUnits);
    nanos = 0;
  }
  return negative ? ExactQuantity(-units, -nanos) : ExactQuantity(units, nanos);
}

// Returns the exponents that letters stand for: `first` for the first one, and `step` more for each
// that follows; 0 for all other characters and for spaces.
constexpr std::array<int32_t, 256> Exponents(std::string_view letters, int32_t first,
                                             int32_t step) {
  std::array<int32_t, 256> exponents{};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == ' ') continue;
    exponents[static_cast<uint8_t>(letters[i])] = first + step * static_cast<int32_t>(i);
  }
  return exponents;
}

inline constexpr std::array<int32_t, 256> kDecimalExponents = Exponents("num kMGTPE", -9, 3);
inline constexpr std::array<int32_t, 256> kBinaryExponents =
    Exponents("KMGTPE", 10, 10);  // Before "i".

inline std::optional<Scale> SimpleScale(std::string_view suffix) {
  if (suffix.empty()) return Scale{};
  const auto letter = static_cast<uint8_t>(suffix[0]);
  Scale scale;
  if (suffix.size() == 1) scale.decimal = kDecimalExponents[letter];
  if (suffix.size() == 2 && suffix[1] == 'i') scale.binary = kBinaryExponents[letter];
  return scale.decimal != 0 || scale.binary != 0 ? std::optional(scale) : std::nullopt;
}

// Scales a number below 10^18 without a fraction; nearly every quantity is of this form. The
// divisors are constants, because a division by a variable would take as long as the rest of the
// function.
inline Magnitude ScaleSmall(uint64_t number, Scale scale) {
  switch (scale.decimal) {
    case -3: return {number / 1000, number % 1000 * 1'000'000};
    case -6: return {number / 1'000'000, number % 1'000'000 * 1000};
    case -9: return {number / kNanos, number % kNanos};
    default: break;
  }
  const uint64_t factor = kPowersOfTen[static_cast<std::size_t>(scale.decimal)] << scale.binary;
  uint64_t units = 0;
  if (__builtin_mul_overflow(number, factor, &units)) units = kMaxUnits;
  return {units, 0};
}

// Scales any digits by 10^exponent, for any exponent, by moving the decimal point.
inline Magnitude ScaleDecimal(const QuantityText& parts, int64_t exponent) {
  const std::size_t digits = parts.whole.size() + parts.fraction.size();
  const auto digit = [&parts](std::size_t i) {
    return DigitOf(i < parts.whole.size() ? parts.whole[i]
                                          : parts.fraction[i - parts.whole.size()]);
  };
  const int64_t point = static_cast<int64_t>(parts.whole.size()) + exponent;
  Magnitude result;
  bool rest = false;
  for (std::size_t i = 0; i < digits; ++i) {
    // The value of the digit is d * 10^place.
    const int64_t place = point - 1 - static_cast<int64_t>(i);
    const uint64_t d = digit(i);
    if (d == 0) continue;
    if (place >= 19) return {kMaxUnits, 0};
    if (place >= 0) {
      uint64_t part = 0;
      if (__builtin_mul_overflow(d, kPowersOfTen[static_cast<std::size_t>(place)], &part) ||
          part > kMaxUnits || result.units + part > kMaxUnits) {
        return {kMaxUnits, 0};
      }
      result.units += part;
    } else if (place >= -static_cast<int64_t>(kNanoDigits)) {
      result.nanos += d * kPowersOfTen[static_cast<std::size_t>(place + 9)];
    } else {
      rest = true;
    }
  }
  result.nanos += rest;
  if (result.nanos == kNanos) return {result.units + 1, 0};
  return result;
}

// Scales any digits by 2^shift. `shift` is at most 60.
inline Magnitude ScaleBinary(const QuantityText& parts, int32_t shift) {
  uint64_t whole = 0;
  for (const char c : parts.whole) {
    if (__builtin_mul_overflow(whole, uint64_t{10}, &whole) ||
        __builtin_add_overflow(whole, DigitOf(c), &whole) || whole > kMaxUnits >> shift) {
      return {kMaxUnits, 0};
    }
  }
  // Long multiplication of the fraction, beginning with the last digit. It produces the digits of
  // the product after the point, and finally a carry, which is the units of the product. The sum of
  // 9 * 2^60 and a carry fits in 64 bits.
  uint64_t carry = 0;
  uint64_t nanos = 0;
  bool rest = false;
  for (std::size_t i = parts.fraction.size(); i-- > 0;) {
    const uint64_t product = (DigitOf(parts.fraction[i]) << shift) + carry;
    const uint64_t digit = product % 10;
    carry = product / 10;
    if (i < kNanoDigits) {
      nanos += digit * kPowersOfTen[kNanoDigits - 1 - i];
    } else {
      rest = rest || digit != 0;
    }
  }
  nanos += rest;
  uint64_t units = (whole << shift) + carry;
  if (nanos == kNanos) {
    ++units;
    nanos = 0;
  }
  return {units, nanos};
}

inline QuantityText Split(std::string_view text) {
  QuantityText parts;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto take_digits = [&text] {
    std::size_t count = 0;
    while (count < text.size() && IsDigit(text[count])) ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
  };
  parts.whole = take_digits();
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    parts.fraction = take_digits();
  }
  parts.suffix = text;
  return parts;
}

__attribute__((noinline)) inline QuantityOrError ParseAny(std::string_view text) {
  if (text.empty()) return {{}, kExpectedNumber};
  const QuantityText parts = Split(text);
  const bool has_digits = !parts.whole.empty() || !parts.fraction.empty();
  const char* const expected = has_digits ? kExpectedSuffix : kExpectedNumber;
  if (const std::optional<Scale> scale = SimpleScale(parts.suffix)) {
    return {WithSign(scale->binary != 0 ? ScaleBinary(parts, scale->binary)
                                        : ScaleDecimal(parts, scale->decimal),
                     parts.negative)};
  }
  std::string_view digits = parts.suffix.substr(1);
  if (parts.suffix[0] != 'e' && parts.suffix[0] != 'E') return {{}, expected};
  if (!digits.empty() && digits[0] == '+') {
    digits.remove_prefix(1);
    if (!digits.empty() && digits[0] == '-') return {{}, expected};
  }
  int64_t exponent = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, exponent);
  if (error == std::errc::invalid_argument || stop != end) return {{}, expected};
  if (error == std::errc::result_out_of_range) return {{}, kExpectedExponent};
  // Kubernetes keeps the lower 32 bits, so that "1e4294967299" is stored and counts as 1e3.
  return {WithSign(ScaleDecimal(parts, static_cast<int32_t>(exponent)), parts.negative)};
}

}  // namespace quantity

// Parses a quantity as k8s.io/apimachinery/pkg/api/resource/quantity.go does:
//
//   quantity ::= [+-] number suffix
//   number   ::= "" | digits | digits "." | digits "." digits | "." digits | "."
//   suffix   ::= "" | n u m k M G T P E | Ki Mi Gi Ti Pi Ei | (e|E) [+-] digits
//
// "1E" is one exa; an exponent must have digits. A number without a digit is 0, but an empty text
// is an error. Fractions of a nano-unit are rounded away from zero. Amounts of more than 2^63-1
// units become 2^63-1 units.
//
// The parser accepts every text that Kubernetes accepts. It differs from Kubernetes where the
// behaviour of Kubernetes is accidental:
// - Kubernetes refuses some texts without a digit, such as "Ei", and accepts "Gi" as 0.
// - Value() and MilliValue() saturate. Kubernetes limits only Ki..Ei to 2^63-1; for larger amounts
//   its int64 accessors return 0 or wrap around, MilliValue() already above 2^63/1000.
// - Negative amounts are rounded away from zero, no matter how many digits they have.
inline QuantityOrError ParseExactQuantity(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  p += negative;
  const char* const first = p;
  uint64_t number = 0;
  // A number of more than 18 digits may not fit in 64 bits, so ParseAny() parses it.
  const char* const limit = end - p > 18 ? p + 18 : end;
  while (p != limit && quantity::IsDigit(*p)) number = number * 10 + quantity::DigitOf(*p++);
  if (p == first) return quantity::ParseAny(text);
  if (p == end) return {quantity::WithSign({number, 0}, negative)};
  const std::optional<quantity::Scale> scale =
      quantity::SimpleScale({p, static_cast<std::size_t>(end - p)});
  if (!scale) return quantity::ParseAny(text);
  return {quantity::WithSign(quantity::ScaleSmall(number, *scale), negative)};
}

}  // namespace internal

// Returns the amount that `text` states, as ParseExactQuantity does; std::nullopt if it is none.
inline std::optional<Quantity> ParseQuantity(std::string_view text) {
  const internal::QuantityOrError read = internal::ParseExactQuantity(text);
  if (read.expected != nullptr) return std::nullopt;
  return Quantity{read.amount.Value(), read.amount.MilliValue()};
}

}  // namespace berth

#endif  // BERTH_QUANTITY_H_
