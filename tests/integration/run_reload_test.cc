// `berth replay` on the real clock, while its profiles and plugins change.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "tests/integration/hostile_libraries.h"
#include "tests/integration/live_run.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ReloadRunTest : public LiveRunTest {
 protected:
  // Replaces the file atomically, as an editor does.
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

TEST_F(ReloadRunTest, ASavedProfileTakesEffect) {
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
  EXPECT_THAT(run.err,
              HasSubstr(kNow + "berth: reloaded: default-scheduler; changed: " + profile() + "\n"));
  EXPECT_THAT(run.err, HasSubstr("1 reload succeeded, 0 failed.\n"));
}

// A reload tries the parked pod again.
TEST_F(ReloadRunTest, ANewLogLevelTakesEffect) {
  LinkPlugins("libnode_name.so", BERTH_TEST_TALKER);
  Save("berth.toml", "pluginDirs = [\"plugins\"]\nlogLevel = \"error\"\n");
  Begin({"--config", folder_ + "/berth.toml"});
  Write(Line("ADDED", PodJson("huge", "16")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused huge "));
  Save("berth.toml", "pluginDirs = [\"plugins\"]\nlogLevel = \"info\"\n");
  EXPECT_THAT(NextDecision(), StartsWith("Refused huge "));
  Stop(SIGTERM);
  const std::string err = End().err;
  const std::string reloaded = kNow + "berth: reloaded: default-scheduler; changed: ";
  const size_t at = err.find(reloaded);
  ASSERT_NE(at, std::string::npos) << err;
  EXPECT_THAT(err.substr(0, at), Not(HasSubstr("NodeName: "))) << "the level was error";
  EXPECT_THAT(err.substr(at), AllOf(HasSubstr(kNow + "berth: info: NodeName: took it\n"),
                                    Not(HasSubstr("restart berth"))));
}

TEST_F(ReloadRunTest, ReportsPodsThatTheNewProfileGates) {
  const std::string open = "extends = \"default\"\n[[plugins]]\nname = \"SchedulingGates\"\n";
  Save("p.toml", open + "enabled = false\n");
  Begin({"--profile", profile()});
  const std::string gate = R"(,"schedulingGates":[{"name":"later"}])";
  for (const char* pod : {"huge", "great"}) {
    Write(Line("ADDED", PodJson(pod, "16", "", gate)));
    EXPECT_THAT(NextDecision(), StartsWith("Refused " + std::string(pod)));
  }
  for (int i = 0; i < 2; ++i) {
    Save("p.toml", open);
    EXPECT_EQ(NextDecision(), "Gated great waiting for scheduling gates: [later]");
    EXPECT_EQ(NextDecision(), "Gated huge waiting for scheduling gates: [later]");
    Save("p.toml", open + "enabled = false\n");
    std::set<std::string> decisions = {NextDecision(), NextDecision()};
    EXPECT_THAT(*decisions.begin(), StartsWith("Refused great "));
    EXPECT_THAT(*decisions.rbegin(), StartsWith("Refused huge "));
  }
  Stop(SIGTERM);
  EXPECT_EQ(End().exit_status, 128 + SIGTERM);
}

TEST_F(ReloadRunTest, AReplacedLibraryTakesEffect) {
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

TEST_F(ReloadRunTest, ALibraryBehindASwappedLinkTakesEffect) {
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

TEST_F(ReloadRunTest, LoadsABrokenLibraryAgainWhenReplaced) {
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
  // The reload takes a moment. Then pods are refused.
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

TEST_F(ReloadRunTest, AnInvalidProfileIsReportedAndNotApplied) {
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
  EXPECT_THAT(run.err, HasSubstr(kNow +
                                 "berth: reload failed; the running configuration is kept; "
                                 "changed: " +
                                 profile() + ":\n"));
  EXPECT_THAT(run.err, HasSubstr(profile() + ":5"));
}

TEST_F(ReloadRunTest, BrokenLibraryThatNoProfileUsesIsWarning) {
  std::filesystem::create_directory(folder_ + "/more");
  std::filesystem::copy_file(BERTH_SHUT_DOOR, folder_ + "/more/libdoor.so");
  Save("p.toml", "extends = \"default\"\n[[plugins]]\nname = \"acme.Door\"\nenabled = false\n");
  Begin({"--profile", profile(), "--plugin-dir", BERTH_BINARY_DIR "/plugins", folder_ + "/more"});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_EQ(NextDecision(), "Bound web b");
  Save("more/libtext.so", "INPUT(-lm)\n");
  Save("p.toml", "extends = \"default\"\n[[plugins]]\nname = \"acme.Door\"\n");
  Reload();
  Write(Line("ADDED", PodJson("next", "1")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused next ")) << "the new profile has to take effect";
  CloseInput();
  EXPECT_THAT(End().err, AllOf(HasSubstr("berth: warning: not loaded: " + folder_ +
                                         "/more/libtext.so: expected an ELF file"),
                               HasSubstr("succeeded, 0 failed."), Not(HasSubstr("reload failed"))));
}

TEST_F(ReloadRunTest, HostileLibraryIsRefusedAndTheRunContinues) {
  Install(BERTH_SHUT_DOOR);
  Save("p.toml", WithDoor());
  Begin({"--profile", profile()});
  Write(Line("ADDED", PodJson("web", "4")));
  EXPECT_THAT(NextDecision(), StartsWith("Refused web "));
  for (const HostileLibrary& hostile : HostileLibraries()) {
    Plant(hostile, folder_ + "/libhostile.so");
    Save("p.toml", ProfileWith(hostile));
    Reload();
    // The next pod is tried after the failed reload, with the running configuration.
    const std::string pod = "p" + std::to_string(++pods_);
    Write(Line("ADDED", PodJson(pod, "1")));
    EXPECT_THAT(NextDecision(), StartsWith("Refused " + pod)) << hostile.name;
  }
  Stop(SIGTERM);
  const Outcome run = End();
  for (const HostileLibrary& hostile : HostileLibraries()) {
    EXPECT_THAT(run.err, HasSubstr(hostile.message)) << hostile.name;
  }
  EXPECT_THAT(run.err, HasSubstr("0 reloads succeeded, "));
}

// A profile that sends every pod to one node, which alternates with each reload: "east", "west",
// ...
class TurningRunTest : public ReloadRunTest {
 protected:
  static std::string NodeOf(int turn) { return turn % 2 == 0 ? "east" : "west"; }
  void SaveTurn(int turn) {
    Save("p.toml", WithDoor(("args = { node = \"" + NodeOf(turn) + "\" }\n").c_str()));
  }
  void BeginTurns() {
    Install(BERTH_OPEN_DOOR);
    SaveTurn(0);
    Begin({"--profile", profile()});
    for (const char* name : {"east", "west"}) {
      std::string node = NodeJson(name, "100000");
      node.replace(node.find("\"110\""), 5, "\"20000\"");
      Write(Line("ADDED", node));
    }
  }
  void WritePod() { Write(Line("ADDED", PodJson("p" + std::to_string(pods_++), "1"))); }
  // Reads the next decision and returns its node. The decision must be about the next pod, because
  // pods are scheduled in the order in which they were added.
  std::string Decide() {
    const std::string decision = NextDecision();
    const std::string start = "Bound p" + std::to_string(decided_) + ' ';
    EXPECT_THAT(decision, StartsWith(start)) << "a pod was lost or decided twice";
    ++decided_;
    return decision.starts_with(start) ? decision.substr(start.size()) : "";
  }
  int undecided() const { return pods_ - decided_; }
  int decided() const { return decided_; }

 private:
  int decided_ = 0;
};

TEST_F(TurningRunTest, ThousandsOfPodsBindWhileTheProfileChanges) {
  constexpr int kTurns = 20;
  constexpr int kPodsPerTurn = 500;
  constexpr int kMaxUndecided = 400;
  BeginTurns();
  for (int turn = 0; turn < kTurns; ++turn) {
    const int first = decided() + undecided();
    if (turn > 0) {
      SaveTurn(turn);
      Reload();
    }
    // Pods that were added before the reload may be decided before or after it; once one was
    // decided after it, all following pods are. Pods that are added after the reload are decided
    // after it.
    bool turned = turn == 0;
    for (int i = 0; i < kPodsPerTurn; ++i) {
      WritePod();
      while (undecided() > kMaxUndecided) {
        const bool is_new = decided() >= first;
        const std::string node = Decide();
        turned |= is_new || node == NodeOf(turn);
        ASSERT_EQ(node, NodeOf(turned ? turn : turn - 1)) << "p" << decided() - 1;
      }
    }
    EXPECT_TRUE(turned);
  }
  CloseInput();
  while (undecided() > 0) ASSERT_EQ(Decide(), NodeOf(kTurns - 1));
  const Outcome run = End();
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("10,000 bound, 0 pending; "));
  EXPECT_THAT(run.err, HasSubstr(" reloads succeeded, 0 failed.\n"));
}

}  // namespace
}  // namespace berth::host
