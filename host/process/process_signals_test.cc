#include "host/process/process_signals.h"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// What ProcessSignals said, from its thread to the test's.
class Heard {
 public:
  void Add(int signal) {
    const std::lock_guard lock(mutex_);
    signals_.push_back(signal);
    changed_.notify_one();
  }
  std::vector<int> WaitForOne() { return WaitFor(1); }
  std::vector<int> WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return signals_.size() >= count; });
    return signals_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> signals_;
};

TEST(ProcessSignals, TellsOfTheFirstSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Heard heard;
    ProcessSignals signals(nullptr);
    signals.TakeStops([&heard](int number) { heard.Add(number); });
    raise(signal);
    EXPECT_THAT(heard.WaitForOne(), ElementsAre(signal));
  }
}

TEST(ProcessSignals, TellsOfEachHangUpUntilItIsAskedToStop) {
  Heard heard, reloads;
  {
    ProcessSignals signals([&reloads] { reloads.Add(SIGHUP); });
    for (size_t count = 1; count <= 3; ++count) {
      raise(SIGHUP);
      EXPECT_EQ(reloads.WaitFor(count).size(), count);
      if (count == 1) signals.TakeStops([&heard](int number) { heard.Add(number); });
    }
    raise(SIGTERM);
    EXPECT_THAT(heard.WaitForOne(), ElementsAre(SIGTERM));
  }
  raise(SIGHUP);  // Ends nothing any more.
  EXPECT_EQ(reloads.WaitFor(3).size(), 3U);
  EXPECT_EQ(signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(ProcessSignals, EndsWithoutOne) {
  Heard heard;
  {
    ProcessSignals signals(nullptr);
    signals.TakeStops([&heard](int number) { heard.Add(number); });
  }
  struct sigaction action {};
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(ProcessSignals, LeavesWhatIsIgnored) {
  signal(SIGINT, SIG_IGN);
  Heard heard;
  {
    ProcessSignals signals(nullptr);
    signals.TakeStops([&heard](int number) { heard.Add(number); });
    raise(SIGINT);
    raise(SIGTERM);
    EXPECT_THAT(heard.WaitForOne(), ElementsAre(SIGTERM));
  }
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  signal(SIGINT, SIG_DFL);
}

TEST(ProcessSignalsDeathTest, WhoAsksToStopBeforeAnybodyTakesItEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const ProcessSignals signals([] {});
        raise(SIGHUP);
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(ProcessSignalsDeathTest, ASecondOneEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int second : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          Heard heard;
          ProcessSignals signals(nullptr);
          signals.TakeStops([&heard](int number) { heard.Add(number); });
          raise(SIGINT);
          heard.WaitForOne();
          raise(second);
        },
        ::testing::KilledBySignal(second), "");
  }
}

}  // namespace
}  // namespace berth::host
