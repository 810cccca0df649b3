// `berth replay` as a process of its own, with broken pipes and signals.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/file_descriptor.h"
#include "tests/integration/process_fixture.h"
#include "tests/integration/stream_lines.h"

namespace berth::host {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RunProcessTest, BrokenPipeEndsRunAndLeavesItsRecording) {
  std::string events = Line("ADDED", NodeJson("n", "100"));
  for (int i = 0; i < 50; ++i) {
    events += Line("ADDED", PodJson("p" + std::to_string(i), "1"), "1s");
  }
  const std::string recording = folder_ + "/r.jsonl";
  const FileDescriptor out = BrokenPipe();
  EXPECT_EQ(RunBerth({"replay", "--events", File("e.jsonl", events), "--time", "virtual",
                      "--record", recording},
                     out.get()),
            2);
  EXPECT_THAT(Error(), HasSubstr("1 bound, 0 pending; 1 node; 2 events in 1s.\n"
                                 "berth: the output could not be written: Broken pipe\n"));
  EXPECT_EQ(ReadAll(recording),
            Line("ADDED", NodeJson("n", "100")) + Line("ADDED", PodJson("p0", "1"), "1s") +
                Line("DECISION", R"({"time":1.0,"type":"Bound","pod":"default/p0","node":"n"})"));
}

TEST_F(RunProcessTest, BrokenPipeIsAnErrorOfEveryCommand) {
  const std::vector<std::vector<std::string>> commands = {
      {"simulate", "--cluster", kSmall},
      {"explain", "--cluster", kSmall, "--pod", "web-1"},
      {"plugin", "list"},
      {"--help"},
      {"run", "--help"},
  };
  for (const std::vector<std::string>& command : commands) {
    const FileDescriptor out = BrokenPipe();
    EXPECT_EQ(RunBerth(command, out.get()), 2) << command.front();
    EXPECT_THAT(Error(), EndsWith("berth: the output could not be written: Broken pipe\n"))
        << command.front();
  }
}

TEST_F(RunProcessTest, FullDeviceIsAnErrorOfEveryCommand) {
  const FileDescriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"simulate", "--cluster", kSmall}, {"plugin", "list"}, {"--help"}}) {
    EXPECT_EQ(RunBerth(command, full.get()), 2) << command.front();
    EXPECT_THAT(Error(),
                EndsWith("berth: the output could not be written: No space left on device\n"))
        << command.front();
  }
}

// ---- Plugins that print and exit ----------------------------------------------------------------

class QuitterTest : public RunProcessTest {
 protected:
  // Returns a profile with a plugin that calls exit(`status`) where `how` says.
  std::string ProfileWith(const std::string& how, int status = 0) {
    return File("p.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"acme.Quitter\"\n"
                "library = \"" BERTH_TEST_QUITTER "\"\nargs = { how = \"" +
                    how + "\", status = " + std::to_string(status) + " }\n");
  }
};

TEST_F(QuitterTest, ReportsAPluginThatExits) {
  const std::vector<std::string> simulate = {"simulate", "--cluster", kSmall, "-o", "json"};
  const std::string filter = "berth: exit(0) was called in plugin acme.Quitter (";
  const struct {
    std::vector<std::string> command;
    const char* how;
    int status;
    std::string message;
  } cases[] = {
      {simulate, "filter", 0, filter},
      {simulate, "filter", 1, "berth: exit(1) was called in plugin acme.Quitter ("},
      {simulate, "quick", 0, "berth: quick_exit() was called in plugin acme.Quitter ("},
      {simulate, "create", 0, "libtest_quitter.so) at load\n"},
      {simulate, "thread", 0, "berth: exit(0) was called outside any plugin call\n"},
      {{"explain", "--cluster", kSmall, "--pod", "web-1"}, "filter", 0, filter},
      {{"replay", "--cluster", kSmall}, "filter", 0, filter},
      {{"profile", "check"}, "create", 0, "libtest_quitter.so) at load\n"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.command.front() + " " + c.how + " " + std::to_string(c.status));
    std::vector<std::string> command = c.command;
    if (command.front() != "profile") command.emplace_back("--profile");
    command.push_back(ProfileWith(c.how, c.status));
    EXPECT_EQ(RunToFile(command), kExitByPlugin);
    EXPECT_EQ(Output(), "");
    EXPECT_THAT(Error(), HasSubstr(c.message));
    if (c.message == filter) {
      EXPECT_THAT(Error(), HasSubstr("libtest_quitter.so) at Filter, pod "));
    }
  }
}

