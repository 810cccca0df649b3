// Reports which plugin ended the process with exit().
#ifndef BERTH_HOST_GUARD_EXIT_REPORT_H_
#define BERTH_HOST_GUARD_EXIT_REPORT_H_

namespace berth::host {

// While this object exists, a call of exit() or quick_exit() writes
//   berth: exit(0) was called in plugin X (library path) at Filter, pod ns/name
// to standard error and ends the process with `exit_status`, so that no caller takes an unfinished
// command for a successful one. The plugin is the one that the calling thread is in, according to
// the monitor of InstallCrashReport(). On a thread that a plugin has started, the call is reported
// as "outside any plugin call". Handlers that were registered with atexit() before this object was
// created do not run. _exit() is not reported.
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

#endif  // BERTH_HOST_GUARD_EXIT_REPORT_H_
