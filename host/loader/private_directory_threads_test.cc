// Directories that are created and removed at the same time. Each thread stands for a process: the
// locks belong to open files, not to processes.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/loader/private_directory.h"
#include "tests/harness/temporary_folder.h"

namespace berth::host {
namespace {

class PrivateDirectoryRaceTest : public ::testing::Test {
 protected:
  // Creates directories on several threads. Returns how many were not there after their creation,
  // or did not keep their copy.
  int CountLost(int64_t abandoned_after) const {
    constexpr int kThreads = 4;
    constexpr int kTimes = 200;
    std::atomic<int> lost = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int time = 0; time < kTimes; ++time) {
          const auto directory = PrivateDirectory::Create(parent_, abandoned_after);
          if (!directory.ok() || !KeepsItsFiles((*directory)->path())) ++lost;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return lost;
  }

  const TemporaryFolder folder_;
  const std::string& parent_ = folder_.path();

 private:
  static bool KeepsItsFiles(const std::string& path) {
    const std::string copy = path + "/" + std::string(64, 'a') + ".so";
    std::ofstream(copy) << "x";
    std::this_thread::yield();
    return std::filesystem::exists(copy) && std::filesystem::exists(path + "/lock");
  }
};

TEST_F(PrivateDirectoryRaceTest, StartKeepsDirectoriesInUseOrInCreation) {
  EXPECT_EQ(CountLost(PrivateDirectory::kAbandonedAfter), 0);
  EXPECT_TRUE(std::filesystem::is_empty(parent_));
}

// Each start removes every directory without a lock, as if its creation had taken too long.
TEST_F(PrivateDirectoryRaceTest, ACreationWhoseDirectoryIsRemovedStartsAgain) {
  EXPECT_EQ(CountLost(-1'000), 0);
  EXPECT_TRUE(std::filesystem::is_empty(parent_));
}

}  // namespace
}  // namespace berth::host
