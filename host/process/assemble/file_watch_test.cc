#include "host/process/assemble/file_watch.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

namespace fs = std::filesystem;

class FileWatchTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.At(name); }
  FileStamps Now(const std::vector<std::string>& names) const {
    FileStamps stamps;
    for (const std::string& name : names) stamps[Path(name)] = StampOf(Path(name));
    return stamps;
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }

  const TemporaryFolder folder_;
};

TEST_F(FileWatchTest, ReportsChangeOnceWhenTheFileIsStable) {
  Write("a", "1");
  FileChanges changes(Now({"a"}));
  EXPECT_FALSE(changes.Check());
  Write("a", "22");
  EXPECT_FALSE(changes.Check());  // The file may still be being written.
  Write("a", "333");
  EXPECT_FALSE(changes.Check());
  EXPECT_TRUE(changes.Check());
  EXPECT_FALSE(changes.Check());
}

TEST_F(FileWatchTest, AFileThatIsRestoredHasNotChanged) {
  FileChanges changes(Now({"a"}));
  Write("a", "1");
  EXPECT_FALSE(changes.Check());
  fs::remove(Path("a"));
  EXPECT_FALSE(changes.Check());
  EXPECT_FALSE(changes.Check());
}

TEST_F(FileWatchTest, CreatingAndRemovingAFileAreChanges) {
  FileChanges changes(Now({"a", "b"}));
  Write("b", "1");
  changes.Check();
  EXPECT_TRUE(changes.Check());
  fs::remove(Path("b"));
  changes.Check();
  EXPECT_TRUE(changes.Check());
}

TEST_F(FileWatchTest, SwappingALinkIsAChange) {
  Write("old", "1");
  Write("new", "1");
  fs::create_symlink("old", Path("link"));
  FileChanges changes(Now({"link"}));
  fs::create_symlink("new", Path("next"));
  fs::rename(Path("next"), Path("link"));
  changes.Check();
  EXPECT_TRUE(changes.Check());
}

TEST_F(FileWatchTest, AChangeSinceTheStampsWereTakenCounts) {
  Write("a", "1");
  const FileStamps read = Now({"a"});
  Write("a", "22");
  FileChanges changes(read);
  changes.Check();
  EXPECT_TRUE(changes.Check());
}

TEST_F(FileWatchTest, WatchReplacesTheFiles) {
  Write("a", "1");
  FileChanges changes(Now({"a"}));
  Write("b", "1");
  changes.Watch(Now({"b"}));
  Write("a", "22");
  changes.Check();
  EXPECT_FALSE(changes.Check());
  Write("b", "22");
  changes.Check();
  EXPECT_TRUE(changes.Check());
}

TEST_F(FileWatchTest, ThreadReportsChangesUntilTheWatchIsDestroyed) {
  std::atomic<int> reports = 0;
  {
    FileWatch watch(Now({"a"}), std::chrono::milliseconds(1), [&reports] { ++reports; });
    Write("a", "1");
    while (reports == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    watch.Watch(Now({"b"}));
    Write("b", "1");
    while (reports < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(reports, 2);
}

}  // namespace
}  // namespace berth::host
