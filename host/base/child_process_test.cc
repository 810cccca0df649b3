#include "host/base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

int64_t SteadyNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ChildResult RunInTestChild(const std::function<void(int)>& body, int64_t limit_ns = kMinute) {
  auto end = RunInChild(body, limit_ns, SteadyNs);
  EXPECT_TRUE(end.ok());
  return *std::move(end);
}

TEST(ChildProcessTest, ReturnsTextAndTheStatusOfTheChild) {
  const std::string large(1 << 20, 'x');
  const ChildResult succeeds = RunInTestChild([&](int pipe) { WriteToParent(pipe, large); });
  EXPECT_EQ(succeeds.text, large);
  EXPECT_FALSE(succeeds.is_late);
  EXPECT_EQ(succeeds.status, 0);

  const ChildResult exits = RunInTestChild([](int pipe) {
    WriteToParent(pipe, "some");
    ::_exit(3);
  });
  EXPECT_EQ(exits.text, "some");
  EXPECT_EQ(WEXITSTATUS(exits.status), 3);

  const ChildResult crashes = RunInTestChild([](int) { ::raise(SIGKILL); });
  EXPECT_EQ(crashes.text, "");
  EXPECT_EQ(SignalText(WTERMSIG(crashes.status)), "SIGKILL");
}

TEST(ChildProcessTest, KillsAChildThatExceedsTheLimit) {
  for (const int signal : {0, SIGSTOP}) {  // A stopped process handles no signal except SIGKILL.
    SCOPED_TRACE(signal);
    const ChildResult end = RunInTestChild(
        [signal](int pipe) {
          WriteToParent(pipe, "begun");
          if (signal != 0) ::raise(signal);
          for (;;) ::pause();
        },
        100'000'000);
    EXPECT_TRUE(end.is_late);
    EXPECT_EQ(end.text, "begun");
    EXPECT_EQ(SignalText(WTERMSIG(end.status)), "SIGKILL");
  }
}

TEST(ChildProcessTest, ReportsAnExceptionThatEndsTheChild) {
  ::testing::internal::CaptureStderr();
  const ChildResult error = RunInTestChild([](int pipe) {
    WriteToParent(pipe, "some");
    throw std::runtime_error("out of paper");
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "out of paper\n");
  EXPECT_EQ(error.text, "some");
  EXPECT_EQ(error.status, 1 << 8) << "expected exit status 1";

  const ChildResult other = RunInTestChild([](int) { throw 3; });
  EXPECT_EQ(other.status, 1 << 8) << "expected exit status 1";
}

TEST(ChildProcessTest, ChildHasOnlyWriteEndOfThePipe) {
  const ChildResult end = RunInTestChild([](int pipe) {
    const auto folder = std::filesystem::path("/proc/self/fd");
    const auto own = std::filesystem::read_symlink(folder / std::to_string(pipe));
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::error_code error;
      if (std::filesystem::read_symlink(file, error) == own) WriteToParent(pipe, "x");
    }
  });
  EXPECT_EQ(end.text, "x");
}

TEST(ChildProcessTest, PassesTextOnWhenStandardStreamsAreClosed) {
  const ChildResult outer = RunInTestChild([](int outer_pipe) {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    const ChildResult inner = RunInTestChild([](int pipe) { WriteToParent(pipe, "text"); });
    WriteToParent(outer_pipe, inner.text);
  });
  EXPECT_EQ(outer.text, "text");
}

