// Runs functions of this program in child processes, so that the caller survives a crash, a hang or
// an exit; and runs other programs.
#ifndef BERTH_HOST_BASE_CHILD_PROCESS_H_
#define BERTH_HOST_BASE_CHILD_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

// Writes all of `text` to `pipe`. Ends the process when the write fails, for example because the
// pipe has no reader. Async-signal-safe.
void WriteToParent(int pipe, std::string_view text);

// The result of a child process.
struct ChildResult {
  std::string text;      // The text that the process wrote to its pipe.
  int status = 0;        // The status that waitpid() reported.
  bool is_late = false;  // The process exceeded its time limit and was killed.
};

// Forks, runs `body` with a pipe to write to in the child process, and waits until the child has
// ended. Does not wait for processes that the child started. Kills a child that has not ended after
// `limit_ns`. The child's standard output goes to standard error. Signals that this process handles
// have their default action in the child, so that a crash is the signal in `status`; signals that
// are ignored stay ignored. SIGPIPE is ignored, as this program ignores it from its start, also if
// a library has installed a handler since. The child is killed when the thread that forked it ends.
// If `body` throws, the child exits with status 1, and writes what() to standard error.
// Threading: the caller may have other threads. The child has only the thread that forked it, and a
//            lock that another thread held at the fork is never released there. No other thread of
//            the caller may hold a lock that `body` takes. The C library makes an exception of its
//            own locks for memory, for stdio and for loading libraries, which it releases in the
//            child: `body` may allocate memory and load libraries.
// Errors: Unavailable when the pipe or the process could not be created.
Result<ChildResult> RunInChild(const std::function<void(int pipe)>& body, int64_t limit_ns,
                               const std::function<int64_t()>& steady_ns);

// Returns the name of a signal, such as "SIGSEGV"; "signal 99" for a number without a name.
std::string SignalText(int signal);

// Another program to run, and its limits.
struct Subprocess {
  // A path with a slash, which is relative to `directory`, or a name that is searched in the PATH
  // of `environment`. No shell is involved.
  std::string program = {};
  std::vector<std::string> arguments = {};    // Without the program's own name.
  std::vector<std::string> environment = {};  // "NAME=value"; the program gets no other variables.
  std::string directory = {};                 // The working directory; empty: that of this process.
  int64_t limit_ns = 0;                       // From just before the start. Must be positive.
  size_t max_output_bytes = size_t{1} << 20;  // Of standard output.
  size_t max_error_bytes = size_t{4} << 10;   // Of standard error; the rest is dropped.
};

struct SubprocessResult {
  std::string output = {};  // Standard output.
  std::string errors = {};  // The beginning of standard error.
  int status = 0;           // As waitpid() reports it.
};

// Starts the program with posix_spawn(), with standard input from /dev/null and without any other
// open descriptor, in a process group of its own, and waits for its end. Kills the group when the
// time is up or when the program prints too much. Processes that the program leaves behind are not
// waited for.
// All signals have their default action in the program, and none is blocked, whatever this process
// or a library in it has set: a Go runtime, for example, installs a handler for SIGPIPE.
// `steady_ns` is a monotonic clock.
// Threading: any. Blocks the calling thread.
// Errors: kNotFound (no such program, directory or interpreter), kPermissionDenied (not
//         executable), kUnavailable (the time limit, or the system has no process), kOutOfRange
//         (too much output). Each message begins with the program. A program that ends with another
//         status than 0 is no error of this function.
Result<SubprocessResult> RunSubprocess(const Subprocess& what,
                                       const std::function<int64_t()>& steady_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_CHILD_PROCESS_H_
