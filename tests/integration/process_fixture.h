// The fixture of tests that start `berth` as a process of its own.
#ifndef BERTH_TESTS_INTEGRATION_PROCESS_FIXTURE_H_
#define BERTH_TESTS_INTEGRATION_PROCESS_FIXTURE_H_

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "tests/integration/cli_fixture.h"
#include "tests/integration/stream_lines.h"

namespace berth::host {

class RunProcessTest : public CliTest {
 protected:
  // Starts `berth` with this standard output and default signal actions, and waits for its end. Its
  // standard error is in Error(). Returns its exit status, or 128 plus the signal that ended it.
  int RunBerth(std::vector<std::string> args, int out) { return End(Start(std::move(args), out)); }
  pid_t Start(std::vector<std::string> args, int out) const {
    args.insert(args.begin(), executable_);
    args.insert(args.begin(), launcher_.begin(), launcher_.end());
    std::vector<char*> argv;
    argv.reserve(args.size() + 1);
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, error_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGPIPE, SIGHUP, SIGINT, SIGTERM}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t process = -1;
    const int error =
        posix_spawnp(&process, argv.front(), &files, &attributes, argv.data(), environ);
    BERTH_ASSERT_MSG(error == 0, "posix_spawn: %d", error);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return process;
  }
  static int End(pid_t process) {
    int status = 0;
    BERTH_ASSERT(waitpid(process, &status, 0) == process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string Error() const { return ReadAll(error_); }
  static bool IsRunning(pid_t process) {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid == 0;
  }

  // Creates a pipe for an input of `berth`, and returns its path.
  std::string Pipe(const std::string& name) const {
    std::string path = folder_ + "/" + name;
    BERTH_ASSERT(mkfifo(path.c_str(), 0600) == 0);
    return path;
  }
  // Waits until the process reads the pipe, and opens it for writing. If the process does not read
  // it, returns no descriptor and ends the process.
  FileDescriptor OpenInputOf(pid_t process, const std::string& pipe) const {
    for (int waited_ms = 0; waited_ms < 20'000 && IsRunning(process); waited_ms += 10) {
      FileDescriptor file(open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      if (file.ok()) return file;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(process, SIGKILL);
    ADD_FAILURE() << "berth does not read " << pipe << ": " << Error();
    return {};
  }

  // Runs `berth`. Its standard output is in Output().
  int RunToFile(const std::vector<std::string>& args) {
    const FileDescriptor out(open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    return RunBerth(args, out.get());
  }
  std::string Output() const { return ReadAll(output_); }

  // Returns the write end of a pipe whose read end is closed.
  static FileDescriptor BrokenPipe() {
    std::array<int, 2> ends{};
    BERTH_ASSERT(pipe2(ends.data(), O_CLOEXEC) == 0);
    close(ends[0]);
    return FileDescriptor(ends[1]);
  }

  // A program that is started instead of `berth`, with the command line of `berth` as its last
  // arguments, and its own arguments: {"env", "TMPDIR=/nowhere"}. Empty: `berth` itself is started.
  std::vector<std::string> launcher_;

 private:
  const std::string error_ = folder_ + "/stderr";
  const std::string output_ = folder_ + "/stdout";
};

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_PROCESS_FIXTURE_H_
