#include <string>

#include <gtest/gtest.h>

#include "host/cli/commands.h"

namespace berth::host {
namespace {

TEST(LogTime, HasMilliseconds) {
  constexpr int64_t kStart = 1'700'000'000'000'000'000;
  const struct {
    const char* name;
    int64_t wall_ns;
    const char* text;
  } cases[] = {
      {"a whole second", kStart, "2023-11-14T22:13:20.000Z "},
      {"less than a millisecond more", kStart + 999'999, "2023-11-14T22:13:20.000Z "},
      {"a millisecond more", kStart + 1'000'000, "2023-11-14T22:13:20.001Z "},
      {"a fraction that ends with zeros", kStart + 250'000'000, "2023-11-14T22:13:20.250Z "},
      {"just before the next second", kStart + 999'999'999, "2023-11-14T22:13:20.999Z "},
      {"1970", 0, "1970-01-01T00:00:00.000Z "},
  };
  for (const auto& c : cases) EXPECT_EQ(LogTime(c.wall_ns), c.text) << c.name;
}

}  // namespace
}  // namespace berth::host
