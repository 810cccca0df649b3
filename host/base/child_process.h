// Runs a function in a child process, so that the caller survives a crash, a hang or an exit.
#ifndef BERTH_HOST_BASE_CHILD_PROCESS_H_
#define BERTH_HOST_BASE_CHILD_PROCESS_H_

#include <poll.h>
#include <sys/types.h>

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
// are ignored stay ignored. The child is killed when the thread that forked it ends. If `body`
// throws, the child exits with status 1, and writes what() to standard error.
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

// Reads what a child process writes to pipes until it ends.
//
// Threading: one thread.
// Lifetime:  the files must outlive it.
class ProcessReader {
 public:
  // Receives what was read from files[file]. Returns whether to go on.
  using Take = std::function<bool(size_t file, std::string_view text)>;
  enum class Outcome : uint8_t {
    kEnded,    // The process has ended.
    kLate,     // It has not ended in time.
    kStopped,  // `take` returned false.
  };

  // `files`: the ends for reading of pipes that the process writes to.
  ProcessReader(pid_t process, const std::vector<int>& files, Take take);

  // Reads until the process has ended, for at most `limit_ns` from `begin_ns` on. Does not wait for
  // other processes that hold the pipes open.
  Outcome Run(int64_t begin_ns, int64_t limit_ns, const std::function<int64_t()>& steady_ns);
  // Sends SIGKILL to `target`, the process or its group as a negative number, unless the process
  // has ended, and waits for its end.
  void Kill(pid_t target);
  // Returns the status as waitpid() reports it; 0 if SIGCHLD is ignored. REQUIRES: it has ended.
  int status() const { return status_; }

 private:
  bool HasEnded(int options);
  int NextWaitMs();
  // Waits up to `wait_ms` for text and returns whether there may be more. Waits the full time after
  // the last writer has closed the pipes.
  bool Read(int wait_ms);

  const pid_t process_;
  std::vector<pollfd> files_;
  const Take take_;
  int status_ = 0;
  bool ended_ = false;
  bool is_stopped_ = false;
  int wait_ms_ = 0;  // The last wait since all pipes were closed.
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_CHILD_PROCESS_H_
