#include "host/cli/stop_signals.h"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// What StopSignals said, from its thread to the test's.
class Heard {
 public:
  void Add(int signal) {
    const std::lock_guard lock(mutex_);
    signals_.push_back(signal);
    changed_.notify_one();
  }
  std::vector<int> WaitForOne() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [this] { return !signals_.empty(); });
    return signals_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> signals_;
};

TEST(StopSignals, TellsOfTheFirstSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Heard heard;
    const StopSignals signals([&heard](int number) { heard.Add(number); });
    raise(signal);
    EXPECT_THAT(heard.WaitForOne(), ElementsAre(signal));
  }
}

TEST(StopSignals, EndsWithoutOne) {
  Heard heard;
  {
    const StopSignals signals([&heard](int number) { heard.Add(number); });
  }
  struct sigaction action {};
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(StopSignals, LeavesWhatIsIgnored) {
  signal(SIGINT, SIG_IGN);
  Heard heard;
  {
    const StopSignals signals([&heard](int number) { heard.Add(number); });
    raise(SIGINT);
    raise(SIGTERM);
    EXPECT_THAT(heard.WaitForOne(), ElementsAre(SIGTERM));
  }
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  signal(SIGINT, SIG_DFL);
}

TEST(StopSignalsDeathTest, ASecondOneEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int second : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          Heard heard;
          const StopSignals signals([&heard](int number) { heard.Add(number); });
          raise(SIGINT);
          heard.WaitForOne();
          raise(second);
        },
        ::testing::KilledBySignal(second), "");
  }
}

}  // namespace
}  // namespace berth::host
