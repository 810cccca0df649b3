#include "host/process/doctor/clock_skew.h"

#include <optional>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr int64_t kNoon = 1'700'000'000 * kSecond;

TEST(ClockSkewTest, NothingIsKnownWithoutADate) {
  ClockSkew skew;
  EXPECT_EQ(skew.AheadNs(), std::nullopt);
  skew.Add(kNoon, kNoon + kMillisecond, 0);
  EXPECT_EQ(skew.AheadNs(), std::nullopt);
}

TEST(ClockSkewTest, AnswerGivesARangeIncludingTheRequestsTime) {
  struct Case {
    const char* name;
    int64_t ahead_ns;  // This machine's clock at the start of the server's second.
    int64_t took_ns;
    int64_t expected_ns;
  };
  const Case cases[] = {
      {"equal", 0, 0, 0},
      {"within the second", 900 * kMillisecond, 2 * kMillisecond, 0},
      {"the last moment of the second", kSecond, 0, 0},
      {"one millisecond beyond the second", kSecond + kMillisecond, 0, kMillisecond},
      {"ahead", 8 * kSecond, 0, 7 * kSecond},
      {"behind", -8 * kSecond, 0, -8 * kSecond},
      {"behind by less than the request took", -kMillisecond, 2 * kMillisecond, 0},
  };
  for (const Case& c : cases) {
    ClockSkew skew;
    skew.Add(kNoon + c.ahead_ns, kNoon + c.ahead_ns + c.took_ns, kNoon);
    EXPECT_EQ(skew.AheadNs(), c.expected_ns) << c.name;
  }
}

TEST(ClockSkewTest, SeveralAnswersNarrowTheRange) {
  ClockSkew skew;
  // This machine is 5.3 s ahead. The answers come at 0.0 s, 0.4 s and 0.9 s of the server's second.
  const int64_t ahead_ns = 5'300 * kMillisecond;
  for (const int64_t at_ms : {0, 400, 900}) {
    const int64_t now_ns = kNoon + at_ms * kMillisecond + ahead_ns;
    skew.Add(now_ns, now_ns, kNoon);
  }
  // At 0.9 s the range ended 0.1 s before the true value.
  EXPECT_EQ(skew.AheadNs(), 5'200 * kMillisecond);
}

TEST(ClockSkewTest, AClockThatWasSetStartsAnew) {
  ClockSkew skew;
  skew.Add(kNoon + 8 * kSecond, kNoon + 8 * kSecond, kNoon);
  EXPECT_EQ(skew.AheadNs(), 7 * kSecond);
  skew.Add(kNoon, kNoon, kNoon);
  EXPECT_EQ(skew.AheadNs(), 0);
  // The clock was set back while the request was under way.
  skew.Add(kNoon + 9 * kSecond, kNoon, kNoon);
  EXPECT_EQ(skew.AheadNs(), 0);
}

}  // namespace
}  // namespace berth::host
