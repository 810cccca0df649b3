#include "host/guard/crash_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

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
