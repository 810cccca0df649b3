#include "host/base/time.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(ParseTime, AcceptsRfc3339) {
  const struct {
    std::string text;
    int64_t nanoseconds;
  } kCases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T00:00:01Z", kSecond},
      {"1969-12-31T23:59:59Z", -kSecond},
      {"1969-12-31T23:59:59.75Z", -kSecond / 4},
      {"2026-01-10T08:00:00Z", 1'768'032'000 * kSecond},
      {"2026-01-10T08:00:00.5Z", 1'768'032'000 * kSecond + kSecond / 2},
      {"2026-01-10T08:00:00.000000001Z", 1'768'032'000 * kSecond + 1},
      {"2026-01-10T08:00:00.0000000019Z", 1'768'032'000 * kSecond + 1},
      {"2026-01-10T08:00:00.123456Z", 1'768'032'000 * kSecond + 123'456'000},
      {"2026-01-10T10:00:00+02:00", 1'768'032'000 * kSecond},
      {"2026-01-10T02:30:00-05:30", 1'768'032'000 * kSecond},
      {"2026-01-10T08:00:00+00:00", 1'768'032'000 * kSecond},
      {"2026-01-10T08:00:00-00:00", 1'768'032'000 * kSecond},
      {"1970-01-01T23:59:00+23:59", 0},
      {"2000-02-29T00:00:00Z", 951'782'400 * kSecond},
      {"2024-02-29T23:59:59Z", 1'709'251'199 * kSecond},
      {"2024-03-01T00:00:00Z", 1'709'251'200 * kSecond},
      {"2100-02-28T00:00:00Z", 4'107'456'000 * kSecond},
      {"2262-04-11T23:47:16.854775807Z", kMax},
      {"1677-09-21T00:12:43.145224192Z", kMin},
      {"2262-04-12T01:47:16.854775807+02:00", kMax},
  };
  for (const auto& c : kCases) {
    const Result<int64_t> time = ParseTime(c.text);
    ASSERT_TRUE(time.ok()) << time.status().ToString();
    EXPECT_EQ(*time, c.nanoseconds) << c.text;
  }
}

TEST(ParseTime, RejectsTextsThatAreNotRfc3339) {
  const std::string kTexts[] = {
      "",
      "2026",
      "2026-01-10",
      "2026-01-10T08:00Z",
      "2026-01-10T08:00:00",
      "2026-01-10 08:00:00Z",
      "2026-01-10t08:00:00Z",
      "2026-01-10T08:00:00z",
      "2026-01-10T08:00:00ZZ",
      " 2026-01-10T08:00:00Z",
      "2026-01-10T08:00:00Z ",
      "2026-1-10T08:00:00Z",
      "26-01-10T08:00:00Z",
      "2026-00-10T08:00:00Z",
      "2026-13-10T08:00:00Z",
      "2026-01-00T08:00:00Z",
      "2026-01-32T08:00:00Z",
      "2026-04-31T08:00:00Z",
      "2025-02-29T08:00:00Z",
      "2100-02-29T08:00:00Z",
      "2026-01-10T24:00:00Z",
      "2026-01-10T08:60:00Z",
      "2026-01-10T08:00:60Z",
      "2026-01-10T08:00:00.Z",
      "2026-01-10T08:00:00+2:00",
      "2026-01-10T08:00:00+0200",
      "2026-01-10T08:00:00.5",
      "-026-01-10T08:00:00Z",
      "2026-01-10T08:00:0xZ",
  };
  for (const std::string& text : kTexts) {
    const Result<int64_t> time = ParseTime(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_EQ(time.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(time.status().message(),
              "time \"" + text + "\": expected RFC 3339, such as 2026-01-10T08:00:00Z");
  }
}

TEST(ParseTime, LimitsTimesToThoseOfInt64) {
  const struct {
    const char* text;
    int64_t nanoseconds;
  } kCases[] = {
      {"0000-01-01T00:00:00Z", kMin},           {"0001-01-01T00:00:00Z", kMin},
      {"1677-09-21T00:12:42Z", kMin},           {"1677-09-21T00:12:43.145224191Z", kMin},
      {"2262-04-11T23:47:16.854775808Z", kMax}, {"2262-04-11T23:47:17Z", kMax},
      {"2312-06-26T08:00:00Z", kMax},           {"9999-12-31T23:59:59.999999999Z", kMax},
  };
  for (const auto& c : kCases) {
    const Result<int64_t> time = ParseTime(c.text);
    ASSERT_TRUE(time.ok()) << time.status().ToString();
    EXPECT_EQ(*time, c.nanoseconds) << c.text;
  }
}

// What time.Parse of Go 1.26 returns for time.RFC3339.
TEST(ParseTime, AcceptsTheLenientFormsOfGo) {
  const struct {
    const char* text;
    int64_t nanoseconds;
  } kCases[] = {
      {"2026-01-10T8:00:00Z", 1'768'032'000 * kSecond},
      {"2026-01-10T8:00:00.25+01:00", 1'768'028'400 * kSecond + kSecond / 4},
      {"2026-01-10T08:00:00,5Z", 1'768'032'000 * kSecond + kSecond / 2},
      {"2026-01-10T08:00:00+24:00", 1'767'945'600 * kSecond},
      {"2026-01-10T08:00:00+24:60", 1'767'942'000 * kSecond},
  };
  for (const auto& c : kCases) {
    const Result<int64_t> time = ParseTime(c.text);
    ASSERT_TRUE(time.ok()) << time.status().ToString();
    EXPECT_EQ(*time, c.nanoseconds) << c.text;
  }
  for (const char* text :
       {"2026-01-10T8:0:00Z", "2026-01-10T8:00:0Z", "2026-01-10T:00:00Z", "2026-01-10T008:00:00Z",
        "2026-01-10T08:00:00+25:00", "2026-01-10T08:00:00+23:61", "2026-01-10T8:00:00",
        "10000-01-01T00:00:00Z", "2026-01-10T08:00:00,Z"}) {
    EXPECT_EQ(ParseTime(text).status().code(), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(FormatTime, WritesTheShortestFraction) {
  EXPECT_EQ(FormatTime(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatTime(1), "1970-01-01T00:00:00.000000001Z");
  EXPECT_EQ(FormatTime(-1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(FormatTime(kSecond / 4), "1970-01-01T00:00:00.25Z");
  EXPECT_EQ(FormatTime(1'768'032'000 * kSecond), "2026-01-10T08:00:00Z");
  EXPECT_EQ(FormatTime(kMax), "2262-04-11T23:47:16.854775807Z");
  EXPECT_EQ(FormatTime(kMin), "1677-09-21T00:12:43.145224192Z");
}

TEST(FormatTime, RoundTripsThroughParseTime) {
  std::mt19937_64 random(1);
  for (int32_t i = 0; i < 20'000; ++i) {
    const int64_t time = static_cast<int64_t>(random());
    const Result<int64_t> parsed = ParseTime(FormatTime(time));
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    ASSERT_EQ(*parsed, time);
  }
}

TEST(DurationTest, ParsesAndFormatsAsGoDoes) {
  struct Case {
    std::string_view text;
    int64_t nanoseconds;
    std::string_view written;
  };
  constexpr Case kCases[] = {
      {"0", 0, "0s"},
      {"0s", 0, "0s"},
      {"-0s", 0, "0s"},
      {"1ns", 1, "1ns"},
      {"999ns", 999, "999ns"},
      {"1000ns", 1000, "1µs"},
      {"1.5us", 1500, "1.5µs"},
      {"1.5µs", 1500, "1.5µs"},
      {"250ms", 250'000'000, "250ms"},
      {"999.999999ms", 999'999'999, "999.999999ms"},
      {"1s", 1'000'000'000, "1s"},
      {".5s", 500'000'000, "500ms"},
      {"1.s", 1'000'000'000, "1s"},
      {"59.999999999s", 59'999'999'999, "59.999999999s"},
      {"60s", 60'000'000'000, "1m0s"},
      {"+1m30s", 90'000'000'000, "1m30s"},
      {"-5m", -300'000'000'000, "-5m0s"},
      {"59m59s", 3'599'000'000'000, "59m59s"},
      {"1h", 3'600'000'000'000, "1h0m0s"},
      {"1h15m30.918273645s", 4'530'918'273'645, "1h15m30.918273645s"},
      {"1.0000000009s", 1'000'000'000, "1s"},
      {"9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s"},
      {"-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const Result<int64_t> parsed = ParseDuration(c.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, c.nanoseconds);
    EXPECT_EQ(FormatDuration(c.nanoseconds), c.written);
  }
}

TEST(DurationTest, RejectsInvalidDurations) {
  for (const std::string_view text : {"", "-", "s", "1", "1.5", ".", ".s", "1x", "1 s", "1s ",
                                      "--1s", "1s1", "1e3s", "0x1s", "1sm"}) {
    const Result<int64_t> parsed = ParseDuration(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(parsed.status().message().find("found \"" + std::string(text) + "\""),
              std::string::npos);
  }
  for (const std::string_view text : {"9223372036854775808ns", "-9223372036854775809ns", "2562048h",
                                      "99999999999999999999999h"}) {
    EXPECT_EQ(ParseDuration(text).status().code(), ErrorCode::kOutOfRange) << text;
  }
}

}  // namespace
}  // namespace berth::host
