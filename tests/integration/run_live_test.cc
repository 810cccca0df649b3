// `berth run --embedded` on the real clock, with a stream that is still being written.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/api/assert.h"
#include "host/loader/file_descriptor.h"
#include "tests/integration/cli_fixture.h"
#include "tests/integration/hostile_libraries.h"
#include "tests/integration/stream_lines.h"

namespace berth::host {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kPatienceMs = 20'000;

// A run on a thread of its own, with pipes for its input and output, and the real clock.
class LiveRunTest : public CliTest {
 protected:
  LiveRunTest() {
    steady_ns_ = [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    };
    watch_requests_ = [this](ProcessRequests requests) {
      requests_.set_value(std::move(requests));
      return std::make_unique<RequestWatch>();
    };
    OpenPipe(input_read_, input_write_);
    OpenPipe(output_read_, output_write_);
    BERTH_ASSERT(fcntl(input_write_.get(), F_SETFL, O_NONBLOCK) == 0);
    in_descriptor_ = input_read_.get();
  }
  ~LiveRunTest() override {
    CloseInput();
    if (run_.valid()) run_.wait();
  }

  void Begin(std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"run",      "--embedded", "--events",  "-",
                                     "--output", "json",       "--cluster", File("n.yaml", kNodes)};
    args.insert(args.end(), more.begin(), more.end());
    run_ = std::async(std::launch::async, [this, args] {
      std::ofstream out("/dev/fd/" + std::to_string(output_write_.get()));
      std::istringstream in;
      return RunTo(out, args, in);
    });
  }
  void Write(std::string_view text) {
    while (!text.empty()) {
      pollfd wait = {.fd = input_write_.get(), .events = POLLOUT, .revents = 0};
      ASSERT_EQ(poll(&wait, 1, kPatienceMs), 1) << "nobody reads";
      const ssize_t size = write(input_write_.get(), text.data(), text.size());
      ASSERT_GT(size, 0);
      text.remove_prefix(static_cast<size_t>(size));
    }
  }
  void CloseInput() { input_write_ = FileDescriptor(); }
  // What the signal would do.
  void Stop(int signal) { Requests().stop(signal); }
  void Reload() { Requests().reload(); }
  // Waits until the run has asked for them.
  const ProcessRequests& Requests() {
    if (!asked_.valid()) asked_ = requests_.get_future();
    return asked_.get();
  }

