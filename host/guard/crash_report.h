// Reports which plugin a crash happened in, and which one ended the process with exit().
#ifndef BERTH_HOST_GUARD_CRASH_REPORT_H_
#define BERTH_HOST_GUARD_CRASH_REPORT_H_

#include "host/guard/call_monitor.h"

namespace berth::host {

// Installs the handlers of crash_handler.h, which write
//   berth: crashed in plugin X (library path) at Filter, pod ns/name
// to standard error once, and then let the signal end the process. This includes an exception, also
// one of another language, that leaves a plugin's function: it ends the process by SIGABRT. A crash
// on a thread that a plugin has started, or without a monitor, is reported as "outside any plugin
// call".
//
// Called:    by main(), on the thread that becomes the scheduling thread, with null and before any
//            library is loaded: the runtime of a language handles its own faults only then. By the
//            scheduler, with its monitor before it creates plugins, and with null in the end.
// Lifetime:  the monitor must live until the process ends, or until null is passed.
void InstallCrashReport(const CallMonitor* monitor);

// While this object exists, a call of exit() or quick_exit() writes
//   berth: exit(0) was called in plugin X (library path) at Filter, pod ns/name
// to standard error and ends the process with `exit_status`, so that no caller takes an unfinished
// command for a successful one. The plugin is the one that the calling thread is in, according to
// the monitor of InstallCrashReport(). On a thread that a plugin has started, the call is reported
// as "outside any plugin call". Handlers that were registered with atexit() before this object was
// created do not run.
//
// A library that ends the process without exit() is not reported, and no code of the process can
// report it: _exit() is a system call that ends all threads at once, and the exit status is the one
// that the library passes. os.Exit() of Go ends the process like that. `berth plugin check` reports
// it, because it waits for a child process.
//
// In a child process that was forked meanwhile, exit() has its usual effect.
//
// Called: by main(), which creates at most one object at a time. Any thread may call exit().
class ExitReport {
 public:
  // REQUIRES: `exit_status` is not 0.
  explicit ExitReport(int exit_status);
  ~ExitReport();
  ExitReport(const ExitReport&) = delete;
  ExitReport& operator=(const ExitReport&) = delete;
};

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CRASH_REPORT_H_
