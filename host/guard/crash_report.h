// Says whose code it was when the process dies.
#ifndef BERTH_HOST_GUARD_CRASH_REPORT_H_
#define BERTH_HOST_GUARD_CRASH_REPORT_H_

#include "host/guard/call_monitor.h"

namespace berth::host {

// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT first write
//   berth: crashed in plugin X (library path) at Filter, pod ns/name
// to standard error, then do what they do by default. What a plugin's own threads do is "outside
// any plugin".
//
// Called:    once, by the process' main alone, on the thread that will be the scheduling thread: it
//            gets a stack for signals, so that an overflow of its own is reported too.
// Lifetime:  until the process ends, or null is passed.
void InstallCrashReport(const CallMonitor* monitor);

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CRASH_REPORT_H_
