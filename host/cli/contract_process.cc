#include "host/cli/contract_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <berth/testing/call.h>

#include "host/cli/call_watch.h"
#include "host/cli/cluster_files.h"
#include "host/loader/file_descriptor.h"

namespace berth::host {
namespace {

// What the child writes: lines of "promise<tab>text". Two are not findings.
constexpr std::string_view kDone = "done";    // All was asked.
constexpr std::string_view kCrash = "crash";  // The text is the function, a space and the signal.
constexpr unsigned kMostSeconds = 300;

// ---- The child ----------------------------------------------------------------------------------

// Where the crash handler writes; it can be told by nothing else.
int crash_pipe = -1;  // NOLINT(readability-identifier-naming)

void WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);  // Nobody listens any more.
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Only what may be called within a signal handler.
void TellCrash(int signal) {
  const testing::CallScope* call = testing::CallScope::current();
  const char* function = call == nullptr ? "no call" : call->point();
  const std::array<char, 3> number = {static_cast<char>('0' + signal / 10 % 10),
                                      static_cast<char>('0' + signal % 10), '\n'};
  WriteAll(crash_pipe, "\ncrash\t");
  WriteAll(crash_pipe, std::string_view(function, ::strlen(function)));
  WriteAll(crash_pipe, " ");
  WriteAll(crash_pipe, std::string_view(number.data(), number.size()));
  ::_exit(1);
}

void CatchCrashes(int pipe) {
  crash_pipe = pipe;
  static std::array<char, 64 * 1024> stack;  // A stack that is full has no room for the handler.
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = &TellCrash;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS}) {
    ::sigaction(signal, &action, nullptr);
  }
}

std::string LineOf(const ContractFinding& finding) {
  std::string text = finding.text;
  std::ranges::replace(text, '\n', ' ');
  return finding.promise + "\t" + text + "\n";
}

[[noreturn]] void RunChild(const ContractSubject& subject,
                           const std::function<int64_t()>& steady_ns, int pipe) {
  CatchCrashes(pipe);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // What plugins print is no part of the report.
  ::alarm(kMostSeconds);
  std::mutex mutex;
  const auto tell = [&](const ContractFinding& finding) {
    const std::lock_guard lock(mutex);
    WriteAll(pipe, LineOf(finding));
  };
  // A plugin that is late once is late a thousand times: nothing more is asked.
  CallWatch watch(steady_ns, [&](const std::string& text) {
    tell({std::string(kDeadlinesPromise), text});
    ::_exit(0);
  });
  CheckContract(subject, watch, tell);
  tell({std::string(kDone), ""});
  ::_exit(0);
}

// ---- The parent ---------------------------------------------------------------------------------

// What the child writes until it ends; not what others may write who have the pipe of it.
std::string ReadUntilEnd(int file, pid_t child, int& status) {
  constexpr int kLookEveryMs = 50;
  std::string all;
  std::array<char, 4096> part{};
  for (bool ended = false;;) {
    pollfd wait = {.fd = file, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, ended ? 0 : kLookEveryMs);
    if (ready > 0) {
      const ssize_t count = ::read(file, part.data(), part.size());
      if (count > 0) all.append(part.data(), static_cast<size_t>(count));
      if (count != 0) continue;
    } else if (!ended) {
      ended = ::waitpid(child, &status, WNOHANG) == child;
      continue;
    }
    while (!ended) ended = ::waitpid(child, &status, 0) == child;
    return all;
  }
}

std::string SignalText(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

ContractFinding CrashOf(std::string_view text) {
  const size_t space = text.rfind(' ');
  const int signal = std::atoi(std::string(text.substr(space + 1)).c_str());
  return {std::string(kSurvivesPromise),
          SignalText(signal) + " in " + std::string(text.substr(0, space)) + " ends the process"};
}

std::string EndOf(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return "it is not through after " + std::to_string(kMostSeconds) + " s";
  }
  return WIFSIGNALED(status)
             ? SignalText(WTERMSIG(status)) + " ends the process"
             : "it ends the process with exit status " + std::to_string(WEXITSTATUS(status));
}

std::vector<ContractFinding> ParseLines(std::string_view text, int status) {
  std::vector<ContractFinding> findings;
  bool through = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    const std::string_view promise = line.substr(0, tab);
    const std::string_view rest = line.substr(tab + 1);
    through = through || promise == kDone || promise == kCrash || promise == kDeadlinesPromise;
    if (promise == kDone) continue;
    findings.push_back(promise == kCrash
                           ? CrashOf(rest)
                           : ContractFinding{std::string(promise), std::string(rest)});
  }
  if (!through) findings.push_back({std::string(kSurvivesPromise), EndOf(status)});
  return findings;
}

}  // namespace

Result<std::vector<ContractFinding>> CheckContractApart(const ContractSubject& subject,
                                                        std::function<int64_t()> steady_ns) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status::Unavailable(std::string("pipe: ") + std::strerror(errno));
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Status::Unavailable(std::string("fork: ") + std::strerror(errno));
  if (child == 0) RunChild(subject, steady_ns, write_end.get());
  { const FileDescriptor closed = std::move(write_end); }
  int status = 0;
  const std::string text = ReadUntilEnd(read_end.get(), child, status);
  return ParseLines(text, status);
}

}  // namespace berth::host
