#include "host/base/child_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ChildResult RunInTestChild(const std::function<void(int)>& body, int64_t limit_ns = kMinute) {
  auto end = RunInChild(body, limit_ns, SteadyNs);
  EXPECT_TRUE(end.ok());
  return *std::move(end);
}

TEST(ChildProcessTest, ReturnsTextAndTheStatusOfTheChild) {
  const std::string large(1 << 20, 'x');
  const ChildResult succeeds = RunInTestChild([&](int pipe) { WriteToParent(pipe, large); });
  EXPECT_EQ(succeeds.text, large);
  EXPECT_FALSE(succeeds.is_late);
  EXPECT_EQ(succeeds.status, 0);

  const ChildResult exits = RunInTestChild([](int pipe) {
    WriteToParent(pipe, "some");
    ::_exit(3);
  });
  EXPECT_EQ(exits.text, "some");
  EXPECT_EQ(WEXITSTATUS(exits.status), 3);

  const ChildResult crashes = RunInTestChild([](int) { ::raise(SIGKILL); });
  EXPECT_EQ(crashes.text, "");
  EXPECT_EQ(SignalText(WTERMSIG(crashes.status)), "SIGKILL");
}

TEST(ChildProcessTest, KillsAChildThatExceedsTheLimit) {
  for (const int signal : {0, SIGSTOP}) {  // A stopped process handles no signal except SIGKILL.
    SCOPED_TRACE(signal);
    const ChildResult end = RunInTestChild(
        [signal](int pipe) {
          WriteToParent(pipe, "begun");
          if (signal != 0) ::raise(signal);
          for (;;) ::pause();
        },
        100'000'000);
    EXPECT_TRUE(end.is_late);
    EXPECT_EQ(end.text, "begun");
    EXPECT_EQ(SignalText(WTERMSIG(end.status)), "SIGKILL");
  }
}

TEST(ChildProcessTest, ReportsAnExceptionThatEndsTheChild) {
  ::testing::internal::CaptureStderr();
  const ChildResult error = RunInTestChild([](int pipe) {
    WriteToParent(pipe, "some");
    throw std::runtime_error("out of paper");
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "out of paper\n");
  EXPECT_EQ(error.text, "some");
  EXPECT_EQ(error.status, 1 << 8) << "expected exit status 1";

  const ChildResult other = RunInTestChild([](int) { throw 3; });
  EXPECT_EQ(other.status, 1 << 8) << "expected exit status 1";
}

TEST(ChildProcessTest, ChildHasOnlyWriteEndOfThePipe) {
  const ChildResult end = RunInTestChild([](int pipe) {
    const auto folder = std::filesystem::path("/proc/self/fd");
    const auto own = std::filesystem::read_symlink(folder / std::to_string(pipe));
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::error_code error;
      if (std::filesystem::read_symlink(file, error) == own) WriteToParent(pipe, "x");
    }
  });
  EXPECT_EQ(end.text, "x");
}

TEST(ChildProcessTest, WaitsForChildThatHasClosedItsPipe) {
  const ChildResult slow = RunInTestChild([](int pipe) {
    WriteToParent(pipe, "some");
    ::close(pipe);
    ::usleep(100'000);
    ::_exit(3);
  });
  EXPECT_EQ(slow.text, "some");
  EXPECT_FALSE(slow.is_late);
  EXPECT_EQ(WEXITSTATUS(slow.status), 3);

  const std::function<void(int)> hanging[] = {
      [](int pipe) {
        ::close(pipe);
        for (;;) ::pause();
      },
      [](int) { ::execlp("sleep", "sleep", "3600", nullptr); },
  };
  for (const auto& body : hanging) {
    const ChildResult end = RunInTestChild(body, 100'000'000);
    EXPECT_TRUE(end.is_late);
    EXPECT_EQ(SignalText(WTERMSIG(end.status)), "SIGKILL");
  }
}

TEST(ChildProcessTest, SignalsHaveTheirDefaultActionInTheChild) {
  for (const int signal : {SIGTERM, SIGSEGV, SIGABRT}) {
    SCOPED_TRACE(SignalText(signal));
    ::signal(signal, [](int) { ::_exit(7); });
    const ChildResult end = RunInTestChild([signal](int) { ::raise(signal); });
    ::signal(signal, SIG_DFL);
    EXPECT_TRUE(WIFSIGNALED(end.status));
    EXPECT_EQ(WTERMSIG(end.status), signal);
  }
  ::signal(SIGUSR1, SIG_IGN);
  const ChildResult ignores = RunInTestChild([](int) { ::raise(SIGUSR1); });
  ::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(ignores.status, 0);
}

TEST(ChildProcessTest, KeepsTheSignalMask) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  sigset_t before;
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto is_blocked = [](int signal) {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return ::sigismember(&mask, signal) == 1;
  };
  const ChildResult end = RunInTestChild([&](int pipe) {
    if (is_blocked(SIGUSR2) && !is_blocked(SIGUSR1)) WriteToParent(pipe, "kept");
  });
  EXPECT_EQ(end.text, "kept");
  EXPECT_TRUE(is_blocked(SIGUSR2));
  EXPECT_FALSE(is_blocked(SIGUSR1));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ChildProcessTest, ReturnsWhenSigchldIsIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  const ChildResult end = RunInTestChild([](int pipe) { WriteToParent(pipe, "done"); });
  ::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(end.text, "done");
  EXPECT_FALSE(end.is_late);
}

TEST(ChildProcessTest, DoesNotWaitForProcessesThatChildStarted) {
  int hold[2];
  ASSERT_EQ(::pipe(hold), 0);
  const ChildResult end = RunInTestChild([&hold](int pipe) {
    if (::fork() == 0) {  // Keeps the pipe open until the test closes `hold`.
      ::close(hold[1]);
      char nothing = 0;
      while (::read(hold[0], &nothing, 1) < 0) {
      }
      ::_exit(0);
    }
    WriteToParent(pipe, "done");
  });
  EXPECT_EQ(end.text, "done");
  EXPECT_FALSE(end.is_late);
  ::close(hold[0]);
  ::close(hold[1]);
}

}  // namespace
}  // namespace berth::host
