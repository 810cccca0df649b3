#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <berth/testing/quantity.h>

namespace berth::testing {
namespace {

struct QuantitySuffix {
  std::string_view text;
  int64_t numerator;
  int64_t denominator;
};

constexpr QuantitySuffix kQuantitySuffixes[] = {
    {"", 1, 1},
    {"n", 1, 1'000'000'000},
    {"u", 1, 1'000'000},
    {"m", 1, 1'000},
    {"k", 1'000, 1},
    {"M", 1'000'000, 1},
    {"G", 1'000'000'000, 1},
    {"T", 1'000'000'000'000, 1},
    {"P", 1'000'000'000'000'000, 1},
    {"Ki", int64_t{1} << 10, 1},
    {"Mi", int64_t{1} << 20, 1},
    {"Gi", int64_t{1} << 30, 1},
    {"Ti", int64_t{1} << 40, 1},
    {"Pi", int64_t{1} << 50, 1},
};

const QuantitySuffix* FindQuantitySuffix(std::string_view text) {
  for (const QuantitySuffix& suffix : kQuantitySuffixes) {
    if (suffix.text == text) return &suffix;
  }
  return nullptr;
}

}  // namespace

void Misuse(const std::string& text) {
  std::fprintf(stderr, "berth::testing: %s\n", text.c_str());
  std::abort();
}

namespace internal {

ReadAmount ReadQuantity(std::string_view text, int64_t scale) {
  int64_t numerator = 0;
  int64_t denominator = 1;
  bool seen_digit = false;
  bool seen_point = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !seen_point) {
      seen_point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    seen_digit = true;
    if (__builtin_mul_overflow(numerator, int64_t{10}, &numerator) ||
        __builtin_add_overflow(numerator, c - '0', &numerator) ||
        (seen_point && __builtin_mul_overflow(denominator, int64_t{10}, &denominator))) {
      return {0, "too many digits", true};
    }
  }
  if (!seen_digit) return {0, "expected digits such as in \"500m\" or \"1.5Gi\""};
  const auto* suffix = FindQuantitySuffix(text.substr(i));
  if (suffix == nullptr) return {0, "expected no suffix or one of n u m k M G T P Ki Mi Gi Ti Pi"};
  if (__builtin_mul_overflow(numerator, suffix->numerator, &numerator) ||
      __builtin_mul_overflow(numerator, scale, &numerator) ||
      __builtin_mul_overflow(denominator, suffix->denominator, &denominator)) {
    return {0, "too large", true};
  }
  return {numerator / denominator + (numerator % denominator != 0 ? 1 : 0)};
}

}  // namespace internal

int64_t ParseQuantity(std::string_view text, int64_t scale) {
  const internal::ReadAmount read = internal::ReadQuantity(text, scale);
  if (read.wrong != nullptr) {
    Misuse("\"" + std::string(text) + "\" is not a quantity: " + read.wrong);
  }
  return read.value;
}

int64_t ParseAmount(std::string_view name, std::string_view text) {
  return ParseQuantity(text, name == "cpu" ? 1000 : 1);
}

}  // namespace berth::testing