  // The next line of the output: "Bound web b"; empty when there is none for a long time.
  std::string NextDecision() {
    while (unread_.find('\n') == std::string::npos) {
      pollfd wait = {.fd = output_read_.get(), .events = POLLIN, .revents = 0};
      if (poll(&wait, 1, kPatienceMs) != 1) return "";
      std::array<char, 4096> piece{};
      const ssize_t size = read(output_read_.get(), piece.data(), piece.size());
      if (size <= 0) return "";
      unread_.append(piece.data(), static_cast<size_t>(size));
    }
    const size_t end = unread_.find('\n') + 1;
    const std::string decision = Decisions(unread_.substr(0, end)).front();
    unread_.erase(0, end);
    return decision.substr(decision.find(' ') + 1);
  }
  Outcome End() {
    if (run_.wait_for(std::chrono::milliseconds(kPatienceMs)) != std::future_status::ready) {
      ADD_FAILURE() << "the run does not end";
      CloseInput();
    }
    return run_.get();
  }
  // Whether `path` has come to contain `text`.
  static bool ComesToContain(const std::string& path, const std::string& text) {
    for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += 10) {
      if (ReadAll(path).find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  int input_write() const { return input_write_.get(); }

  std::promise<ProcessRequests> requests_;
  std::shared_future<ProcessRequests> asked_;

 private:
  static void OpenPipe(FileDescriptor& read_end, FileDescriptor& write_end) {
    std::array<int, 2> ends{};
    BERTH_ASSERT(pipe2(ends.data(), O_CLOEXEC) == 0);
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
  }

  FileDescriptor input_read_;
  FileDescriptor input_write_;
  FileDescriptor output_read_;
  FileDescriptor output_write_;
  std::future<Outcome> run_;
  std::string unread_;
};

TEST_F(LiveRunTest, DecidesWhileTheStreamGoesOn) {
  Begin();
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_EQ(NextDecision(), "Bound web b");
  Write(Line("ADDED", PodJson("huge", "16")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused huge "));
  const std::string node = Line("ADDED", NodeJson("c", "32"));
  Write(node.substr(0, 40));
  Write(node.substr(40, node.size() - 41));
  EXPECT_EQ(NextDecision(), "Bound huge c") << "although the line has not ended";
  CloseInput();
  const Outcome run = End();
  EXPECT_EQ(run.exit_status, 0) << run.err;
}

TEST_F(LiveRunTest, WaitsAsLongAsALineSays) {
  Begin();
  const int64_t start_ns = steady_ns_();
  Write(Line("ADDED", PodJson("web", "1"), "300ms"));
  EXPECT_EQ(NextDecision(), "Bound web b");
  EXPECT_GE(steady_ns_() - start_ns, 300'000'000);
  CloseInput();
  EXPECT_EQ(End().exit_status, 0);
}

TEST_F(LiveRunTest, StopsWhenItIsAskedTo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Begin();
    Write(Line("ADDED", PodJson("huge" + std::to_string(signal), "16")));
    EXPECT_THAT(NextDecision(), StartsWith("Refused huge"));
    Stop(signal);
    const Outcome run = End();
    EXPECT_EQ(run.exit_status, 128 + signal);
    EXPECT_THAT(run.err,
                StartsWith(signal == SIGINT ? "Stopped by SIGINT.\n0 bound, 1 pending; "
                                            : "Stopped by SIGTERM.\n0 bound, 1 pending; "));
    requests_ = {};
    asked_ = {};
  }
}

TEST_F(LiveRunTest, StopsWhileVirtualTimeWaitsForTheStream) {
  Begin({"--time", "virtual"});
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

TEST_F(LiveRunTest, StopsInVirtualTimeBehindALineThatDoesNothing) {
  Begin({"--time", "virtual"});
  Write(Line("ADDED", PodJson("web", "1")) + Line("BOOKMARK", "{}", "1s"));
  EXPECT_EQ(NextDecision(), "Bound web b");
  // Long enough for the line to be taken: nothing can be seen of that.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

TEST_F(LiveRunTest, TakesMoreLinesThanFitIntoATurn) {
  Begin();
  // They pile up behind the first one, and change nothing when they are taken.
  std::string lines = Line("BOOKMARK", "{}", "200ms");
  const std::string node = NodeJson("c", "1", R"(,"resourceVersion":"7")");
  for (int i = 0; i < 5000; ++i) lines += Line("ADDED", node);
  Write(lines + Line("ADDED", PodJson("web", "1")));
  EXPECT_EQ(NextDecision(), "Bound web b");
  CloseInput();
  EXPECT_EQ(End().exit_status, 0);
}

// ---- The recording ------------------------------------------------------------------------------

TEST_F(LiveRunTest, RecordsWhileItWaits) {
  for (const char* time : {"real", "virtual"}) {
    const std::string recording = folder_ + "/" + time + ".jsonl";
    Begin({"--time", time, "--record", recording});
    // Virtual time, and with it the pod, waits for the line behind it.
    Write(Line("ADDED", PodJson(time, "1")) + Line("BOOKMARK", "{}", "1ms"));
    EXPECT_TRUE(ComesToContain(recording, R"("type":"Bound")")) << time;
    EXPECT_THAT(ReadAll(recording), EndsWith("}\n"));
    Stop(SIGTERM);
    EXPECT_EQ(End().exit_status, 128 + SIGTERM);
    requests_ = {};
    asked_ = {};
  }
}

TEST_F(LiveRunTest, StopsWhenTheRecordingCannotBeWritten) {
  for (const char* time : {"real", "virtual"}) {
    Begin({"--time", time, "--record", "/dev/full"});
    // The run sleeps when the pod comes, and nothing is left to do after it.
    Write(Line("BOOKMARK", "{}"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Write(Line("ADDED", PodJson(time, "99")));
    const Outcome run = End();
    EXPECT_EQ(run.exit_status, 2);
    EXPECT_THAT(run.err, HasSubstr("/dev/full: the recording could not be written"));
    requests_ = {};
    asked_ = {};
  }
}

TEST_F(LiveRunTest, ReadsNoFurtherThanItMust) {
  // The next line is due in an hour: what comes behind it stays in the pipe.
  Begin();
  Write(Line("ADDED", PodJson("web", "1"), "1h"));
  const std::string line = Line("BOOKMARK", R"({"kind":")" + std::string(3000, 'x') + R"("})");
  size_t written = 0;
  for (int refusals = 0; refusals < 100 && written < (size_t{64} << 20);) {
    if (write(input_write(), line.data(), line.size()) < 0) {
      ++refusals;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      written += line.size();
    }
  }
  EXPECT_LT(written, size_t{16} << 20);
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

// ---- Other profiles -----------------------------------------------------------------------------

class ReloadRunTest : public LiveRunTest {
 protected:
  // As an editor does it: whoever reads sees the old text or the new one.
  void Save(const std::string& name, const std::string& text) {
    std::filesystem::rename(File("next", text), folder_ + "/" + name);
  }
  void Install(const char* library) {
    std::filesystem::copy_file(library, folder_ + "/next");
    std::filesystem::rename(folder_ + "/next", folder_ + "/libdoor.so");
  }
  static std::string WithDoor(const char* more = "") {
    return std::string(
               "extends = \"default\"\n[[plugins]]\nname = \"acme.Door\"\n"
               "library = \"libdoor.so\"\n")
        .append(more);
  }
  std::string profile() const { return folder_ + "/p.toml"; }

  int pods_ = 0;
};

TEST_F(ReloadRunTest, AFileThatWasSavedTakesEffect) {
  Install(BERTH_SHUT_DOOR);
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused web "));
  Save("p.toml", WithDoor("enabled = false\n"));
  EXPECT_EQ(NextDecision(), "Bound web b");
  CloseInput();
  const Outcome run = End();
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("berth: reloaded: default-scheduler\n"));
  EXPECT_THAT(run.err, HasSubstr("1 reload, 0 refused.\n"));
}

TEST_F(ReloadRunTest, ALibraryThatWasReplacedTakesEffect) {
  Install(BERTH_SHUT_DOOR);
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused web "));
  Install(BERTH_OPEN_DOOR);
  EXPECT_EQ(NextDecision(), "Bound web b");
  CloseInput();
  EXPECT_EQ(End().exit_status, 0);
}

TEST_F(ReloadRunTest, ALibraryBehindALinkThatWasSwappedTakesEffect) {
  std::filesystem::create_directory(folder_ + "/v1");
  std::filesystem::create_directory(folder_ + "/v2");
  std::filesystem::copy_file(BERTH_SHUT_DOOR, folder_ + "/v1/libdoor.so");
  std::filesystem::copy_file(BERTH_OPEN_DOOR, folder_ + "/v2/libdoor.so");
  std::filesystem::create_symlink("v1/libdoor.so", folder_ + "/libdoor.so");
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused web "));
  std::filesystem::create_symlink("v2/libdoor.so", folder_ + "/next");
  std::filesystem::rename(folder_ + "/next", folder_ + "/libdoor.so");
  EXPECT_EQ(NextDecision(), "Bound web b");
  CloseInput();
  EXPECT_EQ(End().exit_status, 0);
}

TEST_F(ReloadRunTest, ALibraryThatCouldNotBeLoadedIsTriedAgainWhenItIsMended) {
  Save("p.toml", "extends = \"default\"\n");
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_EQ(NextDecision(), "Bound web b");
  Save("libdoor.so", "not yet");
  Save("p.toml", WithDoor());
  Reload();
  Write(Line("ADDED", PodJson("next", "1")));
  EXPECT_THAT(NextDecision(), StartsWith("Bound next "));
  Install(BERTH_SHUT_DOOR);
  // It takes a moment; then pods are refused.
  std::string decision;
  for (int i = 0; i < 100 && !decision.starts_with("Refused"); ++i) {
    Write(Line("ADDED", PodJson("p" + std::to_string(i), "0")));
    decision = NextDecision();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(decision, StartsWith("Refused "));
  Stop(SIGTERM);
  EXPECT_THAT(End().err, HasSubstr("expected an ELF file"));
}

TEST_F(ReloadRunTest, WhatIsWrongChangesNothingAndIsSaid) {
  Install(BERTH_SHUT_DOOR);
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused web "));
  Save("p.toml", WithDoor("enabled = fals\n"));
  Reload();
  Write(Line("ADDED", PodJson("huge", "16")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused huge "));
  Save("p.toml", WithDoor("enabled = false\n"));
  Reload();
  const std::string first = NextDecision();
  EXPECT_TRUE(first == "Bound web b" || first.starts_with("Refused huge ")) << first;
  Stop(SIGTERM);
  const Outcome run = End();
  EXPECT_THAT(run.err, HasSubstr("berth: not reloaded; what runs goes on:\n"));
  EXPECT_THAT(run.err, HasSubstr(profile() + ":5"));
}

TEST_F(ReloadRunTest, AHostileLibraryIsRefusedAndTheRunGoesOn) {
  Install(BERTH_SHUT_DOOR);
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused web "));
  for (const HostileLibrary& hostile : HostileLibraries()) {
    Plant(hostile, folder_ + "/libhostile.so");
    Save("p.toml", ProfileWith(hostile));
    Reload();
    // A pod that comes is tried after that, with what ran before.
    const std::string pod = "p" + std::to_string(++pods_);
    Write(Line("ADDED", PodJson(pod, "1")));
    EXPECT_THAT(NextDecision(), StartsWith("Refused " + pod)) << hostile.name;
  }
  Stop(SIGTERM);
  const Outcome run = End();
  for (const HostileLibrary& hostile : HostileLibraries()) {
    EXPECT_THAT(run.err, HasSubstr(hostile.says)) << hostile.name;
  }
  EXPECT_THAT(run.err, HasSubstr("0 reloads, "));
}

TEST_F(ReloadRunTest, ThousandsOfPodsGetTheirNodesWhileTheProfileChanges) {
  constexpr int kPods = 10'000;
  Install(BERTH_OPEN_DOOR);
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  std::string node = NodeJson("big", "100000");
  node.replace(node.find("\"110\""), 5, "\"20000\"");
  Write(Line("ADDED", node));
  std::set<std::string> bound;
  for (int i = 0; i < kPods; ++i) {
    Write(Line("ADDED", PodJson("p" + std::to_string(i), "1")));
    if (i % 500 == 499) {
      Save("p.toml", WithDoor(i % 1000 == 499 ? "enabled = false\n" : ""));
      Reload();
    }
    while (i - static_cast<int>(bound.size()) > 400) bound.insert(NextDecision());
  }
  CloseInput();
  while (bound.size() < kPods) bound.insert(NextDecision());
  EXPECT_FALSE(bound.contains("")) << "a pod is lost";
  for (const std::string& decision : bound) EXPECT_THAT(decision, StartsWith("Bound p"));
  const Outcome run = End();
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("10,000 bound, 0 pending; "));
  EXPECT_THAT(run.err, HasSubstr(" reloads, 0 refused.\n"));
}

}  // namespace
}  // namespace berth::host
