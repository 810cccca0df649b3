#include "host/process/log/log_limiter.h"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_log.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class LogLimiterTest : public ::testing::Test {
 protected:
  LogLimiter::Options Options() {
    return {.steady_ns = [this] { return now_ns_; }, .burst = 3, .per_second = 10};
  }

  static void WriteTo(LogSink& sink, const char* logger, const char* message,
                      uint32_t level = BERTH_LOG_INFO) {
    sink.Write({.level = level, .logger = logger, .message = message});
  }

  int64_t now_ns_ = 0;
  TestLog log_{BERTH_LOG_TRACE, true};
};

TEST_F(LogLimiterTest, LeavesOutAndCountsWhatComesTooFast) {
  LogLimiter limiter(log_, Options());
  for (const char* text : {"one", "two", "three", "four", "five"}) WriteTo(limiter, "a", text);
  EXPECT_THAT(log_.lines(), ElementsAre("2 a: one", "2 a: two", "2 a: three"));
  now_ns_ += kSecond / 10 - 1;
  WriteTo(limiter, "a", "six");
  EXPECT_THAT(log_.lines(), SizeIs(3)) << "a tenth of a second has not passed";
  now_ns_ += 1;
  WriteTo(limiter, "a", "seven");
  WriteTo(limiter, "a", "eight");
  EXPECT_THAT(log_.lines(),
              ElementsAre("2 a: one", "2 a: two", "2 a: three",
                          "3 a: Left out records that came too fast count=3", "2 a: seven"));
}

TEST_F(LogLimiterTest, IdleLoggerMayWriteOneBurstAgain) {
  LogLimiter limiter(log_, Options());
  for (int i = 0; i < 3; ++i) WriteTo(limiter, "a", "early");
  now_ns_ += kHour;
  log_.lines().clear();
  for (int i = 0; i < 5; ++i) WriteTo(limiter, "a", "late");
  EXPECT_THAT(log_.lines(), ElementsAre("2 a: late", "2 a: late", "2 a: late"));
}

TEST_F(LogLimiterTest, LoggersAndLevelsAreIndependent) {
  LogLimiter limiter(log_, Options());
  for (int i = 0; i < 5; ++i) WriteTo(limiter, "a", "info");
  log_.lines().clear();
  WriteTo(limiter, "a", "error", BERTH_LOG_ERROR);
  WriteTo(limiter, "b", "info");
  WriteTo(limiter, "a", "info");
  EXPECT_THAT(log_.lines(), ElementsAre("4 a: error", "2 b: info"));
}

TEST_F(LogLimiterTest, EndStatesWhatWasLeftOut) {
  {
    LogLimiter limiter(log_, Options());
    for (int i = 0; i < 5; ++i) WriteTo(limiter, "a", "info");
    for (int i = 0; i < 3; ++i) WriteTo(limiter, "b", "info");
    log_.lines().clear();
  }
  EXPECT_THAT(log_.lines(), ElementsAre("3 a: Left out records that came too fast count=2"));
}

TEST_F(LogLimiterTest, ThreadsShareOneBudget) {
  LogLimiter limiter(log_, Options());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&limiter] {
      for (int n = 0; n < 100; ++n) WriteTo(limiter, "a", "x");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(log_.lines(), SizeIs(3));
}

}  // namespace
}  // namespace berth::host
