#include "host/cli/progress.h"

#include <atomic>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class ProgressTest : public ::testing::Test {
 protected:
  std::function<int64_t()> Clock() {
    return [this] { return now_ns_; };
  }

  int64_t now_ns_ = 5 * kSecond;
  std::ostringstream out_;
};

TEST_F(ProgressTest, IsSilentForASecond) {
  Progress progress(out_, true, Clock());
  now_ns_ += kSecond - 1;
  progress.Count("Scheduling", 1, 2, "pods");
  EXPECT_EQ(out_.str(), "");
  now_ns_ += 1;
  progress.Count("Scheduling", 1204, 8152, "pods");
  EXPECT_EQ(out_.str(), "\r\x1b[KScheduling: 1,204 of 8,152 pods");
}

TEST_F(ProgressTest, WritesFiveTimesASecond) {
  Progress progress(out_, true, Clock());
  now_ns_ += kSecond;
  progress.Say("Reading a.json");
  const std::string first = out_.str();
  EXPECT_EQ(first, "\r\x1b[KReading a.json ...");
  now_ns_ += kSecond / 5 - 1;
  progress.Say("Reading b.json");
  EXPECT_EQ(out_.str(), first);
  now_ns_ += 1;
  progress.Say("Reading c.json");
  EXPECT_EQ(out_.str(), first + "\r\x1b[KReading c.json ...");
}

TEST_F(ProgressTest, LeavesNothingBehind) {
  {
    Progress progress(out_, true, Clock());
    now_ns_ += kSecond;
    progress.Say("x");
    out_.str("");
    progress.Clear();
    EXPECT_EQ(out_.str(), "\r\x1b[K");
  }
  EXPECT_EQ(out_.str(), "\r\x1b[K") << "erased once";
}

TEST_F(ProgressTest, IsSilentWhereThereIsNoTerminal) {
  Progress progress(out_, false, Clock());
  now_ns_ += 100 * kSecond;
  progress.Count("Scheduling", 1, 2, "pods");
  progress.Clear();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ProgressTest, PrintsInPlaceOfTheLine) {
  Progress progress(out_, true, Clock());
  progress.Print("first\n");
  now_ns_ += kSecond;
  progress.Say("x");
  progress.Print("second\n");
  progress.Clear();
  EXPECT_EQ(out_.str(), "first\n\r\x1b[Kx ...\r\x1b[Ksecond\n");
}

TEST_F(ProgressTest, LetsThreadsPrint) {
  std::atomic<int64_t> now_ns = 0;
  Progress progress(out_, true, [&now_ns] { return now_ns += kSecond; });
  std::thread other([&progress] {
    for (int i = 0; i < 100; ++i) progress.Print("other\n");
  });
  for (int i = 0; i < 100; ++i) progress.Say("x");
  other.join();
  progress.Clear();
  const std::string text = out_.str();
  size_t lines = 0;
  for (size_t at = text.find("other\n"); at != std::string::npos;
       at = text.find("other\n", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 100u);
}

TEST(WithCommas, GroupsByThree) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(1000), "1,000");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
}

}  // namespace
}  // namespace berth::host
