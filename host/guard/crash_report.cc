#include "host/guard/crash_report.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <span>
#include <string_view>

namespace berth::host {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kStackBytes = size_t{64} << 10;

// A signal handler can only reach global variables.
std::atomic<const CallMonitor*> reported_monitor = nullptr;
alignas(16) std::array<char, kStackBytes> signal_stack;

void WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// SA_RESETHAND has restored the default action: the next signal ends the process.
void OnCrash(int signal, siginfo_t* info, void*) {
  if (const CallMonitor* monitor = ReportedMonitor()) {
    constexpr std::string_view kPrefix = "berth: crashed ";
    std::array<char, 4096> line;
    kPrefix.copy(line.data(), kPrefix.size());
    const auto rest = std::span(line).subspan(kPrefix.size(), line.size() - kPrefix.size() - 1);
    size_t size = kPrefix.size() + monitor->Describe(rest);
    line[size++] = '\n';
    WriteAll({line.data(), size});
  }
  // A failed instruction is executed again after the return, so that the core dump shows it. A
  // signal that was sent must be raised again.
  const bool comes_back = info->si_code > 0 && signal != SIGABRT;
  if (!comes_back) raise(signal);
}

}  // namespace

const CallMonitor* ReportedMonitor() { return reported_monitor.load(std::memory_order_acquire); }

void InstallCrashReport(const CallMonitor* monitor) {
  reported_monitor.store(monitor, std::memory_order_release);
  if (monitor == nullptr) return;
  stack_t stack{};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace berth::host
