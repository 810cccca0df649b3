#include "host/process/assemble/config_reloader.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kLongNs = 20'000'000'000;

class ConfigReloaderTest : public ::testing::Test {
 protected:
  ConfigReloaderTest() : path_(::testing::TempDir() + "berth_config_reloader.toml") {}
  ~ConfigReloaderTest() override { std::remove(path_.c_str()); }

  Result<RunConfig> Read(FileStamps& files) {
    files[path_] = StampOf(path_);
    if (!read_error_.ok()) return read_error_;
    RunConfig config;
    config.host.log_level = log_level_;
    config.host.emulated_version = emulated_version_;
    config.host.quarantine_faults = quarantine_faults_;
    config.host.cluster.lease_ns = lease_ns_;
    config.set.specs.emplace_back().scheduler_name = "acme";
    return config;
  }
  // Carries out a reload if one was requested. Returns the results that were reported.
  std::vector<ReloadResult> Reload(Status apply_status = {}) {
    std::vector<ReloadResult> results;
    reloader_.ReloadIfRequested([&](const ProfileSet&) { return apply_status; },
                                [&](const ReloadResult& result) { results.push_back(result); });
    return results;
  }
  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string path_;
  ThreadWaker waker_;
  uint32_t log_level_ = BERTH_LOG_WARN;
  std::optional<KubeVersion> emulated_version_ = {};
  uint32_t quarantine_faults_ = 10;
  int64_t lease_ns_ = 15'000'000'000;
  Status read_error_;
  ConfigReloader reloader_{[this](FileStamps& files) { return Read(files); }, waker_};
};

TEST_F(ConfigReloaderTest, ReloadsOnceForSeveralRequests) {
  ASSERT_TRUE(reloader_.ReadFirst().ok());
  reloader_.StartWatching();
  EXPECT_THAT(Reload(), IsEmpty());
  reloader_.Request();
  reloader_.Request();
  EXPECT_TRUE(waker_.Wait(0));
  const std::vector<ReloadResult> results = Reload();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_TRUE(results[0].status.ok());
  EXPECT_THAT(results[0].changed, IsEmpty());
  EXPECT_THAT(results[0].profiles, ElementsAre("acme"));
  EXPECT_THAT(results[0].needs_restart, IsEmpty());
  EXPECT_THAT(Reload(), IsEmpty());
  EXPECT_EQ(reloader_.reloaded(), 1U);
  EXPECT_EQ(reloader_.failed(), 0U);
}

TEST_F(ConfigReloaderTest, NamesTheKeysThatNeedARestart) {
  ASSERT_TRUE(reloader_.ReadFirst().ok());
  reloader_.StartWatching();
  emulated_version_ = KubeVersion{1, 36};
  quarantine_faults_ = 5;
  lease_ns_ = 20'000'000'000;
  for (int i = 0; i < 2; ++i) {
    reloader_.Request();
    EXPECT_THAT(Reload().at(0).needs_restart,
                ElementsAre("emulatedVersion", "quarantine.faults", "leaderElection.leaseDuration"))
        << "every reload compares with the configuration of the start";
  }
}

TEST_F(ConfigReloaderTest, NamingTheDefaultVersionNeedsNoRestart) {
  ASSERT_TRUE(reloader_.ReadFirst().ok());
  reloader_.StartWatching();
  emulated_version_ = kNewestKubeVersion;
  reloader_.Request();
  EXPECT_THAT(Reload().at(0).needs_restart, IsEmpty());
}

TEST_F(ConfigReloaderTest, ANewLogLevelNeedsNoRestart) {
  ASSERT_TRUE(reloader_.ReadFirst().ok());
  reloader_.StartWatching();
  log_level_ = BERTH_LOG_DEBUG;
  reloader_.Request();
  const ReloadResult result = Reload().at(0);
  EXPECT_THAT(result.needs_restart, IsEmpty());
  EXPECT_EQ(result.host.log_level, uint32_t{BERTH_LOG_DEBUG});
}

TEST_F(ConfigReloaderTest, ReportsErrorsOfReadingAndOfApplying) {
  ASSERT_TRUE(reloader_.ReadFirst().ok());
  reloader_.StartWatching();
  reloader_.Request();
  EXPECT_EQ(Reload(Status::InvalidArgument("bad plugin")).at(0).status,
            Status::InvalidArgument("bad plugin"));
  read_error_ = Status::NotFound("no file");
  reloader_.Request();
  EXPECT_EQ(Reload().at(0).status, Status::NotFound("no file"));
  EXPECT_EQ(reloader_.reloaded(), 0U);
  EXPECT_EQ(reloader_.failed(), 2U);
}

TEST_F(ConfigReloaderTest, AChangedFileRequestsAReload) {
  Write("1");
  ASSERT_TRUE(reloader_.ReadFirst().ok());
  Write("22");  // The file changes after it was read and before the watch starts.
  reloader_.StartWatching();
  ASSERT_TRUE(waker_.Wait(kLongNs));
  EXPECT_THAT(Reload().at(0).changed, ElementsAre(path_));
  read_error_ = Status::NotFound("no file");
  Write("333");
  ASSERT_TRUE(waker_.Wait(kLongNs));
  EXPECT_THAT(Reload().at(0).changed, ElementsAre(path_)) << "an error names the file too";
  read_error_ = {};
  Write("4444");  // A failed reload keeps watching.
  ASSERT_TRUE(waker_.Wait(kLongNs));
  EXPECT_EQ(Reload().size(), 1U);
  EXPECT_EQ(reloader_.reloaded(), 2U);
}

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