TEST_F(QuitterTest, ThePrintsOfPluginsGoToStandardError) {
  const std::string profile = ProfileWith("");
  EXPECT_EQ(RunToFile({"simulate", "--cluster", kSmall, "-o", "json", "--profile", profile}), 1);
  EXPECT_FALSE(Json::parse(Output(), nullptr, false).is_discarded()) << Output();
  EXPECT_THAT(Error(), HasSubstr("hello from the constructor\nhello from Filter\n"));

  EXPECT_EQ(RunToFile({"replay", "--cluster", kSmall, "-o", "json", "--profile", profile}), 1);
  std::istringstream lines(Output());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(Json::parse(line, nullptr, false).is_discarded()) << line;
  }
  EXPECT_THAT(Error(), HasSubstr("hello from Filter\n"));

  EXPECT_EQ(RunToFile({"profile", "check", profile}), 0);
  EXPECT_THAT(Output(), Not(HasSubstr("hello")));
  EXPECT_THAT(Output(), HasSubstr("p.toml: valid: "));
  EXPECT_THAT(Error(), HasSubstr("hello from the constructor\n"));
}

TEST_F(QuitterTest, LeftBehindProcessDoesNotHoldTheOutput) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const FileDescriptor read_end(ends[0]);
  {
    const FileDescriptor write_end(ends[1]);
    EXPECT_EQ(RunBerth({"profile", "check", ProfileWith("fork")}, write_end.get()), 0);
  }
  std::array<char, 4096> text{};
  EXPECT_GT(read(read_end.get(), text.data(), text.size()), 0);
  // The process that is left behind sleeps for a minute, and gives up the output before that.
  pollfd end = {.fd = read_end.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 30'000), 1) << "expected the end of the output";
  EXPECT_EQ(read(read_end.get(), text.data(), text.size()), 0);
}

// ---- Signals ------------------------------------------------------------------------------------

// A run that reads its cluster and its events from pipes, so that the test controls when the start
// and the run end.
class StartingRunTest : public RunProcessTest {
 protected:
  void Begin() {
    const std::string cluster = Pipe("cluster");
    const std::string events = Pipe("events");
    events_ = FileDescriptor(open(events.c_str(), O_RDWR | O_CLOEXEC));
    process_ = Start({"replay", "--cluster", cluster, "--events", events, "--output", "json"},
                     output_.get());
    cluster_ = OpenInputOf(process_, cluster);
  }
  // Writes the cluster, so that the run begins, and waits until `text` is in the standard error.
  void RunUntilItPrints(const std::string& cluster, const std::string& text) {
    static_cast<void>(write(cluster_.get(), cluster.data(), cluster.size()));
    cluster_ = FileDescriptor();
    for (int waited_ms = 0; waited_ms < 20'000 && IsRunning(process_); waited_ms += 10) {
      if (Error().find(text) != std::string::npos) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "berth does not print " << text << ": " << Error();
  }
  int End() {
    cluster_ = FileDescriptor();
    events_ = FileDescriptor();
    return RunProcessTest::End(process_);
  }
  void Signal(int signal) const { kill(process_, signal); }
  std::string Output() const { return ReadAll(folder_ + "/out"); }

 private:
  const FileDescriptor output_{
      open((folder_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  FileDescriptor cluster_;
  FileDescriptor events_;
  pid_t process_ = -1;
};

TEST_F(StartingRunTest, HangUpDuringStartIsReloadAfterIt) {
  Begin();
  for (int i = 0; i < 3; ++i) Signal(SIGHUP);
  RunUntilItPrints(kNodes + PodOf("web", "1"), "berth: reloaded: default-scheduler\n");
  EXPECT_EQ(End(), 0) << Error();
  EXPECT_THAT(Output(), HasSubstr(R"("type":"Bound")"));
  EXPECT_THAT(
      Error(),
      ContainsRegex(
          "[1-3] reloads? succeeded, 0 failed\\.\n"));  // Several signals may be one reload.
}

TEST_F(StartingRunTest, ASignalDuringTheStartEndsTheProcess) {
  Begin();
  Signal(SIGTERM);
  EXPECT_EQ(End(), 128 + SIGTERM);
  EXPECT_EQ(Error(), "");
}

}  // namespace
}  // namespace berth::host
