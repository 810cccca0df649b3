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

namespace berth::host {
namespace {

constexpr int64_t kMinuteNs = 60'000'000'000;

int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ChildEnd RunApart(const std::function<void(int)>& body, int64_t limit_ns = kMinuteNs) {
  auto end = RunInChild(body, limit_ns, SteadyNs);
  EXPECT_TRUE(end.ok());
  return *std::move(end);
}

TEST(ChildProcessTest, GivesWhatIsWrittenAndHowItEnds) {
  const std::string large(1 << 20, 'x');
  const ChildEnd through = RunApart([&](int pipe) { WriteToParent(pipe, large); });
  EXPECT_EQ(through.text, large);
  EXPECT_FALSE(through.is_late);
  EXPECT_EQ(through.status, 0);

  const ChildEnd exits = RunApart([](int pipe) {
    WriteToParent(pipe, "some");
    ::_exit(3);
  });
  EXPECT_EQ(exits.text, "some");
  EXPECT_EQ(WEXITSTATUS(exits.status), 3);

  const ChildEnd crashes = RunApart([](int) { ::raise(SIGKILL); });
  EXPECT_EQ(crashes.text, "");
  EXPECT_EQ(SignalText(WTERMSIG(crashes.status)), "SIGKILL");
}

TEST(ChildProcessTest, KillsWhatIsNotThrough) {
  for (const int signal : {0, SIGSTOP}) {  // One that is stopped hears no other signal.
    SCOPED_TRACE(signal);
    const ChildEnd end = RunApart(
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

TEST(ChildProcessTest, EndsWithWhatIsThrown) {
  ::testing::internal::CaptureStderr();
  const ChildEnd error = RunApart([](int pipe) {
    WriteToParent(pipe, "some");
    throw std::runtime_error("out of paper");
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "out of paper\n");
  EXPECT_EQ(error.text, "some");
  EXPECT_EQ(error.status, 1 << 8) << "not exit status 1";

  const ChildEnd other = RunApart([](int) { throw 3; });
  EXPECT_EQ(other.status, 1 << 8) << "not exit status 1";
}

TEST(ChildProcessTest, HasTheEndThatItWritesToAndNotTheOther) {
  const ChildEnd end = RunApart([](int pipe) {
    const auto folder = std::filesystem::path("/proc/self/fd");
    const auto own = std::filesystem::read_symlink(folder / std::to_string(pipe));
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::error_code error;
      if (std::filesystem::read_symlink(file, error) == own) WriteToParent(pipe, "x");
    }
  });
  EXPECT_EQ(end.text, "x");
}

TEST(ChildProcessTest, WaitsForTheEndOfWhatWritesNoMore) {
  const ChildEnd slow = RunApart([](int pipe) {
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
    const ChildEnd end = RunApart(body, 100'000'000);
    EXPECT_TRUE(end.is_late);
    EXPECT_EQ(SignalText(WTERMSIG(end.status)), "SIGKILL");
  }
}

TEST(ChildProcessTest, EndsWhereNobodyIsToldHowProcessesEnd) {
  ::signal(SIGCHLD, SIG_IGN);
  const ChildEnd end = RunApart([](int pipe) { WriteToParent(pipe, "done"); });
  ::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(end.text, "done");
  EXPECT_FALSE(end.is_late);
}

TEST(ChildProcessTest, DoesNotWaitForThoseThatTheChildLeavesBehind) {
  int hold[2];
  ASSERT_EQ(::pipe(hold), 0);
  const ChildEnd end = RunApart([&hold](int pipe) {
    if (::fork() == 0) {  // Has the pipe, and ends when the test does.
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