TEST(ChildProcessTest, WaitsForChildThatHasClosedItsPipe) {
  const ChildResult slow = RunInTestChild([](int pipe) {
    WriteToParent(pipe, "some");
    ::close(pipe);
    ::usleep(100'000);
    ::_exit(3);
  });
  EXPECT_EQ(slow.text, "some");
  EXPECT_FALSE(slow.is_late);
  EXPECT_EQ(WEXITSTATUS(slow.status), 3);

  const std::function<void(int)> hanging[] = {
      [](int pipe) {
        ::close(pipe);
        for (;;) ::pause();
      },
      [](int) { ::execlp("sleep", "sleep", "3600", nullptr); },
  };
  for (const auto& body : hanging) {
    const ChildResult end = RunInTestChild(body, 100'000'000);
    EXPECT_TRUE(end.is_late);
    EXPECT_EQ(SignalText(WTERMSIG(end.status)), "SIGKILL");
  }
}

TEST(ChildProcessTest, SignalsHaveTheirDefaultActionInTheChild) {
  for (const int signal : {SIGTERM, SIGSEGV, SIGABRT}) {
    SCOPED_TRACE(SignalText(signal));
    ::signal(signal, [](int) { ::_exit(7); });
    const ChildResult end = RunInTestChild([signal](int) { ::raise(signal); });
    ::signal(signal, SIG_DFL);
    EXPECT_TRUE(WIFSIGNALED(end.status));
    EXPECT_EQ(WTERMSIG(end.status), signal);
  }
  for (const int flags : {0, SA_SIGINFO}) {  // A Go runtime sets SA_SIGINFO for every action.
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ignore.sa_flags = flags;
    ::sigaction(SIGUSR1, &ignore, nullptr);
    const ChildResult ignores = RunInTestChild([](int) { ::raise(SIGUSR1); });
    ::signal(SIGUSR1, SIG_DFL);
    EXPECT_EQ(ignores.status, 0);
  }
}

// A library may replace the action of SIGPIPE, which this program ignores, as Go runtimes do.
TEST(ChildProcessTest, ChildIgnoresSigpipeWhateverALibraryInstalled) {
  for (const sighandler_t installed : {SIG_IGN, SIG_DFL, sighandler_t([](int) { ::_exit(7); })}) {
    const sighandler_t before = ::signal(SIGPIPE, installed);
    const ChildResult end = RunInTestChild([](int pipe) {
      ::raise(SIGPIPE);
      WriteToParent(pipe, "alive");
    });
    ::signal(SIGPIPE, before);
    EXPECT_EQ(end.text, "alive");
    EXPECT_EQ(end.status, 0);
  }
}

TEST(ChildProcessTest, KeepsTheSignalMask) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  sigset_t before;
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto is_blocked = [](int signal) {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return ::sigismember(&mask, signal) == 1;
  };
  const ChildResult end = RunInTestChild([&](int pipe) {
    if (is_blocked(SIGUSR2) && !is_blocked(SIGUSR1)) WriteToParent(pipe, "kept");
  });
  EXPECT_EQ(end.text, "kept");
  EXPECT_TRUE(is_blocked(SIGUSR2));
  EXPECT_FALSE(is_blocked(SIGUSR1));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ChildProcessTest, ReturnsWhenSigchldIsIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  const ChildResult end = RunInTestChild([](int pipe) { WriteToParent(pipe, "done"); });
  ::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(end.text, "done");
  EXPECT_FALSE(end.is_late);
}

TEST(ChildProcessTest, DoesNotWaitForProcessesThatChildStarted) {
  int hold[2];
  ASSERT_EQ(::pipe(hold), 0);
  const ChildResult end = RunInTestChild([&hold](int pipe) {
    if (::fork() == 0) {  // Keeps the pipe open until the test closes `hold`.
      ::close(hold[1]);
      char nothing = 0;
      while (::read(hold[0], &nothing, 1) < 0) {
      }
      ::_exit(0);
    }
    WriteToParent(pipe, "done");
  });
  EXPECT_EQ(end.text, "done");
  EXPECT_FALSE(end.is_late);
  ::close(hold[0]);
  ::close(hold[1]);
}

namespace fs = std::filesystem;

int64_t MonotonicNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns a shell script as a subprocess.
Subprocess Script(const std::string& script) {
  Subprocess what;
  what.program = "/bin/sh";
  what.arguments = {"-c", script};
  what.environment = {"PATH=/usr/bin:/bin"};
  what.limit_ns = kMinute;
  return what;
}

SubprocessResult RunScript(const std::string& script) {
  auto result = RunSubprocess(Script(script), MonotonicNs);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *std::move(result) : SubprocessResult();
}

// A folder that is removed at the end of the test.
class SubprocessTest : public testing::Test {
 protected:
  SubprocessTest() {
    std::string name = testing::TempDir() + "subprocess_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~SubprocessTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text, mode_t mode) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path.string();
  }

  fs::path folder_;
};

