// The crash report in a process with a library that handles signals too, as runtimes of other
// languages do. The library is loaded before or after the report is installed.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "host/guard/crash_report.h"

namespace berth::host {
namespace {

using ForeignCall = void(const char* what);

ForeignCall* Load() {
  void* library = ::dlopen(BERTH_FOREIGN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void* function = library == nullptr ? nullptr : ::dlsym(library, "ForeignCall");
  if (function == nullptr) ::_exit(97);
  return reinterpret_cast<ForeignCall*>(function);
}

// As the host calls plugins.
void Call(ForeignCall* function, const char* what) noexcept { function(what); }

class ForeignRuntimeTest : public ::testing::TestWithParam<bool> {
 protected:
  static bool IsLibraryFirst() { return GetParam(); }

  static ForeignCall* LoadAndInstall() {
    ForeignCall* function = IsLibraryFirst() ? Load() : nullptr;
    InstallCrashReport(nullptr);
    return function != nullptr ? function : Load();
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ForeignRuntimeTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "LibraryFirst" : "ReportFirst");
});

constexpr char kOnce[] = "^berth: crashed outside any plugin call\n$";
constexpr char kOnceAfterTerminate[] =
    "^terminate called without a C\\+\\+ exception\nberth: crashed outside any plugin call\n$";

TEST_P(ForeignRuntimeTest, LibraryRecoversFromItsOwnFaults) {
  EXPECT_EXIT(
      {
        ForeignCall* function = LoadAndInstall();
        for (int i = 0; i < 3; ++i) Call(function, "recover");
        ::_exit(0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_P(ForeignRuntimeTest, OtherFaultsOfTheLibraryAreReportedOnce) {
#ifdef __SANITIZE_ADDRESS__
  if (IsLibraryFirst()) GTEST_SKIP() << "The library keeps the handler of the sanitizer.";
#endif
  EXPECT_EXIT(
      {
        ForeignCall* function = LoadAndInstall();
        Call(function, "recover");
        Call(function, "fault");
      },
      ::testing::KilledBySignal(SIGSEGV), kOnce);
}

TEST_P(ForeignRuntimeTest, FaultsOutsideTheLibraryAreReportedOnce) {
  EXPECT_EXIT(
      {
        LoadAndInstall();
        volatile uintptr_t nowhere = 8;
        *reinterpret_cast<volatile int*>(nowhere) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), kOnce);
}

TEST_P(ForeignRuntimeTest, ExceptionThatLeavesThePluginIsReportedOnce) {
  ::setenv("BERTH_TEST_TAKE_ABORT", "1", 1);
  EXPECT_EXIT(Call(LoadAndInstall(), "throw"), ::testing::KilledBySignal(SIGABRT),
              kOnceAfterTerminate);
  EXPECT_EXIT(Call(LoadAndInstall(), "abort"), ::testing::KilledBySignal(SIGABRT),
              IsLibraryFirst() ? kOnce : kOnceAfterTerminate);
  ::unsetenv("BERTH_TEST_TAKE_ABORT");
}

}  // namespace
}  // namespace berth::host
