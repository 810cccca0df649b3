#include "host/guard/crash_handler.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

void Write(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(99);
}

void Report(int signal) { Write("report " + std::to_string(signal) + "\n"); }

std::string OneReport(int signal) { return "^report " + std::to_string(signal) + "\n$"; }

void Fault(int signal) {
  if (signal == SIGABRT) std::abort();
  if (signal != SIGSEGV) {
    ::raise(signal);
    return;
  }
  volatile uintptr_t nowhere = 8;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

constexpr std::array kAllSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

TEST(CrashHandlerTest, ReportsOnceAndEndsBySignal) {
  for (const int signal : kAllSignals) {
    SCOPED_TRACE(signal);
    EXPECT_EXIT(
        {
          InstallCrashHandler(Report);
          Fault(signal);
        },
        ::testing::KilledBySignal(signal), OneReport(signal));
  }
}

// ---- Handlers that are installed later ----------------------------------------------------------

// The handlers that were there before those of the test. A handler takes no other argument.
std::array<struct sigaction, NSIG> previous;

void CallPrevious(int signal, siginfo_t* info, void* context) {
  previous[static_cast<size_t>(signal)].sa_sigaction(signal, info, context);
}

void InstallOver(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  struct sigaction before {};
  ::sigaction(signal, &action, &before);
  if (before.sa_sigaction != handler) previous[static_cast<size_t>(signal)] = before;
}

void PutBackAfterwards(int signal, siginfo_t* info, void* context) {
  CallPrevious(signal, info, context);
  InstallOver(signal, PutBackAfterwards);
}

void CallTwice(int signal, siginfo_t* info, void* context) {
  CallPrevious(signal, info, context);
  CallPrevious(signal, info, context);
}

void PassNumberAlone(int signal, siginfo_t* /*info*/, void* /*context*/) {
  CallPrevious(signal, nullptr, nullptr);
}

// Restores the previous handler and raises the signal again.
void RaiseAgain(int signal, siginfo_t* /*info*/, void* /*context*/) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::sigaction(signal, &previous[static_cast<size_t>(signal)], nullptr);
  ::raise(signal);
  InstallOver(signal, RaiseAgain);
}

TEST(CrashHandlerTest, SurvivesHandlersThatAreInstalledOverIt) {
  const struct {
    const char* name;
    void (*handler)(int, siginfo_t*, void*);
  } cases[] = {
      {"one that stays installed", CallPrevious}, {"one that is put back", PutBackAfterwards},
      {"one that calls it twice", CallTwice},     {"one that raises again", RaiseAgain},
      {"one without details", PassNumberAlone},
  };
  for (const auto& c : cases) {
    for (const int signal : {SIGSEGV, SIGFPE, SIGABRT}) {
      SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(signal));
      EXPECT_EXIT(
          {
            InstallCrashHandler(Report);
            InstallOver(signal, c.handler);
            Fault(signal);
          },
          ::testing::KilledBySignal(signal), OneReport(signal));
    }
  }
}

TEST(CrashHandlerTest, CrashInTheReportEndsTheProcess) {
  EXPECT_EXIT(
      {
        InstallCrashHandler([](int) {
          Write("begun\n");
          Fault(SIGSEGV);
        });
        std::abort();
      },
      ::testing::KilledBySignal(SIGSEGV), "^begun\n$");
}

std::atomic<bool> has_begun = false;

void ReportSlowly(int signal) {
  has_begun.store(true);
  ::usleep(50'000);
  Report(signal);
}

TEST(CrashHandlerTest, SecondThreadLetsTheFirstReport) {
  EXPECT_EXIT(
      {
        InstallCrashHandler(ReportSlowly);
        std::thread first([] { std::abort(); });
        while (!has_begun.load()) std::this_thread::yield();
        Fault(SIGSEGV);
        first.join();
      },
      [](int status) { return WIFSIGNALED(status); }, OneReport(SIGABRT));
}

TEST(CrashHandlerTest, ChildProcessInstallsItsOwnReport) {
  EXPECT_EXIT(
      {
        InstallCrashHandler([](int) { Write("report of the parent\n"); });
        const pid_t child = ::fork();
        if (child == 0) {
          InstallCrashHandler(Report);
          std::abort();
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ::_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
      },
      ::testing::ExitedWithCode(SIGABRT), OneReport(SIGABRT));
}

// ---- std::terminate() ---------------------------------------------------------------------------

// Throws an exception of another language.
[[noreturn]] void ThrowForeign() {
  static _Unwind_Exception exception = {};
  exception = {};
  exception.exception_class = 0x4245525448544553;  // Not that of a C++ exception.
  _Unwind_RaiseException(&exception);
  ::_exit(98);  // There is a handler: CallPlugin().
}

// The runtime of Ada installs such a handler.
void ThrowForSignal(int /*signal*/) { ThrowForeign(); }

void InstallThrowingHandler() {
  struct sigaction action {};
  action.sa_handler = ThrowForSignal;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  ::sigaction(SIGABRT, &action, nullptr);
}

// As the host calls plugins: the compiler does not see that some functions never throw.
void CallPlugin(void (*function)()) noexcept {
  void (*volatile called)() = function;
  called();
}

TEST(CrashHandlerTest, TerminateIsReportedOnce) {
  const struct {
    const char* name;
    void (*end)();
    const char* text;
  } cases[] = {
      {"an exception", [] { throw std::runtime_error("no paper"); },
       "^terminate called after throwing an instance of 'std::runtime_error'\n"
       "  what\\(\\):  no paper\nreport 6\n$"},
      {"an exception of another language", ThrowForeign,
       "^terminate called without a C\\+\\+ exception\nreport 6\n$"},
      {"terminate", [] { std::terminate(); },
       "^terminate called without a C\\+\\+ exception\nreport 6\n$"},
  };
  for (const auto& c : cases) {
    for (const bool is_runtime_loaded : {false, true}) {
      SCOPED_TRACE(c.name + std::string(is_runtime_loaded ? ", with a runtime" : ""));
      EXPECT_EXIT(
          {
            InstallCrashHandler(Report);
            if (is_runtime_loaded) InstallThrowingHandler();
            CallPlugin(c.end);
          },
          ::testing::KilledBySignal(SIGABRT), c.text);
    }
  }
}

TEST(CrashHandlerTest, AbortIsReportedOnceDespiteAThrowingHandler) {
  EXPECT_EXIT(
      {
        InstallCrashHandler(Report);
        InstallThrowingHandler();
        CallPlugin([] { std::abort(); });
      },
      ::testing::KilledBySignal(SIGABRT),
      "^terminate called without a C\\+\\+ exception\nreport 6\n$");
  EXPECT_EXIT(
      {
        InstallCrashHandler(Report);
        InstallThrowingHandler();
        InstallCrashHandler(Report);
        CallPlugin([] { std::abort(); });
      },
      ::testing::KilledBySignal(SIGABRT), OneReport(SIGABRT));
}

}  // namespace
}  // namespace berth::host