TEST_F(SubprocessTest, ReturnsOutputErrorsAndStatus) {
  const SubprocessResult succeeds = RunScript("printf out; printf err >&2");
  EXPECT_EQ(succeeds.output, "out");
  EXPECT_EQ(succeeds.errors, "err");
  EXPECT_EQ(succeeds.status, 0);

  const SubprocessResult fails = RunScript("printf out; exit 3");
  EXPECT_EQ(fails.output, "out");
  EXPECT_TRUE(WIFEXITED(fails.status));
  EXPECT_EQ(WEXITSTATUS(fails.status), 3);

  const SubprocessResult crashes = RunScript("kill -ABRT $$");
  EXPECT_TRUE(WIFSIGNALED(crashes.status));
  EXPECT_EQ(WTERMSIG(crashes.status), SIGABRT);
}

TEST_F(SubprocessTest, PassesArgumentsAndNothingElse) {
  Subprocess what = Script("");
  what.arguments = {"-c", "printf '%s|' \"$@\"; printf \"$A-$HOME-\"; cat", "sh", "a b", "", "$c"};
  what.environment.push_back("A=1");
  const auto result = RunSubprocess(what, MonotonicNs);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->output, "a b||$c|1--") << "standard input is empty";
}

TEST_F(SubprocessTest, TheProgramInheritsNoDescriptor) {
  // A descriptor without O_CLOEXEC.
  const FileDescriptor open(::fcntl(STDERR_FILENO, F_DUPFD, 100));
  ASSERT_GE(open.get(), 100);
  const std::string number = std::to_string(open.get());
  EXPECT_EQ(RunScript("test -e /proc/self/fd/" + number + " && echo open || echo closed").output,
            "closed\n");
}

TEST_F(SubprocessTest, SignalsHaveTheirDefaultAction) {
  const struct {
    int signal;
    sighandler_t installed;
  } cases[] = {
      {SIGTERM, SIG_IGN},
      {SIGPIPE, SIG_IGN},
      {SIGPIPE, [](int) {}},  // As the runtime of a library leaves it.
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(SignalText(c.signal));
    const sighandler_t before = ::signal(c.signal, c.installed);
    sigset_t blocked;
    sigset_t mask_before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, c.signal);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);
    const SubprocessResult result =
        RunScript("kill -" + std::to_string(c.signal) + " $$; echo alive");
    ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
    ::signal(c.signal, before);
    EXPECT_EQ(result.output, "");
    ASSERT_TRUE(WIFSIGNALED(result.status));
    EXPECT_EQ(WTERMSIG(result.status), c.signal);
  }
}

TEST_F(SubprocessTest, SearchesTheProgramInPath) {
  Write("first/login", "#!/bin/sh\necho first\n", 0644);  // Not executable.
  Write("second/login", "#!/bin/sh\necho second\n", 0755);
  fs::create_directories(folder_ / "folder/login");
  Subprocess what;
  what.program = "login";
  what.limit_ns = kMinute;
  const std::string base = folder_.string();
  what.environment = {"PATHS=/bin",
                      "PATH=:" + base + "/folder:" + base + "/first:" + base + "/second"};
  const auto found = RunSubprocess(what, MonotonicNs);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->output, "second\n");

  for (const std::vector<std::string>& environment :
       {std::vector<std::string>{}, {"PATH="}, {"PATH=" + base + "/first"}}) {
    what.environment = environment;
    EXPECT_EQ(RunSubprocess(what, MonotonicNs).status(),
              Status::NotFound("login: there is no such program in PATH"));
  }
}

TEST_F(SubprocessTest, APathIsRelativeToTheDirectory) {
  Write("bin/here", "#!/bin/sh\npwd\n", 0755);
  Subprocess what;
  what.program = "./bin/here";
  what.directory = folder_.string();
  what.limit_ns = kMinute;
  const auto result = RunSubprocess(what, MonotonicNs);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->output, fs::canonical(folder_).string() + "\n");
}

TEST_F(SubprocessTest, ReportsAProgramThatCannotBeStarted) {
  const std::string folder = folder_.string();
  const struct {
    std::string program;
    std::string directory;
    ErrorCode code;
  } cases[] = {
      {folder + "/missing", "", ErrorCode::kNotFound},
      {"/bin/sh", folder + "/missing", ErrorCode::kNotFound},
      {Write("no_interpreter", "#!/missing/interpreter\n", 0755), "", ErrorCode::kNotFound},
      {Write("plain", "#!/bin/sh\n", 0644), "", ErrorCode::kPermissionDenied},
      {folder, "", ErrorCode::kPermissionDenied},
      {Write("no_format", "\x01\x02\x03", 0755), "", ErrorCode::kPermissionDenied}};
  for (const auto& c : cases) {
    Subprocess what;
    what.program = c.program;
    what.directory = c.directory;
    what.limit_ns = kMinute;
    const auto result = RunSubprocess(what, MonotonicNs);
    ASSERT_FALSE(result.ok()) << c.program;
    EXPECT_EQ(result.status().code(), c.code) << result.status().message();
    EXPECT_TRUE(result.status().message().starts_with(c.program + ": "))
        << result.status().message();
  }
}

