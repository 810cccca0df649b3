#include "host/base/duration.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

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
