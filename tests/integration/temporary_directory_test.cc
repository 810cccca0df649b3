// The directory of TMPDIR, which holds the private copies of plugin libraries: `berth` as a process
// with directories that cannot hold them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/process_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class TemporaryDirectoryTest : public RunProcessTest {
 protected:
  void UseTmpdir(const std::string& directory) { launcher_ = {"env", "TMPDIR=" + directory}; }
  // Mounts a file system at TMPDIR for `berth` alone. Returns false if this process must not mount.
  bool MountTmpdir(const std::string& options) {
    const std::string place = folder_ + "/mounted";
    std::filesystem::create_directories(place);
    launcher_ = {"unshare",
                 "--mount",
                 "sh",
                 "-c",
                 "mount -t tmpfs -o " + options + " berth-test " + place + " && TMPDIR=" + place +
                     " exec \"$@\"",
                 "sh"};
    return RunToFile({"--version"}) == 0;
  }
  // Runs commands that load plugins, in this process and in a child process.
  void ExpectThatPluginsWork() {
    EXPECT_EQ(RunToFile({"plugin", "list"}), 0);
    EXPECT_THAT(Output(), HasSubstr("libnode_name.so"));
    EXPECT_EQ(Error(), "");
    EXPECT_EQ(RunToFile({"simulate", "--cluster", kSmall}), 1);
    EXPECT_THAT(Output(), HasSubstr("Placed 7 of 8 pods"));
    EXPECT_EQ(Error(), "");
    EXPECT_EQ(RunToFile({"plugin", "describe", BERTH_LOADER_VARIANTS "/libaborts.so"}), 2);
    EXPECT_THAT(Error(), HasSubstr("the library ends the process with SIGABRT"))
        << "the child process that probes libraries has to find the copy";
  }
};

TEST_F(TemporaryDirectoryTest, CommandsWithoutPluginsDoNotUseIt) {
  const std::string input = File("k.yaml", "apiVersion: v1\nkind: Pod\n");
  const struct {
    std::vector<std::string> command;
    int exit_status;
  } cases[] = {
      {{"--version"}, 0},
      {{"--help"}, 0},
      {{"plugin", "list", "--help"}, 0},
      {{"plugin", "new", "acme.RackPower", "--dir", folder_ + "/new"}, 0},
      {{"profile", "convert", input}, 2},
  };
  for (const std::string& directory : {folder_ + "/absent", std::string()}) {
    UseTmpdir(directory);
    for (const auto& c : cases) {
      std::filesystem::remove_all(folder_ + "/new");
      EXPECT_EQ(RunToFile(c.command), c.exit_status) << c.command.back() << ": " << Error();
      EXPECT_THAT(Error(), Not(HasSubstr("irectory")));
    }
  }
}

TEST_F(TemporaryDirectoryTest, PluginsAreLoadedWithoutIt) {
  for (const std::string& directory :
       {folder_ + "/absent", File("file", "text"), std::string("/proc"), std::string()}) {
    SCOPED_TRACE("TMPDIR=" + directory);
    UseTmpdir(directory);
    ExpectThatPluginsWork();
  }
  UseTmpdir(folder_ + "/absent");
  EXPECT_EQ(RunToFile({"plugin", "check", BERTH_BINARY_DIR "/plugins/libnode_name.so"}), 0)
      << Error();
}

TEST_F(TemporaryDirectoryTest, LoadsPluginsDespiteADirectoryWithoutExecution) {
  if (!MountTmpdir("noexec")) GTEST_SKIP() << "this process must not mount file systems";
  ExpectThatPluginsWork();
}

TEST_F(TemporaryDirectoryTest, PluginsAreLoadedIfItIsFull) {
  if (!MountTmpdir("size=64k")) GTEST_SKIP() << "this process must not mount file systems";
  ExpectThatPluginsWork();
}

// With a limit for the size of files, neither the directory nor the memory can hold a library.
TEST_F(TemporaryDirectoryTest, TheErrorNamesItAndTheRemedy) {
  launcher_ = {"sh", "-c",
               "trap '' XFSZ; ulimit -f 8; TMPDIR=" + folder_ + "; export TMPDIR; exec \"$@\"",
               "sh"};
  const std::vector<std::vector<std::string>> commands = {
      {"plugin", "list"},
      {"simulate", "--cluster", kSmall},
      {"plugin", "check", BERTH_BINARY_DIR "/plugins/libnode_name.so"},
  };
  for (const std::vector<std::string>& command : commands) {
    EXPECT_EQ(RunToFile(command), 2) << command.front();
    EXPECT_THAT(Output(), IsEmpty());
    const std::string error = Error();
    EXPECT_THAT(error, AllOf(StartsWith("berth: "), HasSubstr(".so: a private copy of the library"),
                             HasSubstr("in the directory " + folder_ +
                                       ": a file in it cannot be "
                                       "written: File too large; in memory: "),
                             HasSubstr("; set TMPDIR to a directory")));
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  }
}

