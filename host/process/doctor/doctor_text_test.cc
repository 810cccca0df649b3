#include "host/process/doctor/doctor_text.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

TEST(ApproximateDurationTest, BothSidesOfEachUnit) {
  struct Case {
    int64_t nanoseconds;
    const char* text;
  };
  const Case cases[] = {
      {0, "0 ms"},
      {1, "1 ms"},
      {kMillisecond, "1 ms"},
      {kMillisecond + 1, "2 ms"},
      {999 * kMillisecond, "999 ms"},
      {kSecond, "1.0s"},
      {7'299 * kMillisecond, "7.2s"},
      {10 * kSecond - 1, "9.9s"},
      {10 * kSecond, "10s"},
      {2 * kMinute - 1, "119s"},
      {2 * kMinute, "2m"},
      {2 * kHour - 1, "119m"},
      {2 * kHour, "2h"},
      {48 * kHour - 1, "47h"},
      {48 * kHour, "2d"},
      {365 * 24 * kHour, "365d"},
  };
  for (const Case& c : cases) EXPECT_EQ(ApproximateDuration(c.nanoseconds), c.text);
}

TEST(OneLineTest, JoinsLines) {
  EXPECT_EQ(OneLine(""), "");
  EXPECT_EQ(OneLine("one"), "one");
  EXPECT_EQ(OneLine("one\n"), "one");
  EXPECT_EQ(OneLine("one\n  two\n\nthree"), "one; two; three");
}

}  // namespace
}  // namespace berth::host
