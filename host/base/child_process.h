// Runs something in a process of its own, where it may crash, hang or end the process.
#ifndef BERTH_HOST_BASE_CHILD_PROCESS_H_
#define BERTH_HOST_BASE_CHILD_PROCESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Writes all of it; ends the process when nobody listens. Async-signal-safe.
void WriteToParent(int pipe, std::string_view text);

struct ChildEnd {
  std::string text;  // What it wrote to its pipe.
  int status = 0;    // As waitpid() gives it.
  bool is_late = false;
};

// Forks, runs `body` with a pipe to write to, and waits until that process ends; what processes of
// its own do then is not waited for. One that has not ended after `limit_ns` is killed. What it
// prints goes to standard error. It ends with the thread that forked it. A `body` that throws ends
// it with exit status 1, and what() goes to standard error.
// Threading: no thread of the caller's holds a lock that `body` takes.
// Errors: Unavailable: no process could be made.
Result<ChildEnd> RunInChild(const std::function<void(int pipe)>& body, int64_t limit_ns,
                            const std::function<int64_t()>& steady_ns);

// "SIGSEGV"
std::string SignalText(int signal);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_CHILD_PROCESS_H_