// ---- Private copies that stay behind ------------------------------------------------------------

class PrivateCopiesTest : public TemporaryDirectoryTest {
 protected:
  PrivateCopiesTest() {
    std::filesystem::create_directory(tmpdir_);
    UseTmpdir(tmpdir_);
  }

  // Starts a command, which waits for its cluster after it has loaded the plugins.
  void Begin(const std::vector<std::string>& command) {
    const std::string cluster = Pipe("cluster");
    std::vector<std::string> args = command;
    args.insert(args.end(), {"--cluster", cluster});
    process_ = Start(args, output_.get());
    cluster_ = OpenInputOf(process_, cluster);
    std::filesystem::remove(cluster);
  }
  int Finish() {
    cluster_ = FileDescriptor();
    return End(process_);
  }
  void Signal(int signal) const { kill(process_, signal); }

  // Returns the names of the files in the directories of private copies, without the directories.
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tmpdir_)) {
      if (!entry.is_directory()) names.push_back(entry.path().filename().string());
    }
    return names;
  }
  // Returns the names of the directories of private copies.
  std::vector<std::string> Directories() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(tmpdir_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const std::string tmpdir_ = folder_ + "/tmp";

 private:
  const FileDescriptor output_{open("/dev/null", O_WRONLY | O_CLOEXEC)};
  FileDescriptor cluster_;
  pid_t process_ = -1;
};

const std::vector<std::vector<std::string>> kWaitingCommands = {
    {"simulate"}, {"explain", "--pod", "web"}, {"replay"}};

TEST_F(PrivateCopiesTest, ExistWhileTheCommandRuns) {
  for (const std::vector<std::string>& command : kWaitingCommands) {
    SCOPED_TRACE(command.front());
    Begin(command);
    EXPECT_THAT(Directories(), ElementsAre(StartsWith("berth-plugins-")));
    const std::vector<std::string> before = Files();
    EXPECT_THAT(before, Contains("lock"));
    EXPECT_GT(before.size(), 10u);
    EXPECT_EQ(RunToFile({"plugin", "list"}), 0) << "another process, which removes its own copies";
    EXPECT_EQ(Files(), before);
    Finish();
    EXPECT_THAT(Directories(), IsEmpty());
  }
}

TEST_F(PrivateCopiesTest, ASignalRemovesThem) {
  for (const std::vector<std::string>& command : kWaitingCommands) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      if (command.front() == "replay" && signal == SIGHUP) continue;  // Requests a reload.
      SCOPED_TRACE(command.front() + " " + std::to_string(signal));
      Begin(command);
      Signal(signal);
      EXPECT_EQ(Finish(), 128 + signal);
      EXPECT_THAT(Directories(), IsEmpty());
    }
  }
}

TEST_F(PrivateCopiesTest, APluginThatExitsLeavesNone) {
  for (const char* how : {"create", "filter", "quick", "thread"}) {
    const std::string profile = File("p.toml",
                                     "extends = \"default\"\n[[plugins]]\nname = \"acme.Quitter\"\n"
                                     "library = \"" BERTH_TEST_QUITTER "\"\nargs = { how = \"" +
                                         std::string(how) + "\", status = 0 }\n");
    EXPECT_EQ(RunToFile({"simulate", "--cluster", kSmall, "--profile", profile}), kExitByPlugin);
    EXPECT_THAT(Directories(), IsEmpty()) << how;
  }
}

TEST_F(PrivateCopiesTest, NextStartRemovesThoseOfAProcessKilled) {
  Begin({"simulate"});
  Signal(SIGKILL);
  EXPECT_EQ(Finish(), 128 + SIGKILL);
  EXPECT_THAT(Directories(), ElementsAre(StartsWith("berth-plugins-")));
  EXPECT_GT(Files().size(), 10u);
  EXPECT_EQ(RunToFile({"--version"}), 0);
  EXPECT_GT(Files().size(), 10u) << "this command loads no plugins";
  EXPECT_EQ(RunToFile({"plugin", "list"}), 0);
  EXPECT_THAT(Directories(), IsEmpty());
}

}  // namespace
}  // namespace berth::host
