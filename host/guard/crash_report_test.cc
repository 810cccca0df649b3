#include "host/guard/crash_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

// ---- Crashes ------------------------------------------------------------------------------------

class CrashReportTest : public ::testing::Test {
 protected:
  // Installs the report, and calls `crash` in a call of the plugin.
  template <class Crash>
  void CrashIn(Point point, const berth_pod* pod, Crash crash) {
    InstallCrashReport(&monitor_);
    uint32_t cancel = 0;
    monitor_.BeginAttempt(&cancel, pod);
    const auto callee = monitor_.Register({"test.A", "default", "/opt/test.A.so", nullptr});
    const MonitoredCall call(&monitor_, callee, point, {});
    crash();
  }

  TestObjects test_objects_;
  CallMonitor monitor_{test_objects_.interner()};
};

void DieOf(int signal) {
  if (signal == SIGABRT) std::abort();
  if (signal != SIGSEGV) {
    raise(signal);
    return;
  }
  volatile int* nowhere = reinterpret_cast<int*>(8);
  *nowhere = 1;
}

TEST_F(CrashReportTest, NamesPluginAndLetsSignalEndTheProcess) {
  const PodRef web = test_objects_.Pod({.name = "web"});
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    SCOPED_TRACE(signal);
    EXPECT_EXIT(
        CrashIn(Point::kFilter, &web->view(), [signal] { DieOf(signal); }),
        ::testing::KilledBySignal(signal),
        "^berth: crashed in plugin test.A \\(/opt/test.A.so\\) at Filter, pod default/web\n$");
  }
}

TEST_F(CrashReportTest, ReportsACrashOutsideAnyPlugin) {
  EXPECT_EXIT(
      {
        InstallCrashReport(&monitor_);
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "^berth: crashed outside any plugin call\n$");
}

// NOLINTNEXTLINE(misc-no-recursion)
int Overflow(int depth) {
  volatile char much[4096];
  much[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : Overflow(depth + 1) + much[0];
}

TEST_F(CrashReportTest, NamesThePluginThatOverflowedTheStack) {
  EXPECT_EXIT(CrashIn(Point::kScore, nullptr, [] { exit(Overflow(0)); }),
              ::testing::KilledBySignal(SIGSEGV),
              "crashed in plugin test.A \\(/opt/test.A.so\\) at Score");
}

// ---- exit() -------------------------------------------------------------------------------------

class ExitReportTest : public ::testing::Test {
 protected:
  // Calls `end` in a call of the plugin at Filter.
  template <class End>
  void EndInFilter(End end) {
    const ExitReport report(3);
    InstallCrashReport(&monitor_);
    const auto callee = monitor_.Register({"test.A", "default", "/opt/test.A.so", nullptr});
    const MonitoredCall call(&monitor_, callee, Point::kFilter, {});
    end();
  }

  TestObjects test_objects_;
  CallMonitor monitor_{test_objects_.interner()};
};

TEST_F(ExitReportTest, NamesThePluginThatExits) {
  for (const int status : {0, 1, 3}) {
    EXPECT_EXIT(EndInFilter([status] { std::exit(status); }), ::testing::ExitedWithCode(3),
                "^berth: exit\\(" + std::to_string(status) +
                    "\\) was called in plugin test.A \\(/opt/test.A.so\\) at Filter\n$");
  }
  EXPECT_EXIT(EndInFilter([] { std::quick_exit(0); }), ::testing::ExitedWithCode(3),
              "^berth: quick_exit\\(\\) was called in plugin test.A .* at Filter\n$");
}

TEST_F(ExitReportTest, NamesNoPluginOnAnotherThread) {
  EXPECT_EXIT(EndInFilter([] { std::thread([] { std::exit(0); }).join(); }),
              ::testing::ExitedWithCode(3),
              "^berth: exit\\(0\\) was called outside any plugin call\n$");
}

TEST_F(ExitReportTest, NamesNoPluginWithoutAMonitor) {
  EXPECT_EXIT(
      {
        const ExitReport report(3);
        std::exit(0);
      },
      ::testing::ExitedWithCode(3), "^berth: exit\\(0\\) was called outside any plugin call\n$");
}

TEST_F(ExitReportTest, LeavesTheExitOfAChildProcessAlone) {
  EXPECT_EXIT(EndInFilter([] {
                const pid_t child = ::fork();
                if (child == 0) std::exit(5);
                int status = 0;
                ::waitpid(child, &status, 0);
                ::_exit(WEXITSTATUS(status));
              }),
              ::testing::ExitedWithCode(5), "^$");
}

TEST_F(ExitReportTest, DoesNothingAfterItsEnd) {
  EXPECT_EXIT(
      {
        { const ExitReport report(3); }
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace berth::host
