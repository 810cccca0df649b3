#include "host/api/quantity.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr uint64_t kMaxUnits = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
constexpr uint64_t kNanos = Quantity::kNanosPerUnit;
constexpr size_t kNanoDigits = 9;

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

constexpr uint64_t DigitOf(char c) { return static_cast<uint64_t>(c - '0'); }

constexpr std::array<uint64_t, 20> kPowersOfTen = [] {
  std::array<uint64_t, 20> powers{};
  uint64_t power = 1;
  for (size_t i = 0; i < powers.size(); ++i, power *= 10) powers[i] = power;
  return powers;
}();

Result<Quantity> Fail(std::string_view text, std::string_view expected) {
  return Status::InvalidArgument(
      std::string("quantity \"").append(text).append("\": expected ").append(expected));
}

constexpr std::string_view kExpectedNumber =
    "a number with an optional suffix, such as 2, 100m, 1.5Gi or 12e6";
constexpr std::string_view kExpectedSuffix =
    "a suffix of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3";
constexpr std::string_view kExpectedExponent = "an exponent that fits in 64 bits";

Quantity WithSign(Magnitude magnitude, bool negative) {
  int64_t units = static_cast<int64_t>(magnitude.units);
  int32_t nanos = static_cast<int32_t>(magnitude.nanos);
  if (magnitude.units >= kMaxUnits) {
    units = static_cast<int64_t>(kMaxUnits);
    nanos = 0;
  }
  return negative ? Quantity(-units, -nanos) : Quantity(units, nanos);
}

// Returns the exponents that letters stand for: `first` for the first one, and `step` more for each
// that follows; 0 for all other characters and for spaces.
constexpr std::array<int32_t, 256> Exponents(std::string_view letters, int32_t first,
                                             int32_t step) {
  std::array<int32_t, 256> exponents{};
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == ' ') continue;
    exponents[static_cast<uint8_t>(letters[i])] = first + step * static_cast<int32_t>(i);
  }
  return exponents;
}

constexpr std::array<int32_t, 256> kDecimalExponents = Exponents("num kMGTPE", -9, 3);
constexpr std::array<int32_t, 256> kBinaryExponents = Exponents("KMGTPE", 10, 10);  // Before "i".

std::optional<Scale> SimpleScale(std::string_view suffix) {
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
Magnitude ScaleSmall(uint64_t number, Scale scale) {
  switch (scale.decimal) {
    case -3: return {number / 1000, number % 1000 * 1'000'000};
    case -6: return {number / 1'000'000, number % 1'000'000 * 1000};
    case -9: return {number / kNanos, number % kNanos};
    default: break;
  }
  const uint64_t factor = kPowersOfTen[static_cast<size_t>(scale.decimal)] << scale.binary;
  uint64_t units = 0;
  if (__builtin_mul_overflow(number, factor, &units)) units = kMaxUnits;
  return {units, 0};
}

// Scales any digits by 10^exponent, for any exponent, by moving the decimal point.
Magnitude ScaleDecimal(const QuantityText& parts, int64_t exponent) {
  const size_t digits = parts.whole.size() + parts.fraction.size();
  const auto digit = [&parts](size_t i) {
    return DigitOf(i < parts.whole.size() ? parts.whole[i]
                                          : parts.fraction[i - parts.whole.size()]);
  };
  const int64_t point = static_cast<int64_t>(parts.whole.size()) + exponent;
  Magnitude result;
  bool rest = false;
  for (size_t i = 0; i < digits; ++i) {
    // The value of the digit is d * 10^place.
    const int64_t place = point - 1 - static_cast<int64_t>(i);
    const uint64_t d = digit(i);
    if (d == 0) continue;
    if (place >= 19) return {kMaxUnits, 0};
    if (place >= 0) {
      uint64_t part = 0;
      if (__builtin_mul_overflow(d, kPowersOfTen[static_cast<size_t>(place)], &part) ||
          part > kMaxUnits || result.units + part > kMaxUnits) {
        return {kMaxUnits, 0};
      }
      result.units += part;
    } else if (place >= -static_cast<int64_t>(kNanoDigits)) {
      result.nanos += d * kPowersOfTen[static_cast<size_t>(place + 9)];
    } else {
      rest = true;
    }
  }
  result.nanos += rest;
  if (result.nanos == kNanos) return {result.units + 1, 0};
  return result;
}

// Scales any digits by 2^shift. `shift` is at most 60.
Magnitude ScaleBinary(const QuantityText& parts, int32_t shift) {
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
  for (size_t i = parts.fraction.size(); i-- > 0;) {
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

QuantityText Split(std::string_view text) {
  QuantityText parts;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto take_digits = [&text] {
    size_t count = 0;
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

__attribute__((noinline)) Result<Quantity> ParseAny(std::string_view text) {
  if (text.empty()) return Fail(text, kExpectedNumber);
  const QuantityText parts = Split(text);
  const bool has_digits = !parts.whole.empty() || !parts.fraction.empty();
  const std::string_view expected = has_digits ? kExpectedSuffix : kExpectedNumber;
  if (const std::optional<Scale> scale = SimpleScale(parts.suffix)) {
    return WithSign(scale->binary != 0 ? ScaleBinary(parts, scale->binary)
                                       : ScaleDecimal(parts, scale->decimal),
                    parts.negative);
  }
  std::string_view digits = parts.suffix.substr(1);
  if (parts.suffix[0] != 'e' && parts.suffix[0] != 'E') return Fail(text, expected);
  if (!digits.empty() && digits[0] == '+') {
    digits.remove_prefix(1);
    if (!digits.empty() && digits[0] == '-') return Fail(text, expected);
  }
  int64_t exponent = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, exponent);
  if (error == std::errc::invalid_argument || stop != end) return Fail(text, expected);
  if (error == std::errc::result_out_of_range) return Fail(text, kExpectedExponent);
  // Kubernetes keeps the lower 32 bits, so that "1e4294967299" is stored and counts as 1e3.
  return WithSign(ScaleDecimal(parts, static_cast<int32_t>(exponent)), parts.negative);
}

}  // namespace

Result<Quantity> ParseQuantity(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  p += negative;
  const char* const first = p;
  uint64_t number = 0;
  // A number of more than 18 digits may not fit in 64 bits, so ParseAny() parses it.
  const char* const limit = end - p > 18 ? p + 18 : end;
  while (p != limit && IsDigit(*p)) number = number * 10 + DigitOf(*p++);
  if (p == first) return ParseAny(text);
  if (p == end) return WithSign({number, 0}, negative);
  const std::optional<Scale> scale = SimpleScale({p, static_cast<size_t>(end - p)});
  if (!scale) return ParseAny(text);
  return WithSign(ScaleSmall(number, *scale), negative);
}

}  // namespace berth::host
