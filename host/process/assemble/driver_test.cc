#include "host/process/assemble/driver.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// Records what the driver calls. A round has something to do while `work` is above 0.
class RecordingDriver final : public Driver {
 public:
  using Driver::Driver;

  void Run() { RunRounds(); }
  using Driver::is_stopping;
  using Driver::StopOnce;

  std::vector<std::string> calls;
  int work = 0;
  std::function<void()> on_wait;

 private:
  bool IsDone() override { return is_stopping() && work == 0; }
  bool RunRound() override {
    calls.emplace_back("round");
    return work-- > 0;
  }
  void Wait() override {
    calls.emplace_back("wait");
    work = 0;
    if (on_wait) on_wait();
  }
  void OnStop() override {
    calls.emplace_back("stop");
    work = 1;
  }
};

TEST(DriverTest, RunsRoundsUntilItIsDone) {
  RecordingDriver driver(nullptr);
  driver.work = 1;
  driver.on_wait = [&driver] { driver.RequestStop(15); };
  driver.Run();
  EXPECT_THAT(driver.calls, ElementsAre("round", "round", "wait", "stop", "round"));
  EXPECT_EQ(driver.signal(), 15);
  EXPECT_FALSE(driver.output_failed());
  EXPECT_TRUE(driver.waker().Wait(0)) << "a request to stop wakes the thread that waits";
}

TEST(DriverTest, OnlyTheFirstRequestCounts) {
  RecordingDriver driver(nullptr);
  driver.RequestStop(2);
  driver.RequestStop(15);
  driver.OnOutputFailed();
  driver.Run();
  EXPECT_THAT(driver.calls, ElementsAre("stop", "round"));
  EXPECT_EQ(driver.signal(), 2);
  EXPECT_FALSE(driver.output_failed());
}

TEST(DriverTest, OutputThatFailsStopsItWithoutAWait) {
  RecordingDriver driver([] { return false; });
  driver.Run();
  EXPECT_THAT(driver.calls, ElementsAre("round", "stop", "round"));
  EXPECT_EQ(driver.signal(), 0);
  EXPECT_TRUE(driver.output_failed());
}

TEST(DriverTest, OutputThatFailsAgainLetsItWait) {
  RecordingDriver driver([] { return false; });
  driver.OnOutputFailed();
  EXPECT_TRUE(driver.waker().Wait(0));
  driver.OnOutputFailed();
  EXPECT_FALSE(driver.waker().Wait(0)) << "each wait would end at once";
}

TEST(DriverTest, AReasonOfItsOwnStopsItOnce) {
  RecordingDriver driver(nullptr);
  driver.StopOnce();
  driver.StopOnce();
  driver.Run();
  EXPECT_THAT(driver.calls, ElementsAre("stop", "round"));
  EXPECT_FALSE(driver.is_stop_requested());
}

}  // namespace
}  // namespace berth::host
