#include "host/guard/crash_report.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "host/base/assert.h"
#include "host/guard/crash_handler.h"

namespace berth::host {
namespace {

constexpr std::string_view kNoCall = "outside any plugin call";

// Handlers of signals and of exit() can only reach global variables.
std::atomic<const CallMonitor*> reported_monitor = nullptr;
std::atomic<int> reported_status = 0;  // 0 while there is no ExitReport.
std::atomic<pid_t> reported_process = 0;

// Writes "berth: <what> <where>\n", where <where> is what this thread is doing. Async-signal-safe.
void WriteReport(std::string_view what) {
  std::array<char, 4096> line;
  size_t size = 0;
  for (const std::string_view part : {std::string_view("berth: "), what, std::string_view(" ")}) {
    size += part.copy(line.data() + size, part.size());
  }
  const CallMonitor* monitor = reported_monitor.load(std::memory_order_acquire);
  size += monitor != nullptr
              ? monitor->Describe(std::span(line).subspan(size, line.size() - size - 1))
              : kNoCall.copy(line.data() + size, kNoCall.size());
  line[size++] = '\n';
  for (std::string_view text(line.data(), size); !text.empty();) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void ReportSignal(int /*signal*/) { WriteReport("crashed"); }

void EndProcess(const std::string& function) {
  const int status = reported_status.load();
  if (status == 0 || reported_process.load() != ::getpid()) return;
  // A plugin often prints why it exits. _exit() does not write the buffer of stdio.
  static_cast<void>(std::fflush(stdout));
  WriteReport(function + " was called");
  ::_exit(status);
}

void OnExit(int status, void*) { EndProcess("exit(" + std::to_string(status) + ")"); }
void OnQuickExit() { EndProcess("quick_exit()"); }

}  // namespace

void InstallCrashReport(const CallMonitor* monitor) {
  reported_monitor.store(monitor, std::memory_order_release);
  InstallCrashHandler(ReportSignal);
}

ExitReport::ExitReport(int exit_status) {
  static const bool is_registered =
      ::on_exit(OnExit, nullptr) == 0 && std::at_quick_exit(OnQuickExit) == 0;
  BERTH_ASSERT(is_registered && exit_status != 0);
  reported_process.store(::getpid());
  BERTH_ASSERT_MSG(reported_status.exchange(exit_status) == 0,
                   "there is another ExitReport in this process");
}

ExitReport::~ExitReport() { reported_status.store(0); }

}  // namespace berth::host
