#include "host/guard/crash_handler.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <span>
#include <string_view>

namespace berth::host {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
constexpr size_t kStackBytes = size_t{64} << 10;

// The addresses of a loaded library, or of the program.
struct Addresses {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool Contain(uintptr_t address) const { return begin <= address && address < end; }
};

// The handler of a signal that a library had installed before.
struct EarlierHandler {
  Addresses library;  // Empty if there is no such handler.
  struct sigaction action {};
  std::atomic<bool> is_used = false;
};

// Handlers of signals and of std::terminate() can only reach global variables.
std::atomic<ReportCrash> report_crash = nullptr;
std::atomic<pid_t> handling_process = 0;  // The process that installed the handlers.
std::atomic<pid_t> reporting_thread = 0;  // 0: there was no crash.
std::atomic<bool> is_reported = false;
std::array<EarlierHandler, kSignals.size()> earlier_handlers;  // In the order of kSignals.
std::atomic<std::terminate_handler> earlier_terminate = nullptr;
std::atomic<bool> is_terminating = false;
alignas(16) std::array<char, kStackBytes> signal_stack;

// ---- Libraries ----------------------------------------------------------------------------------

struct Search {
  uintptr_t address = 0;
  Addresses found = {};
};

int SearchOneObject(dl_phdr_info* object, size_t /*size*/, void* to) {
  Search& search = *static_cast<Search*>(to);
  Addresses all = {.begin = UINTPTR_MAX, .end = 0};
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    all.begin = std::min(all.begin, begin);
    all.end = std::max(all.end, begin + part.p_memsz);
  }
  if (!all.Contain(search.address)) return 0;
  search.found = all;
  return 1;
}

// Returns the addresses of the library or program that contains the address; empty if none does.
Addresses LibraryOf(uintptr_t address) {
  Search search{.address = address};
  ::dl_iterate_phdr(SearchOneObject, &search);
  return search.found;
}

// ---- Earlier handlers ---------------------------------------------------------------------------

bool HasHandler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

void RememberHandler(int signal, EarlierHandler& earlier) {
  earlier.library = {};
  earlier.is_used.store(false);
  ::sigaction(signal, nullptr, &earlier.action);
  if (!HasHandler(earlier.action)) return;
  const Addresses library = LibraryOf(reinterpret_cast<uintptr_t>(earlier.action.sa_handler));
  // A handler of the program itself, such as that of a sanitizer, has no language of its own.
  if (library.Contain(reinterpret_cast<uintptr_t>(&RememberHandler))) return;
  earlier.library = library;
}

// Returns the address of the instruction that the signal interrupted; 0 if it is not known.
uintptr_t InterruptedInstruction(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  static_cast<void>(machine);
  return 0;
#endif
}

// Returns whether an instruction or the kernel caused the signal, and no process sent it.
bool IsFromKernel(const siginfo_t* info) {
  // A library that calls this handler may pass nothing but the number of the signal.
  return info != nullptr && info->si_code > 0;
}

// Calls the earlier handler of the signal if an instruction of its library caused the signal.
// Returns whether it was called.
bool CallEarlierHandler(int signal, siginfo_t* info, void* context) {
  const auto at = std::ranges::find(kSignals, signal);
  if (at == kSignals.end()) return false;
  EarlierHandler& earlier = earlier_handlers[static_cast<size_t>(at - kSignals.begin())];
  if (earlier.library.end == 0 || !IsFromKernel(info)) return false;
  if (!earlier.library.Contain(InterruptedInstruction(context))) return false;
  const struct sigaction& action = earlier.action;
  const auto flags = static_cast<unsigned>(action.sa_flags);
  if ((flags & SA_RESETHAND) != 0 && earlier.is_used.exchange(true)) return false;
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &action.sa_mask, &before);
  if ((flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

// ---- The end of the process ---------------------------------------------------------------------

// Reports the crash unless that was done. Returns whether this call has reported it.
bool ReportOnce(int signal) {
  pid_t reporter = 0;
  const pid_t self = ::gettid();
  if (reporting_thread.compare_exchange_strong(reporter, self)) {
    report_crash.load()(signal);
    is_reported.store(true);
    return true;
  }
  // The process must not end while another thread reports its crash.
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int ms = 0; reporter != self && !is_reported.load() && ms < 1000; ++ms) {
    ::nanosleep(&kPause, nullptr);
  }
  return false;
}

void RestoreDefault(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

bool HasDefault(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_DFL;  // Go sets SA_SIGINFO too, which means nothing here.
}

// Returns whether the instruction that caused the signal is executed again after the handler.
bool IsRepeated(int signal, const siginfo_t* info) {
  const bool is_fault =
      signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
  return is_fault && IsFromKernel(info);
}

// REQUIRES: the default action of the signal is restored.
[[noreturn]] void EndBy(int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);  // Process 1 of a container.
}

void OnCrash(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (CallEarlierHandler(signal, info, context)) {
    // Such a handler restores the default action for a fault that is not its own.
    if (HasDefault(signal)) ReportOnce(signal);
    errno = error;
    return;
  }
  const bool is_first = ReportOnce(signal);
  RestoreDefault(signal);
  // The signal then comes from the instruction itself, so that the core dump shows it. If it comes
  // here again instead, a library has put its handler back.
  if (is_first && IsRepeated(signal, info)) return;
  EndBy(signal);
}

void TakeSignal(int signal) {
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_NODEFER | SA_ONSTACK);
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

// The handler of std::terminate().
[[noreturn]] void OnTerminate() {
  // The C++ library cannot describe an exception of another language, and reads past its end.
  const bool can_describe = std::current_exception() != nullptr;
  const bool is_first = !is_terminating.exchange(true);
  // A runtime whose handler throws for abort() would come back to this function without an end.
  if (handling_process.load() == ::getpid()) TakeSignal(SIGABRT);
  if (is_first && can_describe) earlier_terminate.load()();
  if (is_first) {
    constexpr std::string_view kText = "terminate called without a C++ exception\n";
    static_cast<void>(!::write(STDERR_FILENO, kText.data(), kText.size()));
  }
  std::abort();
}

void UseSignalStack() {
  stack_t stack{};
  ::sigaltstack(nullptr, &stack);
  if ((static_cast<unsigned>(stack.ss_flags) & SS_DISABLE) == 0) return;
  stack = {};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  ::sigaltstack(&stack, nullptr);
}

}  // namespace

void InstallCrashHandler(ReportCrash report) {
  report_crash.store(report);
  if (handling_process.load() == ::getpid()) {
    TakeSignal(SIGABRT);
    return;
  }
  reporting_thread.store(0);
  is_reported.store(false);
  is_terminating.store(false);
  UseSignalStack();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    RememberHandler(kSignals[i], earlier_handlers[i]);
    TakeSignal(kSignals[i]);
  }
  const std::terminate_handler earlier = std::set_terminate(OnTerminate);
  if (earlier != OnTerminate) earlier_terminate.store(earlier);
  handling_process.store(::getpid());
}

}  // namespace berth::host
