// Runs another program and collects what it prints, within limits.
#ifndef BERTH_HOST_BASE_SUBPROCESS_H_
#define BERTH_HOST_BASE_SUBPROCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

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
// All signals have their default action in the program, and none is blocked.
// `steady_ns` is a monotonic clock.
// Threading: any. Blocks the calling thread.
// Errors: kNotFound (no such program, directory or interpreter), kPermissionDenied (not
//         executable), kUnavailable (the time limit, or the system has no process), kOutOfRange
//         (too much output). Each message begins with the program. A program that ends with another
//         status than 0 is no error of this function.
Result<SubprocessResult> RunSubprocess(const Subprocess& what,
                                       const std::function<int64_t()>& steady_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SUBPROCESS_H_
