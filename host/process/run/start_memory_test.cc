#include "host/process/run/start_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

class StartMemoryTest : public ::testing::Test {
 protected:
  // Reports three watches, of which the first `complete` are complete.
  void OnWatches(size_t complete) {
    std::vector<WatchState> watches(3);
    for (size_t i = 0; i < complete; ++i) watches[i].is_synced = true;
    memory_.OnWatches(watches);
  }

  int released_ = 0;
  StartMemory memory_{[this] { ++released_; }};
};

TEST_F(StartMemoryTest, ReleasesWhenAKindBecomesComplete) {
  OnWatches(0);
  EXPECT_EQ(released_, 0);
  OnWatches(1);
  OnWatches(1);
  EXPECT_EQ(released_, 1);
  EXPECT_FALSE(memory_.are_all_complete());
  OnWatches(3);
  EXPECT_EQ(released_, 2);
  EXPECT_TRUE(memory_.are_all_complete());
}

TEST_F(StartMemoryTest, ReleasesLessAndLessOftenAfterSchedulingBegan) {
  constexpr int64_t kBegin = 1000;
  memory_.OnTime(kBegin);
  EXPECT_EQ(released_, 0) << "nothing is scheduled yet";
  memory_.OnScheduling(kBegin);
  EXPECT_EQ(released_, 1);
  int expected = 1;
  int64_t at_ns = kBegin;
  for (int64_t delay_ms = 10; delay_ms <= 320; delay_ms *= 2) {
    SCOPED_TRACE(delay_ms);
    at_ns += delay_ms * kMillisecond;
    memory_.OnTime(at_ns - 1);
    EXPECT_EQ(released_, expected);
    memory_.OnTime(at_ns);
    memory_.OnTime(at_ns);
    EXPECT_EQ(released_, ++expected);
  }
  memory_.OnTime(at_ns + kSecond);
  EXPECT_EQ(released_, expected) << "the start is over";
}

constexpr size_t kPages = 64;

// A private mapping of a file of kPages pages, which hold 'a', without permission to write.
class MappedFile {
 public:
  MappedFile() {
    path_ = ::testing::TempDir() + "unused_memory_" + std::to_string(::getpid());
    std::ofstream(path_) << std::string(size(), 'a');
    const FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_GE(file.get(), 0);
    at_ = static_cast<char*>(::mmap(nullptr, size(), PROT_READ, MAP_PRIVATE, file.get(), 0));
    EXPECT_NE(at_, MAP_FAILED);
  }
  ~MappedFile() {
    ::munmap(at_, size());
    std::filesystem::remove(path_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  static size_t page() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  static size_t size() { return kPages * page(); }
  char* at() { return at_; }

  // Reads every page. Returns whether each of them holds `expected`.
  bool Holds(char expected) const {
    bool holds = true;
    for (size_t i = 0; i < size(); i += page()) {
      holds &= *static_cast<const volatile char*>(at_ + i) == expected;
    }
    return holds;
  }

  // Returns how many pages this process has mapped, from /proc/self/pagemap (man 5 proc).
  size_t MappedPages() const {
    const FileDescriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    std::vector<uint64_t> entries(kPages);
    const size_t bytes = kPages * sizeof(uint64_t);
    const size_t at = reinterpret_cast<uintptr_t>(at_) / page() * sizeof(uint64_t);
    EXPECT_EQ(::pread(pagemap.get(), entries.data(), bytes, static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes));
    size_t mapped = 0;
    for (const uint64_t entry : entries) mapped += entry >> 63;
    return mapped;
  }

 private:
  std::string path_;
  char* at_ = nullptr;
};

TEST(CleanPagesTest, DropsPagesThatAreAsInTheirFile) {
  const MappedFile file;
  ASSERT_TRUE(file.Holds('a'));
  ASSERT_EQ(file.MappedPages(), kPages);
  EXPECT_GE(DropCleanPages(), 1U);
  EXPECT_EQ(file.MappedPages(), 0U);
  EXPECT_TRUE(file.Holds('a')) << "the pages are read again";
}

TEST(CleanPagesTest, KeepsAMappingThatDiffersFromItsFile) {
  MappedFile file;
  ASSERT_TRUE(file.Holds('a'));
  ASSERT_EQ(::mprotect(file.at(), MappedFile::size(), PROT_READ | PROT_WRITE), 0);
  std::memset(file.at(), 'b', MappedFile::size());
  ASSERT_EQ(::mprotect(file.at(), MappedFile::size(), PROT_READ), 0);
  DropCleanPages();
  EXPECT_TRUE(file.Holds('b'));
}

TEST(CleanPagesTest, KeepsAMappingThatCanBeWritten) {
  MappedFile file;
  ASSERT_TRUE(file.Holds('a'));
  ASSERT_EQ(::mprotect(file.at(), MappedFile::size(), PROT_READ | PROT_WRITE), 0);
  DropCleanPages();
  EXPECT_EQ(file.MappedPages(), kPages);
}

TEST(CleanPagesTest, TheProgramGoesOn) {
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 10; ++i) ReleaseUnusedMemory();
  EXPECT_EQ(text.find_first_not_of('x'), text.npos);
}

}  // namespace
}  // namespace berth::host
