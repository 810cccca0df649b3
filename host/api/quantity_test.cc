#include "host/api/quantity.h"

#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kKi = 1024;
constexpr int64_t kMebi = kKi * 1024;
constexpr int64_t kGi = kMebi * 1024;
constexpr int64_t kTi = kGi * 1024;
constexpr int64_t kPi = kTi * 1024;
constexpr int64_t kEi = kPi * 1024;

static_assert(sizeof(Quantity) == 16);

struct QuantityCase {
  std::string text;
  int64_t value;
  int64_t milli;
};

void ExpectParses(const QuantityCase& c) {
  const Result<Quantity> q = ParseQuantity(c.text);
  ASSERT_TRUE(q.ok()) << c.text << ": " << q.status().ToString();
  EXPECT_EQ(q->Value(), c.value) << c.text;
  EXPECT_EQ(q->MilliValue(), c.milli) << c.text;
  EXPECT_EQ(q->Sign(), (c.milli > 0) - (c.milli < 0)) << c.text;
}

TEST(ParseQuantity, PlainNumbers) {
  const QuantityCase kCases[] = {
      {"0", 0, 0},
      {"-0", 0, 0},
      {"+0", 0, 0},
      {"00", 0, 0},
      {"1", 1, 1000},
      {"+1", 1, 1000},
      {"-1", -1, -1000},
      {"007", 7, 7000},
      {"110", 110, 110'000},
      {"0.0", 0, 0},
      {"1.", 1, 1000},
      {".5", 1, 500},
      {"-.5", -1, -500},
      {"+.5", 1, 500},
      {"2.5", 3, 2500},
      {"-2.5", -3, -2500},
      {"1.000", 1, 1000},
      {"000000000000000000000000000001.50", 2, 1500},
      {"999999999999999999", 999'999'999'999'999'999, kMaxInt64},
      {"9223372036854775", 9'223'372'036'854'775, 9'223'372'036'854'775'000},
      {"9223372036854775.807", 9'223'372'036'854'776, kMaxInt64},
      {"9223372036854775.806", 9'223'372'036'854'776, kMaxInt64 - 1},
      {"9223372036854775.8061", 9'223'372'036'854'776, kMaxInt64},
      {"-9223372036854775.807", -9'223'372'036'854'776, -kMaxInt64},
      {"-9223372036854775.8071", -9'223'372'036'854'776, -kMaxInt64},
      {"9223372036854776", 9'223'372'036'854'776, kMaxInt64},
  };
  for (const QuantityCase& c : kCases) ExpectParses(c);
}

TEST(ParseQuantity, DecimalSuffixes) {
  const QuantityCase kCases[] = {
      {"1n", 1, 1},
      {"1000000n", 1, 1},
      {"1000001n", 1, 2},
      {"1000000000n", 1, 1000},
      {"1000000001n", 2, 1001},
      {"1u", 1, 1},
      {"999u", 1, 1},
      {"1000u", 1, 1},
      {"1001u", 1, 2},
      {"1m", 1, 1},
      {"-1m", -1, -1},
      {"100m", 1, 100},
      {"0.5m", 1, 1},
      {"999m", 1, 999},
      {"1000m", 1, 1000},
      {"1001m", 2, 1001},
      {"-1001m", -2, -1001},
      {"1.0005", 2, 1001},
      {"1500m", 2, 1500},
      {"1k", 1000, 1'000'000},
      {"1.5k", 1500, 1'500'000},
      {"1M", 1'000'000, 1'000'000'000},
      {"1.G", 1'000'000'000, 1'000'000'000'000},
      {"3T", 3'000'000'000'000, 3'000'000'000'000'000},
      {"9P", 9'000'000'000'000'000, 9'000'000'000'000'000'000},
      {"10P", 10'000'000'000'000'000, kMaxInt64},
      {"1E", 1'000'000'000'000'000'000, kMaxInt64},
      {"9E", 9'000'000'000'000'000'000, kMaxInt64},
      {"9.2233720368547758E", 9'223'372'036'854'775'800, kMaxInt64},
      {"0k", 0, 0},
      {"0.0m", 0, 0},
  };
  for (const QuantityCase& c : kCases) ExpectParses(c);
}

TEST(ParseQuantity, BinarySuffixes) {
  const QuantityCase kCases[] = {
      {"1Ki", kKi, kKi * 1000},
      {"-1Ki", -kKi, -kKi * 1000},
      {"16Gi", 16 * kGi, 16 * kGi * 1000},
      {"1.5Gi", kGi + kGi / 2, (kGi + kGi / 2) * 1000},
      {".5Mi", kMebi / 2, kMebi / 2 * 1000},
      {"1.Ti", kTi, kTi * 1000},
      {"1Pi", kPi, kPi * 1000},
      {"1Ei", kEi, kMaxInt64},
      {"7Ei", 7 * kEi, kMaxInt64},
      {"7.9999999999999999999Ei", kMaxInt64, kMaxInt64},
      {"0.1Ki", 103, 102'400},
      {"-0.1Ki", -103, -102'400},
      {"0.001Ki", 2, 1024},
      {"0.0000001Ki", 1, 1},
      {"1.1Mi", 1'153'434, 1'153'433'600},
      {"0Ki", 0, 0},
      {"0.0Ki", 0, 0},
      {"9007199254740991Ki", 9007199254740991 * kKi, kMaxInt64},
  };
  for (const QuantityCase& c : kCases) ExpectParses(c);
}

TEST(ParseQuantity, Exponents) {
  const QuantityCase kCases[] = {
      {"1e3", 1000, 1'000'000},
      {"1E3", 1000, 1'000'000},
      {"1e+3", 1000, 1'000'000},
      {"12e6", 12'000'000, 12'000'000'000},
      {"1E-3", 1, 1},
      {"1e-9", 1, 1},
      {"1e-3", 1, 1},
      {"-1e-3", -1, -1},
      {"1.25e1", 13, 12'500},
      {".5e1", 5, 5000},
      {"5.e1", 50, 50'000},
      {"1e0", 1, 1000},
      {"1e-0", 1, 1000},
      {"1e003", 1000, 1'000'000},
      {"0e100", 0, 0},
      {"0.000e2147483647", 0, 0},
      {"0.0000000000000000000000000000001e33", 100, 100'000},
      {"1000000000000000000000000000000e-30", 1, 1000},
  };
  for (const QuantityCase& c : kCases) ExpectParses(c);
}

TEST(ParseQuantity, RoundsFractionsOfNanoUnitAwayFromZero) {
  const struct {
    std::string text;
    Quantity expected;
  } kCases[] = {
      {"0.9n", {0, 1}},
      {"-0.9n", {0, -1}},
      {"1.1n", {0, 2}},
      {"1e-10", {0, 1}},
      {"-1e-10", {0, -1}},
      {"1e-2147483648", {0, 1}},
      {"0e-2147483648", {0, 0}},
      {"0.0000000001", {0, 1}},
      {"0.1234567890", {0, 123'456'789}},
      {"0.1234567891", {0, 123'456'790}},
      {"0.9999999999", {1, 0}},
      {"-0.9999999999", {-1, 0}},
      {"1.9999999999", {2, 0}},
      {"9223372036854775806.9999999999", {kMaxInt64, 0}},
      {"9223372036854775806.999999999", {kMaxInt64 - 1, 999'999'999}},
      // 0.0000000001 * 1024 is 102.4 nano-units.
      {"0.0000000001Ki", {0, 103}},
      // 2^60 * 10^-28 is 0.115... nano-units.
      {"0.0000000000000000000000000001Ei", {0, 1}},
      // 2^60 * 10^-9 is 1152921504.606846976 exactly.
      {"0.000000001Ei", {1152921504, 606'846'976}},
      {"0.0009765625Ki", {1, 0}},
      {"0.00097656250000000000000000000000000000000000000001Ki", {1, 1}},
  };
  for (const auto& c : kCases) {
    const Result<Quantity> q = ParseQuantity(c.text);
    ASSERT_TRUE(q.ok()) << c.text;
    EXPECT_EQ(q->units(), c.expected.units()) << c.text;
    EXPECT_EQ(q->nanos(), c.expected.nanos()) << c.text;
  }
}

TEST(ParseQuantity, LimitsAmountsToInt64) {
  const std::string kTexts[] = {
      "9223372036854775807",
      "9223372036854775808",
      "18446744073709551615",
      "18446744073709551616",
      "99999999999999999999999999999999999999",
      "9223372036854775807.000000001",
      "9.3E",
      "10E",
      "18.446744073709551616E",
      "100E",
      "999999999999999999E",
      "8Ei",
      "16Ei",
      "999999999999999999Ei",
      "9007199254740992Ki",
      "9999999999999999999999Ki",
      "1e19",
      "1e100",
      "1e2147483647",
      "0.000001e100",
  };
  for (const std::string& text : kTexts) {
    ExpectParses({text, kMaxInt64, kMaxInt64});
    ExpectParses({"-" + text, -kMaxInt64, -kMaxInt64});
  }
}

TEST(ParseQuantity, RejectsInvalidQuantities) {
  const std::string kTexts[] = {
      "",
      " ",
      "1 Gi",
      " 1",
      "1 ",
      "1Kib",
      "abc",
      "1..2",
      "--1",
      "+-1",
      "-+1",
      "1e",
      "1e+",
      "1e-",
      "1e+-3",
      "1e--3",
      "1e++3",
      "1ee3",
      "1e3m",
      "1e1.5",
      "1.1.M",
      "1+1.0M",
      "0.1mi",
      "0.1am",
      "aoeu",
      ".5i",
      "1i",
      "-3.01i",
      "-3.01e-",
      "1K",
      "1g",
      "1mm",
      "1Mii",
      "1KiB",
      "0x10",
      "1_000",
      "1,5",
      "1Ki3",
      "1e3Ki",
      "m1",
      "1\n",
      "1e 3",
      "1e9223372036854775808",
      "NaN",
      "inf",
      std::string("1\0", 2),
      std::string("1m\0", 3),
      "1\xc2\xb5",
  };
  for (const std::string& text : kTexts) {
    const Result<Quantity> q = ParseQuantity(text);
    ASSERT_FALSE(q.ok()) << text << " gives " << q->Value();
    EXPECT_EQ(q.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(q.status().message().find("quantity \"" + text + "\": expected "),
              std::string_view::npos)
        << q.status().message();
  }
}

TEST(ParseQuantity, DoesNotReadPastEndOfAnyPrefix) {
  const std::string text = "-123456789012345678901.234567890123Ei";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string exact(text, 0, size);  // A heap copy, so that ASan detects a read past it.
    EXPECT_EQ(ParseQuantity(exact).ok(), size >= 1) << exact;
  }
}

TEST(ParseQuantity, TheFastPathAgreesWithTheGeneralPath) {
  // A leading "+", or a "." before the suffix, selects the general path.
  std::mt19937_64 random(1);
  const std::string kSuffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                   "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  for (int32_t i = 0; i < 20'000; ++i) {
    const uint64_t number = random() >> (random() % 64);
    for (const std::string& suffix : kSuffixes) {
      const std::string digits = std::to_string(number);
      const Result<Quantity> small = ParseQuantity(digits + suffix);
      const Result<Quantity> general = ParseQuantity("+" + digits + "." + suffix);
      ASSERT_TRUE(small.ok() && general.ok());
      ASSERT_EQ(small->units(), general->units()) << digits << suffix;
      ASSERT_EQ(small->nanos(), general->nanos()) << digits << suffix;
    }
  }
}

TEST(ParseQuantity, AgreesWithExactArithmetic) {
  // Computes the amount in units of 10^-12 with 128-bit integers.
  __extension__ typedef unsigned __int128 Wide;
  std::mt19937_64 random(2);
  const struct {
    std::string suffix;
    uint64_t factor;
  } kScales[] = {{"", 1}, {"k", 1000}, {"Ki", 1024}, {"Mi", 1U << 20}, {"Gi", 1U << 30}};
  for (int32_t i = 0; i < 20'000; ++i) {
    const uint64_t whole = random() % 1'000'000;
    const uint64_t fraction = random() % 1'000'000'000'000;
    char text[64];
    for (const auto& scale : kScales) {
      std::snprintf(text, sizeof text, "%llu.%012llu%s", static_cast<unsigned long long>(whole),
                    static_cast<unsigned long long>(fraction), scale.suffix.c_str());
      const Wide pico = (Wide{whole} * 1'000'000'000'000 + fraction) * scale.factor;
      const Wide nano = (pico + 999) / 1000;
      const Result<Quantity> q = ParseQuantity(text);
      ASSERT_TRUE(q.ok()) << text;
      ASSERT_EQ(q->units(), static_cast<int64_t>(nano / 1'000'000'000)) << text;
      ASSERT_EQ(q->nanos(), static_cast<int32_t>(nano % 1'000'000'000)) << text;
    }
  }
}

TEST(Quantity, DefaultIsZero) {
  EXPECT_EQ(Quantity().Value(), 0);
  EXPECT_EQ(Quantity().MilliValue(), 0);
  EXPECT_EQ(Quantity().Sign(), 0);
}

TEST(Quantity, AddsExactly) {
  constexpr int32_t kLast = 999'999'999;
  struct {
    Quantity a;
    Quantity b;
    Quantity sum;
  } const kCases[] = {
      {{}, {}, {}},
      {{1, 0}, {2, 0}, {3, 0}},
      {{1, 0}, {-2, 0}, {-1, 0}},
      {{0, 1}, {0, 2}, {0, 3}},
      {{0, kLast}, {0, 1}, {1, 0}},
      {{0, kLast}, {0, kLast}, {1, kLast - 1}},
      {{5, kLast}, {7, 2}, {13, 1}},
      {{-5, -kLast}, {-7, -2}, {-13, -1}},
      {{0, 1}, {0, -2}, {0, -1}},
      {{1, 1}, {-1, -2}, {0, -1}},
      {{2, 1}, {-1, -2}, {0, kLast}},
      {{-2, -1}, {1, 2}, {0, -kLast}},
      {{1, 0}, {0, -1}, {0, kLast}},
      {{-3, 0}, {0, 1}, {-2, -kLast}},
      {{kMaxInt64 - 1, kLast}, {0, 1}, {kMaxInt64, 0}},
      {{kMaxInt64 - 1, kLast}, {0, 2}, {kMaxInt64, 0}},
      {{kMaxInt64 - 1, kLast}, {0, kLast}, {kMaxInt64, 0}},
      {{kMaxInt64 - 1, 1}, {1, 1}, {kMaxInt64, 0}},
      {{kMaxInt64, 0}, {1, 0}, {kMaxInt64, 0}},
      {{kMaxInt64, 0}, {kMaxInt64, 0}, {kMaxInt64, 0}},
      {{kMaxInt64, 0}, {0, -1}, {kMaxInt64 - 1, kLast}},
      {{kMaxInt64, 0}, {-kMaxInt64, 0}, {}},
      {{-kMaxInt64, 0}, {-1, 0}, {-kMaxInt64, 0}},
      {{-kMaxInt64, 0}, {-2, 0}, {-kMaxInt64, 0}},
      {{-kMaxInt64, 0}, {0, -1}, {-kMaxInt64, 0}},
      {{-kMaxInt64, 0}, {0, 1}, {-kMaxInt64 + 1, -kLast}},
      {{-kMaxInt64 + 1, -kLast}, {0, -1}, {-kMaxInt64, 0}},
  };
  for (const auto& c : kCases) {
    const auto expect = [&](Quantity sum, const Quantity& other) {
      const Quantity before = sum;
      sum.Add(other);
      EXPECT_EQ(sum.units(), c.sum.units()) << before.units() << " " << other.units();
      EXPECT_EQ(sum.nanos(), c.sum.nanos()) << before.nanos() << " " << other.nanos();
    };
    expect(c.a, c.b);
    expect(c.b, c.a);
  }
}

TEST(Quantity, AdditionAgreesWith128BitIntegers) {
  __extension__ typedef __int128 Wide;
  constexpr int64_t kNanos = Quantity::kNanosPerUnit;
  std::mt19937_64 random(3);
  const auto draw = [&random] {
    const int32_t sign = (random() & 1) != 0 ? 1 : -1;
    const int64_t units = static_cast<int64_t>(random() >> (2 + random() % 62));
    return Quantity(sign * units, sign * static_cast<int32_t>(random() % kNanos));
  };
  const auto wide = [](const Quantity& q) { return Wide{q.units()} * kNanos + q.nanos(); };
  for (int32_t i = 0; i < 100'000; ++i) {
    const Quantity a = draw();
    const Quantity b = draw();
    Quantity sum = a;
    sum.Add(b);
    ASSERT_TRUE(wide(sum) == wide(a) + wide(b)) << a.units() << " " << b.units();
    ASSERT_TRUE(sum.Sign() == (wide(sum) > 0) - (wide(sum) < 0));
    ASSERT_EQ(a < b, wide(a) < wide(b)) << a.units() << " " << b.units();
  }
}

TEST(Quantity, ComparesByAmount) {
  const auto parse = [](std::string_view text) { return ParseQuantity(text).value(); };
  EXPECT_EQ(parse("1"), parse("1000m"));
  EXPECT_EQ(parse("1Ki"), parse("1.024k"));
  EXPECT_LT(parse("999999999n"), parse("1"));
  EXPECT_LT(parse("-1"), parse("-999m"));
  EXPECT_GT(parse("1Gi"), parse("1G"));
}

}  // namespace
}  // namespace berth::host
