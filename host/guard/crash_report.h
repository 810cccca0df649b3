// Reports which plugin a crash happened in.
#ifndef BERTH_HOST_GUARD_CRASH_REPORT_H_
#define BERTH_HOST_GUARD_CRASH_REPORT_H_

#include "host/guard/call_monitor.h"

namespace berth::host {

// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that write
//   berth: crashed in plugin X (library path) at Filter, pod ns/name
// to standard error and then let the signal's default action happen. A crash on a thread that a
// plugin has started is reported as "outside any plugin call".
//
// Called:    once, by main(), on the thread that becomes the scheduling thread. That thread gets a
//            stack for signal handlers, so that an overflow of its stack is reported too.
// Lifetime:  the monitor must live until the process ends, or until null is passed.
void InstallCrashReport(const CallMonitor* monitor);

// Returns the monitor that was passed to InstallCrashReport() last. Threading: any.
const CallMonitor* ReportedMonitor();

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CRASH_REPORT_H_
