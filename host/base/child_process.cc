#include "host/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <utility>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Returns a copy of the descriptor whose number is not that of a standard stream: the copies that
// the child makes for its own standard streams must not replace it.
FileDescriptor AboveStandardStreams(FileDescriptor descriptor) {
  if (descriptor.get() > STDERR_FILENO) return descriptor;
  return FileDescriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Status::Unavailable(std::string("pipe: ") + std::strerror(errno));
  }
  Pipe pipe = {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  pipe.write_end = AboveStandardStreams(std::move(pipe.write_end));
  if (!pipe.write_end.ok()) return Status::Unavailable("pipe: no descriptor is free");
  return pipe;
}

// Reads what a child process writes to pipes until it ends.
// Lifetime: the files must outlive it.
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
  ProcessReader(pid_t process, std::initializer_list<int> files, Take take)
      : process_(process), take_(std::move(take)) {
    for (const int file : files) files_.push_back({.fd = file, .events = POLLIN, .revents = 0});
  }

  // Reads until the process has ended, for at most `limit_ns` from `begin_ns` on. Does not wait for
  // other processes that hold the pipes open.
  Outcome Run(int64_t begin_ns, int64_t limit_ns, const std::function<int64_t()>& steady_ns) {
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

  // Sends SIGKILL to `target`, the process or its group as a negative number, unless the process
  // has ended, and waits for its end. While the process is not waited for, its number belongs to no
  // other process or group.
  void Kill(pid_t target) {
    if (!ended_) ::kill(target, SIGKILL);
    while (!HasEnded(0)) {
    }
  }

  // Returns the status as waitpid() reports it; 0 if SIGCHLD is ignored. REQUIRES: it has ended.
  int status() const { return status_; }

 private:
  static constexpr int kClosed = -1;  // A descriptor that poll() ignores.

  // When SIGCHLD is ignored, waitpid() cannot report the status of the process (ECHILD), and the
  // status stays 0 (success).
  bool HasEnded(int options) {
    if (ended_) return true;
    const pid_t found = ::waitpid(process_, &status_, options);
    ended_ = found == process_ || (found < 0 && errno == ECHILD);
    return ended_;
  }

  // A process usually ends just after it has closed its pipes. The first waits after that are
  // short.
  int NextWaitMs() {
    constexpr int kMaxWaitMs = 50;
    const auto is_open = [](const pollfd& file) { return file.fd != kClosed; };
    if (std::ranges::any_of(files_, is_open)) return kMaxWaitMs;
    wait_ms_ = std::min(2 * wait_ms_ + 1, kMaxWaitMs);
    return wait_ms_;
  }

  // Waits up to `wait_ms` for text and returns whether there may be more. Waits the full time after
  // the last writer has closed the pipes.
  bool Read(int wait_ms) {
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

  const pid_t process_;
  std::vector<pollfd> files_;
  const Take take_;
  int status_ = 0;
  bool ended_ = false;
  bool is_stopped_ = false;
  int wait_ms_ = 0;  // The last wait since all pipes were closed.
};

// ---- Functions in a child process ---------------------------------------------------------------

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
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) continue;
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(signal, &standard, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
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

// ---- Other programs -----------------------------------------------------------------------------

// The attributes and file actions of posix_spawn().
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // Returns 0 or an errno.
  int Set(const std::string& directory, int output, int errors) {
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    constexpr short kFlags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    const std::array<int, 9> results = {
        ::posix_spawnattr_setflags(&attributes_, kFlags),
        ::posix_spawnattr_setpgroup(&attributes_, 0),
        ::posix_spawnattr_setsigdefault(&attributes_, &all),
        ::posix_spawnattr_setsigmask(&attributes_, &none),
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
        ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO),
        ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO),
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1),
        directory.empty() ? 0
                          : ::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str()),
    };
    const auto failed = std::find_if(results.begin(), results.end(), [](int r) { return r != 0; });
    return failed == results.end() ? 0 : *failed;
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool IsProgram(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Returns the path of a program that is searched in PATH; empty if there is none. An empty part of
// PATH is the working directory in POSIX; it is skipped, as Go's os/exec does.
std::string SearchPath(const std::string& name, const std::vector<std::string>& environment) {
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& variable : environment) {
    if (!variable.starts_with(kPath)) continue;
    const std::string_view list = std::string_view(variable).substr(kPath.size());
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      const std::string folder(list.substr(begin, end - begin));
      begin = end + 1;
      std::string path = folder;
      path.append("/").append(name);
      if (!folder.empty() && IsProgram(path)) return path;
    }
    return "";
  }
  return "";
}

