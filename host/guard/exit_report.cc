#include "host/guard/exit_report.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "host/base/assert.h"
#include "host/guard/call_monitor.h"
#include "host/guard/crash_report.h"

namespace berth::host {
namespace {

// A handler of exit() can only reach global variables.
std::atomic<int> reported_status = 0;  // 0 while there is no ExitReport.
std::atomic<pid_t> reported_process = 0;

std::string ReportOf(const std::string& function) {
  std::array<char, 4096> caller;
  const CallMonitor* monitor = ReportedMonitor();
  const size_t size = monitor == nullptr ? 0 : monitor->Describe(caller);
  return "berth: " + function + " was called " +
         (size == 0 ? "outside any plugin call" : std::string(caller.data(), size)) + "\n";
}

void EndProcess(const std::string& function) {
  const int status = reported_status.load();
  if (status == 0 || reported_process.load() != ::getpid()) return;
  // A plugin often prints why it exits. _exit() does not write the buffer of stdio.
  static_cast<void>(std::fflush(stdout));
  const std::string report = ReportOf(function);
  for (std::string_view text = report; !text.empty();) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) break;
    text.remove_prefix(static_cast<size_t>(written));
  }
  ::_exit(status);
}

void OnExit(int status, void*) { EndProcess("exit(" + std::to_string(status) + ")"); }
void OnQuickExit() { EndProcess("quick_exit()"); }

}  // namespace

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
