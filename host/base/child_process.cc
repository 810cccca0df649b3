#include "host/base/child_process.h"

#include <fcntl.h>
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

constexpr int kClosed = -1;  // A descriptor that poll() ignores.

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
  ChildResult result;
  ProcessReader reader(child, {read_end.get()}, [&result](size_t /*file*/, std::string_view text) {
    result.text.append(text);
    return true;
  });
  result.is_late = reader.Run(steady_ns(), limit_ns, steady_ns) == ProcessReader::Outcome::kLate;
  if (result.is_late) reader.Kill(child);
  result.status = reader.status();
  return result;
}

std::string SignalText(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

ProcessReader::ProcessReader(pid_t process, const std::vector<int>& files, Take take)
    : process_(process), take_(std::move(take)) {
  for (const int file : files) files_.push_back({.fd = file, .events = POLLIN, .revents = 0});
}

ProcessReader::Outcome ProcessReader::Run(int64_t begin_ns, int64_t limit_ns,
                                          const std::function<int64_t()>& steady_ns) {
  for (;;) {
    const bool ended = HasEnded(WNOHANG);
    const bool has_more = Read(ended ? 0 : NextWaitMs());
    if (is_stopped_) return Outcome::kStopped;
    if (ended && !has_more) return Outcome::kEnded;
    if (steady_ns() - begin_ns < limit_ns) continue;
    // A process that this one left behind may go on to write.
    return ended ? Outcome::kEnded : Outcome::kLate;
  }
}

// While the process is not waited for, its number belongs to no other process or group.
void ProcessReader::Kill(pid_t target) {
  if (!ended_) ::kill(target, SIGKILL);
  while (!HasEnded(0)) {
  }
}

// When SIGCHLD is ignored, waitpid() cannot report the status of the process (ECHILD), and the
// status stays 0 (success).
bool ProcessReader::HasEnded(int options) {
  if (ended_) return true;
  const pid_t found = ::waitpid(process_, &status_, options);
  ended_ = found == process_ || (found < 0 && errno == ECHILD);
  return ended_;
}

// A process usually ends just after it has closed its pipes. The first waits after that are short.
int ProcessReader::NextWaitMs() {
  constexpr int kMaxWaitMs = 50;
  const auto is_open = [](const pollfd& file) { return file.fd != kClosed; };
  if (std::ranges::any_of(files_, is_open)) return kMaxWaitMs;
  wait_ms_ = std::min(2 * wait_ms_ + 1, kMaxWaitMs);
  return wait_ms_;
}

bool ProcessReader::Read(int wait_ms) {
  if (::poll(files_.data(), files_.size(), wait_ms) <= 0) return false;
  bool has_read = false;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].revents == 0) continue;
    std::array<char, 4096> part{};
    const ssize_t count = ::read(files_[i].fd, part.data(), part.size());
    const bool is_interrupted = count < 0 && errno == EINTR;
    has_read = has_read || count > 0 || is_interrupted;
    if (count <= 0 && !is_interrupted) files_[i].fd = kClosed;
    if (count > 0 && !take_(i, {part.data(), static_cast<size_t>(count)})) is_stopped_ = true;
  }
  return has_read;
}

}  // namespace berth::host
