#include "host/process/assemble/process_signals.h"

#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// Passes signal numbers from the thread of ProcessSignals to the thread of the test.
class ReceivedSignals {
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

TEST(ProcessSignalsTest, CallsStopForTheFirstSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    ReceivedSignals received;
    ProcessSignals signals(nullptr);
    signals.OnStop([&received](int number) { received.Add(number); });
    raise(signal);
    EXPECT_THAT(received.WaitForOne(), ElementsAre(signal));
  }
}

TEST(ProcessSignalsTest, CallsReloadForEachHangUpUntilStopped) {
  ReceivedSignals received, reloads;
  {
    ProcessSignals signals([&reloads] { reloads.Add(SIGHUP); });
    for (size_t count = 1; count <= 3; ++count) {
      raise(SIGHUP);
      EXPECT_EQ(reloads.WaitFor(count).size(), count);
      if (count == 1) signals.OnStop([&received](int number) { received.Add(number); });
    }
    raise(SIGTERM);
    EXPECT_THAT(received.WaitForOne(), ElementsAre(SIGTERM));
  }
  raise(SIGHUP);  // The signal is ignored now.
  EXPECT_EQ(reloads.WaitFor(3).size(), 3U);
  EXPECT_EQ(signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(ProcessSignalsTest, CanBeDestroyedWithoutASignal) {
  ReceivedSignals received;
  {
    ProcessSignals signals(nullptr);
    signals.OnStop([&received](int number) { received.Add(number); });
  }
  struct sigaction action {};
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(ProcessSignalsTest, LeavesIgnoredSignalsIgnored) {
  signal(SIGINT, SIG_IGN);
  ReceivedSignals received;
  {
    ProcessSignals signals(nullptr);
    signals.OnStop([&received](int number) { received.Add(number); });
    raise(SIGINT);
    raise(SIGTERM);
    EXPECT_THAT(received.WaitForOne(), ElementsAre(SIGTERM));
  }
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  signal(SIGINT, SIG_DFL);
}

TEST(ProcessSignalsDeathTest, ASignalBeforeOnStopEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const ProcessSignals signals([] {});
        raise(SIGHUP);
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(ProcessSignalsDeathTest, ASecondSignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int second : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          ReceivedSignals received;
          ProcessSignals signals(nullptr);
          signals.OnStop([&received](int number) { received.Add(number); });
          raise(SIGINT);
          received.WaitForOne();
          raise(second);
        },
        ::testing::KilledBySignal(second), "");
  }
}

// ---- InstallSignalCleanup() ---------------------------------------------------------------------

void PrintCleanedUp() { static_cast<void>(write(STDERR_FILENO, "cleaned up", 10)); }

TEST(SignalCleanupDeathTest, ASignalCleansUpAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          InstallSignalCleanup(PrintCleanedUp);
          raise(signal);
        },
        ::testing::KilledBySignal(signal), "^cleaned up$");
  }
}

TEST(SignalCleanupDeathTest, ASecondSignalAfterOnStopCleansUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        InstallSignalCleanup(PrintCleanedUp);
        ReceivedSignals received;
        ProcessSignals signals(nullptr);
        signals.OnStop([&received](int number) { received.Add(number); });
        raise(SIGINT);
        received.WaitForOne();
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "^cleaned up$");
}

TEST(SignalCleanupDeathTest, ASignalAfterProcessSignalsCleansUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        InstallSignalCleanup(PrintCleanedUp);
        {
          ReceivedSignals received;
          ProcessSignals signals(nullptr);
          signals.OnStop([&received](int number) { received.Add(number); });
        }
        raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "^cleaned up$");
}

TEST(SignalCleanupDeathTest, IgnoredSignalsStayIgnored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_IGN);
        InstallSignalCleanup(PrintCleanedUp);
        raise(SIGHUP);
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "^cleaned up$");
}

}  // namespace
}  // namespace berth::host