TEST_F(SubprocessTest, LimitsTheOutput) {
  Subprocess what = Script("head -c 10000 /dev/zero | tr '\\0' x");
  what.max_output_bytes = 10'000;
  const auto fits = RunSubprocess(what, MonotonicNs);
  ASSERT_TRUE(fits.ok()) << fits.status().message();
  EXPECT_EQ(fits->output, std::string(10'000, 'x'));

  what.max_output_bytes = 9'999;
  EXPECT_EQ(RunSubprocess(what, MonotonicNs).status(),
            Status::OutOfRange("/bin/sh: expected at most 9999 bytes on standard output"));

  what = Script("yes");  // Prints without an end.
  EXPECT_EQ(RunSubprocess(what, MonotonicNs).status().code(), ErrorCode::kOutOfRange);
}

TEST_F(SubprocessTest, DropsTheRestOfStandardError) {
  Subprocess what = Script("head -c 200000 /dev/zero | tr '\\0' x >&2; echo end");
  what.max_error_bytes = 5'000;
  const auto result = RunSubprocess(what, MonotonicNs);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->errors, std::string(5'000, 'x'));
  EXPECT_EQ(result->output, "end\n") << "a full pipe must not stop the program";
}

TEST_F(SubprocessTest, KillsTheGroupWhenTheTimeIsUp) {
  // The clock passes the limit once the program and its child have started.
  const std::string begun = (folder_ / "begun").string();
  const std::string ended = (folder_ / "ended").string();
  Subprocess what = Script("(sleep 600; touch " + ended + ") & echo $! > " + begun + ".new; mv " +
                           begun + ".new " + begun + "; trap '' TERM; wait");
  what.limit_ns = kSecond;
  const auto clock = [&]() -> int64_t { return fs::exists(begun) ? kSecond : 0; };
  const auto result = RunSubprocess(what, clock);
  EXPECT_EQ(result.status(), Status::Unavailable("/bin/sh: the program did not end within 1000ms"));

  pid_t child = 0;
  std::ifstream(begun) >> child;
  ASSERT_GT(child, 0);
  // The child of the program was killed too. Its new parent may need a moment to wait for it.
  const auto is_running = [&] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    return (stat >> number >> name >> state) && state != "Z" && state != "X";
  };
  const int64_t give_up_ns = MonotonicNs() + kMinute;
  while (is_running() && MonotonicNs() < give_up_ns) ::usleep(1000);
  EXPECT_FALSE(is_running());
  EXPECT_FALSE(fs::exists(ended));
}

TEST_F(SubprocessTest, TheTimeBeginsBeforeTheProgramStarts) {
  // A program that is faster than this process must not shift the limit.
  std::vector<bool> has_child;
  const auto clock = [&]() -> int64_t {
    siginfo_t info = {};
    has_child.push_back(::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    return 0;
  };
  ASSERT_TRUE(RunSubprocess(Script("true"), clock).ok());
  ASSERT_FALSE(has_child.empty());
  EXPECT_FALSE(has_child.front());
}

TEST_F(SubprocessTest, DoesNotWaitForALeftBehindProcess) {
  // The process left behind holds standard output open until the test removes the file.
  const std::string file = Write("alive", "", 0644);
  const SubprocessResult result =
      RunScript("(while test -e " + file + "; do sleep 0.05; done) & echo done");
  fs::remove(file);
  EXPECT_EQ(result.output, "done\n");
  EXPECT_EQ(result.status, 0);
}

TEST_F(SubprocessTest, LeavesNoDescriptorOpen) {
  const auto count = [] {
    const fs::directory_iterator open("/proc/self/fd");
    return std::distance(fs::begin(open), fs::end(open));
  };
  RunScript("true");
  const auto before = count();
  for (int i = 0; i < 3; ++i) {
    RunScript("echo x");
    Subprocess missing;
    missing.program = "/missing/program";
    missing.limit_ns = kMinute;
    EXPECT_FALSE(RunSubprocess(missing, MonotonicNs).ok());
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace berth::host
