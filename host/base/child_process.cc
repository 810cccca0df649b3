#include "host/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "host/base/file_descriptor.h"

namespace berth::host {
namespace {

// Reads the text that a child process writes until it ends. Does not wait for other processes that
// hold the same pipe open.
class ChildReader {
 public:
  ChildReader(int file, pid_t child) : file_(file), child_(child) {}

  ChildResult Run(int64_t limit_ns, const std::function<int64_t()>& steady_ns) {
    const int64_t begin_ns = steady_ns();
    for (;;) {
      const bool ended = HasEnded(WNOHANG);
      const bool has_more = Read(ended ? 0 : NextWaitMs());
      if (ended && !has_more) break;
      if (steady_ns() - begin_ns < limit_ns) continue;
      end_.is_late = !ended;
      break;
    }
    if (end_.is_late) ::kill(child_, SIGKILL);
    while (!HasEnded(0)) {
    }
    return std::move(end_);
  }

 private:
  // When SIGCHLD is ignored, waitpid() cannot report the status of the child (ECHILD), and the
  // status stays 0 (success).
  bool HasEnded(int options) {
    if (ended_) return true;
    const pid_t found = ::waitpid(child_, &end_.status, options);
    ended_ = found == child_ || (found < 0 && errno == ECHILD);
    return ended_;
  }

  // A child usually ends just after it has closed its pipe. The first waits after that are short.
  int NextWaitMs() {
    constexpr int kMaxWaitMs = 50;
    if (file_ != kClosed) return kMaxWaitMs;
    wait_ms_ = std::min(2 * wait_ms_ + 1, kMaxWaitMs);
    return wait_ms_;
  }

  // Waits up to `wait_ms` for text and returns whether it has read any. Waits the full time after
  // the last writer has closed the pipe.
  bool Read(int wait_ms) {
    pollfd wait = {.fd = file_, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, wait_ms) <= 0) return false;
    std::array<char, 4096> part{};
    const ssize_t count = ::read(file_, part.data(), part.size());
    if (count == 0) file_ = kClosed;
    if (count <= 0) return false;
    end_.text.append(part.data(), static_cast<size_t>(count));
    return true;
  }

  static constexpr int kClosed = -1;  // A descriptor that poll() ignores.

  int file_;
  const pid_t child_;
  ChildResult end_;
  bool ended_ = false;
  int wait_ms_ = 0;  // The last wait since the pipe was closed.
};

// Blocks all signals of the calling thread while it exists.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_;
};

// The handlers of the parent would write to files that the child shares with the parent, and report
// a crash of the child as one of the parent.
void ResetSignalHandlers() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;  // A signal of the C library.
    const bool is_plain = (static_cast<unsigned>(action.sa_flags) & SA_SIGINFO) == 0;
    if (is_plain && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) continue;
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(signal, &standard, nullptr);
  }
}

[[noreturn]] void RunChild(pid_t parent, const std::function<void(int pipe)>& body, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // The parent ended before prctl() took effect.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    body(pipe);
  } catch (const std::exception& error) {
    WriteToParent(STDERR_FILENO, std::string(error.what()) + "\n");
    ::_exit(1);
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

void WriteToParent(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(pipe, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    text.remove_prefix(static_cast<size_t>(written));
  }
}

Result<ChildResult> RunInChild(const std::function<void(int pipe)>& body, int64_t limit_ns,
                               const std::function<int64_t()>& steady_ns) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status::Unavailable(std::string("pipe: ") + std::strerror(errno));
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const pid_t parent = ::getpid();
  pid_t child = -1;
  {
    const SignalBlock block;  // No handler of the parent runs in the child.
    child = ::fork();
    if (child == 0) ResetSignalHandlers();
  }
  if (child < 0) return Status::Unavailable(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    RunChild(parent, body, write_end.get());
  }
  { const FileDescriptor closed = std::move(write_end); }
  return ChildReader(read_end.get(), child).Run(limit_ns, steady_ns);
}

std::string SignalText(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace berth::host
