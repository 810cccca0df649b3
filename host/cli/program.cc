#include "host/cli/program.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <ostream>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/descriptor_buffer.h"
#include "host/base/file_descriptor.h"
#include "host/guard/crash_report.h"
#include "host/loader/private_directory.h"
#include "host/process/assemble/process_signals.h"

namespace berth::host {
namespace {

// The descriptor of the output, or -1. A handler of fork() takes no arguments.
std::atomic<int> owned_descriptor = -1;

// Calls only functions that are async-signal-safe.
void LeaveOutputToParent() {
  const int descriptor = owned_descriptor.load();
  if (descriptor >= 0) ::dup3(STDOUT_FILENO, descriptor, O_CLOEXEC);
}

void RedirectToStandardError() {
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return;
  FileDescriptor nowhere(::open("/dev/null", O_WRONLY));
  if (nowhere.get() == STDOUT_FILENO) {
    nowhere.Release();
  } else if (nowhere.ok()) {
    ::dup2(nowhere.get(), STDOUT_FILENO);
  }
}

// Returns a number that is not one of the three standard descriptors.
FileDescriptor Duplicate(int descriptor) {
  return FileDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

// Takes over the file of descriptor 1, and replaces descriptor 1 by standard error. A plugin that
// prints to its standard output then writes to standard error, and cannot corrupt the output of the
// command. Descriptor 1 keeps this meaning until the process ends, because plugins may print until
// then. If standard error is closed, the output of plugins is lost.
//
// In a process that is forked, also by a plugin, descriptor() is standard error too: a process that
// a plugin leaves behind must not hold the output open, whose reader would wait for it.
//
// Called: once, before this process starts a thread.
class StandardOutput {
 public:
  StandardOutput() : file_(Duplicate(STDOUT_FILENO)), buffer_(file_.get()), stream_(&buffer_) {
    static const bool is_registered = ::pthread_atfork(nullptr, nullptr, LeaveOutputToParent) == 0;
    BERTH_ASSERT(is_registered);
    RedirectToStandardError();
    owned_descriptor.store(file_.get());
  }
  ~StandardOutput() { owned_descriptor.store(-1); }

  // The descriptor of the file. -1 if standard output is closed: then writing to stream() fails.
  int descriptor() const { return file_.get(); }
  // Threading: one thread at a time.
  std::ostream& stream() { return stream_; }

 private:
  const FileDescriptor file_;
  DescriptorBuffer buffer_;
  std::ostream stream_;
};

template <class Clock>
int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

TerminalWidth WidthOf(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return std::nullopt;
  }
  return size.ws_col;
}

std::string Executable(const char* argv0) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(argv0) : path.string();
}

// Returns only the name. The directory may be missing: most commands do not use it, and those that
// load plugins can do without it.
std::string TemporaryDirectory() {
  const char* const name = std::getenv("TMPDIR");
  return name == nullptr || *name == '\0' ? "/tmp" : name;
}

// Returns true for a terminal, a pipe and other files whose reader needs each line at once.
bool IsLive(int descriptor) {
  struct stat facts {};
  return fstat(descriptor, &facts) == 0 && !S_ISREG(facts.st_mode);
}

// Throws std::system_error if the system has no random numbers.
HashKey RandomHashKey() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  return {word(), word()};
}

int64_t BootNs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string HostName() {
  std::array<char, 256> name{};
  // A name that is too long is cut off without an end.
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// Returns a random UUID: version 4, variant 1.
std::string Uuid() {
  const HashKey random = RandomHashKey();
  const uint64_t high = (random[0] & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random[1] & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx",
                static_cast<uint32_t>(high >> 32), static_cast<uint32_t>(high >> 16 & 0xffff),
                static_cast<uint32_t>(high & 0xffff), static_cast<uint32_t>(low >> 48),
                static_cast<unsigned long long>(low & 0xffff'ffff'ffff));
  return text.data();
}

std::vector<std::string> Variables() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

int Run(int argc, char** argv, const ProgramCommand& command) {
  // A reader that closes the output must cause a write error instead of ending the process, so that
  // a recording can still be saved.
  std::signal(SIGPIPE, SIG_IGN);
  // A parent process may have set this signal to be ignored. Then the status of a child process
  // would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  InstallCrashReport(nullptr);  // Before a library is loaded, whose runtime handles its own faults.
  InstallSignalCleanup(RemovePrivateDirectories);
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + 1, argv + argc);
  StandardOutput output;
  CommandEnvironment env{.in = std::cin,
                         .out = output.stream(),
                         .err = std::cerr,
                         .executable = Executable(argv[0]),
                         .temporary_directory = TemporaryDirectory(),
                         .steady_ns = NowNs<std::chrono::steady_clock>,
                         .wall_ns = NowNs<std::chrono::system_clock>,
                         .hash_key = RandomHashKey(),
                         .out_width = WidthOf(output.descriptor()),
                         .err_is_terminal = isatty(STDERR_FILENO) != 0,
                         .out_is_live = IsLive(output.descriptor()),
                         .in_descriptor = STDIN_FILENO,
                         .requests =
                             [](std::function<void()> reload) {
                               return std::make_unique<ProcessSignals>(std::move(reload));
                             },
                         .report_crashes = InstallCrashReport,
                         .variables = Variables(),
                         .boot_ns = BootNs,
                         .host_name = HostName(),
                         .uuid = Uuid(),
                         .pid = getpid(),
                         .err_descriptor = STDERR_FILENO};
  return command(args, env);
}

}  // namespace

int RunProgram(int argc, char** argv, std::string_view name, const ProgramCommand& command) {
  if (argc < 1) return kExitBadInput;
  const ExitReport exit_report(kExitByPlugin);
  // These handlers run before those of ExitReport, which end the process.
  std::atexit(RemovePrivateDirectories);
  std::at_quick_exit(RemovePrivateDirectories);
  try {
    return Run(argc, argv, command);
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": out of memory" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << std::endl;
  }
  return kExitBadInput;
}

}  // namespace berth::host
