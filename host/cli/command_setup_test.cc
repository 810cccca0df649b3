#include <cstddef>
#include <ios>
#include <ostream>
#include <sstream>
#include <streambuf>
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

// Counts the writes that reach it.
class CountingBuffer final : public std::streambuf {
 public:
  int writes = 0;
  std::string text;

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    ++writes;
    text.append(bytes, static_cast<size_t>(size));
    return size;
  }
  int_type overflow(int_type byte) override {
    ++writes;
    text.push_back(traits_type::to_char_type(byte));
    return byte;
  }
};

TEST(Fail, WritesAllLinesAtOnce) {
  std::istringstream in;
  std::ostringstream out;
  CountingBuffer buffer;
  std::ostream err(&buffer);
  CommandEnvironment env{.in = in,
                         .out = out,
                         .err = err,
                         .executable = {},
                         .temporary_directory = {},
                         .steady_ns = {},
                         .wall_ns = {},
                         .out_width = {}};
  EXPECT_EQ(Fail(env, Status::NotFound("a: no such file\nb\x1b")), kExitBadInput);
  EXPECT_EQ(buffer.text, "berth: a: no such file\nberth: b?\n");
  EXPECT_EQ(buffer.writes, 1);
}

}  // namespace
}  // namespace berth::host
