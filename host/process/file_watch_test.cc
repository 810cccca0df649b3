#include "host/process/file_watch.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

namespace fs = std::filesystem;

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() : folder_(fs::temp_directory_path() / fs::path("berth_XXXXXX")) {
    std::string path = folder_.string();
    folder_ = mkdtemp(path.data());
  }
  ~FileWatchTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  FileStamps Now(const std::vector<std::string>& names) const {
    FileStamps stamps;
    for (const std::string& name : names) stamps[Path(name)] = StampOf(Path(name));
    return stamps;
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }

  fs::path folder_;
};

TEST_F(FileWatchTest, AChangeCountsOnceWhenItRests) {
  Write("a", "1");
  FileChanges changes(Now({"a"}));
  EXPECT_FALSE(changes.Look());
  Write("a", "22");
  EXPECT_FALSE(changes.Look());  // It may be written still.
  Write("a", "333");
  EXPECT_FALSE(changes.Look());
  EXPECT_TRUE(changes.Look());
  EXPECT_FALSE(changes.Look());
}

TEST_F(FileWatchTest, WhatIsBackAsItWasHasNotChanged) {
  FileChanges changes(Now({"a"}));
  Write("a", "1");
  EXPECT_FALSE(changes.Look());
  fs::remove(Path("a"));
  EXPECT_FALSE(changes.Look());
  EXPECT_FALSE(changes.Look());
}

TEST_F(FileWatchTest, FilesComeAndGo) {
  FileChanges changes(Now({"a", "b"}));
  Write("b", "1");
  changes.Look();
  EXPECT_TRUE(changes.Look());
  fs::remove(Path("b"));
  changes.Look();
  EXPECT_TRUE(changes.Look());
}

TEST_F(FileWatchTest, ALinkThatIsSwappedIsAChange) {
  Write("old", "1");
  Write("new", "1");
  fs::create_symlink("old", Path("link"));
  FileChanges changes(Now({"link"}));
  fs::create_symlink("new", Path("next"));
  fs::rename(Path("next"), Path("link"));
  changes.Look();
  EXPECT_TRUE(changes.Look());
}

TEST_F(FileWatchTest, AChangeSinceTheyWereReadCounts) {
  Write("a", "1");
  const FileStamps read = Now({"a"});
  Write("a", "22");
  FileChanges changes(read);
  changes.Look();
  EXPECT_TRUE(changes.Look());
}

TEST_F(FileWatchTest, OtherFilesAreWatchedFromThenOn) {
  Write("a", "1");
  FileChanges changes(Now({"a"}));
  Write("b", "1");
  changes.Watch(Now({"b"}));
  Write("a", "22");
  changes.Look();
  EXPECT_FALSE(changes.Look());
  Write("b", "22");
  changes.Look();
  EXPECT_TRUE(changes.Look());
}

TEST_F(FileWatchTest, ItsThreadTellsOfAChangeAndEnds) {
  std::atomic<int> told = 0;
  {
    FileWatch watch(Now({"a"}), std::chrono::milliseconds(1), [&told] { ++told; });
    Write("a", "1");
    while (told == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    watch.Watch(Now({"b"}));
    Write("b", "1");
    while (told < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace berth::host
