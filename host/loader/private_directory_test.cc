#include "host/loader/private_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

const std::string kCopy = std::string(64, 'a') + ".so";
constexpr const char* kAbandoned = "berth-plugins-abcdef";

class PrivateDirectoryTest : public ::testing::Test {
 protected:
  std::unique_ptr<PrivateDirectory> Create() const {
    auto created = PrivateDirectory::Create(parent_);
    EXPECT_TRUE(created.ok()) << created.error().ToString();
    return created.ok() ? std::move(created).value() : nullptr;
  }
  std::string At(const std::string& name) const { return folder_.At(name); }
  void Write(const std::string& name) const { std::ofstream(At(name)) << "x"; }
  // Creates a directory as a process does that ends later without removing it.
  void MakeDirectory(const std::string& name, mode_t mode = 0700) const {
    ASSERT_EQ(::mkdir(At(name).c_str(), 0700), 0);
    ASSERT_EQ(::chmod(At(name).c_str(), mode), 0);
  }
  // Sets the time of the last change of `name` to `seconds` ago.
  void SetAge(const std::string& name, int64_t seconds) const {
    const timespec time = {.tv_sec = ::time(nullptr) - seconds, .tv_nsec = 0};
    const std::array<timespec, 2> times = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, At(name).c_str(), times.data(), 0), 0);
  }
  // Returns the paths of everything below the parent, relative to it.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(parent_)) {
      names.insert(entry.path().lexically_relative(parent_).string());
    }
    return names;
  }
  // Starts and ends a process that needs a directory. Returns what remains.
  std::set<std::string> NamesAfterAStart() const {
    Create();
    return Names();
  }

  const TemporaryFolder folder_;
  const std::string& parent_ = folder_.path();
};