Status SpawnError(const std::string& program, int error) {
  std::string message = program + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status::NotFound(std::move(message));
    case EACCES:
    case EPERM:
    case ENOEXEC: return Status::PermissionDenied(std::move(message));
    case E2BIG: return Status::OutOfRange(std::move(message));
    default: return Status::Unavailable(std::move(message));
  }
}

// Reads what a program prints until it ends. `begin_ns`: the time just before it was started.
Result<SubprocessResult> ReadProgram(const Subprocess& what, pid_t child, const Pipe& output,
                                     const Pipe& errors, int64_t begin_ns,
                                     const std::function<int64_t()>& steady_ns) {
  SubprocessResult result;
  ProcessReader reader(
      child, {output.read_end.get(), errors.read_end.get()},
      [&](size_t file, std::string_view text) {
        if (file == 0) {
          result.output.append(text);
          return result.output.size() <= what.max_output_bytes;
        }
        result.errors.append(text.substr(0, what.max_error_bytes - result.errors.size()));
        return true;
      });
  switch (reader.Run(begin_ns, what.limit_ns, steady_ns)) {
    case ProcessReader::Outcome::kEnded: break;
    case ProcessReader::Outcome::kStopped:
      reader.Kill(-child);
      return Status::OutOfRange(what.program + ": expected at most " +
                                std::to_string(what.max_output_bytes) +
                                " bytes on standard output");
    case ProcessReader::Outcome::kLate:
      reader.Kill(-child);
      return Status::Unavailable(what.program + ": the program did not end within " +
                                 std::to_string(what.limit_ns / kMillisecond) + "ms");
  }
  result.status = reader.status();
  return result;
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
  Result<Pipe> pipe = MakePipe();
  if (!pipe.ok()) return pipe.status();
  const pid_t parent = ::getpid();
  pid_t child = -1;
  {
    const SignalBlock block;  // No handler of the parent runs in the child.
    child = ::fork();
    if (child == 0) ResetSignalHandlers();
  }
  if (child < 0) return Status::Unavailable(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    ::close(pipe->read_end.get());
    RunChild(parent, body, pipe->write_end.get());
  }
  { const FileDescriptor closed = std::move(pipe->write_end); }
  ChildResult result;
  ProcessReader reader(child, {pipe->read_end.get()},
                       [&result](size_t /*file*/, std::string_view text) {
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

Result<SubprocessResult> RunSubprocess(const Subprocess& what,
                                       const std::function<int64_t()>& steady_ns) {
  BERTH_ASSERT(what.limit_ns > 0);
  const bool is_path = what.program.find('/') != std::string::npos;
  const std::string path = is_path ? what.program : SearchPath(what.program, what.environment);
  if (path.empty()) {
    return Status::NotFound(what.program + ": there is no such program in PATH");
  }
  Result<Pipe> output = MakePipe();
  Result<Pipe> errors = MakePipe();
  if (!output.ok()) return output.status().Annotate(what.program);
  if (!errors.ok()) return errors.status().Annotate(what.program);

  SpawnSettings settings;
  int error = settings.Set(what.directory, output->write_end.get(), errors->write_end.get());
  if (error != 0) return SpawnError(what.program, error);
  std::vector<std::string> arguments = what.arguments;
  arguments.insert(arguments.begin(), what.program);
  std::vector<std::string> environment = what.environment;
  pid_t child = -1;
  const int64_t begin_ns = steady_ns();
  error = ::posix_spawn(&child, path.c_str(), settings.actions(), settings.attributes(),
                        Pointers(arguments).data(), Pointers(environment).data());
  if (error != 0) return SpawnError(what.program, error);
  { const FileDescriptor closed = std::move(output->write_end); }
  { const FileDescriptor closed = std::move(errors->write_end); }
  return ReadProgram(what, child, *output, *errors, begin_ns, steady_ns);
}

}  // namespace berth::host
