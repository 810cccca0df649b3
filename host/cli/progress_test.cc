#include "host/cli/progress.h"

#include <atomic>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  std::function<int64_t()> Clock() {
    return [this] { return now_ns_; };
  }

  int64_t now_ns_ = 5 * kSecond;
  std::ostringstream out_;
};

TEST_F(ProgressTest, ShowsNothingInTheFirstSecond) {
  Progress progress(out_, true, Clock());
  now_ns_ += kSecond - 1;
  progress.ShowCount("Scheduling", 1, 2, "pods");
  EXPECT_EQ(out_.str(), "");
  now_ns_ += 1;
  progress.ShowCount("Scheduling", 1204, 8152, "pods");
  EXPECT_EQ(out_.str(), "\r\x1b[KScheduling: 1,204 of 8,152 pods");
}

TEST_F(ProgressTest, RewritesTheLineFiveTimesASecond) {
  Progress progress(out_, true, Clock());
  now_ns_ += kSecond;
  progress.ShowActivity("Reading a.json");
  const std::string first = out_.str();
  EXPECT_EQ(first, "\r\x1b[KReading a.json ...");
  now_ns_ += kSecond / 5 - 1;
  progress.ShowActivity("Reading b.json");
  EXPECT_EQ(out_.str(), first);
  now_ns_ += 1;
  progress.ShowActivity("Reading c.json");
  EXPECT_EQ(out_.str(), first + "\r\x1b[KReading c.json ...");
}

TEST_F(ProgressTest, ErasesTheLineAtTheEnd) {
  {
    Progress progress(out_, true, Clock());
    now_ns_ += kSecond;
    progress.ShowActivity("x");
    out_.str("");
    progress.Clear();
    EXPECT_EQ(out_.str(), "\r\x1b[K");
  }
  EXPECT_EQ(out_.str(), "\r\x1b[K") << "erased once";
}

TEST_F(ProgressTest, ShowsNothingWithoutATerminal) {
  Progress progress(out_, false, Clock());
  now_ns_ += 100 * kSecond;
  progress.ShowCount("Scheduling", 1, 2, "pods");
  progress.Clear();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ProgressTest, ErasesTheLineBeforeItPrints) {
  Progress progress(out_, true, Clock());
  progress.Print("first\n");
  now_ns_ += kSecond;
  progress.ShowActivity("x");
  progress.Print("second\n");
  progress.Clear();
  EXPECT_EQ(out_.str(), "first\n\r\x1b[Kx ...\r\x1b[Ksecond\n");
}

TEST_F(ProgressTest, DoesNotMixTextsOfThreads) {
  std::atomic<int64_t> now_ns = 0;
  Progress progress(out_, true, [&now_ns] { return now_ns += kSecond; });
  std::thread other([&progress] {
    for (int i = 0; i < 100; ++i) progress.Print("other\n");
  });
  for (int i = 0; i < 100; ++i) progress.ShowActivity("x");
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

}  // namespace
}  // namespace berth::host