TEST_F(PrivateDirectoryTest, ExistsAsLongAsItsObject) {
  {
    const auto directory = Create();
    ASSERT_NE(directory, nullptr);
    EXPECT_THAT(directory->path(), StartsWith(At("berth-plugins-")));
    struct stat facts {};
    ASSERT_EQ(::fstat(directory->descriptor(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0700u);
    const std::string name = std::filesystem::path(directory->path()).filename().string();
    Write(name + "/" + PrivateDirectory::CopyName(std::string(64, 'b')));
    EXPECT_THAT(Names(), UnorderedElementsAre(name, name + "/lock",
                                              name + "/" + std::string(64, 'b') + ".so"));
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PrivateDirectoryTest, StaysWhileItsOwnerLives) {
  const auto first = Create();
  const std::string name = std::filesystem::path(first->path()).filename().string();
  Write(name + "/" + kCopy);
  SetAge(name, 100'000);
  const std::set<std::string> before = Names();
  EXPECT_EQ(NamesAfterAStart(), before);
  EXPECT_NE(Create()->path(), first->path());
}

TEST_F(PrivateDirectoryTest, NextStartRemovesDirectoryOfAProcessKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto directory = PrivateDirectory::Create(parent_);
    if (directory.ok()) std::ofstream((*directory)->path() + "/" + kCopy) << "x";
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(Names().size(), 3u) << "the directory, its lock and a copy";
  EXPECT_THAT(NamesAfterAStart(), IsEmpty());
}

// The states in which the end of a process can leave a directory, and the states of one that is
// being created.
TEST_F(PrivateDirectoryTest, RemovesWhatIsAbandonedAndNothingElse) {
  constexpr int64_t kLimit = 1'000;
  const std::string name = kAbandoned;
  const struct {
    const char* description;
    std::vector<std::string> files;
    int64_t age;  // In seconds. Creations are interrupted after kLimit.
    bool is_removed;
  } cases[] = {
      {"abandoned with copies", {"lock", kCopy, std::string(64, '0') + ".so"}, 0, true},
      {"abandoned without copies", {"lock"}, 0, true},
      {"being created, without a lock", {}, 0, false},
      {"being created, with a new lock", {"lock-new"}, 0, false},
      {"not old enough", {"lock-new"}, kLimit / 2, false},
      {"creation interrupted before the lock", {}, 2 * kLimit, true},
      {"creation interrupted before the lock was renamed", {"lock-new"}, 2 * kLimit, true},
      {"files, but no lock", {kCopy, "notes.txt"}, 2 * kLimit, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.description);
    MakeDirectory(name);
    for (const std::string& file : c.files) Write(name + "/" + file);
    SetAge(name, c.age);
    EXPECT_TRUE(PrivateDirectory::Create(parent_, kLimit).ok());
    EXPECT_EQ(Names().contains(name), !c.is_removed);
    std::filesystem::remove_all(At(name));
  }
}

// A directory in one with the setgid bit has the bit too.
TEST_F(PrivateDirectoryTest, RemovesAbandonedDirectoriesBelowASetgidDirectory) {
  ASSERT_EQ(::chmod(parent_.c_str(), 02755), 0);
  MakeDirectory(kAbandoned, 02700);
  Write(std::string(kAbandoned) + "/lock");
  EXPECT_THAT(NamesAfterAStart(), IsEmpty());
}

TEST_F(PrivateDirectoryTest, RemovesAsManyDirectoriesAsItKnows) {
  std::vector<std::unique_ptr<PrivateDirectory>> directories;
  for (int i = 0; i < 10; ++i) directories.push_back(Create());
  RemovePrivateDirectories();
  EXPECT_EQ(Names().size(), 4u) << "two directories and their locks";
  directories.clear();
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PrivateDirectoryTest, LeavesOtherFilesOfAnAbandonedDirectory) {
  MakeDirectory(kAbandoned);
  const std::string folder = std::string(kAbandoned) + "/";
  const std::string longer = std::string(65, 'a') + ".so";
  const std::string other = std::string(64, 'g') + ".so";
  for (const std::string& file : {std::string("lock"), kCopy, longer, other}) Write(folder + file);
  MakeDirectory(folder + std::string(64, 'c') + ".so");
  EXPECT_THAT(NamesAfterAStart(), UnorderedElementsAre(kAbandoned, folder + longer, folder + other,
                                                       folder + std::string(64, 'c') + ".so"));
}

TEST_F(PrivateDirectoryTest, LeavesWhatIsNotItsOwn) {
  const std::vector<std::string> others = {"plugins-abcdef", "berth-plugins-abcde",
                                           "berth-plugins-abcdefg", "berth-plugins"};
  for (const std::string& name : others) {
    MakeDirectory(name);
    Write(name + "/lock");
  }
  MakeDirectory("berth-plugins-shared", 0755);
  std::filesystem::rename(At("berth-plugins-shared"), At("berth-plugins-open55"));
  Write("berth-plugins-open55/lock");
  Write("berth-plugins-a-file");
  std::filesystem::rename(At("berth-plugins-a-file"), At("berth-plugins-file00"));
  const std::set<std::string> before = Names();
  EXPECT_EQ(NamesAfterAStart(), before);
}

TEST_F(PrivateDirectoryTest, FollowsNoLinks) {
  MakeDirectory("target");
  Write("target/lock");
  Write("target/" + kCopy);
  ASSERT_EQ(::symlink(At("target").c_str(), At(kAbandoned).c_str()), 0);
  MakeDirectory("berth-plugins-bcdefg");
  ASSERT_EQ(::symlink(At("target/lock").c_str(), At("berth-plugins-bcdefg/lock").c_str()), 0);
  Write("berth-plugins-bcdefg/" + kCopy);
  const std::set<std::string> before = Names();
  EXPECT_EQ(NamesAfterAStart(), before);
}

TEST_F(PrivateDirectoryTest, LeavesTheDirectoriesOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can create a directory of another user";
  MakeDirectory(kAbandoned);
  Write(std::string(kAbandoned) + "/lock");
  ASSERT_EQ(::chown(At(kAbandoned).c_str(), 65534, 65534), 0);
  const std::set<std::string> before = Names();
  EXPECT_EQ(NamesAfterAStart(), before);
}

TEST_F(PrivateDirectoryTest, ReportsADirectoryThatCannotBeUsed) {
  const auto created = PrivateDirectory::Create(At("absent"));
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, LoadErrorCode::kCopyFailed);
  EXPECT_EQ(created.error().found, "no directory can be created in it: No such file or directory");
}

TEST_F(PrivateDirectoryTest, RemovesAllDirectoriesOfThisProcess) {
  const auto first = Create();
  const auto second = Create();
  std::ofstream(first->path() + "/" + kCopy) << "x";
  const pid_t child = ::fork();
  if (child == 0) {
    RemovePrivateDirectories();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(Names().size(), 5u) << "a forked process must not remove the directories";
  errno = EDOM;
  RemovePrivateDirectories();
  EXPECT_EQ(errno, EDOM) << "a signal handler must not change errno";
  EXPECT_THAT(Names(), IsEmpty());
  RemovePrivateDirectories();
}

TEST_F(PrivateDirectoryTest, RemovesOnlyDirectoriesThatStillExist) {
  std::string path;
  for (int i = 0; i < 20; ++i) path = Create()->path();  // More than are known at a time.
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  RemovePrivateDirectories();
  EXPECT_THAT(Names(), ElementsAre(std::filesystem::path(path).filename().string()));
}

}  // namespace
}  // namespace berth::host
